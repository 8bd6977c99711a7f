//! Response times of users: a table by kind, percentiles by users as a drawing, and the supported number of users first.

use crate::sample::machines::references;
use crate::sample::{self, against_reference, briefs};
use gritstone_document::{Document, Figure, terminal};
use gritstone_model::*;
use gritstone_report::{Detail, brief, data_sheet, one, show};

fn percentiles(p50: f64) -> Vec<Percentile> {
    let named = |(name, times): (&str, f64)| Percentile {
        name: name.to_owned(),
        estimate: Some(Estimate::exact(p50 * times)),
        basis: PercentileBasis::Launches,
        values: vec![],
    };
    [("p50", 1.0), ("p95", 5.0), ("p99", 20.0)].map(named).into()
}

fn responses(users: u64, kind: Option<&str>, p50: f64) -> Responses {
    Responses {
        users,
        kind: kind.map(str::to_owned),
        events: 600,
        percentiles: percentiles(p50),
        max: p50 * 30.0,
    }
}

/// The run with a curve by users, and with people who type, of whom it supports 256.
fn run() -> RunView {
    let mut run = sample::run();
    let curve = &mut run.results[0];
    let point = |users: u32| SeriesPoint {
        x: f64::from(users),
        estimate: Some(Estimate::exact(1000.0)),
        responses: percentiles(f64::from(users) * 3.0),
        ..SeriesPoint::default()
    };
    curve.curve = Some(ResultCurve {
        label: "users".to_owned(),
        points: [1, 2, 4, 8, 16, 32].map(point).into(),
    });
    curve.measured_mut().sampled.responses =
        vec![responses(32, None, 96.0), responses(32, Some("compile"), 300.0)];
    let typing = &mut run.results[1];
    typing.title = "People who write".to_owned();
    typing.notes = vec![Note::new(Finding::Carried { least: 256, most: 256, too_many: Some(512) })];
    typing.measured_mut().sampled.responses =
        [128, 256, 512].map(|users| responses(users, None, users as f64)).into();
    run
}

fn plain(document: &Document) -> String {
    terminal::render(document, terminal::Look::plain(100))
}

/// The drawing under the line of a result with this caption.
fn drawn_of<'a>(document: &'a Document, id: &Id, output: &str) -> &'a Figure {
    let mut lines = blocks!(document.blocks, Results).flatten();
    let line = lines.find(|line| line.id == id.as_str()).unwrap();
    let mut figures = blocks!(line.details, Figure);
    figures.find(|figure| figure.caption.text.contains(output)).unwrap()
}

fn drawn<'a>(document: &'a Document, id: &Id) -> &'a Figure {
    drawn_of(document, id, "response time")
}

#[test]
fn responses_are_drawn_logarithmically() {
    let run = run();
    let document = briefs::with_input(&run, &references(), &against_reference(), brief);
    let figure = drawn(&document, &run.results[0].id);
    for output in ["p50: 3 ms at 1", "96 ms at 32", "p99: 60 ms at 1", "1,920 ms at 32"] {
        assert!(figure.alternative.contains(output), "{output}: {}", figure.alternative);
    }
    let svg = &figure.svgs[0];
    for name in ["p50", "p95", "p99", "Users"] {
        assert!(svg.contains(&format!(">{name}</text>")), "{name}: {svg}");
    }
    // decades at equal distances, and no extra tick of a second
    assert!(svg.contains(">10 ms</text>") && svg.contains(">100 ms</text>"), "{svg}");
    assert!(!svg.contains(">1 s</text>"));
    let typing = drawn(&document, &run.results[1].id);
    assert!(typing.svgs[0].contains(">1 s</text>"), "{}", typing.svgs[0]);
    assert!(typing.alternative.contains("1 s: 1,000 ms at 128"), "{}", typing.alternative);
}

#[test]
fn number_of_users_comes_first() {
    let run = run();
    let sheet = briefs::with_input(&run, &references(), &against_reference(), data_sheet);
    let tiles = blocks!(sheet.blocks, Tiles).next().unwrap();
    let texts: Vec<[&str; 3]> =
        tiles.iter().map(|tile| [tile.name.as_str(), &tile.value, &tile.detail]).collect();
    let right = ["People who write", "256 users", "95% within 1,280 ms; 512 are too many"];
    assert_eq!(texts[1], right);
    let shown = plain(&show(&run, Detail::Results));
    let (head, _) = shown.split_once("Benchmark").unwrap();
    assert!(head.contains("This machine supports 256 users"), "{shown}");
}

#[test]
fn single_results_show_responses() {
    let run = run();
    let text = plain(&one(&run, &run.results[0], &[]));
    let line = |begin: &str| {
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut lines = text.lines().map(words);
        lines.find(|line| line.starts_with(begin)).unwrap_or_else(|| panic!("{begin}: {text}"))
    };
    assert_eq!(line("32 compile"), "32 compile 600 300 ms 1,500 ms 6,000 ms 9,000 ms");
    assert!(line("16 ").ends_with("48.0 ms 240 ms 960 ms"), "{text}");
}

/// Operations at several rates: percentiles of their times at each, in the unit of the result.
#[test]
fn curves_show_percentiles() {
    let mut run = sample::run();
    let curve = &mut run.results[0];
    let point = |rate: u32| SeriesPoint {
        x: f64::from(rate),
        estimate: Some(Estimate::exact(50.0)),
        percentiles: percentiles(f64::from(rate) / 10.0),
        ..SeriesPoint::default()
    };
    curve.curve = Some(ResultCurve {
        label: "requests/s".to_owned(),
        points: [1000, 5000, 20000].map(point).into(),
    });
    let document = briefs::with_input(&run, &references(), &against_reference(), brief);
    let figure = drawn_of(&document, &run.results[0].id, "percentiles");
    for output in ["p50: 100 ", " at 1,000", " at 20,000", "p99: "] {
        assert!(figure.alternative.contains(output), "{output}: {}", figure.alternative);
    }
    for name in ["p50", "p99", "Requests/s"] {
        let text = format!(">{name}</text>");
        assert!(figure.svgs[0].contains(&text), "{name}: {}", figure.svgs[0]);
    }
}
