//! Gates over ten benchmarks.

use crate::check::{self, Accepted};
use crate::compare::{Options, compare};
use crate::past::Past;
use crate::run_effect;
use crate::tests::made_up_runs::*;
use gritstone_model::*;

/// A run of a day in January: `slow` of ten benchmarks take `factor` times as long.
fn day(day: u32, slow: usize, factor: f64) -> RunView {
    let names: Vec<String> = (0..10).map(|at| format!("a/b{at}")).collect();
    let benchmarks = names.iter().map(|name| plain(name)).collect();
    let of = |(at, name): (usize, &String)| {
        let run = 0.004 * f64::from((day * 7 + at as u32 * 3) % 5) / 4.0;
        let factor = if at < slow { factor } else { 1.0 };
        scattered(name, 100.0 * factor * (1.0 + run))
    };
    let mut data = run(benchmarks, names.iter().enumerate().flat_map(of).collect());
    data.info.id = format!("run-{day:02}");
    data.info.started = format!("2026-01-{day:02}T00:00:00Z");
    view(&data)
}

fn against_one(run: &RunView) -> CheckView {
    let base = day(1, 0, 1.0);
    let effects = run_effect::estimate(&[] as &[Past], &base, run);
    let compared = compare(&base, run, &Options::new(0.02, effects));
    check::check(&compared, [&base, run], 0.02, 0.01)
}

fn against_history(run: &RunView, earlier: &[RunView]) -> CheckView {
    let past: Vec<Past> = earlier.iter().map(Past::new).collect();
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
        assert!(found.common.is_some_and(|of| of.ratio < 0.6));
    }
    for factor in [1.0, 0.5] {
        let found = against_one(&day(2, 10, factor));
        assert_eq!((found.outcome, found.common), (CheckOutcome::Passed, None));
    }
}

#[test]
fn few_runs_show_common_slowdowns() {
    let earlier: Vec<RunView> = (1..=5).map(|at| day(at, 0, 1.0)).collect();
    for slow in [1, 5, 10] {
        let found = against_history(&day(6, slow, 1.1), &earlier);
        assert_eq!(count(&found, CheckOutcome::Regressed), slow);
        assert_eq!(count(&found, CheckOutcome::Passed), 10 - slow);
    }
}

#[test]
fn short_dips_keep_their_verdict() {
    let ns = |at: u32| if (10..13).contains(&at) { 0.9 } else { 1.0 };
    let runs: Vec<RunView> = (1..=31).map(|at| day(at, 1, ns(at))).collect();
    for newest in 16..31 {
        let found = against_history(&runs[newest], &runs[..newest]);
        let since = found.rows[0].since.as_deref();
        assert_eq!(since, Some("2026-01-13T00:00:00Z"), "{newest}");
        assert_eq!(count(&found, CheckOutcome::Regressed), 1, "{newest}");
    }
}

#[test]
fn slight_predecessors_are_no_change() {
    let mut earlier: Vec<RunView> = (1..=14).map(|at| day(at, 0, 1.0)).collect();
    earlier.push(day(15, 1, 1.012));
    let found = against_history(&day(16, 1, 1.1), &earlier);
    let worst = &found.rows[0];
    assert_eq!(worst.since.as_deref(), Some("2026-01-16T00:00:00Z"));
    let ratio = worst.row.ratio.unwrap();
    assert!((0.905..0.915).contains(&ratio), "{ratio}");
}
