//! The minimum detectable effect of two runs.

use crate::compare::{Options, compare};
use crate::tests::made_up_runs::*;
use gritstone_model::*;
use gritstone_stats::descriptive;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

#[test]
fn minimum_effect_has_stated_power() {
    let mut random = Pcg64::seed_from_u64(117);
    // what is stated is as much
    let sd = 0.005;
    let mut row = |change: f64| {
        let base = drawn(&mut random, 0, sd, 0.0);
        let other = drawn(&mut random, 1, sd, change.ln_1p());
        compare(&base, &other, &Options::default()).rows.remove(0)
    };
    let effects: Vec<f64> = (0..40).filter_map(|_| row(0.0).smallest).collect();
    let smallest = descriptive::mean(&effects);
    assert!((0.03..0.045).contains(&smallest), "{smallest}");
    let mut seen = |change: f64| {
        let hit = |_: &i32| row(change).verdict == Some(Verdict::Slower);
        (0..400).filter(hit).count()
    };
    // 380 expected, with a standard deviation of 4.4
    let hits = seen(smallest);
    assert!((362..=398).contains(&hits), "{hits} of 400");
    assert!(seen(smallest / 2.0) < 240);
}

#[test]
fn more_tests_raise_minimum_effect() {
    // two are too few to show the scatter between runs
    let names: Vec<String> = (0..2).map(|i| format!("a/{i}")).collect();
    let smallest = |names: &[String]| {
        let view = plain_run(names.iter().map(|name| (name, 100.0)));
        let row = compare(&view, &view, &Options::default()).rows.remove(0);
        assert_eq!(row.verdict, Some(Verdict::Inconclusive));
        row.smallest
    };
    let (alone, of_two) = (smallest(&names[..1]), smallest(&names));
    assert!(of_two.unwrap() > 1.1 * alone.unwrap());
}

#[test]
fn inconclusive_results_have_minimum_effect() {
    let timed = |ns: f64| view(&run(vec![plain("a/b")], scattered("a/b", ns)));
    let smallest = |base: &RunView, other: &RunView| {
        let row = compare(base, other, &Options::default()).rows.remove(0);
        (row.verdict, row.smallest.is_some())
    };
    let actual = smallest(&timed(100.0), &timed(100.0));
    assert_eq!(actual, (Some(Verdict::Inconclusive), true));
    assert_eq!(smallest(&timed(100.0), &timed(50.0)), (Some(Verdict::Faster), false));
    let mut disturbed = timed(100.0);
    let note = stated(Some(Flag::Interference), "Others.");
    disturbed.results[0].notes.push(note);
    let untold = smallest(&timed(100.0), &disturbed);
    assert_eq!(untold, (Some(Verdict::Inconclusive), false));
}

fn paced(name: &str) -> Benchmark {
    Benchmark { processor_bound: true, ..plain(name) }
}

fn normal(random: &mut Pcg64) -> f64 {
    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.random::<f64>()).cos()
}

/// A run whose times are off by one draw of this standard deviation, and by a change.
fn drawn(random: &mut Pcg64, index: usize, sd: f64, change: f64) -> RunView {
    let shift = sd * normal(random);
    let launches = (0..10)
        .map(|round| launch("a/b", round, 1000.0 * (shift + change + 0.004 * normal(random)).exp()))
        .collect();
    let mut data = run(vec![paced("a/b")], launches);
    data.info.id = format!("run-{index}");
    data.info.started = format!("2026-01-01T00:{:02}:{:02}Z", index / 60, index % 60);
    view(&data)
}
