//! Latency under load: what a row took at each level of load, from the shortest to the longest event, beside the machines of
//! the documents at the same levels.
//!
//! The levels of a row are its variants `@level-1` and so on; the row itself is without load.

use super::{Across, Brief, next_figure};
use crate::columns::{self, Col};
use crate::document::{Block, Column, Document, Figure, Row, Style, Table, Text};
use crate::number;
use crate::svg::{Line, Plot, Point};
use gritstone_model::{Id, Measurement, RunView, Statistics};

/// One level by itself is in the other tables.
const LEAST: usize = 2;
/// A range this wide is only legible on a logarithmic axis: the longest event is far from all others, which would lie on each other.
const LOG_FROM: f64 = 10.0;

/// A row at its levels, on one machine.
struct Ladder<'a> {
    machine: String,
    strong: bool,
    /// From the lowest; each with statistics.
    steps: Vec<(u32, &'a Measurement)>,
}

/// Adds a figure for each machine and a table for each row that was measured at several levels of load.
pub(super) fn show(document: &mut Document, input: &Brief, rows: &[Across]) {
    let mut stems: Vec<&str> = vec![];
    for row in rows {
        let stem = row.id.stem();
        if is_loaded(input, row.id) && !stems.contains(&stem) {
            stems.push(stem);
        }
    }
    for stem in stems {
        let title = rows.iter().find(|row| row.id.as_str() == stem);
        let title = title.map_or(stem, |row| row.any().title.as_str());
        let own = input.runs.iter().enumerate();
        let own = own.map(|(at, run)| ladder(input, run, stem, input.name(at)));
        let own: Vec<Ladder> = own.filter(|ladder| ladder.steps.len() >= LEAST).collect();
        for ladder in &own {
            let of = match input.several() {
                true => format!("{title}, {}", ladder.machine),
                false => title.to_owned(),
            };
            let figure = figure(next_figure(document), &of, ladder);
            document.push(Block::Figure(figure));
        }
        if own.is_empty() {
            continue;
        }
        let others = input.references.iter();
        let others = others.map(|view| Ladder {
            strong: false,
            ..ladder(input, view, stem, view.machine.name.clone())
        });
        let all: Vec<Ladder> = own
            .into_iter()
            .chain(others.filter(|ladder| !ladder.steps.is_empty()))
            .collect();
        let table = table(document, title, &all);
        document.table(table);
    }
}

/// Whether a row is a variant under load, which is drawn beside its levels.
pub(super) fn is_loaded(input: &Brief, id: &Id) -> bool {
    level(input, id) > Some(0)
}

/// The level of a row: 0 of one without load. Other variants have none.
fn level(input: &Brief, id: &Id) -> Option<u32> {
    let load = input.benchmark(id).map_or(0, |row| row.load().len());
    let level = u32::try_from(load).ok()?;
    (level > 0 || id.variant().is_none()).then_some(level)
}

fn ladder<'a>(input: &Brief, view: &'a RunView, stem: &str, machine: String) -> Ladder<'a> {
    let step = |result: &'a Measurement| {
        let of_stem = result.id.stem() == stem;
        result.statistics.as_ref().filter(|_| of_stem)?;
        Some((level(input, &result.id)?, result))
    };
    let mut steps: Vec<_> = view.results.iter().filter_map(step).collect();
    steps.sort_by_key(|(level, _)| *level);
    Ladder {
        machine,
        strong: true,
        steps,
    }
}

