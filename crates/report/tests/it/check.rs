//! Gates as a terminal prints them.
//!
//! Must not know: how documents are made, how a gate decides.

use crate::sample;
use gritstone_model::*;
use gritstone_report::{check, terminal};

fn row(outcome: CheckOutcome, mut row: CompareRow) -> CheckRow {
    row.p_adjusted = row.interval.map(|_| 0.0123);
    CheckRow { outcome, row }
}

/// Rows of a comparison, held against a slowdown of 2 %.
fn view() -> CheckView {
    use CheckOutcome::{Inconclusive, Passed, Regressed};
    let compared = sample::compare();
    let of = |title: &str| {
        let mut rows = compared.rows.iter();
        rows.find(|row| row.title == title).unwrap().clone()
    };
    let mut unheld = of("Compiling");
    unheld.notes = vec![sample::stated(
        Some(Flag::NotComparable),
        "4 earlier runs like it since the last change, and 5 are needed.",
    )];
    CheckView {
        schema: SCHEMA_CHECK.to_owned(),
        base: "its history".to_owned(),
        run: "20260102T030405Z-5f3a".to_owned(),
        max_slowdown: 0.02,
        differ_in: vec![],
        outcome: Regressed,
        rows: vec![
            row(Regressed, of("Shortest program")),
            row(Regressed, of("System call")),
            row(Inconclusive, of("Shell script")),
            row(Inconclusive, unheld),
            row(Passed, of("Sieve")),
            row(Passed, of("Pipe")),
        ],
    }
}

fn text(view: &CheckView) -> String {
    terminal::render(&check(view), 120, false)
}

#[test]
fn a_gate_that_found_something() {
    insta::assert_snapshot!(text(&view()));
}

#[test]
fn a_gate_says_what_it_counts_and_what_differs() {
    let sentence = |view: &CheckView| {
        let text = text(view);
        let from = text.find("A slowdown").unwrap();
        let to = text[from..].find("\n\n").unwrap_or(text.len() - from);
        text[from..from + to].replace('\n', " ")
    };
    let mut one = view();
    one.rows.truncate(5);
    one.rows.drain(..4);
    one.outcome = CheckOutcome::Passed;
    assert_eq!(
        sentence(&one),
        "A slowdown of up to 2 % is allowed: passed. Of 1 row 0 regressed, 0 inconclusive, 1 passed."
    );
    let mut none = view();
    none.rows.clear();
    none.outcome = CheckOutcome::Inconclusive;
    none.max_slowdown = 0.005;
    assert!(
        sentence(&none)
            .starts_with("A slowdown of up to 0.5 % is allowed: inconclusive. Of 0 rows")
    );
    none.differ_in = sample::compare().differ_in;
    assert!(text(&none).contains("These two differ in: kernel.release."));
}
