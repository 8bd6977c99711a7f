//! Histories of made-up runs, and gates.

use crate::compare::{Options, compare};
use crate::run_variance::Past;
use crate::tests::made_up_runs::*;
use crate::{check, series};
use gritstone_model::*;

/// Scatter of runs of one level, without order.
const SHIFTS: [f64; 7] = [0.0, 0.004, -0.003, 0.002, -0.005, 0.001, 0.003];

/// The `at`-th run of one benchmark, with variance.
fn one(at: usize, ns: f64) -> RunView {
    let launches = scattered("a/b", ns * SHIFTS[at % SHIFTS.len()].exp());
    let mut data = run(vec![plain("a/b")], launches);
    data.info.id = format!("run-{at}");
    data.info.started = format!("2026-01-{:02}T00:00:00Z", at + 1);
    view(&data)
}

fn of(runs: &[RunView]) -> HistoryView {
    series::history(&id("a/b"), runs).unwrap()
}

fn steady(runs: usize) -> Vec<RunView> {
    (0..runs).map(|at| one(at, 100.0)).collect()
}

fn against(run: &RunView, earlier: &[RunView], allowed: f64) -> CheckView {
    let past: Vec<Past> = earlier.iter().map(Past::new).collect();
    check::against_history(run, &past, allowed, &check::Accepted::new())
}

#[test]
fn a_change_has_its_run_and_its_size() {
    let runs: Vec<RunView> = (0..24)
        .map(|at| one(at, if at < 12 { 100.0 } else { 110.0 }))
        .collect();
    let found = of(&runs);
    assert_eq!(found.series.len(), 1);
    let series = &found.series[0];
    assert_eq!(series.points.len(), 24);
    let [change] = &series.changes[..] else {
        panic!("{:?}", series.changes);
    };
    assert_eq!((change.run.as_str(), change.at), ("run-12", 12));
    // slower, so below 1
    assert!((change.ratio - 1.0 / 1.1).abs() < 0.003, "{}", change.ratio);
    assert!(of(&steady(24)).series[0].changes.is_empty());
}

#[test]
fn a_large_step_is_suspected_after_three_runs() {
    let steps = |runs: usize| {
        let runs: Vec<RunView> = (0..runs)
            .map(|at| one(at, if at < 12 { 100.0 } else { 110.0 }))
            .collect();
        let mut changes = of(&runs).series.remove(0).changes;
        changes.pop().map(|change| (change.at, change.suspected))
    };
    assert_eq!(steps(14), None);
    assert_eq!(steps(15), Some((12, true)));
    assert_eq!(steps(22), Some((12, false)));
}

#[test]
fn different_conditions_make_separate_series() {
    fn settings(run: &mut RunView) -> &mut Settings {
        run.settings.as_mut().unwrap()
    }
    let mut runs = steady(10);
    runs[0].machine.id = "other".to_owned();
    runs[1].results[0].version = 9;
    let facts = &mut runs[2].machine.facts;
    facts.insert("kernel.release".to_owned(), "7.0".to_owned());
    let program = runs[3].results[0].program.as_mut().unwrap();
    program.flags = "-O3".to_owned();
    settings(&mut runs[4]).dir = "/mnt".to_owned();
    settings(&mut runs[5]).steady = vec!["turbo off".to_owned()];
    let params = &mut settings(&mut runs[6]).params;
    params.insert("tty".to_owned(), "/dev/ttyS0".to_owned());
    let found = of(&runs);
    let sizes: Vec<usize> = found.series.iter().map(|s| s.points.len()).collect();
    assert_eq!(sizes, [1, 1, 1, 1, 1, 1, 1, 3]);
    // the differing condition is reported
    assert_eq!(found.series[4].dir, "/mnt");
    assert_eq!(found.series[5].steady, ["turbo off"]);
    assert_eq!(found.series[6].params["tty"], "/dev/ttyS0");
    assert_eq!(series::history(&id("no/such"), &runs), None);
}

#[test]
fn flagged_runs_are_shown_not_counted() {
    let mut runs = steady(12);
    for (at, kind) in [(3, Some(Flag::Invalid)), (5, Some(Flag::Interference))] {
        runs[at].results[0].notes = vec![stated(kind, "Why.")];
    }
    let points = &of(&runs).series[0].points;
    let counted = points.iter().filter(|point| point.value.is_some());
    assert_eq!(counted.count(), 10);
    assert_eq!(points[3].notes[0].flag(), Some(Flag::Invalid));
    assert!(points[3].estimate.is_some());
}

#[test]
fn gate_passes_fails_or_is_inconclusive() {
    let earlier = steady(14);
    let outcome = |ns: f64, allowed: f64| against(&one(14, ns), &earlier, allowed).outcome;
    assert_eq!(outcome(100.0, 0.02), CheckOutcome::Passed);
    assert_eq!(outcome(110.0, 0.02), CheckOutcome::Regressed);
    assert_eq!(outcome(102.0, 0.02), CheckOutcome::Inconclusive);
    // faster is no regression
    assert_eq!(outcome(80.0, 0.02), CheckOutcome::Passed);
    assert_eq!(outcome(110.0, 0.2), CheckOutcome::Passed);
}

