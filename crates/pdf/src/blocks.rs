//! The blocks of a document, set on pages one after the other.

use crate::Error;
use crate::fonts::{Face, Fonts, INK, Type};
use crate::line_breaking::{Inline, Line, broken};
use crate::page::{Anchor, Ink, Item, Pages, SIDE, Slab, WIDTH};
use crate::table;
use crate::tags::{Part, Tree};
use gritstone_document::clean;
use gritstone_document::{Block, Document, ResultLine, Text};
use krilla::tagging::{ListNumbering, TableHeaderScope, Tag};
use std::num::NonZeroU16;
use std::ops::Range;

const RULE: [u8; 3] = [0xc9, 0xc7, 0xc0];
const TINT: [u8; 3] = [0xee, 0xf3, 0xf8];
pub(crate) const MM: f32 = 72.0 / 25.4;
/// Height of a line of letters, from the base line to the top of capitals, in ems.
const CAPITAL: f32 = 0.72;
/// Between two lines of prose and of tables, in ems.
const LEADING: f32 = 0.6;
const TIGHT: f32 = 0.5;
/// A row with more lines may be cut where a page ends.
const TALL: usize = 24;
/// From so many sections on there is a list of them.
const CONTENTS_FROM: usize = 4;
const BODY: Type = Type::new(Face::Regular, 9.5);
const SMALL: Type = Type::new(Face::Regular, 8.5);

/// Which share of a line lies left of its place.
pub(crate) const LEFT: f32 = 0.0;
pub(crate) const MIDDLE: f32 = 0.5;
pub(crate) const RIGHT: f32 = 1.0;

/// Lines of one text.
pub(crate) struct Laid {
    pub(crate) lines: Vec<Line>,
    pub(crate) set: Type,
    /// Their place, and which share of each line lies left of it.
    pub(crate) at: (f32, f32),
    pub(crate) part: Part,
}

impl Laid {
    /// Height of so many lines, set tight.
    pub(crate) fn height(&self, lines: usize) -> f32 {
        let more = lines.saturating_sub(1) as f32;
        self.set.size * (CAPITAL + more * (CAPITAL + TIGHT))
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
    /// Level of the last heading as it is read aloud, which skips none.
    depth: u16,
}

impl<'a> Setter<'a> {
    /// The whole document.
    pub(crate) fn of(fonts: &'a Fonts, document: &'a Document) -> Result<Self, Error> {
        let mut setter = Self {
            fonts,
            document,
            tree: Tree::new(),
            pages: Pages::default(),
            headings: vec![],
            depth: 0,
        };
        let set = Type::new(Face::Bold, 21.0);
        setter.titled(1, &document.title, set, 3.0 * MM);
        if let Some(subtitle) = &document.subtitle {
            setter.paragraph(&Inline::new(subtitle), BODY.soft());
        }
        let is_section = |block: &Block| matches!(block, Block::Heading(1, _));
        let first = document.blocks.iter().position(is_section);
        for (at, block) in document.blocks.iter().enumerate() {
            // what stands before all sections is a page by itself
            if Some(at) == first {
                setter.contents();
            }
            setter.block(block)?;
        }
        setter.pages.settle();
        Ok(setter)
    }

    fn block(&mut self, block: &Block) -> Result<(), Error> {
        match block {
            Block::Heading(level, text) => self.heading((*level).clamp(1, 3), text),
            Block::Paragraph(text) => self.paragraph(&Inline::new(&text.text), BODY),
            Block::List(items) => self.list(items),
            Block::Terms(terms) => self.terms(terms),
            Block::Table(table) => table::set(self, table),
            Block::Figure(figure) => self.figure(figure)?,
            Block::Tiles(tiles) => self.tiles(tiles),
            Block::Results(lines) => {
                table::set(self, &ResultLine::table(lines));
                for line in lines.iter().filter(|line| !line.details.is_empty()) {
                    self.heading(3, &line.id);
                    for block in &line.details {
                        self.block(block)?;
                    }
                }
            }
            // what is found stands with its result; a document of its own may list all of it
            Block::Footnotes => {
                let notes = self.document.notes().into_iter();
                let notes: Vec<Text> = notes.map(|(_, note)| note.text.as_str().into()).collect();
                self.list(&notes);
            }
        }
        Ok(())
    }

