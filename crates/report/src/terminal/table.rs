//! A table as lines no wider than asked for.
//!
//! Words wrap inside their columns; numbers never do while there is room. A table that is still too wide is cut
//! between its groups into panels, each with the columns that name the rows.
//! The crate comfy-table wraps, but knows neither groups of columns nor panels, and would break numbers instead.

use super::wrap::{longest_word, width_of, wrap};
use crate::clean::clean;
use crate::document::{Document, Row, Style, Table, Text};
use crate::layout::{self, Layout, Width};
use std::borrow::Cow;

/// Between two columns.
const GAP: usize = 2;
/// Columns of words are not made narrower than this to get more of them into a panel.
const LEAST_WORDS: usize = 16;
/// A head is not made wider than this by the name of its group.
const LEAST_GROUP: usize = 14;

/// Says each line, with whether it is to stand out.
pub(super) fn lines(
    document: &Document,
    table: &Table,
    width: usize,
    mut line: impl FnMut(&str, bool),
) {
    let grid = Grid::new(document, table);
    for (i, panel) in grid.panels(width).into_iter().enumerate() {
        if i > 0 {
            line("", false);
        }
        grid.panel(&panel, i > 0, &mut line);
    }
}

/// Words, and the marks that hang behind them.
struct Cell<'a> {
    words: Cow<'a, str>,
    marks: String,
}

struct Grid<'a> {
    table: &'a Table,
    cells: Vec<Vec<Cell<'a>>>,
    /// Widest words and widest marks of each column; numbers line up because marks have a column of their own.
    natural: Vec<(usize, usize)>,
}

