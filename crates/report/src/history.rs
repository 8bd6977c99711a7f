//! One benchmark over many runs: what `gritstone history` prints.

use crate::table::{Cell, Columns, noted};
use crate::words::{self, Sense};
use gritstone_document::svg::plot::{Line, Plot, Point};
use gritstone_document::{About, Block, Chart, Document, Figure, Style};
use gritstone_document::{number, sparkline};
use gritstone_model::{
    Better, Flag, HistoryChange, HistoryPoint, HistorySeries, HistoryView, Id, flags,
};
use serde_json::json;
use std::collections::BTreeMap;

/// Runs in a table; the drawing has all of them.
const MAX_RUNS: usize = 20;
/// Runs in the trend.
const SPARKS: usize = 60;

/// The history of a benchmark: for each series its trend, its changes, and the newest runs.
pub fn history(view: &HistoryView) -> Document {
    let mut document = Document::new(format!("History of {}", view.id));
    document.subtitle = Some(subtitle(view));
    for series in &view.series {
        document.heading(1, series.name.clone());
        document.paragraph(in_common(series));
        document.terms(trend(series).map(|trend| ("trend", trend)));
        append_series(&mut document, view, series);
    }
    document.push(Block::Footnotes);
    document
}

/// The page of a benchmark: its description, and its history with drawings, the newest series first.
pub fn benchmark(
    id: &Id,
    title: &str,
    facts: &[(&str, String)],
    view: Option<&HistoryView>,
) -> Document {
    let mut document = Document::new(format!("{id}: {title}"));
    document.subtitle = view.map(subtitle);
    if view.is_none() {
        document.paragraph("No stored run has it.");
    }
    if view.is_some_and(|view| view.series.is_empty()) {
        document.paragraph("No run in this range.");
    }
    let series = view.into_iter().flat_map(|view| view.series.iter().rev());
    for (number, series) in series.enumerate() {
        let Some(view) = view else { break };
        document.heading(1, series.name.clone());
        document.paragraph(in_common(series));
        if series.points.iter().any(|point| point.estimate.is_some()) {
            document.push(Block::Figure(drawn(view, series, number)));
        }
        append_series(&mut document, view, series);
    }
    let notes = document.notes().len();
    if notes > 0 {
        document.heading(1, "Notes");
        document.push(Block::Footnotes);
    }
    if !facts.is_empty() {
        document.heading(1, "What it does");
    }
    document.terms(facts.iter().map(|(name, text)| (*name, text.clone())));
    document
}

fn subtitle(view: &HistoryView) -> String {
    let unit = number::unit_text(view.unit.as_str());
    format!("{}, in {unit}", view.title)
}

/// The changes of a series, and its newest runs.
fn append_series(document: &mut Document, view: &HistoryView, series: &HistorySeries) {
    document.paragraph(match series.changes.is_empty() {
        true => no_change(series),
        false if words::is_imported(&view.id, &series.machine) => {
            "Changes, tentative until another run of that program confirms them:"
        }
        false => "Changes, tentative until `gritstone ab` confirms them:",
    });
    document.list(series.changes.iter().map(sentence));
    table(document, view.better, series);
}

/// A series without changes.
fn no_change(series: &HistorySeries) -> &'static str {
    match series.compared() {
        0 | 1 => "Nothing could be compared.",
        _ => "No change was found.",
    }
}

/// A benchmark with its newest series.
type Newest<'a> = (&'a HistoryView, &'a HistorySeries);

/// A line for each benchmark: the newest result of its newest series, its trend and its last change. Those that changed come first.
pub fn histories(views: &[HistoryView]) -> Document {
    let mut document = Document::default();
    let newest = views.iter().filter_map(|view| Some((view, view.series.last()?)));
    let mut newest: Vec<Newest> = newest.collect();
    newest.sort_by_key(|(_, series)| series.changes.is_empty());
    Columns::<Newest>::key("Benchmark", Style::Code, |(view, _)| view.id.as_str())
        .number("Runs", |(_, series)| series.points.len())
        .number("Newest", |(_, series)| {
            let point = series.points.iter().rev().find_map(|p| p.value.and(p.estimate))?;
            Some(number::figure(point, None, series.unit.as_str()).with_unit())
        })
        .number("Change", |(view, series)| {
            let change = series.changes.last()?;
            Some(words::change(view.better, change.ratio, change.interval).0)
        })
        .number("Since", |(_, series)| Some(words::minute(&series.changes.last()?.started)))
        .text("Trend", |(_, series)| sparkline::line(&newest_values(series)))
        .table(&mut document, "", newest);
    document
}

/// The drawing of the newest series alone, a complete `<svg>` element.
pub fn history_svg(view: &HistoryView) -> Option<String> {
    let newest = view.series.last()?;
    drawn(view, newest, 0).svgs.pop()
}

