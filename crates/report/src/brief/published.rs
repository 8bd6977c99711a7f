//! Tables in the manner of the documents: one row a machine, this one on top; the times of each benchmark side by side.
//!
//! There is a table for each document. A benchmark has those columns that the document printed for any machine; one
//! that it did not print is not in its table. A table that would be too wide for a page is continued below.

use super::curve::Curve;
use super::{Across, Brief, cell};
use crate::columns::{self, Col};
use crate::document::{Column, Document, Row, Style, Table, Text};
use crate::{number, words};
use gritstone_model::{Estimate, Id, Measurement, Note, RunView, Subject};

/// Columns of numbers that a page has room for.
const WIDEST: usize = 11;

/// A benchmark in the table of a document.
struct Group<'a> {
    id: &'a Id,
    title: &'a str,
    /// The times that the document printed for it.
    times: Vec<(Col, usize)>,
    /// Whether it printed a rate or a time for one operation.
    estimate: bool,
    /// Whether its text tells how many pages a fault brought in.
    faults: bool,
}

impl Group<'_> {
    fn width(&self) -> usize {
        self.times.len() + usize::from(self.estimate) + usize::from(self.faults)
    }
}

/// The tables of a family, for every document that printed any of these results.
pub(super) fn tables(
    document: &mut Document,
    input: &Brief,
    rows: &[Across],
    curves: &[Curve],
) -> Vec<Table> {
    let alone: Vec<&Measurement> = rows
        .iter()
        .filter(|r| !curves.iter().any(|c| c.holds(r.id)))
        .map(Across::any)
        .collect();
    let mut sources: Vec<&str> = Vec::new();
    for name in input
        .references
        .iter()
        .filter_map(|r| r.machine.document.as_deref())
    {
        if !sources.contains(&name) {
            sources.push(name);
        }
    }
    let mut tables = Vec::new();
    for source in sources {
        let of = |r: &&RunView| r.machine.document.as_deref() == Some(source);
        let machines: Vec<&RunView> = input.references.iter().filter(of).collect();
        let groups: Vec<Group> = alone.iter().filter_map(|r| group(r, &machines)).collect();
        for (part, groups) in parts(groups).into_iter().enumerate() {
            let continued = if part > 0 { ", continued" } else { "" };
            let caption = format!(
                "Beside the machines of {source}{continued} (the published work, in seconds unless a cell says otherwise)"
            );
            tables.push(table(document, input, &machines, &groups, caption));
        }
    }
    tables
}

/// What the document printed for a benchmark; `None` when nothing.
fn group<'a>(result: &'a Measurement, machines: &[&'a RunView]) -> Option<Group<'a>> {
    let printed: Vec<&Measurement> = machines
        .iter()
        .filter_map(|m| find(m, &result.id))
        .collect();
    let times = [Col::Real, Col::User, Col::System, Col::Cpu]
        .into_iter()
        .filter(|col| {
            printed
                .iter()
                .any(|r| r.published.as_ref().is_some_and(|p| col.time(p).is_some()))
        })
        .map(|col| {
            let decimals = col.printed_decimals(printed.iter().copied());
            (col, decimals)
        })
        .collect();
    let group = Group {
        id: &result.id,
        title: &result.title,
        times,
        estimate: printed.iter().any(|r| r.estimate.is_some()),
        faults: printed.iter().any(|r| r.faults_per_page.is_some()),
    };
    (group.width() > 0).then_some(group)
}

/// Groups that fit a page together.
fn parts(groups: Vec<Group>) -> Vec<Vec<Group>> {
    let all: usize = groups.iter().map(Group::width).sum();
    // parts of about the same width look better than full ones and a rest
    let share = all.div_ceil(all.div_ceil(WIDEST).max(1));
    let mut parts: Vec<Vec<Group>> = Vec::new();
    let mut width = 0;
    for group in groups {
        let wider = width + group.width();
        match parts.last_mut() {
            Some(part) if wider <= WIDEST && width < share => {
                width = wider;
                part.push(group);
            }
            _ => {
                width = group.width();
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
        for (col, _) in &group.times {
            let head = match col {
                Col::Real => "real",
                Col::User => "user",
                Col::Cpu => "cpu",
                _ => "sys",
            };
            columns.push(Column::new(head, Style::Number).of(group.title));
        }
        if group.estimate {
            columns.push(Column::new("figure", Style::Number).of(group.title));
        }
        if group.faults {
            columns.push(Column::new("faults a page", Style::Number).of(group.title));
        }
    }
    let mut rows = Vec::new();
    for (at, run) in input.runs.iter().enumerate() {
        rows.push(Row {
            strong: true,
            ..row(document, run, &input.name(at), groups)
        });
    }
    for machine in machines {
        if groups.iter().any(|g| find(machine, g.id).is_some()) {
            rows.push(row(document, machine, &machine.machine.name, groups));
        }
    }
    Table {
        caption: caption.into(),
        columns,
        rows,
    }
}

fn row(document: &mut Document, view: &RunView, name: &str, groups: &[Group]) -> Row {
    let system = words::short_system(&view.machine.system);
    let mut cells = vec![Text::new(name), Text::new(system)];
    for group in groups {
        let result = find(view, group.id);
        let mut made = cells_of(result, group);
        for note in result.map_or(&[][..], |r| &r.notes) {
            if let Some(at) = place(result, note, group) {
                let id = document.note(note);
                made[at] = std::mem::take(&mut made[at]).with([id]);
            }
        }
        cells.extend(made);
    }
    Row::new(cells)
}

fn cells_of(result: Option<&Measurement>, group: &Group) -> Vec<Text> {
    let time = |(col, decimals): &(Col, usize)| {
        let result = result?;
        let published = result.published.as_ref()?;
        let Estimate { value, interval } = col.time(published)?;
        Some(if result.is_published() {
            number::printed(value, *decimals)
        } else {
            number::seconds(value, interval)
        })
    };
    let mut cells: Vec<Text> = group.times.iter().map(|t| cell(time(t))).collect();
    if group.estimate {
        let figure = result
            .filter(|r| r.estimate.is_some())
            .map(columns::figure_with_unit);
        cells.push(cell(figure));
    }
    if group.faults {
        let faults = result.and_then(|r| r.faults_per_page);
        cells.push(cell(faults.map(columns::faults)));
    }
    cells
}

/// The cell of a footnote. One of this machine on a time that the document did not print is in the table of this
/// machine's own figures; one of a machine of a document has no other place, and stands at the first cell.
fn place(result: Option<&Measurement>, note: &Note, group: &Group) -> Option<usize> {
    let result = result?;
    let at = |subject: Subject| {
        let wanted = Col::of(subject)?;
        group.times.iter().position(|(col, _)| *col == wanted)
    };
    let told = || result.published.as_ref().and_then(|p| at(p.figure));
    match note.about {
        Subject::Estimate | Subject::Result if group.estimate && result.estimate.is_some() => {
            Some(group.times.len())
        }
        Subject::Estimate | Subject::Result => told().or(Some(0)),
        Subject::FaultsPerPage if group.faults => Some(group.width() - 1),
        about => at(about).or(result.is_published().then_some(0)),
    }
}

fn find<'a>(view: &'a RunView, id: &Id) -> Option<&'a Measurement> {
    view.get(id)
}
