//! A run held against a gate: what `gritstone check` prints.

use crate::document::{Block, Column, Document, Row, Style, Table, Text};
use crate::{compare, number, words};
use gritstone_model::CheckOutcome::{Inconclusive, Passed, Regressed};
use gritstone_model::{CheckRow, CheckView};

/// The outcome in a sentence, then row by row, the worst first.
#[must_use]
pub fn check(view: &CheckView) -> Document {
    let mut document = Document::new(format!("{} against {}", view.run, view.base));
    let count = |outcome| {
        view.rows
            .iter()
            .filter(|row| row.outcome == outcome)
            .count()
    };
    document.paragraph(format!(
        "A slowdown of up to {} is allowed: {}. Of {} {} regressed, {} inconclusive, {} passed.",
        number::percent_asked(view.max_slowdown),
        view.outcome.as_str(),
        words::plural(view.rows.len(), "row"),
        number::count(count(Regressed)),
        number::count(count(Inconclusive)),
        number::count(count(Passed)),
    ));
    if !view.differ_in.is_empty() {
        let names: Vec<&str> = view.differ_in.iter().map(|d| d.what.as_str()).collect();
        document.paragraph(format!("These two differ in: {}.", words::join(&names)));
    }
    let mut row = |row: &CheckRow| {
        let own = &row.row;
        let notes: Vec<_> = own.notes.iter().map(|f| document.note(f)).collect();
        let cell = |text: Option<String>| text.map_or_else(Text::missing, Text::new);
        let figure = |x: Option<f64>| cell(x.map(|x| compare::side(x, &own.unit)));
        Row::new(vec![
            own.id.to_string().into(),
            own.title.clone().into(),
            Text::new(row.outcome.as_str()).with(notes),
            cell(compare::ratio(own)),
            cell(own.p_adjusted.map(|p| number::significant(p, 2))),
            figure(own.base),
            figure(own.other),
        ])
    };
    let rows = view.rows.iter().map(&mut row).collect();
    document.table(Table {
        caption: "Row by row, the worst first".into(),
        columns: vec![
            Column::key("Benchmark", Style::Code),
            Column::new("What", Style::Text),
            Column::new("Outcome", Style::Text),
            Column::new("Ratio", Style::Text),
            Column::new("p", Style::Number),
            Column::new("Expected", Style::Number),
            Column::new("Found", Style::Number),
        ],
        rows,
    });
    document.push(Block::Footnotes);
    document
}
