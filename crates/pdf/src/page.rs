//! Pages: what lies on each of them, and where a page ends.
//!
//! What is laid out comes in slabs, which are never cut. A slab may have to stand on one page with the next one, as a heading
//! with what it heads, and may belong to a table whose heads are repeated where a page ends within it.

use crate::fonts::Type;
use crate::tags::Part;
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

/// Where a link may lead: a heading, by its number in the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Anchor(pub(crate) usize);

/// What lies on a page; its place is that on the page, or in the slab that is not on one yet.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) x: f32,
    pub(crate) y: f32,
    /// Nothing for ornaments, and for what is repeated on every page: they are not read aloud.
    pub(crate) part: Option<Part>,
    pub(crate) ink: Ink,
}

/// The kinds of it; those with a size have their left upper corner at the place.
#[derive(Clone, Debug)]
pub(crate) enum Ink {
    /// Letters on a base line.
    Text(Type, String),
    /// The number of the page of a heading, flush right.
    PageOf(Type, Anchor),
    /// A filled rectangle; rules are such.
    Bar([f32; 2], [u8; 3]),
    Figure([f32; 2], Rc<usvg::Tree>),
    /// A rectangle that leads somewhere, which the words tell.
    Link([f32; 2], Anchor, String),
}

impl Item {
    pub(crate) fn bar(x: f32, y: f32, size: [f32; 2], color: [u8; 3]) -> Self {
        let (part, ink) = (None, Ink::Bar(size, color));
        Self { x, y, part, ink }
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

    /// Height that is left on the page below what waits.
    pub(crate) fn left(&self) -> f32 {
        let waiting = self.waiting.iter();
        let waiting: f32 = waiting
            .map(|slab| slab.above + slab.height + slab.below)
            .sum();
        BOTTOM - self.y - self.gap - waiting
    }

    fn place(&mut self, slab: Slab) {
        let full = self.y + self.room(&slab) + slab.height > BOTTOM;
        if self.pages.is_empty() || full && !self.at_top() {
            self.turn(Some(&slab));
        }
        let top = self.y + self.room(&slab);
        if let Some(anchor) = slab.anchor {
            self.anchors.insert(anchor, (self.pages.len() - 1, top));
        }
        self.lay(slab.items.into_iter(), top);
        (self.y, self.gap) = (top + slab.height, slab.below);
    }

    /// Between the last slab and this one.
    fn room(&self, slab: &Slab) -> f32 {
        match self.at_top() {
            true => 0.0,
            false => self.gap.max(slab.above),
        }
    }

    fn at_top(&self) -> bool {
        self.pages.last().is_none_or(Vec::is_empty)
    }

    /// A new page; where the next slab is a row of a table that has begun, with the heads of that table. Links are on the
    /// first heads alone.
    fn turn(&mut self, next: Option<&Slab>) {
        self.pages.push(vec![]);
        (self.y, self.gap) = (TOP, 0.0);
        if let Some(heads) = next.and_then(|slab| slab.heads.as_deref()) {
            let shown = |item: &&Item| matches!(item.ink, Ink::Text(..) | Ink::Bar(..));
            let items = heads.items.iter().filter(shown).cloned();
            self.lay(items.map(|item| Item { part: None, ..item }), TOP);
            self.y += heads.height;
        }
    }

    fn lay(&mut self, items: impl Iterator<Item = Item>, top: f32) {
        let page = self.pages.last_mut().expect("a page that was begun");
        page.extend(items.map(|item| Item {
            y: item.y + top,
            ..item
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slab(height: f32) -> Slab {
        Slab {
            items: vec![Item::bar(0.0, 0.0, [1.0, height], [0; 3])],
            height,
            ..Slab::default()
        }
    }

    /// Of the bars of each page.
    fn heights(pages: &Pages) -> Vec<Vec<f32>> {
        let height = |item: &Item| match item.ink {
            Ink::Bar([_, height], _) => height,
            _ => 0.0,
        };
        let of = |page: &Vec<Item>| page.iter().map(height).collect();
        pages.pages.iter().map(of).collect()
    }

    #[test]
    fn slabs_that_belong_together_stand_together_with_the_larger_room_between_them() {
        let mut pages = Pages::default();
        for (height, with_next, [above, below]) in [
            (10.0, false, [5.0, 10.0]),
            (11.0, false, [20.0, 0.0]),
            (HEIGHT - 80.0, false, [3.0, 0.0]),
            (20.0, true, [0.0; 2]),
            (25.0, false, [0.0; 2]),
        ] {
            pages.put(Slab {
                with_next,
                above,
                below,
                ..slab(height)
            });
        }
        let wanted = [vec![10.0, 11.0, HEIGHT - 80.0], vec![20.0, 25.0]];
        assert_eq!(heights(&pages), wanted);
        // there is no room at the top
        let ys: Vec<f32> = pages.pages[0].iter().map(|item| item.y).collect();
        assert_eq!(ys, [TOP, TOP + 30.0, TOP + 44.0]);
        // what would not fit a page together is put down one by one
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

    #[test]
    fn heads_are_repeated_where_a_page_ends_within_a_table_and_only_there() {
        let mut pages = Pages::default();
        let heads = Rc::new(slab(7.0));
        pages.put(Slab {
            with_next: true,
            ..slab(7.0)
        });
        // what is higher than a page is put down all the same
        for part in [0.4, 0.4, 0.4, 2.0] {
            pages.put(Slab {
                heads: Some(Rc::clone(&heads)),
                ..slab(HEIGHT * part)
            });
        }
        let heads = heights(&pages)
            .into_iter()
            .map(|page| page.iter().filter(|h| **h == 7.0).count());
        assert_eq!(heads.collect::<Vec<_>>(), [1, 1, 1]);
    }
}
