//! One figure over many runs: what `gritstone history` prints.

use crate::document::{Block, Column, Document, Figure, Row, Style, Table, Text};
use crate::number;
use crate::svg::plot::{Line, Plot, Point};
use crate::words::{self, Sense};
use gritstone_model::{HistoryChange, HistoryPoint, HistorySeries, HistoryView};

/// Eight heights of a sparkline.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Runs in a table; the figure has all of them.
const SHOWN: usize = 20;

/// The history of a benchmark: for each series its course, its changes, a drawing, and the newest runs.
#[must_use]
pub fn history(view: &HistoryView) -> Document {
    let mut document = Document::new(format!("History of {}", view.id));
    document.subtitle = Some(format!("{}, in {}", view.title, view.unit));
    for (number, series) in view.series.iter().enumerate() {
        let drawn = drawn(view, series, number);
        of_series(&mut document, view, series, drawn);
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

fn of_series(document: &mut Document, view: &HistoryView, series: &HistorySeries, drawn: Figure) {
    document.heading(1, series.name.clone());
    document.push(Block::Terms(terms(series)));
    if series.changes.is_empty() {
        document.paragraph("No change is seen.");
    } else {
        document.paragraph("Changes, suspected until an interleaved comparison confirms them:");
        let items = series.changes.iter().map(|change| sentence(change).into());
        document.push(Block::List(items.collect()));
    }
    document.paragraph(gate(series));
    if series.points.len() > 1 {
        document.push(Block::Figure(drawn));
    }
    let table = table(document, view, series);
    document.table(table);
}

/// What its runs have in common, and their course.
fn terms(series: &HistorySeries) -> Vec<(String, Text)> {
    let terms = [
        ("machine", series.machine.clone()),
        ("kernel", series.kernel.clone()),
        ("compiler", series.compiler.clone()),
        ("version", series.version.to_string()),
        ("files in", series.dir.clone()),
        ("parameters", words::assigned(&series.params)),
        ("steadied", series.steady.join("; ")),
        ("runs", number::count(series.points.len())),
        ("course", sparkline(series)),
    ];
    let told = terms.into_iter().filter(|(_, text)| !text.is_empty());
    told.map(|(term, text)| (term.to_owned(), text.into()))
        .collect()
}

fn sentence(change: &HistoryChange) -> String {
    format!(
        "from run {} of {}: {}",
        change.run,
        words::date(&change.started),
        words::ratio(change.ratio, change.interval, Sense::Speed)
    )
}

fn gate(series: &HistorySeries) -> &'static str {
    if series.gates {
        "A new run can be held against it."
    } else {
        "No run can be held against it: too few count since the last change, or each tells of the next."
    }
}

/// The values that count, lowest to highest, a letter a run; a dot for a run that does not count.
fn sparkline(series: &HistorySeries) -> String {
    let newest = series.points.len().saturating_sub(60);
    let points = &series.points[newest..];
    let values: Vec<f64> = points.iter().filter_map(|p| p.value).collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
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

fn table(document: &mut Document, view: &HistoryView, series: &HistorySeries) -> Table {
    let from = series.points.len().saturating_sub(SHOWN);
    let caption = match from {
        0 => "The runs".to_owned(),
        _ => format!("The newest {SHOWN} runs"),
    };
    let mut row = |at: usize, point: &HistoryPoint| {
        let notes: Vec<_> = point.notes.iter().map(|f| document.note(f)).collect();
        let shown = point
            .estimate
            .map(|x| number::figure(x, point.interval, view.unit.as_str()));
        let cell = |text: Option<String>| text.map_or_else(Text::missing, Text::new);
        let change = series.changes.iter().find(|change| change.at == at);
        Row::new(vec![
            point.run.clone().into(),
            cell(point.label.clone()),
            words::date(&point.started).into(),
            cell(shown.as_ref().map(|s| s.estimate.clone())).with(notes),
            cell(
                shown
                    .as_ref()
                    .map(|s| s.interval.clone())
                    .filter(|i| !i.is_empty()),
            ),
            cell(shown.map(|s| s.unit)),
            cell(change.map(|c| words::ratio(c.ratio, c.interval, Sense::Speed))),
        ])
    };
    let rows = (from..).zip(&series.points[from..]);
    Table {
        caption: caption.into(),
        rows: rows.map(|(at, point)| row(at, point)).collect(),
        columns: vec![
            Column::key("Run", Style::Code),
            Column::new("Label", Style::Text),
            Column::new("When", Style::Text),
            Column::new("Figure", Style::Number),
            Column::new("Interval", Style::Number),
            Column::new("Unit", Style::Text),
            Column::new("Change", Style::Text),
        ],
    }
    .without_empty_columns()
}
