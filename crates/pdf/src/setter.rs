//! Typesetting state of a document.

use crate::fonts::{Face, Fonts, Type};
use crate::line_breaking::{Inline, Line, broken};
use crate::page::{Ink, Item, Pages, SIDE, Slab, WIDTH};
use crate::tags::{Part, Tree};
use gritstone_document::{Document, Text};
use krilla::tagging::Tag;
use std::ops::Range;

pub(crate) const RULE: [u8; 3] = [0xc9, 0xc7, 0xc0];

const TINT: [u8; 3] = [0xee, 0xf3, 0xf8];

pub(crate) const MM: f32 = 72.0 / 25.4;

/// Height of capitals above the base line, em.
pub(crate) const CAPITAL: f32 = 0.72;

/// Extra space between lines of prose and of tables, em.
const LEADING: f32 = 0.6;

pub(crate) const TIGHT: f32 = 0.5;

/// Rows with more lines may be split over pages.
const TALL: usize = 24;

pub(crate) const SMALL: Type = Type::new(Face::Regular, 8.5);

/// Share of a line that lies left of its position.
pub(crate) const LEFT: f32 = 0.0;

pub(crate) const MIDDLE: f32 = 0.5;

pub(crate) const RIGHT: f32 = 1.0;

/// Lines of one text.
pub(crate) struct Laid {
    pub(crate) lines: Vec<Line>,
    pub(crate) set: Type,
    /// Position, and share of each line that lies left of it.
    pub(crate) position: (f32, f32),
    pub(crate) part: Part,
}

impl Laid {
    /// Height of `lines` lines.
    pub(crate) fn height(&self, lines: usize) -> f32 {
        let more = lines.saturating_sub(1) as f32;
        self.set.size * (CAPITAL + more * (CAPITAL + TIGHT))
    }
}

pub(crate) struct Setter<'a> {
    pub(crate) fonts: &'a Fonts,
    pub(crate) document: &'a Document,
    pub(crate) tree: Tree,
    pub(crate) pages: Pages,
    /// Level, text.
    pub(crate) headings: Vec<(u8, String)>,
    /// Level of the last heading in the structure tree, where levels may not be skipped.
    pub(crate) depth: u16,
}

impl Setter<'_> {
    pub(crate) fn caption(&mut self, text: &Text, parent: Part, above: f32) {
        let part = self.tree.add(parent, Tag::Caption);
        let set = Type::new(Face::Bold, SMALL.size);
        self.down(&Inline::new(&text.text), set, part, [above, 1.5 * MM], true);
    }

    pub(crate) fn put(&mut self, slabs: Vec<Slab>) {
        slabs.into_iter().for_each(|slab| self.pages.put(slab));
    }

    /// Sets a text over the whole width; `with_next` if it must not be the last on a page.
    pub(crate) fn down(
        &mut self,
        text: &Inline,
        set: Type,
        part: Part,
        room: [f32; 2],
        with_next: bool,
    ) {
        let laid = self.lay(text, set, part, (SIDE, LEFT), WIDTH);
        let mut slabs = self.column(&[laid], room);
        for slab in &mut slabs {
            slab.with_next |= with_next;
        }
        self.put(slabs);
    }

    /// Sets texts side by side, one slab per line; the first two and last two lines stay together.
    pub(crate) fn column(&mut self, cells: &[Laid], [above, below]: [f32; 2]) -> Vec<Slab> {
        let leading = LEADING * cells[0].set.size;
        let mut slabs = self.cut(cells, 1, 0.0);
        let last = slabs.len() - 1;
        for (index, slab) in slabs.iter_mut().enumerate() {
            slab.above = if index == 0 { above } else { leading };
            slab.below = if index == last { below } else { 0.0 };
            slab.with_next = index < last && (index == 0 || index + 1 == last);
        }
        slabs
    }

    /// Breaks a text into lines.
    pub(crate) fn lay(
        &self,
        inline: &Inline,
        set: Type,
        part: Part,
        position: (f32, f32),
        width: f32,
    ) -> Laid {
        Laid { lines: broken(self.fonts, set, inline, width), set, position, part }
    }

    /// Draws some lines of a text.
    pub(crate) fn draw(&self, items: &mut Vec<Item>, laid: &Laid, lines: Range<usize>, top: f32) {
        let set = laid.set;
        let mut put = |x, y, part, ink| {
            let part = Some(part);
            items.push(Item { x, y, part, ink });
        };
        let mut y = top + CAPITAL * set.size;
        for line in laid.lines.iter().take(lines.end).skip(lines.start) {
            let mut x = laid.position.0 - line.width * laid.position.1;
            for (typed, text) in &line.pieces {
                let set = if *typed { set.typed() } else { set };
                put(x, y, laid.part, Ink::Text(set, text.clone()));
                x += self.fonts.width(set, text);
            }
            y += laid.set.size * (CAPITAL + TIGHT);
        }
    }

    /// Sets texts side by side with a rule of this width below, in one slab, or in several if there are many lines.
    pub(crate) fn row(&mut self, cells: &[Laid], pad: f32, wide: f32, tint: bool) -> Vec<Slab> {
        let mut slabs = self.cut(cells, TALL, pad);
        for slab in slabs.iter_mut().filter(|_| tint) {
            let size = [wide, slab.height];
            slab.items.push(Item::bar(SIDE, 0.0, size, TINT));
        }
        if let Some(last) = slabs.last_mut() {
            let y = last.height - 0.15;
            last.items.push(Item::bar(SIDE, y, [wide, 0.3], RULE));
        }
        slabs
    }

    /// Sets texts side by side in slabs of `lines` lines.
    pub(crate) fn cut(&mut self, cells: &[Laid], lines: usize, pad: f32) -> Vec<Slab> {
        let most = cells.iter().map(|c| c.lines.len()).max().unwrap_or(1);
        let mut slabs = vec![];
        for from in (0..most).step_by(lines) {
            let mut slab = Slab::default();
            for cell in cells {
                let to = cell.lines.len().min(from + lines);
                let height = cell.height(to.saturating_sub(from)) + 2.0 * pad;
                slab.height = slab.height.max(height);
                self.draw(&mut slab.items, cell, from..to, pad);
            }
            slabs.push(slab);
        }
        slabs
    }
}
