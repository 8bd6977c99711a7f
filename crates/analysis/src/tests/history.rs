//! Histories of made-up runs, and gates.

use crate::compare::{Options, compare};
use crate::tests::made_up_runs::*;
use crate::{check, events, series};
use gritstone_model::*;

/// Scatter of runs of one level, without order.
const SHIFTS: [f64; 7] = [0.0, 0.004, -0.003, 0.002, -0.005, 0.001, 0.003];

/// The `index`th run of one benchmark, with variance.
fn one(index: usize, ns: f64) -> RunView {
    dated(index, scattered("a/b", ns * SHIFTS[index % SHIFTS.len()].exp()))
}

fn history(runs: &[RunView]) -> HistoryView {
    let systems = series::Systems::fit(summaries(runs), &[]);
    series::history(&id("a/b"), runs, &systems).unwrap()
}

fn unchanged(runs: usize) -> Vec<RunView> {
    (0..runs).map(|index| one(index, 100.0)).collect()
}

/// Both gates, over the newest of these runs and over all.
fn both_gates(run: &RunView, earlier: &[RunView]) -> [CheckView; 2] {
    let base = earlier.last().unwrap();
    let compared = compare(base, run, &Options::default());
    [check::check(&compared, [base, run], 0.02, 0.05), against(run, earlier)]
}

#[test]
fn changes_have_run_and_size() {
    let runs: Vec<RunView> =
        (0..24).map(|index| one(index, if index < 12 { 100.0 } else { 110.0 })).collect();
    let found = history(&runs);
    assert_eq!(found.series.len(), 1);
    let series = &found.series[0];
    assert_eq!(series.points.len(), 24);
    let [change] = &series.changes[..] else {
        panic!("{:?}", series.changes);
    };
    assert_eq!((change.run.as_str(), change.at), ("run-12", 12));
    assert_eq!((change.between, change.runs, change.drift), ([12, 12], 12, false));
    // slower, so below 1
    assert!((change.ratio - 1.0 / 1.1).abs() < 0.003, "{}", change.ratio);
    assert!(history(&unchanged(24)).series[0].changes.is_empty());
}

#[test]
fn slow_changes_are_drifts() {
    let level = |index: usize| 100.0 * (0.005 * index as f64).exp();
    let drifting = history(&(0..40).map(|index| one(index, level(index))).collect::<Vec<_>>());
    let changes = &drifting.series[0].changes;
    assert!(!changes.is_empty() && changes.iter().all(|change| change.drift), "{changes:?}");
    let found = events::events(&[drifting], &events::KnownEvents::new());
    assert!(found.iter().all(ChangeEvent::is_drift));
}

/// The change of a benchmark at a run of twenty, which may have begun between two others.
fn change_at(benchmark: &str, index: usize, between: [usize; 2]) -> HistoryView {
    let mut view = history(&(0..20).map(|index| one(index, 100.0)).collect::<Vec<_>>());
    view.id = id(benchmark);
    let series = &mut view.series[0];
    series.changes = vec![HistoryChange {
        run: series.points[index].run.clone(),
        started: series.points[index].started.clone(),
        at: index,
        between,
        ratio: 0.9,
        interval: None,
        runs: 20 - index,
        drift: false,
    }];
    view
}

#[test]
fn near_changes_are_one_event() {
    let near = [
        change_at("a/b", 12, [11, 12]),
        change_at("a/c", 12, [12, 13]),
        change_at("a/d", 10, [10, 10]),
    ];
    let far = change_at("a/e", 8, [7, 9]);
    let found = events::events(&[&near[..], &[far]].concat(), &events::KnownEvents::new());
    let [newest, oldest] = &found[..] else { panic!("{found:?}") };
    assert_eq!((newest.run.as_str(), newest.changes.len()), ("run-12", 3));
    assert_eq!(newest.before.as_deref(), Some("run-11"));
    assert_eq!((oldest.run.as_str(), oldest.changes.len()), ("run-8", 1));
    assert_eq!(oldest.may_begin, ["run-7", "run-8", "run-9"]);
}

#[test]
fn steps_of_series_stay_apart() {
    let mut view = change_at("a/b", 12, [12, 13]);
    let second = change_at("a/b", 14, [13, 14]).series.remove(0).changes.remove(0);
    view.series[0].changes.push(second);
    let views = [view, change_at("a/c", 12, [12, 12])];
    let found = events::events(&views, &events::KnownEvents::new());
    let found: Vec<(&str, usize)> =
        found.iter().map(|event| (event.id.as_str(), event.changes.len())).collect();
    assert_eq!(found, [("run-14-worse", 1), ("run-12-worse", 2)]);
}

