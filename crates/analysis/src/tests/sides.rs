//! Several runs of a side.

use crate::compare::{self, Options};
use crate::run_effect;
use crate::run_summary::RunSummary;
use crate::side::{Side, SideError};
use crate::tests::made_up_runs::*;
use gritstone_model::*;

/// Runs scatter by 0.4% about `ns`.
fn scattered_run(number: usize, ns: f64) -> RunView {
    dated_ten(number, |index| ns * (1.0 + 0.001 * ((number * 7 + index * 3) % 5) as f64))
}

fn side(numbers: std::ops::RangeInclusive<usize>, ns: f64) -> Side<'static> {
    Side::new(numbers.map(|number| scattered_run(number, ns)).collect()).unwrap()
}

fn compared(sides: &[Side; 2]) -> CompareView {
    let options = Options::new(0.02, run_effect::estimate_sides(&[] as &[RunSummary], sides));
    compare::compare(&sides[0].view, &sides[1].view, &options)
}

fn count(view: &CompareView, verdict: Verdict) -> usize {
    let rows = view.rows.iter();
    rows.filter(|row| row.verdict == Some(verdict)).count()
}

#[test]
fn more_runs_decide_more() {
    let one = compared(&[side(1..=1, 100.0), side(2..=2, 103.0)]);
    let three = compared(&[side(1..=3, 100.0), side(4..=6, 103.0)]);
    assert_eq!(count(&one, Verdict::Slower), 0);
    assert_eq!(count(&three, Verdict::Slower), 10);
    assert_eq!(three.base, "run-1,run-2,run-3");
    let width = |view: &CompareView| {
        let [low, high] = view.rows[0].interval.unwrap();
        high / low
    };
    assert!(width(&three) < width(&one));
    assert_eq!(count(&compared(&[side(1..=3, 100.0), side(4..=6, 100.0)]), Verdict::Same), 10);
}

#[test]
fn order_of_runs_changes_nothing() {
    let runs = |numbers: [usize; 3], ns: f64| {
        Side::new(numbers.map(|number| scattered_run(number, ns)).to_vec()).unwrap()
    };
    let ordered = compared(&[runs([1, 3, 5], 100.0), runs([2, 4, 6], 103.0)]);
    let turned = compared(&[runs([5, 1, 3], 100.0), runs([4, 6, 2], 103.0)]);
    assert_eq!(ordered, turned);
    assert_eq!(count(&ordered, Verdict::Slower), 10);
}

#[test]
fn sides_mirror_each_other() {
    let sides = [side(1..=3, 100.0), side(4..=5, 103.0)];
    let [base, other] = sides.clone();
    let (there, back) = (compared(&sides), compared(&[other, base]));
    for row in &there.rows {
        let mirrored = back.rows.iter().find(|candidate| candidate.id == row.id).unwrap();
        near(mirrored.ratio, 1.0 / row.ratio.unwrap());
        near(mirrored.p, row.p.unwrap());
    }
}

#[test]
fn two_runs_have_their_mean() {
    let both = side(1..=2, 100.0);
    let id = id("a/b4");
    let [a, b] = [scattered_run(1, 100.0), scattered_run(2, 100.0)]
        .map(|run| run.get(&id).unwrap().value().unwrap());
    near(both.view.get(&id).unwrap().value(), (a * b).sqrt());
}

#[test]
fn disturbed_results_are_left_out() {
    let mut disturbed = scattered_run(2, 500.0);
    let note = Note::new(Finding::Interfered {
        count: Count::launches(9, 10),
        causes: vec![Interference::Steal(0.5)],
    });
    for result in &mut disturbed.results {
        result.notes.push(note.clone());
    }
    let side =
        Side::new(vec![scattered_run(1, 100.0), disturbed, scattered_run(3, 100.0)]).unwrap();
    let id = id("a/b0");
    assert_eq!(side.count(&id), 2);
    assert!(side.view.get(&id).unwrap().value().unwrap() < 102.0);
}

#[test]
fn unknown_variances_decide_nothing() {
    let without_interval = |number: usize| {
        let mut run = scattered_run(number, 103.0);
        let sampled = &mut run.results[0].measured_mut().sampled;
        sampled.estimate.as_mut().unwrap().interval = None;
        run
    };
    let other = Side::new([4, 5, 6].map(without_interval).to_vec()).unwrap();
    let view = compared(&[side(1..=3, 100.0), other]);
    let row = view.rows.iter().find(|row| row.id.as_str() == "a/b0").unwrap();
    assert_eq!((row.verdict, row.p), (Some(Verdict::Inconclusive), None));
    assert_eq!(count(&view, Verdict::Slower), 9);
}

#[test]
fn foreign_runs_are_no_side() {
    assert_eq!(Side::new(vec![]).unwrap_err(), SideError::Empty);
    let twice = Side::new(vec![scattered_run(1, 1.0), scattered_run(1, 1.0)]).unwrap_err();
    assert_eq!(twice, SideError::Twice("run-1".to_owned()));
    let mut elsewhere = scattered_run(2, 1.0);
    elsewhere.machine.id = "4567".to_owned();
    let apart = Side::new(vec![scattered_run(1, 1.0), elsewhere]).unwrap_err();
    assert!(matches!(apart, SideError::Apart(..)), "{apart}");
}
