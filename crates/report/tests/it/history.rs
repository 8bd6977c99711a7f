//! Histories as a terminal prints them.

use crate::sample;
use gritstone_document::terminal;
use gritstone_model::*;
use gritstone_report::{benchmark, history, history_svg};

/// The `index`-th run, with a value; nothing where it does not count.
fn point(index: usize, estimate: f64, counts: bool) -> HistoryPoint {
    let others = sample::stated(Some(Flag::Interference), "Others used the CPUs.");
    HistoryPoint {
        run: format!("run-{index}"),
        label: (index == 0).then(|| "first".to_owned()),
        started: format!("2026-01-{:02}T03:04:05Z", index + 1),
        commit: None,
        estimate: Some(estimate),
        interval: Some([estimate * 0.99, estimate * 1.01]),
        value: Some(estimate).filter(|_| counts),
        notes: (!counts).then_some(others).into_iter().collect(),
    }
}

fn series(kernel: &str, points: Vec<HistoryPoint>) -> HistorySeries {
    HistorySeries {
        machine: "a3f09c52".to_owned(),
        name: "node-17".to_owned(),
        kernel: kernel.to_owned(),
        compiler: "gcc 12.2.0 -O2".to_owned(),
        version: 1,
        unit: Unit::parse("ns/call").unwrap(),
        dir: "/var/tmp".to_owned(),
        tuned: vec![],
        params: [].into(),
        points,
        changes: vec![],
        marks: vec![],
    }
}

fn view(series: Vec<HistorySeries>) -> HistoryView {
    HistoryView {
        schema: SCHEMA_HISTORY.to_owned(),
        id: Id::parse("byte/syscall").unwrap(),
        title: "System call".to_owned(),
        unit: Unit::parse("ns/call").unwrap(),
        better: Better::Lower,
        series,
    }
}

/// Four runs on one kernel, steadied and with a parameter; then 22 on another, slower from the twelfth on, one of them disturbed.
fn sample() -> HistoryView {
    let points = (0..4).map(|index| point(index, 100.0 + index as f64, true));
    let steadied = HistorySeries {
        tuned: vec!["governor performance".to_owned(), "turbo off".to_owned()],
        params: [("calls".to_owned(), "7".to_owned())].into(),
        ..series("6.1.0-28", points.collect())
    };
    let level = |index: usize| if index < 11 { 100.0 } else { 112.0 };
    let points = (0..22).map(|index| point(index, level(index) + (index % 3) as f64, index != 5));
    let change = HistoryChange {
        run: "run-11".to_owned(),
        started: "2026-01-12T03:04:05Z".to_owned(),
        at: 11,
        ratio: 0.893,
        interval: Some([0.886, 0.901]),
        between: [11, 11],
        runs: 11,
        drift: false,
    };
    let changed = HistorySeries {
        changes: vec![change],
        marks: vec![HistoryMark {
            at: 11,
            differ_in: vec![Difference {
                what: "kernel".to_owned(),
                base: "6.12.2".to_owned(),
                other: "6.12.3".to_owned(),
            }],
        }],
        ..series("6.12.3", points.collect())
    };
    view(vec![steadied, changed])
}

fn text(view: &HistoryView) -> String {
    terminal::render(&history(view), terminal::Look::plain(110))
}

#[test]
fn histories_show_changes() {
    insta::assert_snapshot!(text(&sample()));
}

#[test]
fn trends_are_of_compared_runs() {
    let shown = |points: Vec<HistoryPoint>| text(&view(vec![series("6.1", points)]));
    // what does not count is a point, and does not set the scale
    let one = shown(vec![point(0, 2.0, true), point(1, 1.0, false), point(2, 4.0, true)]);
    assert!(one.contains("▁·█"), "{one}");
    // no run counts: there is no trend
    let none = shown(vec![point(0, 1.0, false)]);
    assert!(!none.contains("trend"), "{none}");
    assert!(none.contains("1 run, 0 compared (interference: 1)"), "{none}");
    // the newest sixty
    let long = shown((0..70_usize).map(|index| point(index, index.min(10) as f64, true)).collect());
    assert!(long.contains(&"▄".repeat(60)) && !long.contains(&"▄".repeat(61)), "{long}");
}

#[test]
fn uncompared_runs_show_no_verdict() {
    let report = |counted: [bool; 3]| {
        let points = (0..3).map(|index| point(index, 100.0, counted[index]));
        text(&view(vec![series("6.1", points.collect())]))
    };
    for few in [[false; 3], [true, false, false]] {
        assert!(report(few).contains("Nothing could be compared."), "{}", report(few));
    }
    assert!(report([true, true, false]).contains("No change was found."));
}

#[test]
fn newest_series_is_drawn() {
    let svg = history_svg(&sample()).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("byte/syscall over 22 runs"));
    assert!(svg.contains("from run run-11 of 12 January 2026, 03:04 UTC: 1.120× slower"));
    // a longer time is a line that rises
    assert!(svg.contains(">+12"), "{svg}");
    assert_eq!(history_svg(&view(vec![])), None);
}

#[test]
fn excluded_runs_read_as_excluded() {
    let mut points: Vec<HistoryPoint> =
        (0..4).map(|index| point(index, 100.0, index != 2)).collect();
    points[2].estimate = Some(900.0);
    points.push(HistoryPoint {
        notes: vec![sample::stated(Some(Flag::Invalid), "Its work is wrong.")],
        ..point(4, 901.0, false)
    });
    points.push(HistoryPoint { estimate: None, interval: None, ..point(5, 1.0, false) });
    let view = view(vec![series("6.1", points)]);
    let document = benchmark(&view.id, &view.title, &[], Some(&view));
    let chart = blocks!(document.blocks, Figure).find_map(|figure| figure.chart.as_ref());
    let chart: serde_json::Value = serde_json::from_str(&chart.unwrap().json).unwrap();
    let points = chart["points"].as_array().unwrap();
    let compared: Vec<bool> = points.iter().map(|point| point["compared"] == true).collect();
    assert_eq!(compared, [true, true, false, true, false, false]);
    for (index, end) in [
        (2, "interference, not compared"),
        (3, "]"),
        (4, "invalid, not compared"),
        (5, ": no result"),
    ] {
        let readout = points[index]["readout"].as_str().unwrap();
        assert!(readout.ends_with(end), "{readout}");
    }
    // drawn apart, on an axis of the others
    let svg = history_svg(&view).unwrap();
    assert_eq!(svg.matches("excluded").count(), 2, "{svg}");
    assert!(!svg.contains(">900</text>") && !svg.contains(">800</text>"), "{svg}");
}

#[test]
fn ranges_begin_inside_the_drawing() {
    let mut sample = sample();
    let Some(newest) = sample.series.last_mut() else {
        panic!("no series");
    };
    newest.points.drain(..11);
    newest.changes[0].at = 0;
    let document = benchmark(&sample.id, "", &[], Some(&sample));
    let charts = blocks!(document.blocks, Figure).filter_map(|figure| figure.chart.as_ref());
    let charts: Vec<&str> = charts.map(|chart| chart.json.as_str()).collect();
    assert!(charts[0].contains("\"x\":1.0"), "{}", charts[0]);
    let none = benchmark(&sample.id, "", &[], Some(&view(vec![])));
    let text = terminal::render(&none, terminal::Look::plain(110));
    assert!(text.contains("No run in this range."), "{text}");
}
