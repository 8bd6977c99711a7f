//! Tables: heads and rows, in several panels if wider than a page, over several pages if needed.

use crate::fonts::{Face, SOFT, Type};
use crate::line_breaking::Inline;
use crate::page::{Item, SIDE, Slab, WIDTH};
use crate::setter::{LEFT, Laid, MIDDLE, RIGHT, Setter};
use crate::tags::{Part, Tree};
use gritstone_document::layout::{Layout, Width};
use gritstone_document::{Column, Style, Table, Text};
use krilla::tagging::{TableHeaderScope, Tag};
use std::num::NonZeroU32;
use std::rc::Rc;

/// Type size, pt, and its minimum for tables that would not fit.
const SIZE: f32 = 8.0;
const SCALES: [f32; 3] = [1.0, 0.93, 0.86];
const HEAD: Type = Type::new(Face::Bold, SIZE).soft();
/// Padding of a cell, em.
const PAD: f32 = 0.4;
/// Minimum width of words in cells, em.
const MIN_TEXT: f32 = 7.5;
/// Tolerance for widths that were measured at another type size, pt.
const SLACK: f32 = 0.1;
/// Layout units per point.
const FINE: f32 = 64.0;
/// Space above and below a table and between its panels, pt.
const TABLE_SPACE: f32 = 14.2;
const PANEL_SPACE: f32 = 8.5;

struct Placed {
    /// Index in the table.
    index: usize,
    left: f32,
    width: f32,
    number: bool,
}

struct Cell<'c> {
    inline: &'c Inline,
    set: Type,
    part: Part,
    column: &'c Placed,
}

struct Panel<'t> {
    table: &'t Table,
    /// Sanitized words.
    rows: &'t [Vec<Inline>],
    columns: Vec<Placed>,
    scale: f32,
    pad: f32,
    wide: f32,
    part: Part,
}

/// Row of a head: over its group; over both rows; below its group.
const OVER: usize = 0;
const ALONE: usize = 1;
const UNDER: usize = 2;

pub(crate) fn set(setter: &mut Setter, table: &Table) {
    let columns = &table.columns;
    let inline = |cell: &Text| Inline::new(&cell.text);
    let rows = table.rows.iter().map(|row| row.cells.iter().map(inline).collect());
    let rows: Vec<Vec<Inline>> = rows.collect();
    let measured = (0..columns.len()).map(|index| measured(setter, table, &rows, index));
    let widths: Vec<Width> = measured.collect();
    let name = |name: &str| {
        let name = Inline::new(name).text;
        // about two lines, with no broken word
        let half = setter.fonts.width(HEAD, &name) / 2.0;
        fine(longest(setter, &name).max(half) + 2.0 * PAD * SIZE)
    };
    let layout = Layout::new(columns, widths, &name);
    let room = |scale: f32| (WIDTH / scale * FINE) as usize;
    let fits = |scale: &f32| layout.min_width() <= room(*scale);
    let scale = SCALES.into_iter().find(fits).unwrap_or(SCALES[2]);
    let panels = layout.panels(room(scale), fine(MIN_TEXT * SIZE));
    let (count, captioned) = (panels.len(), !table.caption.text.is_empty());
    for (number, panel) in panels.into_iter().enumerate() {
        let part = setter.tree.add(Tree::TOP, Tag::Table);
        let mut above = if number == 0 { TABLE_SPACE } else { 0.0 };
        if number == 0 && captioned {
            setter.caption(&table.caption, part, TABLE_SPACE);
            above = 0.0;
        }
        let last = number + 1 == count;
        let below = if last { TABLE_SPACE } else { PANEL_SPACE };
        let mut left = SIDE;
        let mut placed = vec![];
        for (index, width) in panel {
            let width = width as f32 / FINE * scale;
            placed.push(Placed {
                index,
                left,
                width,
                number: columns[index].style == Style::Number,
            });
            left += width;
        }
        let panel = Panel {
            table,
            rows: &rows,
            columns: placed,
            scale,
            pad: PAD * SIZE * scale,
            wide: left - SIDE,
            part,
        };
        panel.set(setter, [above, below]);
    }
}

/// Points in layout units, rounded up.
fn fine(points: f32) -> usize {
    (points * FINE).ceil() as usize
}

/// Width of the longest word of a head.
fn longest(setter: &Setter, head: &str) -> f32 {
    let words = head.split(' ').map(|word| setter.fonts.word(HEAD, word));
    words.fold(0.0, f32::max)
}

/// Type style of a column's cells.
fn face(column: &Column, strong: bool) -> Type {
    let face = if strong { Face::Bold } else { Face::Regular };
    let plain = Type::new(face, SIZE);
    match column.style {
        Style::Code => plain.typed(),
        _ => plain,
    }
}

/// Column widths at the usual type size.
fn measured(setter: &Setter, table: &Table, rows: &[Vec<Inline>], index: usize) -> Width {
    let (fonts, column) = (setter.fonts, &table.columns[index]);
    let cells = table.rows.iter().zip(rows);
    let cells = cells.map(|(row, texts)| fonts.width(face(column, row.strong), &texts[index].text));
    let cell = cells.fold(0.0, f32::max);
    let head = Inline::new(&column.head).text;
    let (whole, longest) = (fonts.width(HEAD, &head), longest(setter, &head));
    let pad = 2.0 * PAD * SIZE;
    let natural = cell.max(whole.min(longest.max(4.0 * SIZE))) + pad;
    let min = match column.style {
        Style::Number => natural,
        _ => natural.min((longest + pad).max(MIN_TEXT * SIZE)),
    };
    let [natural, min] = [natural, min].map(fine);
    Width { natural, min }
}

