//! `show` and `lists` as a terminal prints them.

use crate::sample;
use crate::sample::machines::{empty, references, view};
use crate::sample::sampled;
use gritstone_document::Style;
use gritstone_document::terminal;
use gritstone_model::*;
use gritstone_report::{Detail, line, lists, one, show};

fn text(view: &RunView, width: usize) -> String {
    let look = terminal::Look { notes: true, ..terminal::Look::plain(width) };
    terminal::render(&show(view, Detail::Everything), look)
}

#[test]
fn runs_show_lines_and_warnings() {
    let run = sample::run();
    let text = |width| {
        let document = show(&run, Detail::Results);
        terminal::render(&document, terminal::Look::plain(width))
    };
    for width in [60, 80, 120] {
        let text = text(width);
        assert!(text.lines().count() <= run.results.len() + 25, "{text}");
        for line in text.lines() {
            assert!(line.chars().count() <= width, "{line}");
        }
        for result in &run.results {
            let line = text.lines().filter(|l| l.split(' ').next() == Some(result.id.as_str()));
            assert_eq!(line.count(), 1, "{}", result.id);
        }
    }
    let narrow = text(80);
    assert!(narrow.contains("±2.8%") && narrow.contains("for: What"), "{narrow}");
    insta::assert_snapshot!(narrow);
}

#[test]
fn single_results_show_everything() {
    let mut run = sample::run();
    let result = &mut run.results[0];
    result.measured_mut().sampled.values =
        (0..24).map(|i| 1800.0 + f64::from(i * 7 % 11)).collect();
    let document = one(&run, &run.results[0], &[]);
    insta::assert_snapshot!(terminal::render(&document, terminal::Look::plain(80)));
}

#[test]
fn a_run_with_everything() {
    insta::assert_snapshot!(text(&sample::run(), 120));
}

