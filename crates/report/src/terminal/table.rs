//! A table as lines no wider than asked for.
//!
//! Words wrap inside their columns; numbers never do while there is room. A table that is still too wide is cut
//! between its groups into panels, each with the columns that name the rows.
//! The crate comfy-table wraps, but knows neither groups of columns nor panels, and would break numbers instead.

use super::wrap::{widest, width_of, wrap};
use crate::clean::clean;
use crate::document::{Document, Style, Table, Text};
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
    let name = |name: &str| widest(clean(name).split_whitespace()).min(LEAST_GROUP) + GAP;
    let widths = (0..table.columns.len()).map(|i| grid.width(i)).collect();
    let panels = Layout::new(&table.columns, widths, &name).panels(width + GAP, 1 + GAP);
    for (i, panel) in panels.into_iter().enumerate() {
        if i > 0 {
            line("", false);
        }
        let panel: Vec<_> = panel
            .into_iter()
            .map(|(i, width)| (i, width - GAP))
            .collect();
        grid.panel(&panel, i > 0, &mut line);
    }
}

struct Grid<'a> {
    table: &'a Table,
    /// Words, and the marks that hang behind them.
    cells: Vec<Vec<(Cow<'a, str>, String)>>,
    /// Widest marks of each column; numbers line up because marks have a column of their own.
    marks: Vec<usize>,
}

impl<'a> Grid<'a> {
    fn new(document: &Document, table: &'a Table) -> Self {
        let marks = |text| document.marks(text).into_iter().map(|(_, mark)| mark);
        let cell = |text: &'a Text| (clean(&text.text), marks(text).collect::<String>());
        let rows = table.rows.iter();
        let cells: Vec<Vec<_>> = rows.map(|r| r.cells.iter().map(cell).collect()).collect();
        let columns = 0..table.columns.len();
        let marks = columns.map(|i| widest(cells.iter().map(|row| &row[i].1)));
        Self {
            marks: marks.collect(),
            table,
            cells,
        }
    }

    /// What a column takes, with the gap behind it.
    fn width(&self, column: usize) -> Width {
        let head = clean(&self.table.columns[column].head);
        let words = widest(self.cells.iter().map(|row| &row[column].0));
        let body = words + self.marks[column];
        let (natural, most) = match self.table.columns[column].style {
            Style::Number => (body.max(widest(head.split_whitespace())), usize::MAX),
            Style::Code => (body.max(width_of(&head)), 2 * LEAST_WORDS),
            Style::Text => (body.max(width_of(&head)), LEAST_WORDS),
        };
        Width {
            natural: natural + GAP,
            least: natural.min(most) + GAP,
        }
    }

    /// Lines of one panel. Rows that say nothing in it are only in the first one, so that all are seen there.
    fn panel(&self, panel: &[(usize, usize)], later: bool, line: &mut impl FnMut(&str, bool)) {
        let (columns, widths): (Vec<usize>, Vec<usize>) = panel.iter().copied().unzip();
        self.group_lines(&columns, &widths, |text| line(text, true));
        let heads = panel.iter().map(|&(i, width)| {
            let column = &self.table.columns[i];
            set(&clean(&column.head), width, column.style)
        });
        beside(&heads.collect::<Vec<_>>(), &widths, true, |text| {
            line(text, true)
        });
        line(&"-".repeat(span_width(&widths)), false);
        for (row, cells) in self.table.rows.iter().zip(&self.cells) {
            let says = |&i: &usize| !self.table.columns[i].key && !row.cells[i].is_missing();
            if later && !columns.iter().any(says) {
                continue;
            }
            let cells = panel
                .iter()
                .map(|&(i, width)| self.cell(i, &cells[i], width));
            beside(&cells.collect::<Vec<_>>(), &widths, false, |text| {
                line(text, row.strong)
            });
        }
    }

    /// Names of groups above their columns, each underlined.
    fn group_lines(&self, panel: &[usize], widths: &[usize], line: impl FnMut(&str)) {
        if panel.iter().all(|&i| self.table.columns[i].group.is_none()) {
            return;
        }
        let mut widths = widths.iter().copied();
        let groups = layout::groups(&self.table.columns, panel).map(|group| {
            let width = span_width(&widths.by_ref().take(group.len()).collect::<Vec<_>>());
            let Some(name) = &self.table.columns[group[0]].group else {
                return (vec![], width);
            };
            let mut lines = wrap(&clean(name), width);
            for line in &mut lines {
                let before = (width - width_of(line).min(width)) / 2;
                line.insert_str(0, &" ".repeat(before));
            }
            lines.push("-".repeat(width));
            (lines, width)
        });
        let (cells, wide): (Vec<_>, Vec<_>) = groups.unzip();
        beside(&cells, &wide, true, line);
    }

    fn cell(
        &self,
        column: usize,
        (words, marks): &(Cow<str>, String),
        width: usize,
    ) -> Vec<String> {
        let style = self.table.columns[column].style;
        let room = self.marks[column];
        if style == Style::Number && width_of(words) + room <= width {
            let before = " ".repeat(width - width_of(words) - room);
            return vec![format!(
                "{before}{words}{marks}{}",
                " ".repeat(room - width_of(marks))
            )];
        }
        set(&format!("{words}{marks}"), width, style)
    }
}

fn span_width(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

/// The lines of a text; numbers stand on the right of their column.
fn set(text: &str, width: usize, style: Style) -> Vec<String> {
    let mut lines = wrap(text, width);
    if style == Style::Number {
        for line in &mut lines {
            line.insert_str(0, &" ".repeat(width.saturating_sub(width_of(line))));
        }
    }
    lines
}

/// Columns of lines side by side, standing on the bottom or hanging from the top. The last one is not filled up.
fn beside(cells: &[Vec<String>], widths: &[usize], bottom: bool, mut line: impl FnMut(&str)) {
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    for at in 0..height {
        let mut text = String::new();
        let mut fill = 0;
        for (column, width) in cells.iter().zip(widths) {
            let above = if bottom { height - column.len() } else { 0 };
            let cell = at.checked_sub(above).and_then(|at| column.get(at));
            let cell = cell.map_or("", String::as_str);
            text.extend(std::iter::repeat_n(' ', fill));
            text.push_str(cell);
            fill = GAP + width.saturating_sub(width_of(cell));
        }
        line(&text);
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
