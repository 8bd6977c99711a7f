//! Whether the times that a launch reports fit into it.

use crate::{Batch, Event, Histogram, Launch, Param, Sample};

/// Allowed ratio of reported time to the length of the launch. Samples are timed by `CLOCK_MONOTONIC_RAW`, launches by `CLOCK_MONOTONIC`: a
/// time server may slew the second by a tenth, and the first keeps another rate where a guest moves to another host.
const MAX_RATIO: u64 = 4;
/// Allowance for coarse clocks, ns.
const CLOCK_STEP: u64 = 10_000_000;
/// Additions of one reading of a probe.
const PROBE_ADDITIONS: u64 = 65_536;
/// Femtoseconds per nanosecond: unit of probes, and of times.
const FS_PER_NS: u64 = 1_000_000;

impl Launch {
    /// Fails with the reason if a copy reports more time than its launch took. Launches of unknown length (`conditions.wall` is 0 in older
    /// runs and those of other programs) are not checked.
    pub fn check_times(&self) -> Result<(), String> {
        let wall = self.conditions.wall;
        let most = wall.saturating_mul(MAX_RATIO).saturating_add(CLOCK_STEP);
        let mut together = 0_u64;
        for event in self.events.iter().filter(|_| wall > 0) {
            if matches!(event, Event::Param(Param::Copy(_))) {
                together = 0;
            }
            together = together.saturating_add(timed(event));
            let reported = [
                ("its samples take", together),
                ("a reading of its probes takes", probed(event)),
                ("one of its operations takes", longest_operation(event)),
            ];
            if let Some((what, ns)) = reported.into_iter().find(|(_, ns)| *ns > most) {
                let [reported, launch] = [ns, wall].map(|ns| ns as f64 / 1e9);
                return Err(format!(
                    "{what} {reported:.3} s, and the whole launch took {launch:.3} s"
                ));
            }
        }
        Ok(())
    }
}

/// Time of all operations of an event, ns.
fn timed(event: &Event) -> u64 {
    match event {
        Event::Sample(sample) | Event::Process(sample) => sample.wall,
        Event::Batch(batch) => batch.walls.iter().fold(0, |sum, &wall| sum.saturating_add(wall)),
        _ => 0,
    }
}

/// Time of one reading of the slower probe, ns.
fn probed(event: &Event) -> u64 {
    let slower = match event {
        Event::Sample(sample) | Event::Process(sample) => {
            let Sample { cycle_probe, smt_probe, .. } = **sample;
            cycle_probe.max(smt_probe)
        }
        Event::Batch(batch) => {
            let Batch { cycle_probe, smt_probe, .. } = **batch;
            cycle_probe.max(smt_probe)
        }
        _ => 0,
    };
    slower.saturating_mul(PROBE_ADDITIONS) / FS_PER_NS
}

/// By the maximum, the last bucket, or the mean of a histogram, ns.
fn longest_operation(event: &Event) -> u64 {
    let Event::Latency(histogram) = event else {
        return 0;
    };
    let buckets = histogram.buckets.iter().filter(|(_, count)| *count > 0);
    let floors = buckets.map(|(bucket, _)| Histogram::floor(*bucket));
    let mean = histogram.sum / histogram.count.max(1);
    floors.fold(histogram.max.max(mean), u64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Conditions, Id, Outcome};
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    fn launch(events: Vec<Event>) -> Launch {
        Launch {
            conditions: Conditions { wall: 120 * MS, ..Conditions::default() },
            ..Launch::new(Id::parse("a/b").unwrap(), Outcome::Measured, events)
        }
    }

    fn sample(wall: u64, cycle_probe: u64) -> Event {
        Event::Sample(Box::new(Sample {
            n: 1,
            wall,
            cycle_probe,
            smt_probe: cycle_probe / 4,
            ..Sample::default()
        }))
    }

    fn latency(max: u64, bucket: u32, sum: u64) -> Event {
        Event::Latency(Box::new(Histogram {
            count: 1,
            max,
            sum,
            buckets: vec![(bucket, 1)],
            ..Histogram::default()
        }))
    }

    #[test]
    fn absurd_times_are_named() {
        let batch =
            Event::Batch(Box::new(Batch { n: 1, walls: vec![200 * MS; 3], ..Batch::default() }));
        for (events, what) in [
            (vec![sample(1 << 62, 0)], "its samples take 4611686018.427 s"),
            (vec![sample(300 * MS, 0); 2], "its samples take 0.600 s"),
            (vec![batch], "its samples take 0.600 s"),
            (vec![sample(MS, 1 << 63)], "a reading of its probes takes"),
            (vec![latency(1 << 62, 0, 0)], "one of its operations takes"),
            (vec![latency(0, u32::MAX, 0)], "one of its operations takes"),
            (vec![latency(0, 0, 1 << 62)], "one of its operations takes"),
        ] {
            let why = launch(events).check_times().unwrap_err();
            assert!(why.starts_with(what), "{why}");
            assert!(why.ends_with("and the whole launch took 0.120 s"), "{why}");
        }
    }

    #[test]
    fn each_copy_is_checked() {
        let copy = |number| [Event::Param(Param::Copy(number)), sample(300 * MS, 250_000)];
        let mut launch = launch([0, 1, 2].map(copy).concat());
        launch.copies = 3;
        assert_eq!(launch.check_times(), Ok(()));
        launch.events.push(sample(300 * MS, 250_000));
        assert!(launch.check_times().is_err());
    }

    #[test]
    fn unknown_lengths_are_not_checked() {
        let mut launch = launch(vec![sample(u64::MAX, u64::MAX); 2]);
        launch.conditions.wall = 0;
        assert_eq!(launch.check_times(), Ok(()));
    }

    proptest! {
        #[test]
        fn times_within_launches_pass(walls in prop::collection::vec(1..=2 * MS, 1..60), cycle_probe in 0..1_000_000_000_u64) {
            let events = walls.into_iter().map(|wall| sample(wall, cycle_probe)).collect();
            prop_assert_eq!(launch(events).check_times(), Ok(()));
        }
    }
}