    fn heading(&mut self, level: u8, text: &str) {
        let (size, above, below) = match level {
            1 => (14.0, 9.0, 3.5),
            2 => (11.0, 6.0, 2.6),
            _ => (9.5, 4.0, 1.8),
        };
        let mut slab = Slab {
            above: above * MM,
            with_next: true,
            anchor: Some(Anchor(self.headings.len())),
            ..Slab::default()
        };
        if level == 1 {
            slab.items.push(Item::bar(SIDE, 0.0, [WIDTH, 1.0], INK));
            slab.height = 1.0 + 2.4 * MM;
        }
        self.headings.push((level, clean(text).into_owned()));
        self.pages.put(slab);
        let set = Type::new(Face::Bold, size);
        self.titled(u16::from(level) + 1, text, set, below * MM);
    }

    fn titled(&mut self, level: u16, text: &str, set: Type, below: f32) {
        let text = Inline::new(text);
        self.depth = level.min(self.depth + 1);
        let level = NonZeroU16::new(self.depth).unwrap_or(NonZeroU16::MIN);
        let tag = Tag::Hn(level, Some(text.text.clone()));
        let part = self.tree.add(Tree::TOP, tag);
        self.down(&text, set, part, [0.0, below], true);
    }

    fn paragraph(&mut self, text: &Inline, set: Type) {
        let part = self.tree.add(Tree::TOP, Tag::P);
        self.down(text, set, part, [9.0; 2], false);
    }

    fn list(&mut self, items: &[Text]) {
        let list = self.tree.add(Tree::TOP, Tag::L(ListNumbering::Disc));
        let indent = 10.0;
        let last = items.len().saturating_sub(1);
        for (at, text) in items.iter().enumerate() {
            let item = self.tree.add(list, Tag::LI);
            let bullet = self.tree.add(item, Tag::Lbl);
            let body = self.tree.add(item, Tag::LBody);
            let (dot, text) = (Inline::new("•"), Inline::new(&text.text));
            let place = (SIDE + indent, LEFT);
            let cells = [
                self.lay(&dot, BODY.soft(), bullet, (SIDE, LEFT), indent),
                self.lay(&text, BODY, body, place, WIDTH - indent),
            ];
            let above = if at == 0 { 9.0 } else { 0.75 * BODY.size };
            let below = if at == last { 9.0 } else { 0.0 };
            let slabs = self.column(&cells, [above, below]);
            self.put(slabs);
        }
    }

    /// Terms with what belongs to them, a row each.
    fn terms(&mut self, terms: &[(String, Text)]) {
        let table = self.tree.add(Tree::TOP, Tag::Table);
        let (first, second) = (40.0 * MM, 44.0 * MM);
        for (at, (term, text)) in terms.iter().enumerate() {
            let row = self.tree.add(table, Tag::TR);
            let head = self.tree.add(row, Tag::TH(TableHeaderScope::Row));
            let cell = self.tree.add(row, Tag::TD);
            let right = (SIDE + second, LEFT);
            let (term, text) = (Inline::new(term), Inline::new(&text.text));
            let cells = [
                self.lay(&term, SMALL.soft(), head, (SIDE, LEFT), first),
                self.lay(&text, SMALL, cell, right, WIDTH - second),
            ];
            let mut slabs = self.row(&cells, 2.6, WIDTH, false);
            if at == 0 {
                slabs[0].above = 4.0 * MM;
            }
            if let Some(last) = slabs.last_mut().filter(|_| at + 1 == terms.len()) {
                last.below = 5.0 * MM;
            }
            self.put(slabs);
        }
    }

    /// A caption above what it belongs to.
    pub(crate) fn caption(&mut self, text: &Text, of: Part, above: f32) {
        let part = self.tree.add(of, Tag::Caption);
        let set = Type::new(Face::Bold, SMALL.size);
        self.down(&Inline::new(&text.text), set, part, [above, 1.5 * MM], true);
    }

