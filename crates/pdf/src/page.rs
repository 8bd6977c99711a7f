//! Pages: what lies on each of them, and where a page ends.
//!
//! What is laid out comes in slabs, which are never cut. A slab may have to stand on one page with the next one, as a heading
//! with what it heads, and may belong to a table whose heads are repeated where a page ends within it.

use crate::face::Type;
use crate::tree::Part;
use std::collections::HashMap;
use std::rc::Rc;

/// A4, pt.
pub(crate) const PAGE: [f32; 2] = [595.28, 841.89];
/// Left and right, pt.
pub(crate) const SIDE: f32 = 48.2;
const TOP: f32 = 51.0;
const BOTTOM: f32 = PAGE[1] - 56.7;
/// Of what is set.
pub(crate) const WIDTH: f32 = PAGE[0] - 2.0 * SIDE;
/// Of a page without its margins.
pub(crate) const HEIGHT: f32 = BOTTOM - TOP;

/// Where a link may lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Anchor {
    /// A heading, by its number in the document.
    Heading(usize),
    /// A footnote, by its number in the document.
    Note(usize),
}

/// What lies on a page; places are those of the page, or of the slab that is not on one yet.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    /// Letters on a base line.
    Text {
        x: f32,
        y: f32,
        set: Type,
        text: String,
        /// Nothing for what is repeated on every page, and not read aloud.
        part: Option<Part>,
    },
    /// A filled rectangle; rules are such.
    Box {
        x: f32,
        y: f32,
        width: f32,
        height: f32,
        color: [u8; 3],
    },
    /// A drawing of the document, by its number.
    Figure {
        x: f32,
        y: f32,
        width: f32,
        height: f32,
        number: usize,
        part: Part,
    },
    /// A rectangle that leads somewhere.
    Link {
        x: f32,
        y: f32,
        width: f32,
        height: f32,
        to: Anchor,
        words: String,
        part: Part,
    },
    /// The number of the page of a heading, flush right.
    PageOf {
        right: f32,
        y: f32,
        set: Type,
        to: Anchor,
        part: Part,
    },
}

impl Item {
    fn lowered(mut self, by: f32) -> Self {
        let (Self::Text { y, .. }
        | Self::Box { y, .. }
        | Self::Figure { y, .. }
        | Self::Link { y, .. }
        | Self::PageOf { y, .. }) = &mut self;
        *y += by;
        self
    }

    /// For the heads of a table on its next page; links are on the first alone.
    fn repeated(&self) -> Option<Self> {
        match self.clone() {
            Self::Text {
                x, y, set, text, ..
            } => Some(Self::Text {
                x,
                y,
                set,
                text,
                part: None,
            }),
            line @ Self::Box { .. } => Some(line),
            _ => None,
        }
    }
}

/// Something that is not cut.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slab {
    pub(crate) items: Vec<Item>,
    pub(crate) height: f32,
    /// Room to what stands above and below it; of two, the larger counts. There is none at the top of a page.
    pub(crate) above: f32,
    pub(crate) below: f32,
    /// On one page with the next slab.
    pub(crate) with_next: bool,
    /// The heads of the table that it is a row of.
    pub(crate) heads: Option<Rc<Slab>>,
    pub(crate) anchor: Option<Anchor>,
}

/// Pages that are being filled.
#[derive(Default)]
pub(crate) struct Pages {
    pub(crate) pages: Vec<Vec<Item>>,
    /// Page, from 0, and height on it.
    pub(crate) anchors: HashMap<Anchor, (usize, f32)>,
    waiting: Vec<Slab>,
    y: f32,
    /// Below the last slab.
    gap: f32,
}

impl Pages {
    pub(crate) fn put(&mut self, slab: Slab) {
        let more = slab.with_next;
        self.waiting.push(slab);
        if !more {
            self.settle();
        }
    }

    /// Puts down what was to stand with something that never came.
    pub(crate) fn settle(&mut self) {
        let slabs = std::mem::take(&mut self.waiting);
        let mut gap = self.gap;
        let mut height = 0.0;
        for slab in &slabs {
            height += gap.max(slab.above) + slab.height;
            gap = slab.below;
        }
        if self.y + height > BOTTOM && height <= HEIGHT {
            self.turn(slabs.first());
        }
        for slab in slabs {
            self.place(slab);
        }
    }

