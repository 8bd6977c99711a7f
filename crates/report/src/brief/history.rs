//! Systems of the documents beside this run: a table per document, one unit per column.

use super::{Brief, name, timeline, transactions};
use crate::columns::Col;
use gritstone_document::number;
use gritstone_document::{Block, Column, Document, Row, Style, Table, Text};
use gritstone_model::{Measurement, PublishedView, RunView, Subject, grouped};

/// Digits of a value of this run beside printed ones.
const DIGITS: i32 = 3;

/// Printed values of a benchmark, each with its unit: the time that its document compares first, then real and CPU time, and the estimate
/// last.
pub(crate) fn values(result: &Measurement) -> Vec<(f64, String)> {
    let times = result.published.iter().flat_map(|published| {
        let compared = Col::for_subject(published.figure);
        let cols = compared.into_iter().chain([Col::Real, Col::Cpu]);
        cols.filter_map(|col| Some((time(&col, published)?, unit(&col).to_owned())))
    });
    let estimate = result.value().map(|value| (value, result.unit.to_string()));
    times.chain(estimate).collect()
}

/// A time, s. Printed CPU time corresponds to user and system time of a run.
fn time(col: &Col, published: &PublishedView) -> Option<f64> {
    let printed = col.time(published).map(|time| time.value);
    printed.or_else(|| match col {
        Col::Cpu => Some(published.user?.value + published.system?.value),
        _ => None,
    })
}

fn unit(col: &Col) -> &'static str {
    match col {
        Col::User => "user s",
        Col::System => "system s",
        Col::Cpu => "CPU s",
        _ => "s",
    }
}

pub(super) fn append(document: &mut Document, input: &Brief) {
    let references = input.parts.references.iter();
    let sources =
        grouped(references.filter_map(|view| Some((view.machine.document.as_deref()?, view))));
    let tables = sources.iter().flat_map(|(source, views)| {
        [false, true].map(|reckoned| table(input.run, source, views, reckoned))
    });
    let tables: Vec<Table> = tables.filter(|table| table.columns.len() > 2).collect();
    if tables.is_empty() {
        return;
    }
    document.heading(1, "History: the systems of the documents");
    document.paragraph(
        "Printed results of the same work; those computed from printed ones are in separate tables. Each column has one unit; the run \
         of this report comes first.",
    );
    let figures = [timeline::figure(input), transactions::figure(input)];
    for figure in figures.into_iter().flatten() {
        document.push(Block::Figure(figure));
    }
    tables.into_iter().for_each(|table| document.table(table));
}

/// A row for each system of a document, below that of the run: its printed numbers, or those computed from them.
fn table(run: &RunView, source: &str, views: &[&RunView], reckoned: bool) -> Table {
    let mut columns =
        vec![Column::key("System", Style::Text), Column::new("Operating system", Style::Text)];
    let mut rows =
        vec![Row { cells: vec![Text::new(name(run)), Text::new("this run")], strong: true }];
    rows.extend(views.iter().map(|view| {
        Row::new(vec![Text::new(&view.machine.name), Text::new(&view.machine.system)])
    }));
    for result in &run.results {
        let theirs = |about: Subject| {
            let results = views.iter().map(|view| view.get(&result.id));
            results.map(move |theirs| theirs.filter(|result| result.is_reckoned(about) == reckoned))
        };
        let numbers: Vec<Vec<(f64, String)>> =
            theirs(Subject::Result).map(|result| result.map(values).unwrap_or_default()).collect();
        let value_in = |unit: &str, values: &[(f64, String)]| {
            let found = values.iter().find(|(_, known)| known == unit);
            found.map(|(value, _)| *value)
        };
        let mut ours = values(result).into_iter();
        let shared = ours.find(|(_, unit)| numbers.iter().any(|v| value_in(unit, v).is_some()));
        if let Some((measured, unit)) = shared {
            let head = format!("{}, {}", result.id, number::unit_text(&unit));
            let theirs = numbers.iter().map(|values| value_in(&unit, values)).collect();
            add(&mut columns, &mut rows, head, measured, theirs);
        }
        let faults: Vec<Option<f64>> =
            theirs(Subject::FaultsPerPage).map(|result| result?.faults_per_page()).collect();
        if let Some(measured) = result.faults_per_page()
            && faults.iter().any(Option::is_some)
        {
            let head = format!("{}, page faults per page", result.id);
            add(&mut columns, &mut rows, head, measured, faults);
        }
    }
    let says = |row: &Row| row.strong || row.cells[2..].iter().any(|cell| !cell.is_missing());
    rows.retain(says);
    Table {
        caption: match reckoned {
            true => format!("Computed from results printed in {source}"),
            false => format!("As printed in {source}"),
        }
        .into(),
        columns,
        rows,
    }
}

/// A column: the value of the run, and the printed values of the systems.
fn add(
    columns: &mut Vec<Column>,
    rows: &mut [Row],
    head: String,
    measured: f64,
    theirs: Vec<Option<f64>>,
) {
    columns.push(Column::new(head, Style::Number));
    rows[0].cells.push(Text::new(number::significant(measured, DIGITS)));
    let printed = theirs.iter().flatten();
    let decimals = printed.map(|v| number::printed_decimals(*v)).max();
    let decimals = decimals.unwrap_or(0).min(4);
    for (row, value) in rows[1..].iter_mut().zip(theirs) {
        let shown = value.map(|value| Text::new(number::printed(value, decimals)));
        row.cells.push(shown.unwrap_or_else(Text::missing));
    }
}
