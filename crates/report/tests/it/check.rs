//! Gates as a terminal prints them.

use crate::sample;
use gritstone_document::terminal;
use gritstone_model::*;
use gritstone_report::{Detail, check};

fn row(outcome: CheckOutcome, mut row: CompareRow) -> CheckRow {
    row.p_adjusted = row.interval.map(|_| 0.0123);
    row.smallest = row.ratio.map(|_| 0.031);
    CheckRow::new(outcome, row)
}

/// Rows of a comparison, held against a slowdown of 2%.
fn view() -> CheckView {
    use CheckOutcome::{Inconclusive, Passed, Regressed};
    let compared = sample::compare();
    let find = |title: &str| {
        let mut rows = compared.rows.iter();
        rows.find(|row| row.title == title).unwrap().clone()
    };
    let why = "2 earlier runs of the same kind; 3 are needed.";
    let mut unheld = find("Compiling");
    unheld.notes = vec![sample::stated(Some(Flag::NotComparable), why)];
    CheckView {
        schema: SCHEMA_CHECK.to_owned(),
        base: "its history".to_owned(),
        run: "20260102T030405Z-5f3a".to_owned(),
        max_slowdown: 0.02,
        detect: None,
        differ_in: vec![],
        common: None,
        outcome: Regressed,
        rows: vec![
            row(Regressed, find("Shortest program")),
            row(Regressed, find("System call")),
            row(Inconclusive, find("Shell script")),
            row(Inconclusive, unheld),
            row(Passed, find("Sieve")),
            row(Passed, find("Pipe")),
        ],
        missing: vec![MissingBenchmark {
            id: Id::parse("byte/grep").unwrap(),
            runs: 11,
            notes: vec![sample::stated(Some(Flag::Skipped), "grep is not installed.")],
        }],
    }
}

#[test]
fn a_gate_that_found_something() {
    let look = terminal::Look::plain(120);
    let text = terminal::render(&check(&view(), Detail::Results), look);
    assert!(text.lines().count() <= 15, "{text}");
    insta::assert_snapshot!(text);
    let all = terminal::render(&check(&view(), Detail::Columns), look);
    insta::assert_snapshot!("a_gate_with_all_benchmarks", all);
}
