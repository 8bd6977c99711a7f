//! Renders a table, one line per row.
//!
//! If a line is too wide, words and long identifiers are shortened first, then ranked columns are dropped, from the right; a
//! line below the table names them. Columns without a rank stay as long as shorter identifiers make room for them, and key
//! columns always. The crate comfy-table drops no columns, groups none, and would break numbers.

use super::wrap::{width_of, wrap};
use super::{BOLD, CYAN, FAINT, Page};
use crate::footnote::FlagStyle;
use crate::layout::groups;
use crate::tree::{Column, Row, Style, Table, Text};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Between two columns.
const GAP: usize = 2;

/// Longer identifiers are shortened before a column is dropped.
const LONG_ID: usize = 32;

impl Page<'_> {
    pub(super) fn table(&mut self, table: &Table) {
        let grid = Grid::new(self, table);
        let (shown, given_up) = grid.fitted(self.look.width);
        let mut lines = grid.heads(self, &shown);
        let rows = table.rows.iter().zip(&grid.cells).zip(&grid.flags);
        lines.extend(rows.map(|((row, cells), flags)| grid.row(self, &shown, row, cells, flags)));
        if !given_up.is_empty() {
            let heads = given_up.iter().map(|&i| named(&table.columns[i]));
            let heads: Vec<String> = heads.collect();
            let note =
                format!("(no room in {} columns for: {})", self.look.width, heads.join(", "));
            for line in wrap(&self.clean(&note), self.look.width) {
                lines.push(self.styled(FAINT, &line));
            }
        }
        lines.iter().for_each(|line| self.line(line));
    }
}

/// Name of a column with its group.
fn named(column: &Column) -> String {
    match &column.group {
        Some(group) => format!("{group} {}", column.head),
        None => column.head.clone(),
    }
}

struct Grid<'a> {
    table: &'a Table,
    heads: Vec<Cow<'a, str>>,
    cells: Vec<Vec<Cow<'a, str>>>,
    /// Flags of each row.
    flags: Vec<BTreeSet<&'static FlagStyle>>,
    /// Widths of columns without shortening.
    natural: Vec<usize>,
}