#[test]
fn earlier_versions_keep_their_events() {
    let level = |index| if index < 12 { 100.0 } else { 110.0 };
    let mut runs: Vec<RunView> = (0..24).map(|index| one(index, level(index))).collect();
    runs.extend((24..30).map(|index| one(index, 300.0)));
    for run in &mut runs[24..] {
        run.results[0].version += 1;
    }
    let found = events::events(&[history(&runs)], &events::KnownEvents::new());
    let ids: Vec<&str> = found.iter().map(|event| event.id.as_str()).collect();
    assert_eq!(ids, ["run-12-worse"]);
}

#[test]
fn neighboring_changes_are_two_events() {
    let changes = |runs: &[usize]| {
        let all = runs.iter().zip('b'..);
        all.map(|(run, name)| change_at(&format!("a/{name}"), *run, [*run, *run])).collect()
    };
    let sizes = |runs: &[usize]| {
        let changes: Vec<HistoryView> = changes(runs);
        let found = events::events(&changes, &events::KnownEvents::new());
        found.iter().map(|event| (event.run.clone(), event.changes.len())).collect::<Vec<_>>()
    };
    let two = [("run-14".to_owned(), 2), ("run-12".to_owned(), 3)];
    assert_eq!(sizes(&[12, 12, 12, 14, 14]), two);
    // one of five may be located wrongly
    assert_eq!(sizes(&[12, 12, 12, 12, 14]), [("run-12".to_owned(), 5)]);
}

#[test]
fn changes_keep_their_unit() {
    let level = |index| if index < 12 { 100.0 } else { 110.0 };
    let mut runs: Vec<RunView> = (0..24).map(|index| one(index, level(index))).collect();
    let unit = runs[0].results[0].unit.clone();
    // later runs report another unit, in a series of their own
    runs.extend((24..26).map(|index| one(index, 0.1)));
    for run in &mut runs[24..] {
        run.results[0].unit = Unit::parse("us/call").unwrap();
    }
    let view = history(&runs);
    assert_ne!(view.unit, unit);
    let found = events::events(&[view], &events::KnownEvents::new());
    let change = &found[0].changes[0];
    assert_eq!(change.unit, unit);
    assert!(change.value_since > change.value_before && change.value_before > Some(50.0));
}

#[test]
fn intervals_end_with_the_unit() {
    let level = |index| match index {
        ..12 => 100.0,
        12 => 101.0,
        _ => 102.0,
    };
    let mut runs: Vec<RunView> = (0..24).map(|index| one(index, level(index))).collect();
    let [first, last] = history(&runs).series[0].changes[0].between;
    assert!(first < last);
    for (index, run) in runs.iter_mut().enumerate().skip(last) {
        *run = one(index, level(index) / 1000.0);
        run.results[0].unit = Unit::parse("us/call").unwrap();
    }
    let changes = history(&runs).series.into_iter().flat_map(|series| series.changes);
    assert_eq!(changes.count(), 1);
}

/// The identifier of a change, of those known.
fn identifier(index: usize, between: [usize; 2], known: &[(&str, &str)]) -> String {
    let known = known.iter().map(|(id, known)| ((*id).to_owned(), event(known, &[])));
    let view = change_at("a/b", index, between);
    events::events(&[view], &known.collect()).remove(0).id
}

/// A known event of these benchmarks.
fn event(known: &str, benchmarks: &[&str]) -> events::KnownEvent {
    let benchmarks = benchmarks.iter().map(|name| id(name)).collect();
    events::KnownEvent { id: known.to_owned(), benchmarks }
}

#[test]
fn moved_events_keep_identifiers() {
    assert_eq!(identifier(12, [11, 13], &[]), "run-12-worse");
    let known = [("run-12-worse", "run-12-worse")];
    assert_eq!(identifier(11, [11, 12], &known), "run-12-worse");
    assert_eq!(identifier(13, [13, 14], &known), "run-13-worse");
}

