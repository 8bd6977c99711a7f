//! `show` and `lists` as a terminal prints them.

use crate::sample;
use crate::sample::machines::{empty, references, view};
use gritstone_model::*;
use gritstone_report::document::Style;
use gritstone_report::{lists, show, terminal};

fn text(view: &RunView, width: usize) -> String {
    terminal::render(&show(view), width, false)
}

#[test]
fn a_run_at_80_columns() {
    insta::assert_snapshot!(text(&sample::run(), 80));
}

#[test]
fn a_reference_machine_shows_what_was_printed() {
    let mut machines = references().into_iter();
    let omnibyte = machines.find(|r| r.machine.name == "Omnibyte").unwrap();
    insta::assert_snapshot!(text(&omnibyte, 80));
}

#[test]
fn an_empty_run_says_so() {
    let mut run = view("r1", "", "");
    run.started = "2026-01-02T03:04:05Z".to_owned();
    insta::assert_snapshot!(text(&run, 80));
}

#[test]
fn what_failed_has_a_word_and_a_reason_and_what_has_no_interval_three_digits() {
    let mut run = view("r1", "box", "Linux");
    let emfile = "pipe failed with EMFILE: too many open files";
    for (outcome, name, why) in [
        (Status::Failed, "byte/failed", emfile),
        (Status::TimedOut, "byte/timed-out", "stopped after 30 s"),
        (
            Status::Skipped,
            "byte/skipped",
            "no tty: run it on a terminal",
        ),
    ] {
        run.results.push(Measurement {
            outcome,
            notes: vec![sample::stated(Some(Flag::Skipped), why)],
            ..empty(name, "ns/call")
        });
    }
    let stray = sample::stated(None, "on no figure that is shown");
    run.results.push(Measurement {
        estimate: Some(Estimate::exact(117.6312)),
        launches: 3,
        notes: vec![stray.about(Subject::System)],
        ..empty("byte/few", "ns/call")
    });
    insta::assert_snapshot!(text(&run, 80));
}

#[test]
fn distributions_have_a_table_of_their_own() {
    let percentiles = [("p99.9", 800.0), ("p90", 22.0), ("p99", 71.5)];
    let mut run = view("r1", "box", "Linux");
    run.results.push(Measurement {
        estimate: Some(Estimate::exact(12.0)),
        statistics: Some(Statistics {
            min: 3.2,
            median: 12.0,
            mean: Some(14.31),
            max: 20_310.0,
            percentiles: percentiles.map(|(k, v)| (k.to_owned(), v)).into(),
            ..Statistics::default()
        }),
        ..empty("rt/latency", "us")
    });
    insta::assert_snapshot!(text(&run, 80));
}

#[test]
fn color_is_bold_and_nothing_else() {
    let document = show(&sample::run());
    let plain = terminal::render(&document, 80, false);
    let bold = terminal::render(&document, 80, true);
    assert!(!plain.contains('\u{1b}'));
    assert!(bold.contains("\u{1b}[1mbyte\u{1b}[0m\n"));
    assert_eq!(
        bold.replace(terminal::STYLES[0], "")
            .replace(terminal::STYLES[1], ""),
        plain
    );
}

#[test]
fn a_list_is_a_table() {
    use Style::{Code, Number, Text};
    let long = "Apple Lisa, with a name that goes on for a while";
    let rows = [
        ["ref:vax-11-780-4.1bsd", "VAX-11/780", "1984"],
        ["ref:apple-lisa", long, "1984"],
    ];
    let columns = [("Machine", Code), ("Name", Text), ("Year", Number)];
    let rows = rows.map(|row| row.map(str::to_owned)).into();
    let document = lists::table("Machines", columns, rows);
    insta::assert_snapshot!(terminal::render(&document, 60, false));
    let none = lists::table("Machines", [("Machine", Code)], vec![]);
    assert!(terminal::render(&none, 60, false).contains("nothing to list"));
}

#[test]
fn copies_have_a_table_and_a_sentence_on_their_law() {
    let mut fitted = sample::copies(573.0, true);
    fitted.points.truncate(3);
    let failed = sample::stated(
        Some(Flag::Skipped),
        "failed: copy 3 of 8: pipe: too many open files",
    );
    fitted.points.push(CopiesPoint {
        copies: 8,
        notes: vec![failed],
        ..CopiesPoint::default()
    });
    // the same where the curve does not turn down, and where there is none
    let mut level = sample::copies(573.0, true);
    level.points.truncate(1);
    let law = level.law.as_mut().unwrap();
    (law.peak, law.peak_interval, law.knee) = (None, None, None);
    let mut unfitted = sample::copies(573.0, false);
    unfitted.points.truncate(1);
    unfitted.unfitted = Some(Unfitted::Sizes {
        sizes: 3,
        needed: 6,
    });
    let mut run = view("r1", "box", "Linux");
    let rows = [
        ("byte/pipe", fitted),
        ("byte/loop", level),
        ("byte/sieve", unfitted),
    ];
    run.results = rows
        .map(|(name, copies)| Measurement {
            estimate: Some(Estimate::exact(573.0)),
            copies: Some(copies),
            ..empty(name, "MB/s")
        })
        .into();
    insta::assert_snapshot!(text(&run, 120));
}