    fn place(&mut self, slab: Slab) {
        let room = |pages: &Self| match pages.at_top() {
            true => 0.0,
            false => pages.gap.max(slab.above),
        };
        if self.pages.is_empty() || self.y + room(self) + slab.height > BOTTOM && !self.at_top() {
            self.turn(Some(&slab));
        }
        let top = self.y + room(self);
        let number = self.pages.len() - 1;
        if let Some(anchor) = slab.anchor {
            self.anchors.insert(anchor, (number, top));
        }
        let items = slab.items.into_iter().map(|item| item.lowered(top));
        self.pages[number].extend(items);
        self.y = top + slab.height;
        self.gap = slab.below;
    }

    fn at_top(&self) -> bool {
        self.pages.last().is_none_or(Vec::is_empty)
    }

    /// A new page; where the next slab is a row of a table that has begun, with the heads of that table.
    fn turn(&mut self, next: Option<&Slab>) {
        self.pages.push(vec![]);
        (self.y, self.gap) = (TOP, 0.0);
        if let Some(heads) = next.and_then(|slab| slab.heads.as_ref()) {
            let items = heads.items.iter().filter_map(Item::repeated);
            let items: Vec<Item> = items.map(|item| item.lowered(TOP)).collect();
            self.pages.last_mut().expect("just pushed").extend(items);
            self.y += heads.height;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slab(height: f32) -> Slab {
        Slab {
            items: vec![Item::Box {
                x: 0.0,
                y: 0.0,
                width: 1.0,
                height,
                color: [0; 3],
            }],
            height,
            ..Slab::default()
        }
    }

    fn heights(pages: &Pages) -> Vec<Vec<f32>> {
        let of = |page: &Vec<Item>| {
            let height = |item: &Item| match item {
                Item::Box { height, .. } => *height,
                _ => 0.0,
            };
            page.iter().map(height).collect()
        };
        pages.pages.iter().map(of).collect()
    }

    #[test]
    fn a_heading_stands_with_what_it_heads() {
        let mut pages = Pages::default();
        pages.put(slab(HEIGHT - 30.0));
        pages.put(Slab {
            with_next: true,
            ..slab(20.0)
        });
        pages.put(slab(25.0));
        assert_eq!(heights(&pages), [vec![HEIGHT - 30.0], vec![20.0, 25.0]]);
    }

    #[test]
    fn room_between_two_is_the_larger_and_there_is_none_at_the_top() {
        let mut pages = Pages::default();
        for (above, below) in [(5.0, 10.0), (20.0, 0.0), (3.0, 0.0)] {
            let spaced = Slab {
                above,
                below,
                ..slab(10.0)
            };
            pages.put(spaced);
        }
        let Item::Box { y, .. } = pages.pages[0][2] else {
            panic!();
        };
        assert_eq!(y, TOP + 10.0 + 20.0 + 10.0 + 3.0);
    }

    #[test]
    fn heads_are_repeated_where_a_page_ends_within_a_table_and_only_there() {
        let mut pages = Pages::default();
        let heads = Rc::new(slab(7.0));
        let row = |height: f32| Slab {
            heads: Some(Rc::clone(&heads)),
            ..slab(height)
        };
        let first = Slab {
            with_next: true,
            ..slab(7.0)
        };
        pages.put(first);
        for _ in 0..3 {
            pages.put(row(HEIGHT / 2.0 - 10.0));
        }
        assert_eq!(
            heights(&pages)
                .iter()
                .map(|page| page.iter().filter(|h| **h == 7.0).count())
                .collect::<Vec<_>>(),
            [1, 1]
        );
        // what is higher than a page is put down all the same
        pages.put(row(HEIGHT * 2.0));
        assert_eq!(pages.pages.len(), 3);
    }

    #[test]
    fn what_would_not_fit_a_page_together_is_put_down_one_by_one() {
        let mut pages = Pages::default();
        for _ in 0..5 {
            pages.put(Slab {
                with_next: true,
                ..slab(HEIGHT / 2.0 - 1.0)
            });
        }
        pages.settle();
        assert_eq!(pages.pages.len(), 3);
    }
}
