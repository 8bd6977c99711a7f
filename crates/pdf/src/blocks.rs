//! The blocks of a document, set on pages one after the other.

use crate::Error;
use crate::face::{Face, Fonts, INK, Type};
use crate::lines::{Inline, Line, broken};
use crate::page::{Anchor, HEIGHT, Ink, Item, Pages, SIDE, Slab, WIDTH};
use crate::table;
use crate::tree::{Part, Tree};
use gritstone_report::clean;
use gritstone_report::document::{Block, Document, Figure, Text};
use krilla::tagging::{ListNumbering, TableHeaderScope, Tag};
use std::num::NonZeroU16;
use std::ops::Range;
use std::rc::Rc;

const RULE: [u8; 3] = [0xc9, 0xc7, 0xc0];
const TINT: [u8; 3] = [0xee, 0xf3, 0xf8];
const MM: f32 = 72.0 / 25.4;
/// Height of a line of letters, from the base line to the top of capitals, in ems.
const CAPITAL: f32 = 0.72;
/// Marks are raised, in ems of what they belong to.
const RAISED: f32 = 0.3;
/// Between two lines of prose and of tables, in ems.
const LEADING: f32 = 0.6;
const TIGHT: f32 = 0.5;
/// A row with more lines may be cut where a page ends.
const TALL: usize = 24;
/// Figures are drawn for a screen; on paper their letters are to be as small as those of tables.
const FIGURE: f32 = 0.76;
/// From so many sections on there is a list of them.
const CONTENTS_FROM: usize = 4;
/// Where all terms are as short as marks are, they need no wider column.
const SHORT_TERM: usize = 3;
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
    /// Their place, and which share of each line lies left of it; marks stand behind.
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
        };
        let set = Type::new(Face::Bold, 21.0);
        setter.titled(1, &document.title, set, 3.0 * MM);
        if let Some(subtitle) = &document.subtitle {
            setter.paragraph(&Inline::new(subtitle), BODY.soft());
        }
        setter.contents();
        for block in &document.blocks {
            setter.block(block)?;
        }
        setter.pages.settle();
        Ok(setter)
    }

    fn block(&mut self, block: &Block) -> Result<(), Error> {
        match block {
            Block::Heading(level, text) => self.heading((*level).clamp(1, 3), text),
            Block::Paragraph(text) => self.paragraph(&self.inline(text), BODY),
            Block::List(items) => self.list(items),
            Block::Terms(terms) => {
                let row = |(term, text): &(String, Text)| {
                    (Inline::new(term), self.inline(text), None::<Anchor>)
                };
                let rows: Vec<_> = terms.iter().map(row).collect();
                let short = |term: &Inline| term.text.chars().count() <= SHORT_TERM;
                let short = rows.iter().all(|(term, ..)| short(term));
                let first = if short { 8.0 * MM } else { 40.0 * MM };
                self.pairs(&rows, first, SMALL.soft());
            }
            Block::Table(table) => table::set(self, table),
            Block::Figure(figure) => self.figure(figure)?,
            Block::Footnotes => {
                let notes = self.document.notes().into_iter().map(|(id, note)| {
                    let mark = Inline::new(&self.document.mark(id));
                    let anchor = Anchor::Note(id.index());
                    (mark, Inline::new(&note.text), Some(anchor))
                });
                self.pairs(&notes.collect::<Vec<_>>(), 9.0 * MM, SMALL);
            }
        }
        Ok(())
    }

    pub(crate) fn inline(&self, text: &Text) -> Inline {
        let marks = self.document.marks(text).into_iter();
        Inline {
            marks: marks
                .map(|(id, mark)| (Anchor::Note(id.index()), mark))
                .collect(),
            ..Inline::new(&text.text)
        }
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
            anchor: Some(Anchor::Heading(self.headings.len())),
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
        let level = NonZeroU16::new(level).unwrap_or(NonZeroU16::MIN);
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
            let (dot, text) = (Inline::new("•"), self.inline(text));
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

    /// Names with what belongs to them, a row each.
    fn pairs(&mut self, rows: &[(Inline, Inline, Option<Anchor>)], first: f32, set: Type) {
        let table = self.tree.add(Tree::TOP, Tag::Table);
        let second = first + 4.0 * MM;
        for (at, (name, text, anchor)) in rows.iter().enumerate() {
            let row = self.tree.add(table, Tag::TR);
            let head = self.tree.add(row, Tag::TH(TableHeaderScope::Row));
            let cell = self.tree.add(row, Tag::TD);
            let right = (SIDE + second, LEFT);
            let cells = [
                self.lay(name, set, head, (SIDE, LEFT), first),
                self.lay(text, SMALL, cell, right, WIDTH - second),
            ];
            let mut slabs = self.row(&cells, 2.6, WIDTH, false);
            slabs[0].anchor = *anchor;
            if at == 0 {
                slabs[0].above = 4.0 * MM;
            }
            if let Some(last) = slabs.last_mut().filter(|_| at + 1 == rows.len()) {
                last.below = 5.0 * MM;
            }
            self.put(slabs);
        }
    }

    /// A caption above what it belongs to.
    pub(crate) fn caption(&mut self, text: &Text, of: Part, above: f32) {
        let part = self.tree.add(of, Tag::Caption);
        let set = Type::new(Face::Bold, SMALL.size);
        self.down(&self.inline(text), set, part, [above, 1.5 * MM], true);
    }

    fn figure(&mut self, figure: &Figure) -> Result<(), Error> {
        let options = usvg::Options {
            fontdb: self.fonts.database.clone(),
            ..usvg::Options::default()
        };
        let drawing = usvg::Tree::from_str(&figure.svg, &options)
            .map_err(|e| Error(format!("figure {:?}: {e}", figure.caption.text)))?;
        let group = self.tree.add(Tree::TOP, Tag::Div);
        self.caption(&figure.caption, group, 5.0 * MM);
        let words = clean(&figure.alternative).into_owned();
        let part = self.tree.add(group, Tag::Figure(Some(words)));
        let (wide, high) = (drawing.size().width(), drawing.size().height());
        let scale = FIGURE.min(WIDTH / wide).min(0.9 * HEIGHT / high);
        let (size, part) = ([wide * scale, high * scale], Some(part));
        let ink = Ink::Figure(size, Rc::new(drawing));
        let (x, y) = (SIDE, 0.0);
        self.pages.put(Slab {
            items: vec![Item { x, y, part, ink }],
            height: size[1],
            below: 5.0 * MM,
            ..Slab::default()
        });
        Ok(())
    }

    /// Links to the sections with their pages, where there are enough of them.
    fn contents(&mut self) {
        let is_heading = |block: &&Block| matches!(block, Block::Heading(..));
        let headings = self.document.blocks.iter().filter(is_heading);
        let sections = headings.enumerate().filter_map(|(at, block)| match block {
            Block::Heading(1, text) => Some((Anchor::Heading(at), Inline::new(text))),
            _ => None,
        });
        let sections: Vec<_> = sections.collect();
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

    fn put(&mut self, slabs: Vec<Slab>) {
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

    /// Some of the lines of a text from here down, each with its marks, which are links.
    pub(crate) fn draw(
        &mut self,
        items: &mut Vec<Item>,
        laid: &Laid,
        lines: Range<usize>,
        top: f32,
    ) {
        let set = laid.set;
        let mut put = |x, y, part, ink| {
            let part = Some(part);
            items.push(Item { x, y, part, ink });
        };
        let mut y = top + CAPITAL * set.size;
        for line in laid.lines.iter().take(lines.end).skip(lines.start) {
            let left = laid.at.0 - line.width * laid.at.1;
            let mut x = left;
            for (typed, text) in &line.pieces {
                let set = if *typed { set.typed() } else { set };
                put(x, y, laid.part, Ink::Text(set, text.clone()));
                x += self.fonts.width(set, text);
            }
            x = left + line.width;
            let (set, base) = (set.raised(), y - RAISED * set.size);
            for (to, mark) in &line.marks {
                let part = self.tree.add(laid.part, Tag::Link);
                let width = self.fonts.width(set, mark);
                let size = [width, 1.2 * set.size];
                let link = Ink::Link(size, *to, format!("footnote {mark}"));
                put(x, base, part, Ink::Text(set, mark.clone()));
                put(x, base - set.size, part, link);
                x += width;
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
    fn cut(&mut self, cells: &[Laid], lines: usize, pad: f32) -> Vec<Slab> {
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
