//! One benchmark over many runs: what `gritstone history` prints.

use crate::document::{Block, Document, Figure, Style};
use crate::number;
use crate::svg::plot::{Line, Plot, Point};
use crate::table::{self, Columns};
use crate::words::{self, Sense};
use gritstone_model::{HistoryChange, HistoryPoint, HistorySeries, HistoryView};

/// Eight heights of a sparkline.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Runs in a table; the drawing has all of them.
const SHOWN: usize = 20;

/// The history of a benchmark: for each series its course, its changes, a drawing, and the newest runs.
#[must_use]
pub fn history(view: &HistoryView) -> Document {
    let mut document = Document::new(format!("History of {}", view.id));
    document.subtitle = Some(format!("{}, in {}", view.title, view.unit));
    for (number, series) in view.series.iter().enumerate() {
        document.heading(1, series.name.clone());
        // what its runs have in common, and their course
        document.terms([
            ("machine", series.machine.clone()),
            ("kernel", series.kernel.clone()),
            ("compiler", series.compiler.clone()),
            ("version", series.version.to_string()),
            ("files in", series.dir.clone()),
            ("parameters", words::assigned(&series.params)),
            ("steadied", series.steady.join("; ")),
            ("runs", number::count(series.points.len())),
            ("course", sparkline(series)),
        ]);
        document.paragraph(match series.changes.is_empty() {
            true => "No change is seen.",
            false => "Changes, suspected until an interleaved comparison confirms them:",
        });
        document.list(series.changes.iter().map(sentence));
        document.paragraph(match series.gates {
            true => "A new run can be held against it.",
            false => "No run can be held against it: too few count since the last change, or each tells of the next.",
        });
        if series.points.len() > 1 {
            document.push(Block::Figure(drawn(view, series, number)));
        }
        table(&mut document, view, series);
    }
    document.push(Block::Footnotes);
    document
}

/// The drawing of the newest series alone, a whole `<svg>` element.
#[must_use]
pub fn history_svg(view: &HistoryView) -> Option<String> {
    let newest = view.series.last()?;
    Some(drawn(view, newest, 0).svg)
}

fn sentence(change: &HistoryChange) -> String {
    let when = words::date(&change.started);
    format!("from run {} of {when}: {}", change.run, ratio(change))
}

fn ratio(change: &HistoryChange) -> String {
    words::ratio(change.ratio, change.interval, Sense::Speed)
}

/// The values that count, lowest to highest, a letter a run; a dot for a run that does not count.
fn sparkline(series: &HistorySeries) -> String {
    let newest = series.points.len().saturating_sub(60);
    let points = &series.points[newest..];
    let values = points.iter().filter_map(|p| p.value);
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.fold(f64::NEG_INFINITY, f64::max);
    let bar = |point: &HistoryPoint| match point.value {
        None => '·',
        Some(_) if high <= low => BARS[3],
        Some(x) => BARS[(((x - low) / (high - low) * 7.0).round() as usize).min(7)],
    };
    points.iter().map(bar).collect()
}

fn drawn(view: &HistoryView, series: &HistorySeries, number: usize) -> Figure {
    let points: Vec<Point> = (1..)
        .zip(&series.points)
        .map(|(at, point)| Point {
            x: f64::from(at),
            y: point.estimate,
            interval: point.interval,
        })
        .collect();
    let changes: Vec<String> = series.changes.iter().map(sentence).collect();
    let told = match changes.is_empty() {
        true => "No change is seen.".to_owned(),
        false => format!("Changes: {}.", changes.join("; ")),
    };
    let title = format!("{} over {}", view.id, words::plural(points.len(), "run"));
    let plot = Plot {
        x_label: "run, oldest first".to_owned(),
        y_label: view.title.clone(),
        y_unit: number::unit_text(view.unit.as_str()),
        lines: vec![Line {
            name: series.name.clone(),
            strong: true,
            loose: false,
            points,
        }],
        ..Plot::default()
    };
    plot.draw()
        .figure(&format!("history-{number}"), title, told)
}

fn table(document: &mut Document, view: &HistoryView, series: &HistorySeries) {
    let from = series.points.len().saturating_sub(SHOWN);
    let caption = match from {
        0 => "The runs".to_owned(),
        _ => format!("The newest {SHOWN} runs"),
    };
    let shown = |point: &HistoryPoint| {
        let estimate = point.estimate?;
        Some(number::figure(estimate, point.interval, view.unit.as_str()))
    };
    Columns::<(usize, &HistoryPoint)>::key("Run", Style::Code, |(_, p)| p.run.as_str())
        .text("Label", |(_, p)| p.label.clone())
        .text("When", |(_, p)| words::date(&p.started))
        .pair(["Figure", "Interval"], move |(_, p)| {
            let bare = shown(p).map(|s| number::Shown {
                unit: String::new(),
                ..s
            });
            table::figure(bare, &p.notes)
        })
        .text("Unit", move |(_, p)| shown(p).map(|s| s.unit))
        .text("Change", |(at, _)| {
            let mut changes = series.changes.iter();
            changes.find(|change| change.at == *at).map(ratio)
        })
        .table(document, caption, (from..).zip(&series.points[from..]));
}
