//! A run held against a gate: what `gritstone check` prints.

use crate::document::{Block, Document, Style};
use crate::table::{Columns, noted};
use crate::{compare, number, words};
use gritstone_model::CheckOutcome::{Inconclusive, Passed, Regressed};
use gritstone_model::{CheckRow, CheckView};

/// The outcome in a sentence, then benchmark by benchmark, the worst first.
#[must_use]
pub fn check(view: &CheckView) -> Document {
    let mut document = Document::new(format!("{} against {}", view.run, view.base));
    let rows = || view.rows.iter();
    let count = |outcome| number::count(rows().filter(|row| row.outcome == outcome).count());
    document.paragraph(format!(
        "A slowdown of up to {} is allowed: {}. Of {} {} regressed, {} inconclusive, {} passed.",
        number::percent_asked(view.max_slowdown),
        view.outcome.as_str(),
        words::plural(view.rows.len(), "row"),
        count(Regressed),
        count(Inconclusive),
        count(Passed),
    ));
    if !view.differ_in.is_empty() {
        let facts = words::facts(&view.differ_in);
        document.paragraph(format!("These two differ in: {facts}."));
    }
    let p = |p| number::significant(p, 2);
    Columns::<&CheckRow>::key("Benchmark", Style::Code, |row| row.row.id.as_str())
        .text("What", |row| row.row.title.as_str())
        .text("Outcome", |row| noted(row.outcome.as_str(), &row.row.notes))
        .text("Ratio", |row| compare::ratio(&row.row))
        .number("p", move |row| row.row.p_adjusted.map(p))
        .number("Expected", |row| compare::side(row.row.base, &row.row.unit))
        .number("Found", |row| compare::side(row.row.other, &row.row.unit))
        .table(&mut document, "Row by row, the worst first", rows());
    document.push(Block::Footnotes);
    document
}
