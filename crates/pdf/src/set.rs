//! A text as lines on pages, and several texts beside each other.

use crate::face::{Face, Fonts, Type};
use crate::lines::{Line, broken};
use crate::page::{Anchor, Item, Pages, SIDE, Slab, WIDTH};
use crate::tree::{Part, Role, Tree};
use gritstone_report::clean;
use gritstone_report::document::{Document, Text};

pub(crate) const INK: [u8; 3] = [0x1c, 0x1c, 0x1a];
pub(crate) const SOFT: [u8; 3] = [0x5a, 0x5a, 0x55];
pub(crate) const RULE: [u8; 3] = [0xc9, 0xc7, 0xc0];
pub(crate) const TINT: [u8; 3] = [0xee, 0xf3, 0xf8];
/// Height of a line of letters, from the base line to the top of capitals, in ems.
pub(crate) const CAPITAL: f32 = 0.72;
/// Marks are smaller and raised, in ems of what they belong to.
const MARK: f32 = 0.7;
const RAISED: f32 = 0.3;
/// Between two lines of prose and of tables, in ems.
const LEADING: f32 = 0.6;
pub(crate) const TIGHT: f32 = 0.5;
/// A row with more lines may be cut where a page ends.
const TALL: usize = 24;

/// Words, and the marks of the footnotes behind them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inline {
    pub(crate) text: String,
    pub(crate) marks: Vec<(Anchor, String)>,
}

impl Inline {
    pub(crate) fn new(text: &str) -> Self {
        Self {
            text: clean(text).into_owned(),
            marks: vec![],
        }
    }
}

/// A document that is being set.
pub(crate) struct Setter<'a> {
    pub(crate) fonts: &'a Fonts,
    pub(crate) document: &'a Document,
    pub(crate) tree: Tree,
    pub(crate) pages: Pages,
    /// Level and words.
    pub(crate) headings: Vec<(u8, String)>,
    /// Drawings in their order.
    pub(crate) figures: Vec<&'a str>,
}

/// Where lines stand.
#[derive(Clone, Copy, Debug)]
pub(crate) enum At {
    /// From here to the right.
    Left(f32),
    /// Up to here, with the marks behind.
    Right(f32),
    /// About here.
    Middle(f32),
}

/// Lines of one text.
pub(crate) struct Laid<'a> {
    pub(crate) inline: &'a Inline,
    pub(crate) lines: Vec<Line>,
    pub(crate) set: Type,
    pub(crate) at: At,
    pub(crate) part: Part,
}

impl Laid<'_> {
    /// Height of so many lines.
    pub(crate) fn height(&self, lines: usize, leading: f32) -> f32 {
        let more = lines.saturating_sub(1) as f32;
        self.set.size * (CAPITAL + more * (CAPITAL + leading))
    }
}

/// How a row of texts is set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Above and below, pt.
    pub(crate) pad: f32,
    /// Left edge and width of the rule below, pt.
    pub(crate) rule: (f32, f32),
    pub(crate) tint: bool,
}

impl<'a> Setter<'a> {
    /// The whole document.
    pub(crate) fn of(fonts: &'a Fonts, document: &'a Document) -> Self {
        let mut setter = Self {
            fonts,
            document,
            tree: Tree::default(),
            pages: Pages::default(),
            headings: vec![],
            figures: vec![],
        };
        setter.title();
        setter.contents();
        for block in &document.blocks {
            setter.block(block);
        }
        setter.pages.settle();
        setter
    }

    pub(crate) fn inline(&self, text: &Text) -> Inline {
        let marks = self.document.marks(text).into_iter();
        Inline {
            text: clean(&text.text).into_owned(),
            marks: marks
                .map(|(id, mark)| (Anchor::Note(id.index()), mark))
                .collect(),
        }
    }

    /// A text over the whole width; `with_next` where it must not be the last on a page.
    pub(crate) fn down(
        &mut self,
        text: &Inline,
        set: Type,
        part: Part,
        room: [f32; 2],
        with_next: bool,
    ) {
        for slab in self.column(text, set, part, (SIDE, WIDTH), room, with_next) {
            self.pages.put(slab);
        }
    }