#[test]
fn old_events_keep_identifiers() {
    let level = |index| if index < 12 { 100.0 } else { 110.0 };
    let runs: Vec<RunView> = (0..130).map(|index| one(index, level(index))).collect();
    for stored in [24, 130] {
        let found = events::events(&[history(&runs[..stored])], &events::KnownEvents::new());
        let ids: Vec<&str> = found.iter().map(|event| event.id.as_str()).collect();
        assert_eq!(ids, ["run-12-worse"], "{stored}");
    }
}

#[test]
fn late_runs_leave_identifiers() {
    let known = [("run-12-worse", "run-12-worse")];
    assert_eq!(identifier(9, [9, 10], &known), "run-12-worse");
    assert_eq!(identifier(1, [1, 1], &known), "run-1-worse");
    // another event has it, or had other benchmarks
    let views = [change_at("a/b", 9, [9, 9]), change_at("a/c", 12, [12, 12])];
    let ids = |known: events::KnownEvent| -> Vec<String> {
        let known = [("run-12-worse".to_owned(), known)].into_iter().collect();
        events::events(&views, &known).into_iter().map(|event| event.id).collect()
    };
    let apart = ["run-12-worse", "run-9-worse"];
    assert_eq!(ids(event("run-12-worse", &[])), apart);
    let ids = |benchmark| {
        let known = [("run-12-worse".to_owned(), event("run-12-worse", &[benchmark]))];
        events::events(&views[..1], &known.into_iter().collect()).remove(0).id
    };
    assert_eq!([ids("a/b"), ids("a/c")], apart.map(str::to_owned));
}

#[test]
fn removed_runs_leave_their_identifiers() {
    let known = [("run-12-worse", "gone-worse")];
    assert_eq!(identifier(12, [12, 12], &known), "gone-worse");
    assert_eq!(identifier(11, [11, 12], &known), "gone-worse");
    let both = [("run-11-worse", "run-11-worse"), ("run-12-worse", "gone-worse")];
    assert_eq!(identifier(11, [11, 12], &both), "run-11-worse");
}

#[test]
fn events_share_no_identifier() {
    let changes = |names: &str, index: usize, between: [usize; 2]| -> Vec<HistoryView> {
        names.chars().map(|name| change_at(&format!("a/{name}"), index, between)).collect()
    };
    // run 13 may have begun both
    let views = [
        changes("abcdefg", 12, [12, 13]),
        changes("hij", 12, [12, 12]),
        changes("klm", 13, [13, 14]),
    ];
    let known = [("run-13-worse".to_owned(), event("run-13-worse", &[]))].into();
    let found = events::events(&views.concat(), &known);
    let found: Vec<(&str, usize)> =
        found.iter().map(|event| (event.id.as_str(), event.changes.len())).collect();
    assert_eq!(found, [("run-14-worse", 3), ("run-13-worse", 10)]);
}

/// A run of another kernel.
fn upgraded(index: usize, ns: f64) -> RunView {
    let mut run = one(index, ns);
    let facts = &mut run.machine.facts;
    facts.insert("kernel.release".to_owned(), "6.2".to_owned());
    run
}

#[test]
fn kernel_changes_are_marked() {
    let mut runs = unchanged(12);
    let mut outcomes = vec![];
    for index in 12..15 {
        let run = upgraded(index, 109.0);
        let found = against(&run, &runs);
        outcomes.push((found.outcome, found.rows[0].since.clone()));
        runs.push(run);
    }
    let since = Some("2026-01-13T00:00:00Z".to_owned());
    let regressed = (CheckOutcome::Regressed, since);
    assert_eq!(outcomes, vec![regressed; 3]);
    let [series] = &history(&runs).series[..] else { panic!("the kernel splits no series") };
    let [mark] = &series.marks[..] else { panic!("{:?}", series.marks) };
    assert_eq!((mark.at, series.kernel.as_str()), (12, "6.2"));
    assert_eq!(mark.differ_in[0].what, "kernel");
    let found = events::events(&[history(&runs)], &events::KnownEvents::new());
    assert_eq!(found[0].changes[0].kernel, "6.2");
    let [change] = &series.changes[..] else { panic!("{:?}", series.changes) };
    assert!(change.at == 12 && (change.ratio * 1.09 - 1.0).abs() < 0.01);
}

#[test]
fn changes_keep_their_kernel() {
    let run = |index| match index {
        ..12 => one(index, 100.0),
        12..18 => one(index, 110.0),
        _ => upgraded(index, 110.0),
    };
    let mut runs: Vec<RunView> = (0..24).map(run).collect();
    for run in &mut runs[..18] {
        run.machine.facts.insert("kernel.release".to_owned(), "6.1".to_owned());
    }
    let found = events::events(&[history(&runs)], &events::KnownEvents::new());
    assert_eq!(found[0].changes[0].kernel, "6.1");
}

