//! Tables in the manner of the documents: one row a machine, this one on top; the times of each benchmark side by side.
//!
//! There is a table for each document. A benchmark has those columns that the document printed for any machine; one
//! that it did not print is not in its table. A table that would be too wide for a page is continued below.

use super::curve::Curve;
use super::{Across, Brief, cell, grouped};
use crate::columns::{self, Col};
use crate::document::{Column, Document, Row, Style, Table, Text};
use crate::{number, words};
use gritstone_model::{Estimate, Id, Measurement, Note, RunView, Subject};

/// Columns of numbers that a page has room for.
const WIDEST: usize = 11;

/// What a document may have printed of a benchmark, and the heads of these columns: times; a rate or a time for one operation;
/// how many pages a fault brought in.
const COLS: [(Col, &str); 6] = [
    (Col::Real, "real"),
    (Col::User, "user"),
    (Col::System, "sys"),
    (Col::Cpu, "cpu"),
    (Col::Figure, "figure"),
    (Col::Faults, "faults a page"),
];

/// A benchmark in the table of a document.
struct Group<'a> {
    id: &'a Id,
    title: &'a str,
    /// What the document printed for it: column, head, and decimals of a time.
    cols: Vec<(Col, &'static str, usize)>,
}

/// Adds the tables of a family, for every document that printed any of these results.
pub(super) fn tables(document: &mut Document, input: &Brief, rows: &[Across], curves: &[Curve]) {
    let alone = |row: &&Across| !curves.iter().any(|curve| curve.holds(row.id));
    let alone: Vec<&Measurement> = rows.iter().filter(alone).map(|row| row.any).collect();
    let views = input.references.iter();
    let sources = views.filter_map(|view| Some((view.machine.document.as_deref()?, view)));
    for (source, machines) in grouped(sources) {
        let groups = alone.iter().filter_map(|result| group(result, &machines));
        for (part, groups) in parts(groups.collect()).iter().enumerate() {
            let continued = if part > 0 { ", continued" } else { "" };
            let caption = format!(
                "Beside the machines of {source}{continued} (the published work, in seconds unless a cell says otherwise)"
            );
            let table = table(document, input, &machines, groups, caption);
            document.table(table);
        }
    }
}

/// What the document printed for a benchmark; `None` when nothing.
fn group<'a>(result: &'a Measurement, machines: &[&RunView]) -> Option<Group<'a>> {
    let results = machines
        .iter()
        .filter_map(|machine| machine.get(&result.id));
    let printed: Vec<&Measurement> = results.collect();
    let has = |col: &Col, r: &Measurement| match col {
        Col::Figure => r.estimate.is_some(),
        Col::Faults => r.faults_per_page.is_some(),
        time => r.published.as_ref().is_some_and(|p| time.time(p).is_some()),
    };
    let cols = COLS
        .into_iter()
        .filter(|(col, _)| printed.iter().any(|r| has(col, r)))
        .map(|(col, head)| {
            let decimals = col.printed_decimals(printed.iter().copied());
            (col, head, decimals)
        });
    let group = Group {
        id: &result.id,
        title: &result.title,
        cols: cols.collect(),
    };
    (!group.cols.is_empty()).then_some(group)
}

/// Groups that fit a page together.
fn parts(groups: Vec<Group>) -> Vec<Vec<Group>> {
    let all: usize = groups.iter().map(|group| group.cols.len()).sum();
    // parts of about the same width look better than full ones and a rest
    let share = all.div_ceil(all.div_ceil(WIDEST).max(1));
    let mut parts: Vec<Vec<Group>> = Vec::new();
    let mut width = 0;
    for group in groups {
        let wider = width + group.cols.len();
        match parts.last_mut() {
            Some(part) if wider <= WIDEST && width < share => {
                width = wider;
                part.push(group);
            }
            _ => {
                width = group.cols.len();
                parts.push(vec![group]);
            }
        }
    }
    parts
}

fn table(
    document: &mut Document,
    input: &Brief,
    machines: &[&RunView],
    groups: &[Group],
    caption: String,
) -> Table {
    let mut columns = vec![
        Column::key("Machine", Style::Text),
        Column::key("System", Style::Text),
    ];
    for group in groups {
        let heads = group.cols.iter();
        columns.extend(heads.map(|(_, head, _)| Column::new(*head, Style::Number).of(group.title)));
    }
    let mut rows = Vec::new();
    for (at, run) in input.runs.iter().enumerate() {
        rows.push(row(document, run, &input.name(at), true, groups));
    }
    for machine in machines {
        if groups.iter().any(|group| machine.get(group.id).is_some()) {
            rows.push(row(document, machine, &machine.machine.name, false, groups));
        }
    }
    Table {
        caption: caption.into(),
        columns,
        rows,
    }
}

fn row(document: &mut Document, view: &RunView, name: &str, strong: bool, groups: &[Group]) -> Row {
    let system = words::short_system(&view.machine.system);
    let mut cells = vec![Text::new(name), Text::new(system)];
    for group in groups {
        let first = cells.len();
        let Some(result) = view.get(group.id) else {
            cells.extend(group.cols.iter().map(|_| Text::missing()));
            continue;
        };
        let shown = |(col, _, decimals): &(Col, _, usize)| cell(shown(result, col, *decimals));
        cells.extend(group.cols.iter().map(shown));
        for note in &result.notes {
            if let Some(at) = place(result, note, group) {
                let cell = &mut cells[first + at];
                *cell = std::mem::take(cell).with([document.note(note)]);
            }
        }
    }
    Row { cells, strong }
}

fn shown(result: &Measurement, col: &Col, decimals: usize) -> Option<String> {
    match col {
        Col::Figure => result.estimate.map(|_| columns::figure_with_unit(result)),
        Col::Faults => result.faults_per_page.map(columns::faults),
        time => {
            let Estimate { value, interval } = time.time(result.published.as_ref()?)?;
            Some(match result.is_published() {
                true => number::printed(value, decimals),
                false => number::seconds(value, interval),
            })
        }
    }
}

/// The cell of a footnote. One of this machine on a time that the document did not print is in the table of this
/// machine's own figures; one of a machine of a document has no other place, and stands at the first cell.
fn place(result: &Measurement, note: &Note, group: &Group) -> Option<usize> {
    let find = |wanted: Col| group.cols.iter().position(|(col, ..)| *col == wanted);
    let of = |subject: Subject| Col::of(subject).and_then(find);
    match note.about {
        Subject::Estimate | Subject::Result => {
            let figure = result.estimate.and_then(|_| find(Col::Figure));
            let told = || result.published.as_ref().and_then(|p| of(p.figure));
            figure.or_else(told).or(Some(0))
        }
        about => of(about).or(result.is_published().then_some(0)),
    }
}
