//! Values of each pair of CPUs: a workload reports the pair before its region.

use super::reading::{Reading, median};
use gritstone_model::{Benchmark, Event, Param, Part, PartValue};
use std::collections::BTreeMap;

/// Medians over launches of medians over samples, in the unit of the benchmark.
pub(super) fn parts(benchmark: &Benchmark, launches: &[&Reading]) -> Vec<PartValue> {
    let mut times: BTreeMap<Pair, Vec<f64>> = BTreeMap::new();
    for launch in launches {
        for (pair, ns) in in_launch(launch) {
            times.entry(pair).or_default().extend(median(ns));
        }
    }
    let convert = |ns| benchmark.unit.convert(ns, benchmark.amount_per_op);
    let value = |((a, b), ns): (Pair, Vec<f64>)| {
        Some(PartValue { part: Part::Cpus(a, b), value: convert(median(ns)?)? })
    };
    times.into_iter().filter_map(value).collect()
}

type Pair = (u32, u32);

fn in_launch(launch: &Reading) -> BTreeMap<Pair, Vec<f64>> {
    let mut times: BTreeMap<Pair, Vec<f64>> = BTreeMap::new();
    let mut pair = None;
    for event in &launch.launch.events {
        match event {
            Event::Param(Param::CpuPair(a, b)) => pair = Some((*a, *b)),
            Event::Sample(sample) if sample.n > 0 && sample.wall > 0 => {
                let ns = sample.wall as f64 / sample.n as f64;
                if let Some(pair) = pair {
                    times.entry(pair).or_default().push(ns);
                }
            }
            _ => {}
        }
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;
    use gritstone_model::{Launch, Sample};
    use gritstone_testkit::param;

    fn launch(samples: &[(&str, u64)]) -> Launch {
        let events = samples.iter().flat_map(|(pair, wall)| {
            let sample =
                Event::Sample(Box::new(Sample { n: 10, wall: *wall, ..Sample::default() }));
            // calibration belongs to a pair too, but is not a result
            [param("pair", pair), Event::Warm { n: 10, wall: 9999 }, sample]
        });
        gritstone_testkit::launch("made/up", 0, events.collect())
    }

    fn benchmark() -> Benchmark {
        Benchmark { amount_per_op: 2.0, ..gritstone_testkit::benchmark("made/up", "ns/transfer") }
    }

    #[test]
    fn pairs_are_medians_of_launches() {
        let launches = [
            launch(&[("0-1", 1000), ("0-2", 4000), ("0-1", 1200), ("0-1", 9000)]),
            launch(&[("0-1", 1400)]),
            launch(&[("0-1", 800), ("1-2", 2000)]),
        ];
        let readings: Vec<Reading> = launches.iter().map(Reading::new).collect();
        let readings: Vec<&Reading> = readings.iter().collect();
        let actual = parts(&benchmark(), &readings);
        // of 120, 140 and 80 ns a round trip, two transfers each; then 400 and 200
        let expected = [((0, 1), 60.0), ((0, 2), 200.0), ((1, 2), 100.0)];
        let part = |((a, b), value)| PartValue { part: Part::Cpus(a, b), value };
        assert_eq!(actual, expected.map(part));
    }

    #[test]
    fn missing_pairs_yield_no_parts() {
        let mut without = launch(&[("0-1", 1000)]);
        without.events.retain(|event| matches!(event, Event::Sample(_)));
        assert!(parts(&benchmark(), &[&Reading::new(&without)]).is_empty());
    }
}
