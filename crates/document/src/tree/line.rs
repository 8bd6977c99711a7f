//! What a report has beyond prose and tables: values that are seen first, and results in a line each.

use super::{Block, Column, Row, Style, Table, Text, Tone};
use crate::mark::Mark;

/// A value that is seen first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tile {
    /// What it is of.
    pub name: String,
    /// The value, in a word.
    pub value: String,
    /// What it is made of, or why there is none.
    pub said: String,
    /// What it says, for a medium with color.
    pub tone: Option<Tone>,
}

/// One result in a line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultLine {
    /// The benchmark.
    pub id: String,
    /// What it is, in a few words.
    pub title: String,
    /// The estimate, or why there is none.
    pub value: String,
    /// Unit of `value` and `interval`.
    pub unit: String,
    /// "low to high"; empty without an interval.
    pub interval: String,
    /// Half of it as a share of the estimate, in words.
    pub half_width: String,
    /// In their order.
    pub flags: Vec<&'static Mark>,
    /// The interval as a small `<svg>` element, where there is one.
    pub whisker: String,
    /// The launches as a small `<svg>` element, where there are several.
    pub sparkline: String,
    /// By which its results can be sorted: the half-width as a share; nothing without an interval.
    pub precision: Option<f64>,
    /// What is folded under it.
    pub details: Vec<Block>,
}

impl Tile {
    pub(super) fn term(&self) -> (String, Text) {
        let text = format!("{} ({})", self.value, self.said);
        (self.name.clone(), text.into())
    }
}

impl ResultLine {
    /// The lines as a table, without the columns that say nothing.
    #[must_use]
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
            let letters: Vec<&str> = line.flags.iter().map(|mark| mark.letter).collect();
            let [id, title, value, unit] = [&line.id, &line.title, &line.value, &line.unit];
            let cells = [
                id,
                title,
                value,
                unit,
                &line.interval,
                &line.half_width,
                &letters.join(" "),
            ];
            Row::new(cells.map(|cell| Text::new(cell.as_str())).into())
        };
        Table {
            caption: Text::default(),
            columns,
            rows: lines.iter().map(row).collect(),
        }
        .without_empty_columns()
    }
}