#[test]
fn versions_of_gritstone_are_marked() {
    let mut runs = unchanged(6);
    for run in &mut runs[4..] {
        run.gritstone = Some("0.2.0".to_owned());
    }
    let marks = &history(&runs).series[0].marks;
    let [mark] = &marks[..] else { panic!("{marks:?}") };
    let [difference] = &mark.differ_in[..] else { panic!("{mark:?}") };
    assert_eq!((mark.at, difference.what.as_str()), (4, "gritstone"));
    assert_eq!(difference.other, "0.2.0");
}

#[test]
fn same_facts_restrict_series() {
    let with_flags = |mut run: RunView, flags: &str| {
        run.results[0].program.as_mut().unwrap().flags = flags.to_owned();
        run
    };
    let of_kernel = |index| if index < 12 { one(index, 100.0) } else { upgraded(index, 110.0) };
    let runs =
        (0..24).map(|index| with_flags(of_kernel(index), if index < 18 { "-O2" } else { "-O3" }));
    let runs: Vec<RunView> = runs.collect();
    let restricted = |same: &[SameFact]| {
        let view =
            series::history(&id("a/b"), &runs, &series::Systems::fit(summaries(&runs), same));
        let [series] = view.unwrap().series.try_into().unwrap();
        (series.points.len(), series.changes.len())
    };
    assert_eq!(restricted(&[]), (24, 1));
    assert_eq!(restricted(&[SameFact::Kernel]), (12, 0));
    assert_eq!(restricted(&[SameFact::Compiler]), (6, 0));
    assert_eq!(restricted(&[SameFact::Kernel, SameFact::Libc]), (12, 0));
}

#[test]
fn different_conditions_make_separate_series() {
    fn settings(run: &mut RunView) -> &mut Settings {
        run.settings.as_mut().unwrap()
    }
    let mut runs = unchanged(10);
    runs[0].machine.id = "other".to_owned();
    runs[1].results[0].version = 9;
    runs[2] = upgraded(2, 100.0);
    let program = runs[3].results[0].program.as_mut().unwrap();
    program.flags = "-O3".to_owned();
    settings(&mut runs[4]).dir = "/mnt".to_owned();
    settings(&mut runs[5]).tuned = vec!["turbo off".to_owned()];
    let params = &mut settings(&mut runs[6]).params;
    params.insert("tty".to_owned(), "/dev/ttyS0".to_owned());
    let found = history(&runs);
    let sizes: Vec<usize> = found.series.iter().map(|s| s.points.len()).collect();
    assert_eq!(sizes, [1, 1, 1, 1, 1, 5]);
    // the differing condition is reported
    assert_eq!(found.series[2].dir, "/mnt");
    assert_eq!(found.series[3].tuned, ["turbo off"]);
    assert_eq!(found.series[4].params["tty"], "/dev/ttyS0");
    // kernel and program are marks: from one to the next, and back
    let marks = found.series[5].marks.iter();
    let marks: Vec<(usize, usize)> = marks.map(|mark| (mark.at, mark.differ_in.len())).collect();
    assert_eq!(marks, [(1, 2), (2, 1)]);
    let systems = series::Systems::default();
    assert_eq!(series::history(&id("no/such"), &runs, &systems), None);
}

#[test]
fn flagged_runs_are_not_counted() {
    let mut runs = unchanged(12);
    for (index, kind) in [(3, Some(Flag::Invalid)), (5, Some(Flag::Interference))] {
        runs[index].results[0].notes = vec![stated(kind, "Why.")];
    }
    let points = &history(&runs).series[0].points;
    let counted = points.iter().filter(|point| point.value.is_some());
    assert_eq!(counted.count(), 10);
    assert_eq!(points[3].notes[0].flag(), Some(Flag::Invalid));
    assert!(points[3].estimate.is_some());
}