fn sentence(change: &HistoryChange) -> String {
    let when = words::date(&change.started);
    let drift = words::drift(change.drift);
    let ratio = words::ratio(change.ratio, change.interval, Sense::Speed);
    format!("from run {} of {when}: {ratio}{drift}", change.run)
}

/// Common circumstances of the runs of a series.
fn in_common(series: &HistorySeries) -> String {
    let with = |before: &str, what: &str| match what {
        "" => String::new(),
        what => format!("{before} {what}"),
    };
    let counted = series.compared();
    let runs = words::plural(series.points.len(), "run");
    let parts = [
        with("kernel", &series.kernel),
        series.compiler.clone(),
        with("version", &series.version.to_string()),
        with("files in", &series.dir),
        with("parameters", &words::assigned(&series.params)),
        with("tuned:", &series.tuned.join("; ")),
        with("machine", &series.machine),
    ];
    let known: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let used = match counted == series.points.len() {
        true => String::new(),
        false => format!(", {counted} compared{}", excluded(series)),
    };
    format!("{runs}{used}; {}.", known.join(", "))
}

/// " (no result: 1; interference: 2)": why the other runs of a series are not compared.
fn excluded(series: &HistorySeries) -> String {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for reason in series.points.iter().filter_map(exclusion) {
        *reasons.entry(reason).or_default() += 1;
    }
    let reasons: Vec<String> =
        reasons.iter().map(|(reason, runs)| format!("{reason}: {runs}")).collect();
    format!(" ({})", reasons.join("; "))
}

/// Why a run is not compared.
fn exclusion(point: &HistoryPoint) -> Option<&'static str> {
    if point.value.is_some() {
        return None;
    }
    let flags = flags(&point.notes);
    let excluding = [Flag::Invalid, Flag::Interference];
    let excluding = excluding.into_iter().find(|flag| flags.contains(flag));
    Some(match point.estimate {
        None => "no result",
        Some(_) => excluding.map_or("not positive", Flag::as_str),
    })
}

/// The values that count as a sparkline, one character per run; a dot for a run that does not count. `None` without any.
fn trend(series: &HistorySeries) -> Option<String> {
    let values = newest_values(series);
    let known = values.iter().flatten().copied();
    let unit = series.unit.as_str();
    let [low, high] = [known.clone().min_by(f64::total_cmp), known.max_by(f64::total_cmp)]
        .map(|end| end.map(|end| number::at_most(end, unit, 4)));
    let (low, high) = low.zip(high)?;
    let range = if low == high { low } else { format!("{low} to {high}") };
    Some(format!("{}  {range}", sparkline::line(&values)))
}

fn newest_values(series: &HistorySeries) -> Vec<Option<f64>> {
    let newest = series.points.len().saturating_sub(SPARKS);
    series.points[newest..].iter().map(|p| p.value).collect()
}

fn drawn(view: &HistoryView, series: &HistorySeries, number: usize) -> Figure {
    let compared = |point: &HistoryPoint| point.value.is_some();
    let numbered = || (1..).zip(&series.points);
    let points: Vec<Point> = numbered()
        .map(|(position, point)| Point {
            x: f64::from(position),
            y: point.estimate.filter(|_| compared(point)),
            interval: point.interval.filter(|_| compared(point)),
        })
        .collect();
    let excluded = numbered().filter(|(_, point)| !compared(point));
    let excluded =
        excluded.filter_map(|(position, point)| Some([f64::from(position), point.estimate?]));
    let changes: Vec<String> = series.changes.iter().map(sentence).collect();
    let alternative = match changes.is_empty() {
        true => no_change(series).to_owned(),
        false => format!("Changes: {}.", changes.join("; ")),
    };
    let title = format!("{} over {}", view.id, words::plural(points.len(), "run"));
    let plot = Plot {
        x_label: "run, oldest first".to_owned(),
        y_label: view.title.clone(),
        y_unit: number::unit_text(series.unit.as_str()),
        lines: vec![Line {
            name: series.name.clone(),
            strong: true,
            loose: false,
            points,
            excluded: excluded.collect(),
        }],
        marks: series.changes.iter().map(|change| mark(view.better, change)).collect(),
        clips_intervals: true,
        ..Plot::default()
    };
    Figure {
        chart: Some(chart(view, series)),
        ..plot.draw().figure(&format!("history-{number}"), title, alternative)
    }
}

/// The mark of a change in a drawing: before the first run of the new level.
fn mark(better: Better, change: &HistoryChange) -> (f64, String) {
    let (change_text, _) = words::change(better, change.ratio, change.interval);
    // of a range of runs, the first may begin the level
    ((change.at as f64 + 0.5).max(1.0), change_text)
}

