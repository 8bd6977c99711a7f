//! Tables: heads over rows, in several panels where a table is wider than a page, over as many pages as it takes.

use crate::face::{Face, Type};
use crate::lines::{Line, Piece};
use crate::page::{Item, SIDE, Slab, WIDTH};
use crate::set::{At, CAPITAL, INK, Inline, Laid, SOFT, Setter, Shape, TIGHT, bar};
use crate::tree::{Part, Role};
use gritstone_report::clean;
use gritstone_report::document::{Column, Style, Table};
use gritstone_report::layout::{Layout, Width};
use std::rc::Rc;

/// Type of tables, pt, and how far it is made smaller where a table would not fit the page.
const SIZE: f32 = 8.0;
const SCALES: [f32; 3] = [1.0, 0.93, 0.86];
/// Around what stands in a cell, in ems.
const PAD: f32 = 0.4;
/// Words in cells are not squeezed into less than this, in ems.
const LEAST_TEXT: f32 = 7.5;
/// Behind numbers there is no more room than this for marks, in ems; more marks take more lines.
const MOST_MARKS: f32 = 5.0;
/// A little more than what was measured in type of another size, pt.
const SLACK: f32 = 0.1;
/// Units of the layout in a point.
const FINE: f32 = 64.0;
/// Above and below a table, and between its panels, pt.
const APART: f32 = 14.2;
const PANELS_APART: f32 = 8.5;

/// A table with its words made harmless.
struct Cells<'t> {
    table: &'t Table,
    heads: Vec<Inline>,
    groups: Vec<Option<Inline>>,
    rows: Vec<Vec<Inline>>,
}

/// One panel of it.
struct Panel {
    /// Which columns, and their left edges and widths.
    columns: Vec<(usize, f32, f32)>,
    /// Of all columns: room for marks.
    marks: Vec<f32>,
    size: f32,
    wide: f32,
}

/// Its heads.
#[derive(Default)]
struct Heads<'t> {
    /// Of the upper row; whether it is that of a column without a group, which stands over both rows.
    upper: Vec<(bool, Laid<'t>)>,
    /// Of the columns of groups.
    lower: Vec<Laid<'t>>,
    /// Left edge and width of the line below each group.
    lines: Vec<(f32, f32)>,
}

/// Adds a table with its caption.
pub(crate) fn set(setter: &mut Setter, table: &Table) {
    let cells = cells(setter, table);
    let columns = &table.columns;
    let measured: Vec<(Width, f32)> = (0..columns.len())
        .map(|i| width(setter, &cells, i))
        .collect();
    let (widths, marks): (Vec<Width>, Vec<f32>) = measured.into_iter().unzip();
    let name = |name: &str| {
        let name = clean(name);
        let words = name.split(' ');
        let longest = words.map(|word| setter.fonts.word(head(SIZE), word));
        // it takes two lines or so, and none of its words is broken
        let half = setter.fonts.width(head(SIZE), &name) / 2.0;
        fine(longest.fold(half, f32::max) + 2.0 * PAD * SIZE)
    };
    let layout = Layout::new(columns, widths, &name);
    let room = |scale: f32| (WIDTH / scale * FINE) as usize;
    let fits = |scale: &f32| layout.least() <= room(*scale);
    let scale = SCALES.into_iter().find(fits).unwrap_or(SCALES[2]);
    let panels = layout.panels(room(scale), fine(LEAST_TEXT * SIZE));
    let count = panels.len();
    for (at, panel) in panels.into_iter().enumerate() {
        let part = setter.tree.top(Role::Table);
        if at == 0 && !table.caption.text.is_empty() {
            setter.caption(&table.caption, part, APART);
        }
        let mut left = SIDE;
        let mut placed = vec![];
        for (i, width) in panel {
            let width = width as f32 / FINE * scale;
            placed.push((i, left, width));
            left += width;
        }
        let panel = Panel {
            columns: placed,
            marks: marks.iter().map(|marks| marks * scale).collect(),
            size: SIZE * scale,
            wide: left - SIDE,
        };
        let below = if at + 1 < count { PANELS_APART } else { APART };
        let above = if at == 0 && table.caption.text.is_empty() {
            APART
        } else {
            0.0
        };
        panel.set(setter, &cells, part, [above, below]);
    }
}

/// Points in the units of the layout, rounded up so that what was measured has room.
fn fine(points: f32) -> usize {
    (points * FINE).ceil() as usize
}

