//! The systems of the documents beside this run: a table for each document, one unit a column.

use super::{Brief, name, transactions, years};
use crate::columns::Col;
use crate::document::{Block, Column, Document, Row, Style, Table, Text};
use crate::number;
use gritstone_model::{Id, Measurement, RunView};

/// Digits of a value of this run beside those that were printed.
const DIGITS: i32 = 3;

/// The value that the document tells its readers to look at, and its unit: a time of the reference workload, or the estimate.
pub(super) fn value(result: &Measurement) -> Option<(f64, String)> {
    let published = result.published.as_ref();
    let time = published.and_then(|published| {
        let col = Col::of(published.figure).unwrap_or(Col::Real);
        let real = || Col::Real.time(published);
        col.time(published).or_else(real)
    });
    let estimate = || Some((result.value()?, result.unit.to_string()));
    time.map(|time| (time.value, "s".to_owned()))
        .or_else(estimate)
}

pub(super) fn append(document: &mut Document, input: &Brief) {
    let mut sources: Vec<(&str, Vec<&RunView>)> = vec![];
    for view in input.references {
        let Some(source) = view.machine.document.as_deref() else {
            continue;
        };
        match sources.iter_mut().find(|(known, _)| *known == source) {
            Some((_, views)) => views.push(view),
            None => sources.push((source, vec![view])),
        }
    }
    let tables = sources
        .iter()
        .map(|(source, views)| table(input.run, source, views));
    let tables: Vec<Table> = tables.filter(|table| table.columns.len() > 2).collect();
    if tables.is_empty() {
        return;
    }
    document.heading(1, "History: the systems of the documents");
    document.paragraph(
        "What documents of the time printed for the same work, as they printed it. Each column has one unit; the run of this \
         report comes first.",
    );
    let figures = [years::figure(input), transactions::figure(input)];
    for figure in figures.into_iter().flatten() {
        document.push(Block::Figure(figure));
    }
    tables.into_iter().for_each(|table| document.table(table));
}

/// A row for each system that a document has, below that of the run.
fn table(run: &RunView, source: &str, views: &[&RunView]) -> Table {
    let printed = |id: &Id| {
        views
            .iter()
            .any(|view| view.get(id).and_then(value).is_some())
    };
    let shared = run.results.iter().filter(|result| printed(&result.id));
    let shared: Vec<&Measurement> = shared.filter(|r| value(r).is_some()).collect();
    let mut columns = vec![
        Column::key("System", Style::Text),
        Column::new("Operating system", Style::Text),
    ];
    let mut rows = vec![Row {
        cells: vec![Text::new(name(run)), Text::new("this run")],
        strong: true,
    }];
    rows.extend(views.iter().map(|view| {
        Row::new(vec![
            Text::new(&view.machine.name),
            Text::new(&view.machine.system),
        ])
    }));
    for result in shared {
        let Some((own, unit)) = value(result) else {
            continue;
        };
        let head = format!("{}, {}", result.id, number::unit_text(&unit));
        let theirs = |view: &&RunView| value(view.get(&result.id)?).filter(|(_, of)| *of == unit);
        let theirs = views.iter().map(|v| Some(theirs(v)?.0)).collect();
        add(&mut columns, &mut rows, head, own, theirs);
        let faults = |view: &&RunView| view.get(&result.id)?.faults_per_page;
        let theirs: Vec<Option<f64>> = views.iter().map(faults).collect();
        if let Some(own) = result.faults_per_page
            && theirs.iter().any(Option::is_some)
        {
            let head = format!("{}, page faults per page", result.id);
            add(&mut columns, &mut rows, head, own, theirs);
        }
    }
    let says = |row: &Row| row.strong || row.cells[2..].iter().any(|cell| !cell.is_missing());
    rows.retain(says);
    Table {
        caption: format!("As printed in {source}").into(),
        columns,
        rows,
    }
}

/// A column: the value of the run, and those of the systems as they were printed.
fn add(
    columns: &mut Vec<Column>,
    rows: &mut [Row],
    head: String,
    own: f64,
    theirs: Vec<Option<f64>>,
) {
    columns.push(Column::new(head, Style::Number));
    rows[0]
        .cells
        .push(Text::new(number::significant(own, DIGITS)));
    let printed = theirs.iter().flatten();
    let decimals = printed.map(|v| number::printed_decimals(*v)).max();
    let decimals = decimals.unwrap_or(0).min(4);
    for (row, value) in rows[1..].iter_mut().zip(theirs) {
        let shown = value.map(|value| Text::new(number::printed(value, decimals)));
        row.cells.push(shown.unwrap_or_else(Text::missing));
    }
}