impl<'a> Grid<'a> {
    fn new(document: &Document, table: &'a Table) -> Self {
        let cell = |text: &'a Text| Cell {
            words: clean(&text.text),
            marks: document
                .marks(text)
                .into_iter()
                .map(|(_, mark)| mark)
                .collect(),
        };
        let cells: Vec<Vec<Cell<'_>>> = table
            .rows
            .iter()
            .map(|r| r.cells.iter().map(cell).collect())
            .collect();
        let natural = (0..table.columns.len())
            .map(|i| {
                let words = cells
                    .iter()
                    .map(|row| width_of(&row[i].words))
                    .max()
                    .unwrap_or(0);
                let marks = cells
                    .iter()
                    .map(|row| width_of(&row[i].marks))
                    .max()
                    .unwrap_or(0);
                (words, marks)
            })
            .collect();
        Self {
            table,
            cells,
            natural,
        }
    }

    /// What a column takes, with the gap behind it.
    fn width(&self, column: usize) -> Width {
        let (words, marks) = self.natural[column];
        let head = clean(&self.table.columns[column].head);
        let body = words + marks;
        let (natural, most) = match self.table.columns[column].style {
            Style::Number => (body.max(longest_word(&head)), usize::MAX),
            Style::Code => (body.max(width_of(&head)), 2 * LEAST_WORDS),
            Style::Text => (body.max(width_of(&head)), LEAST_WORDS),
        };
        Width {
            natural: natural + GAP,
            least: natural.min(most) + GAP,
        }
    }

    /// Which columns stand together, with their widths.
    fn panels(&self, width: usize) -> Vec<Vec<(usize, usize)>> {
        let columns = &self.table.columns;
        let widths = (0..columns.len()).map(|i| self.width(i)).collect();
        let name = |name: &str| longest_word(&clean(name)).min(LEAST_GROUP) + GAP;
        Layout::new(columns, widths, &name).panels(width + GAP, 1 + GAP)
    }

    /// Lines of one panel. Rows that say nothing in it are only in the first one, so that all are seen there.
    fn panel(&self, panel: &[(usize, usize)], later: bool, line: &mut impl FnMut(&str, bool)) {
        let (panel, widths): (Vec<usize>, Vec<usize>) =
            panel.iter().map(|&(i, width)| (i, width - GAP)).unzip();
        self.group_lines(&panel, &widths, |text| line(text, true));
        let heads: Vec<Vec<Cow<'_, str>>> = panel
            .iter()
            .zip(&widths)
            .map(|(&i, &w)| {
                let column = &self.table.columns[i];
                set_all(&clean(&column.head), w, column.style)
            })
            .collect();
        beside(&heads, &widths, true, |text| line(text, true));
        line(&"-".repeat(span_width(&widths)), false);
        let silent = |row: &Row| {
            panel
                .iter()
                .all(|&i| self.table.columns[i].key || row.cells[i].is_missing())
        };
        for (row, cells) in self.table.rows.iter().zip(&self.cells) {
            if later && silent(row) {
                continue;
            }
            let cells: Vec<Vec<Cow<'_, str>>> = panel
                .iter()
                .zip(&widths)
                .map(|(&i, &w)| self.cell(i, &cells[i], w))
                .collect();
            beside(&cells, &widths, false, |text| line(text, row.strong));
        }
    }

    /// Names of groups above their columns, each underlined.
    fn group_lines(&self, panel: &[usize], widths: &[usize], line: impl FnMut(&str)) {
        if panel.iter().all(|&i| self.table.columns[i].group.is_none()) {
            return;
        }
        let mut cells: Vec<Vec<Cow<'_, str>>> = Vec::new();
        let mut wide: Vec<usize> = Vec::new();
        let mut widths = widths.iter();
        for group in layout::groups(&self.table.columns, panel) {
            let of: Vec<usize> = widths.by_ref().take(group.len()).copied().collect();
            let width = span_width(&of);
            wide.push(width);
            let Some(name) = &self.table.columns[group[0]].group else {
                cells.push(Vec::new());
                continue;
            };
            let centerd = |line: Cow<'_, str>| {
                let before = " ".repeat((width - width_of(&line).min(width)) / 2);
                Cow::Owned(before + &line)
            };
            let mut lines: Vec<Cow<'_, str>> =
                wrap(&clean(name), width).into_iter().map(centerd).collect();
            lines.push("-".repeat(width).into());
            cells.push(lines);
        }
        beside(&cells, &wide, true, line);
    }

    fn cell<'c>(&self, column: usize, cell: &'c Cell<'_>, width: usize) -> Vec<Cow<'c, str>> {
        let style = self.table.columns[column].style;
        let marks = self.natural[column].1;
        if style == Style::Number && width_of(&cell.words) + marks <= width {
            let hung = format!(
                "{}{}{}",
                cell.words,
                cell.marks,
                " ".repeat(marks - width_of(&cell.marks))
            );
            return vec![set(hung.into(), width, style)];
        }
        if !cell.marks.is_empty() {
            return set_all(&format!("{}{}", cell.words, cell.marks), width, style);
        }
        let lines = wrap(&cell.words, width).into_iter();
        lines.map(|line| set(line, width, style)).collect()
    }
}

fn span_width(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

/// Numbers stand on the right of their column; what stands on the left is filled up by whoever sets the next one beside it.
fn set(line: Cow<'_, str>, width: usize, style: Style) -> Cow<'_, str> {
    match style {
        Style::Number => Cow::Owned(" ".repeat(width.saturating_sub(width_of(&line))) + &line),
        Style::Text | Style::Code => line,
    }
}

/// The lines of a text that does not last.
fn set_all(text: &str, width: usize, style: Style) -> Vec<Cow<'static, str>> {
    let lines = wrap(text, width).into_iter();
    let set = |line| Cow::Owned(set(line, width, style).into_owned());
    lines.map(set).collect()
}

/// Columns of lines side by side, standing on the bottom or hanging from the top. The last one is not filled up.
fn beside(cells: &[Vec<Cow<'_, str>>], widths: &[usize], bottom: bool, mut line: impl FnMut(&str)) {
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    let last = widths.len().saturating_sub(1);
    let blanks = " ".repeat(GAP + widths.iter().max().copied().unwrap_or(0));
    let mut text = String::new();
    for at in 0..height {
        text.clear();
        for (i, (column, width)) in cells.iter().zip(widths).enumerate() {
            let above = if bottom { height - column.len() } else { 0 };
            let cell = at.checked_sub(above).and_then(|at| column.get(at));
            let cell = cell.map_or("", Cow::as_ref);
            text.push_str(cell);
            if i < last {
                text.push_str(&blanks[..GAP + width.saturating_sub(width_of(cell))]);
            }
        }
        line(&text);
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