#[test]
fn reference_systems_show_printed_values() {
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
fn failures_have_reasons() {
    let mut run = view("r1", "box", "Linux");
    let emfile = "pipe failed with EMFILE: too many open files";
    for (outcome, name, why) in [
        (Absence::Failed, "byte/failed", emfile),
        (Absence::TimedOut, "byte/timed-out", "stopped after 30 s"),
        (Absence::Skipped, "byte/skipped", "no tty: run it on a terminal"),
    ] {
        run.results.push(Measurement {
            data: Data::absent(outcome),
            notes: vec![sample::stated(Some(Flag::Skipped), why)],
            ..empty(name, "ns/call")
        });
    }
    let stray = sample::stated(None, "on no figure that is shown");
    run.results.push(Measurement {
        data: sampled(Sampled {
            estimate: Some(Estimate::exact(117.6312)),
            launches: 3,
            ..Sampled::default()
        }),
        notes: vec![stray.about(Subject::System)],
        ..empty("byte/few", "ns/call")
    });
    insta::assert_snapshot!(text(&run, 80));
}

/// Operations of which a few take long.
fn distributed(percentiles: [(&str, f64); 3]) -> Sampled {
    Sampled {
        estimate: Some(Estimate::exact(12.0)),
        statistics: Some(Statistics {
            min: 3.2,
            median: 12.0,
            mean: Some(14.31),
            max: 20_310.0,
            percentiles: percentiles.map(|(name, value)| (name.to_owned(), value)).into(),
            ..Statistics::default()
        }),
        ..Sampled::default()
    }
}

#[test]
fn distributions_have_a_table() {
    let mut run = view("r1", "box", "Linux");
    run.results.push(Measurement {
        data: sampled(distributed([("p99.9", 800.0), ("p90", 22.0), ("p99", 71.5)])),
        ..empty("rt/latency", "us")
    });
    insta::assert_snapshot!(text(&run, 80));
}

#[test]
fn operations_have_percentile_intervals() {
    let percentile = |(name, value, interval): (&str, f64, Option<[f64; 2]>)| Percentile {
        name: name.to_owned(),
        estimate: Some(Estimate { value, interval }),
        basis: PercentileBasis::Launches,
        values: vec![],
    };
    let percentiles = [
        ("p90", 22.0, Some([21.0, 23.1])),
        ("p99", 71.5, Some([65.1, 80.2])),
        ("p99.9", 800.0, None),
    ];
    let width = |index: u32| f64::from(1 << (index / 8)) * (1.0 + f64::from(index % 8) / 8.0);
    let bucket = |index: u32| (width(index), width(index + 1), 1 << ((60 - index) / 3));
    let histogram: Vec<(f64, f64, u64)> = (0..60).map(bucket).collect();
    let mut run = view("r1", "box", "Linux");
    run.results.push(Measurement {
        data: Data::Measured(Box::new(Measured {
            sampled: distributed(percentiles.map(|(name, value, _)| (name, value))),
            latencies: Some(Latencies {
                events: histogram.iter().map(|(_, _, events)| events).sum(),
                percentiles: percentiles.map(percentile).into(),
                histogram,
            }),
            ..Measured::default()
        })),
        ..empty("rt/latency", "us")
    });
    let document = one(&run, &run.results[0], &[]);
    insta::assert_snapshot!(terminal::render(&document, terminal::Look::plain(100)));
}

#[test]
fn color_changes_no_text() {
    let document = show(&sample::run(), Detail::Results);
    let look = terminal::Look::plain(80);
    let plain = terminal::render(&document, look);
    assert!(!plain.contains('\u{1b}'));
    let colored = terminal::render(&document, terminal::Look { color: true, ..look });
    // an identifier and a flag
    assert!(colored.contains("\u{1b}[36mbyte/pipe\u{1b}[0m"), "{colored}");
    assert!(colored.contains("\u{1b}[33m~\u{1b}[0m"), "{colored}");
    let styles = terminal::STYLES.iter();
    let stripped = styles.fold(colored, |text, style| text.replace(style, ""));
    assert_eq!(stripped, plain);
}

#[test]
fn ascii_output_is_complete() {
    let document = show(&sample::run(), Detail::Everything);
    let look = terminal::Look { ascii: true, notes: true, ..terminal::Look::plain(80) };
    let text = terminal::render(&document, look);
    assert!(text.is_ascii(), "{text}");
    assert!(text.contains("us/pass") && text.contains("+-"), "{text}");
}

#[test]
fn a_list_is_a_table() {
    use Style::{Code, Number, Text};
    let long = "Apple Lisa, with a name that goes on for a while";
    let rows = [["ref:vax-11-780-4.1bsd", "VAX-11/780", "1984"], ["ref:apple-lisa", long, "1984"]];
    let columns = [("Machine", Code), ("Name", Text), ("Year", Number)];
    let rows = rows.map(|row| row.map(str::to_owned)).into();
    let document = lists::table("Machines", columns, rows);
    insta::assert_snapshot!(terminal::render(&document, terminal::Look::plain(60)));
    let none = lists::table("Machines", [("Machine", Code)], vec![]);
    assert!(terminal::render(&none, terminal::Look::plain(60)).contains("nothing to list"));
}

#[test]
fn copies_show_their_law() {
    let mut fitted = sample::copies(573.0, true);
    fitted.points.truncate(3);
    let failed =
        sample::stated(Some(Flag::Skipped), "failed: copy 3 of 8: pipe: too many open files");
    fitted.points.push(CopiesPoint { copies: 8, notes: vec![failed], ..CopiesPoint::default() });
    // the same where the curve does not turn down, and where there is none
    let mut level = sample::copies(573.0, true);
    level.points.truncate(1);
    let law = level.law.as_mut().unwrap();
    (law.peak, law.peak_interval, law.knee) = (None, None, None);
    let mut unfitted = sample::copies(573.0, false);
    unfitted.points.truncate(1);
    unfitted.unfitted = Some(Unfitted::Sizes { sizes: 3, needed: 6 });
    let mut run = view("r1", "box", "Linux");
    let rows = [("byte/pipe", fitted), ("byte/loop", level), ("byte/sieve", unfitted)];
    run.results = rows
        .map(|(name, copies)| Measurement {
            data: Data::Measured(Box::new(Measured {
                sampled: Sampled { estimate: Some(Estimate::exact(573.0)), ..Sampled::default() },
                copies: Some(copies),
                ..Measured::default()
            })),
            ..empty(name, "MB/s")
        })
        .into();
    insta::assert_snapshot!(text(&run, 120));
}

#[test]
fn first_results_fit_the_terminal() {
    let run = sample::run();
    for width in [60, 80] {
        let lines = run.results.iter().filter_map(|result| line(result, width));
        let lines: Vec<String> = lines.collect();
        assert!(!lines.is_empty());
        for line in &lines {
            assert!(line.chars().count() <= width, "{width}: {line}");
            assert_eq!(line.contains('['), width == 80, "{line}");
        }
    }
}
