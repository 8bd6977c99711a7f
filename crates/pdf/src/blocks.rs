//! The blocks of a document, set on pages one after the other.

use crate::face::{Face, Type};
use crate::page::{Anchor, HEIGHT, Item, PAGE, SIDE, Slab, WIDTH};
use crate::set::{At, CAPITAL, INK, Inline, RULE, SOFT, Setter, Shape, TIGHT, bar};
use crate::table;
use crate::tree::{Part, Role};
use gritstone_report::clean;
use gritstone_report::document::{Block, Figure, Text};

const MM: f32 = 72.0 / 25.4;
/// Figures are drawn for a screen; on paper their letters are to be as small as those of tables.
const FIGURE: f32 = 0.76;
/// From so many sections on there is a list of them.
const CONTENTS_FROM: usize = 4;
/// Where all terms are as short as marks are, they need no wider column.
const SHORT_TERM: usize = 3;
const BODY: Type = Type {
    face: Face::Regular,
    size: 9.5,
    color: INK,
};
const SMALL: Type = Type { size: 8.5, ..BODY };

impl<'a> Setter<'a> {
    pub(crate) fn title(&mut self) {
        let document = self.document;
        let title = Inline::new(&document.title);
        let part = self.tree.top(Role::Heading(1, title.text.clone()));
        let set = Type {
            face: Face::Bold,
            size: 21.0,
            color: INK,
        };
        self.down(&title, set, part, [0.0, 3.0 * MM], true);
        if let Some(subtitle) = &document.subtitle {
            let set = Type {
                color: SOFT,
                ..BODY
            };
            let part = self.tree.top(Role::Paragraph);
            self.down(&Inline::new(subtitle), set, part, [9.0, 9.0], false);
        }
    }

    pub(crate) fn block(&mut self, block: &'a Block) {
        match block {
            Block::Heading(level, text) => self.heading((*level).clamp(1, 3), text),
            Block::Paragraph(text) => {
                let part = self.tree.top(Role::Paragraph);
                let text = self.inline(text);
                self.down(&text, BODY, part, [9.0, 9.0], false);
            }
            Block::List(items) => self.list(items),
            Block::Terms(terms) => {
                let rows: Vec<(Inline, Inline, Option<Anchor>)> = terms
                    .iter()
                    .map(|(term, text)| (Inline::new(term), self.inline(text), None))
                    .collect();
                let short = |term: &str| term.chars().count() <= SHORT_TERM;
                let short = rows.iter().all(|(term, _, _)| short(&term.text));
                let first = if short { 8.0 * MM } else { 40.0 * MM };
                self.pairs(&rows, first, SOFT);
            }
            Block::Table(table) => table::set(self, table),
            Block::Figure(figure) => self.figure(figure),
            Block::Footnotes => {
                let document = self.document;
                let notes = document.notes().into_iter().map(|(id, note)| {
                    let mark = Inline::new(&document.mark(id));
                    let anchor = Anchor::Note(id.index());
                    (mark, Inline::new(&note.text), Some(anchor))
                });
                self.pairs(&notes.collect::<Vec<_>>(), 9.0 * MM, INK);
            }
        }
    }

    fn heading(&mut self, level: u8, text: &str) {
        let (size, above, below) = match level {
            1 => (14.0, 9.0, 3.5),
            2 => (11.0, 6.0, 2.6),
            _ => (9.5, 4.0, 1.8),
        };
        let set = Type {
            face: Face::Bold,
            size,
            color: INK,
        };
        let text = Inline::new(text);
        let part = self
            .tree
            .top(Role::Heading(u16::from(level) + 1, text.text.clone()));
        let mut slab = Slab {
            above: above * MM,
            with_next: true,
            anchor: Some(Anchor::Heading(self.headings.len())),
            ..Slab::default()
        };
        if level == 1 {
            slab.items.push(bar(SIDE, 0.0, WIDTH, 1.0, INK));
            slab.height = 1.0 + 2.4 * MM;
        }
        self.headings.push((level, text.text.clone()));
        self.pages.put(slab);
        self.down(&text, set, part, [0.0, below * MM], true);
    }

    fn list(&mut self, items: &[Text]) {
        let list = self.tree.top(Role::List);
        let indent = 10.0;
        let last = items.len().saturating_sub(1);
        for (at, text) in items.iter().enumerate() {
            let item = self.tree.within(list, Role::Item);
            let bullet = self.tree.within(item, Role::Bullet);
            let body = self.tree.within(item, Role::Body);
            let room = [
                if at == 0 { 9.0 } else { 0.75 * BODY.size },
                if at == last { 9.0 } else { 0.0 },
            ];
            let text = self.inline(text);
            let place = (SIDE + indent, WIDTH - indent);
            let mut slabs = self.column(&text, BODY, body, place, room, false);
            let dot = Item::Text {
                x: SIDE,
                y: CAPITAL * BODY.size,
                set: Type {
                    color: SOFT,
                    ..BODY
                },
                text: "•".to_owned(),
                part: Some(bullet),
            };
            slabs[0].items.insert(0, dot);
            slabs.into_iter().for_each(|slab| self.pages.put(slab));
        }
    }

