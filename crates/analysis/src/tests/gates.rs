//! Gates over ten benchmarks.

use crate::check::{self, Accepted};
use crate::compare::{Options, compare};
use crate::run_effect;
use crate::run_summary::RunSummary;
use crate::tests::made_up_runs::*;
use gritstone_model::*;
use rand::{RngExt as _, SeedableRng as _};

/// A run of a day in January: `slow` of ten benchmarks take `factor` times as long.
fn day(day: u32, slow: usize, factor: f64) -> RunView {
    let effect = |index: usize| 0.001 * f64::from((day * 7 + index as u32 * 3) % 5);
    day_with(day, slow, factor, &effect)
}

/// The same, with an effect of the run on each benchmark.
fn day_with(day: u32, slow: usize, factor: f64, effect: &dyn Fn(usize) -> f64) -> RunView {
    let names: Vec<String> = (0..10).map(|index| format!("a/b{index}")).collect();
    let benchmarks = names.iter().map(|name| plain(name)).collect();
    let launches = |(index, name): (usize, &String)| {
        let run = effect(index);
        let factor = if index < slow { factor } else { 1.0 };
        scattered(name, 100.0 * factor * (1.0 + run))
    };
    let mut data = run(
        benchmarks,
        names.iter().enumerate().flat_map(launches).collect(),
    );
    data.info.id = format!("run-{day:02}");
    data.info.started = format!("2026-01-{day:02}T00:00:00Z");
    view(&data)
}

fn against_one(run: &RunView) -> CheckView {
    let base = day(1, 0, 1.0);
    let effects = run_effect::estimate(&[] as &[RunSummary], &base, run);
    let compared = compare(&base, run, &Options::new(0.02, effects));
    check::check(&compared, [&base, run], 0.02, 0.01)
}

fn against_history(run: &RunView, earlier: &[RunView]) -> CheckView {
    let past: Vec<RunSummary> = earlier.iter().map(RunSummary::new).collect();
    check::against_history(run, &past, 0.02, &Accepted::new())
}

fn count(view: &CheckView, outcome: CheckOutcome) -> usize {
    let rows = view.rows.iter();
    rows.filter(|row| row.outcome == outcome).count()
}

#[test]
fn slower_systems_do_not_pass() {
    for slow in [10, 9] {
        let found = against_one(&day(2, slow, 2.0));
        assert_eq!(found.outcome, CheckOutcome::Inconclusive);
        assert_eq!(count(&found, CheckOutcome::Inconclusive), slow);
        assert!(found.common.is_some_and(|common| common.ratio < 0.6));
    }
    for factor in [1.0, 0.5] {
        let found = against_one(&day(2, 10, factor));
        assert_eq!((found.outcome, found.common), (CheckOutcome::Passed, None));
    }
}

#[test]
fn few_runs_show_common_slowdowns() {
    let earlier: Vec<RunView> = (1..=5).map(|date| day(date, 0, 1.0)).collect();
    for slow in [1, 5, 10] {
        let found = against_history(&day(6, slow, 1.1), &earlier);
        assert_eq!(count(&found, CheckOutcome::Regressed), slow);
        assert_eq!(count(&found, CheckOutcome::Passed), 10 - slow);
    }
}

#[test]
fn shared_slowdowns_keep_failing() {
    // runs scatter by 0.9%, too much to find a change of 3% in few runs of one
    let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(1);
    let mut noisy = |date: u32, slow: usize| {
        let effects: [f64; 10] = std::array::from_fn(|_| random.random_range(-0.015..0.015));
        day_with(date, slow, 1.03, &|index| effects[index])
    };
    let mut runs: Vec<RunView> = (1..=5).map(|date| noisy(date, 0)).collect();
    for date in 6..=20 {
        runs.push(noisy(date, 10));
        let (newest, earlier) = runs.split_last().unwrap();
        let found = against_history(newest, earlier).outcome;
        assert!(date < 12 || found == CheckOutcome::Regressed, "{date}");
    }
}

#[test]
fn short_dips_keep_their_verdict() {
    let ns = |date: u32| if (10..13).contains(&date) { 0.9 } else { 1.0 };
    let runs: Vec<RunView> = (1..=31).map(|date| day(date, 1, ns(date))).collect();
    let verdict = |newest: usize| {
        let found = against_history(&runs[newest], &runs[..newest]);
        (found.outcome, found.rows[0].since.clone())
    };
    for newest in 16..31 {
        assert_eq!(verdict(newest), (CheckOutcome::Passed, None), "{newest}");
    }
}

#[test]
fn second_modes_pass() {
    // the first benchmark takes 6% longer in three runs of ten, and 30% longer in the newest
    let slow = |date: u32| [2, 5, 9, 12, 15, 18, 22, 25].contains(&date);
    let ns = |date: u32| if slow(date) { 1.06 } else { 1.0 };
    let runs: Vec<RunView> = (1..=28).map(|date| day(date, 1, ns(date))).collect();
    for newest in [17, 21, 24] {
        let found = against_history(&runs[newest], &runs[..newest]);
        assert_eq!(found.outcome, CheckOutcome::Passed, "{newest}");
    }
    let found = against_history(&day(29, 1, 1.3), &runs);
    assert_eq!(count(&found, CheckOutcome::Regressed), 1);
}

#[test]
fn intervals_below_zero_decide_nothing() {
    let reaching_zero = |date: u32, factor: f64| {
        let mut view = day(date, 1, factor);
        let Data::Measured(measured) = &mut view.results[0].data else {
            panic!("it is measured")
        };
        let estimate = measured.sampled.estimate.as_mut().unwrap();
        estimate.interval = Some([-1.0, 3.0 * estimate.value]);
        view
    };
    let (base, run) = (reaching_zero(1, 1.0), reaching_zero(2, 2.0));
    let effects = run_effect::estimate(&[] as &[RunSummary], &base, &run);
    let compared = compare(&base, &run, &Options::new(0.02, effects));
    let row = compared.rows.iter().find(|row| row.id.as_str() == "a/b0");
    assert_eq!(row.unwrap().verdict, Some(Verdict::Inconclusive));
    let past = RunSummary::new(&run);
    assert!(past.values.keys().all(|id| id.as_str() != "a/b0"));
    let mut alone = run.clone();
    run_effect::add_to(&[] as &[RunSummary], &mut alone);
    assert!(alone.results[0].of_runs.is_none() && alone.results[1].of_runs.is_some());
}
