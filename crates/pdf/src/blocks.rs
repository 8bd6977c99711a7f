//! Lays out the blocks of a document.

use crate::Error;
use crate::fonts::{Face, Fonts, INK, Type};
use crate::line_breaking::Inline;
use crate::page::{Anchor, Ink, Item, Pages, SIDE, Slab, WIDTH};
use crate::setter::{CAPITAL, LEFT, MM, RULE, SMALL, Setter, TIGHT};
use crate::table;
use crate::tags::Tree;
use gritstone_document::clean;
use gritstone_document::{Block, Document, ResultLine, Text};
use krilla::tagging::{ListNumbering, TableHeaderScope, Tag};
use std::num::NonZeroU16;

/// Minimum number of sections of a document with a table of contents.
const CONTENTS_FROM: usize = 4;
const BODY: Type = Type::new(Face::Regular, 9.5);

impl<'a> Setter<'a> {
    pub(crate) fn new(fonts: &'a Fonts, document: &'a Document) -> Result<Self, Error> {
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
        for (index, block) in document.blocks.iter().enumerate() {
            // what precedes the first section is a page of its own
            if Some(index) == first {
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
            // footnotes are listed with their results; a document may request the whole list
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
        for (index, text) in items.iter().enumerate() {
            let item = self.tree.add(list, Tag::LI);
            let bullet = self.tree.add(item, Tag::Lbl);
            let body = self.tree.add(item, Tag::LBody);
            let (dot, text) = (Inline::new("•"), Inline::new(&text.text));
            let place = (SIDE + indent, LEFT);
            let cells = [
                self.lay(&dot, BODY.soft(), bullet, (SIDE, LEFT), indent),
                self.lay(&text, BODY, body, place, WIDTH - indent),
            ];
            let above = if index == 0 { 9.0 } else { 0.75 * BODY.size };
            let below = if index == last { 9.0 } else { 0.0 };
            let slabs = self.column(&cells, [above, below]);
            self.put(slabs);
        }
    }

    /// Terms with their descriptions, one row each.
    fn terms(&mut self, terms: &[(String, Text)]) {
        let table = self.tree.add(Tree::TOP, Tag::Table);
        let (first, second) = (40.0 * MM, 44.0 * MM);
        for (index, (term, text)) in terms.iter().enumerate() {
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
            if index == 0 {
                slabs[0].above = 4.0 * MM;
            }
            if let Some(last) = slabs.last_mut().filter(|_| index + 1 == terms.len()) {
                last.below = 5.0 * MM;
            }
            self.put(slabs);
        }
    }

    /// Table of contents with page numbers, for at least `CONTENTS_FROM` sections.
    fn contents(&mut self) {
        let (mut index, mut sections) = (0, vec![]);
        for block in &self.document.blocks {
            if let Block::Heading(1, text) = block {
                sections.push((Anchor(index), Inline::new(text)));
            }
            index += match block {
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
}