fn cells<'t>(setter: &Setter, table: &'t Table) -> Cells<'t> {
    let group = |column: &Column| column.group.as_deref().map(Inline::new);
    Cells {
        table,
        heads: table.columns.iter().map(|c| Inline::new(&c.head)).collect(),
        groups: table.columns.iter().map(group).collect(),
        rows: table
            .rows
            .iter()
            .map(|row| row.cells.iter().map(|c| setter.inline(c)).collect())
            .collect(),
    }
}

/// How the cells of a column are set.
fn face(style: Style, strong: bool, size: f32) -> Type {
    let plain = Type {
        face: if strong { Face::Bold } else { Face::Regular },
        size,
        color: INK,
    };
    match style {
        Style::Code => plain.typed(),
        _ => plain,
    }
}

fn head(size: f32) -> Type {
    Type {
        face: Face::Bold,
        size,
        color: SOFT,
    }
}

/// What a column takes in type of the usual size, and how much of it is for marks behind numbers, pt.
fn width(setter: &Setter, cells: &Cells, at: usize) -> (Width, f32) {
    let fonts = setter.fonts;
    let style = cells.table.columns[at].style;
    let (mut words, mut marks, mut both) = (0f32, 0f32, 0f32);
    for (row, inlines) in cells.table.rows.iter().zip(&cells.rows) {
        let set = face(style, row.strong, SIZE);
        let text = fonts.width(set, &inlines[at].text);
        let behind: f32 = setter.mark_widths(&inlines[at], set).iter().sum();
        words = words.max(text);
        marks = marks.max(behind);
        both = both.max(text + behind);
    }
    let number = style == Style::Number;
    let marks = if number {
        marks.min(MOST_MARKS * SIZE)
    } else {
        0.0
    };
    let cell = if number { words + marks } else { both };
    let name = &cells.heads[at].text;
    let whole = fonts.width(head(SIZE), name) + marks;
    let longest = name.split(' ').map(|word| fonts.word(head(SIZE), word));
    let longest = longest.fold(0.0, f32::max) + marks;
    let pad = 2.0 * PAD * SIZE;
    let natural = cell.max(whole.min(longest.max(4.0 * SIZE))) + pad;
    let least = match number {
        true => natural,
        false => natural.min((longest + pad).max(LEAST_TEXT * SIZE)),
    };
    let [natural, least] = [natural, least].map(fine);
    (Width { natural, least }, marks)
}

impl Panel {
    fn set(&self, setter: &mut Setter, cells: &Cells, part: Part, [above, below]: [f32; 2]) {
        let mut heads = self.heads(setter, cells, part);
        heads.above = above;
        let repeated = Rc::new(heads.clone());
        setter.pages.put(heads);
        let body = setter.tree.within(part, Role::Rows);
        for (at, row) in cells.table.rows.iter().enumerate() {
            let tagged = setter.tree.within(body, Role::Row);
            let laid: Vec<Laid> = self
                .columns
                .iter()
                .map(|&(i, left, width)| {
                    let first = i == self.columns[0].0 && cells.table.columns[i].key;
                    let role = if first { Role::RowHead } else { Role::Cell };
                    let part = setter.tree.within(tagged, role);
                    let set = face(cells.table.columns[i].style, row.strong, self.size);
                    self.cell(
                        setter,
                        &cells.rows[at][i],
                        set,
                        part,
                        (i, left, width),
                        cells,
                    )
                })
                .collect();
            let shape = Shape {
                pad: PAD * self.size,
                rule: (SIDE, self.wide),
                tint: row.strong,
            };
            let mut slabs = setter.row(&laid, shape);
            let last = slabs.len() - 1;
            // no row stands alone at the end of a table, or before it goes on
            let rows = cells.table.rows.len();
            slabs[last].with_next = at + 1 < rows && (at == 0 || at + 2 == rows);
            if at + 1 == rows {
                slabs[last].below = below;
            }
            for mut slab in slabs {
                slab.heads = Some(Rc::clone(&repeated));
                setter.pages.put(slab);
            }
        }
    }