#[test]
fn gate_fails_on_evidence_alone() {
    let earlier = summaries(&unchanged(14));
    let outcome = |ns: f64, allowed: f64| {
        let none = check::Accepted::default();
        check::against_history(&one(14, ns), &earlier, allowed, &none).outcome
    };
    assert_eq!(outcome(100.0, 0.02), CheckOutcome::Passed);
    assert_eq!(outcome(110.0, 0.02), CheckOutcome::Regressed);
    assert_eq!(outcome(101.8, 0.02), CheckOutcome::Passed);
    // faster is no regression
    assert_eq!(outcome(80.0, 0.02), CheckOutcome::Passed);
    assert_eq!(outcome(110.0, 0.2), CheckOutcome::Passed);
}

#[test]
fn gate_needs_enough_undisturbed_runs() {
    let few = against(&one(2, 200.0), &unchanged(2));
    assert_eq!(few.outcome, CheckOutcome::Inconclusive);
    let why = short(&few.rows[0].row.notes[0]);
    assert_eq!(why, "short-history runs=2 needed=3");
    let enough = against(&one(3, 100.0), &unchanged(3));
    assert_eq!(enough.outcome, CheckOutcome::Passed);
    let mut disturbed = one(14, 200.0);
    let note = stated(Some(Flag::Interference), "Others.");
    disturbed.results[0].notes.push(note);
    assert_eq!(against(&disturbed, &unchanged(14)).outcome, CheckOutcome::Inconclusive);
    let mut alone = one(0, 100.0);
    alone.results[0].measured_mut().sampled.estimate = None;
    assert_eq!(against(&alone, &unchanged(14)).outcome, CheckOutcome::Inconclusive);
}

#[test]
fn single_outlier_fails_alone() {
    let mut runs = unchanged(12);
    let mut outcome = |ns: f64| {
        let run = one(runs.len(), ns);
        let view = against(&run, &runs);
        runs.push(run);
        view.outcome
    };
    assert_eq!(outcome(110.0), CheckOutcome::Regressed);
    assert_eq!(outcome(100.5), CheckOutcome::Passed);
    assert_eq!(outcome(100.0), CheckOutcome::Passed);
}

#[test]
fn noisy_runs_fail_no_others() {
    let mut runs = unchanged(12);
    // half of its launches took a third longer
    let slower = |round: u32| if round.is_multiple_of(2) { 1.3 } else { 1.0 };
    let launches = (0..LAUNCHES).zip(SCATTER);
    let launches = launches.map(|(round, ns)| launch("a/b", round, 100.0 * ns * slower(round)));
    runs.push(dated(12, launches.collect()));
    for index in 13..20 {
        let run = one(index, 100.0);
        assert_eq!(against(&run, &runs).outcome, CheckOutcome::Passed);
        runs.push(run);
    }
}

#[test]
fn accepted_level_becomes_the_base() {
    let mut runs = unchanged(12);
    runs.extend((12..15).map(|index| one(index, 105.0)));
    let reported = |run: &RunView, earlier: &[RunView], accepted: &check::Accepted| {
        let mut view = check::against_history(run, &summaries(earlier), 0.02, accepted);
        (view.outcome, view.rows.remove(0).row.notes)
    };
    let (last, earlier) = runs.split_last().unwrap();
    let none = check::Accepted::default();
    assert_eq!(reported(last, earlier, &none).0, CheckOutcome::Regressed);
    let named = accepted([(last.id.clone(), id("a/b"))]);
    let (outcome, notes) = reported(last, earlier, &named);
    assert_eq!(outcome, CheckOutcome::Passed);
    assert_eq!(notes[0].finding, Finding::Accepted {});
    let next = one(15, 105.0);
    assert_eq!(reported(&next, &runs, &none).0, CheckOutcome::Regressed);
    assert_eq!(reported(&next, &runs, &named), (CheckOutcome::Passed, vec![]));
    assert_eq!(reported(&one(15, 111.0), &runs, &named).0, CheckOutcome::Regressed);
    // one that was slower alone, accepted at once, and those after it, until there are three again
    let mut runs = unchanged(12);
    runs.push(one(12, 109.0));
    let named = accepted([("run-12".to_owned(), id("a/b"))]);
    let outcome = |runs: &[RunView]| {
        let (last, earlier) = runs.split_last().unwrap();
        reported(last, earlier, &named).0
    };
    assert_eq!(outcome(&runs), CheckOutcome::Passed);
    runs.extend([13, 14].map(|index| one(index, 109.0)));
    assert_ne!(outcome(&runs), CheckOutcome::Regressed);
    runs.push(one(15, 109.0));
    assert_eq!(outcome(&runs), CheckOutcome::Passed);
    runs.push(one(16, 120.0));
    assert_eq!(outcome(&runs), CheckOutcome::Regressed);
}