impl<'a> Grid<'a> {
    fn new(page: &Page<'a>, table: &'a Table) -> Self {
        let cells = |row: &'a Row| row.cells.iter().map(|cell| page.clean(&cell.text)).collect();
        let cells: Vec<Vec<Cow<str>>> = table.rows.iter().map(cells).collect();
        let heads: Vec<Cow<str>> = table.columns.iter().map(|c| page.clean(&c.head)).collect();
        let flags = |text: &'a Text| {
            let notes = text.notes.iter().map(|id| page.document.footnote_of(*id));
            notes.filter_map(|note| note.flag)
        };
        let of_row = |row: &'a Row| row.cells.iter().flat_map(flags).collect();
        let natural = (0..heads.len()).map(|i| {
            let widths = cells.iter().map(|row| width_of(&row[i]));
            widths.chain([width_of(&heads[i])]).max().unwrap_or(0)
        });
        Self {
            natural: natural.collect(),
            flags: table.rows.iter().map(of_row).collect(),
            table,
            heads,
            cells,
        }
    }

    /// Width of the flags column with its gap.
    fn flags_width(&self) -> usize {
        let max = self.flags.iter().map(BTreeSet::len).max().unwrap_or(0);
        if max == 0 { 0 } else { GAP + max }
    }

    /// A column with the paired ones, which are shown together.
    fn group(&self, i: usize) -> std::ops::Range<usize> {
        let paired = |i: &usize| self.table.columns.get(*i).is_some_and(|c| c.paired);
        let start = (0..=i).rev().find(|i| !paired(i)).unwrap_or(i);
        let end = (start + 1..).find(|i| !paired(i)).unwrap_or(start + 1);
        start..end
    }

    /// Minimum width of a column; `long` is the length to which identifiers are shortened.
    fn min_width(&self, i: usize, long: usize) -> usize {
        let column = &self.table.columns[i];
        let min = match column.style {
            Style::Text => column.min_width,
            Style::Code if column.key => long.max(column.min_width),
            Style::Number | Style::Code => usize::MAX,
        };
        self.natural[i].min(min)
    }

    fn total(&self, shown: &[usize], column_width: impl Fn(usize) -> usize) -> usize {
        let gaps = GAP * shown.len().saturating_sub(1);
        shown.iter().map(|&i| column_width(i)).sum::<usize>() + gaps + self.flags_width()
    }

    /// Columns that fit, with widths, and dropped ones.
    fn fitted(&self, width: usize) -> (Vec<(usize, usize)>, Vec<usize>) {
        let (shown, given_up) = self.dropped(width);
        let mut widths: Vec<usize> = shown.iter().map(|&i| self.natural[i]).collect();
        let mut over = self.total(&shown, |i| self.natural[i]).saturating_sub(width);
        // the widest words shrink first, then long identifiers
        for long in [usize::MAX, LONG_ID, 0] {
            while over > 0 {
                let positions = 0..shown.len();
                let shrinkable = positions.filter(|&p| widths[p] > self.min_width(shown[p], long));
                let Some(widest) = shrinkable.max_by_key(|&position| widths[position]) else {
                    break;
                };
                widths[widest] -= 1;
                over -= 1;
            }
        }
        (shown.into_iter().zip(widths).collect(), given_up)
    }

    /// Columns that fit if shortened, and the others.
    fn dropped(&self, width: usize) -> (Vec<usize>, Vec<usize>) {
        let mut shown: Vec<usize> = (0..self.heads.len()).collect();
        let mut given_up = vec![];
        let rank = |i: usize| self.table.columns[i].rank;
        let fits = |shown: &[usize], rank: u8| {
            let long = if rank == 0 { 0 } else { LONG_ID };
            self.total(shown, |i| self.min_width(i, long)) <= width
        };
        loop {
            let others = shown.iter().filter(|&&i| !self.table.columns[i].key);
            // of equal rank the last
            let Some(&last) = others.max_by_key(|&&i| rank(i)) else {
                break;
            };
            if fits(&shown, rank(last)) {
                break;
            }
            let group = self.group(last);
            shown.retain(|i| !group.contains(i));
            given_up.push(group);
        }
        // numbers may fit after a wider column was dropped
        given_up.sort_by_key(|group| rank(group.start));
        given_up.retain(|group| {
            let with: Vec<usize> = shown.iter().copied().chain(group.clone()).collect();
            let returns = self.table.columns[group.start].style != Style::Text
                && fits(&with, rank(group.start));
            if returns {
                shown = with;
            }
            !returns
        });
        shown.sort_unstable();
        let mut given_up: Vec<usize> = given_up.into_iter().flatten().collect();
        given_up.sort_unstable();
        (shown, given_up)
    }

    /// Group names if any, and heads.
    fn heads(&self, page: &Page, shown: &[(usize, usize)]) -> Vec<String> {
        let mut lines = vec![];
        let columns: Vec<usize> = shown.iter().map(|(i, _)| *i).collect();
        if columns.iter().any(|&i| self.table.columns[i].group.is_some()) {
            let mut widths = shown.iter().map(|(_, width)| *width);
            let mut line = String::new();
            for group in groups(&self.table.columns, &columns) {
                let widths_of_group: Vec<usize> = widths.by_ref().take(group.len()).collect();
                let width =
                    widths_of_group.iter().sum::<usize>() + GAP * (widths_of_group.len() - 1);
                let name = self.table.columns[group[0]].group.as_deref();
                let name = shortened(page, &page.clean(name.unwrap_or("")), width);
                let room = width - width_of(&name);
                line += &format!("{}{name}{}", " ".repeat(room / 2), " ".repeat(room - room / 2));
                line += &" ".repeat(GAP);
            }
            lines.push(page.styled(BOLD, line.trim_end()));
        }
        if self.heads.iter().any(|head| !head.is_empty()) {
            let cells = shown.iter().map(|&(i, width)| {
                let head = shortened(page, &self.heads[i], width);
                aligned(&head, &head, width, self.table.columns[i].style)
            });
            let mut line = cells.collect::<Vec<_>>().join(&" ".repeat(GAP));
            // without room for their head, a line below explains the letters
            let room = page.look.width.saturating_sub(width_of(&line));
            if self.flags_width() > 0 && room >= GAP + "flags".len() {
                line += &format!("{}flags", " ".repeat(GAP));
            }
            lines.push(page.styled(BOLD, line.trim_end()));
        }
        lines
    }

    fn row(
        &self,
        page: &Page,
        shown: &[(usize, usize)],
        row: &Row,
        cells: &[Cow<str>],
        flags: &BTreeSet<&FlagStyle>,
    ) -> String {
        let cells = shown.iter().map(|&(i, width)| {
            let column = &self.table.columns[i];
            let text = match column.style {
                Style::Text => shortened(page, &cells[i], width),
                Style::Code if column.key => shortened_in_the_middle(page, &cells[i], width),
                Style::Number | Style::Code => cells[i].to_string(),
            };
            let styled = match (row.cells[i].tone, column.style, row.strong) {
                (Some(tone), ..) => page.toned(Some(tone), &text),
                (None, _, true) => page.styled(BOLD, &text),
                (None, Style::Code, false) => page.styled(CYAN, &text),
                (None, ..) => text.clone(),
            };
            aligned(&text, &styled, width, column.style)
        });
        let mut line = cells.collect::<Vec<_>>().join(&" ".repeat(GAP));
        if !flags.is_empty() {
            line += &" ".repeat(GAP);
            line.extend(flags.iter().map(|flag| page.flag(flag)));
        }
        line
    }
}

fn ellipsis(page: &Page) -> &'static str {
    if page.look.ascii { ".." } else { "…" }
}

/// Truncates to a width, with an ellipsis.
pub(super) fn shortened(page: &Page, text: &str, width: usize) -> String {
    if width_of(text) <= width {
        return text.to_owned();
    }
    let sign = ellipsis(page);
    let mut out = fitting(text.chars(), width.saturating_sub(width_of(sign)));
    out.truncate(out.trim_end().len());
    out + sign
}

/// Keeps both ends of an identifier.
fn shortened_in_the_middle(page: &Page, text: &str, width: usize) -> String {
    if width_of(text) <= width {
        return text.to_owned();
    }
    let sign = ellipsis(page);
    let room = width.saturating_sub(width_of(sign));
    let start = fitting(text.chars(), room - room / 2);
    let end = fitting(text.chars().rev(), room / 2);
    start + sign + &end.chars().rev().collect::<String>()
}

/// The first characters, up to a width.
fn fitting(chars: impl Iterator<Item = char>, width: usize) -> String {
    let mut out = String::new();
    for c in chars {
        if width_of(&out) + width_of(c.encode_utf8(&mut [0; 4])) > width {
            break;
        }
        out.push(c);
    }
    out
}

/// Pads the shown part of a text; numbers are flush right.
fn aligned(text: &str, shown: &str, width: usize, style: Style) -> String {
    let fill = " ".repeat(width.saturating_sub(width_of(text)));
    match style {
        Style::Number => format!("{fill}{shown}"),
        Style::Text | Style::Code => format!("{shown}{fill}"),
    }
}
