//! Comparisons as a terminal prints them.

use crate::sample;
use gritstone_document::terminal;
use gritstone_model::{
    CompareFigure, ComparePercentile, CompareSum, CompareView, Flag, Note, Subject, Verdict,
};
use gritstone_report::{Comparison, compare};

fn text(view: &gritstone_model::CompareView, width: usize) -> String {
    terminal::render(&compare(view, Comparison::default()), terminal::Look::plain(width))
}

#[test]
fn two_runs_at_100_columns() {
    insta::assert_snapshot!(text(&sample::compare(), 100));
}

#[test]
fn assumed_variances_are_named() {
    let mut view = sample::compare();
    let variance = view.between_run.as_mut().unwrap();
    (variance.runs, variance.default_sd, variance.assumed) = (None, 0.02, true);
    let text = text(&view, 200);
    let line = "2%, assumed for runs of two systems, until the store has three of each";
    assert!(text.contains(line), "{text}");
}

#[test]
fn unchanged_comparisons_say_so() {
    let mut view = sample::compare();
    let shown = Comparison { changed: true, ..Comparison::default() };
    let says = |view: &CompareView| {
        let text = terminal::render(&compare(view, shown), terminal::Look::plain(100));
        text.contains("No benchmark is shown to be faster or slower.")
    };
    assert!(!says(&view));
    for row in &mut view.rows {
        row.verdict = row.verdict.map(|_| Verdict::Same);
    }
    assert!(says(&view));
}

#[test]
fn percentiles_have_a_table() {
    let mut view = sample::compare();
    let percentile = |name: &str, ratio: f64, verdict| ComparePercentile {
        name: name.to_owned(),
        figure: CompareFigure {
            base: Some(20.0),
            other: Some(20.0 / ratio),
            ratio: Some(ratio),
            interval: Some([ratio * 0.95, ratio / 0.95]),
            p: Some(0.01),
            p_adjusted: Some(0.02),
            verdict,
        },
    };
    view.rows[0].percentiles = vec![
        percentile("p50", 1.01, Verdict::Inconclusive),
        percentile("p99", 0.7, Verdict::Slower),
    ];
    let text = text(&view, 100);
    let start = text.find("Percentiles of operations").unwrap();
    let lines: Vec<&str> = text[start..].lines().take(4).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn reference_comparisons_count_results() {
    insta::assert_snapshot!(text(&sample::against_reference(), 120));
}

#[test]
fn reference_systems_can_be_other() {
    let mut view = sample::against_reference();
    (view.base, view.other) = (view.other, view.base);
    view.rows.retain(|row| row.title == "Pipe, 512-byte writes");
    let row = &mut view.rows[0];
    row.ratio = row.ratio.map(|r| 1.0 / r);
    row.interval = row.interval.map(|[low, high]| [1.0 / high, 1.0 / low]);
    let text = text(&view, 200);
    assert!(text.contains("11,200 ×  [11,100 – 11,300]"), "{text}");
    assert!(!text.contains("Speed of"), "{text}");
}

#[test]
fn invalid_work_has_no_verdict() {
    let concluded = |note: Note| {
        let mut view = sample::against_reference();
        let mut rows = view.rows.iter_mut();
        let row = rows.find(|r| r.title == "Disk read, random").unwrap();
        row.notes.push(note);
        let text = text(&view, 400);
        assert!(text.contains("it did nothing"));
        text.replace('\n', " ").contains("highest Disk read")
    };
    let invalid = || sample::stated(Some(Flag::Invalid), "it did nothing");
    assert!(!concluded(invalid()));
    assert!(!concluded(invalid().about(Subject::Real)));
    assert!(concluded(invalid().about(Subject::Process)));
}

#[test]
fn several_families_have_sums() {
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
    view.sums.extend([sum("kernel", Some(0.9991)), sum("fs", None)]);
    view.sums.push(CompareSum { family: None, ..sum("", Some(1.0002)) });
    insta::assert_snapshot!(text(&view, 100));
}

#[test]
fn copies_have_a_comparison_table() {
    let mut view = sample::compare();
    view.rows.retain(|row| row.title == "Pipe");
    view.rows[0].copies = sample::compared_copies();
    insta::assert_snapshot!(text(&view, 140));
}

/// The change computed from the printed values is the printed one, but for its last digit and the rounding of four digits.
#[test]
fn changes_follow_from_printed_values() {
    let template = sample::compare().rows.remove(0);
    for step in 0..200 {
        let base = 1.0003 * 1.13_f64.powi(step % 40);
        let ratio = 0.4 + f64::from(step) * 0.011;
        let mut view = sample::compare();
        view.rows = vec![gritstone_model::CompareRow {
            unit: "ns/call".to_owned(),
            better: gritstone_model::Better::Lower,
            base: Some(base),
            other: Some(base / ratio),
            ratio: Some(ratio),
            interval: Some([ratio * 0.995, ratio * 1.005]),
            ..template.clone()
        }];
        let text = text(&view, 200);
        let start = format!("{} ", template.id);
        let line = text.lines().find(|line| line.starts_with(&start)).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |text: &str| {
            let text = text.replace('−', "-").replace([',', '%', '+'], "");
            text.parse::<f64>().unwrap()
        };
        let (base, other) = (number(words[1]), number(words[2]));
        let change = words.iter().find(|word| word.ends_with('%')).unwrap();
        let decimals = change.split_once('.').map_or(0, |(_, end)| end.len() - 1);
        let last_digit = 10_f64.powi(-i32::try_from(decimals).unwrap());
        let computed = 100.0 * (other / base - 1.0);
        assert!((computed - number(change)).abs() <= last_digit + 0.1, "{line}");
    }
}