    /// Links to the sections with their pages, where there are enough of them.
    fn contents(&mut self) {
        let (mut at, mut sections) = (0, vec![]);
        for block in &self.document.blocks {
            if let Block::Heading(1, text) = block {
                sections.push((Anchor(at), Inline::new(text)));
            }
            at += match block {
                Block::Heading(..) => 1,
                Block::Results(lines) => lines.iter().filter(|l| !l.details.is_empty()).count(),
                _ => 0,
            };
        }
        if sections.len() < CONTENTS_FROM {
            return;
        }
        let contents = self.tree.add(Tree::TOP, Tag::TOC);
        let wide = 95.0 * MM;
        let rule = |above, below, with_next| Slab {
            items: vec![Item::bar(SIDE, 0.0, [wide, 0.6], RULE)],
            height: 0.6,
            above,
            below,
            with_next,
            ..Slab::default()
        };
        self.pages.put(rule(5.0 * MM, 2.5 * MM, true));
        for (to, text) in sections {
            let entry = self.tree.add(contents, Tag::TOCI);
            let link = self.tree.add(entry, Tag::Link);
            let laid = self.lay(&text, SMALL, link, (SIDE, LEFT), wide - 10.0 * MM);
            let mut slabs = self.column(&[laid], [TIGHT * SMALL.size; 2]);
            let (y, height) = (CAPITAL * SMALL.size, 1.2 * SMALL.size);
            let page = (SIDE + wide, y, Ink::PageOf(SMALL.soft(), to));
            let all = Ink::Link([wide, height], to, text.text);
            let part = Some(link);
            let items = [page, (SIDE, y - 0.9 * height, all)];
            let items = items.map(|(x, y, ink)| Item { x, y, part, ink });
            let last = slabs.last_mut().expect("a line at least");
            last.items.extend(items);
            self.put(slabs);
        }
        self.pages.put(rule(2.5 * MM, 6.0 * MM, false));
    }

    pub(crate) fn put(&mut self, slabs: Vec<Slab>) {
        slabs.into_iter().for_each(|slab| self.pages.put(slab));
    }

    /// A text over the whole width; `with_next` where it must not be the last on a page.
    fn down(&mut self, text: &Inline, set: Type, part: Part, room: [f32; 2], with_next: bool) {
        let laid = self.lay(text, set, part, (SIDE, LEFT), WIDTH);
        let mut slabs = self.column(&[laid], room);
        for slab in &mut slabs {
            slab.with_next |= with_next;
        }
        self.put(slabs);
    }

    /// Texts beside each other as slabs of a line each; the first two lines stand together, and so do the last two.
    fn column(&mut self, cells: &[Laid], [above, below]: [f32; 2]) -> Vec<Slab> {
        let leading = LEADING * cells[0].set.size;
        let mut slabs = self.cut(cells, 1, 0.0);
        let last = slabs.len() - 1;
        for (at, slab) in slabs.iter_mut().enumerate() {
            slab.above = if at == 0 { above } else { leading };
            slab.below = if at == last { below } else { 0.0 };
            slab.with_next = at < last && (at == 0 || at + 1 == last);
        }
        slabs
    }

    /// A text broken into lines.
    pub(crate) fn lay(
        &self,
        inline: &Inline,
        set: Type,
        part: Part,
        at: (f32, f32),
        width: f32,
    ) -> Laid {
        Laid {
            lines: broken(self.fonts, set, inline, width),
            set,
            at,
            part,
        }
    }

    /// Some of the lines of a text from here down.
    pub(crate) fn draw(&self, items: &mut Vec<Item>, laid: &Laid, lines: Range<usize>, top: f32) {
        let set = laid.set;
        let mut put = |x, y, part, ink| {
            let part = Some(part);
            items.push(Item { x, y, part, ink });
        };
        let mut y = top + CAPITAL * set.size;
        for line in laid.lines.iter().take(lines.end).skip(lines.start) {
            let mut x = laid.at.0 - line.width * laid.at.1;
            for (typed, text) in &line.pieces {
                let set = if *typed { set.typed() } else { set };
                put(x, y, laid.part, Ink::Text(set, text.clone()));
                x += self.fonts.width(set, text);
            }
            y += laid.set.size * (CAPITAL + TIGHT);
        }
    }

    /// Texts beside each other with a rule of this width below, in one slab, or in several where there are many lines.
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

    /// Texts beside each other in slabs of so many lines.
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
