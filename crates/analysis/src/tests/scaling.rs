//! Curves of rates by users: the highest rate, how far the last one falls behind it, and the law.

use crate::tests::made_up_runs::*;
use gritstone_model::*;

const USERS: [u32; 6] = [1, 2, 4, 8, 16, 32];

/// Total rate by the law, calls a second.
fn rate(users: u32) -> f64 {
    let n = f64::from(users);
    1e6 * n / (1.0 + 0.1 * (n - 1.0) + 0.005 * n * (n - 1.0))
}

fn name(users: u32) -> String {
    format!("a/x@{users}")
}

/// The highest of the rates of these users, and the rates; an operation is a call, or one of each user.
fn rows(together: bool) -> Vec<Benchmark> {
    let point = |users: u32| (f64::from(users), name(users));
    let work = sum(USERS.map(|users| (1.0, name(users))));
    let mut peak = Benchmark::new(id("a/x"), unit("calls/s"), work);
    peak.curve = Some(Curve { scaling: true, ..curve("users", USERS.map(point)) });
    let benchmark = |users| Benchmark {
        amount_per_op: if together { f64::from(users) } else { 1.0 },
        unit: unit("calls/s"),
        better: Better::Higher,
        ..plain(&name(users))
    };
    let points = USERS.map(benchmark);
    [vec![peak], points.to_vec()].concat()
}

/// The result of the peak where these were measured.
fn peak(users: &[u32]) -> Measurement {
    let launches = users.iter().map(|users| scattered(&name(*users), 1e9 / rate(*users)));
    let view = view(&run(rows(false), launches.flatten().collect()));
    row(&view, "a/x").clone()
}

fn law_of(result: &Measurement) -> &LawView {
    let law = result.notes.iter().find_map(|note| match &note.finding {
        Finding::Scaling { law, .. } => law.as_deref(),
        _ => None,
    });
    law.expect("a law")
}

#[test]
fn scaling_law_ignores_units() {
    let launches = USERS.map(|users| scattered(&name(users), f64::from(users) * 1e9 / rate(users)));
    let mut launches: Vec<Launch> = launches.into_iter().flatten().collect();
    for launch in &mut launches {
        samples(launch).for_each(|sample| sample.usage.cpu = 2 * sample.wall);
    }
    let view = view(&run(rows(true), launches));
    let (law, single) = (law_of(row(&view, "a/x")).clone(), peak(&USERS));
    let single = law_of(&single);
    assert!((law.contention - single.contention).abs() < 0.01, "{law:?}");
    assert!((law.coherence - single.coherence).abs() < 0.001, "{law:?}");
    let series = row(&view, "a/x").series().unwrap();
    assert!(series.iter().all(|point| point.cpus == Some(2.0)));
}

#[test]
fn peak_is_the_highest_rate() {
    let result = peak(&USERS);
    // 8 users do 4.04, 16 do 4.32, and 32 do 3.53 million
    assert_eq!(result.outcome(), Status::Measured);
    let value = result.estimate().unwrap().value;
    assert!((value / rate(16) - 1.0).abs() < 0.01, "{value}");
    assert_eq!(result.launches(), LAUNCHES as usize);
    assert_eq!(result.series().map(<[_]>::len), Some(6));
    let [note] = result.notes.as_slice() else {
        panic!("{:?}", result.notes);
    };
    let Finding::Scaling { things, peak, last, drop, law, unfitted } = &note.finding else {
        panic!("{note:?}");
    };
    assert_eq!((things.as_str(), *peak, *last), ("users", 16.0, 32.0));
    assert!((drop - (1.0 - rate(32) / rate(16))).abs() < 0.01, "{drop}");
    assert_eq!((note.flag(), *unfitted), (None, None));
    let law = law.as_ref().unwrap();
    assert!((law.contention - 0.1).abs() < 0.01, "{law:?}");
    assert!((law.coherence - 0.005).abs() < 0.001, "{law:?}");
    // the square root of 0.9 / 0.005
    assert!((law.peak.unwrap() - 13.4).abs() < 0.5, "{law:?}");
}

#[test]
fn missing_curve_point_is_named() {
    let result = peak(&USERS[..4]);
    let value = result.estimate().unwrap().value;
    assert!((value / rate(8) - 1.0).abs() < 0.01, "{value}");
    let incomplete =
        Finding::IncompleteCurve { things: "users".to_owned(), missing: vec![16.0, 32.0] };
    assert_eq!(result.notes, [Note::new(incomplete)]);
    assert!(result.is_flagged(Flag::NotComparable));
    let none = peak(&[]);
    assert_eq!((none.outcome(), none.estimate()), (Status::Skipped, None));
}

/// A launch whose operations take 50 ns, but for one.
fn with_one_late(name: &str, round: u32, late: u32) -> Launch {
    let mut launch = launch(name, round, 50.0);
    let times = histogram(&[(50, 99), (late, 1)]);
    launch.events.push(Event::Latency(Box::new(times)));
    launch
}

#[test]
fn longest_is_over_all_operations() {
    let names = ["a/x/test-0", "a/x/test-3"];
    let points = [0.0, 3.0].into_iter().zip(names);
    let work = sum(names.map(|name| (1.0, name)));
    let mut longest = Benchmark::new(id("a/x@max"), unit("ns/call"), work);
    longest.curve = Some(Curve { longest: true, ..curve("test", points) });
    let rows = [vec![longest], names.map(plain).to_vec()].concat();
    // the longest operation is in the test whose median is not the larger one
    let maximum = |rounds: u32| {
        let launches = (0..LAUNCHES).flat_map(|round| {
            let late = if round == 4 { 126 } else { 90 };
            [with_one_late("a/x/test-0", round, late), with_one_late("a/x/test-3", round, 100)]
        });
        let remaining = launches.filter(|launch| launch.id == id("a/x/test-0") || rounds > 0);
        row(&view(&run(rows.clone(), remaining.collect())), "a/x@max").clone()
    };
    let result = maximum(1);
    assert_eq!(result.estimate(), Some(Estimate::exact(126.0)));
    assert_eq!(result.launches(), 2 * LAUNCHES as usize);
    assert_eq!(result.series().map(<[_]>::len), Some(2));
    assert_eq!(result.notes, []);
    // a test that was not measured may have had a longer one
    let missing = Finding::IncompleteCurve { things: "test".to_owned(), missing: vec![3.0] };
    assert_eq!(maximum(0).notes, [Note::new(missing)]);
}