    /// Numbers are never broken; behind them is the same room for marks in all rows, so that they line up.
    fn cell<'t>(
        &self,
        setter: &Setter,
        inline: &'t Inline,
        set: Type,
        part: Part,
        (column, left, width): (usize, f32, f32),
        cells: &Cells,
    ) -> Laid<'t> {
        let pad = PAD * self.size;
        if cells.table.columns[column].style != Style::Number {
            let at = At::Left(left + pad);
            return setter.lay(inline, set, part, at, width - 2.0 * pad);
        }
        let words = Line {
            width: setter.fonts.width(set, &inline.text),
            pieces: vec![Piece {
                typed: false,
                text: inline.text.clone(),
            }],
            marks: 0..0,
        };
        let marks = setter.mark_widths(inline, set);
        let room = self.marks[column];
        let mut lines = crate::lines::broken(setter.fonts, set, "", &marks, room + SLACK);
        lines[0] = Line {
            marks: lines[0].marks.clone(),
            ..words
        };
        Laid {
            inline,
            lines,
            set,
            at: At::Right(left + width - pad - room),
            part,
        }
    }

    /// Heads, in two rows where columns have groups. Those of numbers stand over the numbers, not over the marks behind them.
    fn heads(&self, setter: &mut Setter, cells: &Cells, part: Part) -> Slab {
        let heads = self.lay_heads(setter, cells, part);
        let pad = PAD * self.size;
        let height = |laid: &Laid| laid.height(laid.lines.len(), TIGHT) + 2.0 * pad;
        let highest = |alone: bool| {
            let upper = heads.upper.iter().filter(|(is, _)| *is == alone);
            upper.map(|(_, laid)| height(laid)).fold(0.0, f32::max)
        };
        let under = heads.lower.iter().map(height).fold(0.0, f32::max);
        let over = highest(false).max(highest(true) - under);
        let all = over + under;
        let mut items: Vec<Item> = heads
            .lines
            .iter()
            .map(|(left, wide)| bar(*left, over - 0.4, *wide, 0.4, SOFT))
            .collect();
        items.push(bar(SIDE, all, self.wide, 0.8, SOFT));
        for (alone, laid) in &heads.upper {
            let bottom = if *alone { all } else { over };
            stand(setter, &mut items, laid, bottom - pad);
        }
        for laid in &heads.lower {
            stand(setter, &mut items, laid, all - pad);
        }
        Slab {
            items,
            height: all + 0.8,
            with_next: true,
            ..Slab::default()
        }
    }

    fn lay_heads<'t>(&self, setter: &mut Setter, cells: &'t Cells, part: Part) -> Heads<'t> {
        let pad = PAD * self.size;
        let part = setter.tree.within(part, Role::Heads);
        let rows = [(); 2].map(|()| setter.tree.within(part, Role::Row));
        let group = |(i, ..): &(usize, f32, f32)| cells.groups[*i].as_ref();
        let grouped = self.columns.iter().any(|column| group(column).is_some());
        let mut heads = Heads::default();
        let same = |a: &(usize, f32, f32), b: &(usize, f32, f32)| {
            group(a).is_some_and(|of| group(b).is_some_and(|other| of.text == other.text))
        };
        for run in self.columns.chunk_by(same) {
            let Some(name) = group(&run[0]) else {
                let role = Role::Head(1, if grouped { 2 } else { 1 });
                let part = setter.tree.within(rows[0], role);
                let laid = self.head(setter, cells, run[0], part);
                heads.upper.push((true, laid));
                continue;
            };
            let (left, wide) = (run[0].1, run.iter().map(|(_, _, width)| width).sum::<f32>());
            let columns = u32::try_from(run.len()).unwrap_or(u32::MAX);
            let part = setter.tree.within(rows[0], Role::Head(columns, 1));
            let (set, at) = (head(self.size), At::Middle(left + wide / 2.0));
            let over = setter.lay(name, set, part, at, wide - 2.0 * pad + SLACK);
            heads.upper.push((false, over));
            heads.lines.push((left + pad, wide - 2.0 * pad));
            for column in run {
                let part = setter.tree.within(rows[1], Role::Head(1, 1));
                heads.lower.push(self.head(setter, cells, *column, part));
            }
        }
        heads
    }

    fn head<'t>(
        &self,
        setter: &Setter,
        cells: &'t Cells,
        (i, left, width): (usize, f32, f32),
        part: Part,
    ) -> Laid<'t> {
        let pad = PAD * self.size;
        let room = self.marks[i];
        let at = match cells.table.columns[i].style {
            Style::Number => At::Right(left + width - pad - room),
            _ => At::Left(left + pad),
        };
        let set = head(self.size);
        setter.lay(
            &cells.heads[i],
            set,
            part,
            at,
            width - 2.0 * pad - room + SLACK,
        )
    }
}

/// Lines with the base of the last one here.
fn stand(setter: &mut Setter, items: &mut Vec<Item>, laid: &Laid, bottom: f32) {
    let pitch = laid.set.size * (CAPITAL + TIGHT);
    let mut y = bottom - laid.height(laid.lines.len(), TIGHT) + CAPITAL * laid.set.size;
    for line in &laid.lines {
        setter.line(items, laid, line, y);
        y += pitch;
    }
}