/// The drawing as data, with a readout for each run.
fn chart(view: &HistoryView, series: &HistorySeries) -> Chart {
    let estimates = series.points.iter().filter_map(|point| point.estimate);
    let largest = estimates.map(f64::abs).fold(0.0, f64::max);
    let (factor, unit) = number::scale(series.unit.as_str(), largest);
    let point = |(index, point): (usize, &HistoryPoint)| {
        json!({
            "y": point.estimate.map(|value| value * factor),
            "interval": point.interval.map(|ends| ends.map(|end| end * factor)),
            "compared": point.value.is_some(),
            "day": point.started.get(..10),
            "time": point.started.get(11..16),
            "readout": describe_point(series, index, point),
        })
    };
    let mark = |change: &HistoryChange| {
        let (x, text) = mark(view.better, change);
        json!({ "x": x, "text": text })
    };
    let data = json!({
        "label": format!("{}, {unit}", view.title),
        "points": series.points.iter().enumerate().map(point).collect::<Vec<_>>(),
        "changes": series.changes.iter().map(mark).collect::<Vec<_>>(),
    });
    let runs = series.points.iter().map(|point| point.run.clone());
    Chart { json: data.to_string(), about: runs.map(About::Run).collect() }
}

/// A run in a sentence: `Run cfe385a0 of 23 November 2026, 18:55 UTC, commit 3f1c2ab: 105 ns/call, 95% CI [103 – 107]`, with the reason if
/// it is not compared, and its differences from the run before.
fn describe_point(series: &HistorySeries, index: usize, point: &HistoryPoint) -> String {
    let part = |name: &str, text: Option<&str>| {
        text.map_or_else(String::new, |text| format!(", {name} {text}"))
    };
    let commit = point.commit.as_ref();
    let commit = commit.map(|id| id.get(..10).unwrap_or(id));
    let shown = point
        .estimate
        .map(|estimate| number::figure(estimate, point.interval, series.unit.as_str()));
    let interval = shown.as_ref().and_then(number::Shown::brackets);
    let interval = interval.map_or_else(String::new, |interval| format!(", 95% CI {interval}"));
    let excluded = exclusion(point).filter(|_| point.estimate.is_some());
    let excluded = excluded.map_or_else(String::new, |why| format!(", {why}, not compared"));
    let differ_in = differ_in(series, index).map_or_else(String::new, |text| format!("; {text}"));
    format!(
        "Run {} of {}{}{}: {}{interval}{excluded}{differ_in}",
        words::short_id(&point.run),
        words::date(&point.started),
        part("label", point.label.as_deref()),
        part("commit", commit),
        shown.map_or_else(|| "no result".to_owned(), |shown| shown.with_unit()),
    )
}

/// `kernel 6.18.1 → 6.19.2`, for a run that differs from the one before.
fn differ_in(series: &HistorySeries, index: usize) -> Option<String> {
    let mark = series.marks.iter().find(|mark| mark.at == index)?;
    let differences = mark.differ_in.iter();
    let texts = differences.map(words::difference);
    Some(texts.collect::<Vec<_>>().join("; "))
}

fn table(document: &mut Document, better: Better, series: &HistorySeries) {
    let from = series.points.len().saturating_sub(MAX_RUNS);
    let caption = match from {
        0 => "The runs".to_owned(),
        _ => format!("The newest {MAX_RUNS} runs"),
    };
    let shown = |point: &HistoryPoint| {
        let estimate = point.estimate?;
        Some(number::figure(estimate, point.interval, series.unit.as_str()))
    };
    let before = |index: usize| {
        let mut earlier = series.points[..index].iter().rev();
        earlier.find(|point| point.value.is_some()).map(|p| p.run.clone())
    };
    Columns::<(usize, &HistoryPoint)>::key("Run", Style::Code, |(_, p)| Cell::run(&p.run))
        .text("Label", |(_, p)| p.label.clone())
        .number("When", |(_, p)| words::minute(&p.started))
        .pair(["Result", "95% CI"], move |(_, p)| {
            let shown = shown(p);
            let estimate = shown.as_ref().map(|s| s.estimate.clone());
            let interval = shown.and_then(|shown| shown.brackets());
            [noted(estimate, &p.notes), interval.into()]
        })
        .text("Unit", move |(_, p)| shown(p).map(|s| s.unit))
        .text("Change", |(index, _)| {
            let mut changes = series.changes.iter();
            let change = changes.find(|change| change.at == *index);
            let change_text =
                change.map(|change| words::change(better, change.ratio, change.interval).0);
            let pair = change.and_then(|change| Some([before(*index)?, change.run.clone()]));
            Cell::from(change_text).about(pair.map(About::Pair))
        })
        .text("Differs in", |(index, _)| differ_in(series, *index))
        .table(document, caption, (from..).zip(&series.points[from..]));
}
