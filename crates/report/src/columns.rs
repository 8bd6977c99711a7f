//! Tables of results: which columns there are, what stands in their cells, and where footnotes go.
//!
//! Every table of results is made here, so that a figure looks the same wherever it stands and no footnote is
//! lost: a footnote goes to the cell of the figure that it names, and to the row's name where the table has no such cell.

mod cells;

use crate::document::{Column, Document, Row, Table, Text};
pub(crate) use cells::{faults, figure_with_unit, percentiles, precision};
use gritstone_model::{Measurement, Note, PublishedView, Subject};

/// A column of a table of results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Col {
    Id,
    Title,
    Figure,
    WithUnit,
    Unit,
    Interval,
    PlusMinus,
    Launches,
    Samples,
    Cycles,
    Ghz,
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

/// What to do with a footnote on a figure that the table does not show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strays {
    /// It stands at the name of the row.
    AtTheName,
    /// Another table of the same section shows the published work, and has it.
    PublishedElsewhere,
}

/// A table of results, without the columns that say nothing.
pub(crate) fn table(
    document: &mut Document,
    caption: impl Into<Text>,
    results: &[&Measurement],
    cols: &[Col],
    strays: Strays,
) -> Table {
    let rows = results
        .iter()
        .map(|result| row(document, results, result, cols, strays))
        .collect();
    Table {
        caption: caption.into(),
        columns: cols.iter().map(|col| col.head(results)).collect(),
        rows,
    }
    .without_empty_columns()
}

/// Rows of several machines beside each other.
pub(crate) struct Beside<'a> {
    /// What the table shows.
    pub caption: &'a str,
    /// The machines.
    pub names: &'a [String],
    /// One result for each machine that has it; one has it at least.
    pub rows: &'a [&'a [Option<&'a Measurement>]],
    /// What is shown of each.
    pub cols: &'a [Col],
}

/// A row a benchmark, and the columns once for each machine, without those that say nothing. A footnote on a figure that is not
/// shown stands at the first one that is.
pub(crate) fn beside(document: &mut Document, input: &Beside) -> Table {
    let all: Vec<&Measurement> = input
        .rows
        .iter()
        .flat_map(|r| r.iter().flatten().copied())
        .collect();
    let mut columns = vec![Col::Id.head(&all), Col::Title.head(&all)];
    for name in input.names {
        let head = |col: &Col| Column {
            group: Some(name.clone()),
            ..col.head(&all)
        };
        columns.extend(input.cols.iter().map(head));
    }
    let mut rows = Vec::new();
    for row in input.rows {
        let Some(any) = row.iter().flatten().next() else {
            continue;
        };
        let mut cells = vec![Col::Id.cell(any, &all), Col::Title.cell(any, &all)];
        for result in *row {
            match result {
                Some(result) => cells
                    .extend(self::row(document, &all, result, input.cols, Strays::AtTheName).cells),
                None => cells.extend(input.cols.iter().map(|_| Text::missing())),
            }
        }
        rows.push(Row::new(cells));
    }
    Table {
        caption: input.caption.into(),
        columns,
        rows,
    }
    .without_empty_columns()
}

fn row(
    document: &mut Document,
    all: &[&Measurement],
    result: &Measurement,
    cols: &[Col],
    strays: Strays,
) -> Row {
    let mut cells: Vec<Text> = cols.iter().map(|col| col.cell(result, all)).collect();
    for note in &result.notes {
        let at = match place(result, note, cols) {
            Some(at) => at,
            None if elsewhere(result, note, strays) => continue,
            None => cols.iter().position(Col::is_key).unwrap_or(0),
        };
        let id = document.note(note);
        cells[at] = std::mem::take(&mut cells[at]).with([id]);
    }
    Row::new(cells)
}

fn elsewhere(result: &Measurement, note: &Note, strays: Strays) -> bool {
    strays == Strays::PublishedElsewhere
        && result.published.is_some()
        && Col::of(note.about).is_some_and(|col| col.is_published())
}

/// The column to which a footnote belongs.
fn place(result: &Measurement, note: &Note, cols: &[Col]) -> Option<usize> {
    let find = |wanted: &Col| {
        let same = |col: &Col| col == wanted || (*wanted == Col::Figure && *col == Col::WithUnit);
        cols.iter().position(same)
    };
    let told = |p: &PublishedView| Col::of(p.figure).and_then(|col| find(&col));
    match note.about {
        Subject::Result | Subject::Estimate => {
            let published = || result.published.as_ref().and_then(told);
            if result.estimate.is_none() && result.is_published() {
                published().or_else(|| find(&Col::Figure))
            } else {
                find(&Col::Figure)
                    .or_else(published)
                    .or_else(|| find(&Col::Median))
            }
        }
        about => Col::of(about).and_then(|col| find(&col)),
    }
}
