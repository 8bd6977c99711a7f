//! Key values, and results in one line each.

use super::{Block, Column, Row, Style, Table, Text, Tone};
use crate::footnote::FlagStyle;

/// A key value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tile {
    /// Quantity.
    pub name: String,
    /// Formatted value.
    pub value: String,
    /// How it was computed, or why it is missing.
    pub detail: String,
    /// For media with color.
    pub tone: Option<Tone>,
}

/// One result in a line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultLine {
    pub id: String,
    pub title: String,
    /// Formatted estimate, or why it is missing.
    pub value: String,
    /// Unit of `value` and `interval`.
    pub unit: String,
    /// "low to high"; empty without an interval.
    pub interval: String,
    /// Half-width relative to the estimate, formatted.
    pub half_width: String,
    /// In display order.
    pub flags: Vec<&'static FlagStyle>,
    /// A small `<svg>` element; may be empty.
    pub whisker: String,
    /// The launches as a small `<svg>` element; may be empty.
    pub sparkline: String,
    /// Sort key: relative half-width; `None` without an interval.
    pub precision: Option<f64>,
    /// Folded below the line.
    pub details: Vec<Block>,
    /// Link to the history, or to the trial of a side.
    pub link: Option<Text>,
}

impl Tile {
    pub(super) fn term(&self) -> (String, Text) {
        let text = format!("{} ({})", self.value, self.detail);
        (self.name.clone(), text.into())
    }
}

impl ResultLine {
    /// The lines as a table without empty columns.
    pub fn table(lines: &[Self]) -> Table {
        let number = |head| Column::new(head, Style::Number);
        let columns = vec![
            Column::key("Benchmark", Style::Code),
            Column::new("What", Style::Text),
            number("Estimate"),
            Column::new("Unit", Style::Text),
            number("95% interval"),
            number("±"),
            Column::new("Flags", Style::Text),
        ];
        let row = |line: &Self| {
            let letters: Vec<&str> = line.flags.iter().map(|flag| flag.letter).collect();
            let [id, title, value, unit] = [&line.id, &line.title, &line.value, &line.unit];
            let cells =
                [id, title, value, unit, &line.interval, &line.half_width, &letters.join(" ")];
            Row::new(cells.map(|cell| Text::new(cell.as_str())).into())
        };
        Table { caption: Text::default(), columns, rows: lines.iter().map(row).collect() }
            .without_empty_columns()
    }
}
