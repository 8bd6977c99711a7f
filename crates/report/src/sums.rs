//! A comparison summed up by family.

use crate::compare::is_reference;
use crate::document::{Column, Row, Style, Table, Text};
use crate::number;
use crate::words::{self, Sense};
use gritstone_model::{CompareSum, CompareView};

/// What the ratio columns have in common.
const MEAN: &str = "Geometric mean of the ratios";
/// One row is summed up by itself.
const LEAST: usize = 2;

/// A row for each family, and one over all; without rows where there is nothing to sum up.
pub(crate) fn table(view: &CompareView) -> Table {
    let with_ratio = || view.rows.iter().filter(|row| row.ratio.is_some());
    let sizes = with_ratio().any(|row| Sense::of_unit(&row.unit) == Sense::Size);
    let [better, worse] = match sizes {
        true => ["Faster, smaller", "Slower, larger"],
        false => ["Faster", "Slower"],
    };
    let number = |head: &str| Column::new(head, Style::Number);
    let reference = is_reference(&view.base);
    let mut columns = vec![
        Column::key("Family", Style::Code),
        number("Rows"),
        number(better),
        number(worse),
        number("Cannot tell"),
        number("No difference"),
        number("Without a ratio"),
    ];
    columns.extend(match reference {
        true => vec![number("ratio").of(MEAN), number("interval").of(MEAN)],
        false => vec![Column::new("ratio", Style::Text).of(MEAN)],
    });
    columns.push(number("of rows").of(MEAN));
    let enough = with_ratio().count() >= LEAST;
    let sums = view.sums.iter().filter(|_| enough);
    Table {
        caption: format!(
            "By family, what differs most first, seen from {}",
            view.other_name
        )
        .into(),
        columns,
        rows: sums.map(|sum| row(sum, reference)).collect(),
    }
    .without_empty_columns()
}

fn row(sum: &CompareSum, reference: bool) -> Row {
    let count = |n: usize| match n {
        0 => Text::missing(),
        n => number::count(n).into(),
    };
    let cell = |text: String| match text.is_empty() {
        true => Text::missing(),
        false => Text::new(text),
    };
    let mut cells = vec![
        sum.family.as_deref().unwrap_or("all").into(),
        number::count(sum.rows).into(),
        count(sum.faster),
        count(sum.slower),
        count(sum.inconclusive),
        count(sum.same),
        count(sum.without_ratio),
    ];
    if reference {
        let bare = sum.mean.map(|mean| words::bare_ratio(mean, sum.interval));
        let (mean, interval) = bare.unwrap_or_default();
        cells.extend([cell(mean), cell(interval)]);
    } else {
        let mean = sum
            .mean
            .map(|mean| words::ratio(mean, sum.interval, Sense::Speed));
        cells.push(cell(mean.unwrap_or_default()));
    }
    cells.push(count(sum.of));
    Row {
        cells,
        strong: sum.family.is_none(),
    }
}