/// What is drawn of a distribution: its name, whether it is one to look for, and its value.
fn measures(statistics: &Statistics) -> Vec<(String, bool, f64)> {
    let plain = |name: &str, strong: bool, value: f64| (name.to_owned(), strong, value);
    let mut all = vec![
        plain("least", false, statistics.min),
        plain("median", true, statistics.median),
    ];
    all.extend(statistics.mean.map(|mean| plain("mean", false, mean)));
    let mut shares: Vec<(f64, f64)> = statistics
        .percentiles
        .iter()
        .filter_map(|(name, value)| Some((Statistics::percent(name)?, *value)))
        .filter(|(share, _)| (51.0..100.0).contains(share))
        .collect();
    shares.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.extend(shares.into_iter().map(|(share, value)| {
        let name = number::at_most(share, "%", 7);
        (name, share == 99.0, value)
    }));
    all.push(plain("longest", true, statistics.max));
    all
}

fn figure(id: String, title: &str, ladder: &Ladder) -> Figure {
    let unit = ladder.steps[0].1.unit.to_string();
    let mut lines: Vec<Line> = vec![];
    for (level, result) in &ladder.steps {
        for (name, strong, value) in result.statistics.iter().flat_map(measures) {
            let point = Point {
                x: f64::from(*level),
                y: Some(value),
                interval: None,
            };
            match lines.iter_mut().find(|line| line.name == name) {
                Some(line) => line.points.push(point),
                None => lines.push(Line {
                    name,
                    strong,
                    loose: false,
                    points: vec![point],
                }),
            }
        }
    }
    let ys = || lines.iter().flat_map(|l| &l.points).filter_map(|p| p.y);
    let (low, high) = (ys().fold(f64::MAX, f64::min), ys().fold(f64::MIN, f64::max));
    let log_y = low > 0.0 && high / low >= LOG_FROM;
    let scale = if log_y { " (logarithmic scale)" } else { "" };
    let caption =
        format!("{title}, by level of load: from the least of the events to the longest{scale}");
    let said: Vec<String> = lines.iter().map(|line| sentence(line, &unit)).collect();
    let alternative = said.join(" ");
    let plot = Plot {
        id,
        title: caption.clone(),
        description: alternative.clone(),
        x_label: "Level of load".to_owned(),
        y_label: "Time".to_owned(),
        y_unit: unit,
        x_names: ladder
            .steps
            .iter()
            .map(|(level, _)| (f64::from(*level), level.to_string()))
            .collect(),
        log_x: false,
        log_y,
        lines,
    };
    Figure {
        svg: plot.render(),
        caption: caption.into(),
        alternative,
    }
}

/// "median: 5.2 µs at level 0, 7.1 µs at level 3."
fn sentence(line: &Line, unit: &str) -> String {
    let said = |p: &Point| {
        let time = number::at_most(p.y?, unit, 4);
        Some(format!("{time} at level {}", number::printed(p.x, 0)))
    };
    let all: Vec<String> = line.points.iter().filter_map(said).collect();
    format!("{}: {}.", line.name, all.join(", "))
}

/// A row for each machine and level.
fn table(document: &mut Document, title: &str, ladders: &[Ladder]) -> Table {
    let all: Vec<&Measurement> = ladders
        .iter()
        .flat_map(|ladder| ladder.steps.iter().map(|(_, result)| *result))
        .collect();
    let mut cols = vec![Col::Min, Col::Median, Col::Mean];
    cols.extend(columns::percentiles(&all).into_iter().map(Col::Percentile));
    cols.push(Col::Max);
    let mut columns = vec![
        Column::key("Machine", Style::Text),
        Column::key("Level", Style::Number),
    ];
    columns.extend(cols.iter().map(|col| col.head(&all)));
    let mut rows = vec![];
    for ladder in ladders {
        for (level, result) in &ladder.steps {
            let notes: Vec<_> = result.notes.iter().map(|f| document.note(f)).collect();
            let level = Text::new(level.to_string()).with(notes);
            let mut cells = vec![Text::new(&ladder.machine), level];
            cells.extend(cols.iter().map(|col| col.cell(result, &all)));
            rows.push(Row {
                cells,
                strong: ladder.strong,
            });
        }
    }
    Table {
        caption: format!("{title}, by level of load").into(),
        columns,
        rows,
    }
    .without_empty_columns()
}
