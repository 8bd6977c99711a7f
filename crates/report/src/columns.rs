//! Tables of results: columns, cells, and placement of notes.
//!
//! All tables of results are made here, so that a result looks the same everywhere and no note is lost: a note is placed at the cell that
//! it concerns, or at the benchmark's name if the table has no such cell.

mod cells;

use crate::findings;
pub(crate) use cells::{figure, figure_with_unit, percentiles, precision};
use gritstone_document::{Document, Row, Table, Text};
use gritstone_model::{Measurement, Note};

/// A column of a table of results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Col {
    Id,
    Title,
    Figure,
    WithUnit,
    Unit,
    Interval,
    Bounds,
    PlusMinus,
    Launches,
    Samples,
    Cycles,
    Ghz,
    OfRuns,
    Work,
    Real,
    RealInterval,
    User,
    System,
    Cpu,
    Process,
    StartShare,
    Faults,
    Precision,
    Sd,
    Drift,
    Modes,
    Min,
    Median,
    Mean,
    Max,
    Percentile(String),
}

/// Placement of a note on a quantity that the table does not show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strays {
    /// At the name of the benchmark.
    AtTheName,
    /// Omitted: another table of the same section shows the reference workload with it.
    PublishedElsewhere,
}

/// A table of results, without empty columns.
pub(crate) fn table(
    document: &mut Document,
    caption: impl Into<Text>,
    results: &[&Measurement],
    cols: &[Col],
    strays: Strays,
) -> Table {
    let rows = results.iter();
    let rows = rows.map(|result| Row::new(cells(document, results, result, cols, strays)));
    Table {
        caption: caption.into(),
        rows: rows.collect(),
        columns: cols.iter().map(|col| col.head(results)).collect(),
    }
    .without_empty_columns()
}

fn cells(
    document: &mut Document,
    all: &[&Measurement],
    result: &Measurement,
    cols: &[Col],
    strays: Strays,
) -> Vec<Text> {
    let mut cells: Vec<Text> = cols.iter().map(|col| col.cell(result, all)).collect();
    for note in &result.notes {
        let published =
            || result.published.is_some() && Col::for_subject(note.about).is_some_and(is_time);
        let index = match place(result, note, cols) {
            Some(index) => index,
            None if strays == Strays::PublishedElsewhere && published() => continue,
            None => cols.iter().position(|col| *col == Col::Id).unwrap_or(0),
        };
        let id = findings::footnote(document, note);
        cells[index] = std::mem::take(&mut cells[index]).with([id]);
    }
    cells
}

/// Whether the column is of the reference workload.
fn is_time(col: Col) -> bool {
    use Col::{Cpu, Faults, Process, Real, System, User};
    matches!(col, Real | User | System | Cpu | Process | Faults)
}

/// The column of a note.
fn place(result: &Measurement, note: &Note, cols: &[Col]) -> Option<usize> {
    let find = |wanted: Col| cols.iter().position(|col| *col == wanted);
    let figure = || find(Col::Figure).or_else(|| find(Col::WithUnit));
    let published = || find(Col::for_subject(result.published.as_ref()?.figure)?);
    if let Some(col) = Col::for_subject(note.about) {
        return find(col);
    }
    match result.estimate().is_none() && result.is_published() {
        true => published().or_else(figure),
        false => figure().or_else(published).or_else(|| find(Col::Median)),
    }
}
