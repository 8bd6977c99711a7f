//! `show` and `lists` as a terminal prints them.

use crate::sample;
use crate::sample::machines::{empty, references, view};
use gritstone_model::{CopiesPoint, CopiesView, Estimate, Flag, LawView, Statistics};
use gritstone_report::document::Style;
use gritstone_report::{lists, show, terminal};

fn text(view: &gritstone_model::RunView, width: usize) -> String {
    terminal::render(&show(view), width, false)
}

#[test]
fn a_run_at_80_columns() {
    insta::assert_snapshot!(text(&sample::run(), 80));
}

#[test]
fn a_reference_machine_shows_what_was_printed() {
    let lisa = references()
        .into_iter()
        .find(|r| r.machine.name == "Omnibyte")
        .unwrap();
    insta::assert_snapshot!(text(&lisa, 80));
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
    use gritstone_model::Status;
    for (outcome, why) in [
        (
            Status::Failed,
            "pipe failed with EMFILE: too many open files",
        ),
        (Status::TimedOut, "stopped after 30 s"),
        (Status::Skipped, "no tty: run it on a terminal"),
    ] {
        let mut result = empty(
            &format!("byte/{}", outcome.as_str().replace('_', "-")),
            "ns/call",
        );
        result.outcome = outcome;
        result.notes.push(sample::stated(Some(Flag::Skipped), why));
        run.results.push(result);
    }
    let mut few = empty("byte/few", "ns/call");
    (few.estimate, few.launches) = (Some(Estimate::exact(117.6312)), 3);
    few.notes.push(
        sample::stated(None, "on no figure that is shown").about(gritstone_model::Subject::System),
    );
    run.results.push(few);
    insta::assert_snapshot!(text(&run, 80));
}

#[test]
fn distributions_have_a_table_of_their_own() {
    let mut run = view("r1", "box", "Linux");
    let mut result = empty("rt/latency", "us");
    result.estimate = Some(Estimate::exact(12.0));
    result.statistics = Some(Statistics {
        min: 3.2,
        median: 12.0,
        mean: Some(14.31),
        max: 20_310.0,
        percentiles: [("p99.9", 800.0), ("p90", 22.0), ("p99", 71.5)]
            .map(|(k, v)| (k.to_owned(), v))
            .into(),
        ..Statistics::default()
    });
    run.results.push(result);
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
        bold.replace("\u{1b}[1m", "").replace("\u{1b}[0m", ""),
        plain
    );
}

#[test]
fn a_list_is_a_table() {
    let document = lists::table(
        "Machines",
        [
            ("Machine", Style::Code),
            ("Name", Style::Text),
            ("Year", Style::Number),
        ],
        vec![
            ["ref:vax-11-780-4.1bsd", "VAX-11/780", "1984"].map(str::to_owned),
            [
                "ref:apple-lisa",
                "Apple Lisa, with a name that goes on for a while",
                "1984",
            ]
            .map(str::to_owned),
        ],
    );
    insta::assert_snapshot!(terminal::render(&document, 60, false));
    let none = lists::table("Machines", [("Machine", Style::Code)], vec![]);
    assert!(terminal::render(&none, 60, false).contains("nothing to list"));
}

#[test]
fn copies_have_a_table_and_a_sentence_on_their_law() {
    let mut run = view("r1", "box", "Linux");
    let mut result = empty("byte/pipe", "MB/s");
    result.estimate = Some(Estimate::exact(573.0));
    let point = |copies: u32, total: f64, efficiency: f64| CopiesPoint {
        copies,
        total: Some(sample::within(total, 0.02)),
        per_copy: Some(total / f64::from(copies)),
        efficiency: Some(match copies {
            1 => Estimate::exact(efficiency),
            _ => sample::within(efficiency, 0.03),
        }),
        launches: 10,
        samples: 50,
        notes: vec![],
        ..CopiesPoint::default()
    };
    let mut failed = CopiesPoint {
        copies: 8,
        ..CopiesPoint::default()
    };
    failed.notes.push(sample::stated(
        Some(Flag::Skipped),
        "failed: copy 3 of 8: pipe: too many open files",
    ));
    let points = vec![point(1, 573.0, 1.0), point(4, 1719.0, 0.75), failed];
    result.copies = Some(CopiesView {
        points,
        law: Some(LawView {
            contention: 0.11,
            coherence: 0.0021,
            peak: Some(20.6),
            peak_interval: Some([Some(17.2), Some(24.9)]),
            knee: Some(9.1),
            ..LawView::default()
        }),
        unfitted: None,
    });
    run.results.push(result.clone());
    // the same where the curve does not turn down, and where there is none
    result.id = gritstone_model::Id::parse("byte/loop").unwrap();
    let copies = result.copies.as_mut().unwrap();
    copies.points.truncate(1);
    let law = copies.law.as_mut().unwrap();
    (law.peak, law.peak_interval, law.knee) = (None, None, None);
    run.results.push(result.clone());
    result.id = gritstone_model::Id::parse("byte/sieve").unwrap();
    let copies = result.copies.as_mut().unwrap();
    copies.law = None;
    copies.unfitted = Some(gritstone_model::Unfitted::Sizes {
        sizes: 3,
        needed: 6,
    });
    run.results.push(result);
    insta::assert_snapshot!(text(&run, 120));
}
