//! Trials of sides as a terminal prints them.
//!
//! Must not know: how documents are made.

use crate::sample;
use gritstone_model::*;
use gritstone_report::{ab, terminal};

fn figure(side: &str, estimate: f64) -> AbFigure {
    AbFigure {
        side: side.to_owned(),
        estimate: Some(estimate),
        interval: Some([estimate * 0.99, estimate * 1.01]),
        range: Some([estimate * 0.98, estimate * 1.2]),
        launches: 27,
        samples: 54,
        user_s: Some(0.0021),
        system_s: Some(0.0004),
        cpu_s: Some(0.0025),
        peak_kb: Some(1740),
        statuses: vec![],
        notes: vec![],
    }
}

fn comparison(base: &str, other: &str, ratio: f64, verdict: Verdict) -> AbComparison {
    AbComparison {
        base: base.to_owned(),
        other: other.to_owned(),
        pairs: 27,
        crowded: 0,
        left_out: 0,
        ratio: Some(ratio),
        interval: Some([ratio * 0.99, ratio * 1.01]),
        p: Some(0.001),
        p_adjusted: Some(0.001),
        verdict,
        smallest: Some(0.0123),
    }
}

fn view(whats: &[&str], comparisons: Vec<AbComparison>) -> AbView {
    let sides: Vec<AbSide> = whats
        .iter()
        .zip(["a", "b", "c"])
        .map(|(what, side)| AbSide {
            side: side.to_owned(),
            run: format!("20261121-093011-4f2a19c{side}"),
            label: Some(format!("ab-x-{side}")),
            what: (*what).to_owned(),
        })
        .collect();
    AbView {
        schema: SCHEMA_AB.to_owned(),
        trial: "x".to_owned(),
        machine: "node-17".to_owned(),
        same: false,
        margin: 0.01,
        level: 0.01,
        rows: vec![AbRow {
            id: Id::parse("command").unwrap(),
            title: whats[0].to_owned(),
            unit: Unit::parse("ms").unwrap(),
            figures: sides
                .iter()
                .zip([3.0, 3.3, 3.6])
                .map(|(side, ms)| figure(&side.side, ms))
                .collect(),
            comparisons,
        }],
        sides,
        start_up_ns: Some(700_000.0),
    }
}

fn text(view: &AbView) -> String {
    terminal::render(&ab(view), 120, false)
}

#[test]
fn two_commands() {
    let view = view(
        &["./old", "./new"],
        vec![comparison("a", "b", 0.91, Verdict::Slower)],
    );
    insta::assert_snapshot!(text(&view));
}

#[test]
fn a_ranking() {
    let mut view = view(
        &["./a", "./b", "./c"],
        vec![
            comparison("a", "b", 0.998, Verdict::Same),
            comparison("a", "c", 0.83, Verdict::Slower),
        ],
    );
    view.rows[0].figures[2].statuses = vec![1, 3];
    view.rows[0].figures[2].user_s = None;
    view.rows[0].figures[2].notes = vec![
        sample::stated(Some(Flag::Interference), "Others were there."),
        sample::stated(Some(Flag::Noisy), "It is wide, and the pairs say so."),
    ];
    let text = text(&view);
    assert!(!text.contains("It is wide"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn what_cannot_be_told_says_what_would_have_been_seen() {
    let mut view = view(
        &["./old", "./new"],
        vec![comparison("a", "b", 0.995, Verdict::Inconclusive)],
    );
    view.start_up_ns = Some(100.0);
    let all = text(&view).replace('\n', " ");
    assert!(all.contains("Cannot tell b from a: "), "{all}");
    assert!(
        all.contains("a change of 1.2 % in 95 of 100 trials"),
        "{all}"
    );
    assert!(!all.contains("A program that does nothing"), "{all}");
    let comparison = &mut view.rows[0].comparisons[0];
    (comparison.pairs, comparison.interval, comparison.smallest) = (7, None, None);
    let all = text(&view).replace('\n', " ");
    assert!(
        all.contains("7 pairs, and it takes 12; give a longer --budget"),
        "{all}"
    );
    view.rows[0].comparisons[0].ratio = None;
    let all = text(&view).replace('\n', " ");
    assert!(all.contains("there is no pair of both"), "{all}");
}

#[test]
fn the_same_says_how_often_it_may_be_called_different() {
    let mut view = view(
        &["as it is", "as it is"],
        vec![comparison("a", "b", 1.03, Verdict::Faster)],
    );
    view.same = true;
    let all = text(&view).replace('\n', " ");
    assert!(
        all.contains("Called different: 1 of 1; it may be 1 % of many such trials."),
        "{all}"
    );
}

#[test]
fn what_is_left_out_of_a_comparison_is_remarked_on() {
    let said = |crowded, left_out| {
        let comparison = AbComparison {
            crowded,
            left_out,
            ..comparison("a", "b", 1.03, Verdict::Faster)
        };
        let text = text(&view(&["./old", "./new"], vec![comparison]));
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(!said(0, 0).contains('¶'));
    let some = said(3, 3);
    assert!(some.contains("27¶"), "{some}");
    let why = "In 3 of 30 pairs another thread of the core was busy: what was measured then is kept, and not compared.";
    assert!(some.contains(why), "{some}");
    let why = "In 30 of 54 pairs another thread of the core was busy: 27 of these are kept and not compared; at least half of all pairs always are.";
    assert!(said(30, 27).contains(why), "{}", said(30, 27));
}
