//! Damaged stores do not stop a summary.

use crate::compare::{Options, compare};
use crate::tests::made_up_runs::*;
use gritstone_model::*;

const MAX: Usage = Usage {
    user: u64::MAX,
    system: u64::MAX,
    cpu: u64::MAX,
    vcsw: u64::MAX,
    icsw: u64::MAX,
    minflt: u64::MAX,
    majflt: u64::MAX,
    inblock: u64::MAX,
    oublock: u64::MAX,
    migrations: u64::MAX,
};

fn spoilt(number: u64) -> RunData {
    let mut rows = vec![
        claimed("a/long"),
        claimed("a/short"),
        derived("a/rest", &[(1.0, "a/long"), (-1.0, "a/short")]),
        command("b/script"),
    ];
    rows[0].files = true;
    rows[0].unit = unit("MB/s");
    let mut all = [launches("a/long", 100.0), launches("a/short", 60.0)].concat();
    all.extend((0..6).map(|round| process("b/script", round, 2.0)));
    for launch in &mut all {
        launch.round = u32::MAX;
        launch.conditions = Conditions {
            wall: 0,
            others: Some(number),
            grain: Some(u64::MAX),
            steal: Some(number),
            throttled: Some(number),
            memory_limit: Some(number),
            ..Conditions::default()
        };
        samples(launch)
            .for_each(|s| (s.n, s.wall, s.cycle_probe, s.usage) = (number, number, number, MAX));
        batches(launch).for_each(|batch| {
            (batch.walls, batch.usage) = (vec![number; 3], MAX);
        });
        launch.events.push(Event::Warm { n: number, wall: number });
        launch.events.push(Event::Process(Box::new(Sample { wall: number, ..Sample::default() })));
        let histogram = Histogram {
            count: number,
            min: number,
            max: 0,
            sum: number,
            buckets: vec![(u32::MAX, number), (0, number)],
            of: None,
        };
        launch.events.push(Event::Latency(Box::new(histogram)));
    }
    run(rows, all)
}

#[test]
fn extreme_numbers_do_not_panic() {
    for number in [0, 1, u64::MAX] {
        let found = view(&spoilt(number));
        assert_eq!(found.results.len(), 4);
        assert!(found.results.iter().all(|r| !r.notes.is_empty()), "{number}");
        let compared = compare(&found, &view(&spoilt(1)), &Options::default());
        assert_eq!(compared.rows.len(), 4);
    }
}

#[test]
fn missing_events_do_not_panic() {
    let mut run = spoilt(1);
    for launch in &mut run.launches {
        launch.events.clear();
    }
    let found = view(&run);
    assert!(found.results.iter().all(|r| r.estimate().is_none()));
    assert!(found.results.iter().all(|r| !r.notes.is_empty()));
    let empty = view(&crate::tests::made_up_runs::run(Vec::new(), run.launches));
    assert_eq!(empty.results, []);
}