#[test]
fn gate_needs_enough_undisturbed_runs() {
    let few = against(&one(4, 200.0), &steady(4), 0.02);
    assert_eq!(few.outcome, CheckOutcome::Inconclusive);
    let why = short(&few.rows[0].row.notes[0]);
    assert_eq!(why, "short-history runs=4 needed=5");
    let mut disturbed = one(14, 200.0);
    let note = stated(Some(Flag::Interference), "Others.");
    disturbed.results[0].notes.push(note);
    assert_eq!(
        against(&disturbed, &steady(14), 0.02).outcome,
        CheckOutcome::Inconclusive
    );
    let mut alone = one(0, 100.0);
    alone.results[0].measured_mut().sampled.estimate = None;
    assert_eq!(
        against(&alone, &steady(14), 0.02).outcome,
        CheckOutcome::Inconclusive
    );
}

#[test]
fn single_outlier_fails_alone() {
    let mut runs = steady(12);
    let mut outcome = |ns: f64| {
        let run = one(runs.len(), ns);
        let view = against(&run, &runs, 0.02);
        runs.push(run);
        view.outcome
    };
    assert_eq!(outcome(110.0), CheckOutcome::Regressed);
    // not surely within what is allowed, and not beyond it
    assert_eq!(outcome(101.5), CheckOutcome::Inconclusive);
    assert_eq!(outcome(110.0), CheckOutcome::Regressed);
    assert_eq!(outcome(102.5), CheckOutcome::Regressed);
}

#[test]
fn accepted_level_becomes_the_base() {
    let mut runs = steady(12);
    runs.extend((12..15).map(|at| one(at, 105.0)));
    let reported = |run: &RunView, earlier: &[RunView], accepted: &check::Accepted| {
        let past: Vec<Past> = earlier.iter().map(Past::new).collect();
        let mut view = check::against_history(run, &past, 0.02, accepted);
        (view.outcome, view.rows.remove(0).row.notes)
    };
    let (last, earlier) = runs.split_last().unwrap();
    let none = check::Accepted::new();
    assert_eq!(reported(last, earlier, &none).0, CheckOutcome::Regressed);
    let named = check::Accepted::from([(last.id.clone(), id("a/b"))]);
    let (outcome, notes) = reported(last, earlier, &named);
    assert_eq!(outcome, CheckOutcome::Passed);
    assert_eq!(notes[0].finding, Finding::Accepted {});
    let next = one(15, 105.0);
    assert_eq!(reported(&next, &runs, &none).0, CheckOutcome::Regressed);
    assert_eq!(
        reported(&next, &runs, &named),
        (CheckOutcome::Passed, vec![])
    );
    assert_eq!(
        reported(&one(15, 111.0), &runs, &named).0,
        CheckOutcome::Regressed
    );
}

#[test]
fn regression_keeps_failing() {
    let mut runs = steady(12);
    let mut outcomes = |levels: &[f64]| -> Vec<(CheckOutcome, Option<String>)> {
        let reported = |ns: &f64| {
            let run = one(runs.len(), *ns);
            let mut view = against(&run, &runs, 0.02);
            runs.push(run);
            (view.outcome, view.rows.remove(0).since)
        };
        levels.iter().map(reported).collect()
    };
    let since = Some("2026-01-13T00:00:00Z".to_owned());
    for (outcome, from) in outcomes(&[105.0; 10]) {
        assert_eq!((outcome, from), (CheckOutcome::Regressed, since.clone()));
    }
    // neither surely slower than is allowed nor surely not: still red; then mended
    assert_eq!(outcomes(&[102.0])[0].0, CheckOutcome::Regressed);
    assert_eq!(outcomes(&[100.0])[0], (CheckOutcome::Passed, None));
    let better = outcomes(&[94.0; 5]);
    assert!(
        better
            .iter()
            .all(|(outcome, _)| *outcome == CheckOutcome::Passed)
    );
    assert_eq!(outcomes(&[100.0])[0].0, CheckOutcome::Regressed);
}

#[test]
fn a_gate_over_a_comparison() {
    let of = |ns: f64, allowed: f64| {
        let compared = compare(&one(0, 100.0), &one(1, ns), &Options::default());
        check::check(&compared, allowed, 0.05)
    };
    assert_eq!(of(100.0, 0.2).outcome, CheckOutcome::Passed);
    assert_eq!(of(140.0, 0.1).outcome, CheckOutcome::Regressed);
    assert_eq!(of(109.0, 0.1).outcome, CheckOutcome::Inconclusive);
    // what the base had and the run has not
    let mut without = one(1, 100.0);
    without.results.clear();
    let compared = compare(&one(0, 100.0), &without, &Options::default());
    assert_eq!(
        check::check(&compared, 0.1, 0.05).outcome,
        CheckOutcome::Inconclusive
    );
}