    /// Names with what belongs to them, a row each.
    fn pairs(&mut self, rows: &[(Inline, Inline, Option<Anchor>)], first: f32, color: [u8; 3]) {
        let table = self.tree.top(Role::Table);
        let gutter = 4.0 * MM;
        let second = SIDE + first + gutter;
        for (at, (name, text, anchor)) in rows.iter().enumerate() {
            let row = self.tree.within(table, Role::Row);
            let head = self.tree.within(row, Role::RowHead);
            let cell = self.tree.within(row, Role::Cell);
            let set = Type { color, ..SMALL };
            let cells = [
                self.lay(name, set, head, At::Left(SIDE), first),
                self.lay(text, SMALL, cell, At::Left(second), WIDTH - first - gutter),
            ];
            let shape = Shape {
                pad: 2.6,
                rule: (SIDE, WIDTH),
                tint: false,
            };
            let mut slabs = self.row(&cells, shape);
            slabs[0].anchor = *anchor;
            let last = slabs.len() - 1;
            if at == 0 {
                slabs[0].above = 4.0 * MM;
            }
            if at + 1 == rows.len() {
                slabs[last].below = 5.0 * MM;
            }
            slabs.into_iter().for_each(|slab| self.pages.put(slab));
        }
    }

    /// A caption above what it belongs to.
    pub(crate) fn caption(&mut self, text: &Text, of: Part, above: f32) {
        let part = self.tree.within(of, Role::Caption);
        let set = Type {
            face: Face::Bold,
            ..SMALL
        };
        let text = self.inline(text);
        self.down(&text, set, part, [above, 1.5 * MM], true);
    }

    fn figure(&mut self, figure: &'a Figure) {
        let group = self.tree.top(Role::Group);
        self.caption(&figure.caption, group, 5.0 * MM);
        let words = clean(&figure.alternative).into_owned();
        let part = self.tree.within(group, Role::Figure(words));
        let [wide, high] = size(&figure.svg);
        let scale = FIGURE.min(WIDTH / wide).min(0.9 * HEIGHT / high);
        self.pages.put(Slab {
            items: vec![Item::Figure {
                x: SIDE,
                y: 0.0,
                width: wide * scale,
                height: high * scale,
                number: self.figures.len(),
                part,
            }],
            height: high * scale,
            below: 5.0 * MM,
            ..Slab::default()
        });
        self.figures.push(&figure.svg);
    }

    /// Links to the sections with their pages, where there are enough of them.
    pub(crate) fn contents(&mut self) {
        let headings = self.document.blocks.iter().filter_map(|block| match block {
            Block::Heading(level, text) => Some((*level, text)),
            _ => None,
        });
        let sections: Vec<(usize, &String)> = headings
            .enumerate()
            .filter(|(_, (level, _))| *level == 1)
            .map(|(at, (_, text))| (at, text))
            .collect();
        if sections.len() < CONTENTS_FROM {
            return;
        }
        let contents = self.tree.top(Role::Contents);
        let wide = 95.0 * MM;
        let rule = |above, below, after: bool| Slab {
            items: vec![bar(SIDE, 0.0, wide, 0.6, RULE)],
            height: 0.6,
            above,
            below,
            with_next: !after,
            ..Slab::default()
        };
        self.pages.put(rule(5.0 * MM, 2.5 * MM, false));
        for (at, text) in sections {
            let to = Anchor::Heading(at);
            let entry = self.tree.within(contents, Role::Entry);
            let link = self.tree.within(entry, Role::Link);
            let text = Inline::new(text);
            let room = [TIGHT * SMALL.size; 2];
            let place = (SIDE, wide - 10.0 * MM);
            let mut slabs = self.column(&text, SMALL, link, place, room, false);
            let (y, height) = (CAPITAL * SMALL.size, 1.2 * SMALL.size);
            let last = slabs.len() - 1;
            slabs[last].items.extend([
                Item::PageOf {
                    right: SIDE + wide,
                    y,
                    set: Type {
                        color: SOFT,
                        ..SMALL
                    },
                    to,
                    part: link,
                },
                Item::Link {
                    x: SIDE,
                    y: y - 0.9 * height,
                    width: wide,
                    height,
                    to,
                    words: text.text.clone(),
                    part: link,
                },
            ]);
            slabs.into_iter().for_each(|slab| self.pages.put(slab));
        }
        self.pages.put(rule(2.5 * MM, 6.0 * MM, true));
    }
}

/// Of a drawing, as it says itself; one that says nothing is as wide as a page.
fn size(svg: &str) -> [f32; 2] {
    let numbers = svg.split_once("viewBox=\"0 0 ").map(|(_, rest)| rest);
    let numbers = numbers
        .and_then(|rest| rest.split_once('"'))
        .map(|(n, _)| n);
    let mut numbers = numbers.unwrap_or_default().split(' ');
    let mut next = |or: f32| {
        let number = numbers.next().and_then(|n| n.parse::<f32>().ok());
        number.filter(|n| *n > 0.0).unwrap_or(or)
    };
    [next(PAGE[0]), next(PAGE[0])]
}
