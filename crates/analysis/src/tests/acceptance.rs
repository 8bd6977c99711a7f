//! Gates after a level, an event or an absence was accepted.

use crate::check;
use crate::tests::gates::slowed;
use crate::tests::made_up_runs::*;
use gritstone_model::*;

#[test]
fn accepted_absence_is_not_judged() {
    let earlier: Vec<RunView> = (1..=5).map(|number| slowed(number, 0, 1.0)).collect();
    let mut run = slowed(6, 0, 1.0);
    run.results[0].data = Data::absent(Absence::Skipped);
    let past = summaries(&earlier);
    let absence = accepted([(run.id.clone(), run.results[0].id.clone())]);
    let found = check::against_history(&run, &past, 0.02, &absence);
    assert_eq!((found.outcome, found.rows.len()), (CheckOutcome::Passed, 9));
    // an accepted level has a history
    let level = accepted([(run.id.clone(), run.results[1].id.clone())]);
    let found = check::against_history(&run, &past, 0.02, &level);
    let row = found.rows.iter().find(|row| row.row.id == run.results[1].id).unwrap();
    assert_eq!(row.row.notes, [Finding::Accepted {}.into()]);
}

#[test]
fn acceptance_holds_within_slow_levels() {
    let ns = |number: usize| match number {
        1..=8 => 1.0,
        9..=16 => 1.1,
        _ => 1.2,
    };
    let runs: Vec<RunView> = (1..=17).map(|number| slowed(number, 1, ns(number))).collect();
    let id = runs[16].results[0].id.clone();
    let verdict = |named: &[usize]| {
        let named = named.iter().map(|run| (runs[*run].id.clone(), id.clone()));
        check::against_history(&runs[16], &summaries(&runs[..16]), 0.02, &accepted(named)).outcome
    };
    assert_eq!(verdict(&[12]), CheckOutcome::Regressed);
    assert_eq!(verdict(&[12, 16]), CheckOutcome::Passed);
}

/// The outcome of the first benchmark in the last of 18 runs; it takes 10% longer from a run on, and an event of the 13th is expected.
fn expected(from: usize, change: impl Fn(&mut Vec<RunView>)) -> CheckOutcome {
    let factor = |number: usize| if number < from { 1.0 } else { 1.1 };
    let mut runs: Vec<RunView> = (1..=18).map(|number| slowed(number, 1, factor(number))).collect();
    let event = runs[12].clone();
    change(&mut runs);
    let (newest, earlier) = runs.split_last().unwrap();
    let id = &newest.results[0].id;
    let change = check::ExpectedChange {
        run: event.id.clone(),
        started: event.started.clone(),
        benchmark: id.clone(),
    };
    let accepted = check::Accepted { by_event: vec![change], ..Default::default() };
    let found = check::against_history(newest, &summaries(earlier), 0.02, &accepted);
    found.rows.iter().find(|row| row.row.id == *id).unwrap().outcome
}

#[test]
fn expected_events_cover_near_levels() {
    for from in 11..=15 {
        assert_eq!(expected(from, |_| {}), CheckOutcome::Passed, "{from}");
        let disturb = |runs: &mut Vec<RunView>| {
            runs[12].results[0].notes = vec![stated(Some(Flag::Interference), "Others.")];
        };
        assert_eq!(expected(from, disturb), CheckOutcome::Passed, "{from}");
        // a filter left the run of the event out
        let lack = |runs: &mut Vec<RunView>| drop(runs.remove(12));
        assert_eq!(expected(from, lack), CheckOutcome::Passed, "{from}");
        let slower = |runs: &mut Vec<RunView>| runs[17] = slowed(18, 1, 1.5);
        assert_eq!(expected(from, slower), CheckOutcome::Regressed, "{from}");
    }
    assert_eq!(expected(16, |_| {}), CheckOutcome::Regressed);
}

#[test]
fn accepted_levels_excuse_no_absence() {
    let mut runs: Vec<RunView> = (1..=7).map(|number| slowed(number, 1, 1.0)).collect();
    runs[5] = slowed(6, 1, 1.3);
    runs[6].results[0].data = Data::absent(Absence::Skipped);
    let id = &runs[6].results[0].id;
    let level = accepted([(runs[5].id.clone(), id.clone())]);
    let found = check::against_history(&runs[6], &summaries(&runs[..6]), 0.02, &level);
    assert_eq!(found.outcome, CheckOutcome::Inconclusive);
    assert_eq!(found.missing.len(), 1);
}

#[test]
fn accepted_runs_are_a_base() {
    let factors = |last: f64| [1.0, 1.0, 1.0, 1.0, 1.3, last];
    for (last, outcome) in [(1.3, CheckOutcome::Passed), (1.6, CheckOutcome::Regressed)] {
        let runs = (1..).zip(factors(last)).map(|(number, factor)| slowed(number, 1, factor));
        let runs: Vec<RunView> = runs.collect();
        let id = runs[4].results[0].id.clone();
        let accepted = accepted([(runs[4].id.clone(), id.clone())]);
        let found = check::against_history(&runs[5], &summaries(&runs[..5]), 0.02, &accepted);
        let mut rows = found.rows.iter();
        assert_eq!(rows.find(|row| row.row.id == id).unwrap().outcome, outcome);
    }
}