impl Panel<'_> {
    fn set(&self, setter: &mut Setter, [above, below]: [f32; 2]) {
        let mut heads = self.heads(setter);
        heads.above = above;
        let repeated = Rc::new(heads.clone());
        setter.pages.put(heads);
        let body = setter.tree.add(self.part, Tag::TBody);
        let rows = &self.table.rows;
        for (index, row) in rows.iter().enumerate() {
            let tagged = setter.tree.add(body, Tag::TR);
            let cell = |column: &Placed| {
                let first = column.index == self.columns[0].index;
                let part = match first && self.table.columns[column.index].key {
                    true => setter.tree.add(tagged, Tag::TH(TableHeaderScope::Row)),
                    false => setter.tree.add(tagged, Tag::TD),
                };
                let cell = Cell {
                    inline: &self.rows[index][column.index],
                    set: face(&self.table.columns[column.index], row.strong),
                    part,
                    column,
                };
                // numbers are never broken
                self.lay(setter, cell, if column.number { f32::MAX } else { 0.0 })
            };
            let laid: Vec<Laid> = self.columns.iter().map(cell).collect();
            let mut slabs = setter.row(&laid, self.pad, self.wide, row.strong);
            if let Some(last) = slabs.last_mut() {
                // no row stands alone at the end of a table or after a page break
                last.with_next = index + 1 < rows.len() && (index == 0 || index + 2 == rows.len());
                last.below = if index + 1 == rows.len() { below } else { 0.0 };
            }
            for mut slab in slabs {
                slab.heads = Some(Rc::clone(&repeated));
                setter.pages.put(slab);
            }
        }
    }

    /// Breaks the text of a cell that may be wider than its column by `slack`.
    fn lay(&self, setter: &Setter, cell: Cell<'_>, slack: f32) -> Laid {
        let Cell { inline, set, part, column } = cell;
        let position = match column.number {
            true => (column.left + column.width - self.pad, RIGHT),
            false => (column.left + self.pad, LEFT),
        };
        let width = column.width - 2.0 * self.pad + slack;
        setter.lay(inline, set.scaled(self.scale), part, position, width)
    }

    /// Adjacent columns of one group with its name, or single columns.
    fn runs(&self) -> impl Iterator<Item = (Option<&str>, &[Placed])> {
        let group = |column: &Placed| self.table.columns[column.index].group.as_deref();
        let same = move |a: &Placed, b: &Placed| group(a).is_some() && group(a) == group(b);
        self.columns.chunk_by(same).map(move |run| (group(&run[0]), run))
    }

    /// Heads, in two rows if columns have groups.
    fn heads(&self, setter: &mut Setter) -> Slab {
        let heads = self.lay_heads(setter);
        let mut high = [0f32; 3];
        for (tier, laid) in &heads {
            high[*tier] = high[*tier].max(laid.height(laid.lines.len()) + 2.0 * self.pad);
        }
        let all = (high[OVER] + high[UNDER]).max(high[ALONE]);
        let over = all - high[UNDER];
        let mut items = vec![Item::bar(SIDE, all, [self.wide, 0.8], SOFT)];
        for (_, run) in self.runs().filter(|(name, _)| name.is_some()) {
            let size = [width(run) - 2.0 * self.pad, 0.4];
            items.push(Item::bar(run[0].left + self.pad, over - 0.4, size, SOFT));
        }
        for (tier, laid) in &heads {
            let bottom = if *tier == OVER { over } else { all };
            let count = laid.lines.len();
            let top = bottom - self.pad - laid.height(count);
            setter.draw(&mut items, laid, 0..count, top);
        }
        Slab { items, height: all + 0.8, with_next: true, ..Slab::default() }
    }

    /// Heads in reading order.
    fn lay_heads(&self, setter: &mut Setter) -> Vec<(usize, Laid)> {
        let part = setter.tree.add(self.part, Tag::THead);
        let [upper, lower] = [(); 2].map(|()| setter.tree.add(part, Tag::TR));
        let rows = 1 + usize::from(self.runs().any(|(name, _)| name.is_some()));
        let mut heads = vec![];
        for (name, run) in self.runs() {
            if let Some(name) = name {
                let part = setter.tree.add(upper, spanning(run.len(), 1));
                let wide = width(run);
                let (set, position) = (HEAD.scaled(self.scale), (run[0].left + wide / 2.0, MIDDLE));
                let room = wide - 2.0 * self.pad + SLACK;
                let name = setter.lay(&Inline::new(name), set, part, position, room);
                heads.push((OVER, name));
            }
            let (tier, row, rows) = match name {
                Some(_) => (UNDER, lower, 1),
                None => (ALONE, upper, rows),
            };
            for column in run {
                let part = setter.tree.add(row, spanning(1, rows));
                let inline = &Inline::new(&self.table.columns[column.index].head);
                let head = Cell { inline, set: HEAD, part, column };
                heads.push((tier, self.lay(setter, head, SLACK)));
            }
        }
        heads.sort_by_key(|(tier, _)| *tier == UNDER);
        heads
    }
}

fn width(run: &[Placed]) -> f32 {
    run.iter().map(|column| column.width).sum()
}

/// A head that spans columns and rows.
fn spanning(columns: usize, rows: usize) -> Tag<krilla::tagging::kind::TH> {
    let span = |n: usize| u32::try_from(n).ok().and_then(NonZeroU32::new);
    let several = |n: usize| span(n).filter(|n| n.get() > 1);
    Tag::TH(TableHeaderScope::Column).with_col_span(several(columns)).with_row_span(several(rows))
}
