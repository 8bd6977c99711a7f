//! Comparisons as a terminal prints them.

use crate::sample;
use gritstone_model::{CompareSum, Flag, Note, Subject};
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
    view.rows.retain(|row| row.title == "Pipe, 512-byte writes");
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
fn nothing_is_concluded_from_a_starred_row_but_a_doubt_about_its_process_time_is_no_star() {
    let sentence = |footnote: Note| {
        let mut view = sample::against_reference();
        for row in view
            .rows
            .iter_mut()
            .filter(|r| r.title == "Disk read, random")
        {
            row.notes.push(footnote.clone());
        }
        let text = text(&view, 400);
        assert!(text.contains(&gritstone_report::findings::message(&footnote)));
        text.lines()
            .find(|l| l.contains("most by"))
            .unwrap()
            .to_owned()
    };
    let star = || sample::stated(Some(Flag::Invalid), "it did nothing");
    assert!(!sentence(star()).contains("Disk read"));
    assert!(!sentence(star().about(Subject::Real)).contains("Disk read"));
    assert!(sentence(star().about(Subject::Process)).contains("Disk read"));
}

#[test]
fn families_are_summed_up_where_there_are_several() {
    let mut view = sample::compare();
    // no size among them
    view.rows.retain(|row| row.unit != "bytes");
    let sum = |family: &str, mean: Option<f64>| CompareSum {
        family: Some(family.to_owned()),
        rows: 1_204,
        same: 1_203,
        inconclusive: 1,
        mean,
        interval: mean.map(|mean| [mean * 0.999, mean * 1.001]),
        of: usize::from(mean.is_some()) * 1_204,
        ..CompareSum::default()
    };
    view.sums
        .extend([sum("kernel", Some(0.9991)), sum("fs", None)]);
    view.sums.push(CompareSum {
        family: None,
        ..sum("", Some(1.0002))
    });
    insta::assert_snapshot!(text(&view, 100));
}

#[test]
fn copies_have_a_table_of_totals_and_efficiencies() {
    let mut view = sample::compare();
    view.rows.retain(|row| row.title == "Pipe");
    view.rows[0].copies = sample::compared_copies();
    insta::assert_snapshot!(text(&view, 140));
}
