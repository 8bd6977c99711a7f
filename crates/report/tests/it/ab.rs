//! Trials of sides as a terminal prints them.

use crate::sample;
use gritstone_document::terminal;
use gritstone_model::*;
use gritstone_report::ab;
use gritstone_testkit::{ab_comparison, ab_figure, ab_view};

fn comparison(other: &str, ratio: f64, verdict: Verdict) -> AbComparison {
    AbComparison {
        pairs: 27,
        interval: Some([ratio * 0.99, ratio * 1.01]),
        p: Some(0.001),
        p_adjusted: Some(0.001),
        smallest: Some(0.0123),
        ..ab_comparison("a", other, ratio, verdict)
    }
}

fn view(commands: &[&str], comparisons: Vec<AbComparison>) -> AbView {
    let figure = |(side, ms): (&str, f64)| AbFigure {
        interval: Some([ms * 0.99, ms * 1.01]),
        range: Some([ms * 0.98, ms * 1.2]),
        launches: 27,
        samples: 54,
        user_s: Some(0.0021),
        system_s: Some(0.0004),
        cpu_s: Some(0.0025),
        peak_kb: Some(1740),
        ..ab_figure(side, ms)
    };
    let figures = [("a", 3.0), ("b", 3.3), ("c", 3.6)].into_iter().map(figure);
    ab_view(commands, figures.take(commands.len()).collect(), comparisons)
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
