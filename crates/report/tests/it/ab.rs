//! Trials of sides as a terminal prints them.

use crate::sample;
use crate::sample::machines::id;
use gritstone_document::terminal;
use gritstone_model::*;
use gritstone_report::ab;

fn comparison(other: &str, ratio: f64, verdict: Verdict) -> AbComparison {
    AbComparison {
        base: "a".to_owned(),
        other: other.to_owned(),
        pairs: 27,
        contended: [0, 0],
        contention_differs: false,
        left_out: 0,
        ratio: Some(ratio),
        interval: Some([ratio * 0.99, ratio * 1.01]),
        p: Some(0.001),
        p_adjusted: Some(0.001),
        verdict,
        smallest: Some(0.0123),
        explanation: None,
        notes: vec![],
    }
}

fn view(whats: &[&str], comparisons: Vec<AbComparison>) -> AbView {
    let sides = || whats.iter().zip([("a", 3.0), ("b", 3.3), ("c", 3.6)]);
    let side = |(what, (side, _)): (&&str, (&str, f64))| AbSide {
        compiled: None,
        side: side.to_owned(),
        run: format!("20261121-093011-4f2a19c{side}"),
        label: Some(format!("ab-x-{side}")),
        what: (*what).to_owned(),
    };
    let result = |(_, (side, ms)): (&&str, (&str, f64))| AbFigure {
        side: side.to_owned(),
        estimate: Some(ms),
        interval: Some([ms * 0.99, ms * 1.01]),
        range: Some([ms * 0.98, ms * 1.2]),
        launches: 27,
        samples: 54,
        user_s: Some(0.0021),
        system_s: Some(0.0004),
        cpu_s: Some(0.0025),
        peak_kb: Some(1740),
        counters: Counts::new(),
        statuses: vec![],
        left_out: 0,
        at_most: false,
        notes: vec![],
    };
    AbView {
        schema: SCHEMA_AB.to_owned(),
        trial: "x".to_owned(),
        machine: "node-17".to_owned(),
        same: false,
        margin: 0.01,
        level: 0.01,
        layouts: None,
        rows: vec![AbRow {
            margin: None,
            id: id("command"),
            title: whats[0].to_owned(),
            unit: Unit::parse("ms").unwrap(),
            better: Better::Lower,
            figures: sides().map(result).collect(),
            comparisons,
        }],
        sides: sides().map(side).collect(),
        start_up_ns: Some(700_000.0),
    }
}

fn text(view: &AbView) -> String {
    terminal::render(&ab(view), terminal::Look::plain(120))
}

#[test]
fn two_commands() {
    let slower = vec![comparison("b", 0.91, Verdict::Slower)];
    insta::assert_snapshot!(text(&view(&["./old", "./new"], slower)));
}

#[test]
fn a_ranking() {
    let same = comparison("b", 0.998, Verdict::Same);
    let slower = comparison("c", 0.83, Verdict::Slower);
    let mut view = view(&["./a", "./b", "./c"], vec![same, slower]);
    view.layouts = Some(12);
    let last = &mut view.rows[0].figures[2];
    (last.statuses, last.user_s) = (vec![1, 3], None);
    // the pairs say how wide it is
    last.notes = vec![
        sample::stated(Some(Flag::Interference), "Others were there."),
        sample::stated(Some(Flag::Noisy), "It is wide, and the pairs say so."),
    ];
    insta::assert_snapshot!(text(&view));
}

#[test]
fn slower_references_are_not_first() {
    let faster = comparison("b", 1.04, Verdict::Faster);
    let slower = comparison("c", 0.83, Verdict::Slower);
    let text = text(&view(&["./a", "./b", "./c"], vec![faster, slower]));
    assert!(!text.contains("is first"), "{text}");
}

#[test]
fn upper_bounds_are_marked() {
    let mut view = view(&["./a", "./b"], vec![comparison("b", 0.9, Verdict::Slower)]);
    view.rows[0].figures[0].at_most = true;
    let text = text(&view);
    let lines = text.lines().filter(|line| line.starts_with("command"));
    let sides: Vec<&str> = lines.filter(|line| line.contains(" ms")).collect();
    let bound = sides.iter().find(|line| line.contains("< ")).unwrap();
    assert!(!bound.contains('['), "{bound}");
}

/// Remarks below the table: on equal sides, on inconclusive differences and those without pairs, on dropped pairs.
#[test]
fn remarks_on_comparisons() {
    let inconclusive = comparison("b", 0.995, Verdict::Inconclusive);
    let few = AbComparison { pairs: 7, interval: None, smallest: None, ..inconclusive.clone() };
    let none = AbComparison { ratio: None, ..few.clone() };
    let contended = |contended, contention_differs, left_out| AbComparison {
        contended,
        contention_differs,
        left_out,
        ..comparison("b", 1.03, Verdict::Faster)
    };
    let mut all = String::new();
    let counted =
        [contended([1, 3], false, 3), contended([20, 22], false, 27), contended([2, 20], true, 0)];
    for compared in [inconclusive, few, none].into_iter().chain(counted) {
        let mut view = view(&["./old", "./new"], vec![compared]);
        view.start_up_ns = Some(100.0);
        all += &text(&view);
        view.same = true;
        let same = text(&view);
        all += same.lines().find(|line| line.contains("same")).unwrap();
        all += "\n\n";
    }
    insta::assert_snapshot!(all);
}
