//! What is shipped, document by document: counts, control totals that were added up from the scans by a script and
//! not from these files, and what the documents themselves say about their figures. A wrong cell fails one of them.
//!
//! Must not know: the shape of the files.

mod byte;
mod hp;
mod login;
mod others;
mod realtime;

use gritstone_model::{Flag, Note};
use gritstone_references::{Cell, References, all};

fn shipped() -> References {
    all().expect("the shipped files are sound")
}

fn table<'a>(references: &'a References, document: &str, place: &str) -> Vec<&'a Cell> {
    let cells: Vec<_> = references
        .cells
        .iter()
        .filter(|cell| cell.document == document && cell.place == place)
        .collect();
    assert!(!cells.is_empty(), "{document}, {place}");
    cells
}

fn cell<'a>(cells: &[&'a Cell], machine: &str, benchmark: &str) -> &'a Cell {
    let mut found = cells
        .iter()
        .filter(|cell| cell.machine == machine && cell.benchmark.as_str() == benchmark);
    let one = found
        .next()
        .unwrap_or_else(|| panic!("{machine} {benchmark}"));
    assert!(found.next().is_none(), "{machine} {benchmark} twice");
    one
}

/// Machines in the order of the rows.
fn rows(cells: &[&Cell]) -> Vec<String> {
    let mut rows: Vec<String> = cells.iter().map(|cell| cell.machine.clone()).collect();
    rows.dedup();
    rows
}

fn three(cell: &Cell) -> [Option<f64>; 3] {
    [cell.seconds.real, cell.seconds.user, cell.seconds.system]
}

/// Every number of a cell.
fn figures(cell: &Cell) -> impl Iterator<Item = f64> {
    let printed = cell.distribution.as_ref();
    let statistics = [
        printed.map(|d| d.min),
        printed.map(|d| d.median),
        printed.and_then(|d| d.mean),
        printed.map(|d| d.max),
    ];
    let value = cell.value.as_ref().map(|value| value.value);
    let mut all = vec![value, cell.seconds.cpu];
    all.extend(three(cell));
    all.extend(statistics);
    all.into_iter().flatten()
}

fn tenths(seconds: f64) -> i64 {
    (seconds * 10.0).round() as i64
}

/// Sums of real, user and system time over cells, in tenths of a second.
fn totals<'a>(cells: impl Iterator<Item = &'a &'a Cell>) -> [i64; 3] {
    cells.fold([0; 3], |mut sums, cell| {
        for (sum, seconds) in sums.iter_mut().zip(three(cell)) {
            *sum += seconds.map_or(0, tenths);
        }
        sums
    })
}

fn doubts(cell: &Cell) -> impl Iterator<Item = &Note> {
    cell.notes
        .iter()
        .filter(|footnote| footnote.flag() == Some(Flag::Doubtful))
}

fn doubted(cell: &Cell) -> bool {
    doubts(cell).next().is_some()
}

fn assert_sorted(machines: &[String], figure: impl Fn(&str) -> Option<f64>) {
    let figures: Vec<f64> = machines
        .iter()
        .filter_map(|machine| figure(machine))
        .collect();
    assert!(figures.len() > 10 && figures.is_sorted(), "{figures:?}");
}

#[test]
fn five_documents_and_no_figure_without_a_place() {
    let references = shipped();
    let documents: Vec<_> = references
        .documents
        .iter()
        .map(|document| {
            (
                document.name.as_str(),
                document.date.as_str(),
                document.year,
            )
        })
        .collect();
    assert_eq!(
        documents,
        [
            ("byte-1984", "1984-08", 1984),
            ("hp-1987", "1987-05", 1987),
            ("iocall-1985", "1985-12-02", 1985),
            ("login-1982", "1982-11", 1982),
            ("weekly-1984", "1984-11-16", 1984),
        ]
    );
    let count = |document: &str| {
        let ours = |of: &str| of == document;
        let machines = references
            .machines
            .iter()
            .filter(|machine| machine.document.as_deref().is_some_and(ours))
            .count();
        let cells = || references.cells.iter().filter(|cell| ours(&cell.document));
        let figures = cells().flat_map(figures).count();
        let missing = cells().filter(|cell| cell.is_missing()).count();
        (machines, cells().count(), figures, missing)
    };
    // machines, cells, figures, cells without one
    assert_eq!(count("byte-1984"), (15, 120 + 90, 268 + 74, 2 + 16));
    assert_eq!(count("hp-1987"), (6, 630 + 3 * 15 + 3, 1075 + 48, 12));
    assert_eq!(count("login-1982"), (3, 15, 20, 2));
    assert_eq!(count("iocall-1985"), (1, 1, 1, 0));
    assert_eq!(count("weekly-1984"), (6, 18, 16, 3));
}

#[test]
fn every_missing_figure_has_a_reason_and_every_doubt_too() {
    for cell in &shipped().cells {
        let at = format!("{} {}", cell.machine, cell.benchmark);
        if cell.is_missing() {
            assert!(!cell.notes.is_empty(), "{at}");
        }
        for footnote in &cell.notes {
            assert!(
                crate::text(footnote).len() > 20 && crate::text(footnote).contains(' '),
                "{at}"
            );
        }
    }
}

/// README.md gives the reasoning for each; the number here is the number there.
#[test]
fn every_doubt_has_its_reasoning() {
    let references = shipped();
    let readme = include_str!("../../../README.md");
    let mut doubtful = 0;
    for cell in references.cells.iter().filter(|cell| doubted(cell)) {
        let row = format!("| {} | {} |", cell.machine, cell.benchmark);
        assert!(readme.contains(&row), "README.md has no line '{row}'");
        doubtful += 1;
    }
    let lines = readme.lines().filter(|line| {
        references
            .machines
            .iter()
            .any(|machine| line.starts_with(&format!("| {} |", machine.id)))
    });
    let missing = references
        .cells
        .iter()
        .filter(|cell| cell.is_missing())
        .count();
    assert!(doubtful > 0 && missing > 0);
    assert_eq!(
        lines.count(),
        doubtful,
        "a line of README.md is about no doubt"
    );
}
