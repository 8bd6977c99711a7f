//! What stands beside a figure of work that waits for pages: faults, CPU and real time; and what stood in for a limit of memory.
//!
//! Must not know: units, other rules.

use super::reading::Reading;
use super::words::number;
use gritstone_model::{Benchmark, Footnote, FootnoteKind, Sample};
use std::collections::BTreeSet;

/// Major page faults for each page that was touched, over all samples together; of work on pages alone.
pub(super) fn faults_per_page(benchmark: &Benchmark, launches: &[&Reading]) -> Option<f64> {
    benchmark.claims.major_faults_per_op?;
    let samples = || launches.iter().flat_map(|launch| &launch.samples);
    let sum = |of: fn(&Sample) -> u64| samples().map(|sample| of(sample) as f64).sum::<f64>();
    let pages = sum(|sample| sample.n) * benchmark.amount_per_op;
    let paging = benchmark.unit.as_str() == "pages/s" && pages > 0.0;
    paging.then(|| sum(|sample| sample.usage.majflt) / pages)
}

/// What an operation that waits for pages took: times alone do not tell whether the processor or the device was slow.
/// All samples together, since that is what the exact counts and clocks are of.
pub(super) fn paged(benchmark: &Benchmark, launches: &[&Reading]) -> Option<Footnote> {
    benchmark.claims.major_faults_per_op?;
    let samples = || launches.iter().flat_map(|launch| &launch.samples);
    let n: f64 = samples().map(|sample| sample.n as f64).sum();
    let each =
        |of: &dyn Fn(&Sample) -> u64| samples().map(|sample| of(sample) as f64).sum::<f64>() / n;
    let major = each(&|sample| sample.usage.majflt);
    let (cpu, real) = (
        each(&|sample| sample.usage.cpu),
        each(&|sample| sample.wall),
    );
    let a_thing = match benchmark.unit.as_str().strip_suffix("s/s") {
        Some(thing) => format!(", or {} a {thing}", number(major / benchmark.amount_per_op)),
        None => String::new(),
    };
    let why = format!(
        "On average an operation took {} s of CPU time and {} s of real time; major page faults: {}{a_thing}.",
        number(cpu / 1e9),
        number(real / 1e9),
        number(major),
    );
    (n > 0.0).then(|| Footnote::new(FootnoteKind::Note, why))
}

/// What stood in for what the entry asks of the machine, as the launches said it: each of them once.
pub(super) fn stood_in(launches: &[&Reading]) -> impl Iterator<Item = Footnote> {
    let said: BTreeSet<&str> = launches
        .iter()
        .flat_map(|launch| launch.params("stand_in"))
        .collect();
    said.into_iter()
        .map(|why| Footnote::new(FootnoteKind::NotComparable, why.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gritstone_model::{Conditions, Event, Launch, Outcome, Usage};

    fn launch(majflt: u64, stand_in: Option<&str>) -> Launch {
        let param = |value: &str| Event::Param {
            key: "stand_in".to_owned(),
            value: value.to_owned(),
        };
        let sample = Event::Sample(Box::new(Sample {
            n: 2,
            wall: 600_000_000,
            usage: Usage {
                cpu: 100_000_000,
                majflt,
                ..Usage::default()
            },
            ..Sample::default()
        }));
        Launch {
            id: gritstone_model::Id::parse("vm/paging/random").unwrap(),
            copies: 1,
            round: 0,
            start: 0,
            cpus: vec![1],
            outcome: Outcome::Measured,
            events: stand_in.map(param).into_iter().chain([sample]).collect(),
            conditions: Conditions::default(),
        }
    }

    #[test]
    fn a_stand_in_is_told_once_and_makes_a_figure_incomparable() {
        let launches = [
            launch(10, Some("Not so.")),
            launch(20, None),
            launch(30, Some("Not so.")),
        ];
        let readings: Vec<Reading> = launches.iter().map(Reading::of).collect();
        let readings: Vec<&Reading> = readings.iter().collect();
        let told: Vec<Footnote> = stood_in(&readings).collect();
        assert_eq!(
            told,
            [Footnote::new(FootnoteKind::NotComparable, "Not so.")]
        );
        assert_eq!(stood_in(&readings[1..2]).count(), 0);
    }
}