    /// A text as slabs of a line each; the first two lines stand together, and so do the last two.
    pub(crate) fn column(
        &mut self,
        text: &Inline,
        set: Type,
        part: Part,
        (left, width): (f32, f32),
        [above, below]: [f32; 2],
        with_next: bool,
    ) -> Vec<Slab> {
        let laid = self.lay(text, set, part, At::Left(left), width);
        let last = laid.lines.len() - 1;
        let mut slabs = vec![];
        for (at, line) in laid.lines.iter().enumerate() {
            let mut slab = Slab {
                height: CAPITAL * set.size,
                above: if at == 0 { above } else { LEADING * set.size },
                below: if at == last { below } else { 0.0 },
                with_next: with_next || at < last && (at == 0 || at + 1 == last),
                ..Slab::default()
            };
            self.line(&mut slab.items, &laid, line, CAPITAL * set.size);
            slabs.push(slab);
        }
        slabs
    }

    /// A text broken into lines.
    pub(crate) fn lay<'t>(
        &self,
        inline: &'t Inline,
        set: Type,
        part: Part,
        at: At,
        width: f32,
    ) -> Laid<'t> {
        let marks = self.mark_widths(inline, set);
        Laid {
            inline,
            lines: broken(self.fonts, set, &inline.text, &marks, width),
            set,
            at,
            part,
        }
    }

    pub(crate) fn mark_widths(&self, inline: &Inline, set: Type) -> Vec<f32> {
        let width = |(_, mark): &(Anchor, String)| self.fonts.width(raised(set), mark);
        inline.marks.iter().map(width).collect()
    }

    /// A line with its base at y, and its marks, each of which is a link.
    pub(crate) fn line(&mut self, items: &mut Vec<Item>, laid: &Laid, line: &Line, y: f32) {
        let (set, part) = (laid.set, laid.part);
        let left = match laid.at {
            At::Left(left) => left,
            At::Right(right) => right - line.width,
            At::Middle(middle) => middle - line.width / 2.0,
        };
        let mut at = left;
        for piece in &line.pieces {
            let set = if piece.typed { set.typed() } else { set };
            items.push(Item::Text {
                x: at,
                y,
                set,
                text: piece.text.clone(),
                part: Some(part),
            });
            at += self.fonts.width(set, &piece.text);
        }
        let mut x = left + line.width;
        for (to, mark) in &laid.inline.marks[line.marks.clone()] {
            let part = self.tree.within(part, Role::Link);
            let small = raised(set);
            let width = self.fonts.width(small, mark);
            let base = y - RAISED * set.size;
            items.push(Item::Text {
                x,
                y: base,
                set: small,
                text: mark.clone(),
                part: Some(part),
            });
            items.push(Item::Link {
                x,
                y: base - small.size,
                width,
                height: 1.2 * small.size,
                to: *to,
                words: format!("footnote {mark}"),
                part,
            });
            x += width;
        }
    }

    /// Texts beside each other with a rule below, in one slab, or in several where there are many lines.
    pub(crate) fn row(&mut self, cells: &[Laid], shape: Shape) -> Vec<Slab> {
        let most = cells.iter().map(|c| c.lines.len()).max().unwrap_or(1);
        let mut slabs = vec![];
        for from in (0..most).step_by(TALL) {
            let to = most.min(from + TALL);
            let heights = cells.iter().map(|cell| {
                let lines = cell.lines.len().min(to).saturating_sub(from);
                cell.height(lines, TIGHT)
            });
            let height = 2.0 * shape.pad + heights.fold(0.0, f32::max);
            let mut items = vec![];
            let (left, width) = shape.rule;
            if shape.tint {
                items.push(bar(left, 0.0, width, height, TINT));
            }
            if to == most {
                items.push(bar(left, height - 0.15, width, 0.3, RULE));
            }
            for cell in cells {
                let pitch = cell.set.size * (CAPITAL + TIGHT);
                let mut y = shape.pad + CAPITAL * cell.set.size;
                for line in cell.lines.iter().take(to).skip(from) {
                    self.line(&mut items, cell, line, y);
                    y += pitch;
                }
            }
            slabs.push(Slab {
                items,
                height,
                ..Slab::default()
            });
        }
        slabs
    }
}

/// Marks behind letters.
fn raised(set: Type) -> Type {
    Type {
        face: Face::Regular,
        size: set.size * MARK,
        ..set
    }
}

pub(crate) fn bar(x: f32, y: f32, width: f32, height: f32, color: [u8; 3]) -> Item {
    Item::Box {
        x,
        y,
        width,
        height,
        color,
    }
}