#[test]
fn regression_keeps_failing() {
    let mut runs = unchanged(12);
    let mut outcomes = |levels: &[f64]| -> Vec<(CheckOutcome, Option<String>)> {
        let reported = |ns: &f64| {
            let run = one(runs.len(), *ns);
            let mut view = against(&run, &runs);
            runs.push(run);
            (view.outcome, view.rows.remove(0).since)
        };
        levels.iter().map(reported).collect()
    };
    let since = Some("2026-01-13T00:00:00Z".to_owned());
    for (outcome, from) in outcomes(&[109.0; 10]) {
        assert_eq!((outcome, from), (CheckOutcome::Regressed, since.clone()));
    }
    assert_eq!(outcomes(&[100.0; 4])[3], (CheckOutcome::Passed, None));
    let better = outcomes(&[94.0; 5]);
    assert!(better.iter().all(|(outcome, _)| *outcome == CheckOutcome::Passed));
    assert_eq!(outcomes(&[100.0; 3])[2].0, CheckOutcome::Regressed);
}

#[test]
fn a_gate_over_a_comparison() {
    let gate = |ns: f64, allowed: f64| {
        let [base, run] = [one(0, 100.0), one(1, ns)];
        let compared = compare(&base, &run, &Options::default());
        check::check(&compared, [&base, &run], allowed, 0.05)
    };
    assert_eq!(gate(100.0, 0.2).outcome, CheckOutcome::Passed);
    assert_eq!(gate(140.0, 0.1).outcome, CheckOutcome::Regressed);
    assert_eq!(gate(109.0, 0.1).outcome, CheckOutcome::Passed);
}

/// The `index`-th run of two benchmarks.
fn two(index: usize) -> RunView {
    let ns = 100.0 * SHIFTS[index % SHIFTS.len()].exp();
    let names = ["a/b", "a/c"];
    dated(index, names.map(|name| scattered(name, ns)).concat())
}

#[test]
fn missing_benchmarks_never_pass() {
    let earlier: Vec<RunView> = (0..4).map(two).collect();
    let mut absent = two(4);
    absent.results.remove(1);
    let mut skipped = two(4);
    skipped.results[1].data = Data::absent(Absence::Skipped);
    for run in [&absent, &skipped] {
        for view in both_gates(run, &earlier) {
            assert_eq!(view.outcome, CheckOutcome::Inconclusive);
            let [missing] = &view.missing[..] else { panic!("{:?}", view.missing) };
            assert_eq!(missing.id, id("a/c"));
            assert_eq!(view.rows.len(), 1);
        }
    }
    // the first three runs of a benchmark are no base yet
    assert!(against(&absent, &earlier[..2]).missing.is_empty());
    let mut view = against(&absent, &earlier);
    check::select_benchmarks(&mut view, |benchmark| *benchmark == id("a/b"));
    assert_eq!(view.outcome, CheckOutcome::Passed);
}

#[test]
fn other_selections_miss_nothing() {
    let earlier: Vec<RunView> = (0..4).map(two).collect();
    let mut part = two(4);
    part.results.remove(1);
    part.settings.as_mut().unwrap().selectors = vec!["a/b".to_owned()];
    for view in both_gates(&part, &earlier) {
        assert_eq!(view.outcome, CheckOutcome::Passed);
        assert!(view.missing.is_empty());
    }
}

#[test]
fn accepted_absence_passes() {
    let mut runs: Vec<RunView> = (0..7).map(two).collect();
    for run in &mut runs[4..] {
        run.results.remove(1);
    }
    let accepted = accepted([("run-4".to_owned(), id("a/c"))]);
    let outcome = |index: usize, accepted: &check::Accepted| {
        check::against_history(&runs[index], &summaries(&runs[..index]), 0.02, accepted).outcome
    };
    assert_eq!(outcome(6, &check::Accepted::default()), CheckOutcome::Inconclusive);
    assert_eq!(outcome(4, &accepted), CheckOutcome::Passed);
    assert_eq!(outcome(6, &accepted), CheckOutcome::Passed);
}

#[test]
fn failed_benchmark_fails_both_gates() {
    let mut failed = one(5, 100.0);
    failed.results[0].data = Data::absent(Absence::Failed);
    for view in both_gates(&failed, &unchanged(5)) {
        assert_eq!(view.outcome, CheckOutcome::Regressed);
    }
}
