//! Comparisons as a terminal prints them.
//!
//! Must not know: how documents are made.

mod sample;

use gritstone_model::{Footnote, FootnoteKind};
use gritstone_report::{compare, terminal};

fn text(view: &gritstone_model::CompareView, width: usize) -> String {
    terminal::render(&compare(view), width, false)
}

#[test]
fn two_runs_at_100_columns() {
    insta::assert_snapshot!(text(&sample::compare(), 100));
}

#[test]
fn against_a_reference_machine_it_says_how_many() {
    insta::assert_snapshot!(text(&sample::against_reference(), 120));
}

#[test]
fn a_reference_machine_as_the_other_side_is_slower_in_words() {
    let mut view = sample::against_reference();
    std::mem::swap(&mut view.base, &mut view.other);
    std::mem::swap(&mut view.base_name, &mut view.other_name);
    view.rows.truncate(1);
    view.rows[0].ratio = view.rows[0].ratio.map(|r| 1.0 / r);
    view.rows[0].interval = view.rows[0]
        .interval
        .map(|[low, high]| [1.0 / high, 1.0 / low]);
    let text = text(&view, 200);
    assert!(
        text.contains("11,200 times slower, 11,100 to 11,300"),
        "{text}"
    );
    assert!(!text.contains("How many"), "{text}");
}

#[test]
fn nothing_is_concluded_from_a_starred_row() {
    let mut view = sample::against_reference();
    let star = Footnote::new(FootnoteKind::Trivialised, "it did nothing");
    view.rows.retain(|row| row.ratio.is_some());
    let best = view
        .rows
        .iter_mut()
        .max_by(|a, b| a.ratio.unwrap().total_cmp(&b.ratio.unwrap()))
        .unwrap();
    let title = best.title.clone();
    best.footnotes.push(star);
    let text = text(&view, 400);
    let sentence = text.lines().find(|l| l.contains("most by")).unwrap();
    assert!(!sentence.contains(&title), "{sentence}");
    assert!(text.contains("it did nothing"));
}

#[test]
fn an_empty_comparison_says_so() {
    let mut view = sample::compare();
    view.rows.clear();
    view.differ_in.clear();
    insta::assert_snapshot!(text(&view, 80));
}
