//! Latency under load: what a row took at each level of load, from the shortest to the longest event, beside the machines of
//! the documents at the same levels.
//!
//! The levels of a row are its variants `@level-1` and so on; the row itself is without load.

use super::drawn::{each, lines, percentiles_from, point, wide};
use super::{Across, Brief, grouped, marks};
use crate::columns::{self, Col};
use crate::document::{Column, Document, Row, Style, Table, Text};
use crate::number;
use crate::svg::plot::{Line, Plot};
use gritstone_model::{Estimate, Id, Measurement, RunView, Statistics};

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
    let loaded = rows.iter().filter(|row| is_loaded(input, row.id));
    for (stem, _) in grouped(loaded.map(|row| (row.id.stem(), row))) {
        let title = rows.iter().find(|row| row.id.as_str() == stem);
        let title = title.map_or(stem, |row| row.any.title.as_str());
        let mut all = vec![];
        for (at, run) in input.runs.iter().enumerate() {
            let ladder = ladder(input, run, stem, input.name(at));
            if ladder.steps.len() >= LEAST {
                figure(document, &input.behind(at, title), &ladder);
                all.push(Ladder {
                    strong: true,
                    ..ladder
                });
            }
        }
        if !all.is_empty() {
            let others = input.references.iter();
            let others = others.map(|view| ladder(input, view, stem, view.machine.name.clone()));
            all.extend(others.filter(|ladder| !ladder.steps.is_empty()));
            let table = table(document, title, &all);
            document.table(table);
        }
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
    let of_stem = |result: &&Measurement| result.id.stem() == stem && result.statistics.is_some();
    let results = view.results.iter().filter(of_stem);
    let mut steps: Vec<_> = results
        .filter_map(|result| Some((level(input, &result.id)?, result)))
        .collect();
    steps.sort_by_key(|(level, _)| *level);
    Ladder {
        machine,
        strong: false,
        steps,
    }
}

/// What is drawn of a distribution: its name, whether it is one to look for, and its value.
fn measures(statistics: &Statistics) -> Vec<(String, bool, f64)> {
    let shares = percentiles_from(51.0, statistics);
    let shares = shares
        .into_iter()
        .map(|(share, value)| (number::at_most(share, "%", 7), share == 99.0, value));
    let mean = statistics.mean.map(|mean| ("mean".to_owned(), false, mean));
    let mut all = vec![
        ("least".to_owned(), false, statistics.min),
        ("median".to_owned(), true, statistics.median),
    ];
    all.extend(mean.into_iter().chain(shares));
    all.push(("longest".to_owned(), true, statistics.max));
    all
}

fn figure(document: &mut Document, title: &str, ladder: &Ladder) {
    let unit = ladder.steps[0].1.unit.to_string();
    let points = ladder.steps.iter().flat_map(|(level, result)| {
        let measures = result.statistics.iter().flat_map(measures);
        measures.map(|(name, strong, value)| {
            let point = point(f64::from(*level), Some(Estimate::exact(value)));
            ((name, strong), point)
        })
    });
    let line = |((name, strong), points)| Line {
        name,
        strong,
        loose: false,
        points,
    };
    let drawn: Vec<Line> = grouped(points).into_iter().map(line).collect();
    let ys = drawn.iter().flat_map(|l| &l.points).filter_map(|p| p.y);
    let levels = ladder.steps.iter().map(|(level, _)| *level);
    let plot = Plot {
        x_label: "Level of load".to_owned(),
        y_label: "Time".to_owned(),
        y_unit: unit.clone(),
        x_names: levels.map(|n| (f64::from(n), n.to_string())).collect(),
        log_x: false,
        log_y: wide(ys, LOG_FROM),
        lines: drawn,
    };
    let caption = format!("{title}, by level of load: from the least of the events to the longest");
    lines(document, plot, caption, |line| {
        each(line, |x, y| {
            let (time, level) = (number::at_most(y, &unit, 4), number::printed(x, 0));
            format!("{time} at level {level}")
        })
    });
}

/// A row for each machine and level.
fn table(document: &mut Document, title: &str, ladders: &[Ladder]) -> Table {
    let steps = ladders.iter().flat_map(|ladder| &ladder.steps);
    let all: Vec<&Measurement> = steps.map(|(_, result)| *result).collect();
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
            let level = Text::new(level.to_string()).with(marks(document, &result.notes));
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
