//! Lists as documents: runs, systems, benchmarks, machines, missing programs.

use crate::table::{Cell, Columns};
use crate::words;
use gritstone_document::{About, Column, Document, Row, Style, Table, Text, number};
use gritstone_model::{CustomCatalog, ListedRun, ListedSystem};

/// A document of one table; the first column names the row.
pub fn table<const N: usize>(
    title: &str,
    columns: [impl Into<Column>; N],
    rows: Vec<[String; N]>,
) -> Document {
    let mut document = Document::new(title);
    if rows.is_empty() {
        document.paragraph("There is nothing to list.");
    }
    append(&mut document, "", columns, rows);
    document
}

/// Appends a table with a caption to a document, without empty columns; nothing without rows.
pub fn append<const N: usize>(
    document: &mut Document,
    caption: &str,
    columns: [impl Into<Column>; N],
    rows: Vec<[String; N]>,
) {
    let columns =
        columns.into_iter().enumerate().map(|(i, column)| Column { key: i == 0, ..column.into() });
    let rows = rows.into_iter();
    let table = Table {
        caption: caption.into(),
        columns: columns.collect(),
        rows: rows.map(|cells| Row::new(cells.map(Text::new).into())).collect(),
    };
    document.table(table.without_empty_columns());
}

/// The runs as a list.
pub fn runs(runs: &[ListedRun]) -> Document {
    let mut document = Document::default();
    if runs.is_empty() {
        document.paragraph("There is nothing to list.");
    }
    append_runs(&mut document, "", runs);
    document
}

pub fn append_runs(document: &mut Document, caption: &str, runs: &[ListedRun]) {
    let key = Column { key: true, ..Column::new("id", Style::Code) };
    let id = |run: &&ListedRun| Cell::from(run.id.as_str()).about(About::Run(run.id.clone()));
    let kind = |run: &&ListedRun| {
        let text = match (run.elapsed_s, &run.pruned) {
            (Some(_), None) => run.kind.clone(),
            (Some(_), Some(_)) => format!("{}, pruned", run.kind),
            (None, _) => match run.measuring {
                Some(true) => format!("{}, measuring", run.kind),
                Some(false) => format!("{}, interrupted", run.kind),
                None => format!("{}, not ended", run.kind),
            },
        };
        Cell::from(text).about((run.kind == "ab").then(|| About::Trial(run.id.clone())))
    };
    Columns::<&ListedRun>::new(key, id)
        .column(Column::new("date (UTC)", Style::Code), |run| words::minute(&run.started))
        .text("label", |run| run.label.clone())
        .number("benchmarks", |run| run.benchmarks.to_string())
        .text("kind", kind)
        .text("machine", |run| Cell::system(&run.machine, &run.machine_id))
        .table(document, caption, runs);
}

pub fn append_systems(document: &mut Document, systems: &[ListedSystem]) {
    let name = |system: &&ListedSystem| Cell::system(&system.name, &system.id);
    let reliability = |system: &&ListedSystem| {
        let word = system.reliability.map(|word| word.as_str().to_owned());
        Cell::from(word).toned(system.reliability.map(words::tone))
    };
    Columns::<&ListedSystem>::key("System", Style::Text, name)
        .number("Runs", |system| system.runs)
        .column(Column::new("Newest run", Style::Code), |system| Cell::run(&system.newest))
        .column(Column::new("Date (UTC)", Style::Code), |system| words::minute(&system.started))
        .text("Reliability", reliability)
        .number("Contention", |system| {
            let slowdown = system.contention.as_ref()?.slowdown;
            Some(number::percent(slowdown))
        })
        .number("Steal", |system| system.contention.as_ref()?.steal.map(number::percent))
        .text("Operating system", |system| system.system.as_str())
        .table(document, "Systems, that with the newest run first", systems);
}

/// Adds a footnote for custom benchmarks, in a document whose tables have none.
pub(crate) fn not_ours(document: &mut Document, catalog: Option<&CustomCatalog>) {
    if let Some(catalog) = catalog {
        document.paragraph(format!(
            "◊ Not benchmarks of Gritstone: those of the family {}, of the catalog {}.",
            words::join(&catalog.families),
            catalog.named()
        ));
    }
}
