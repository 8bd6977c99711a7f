//! Page breaking.
//!
//! Slabs are never split. A slab may have to stay with the next one, as a heading with its text, or belong to a table,
//! whose heads are repeated at page breaks.

use crate::fonts::Type;
use crate::tags::Part;
use std::collections::HashMap;
use std::rc::Rc;

/// A4, pt.
pub(crate) const PAGE: [f32; 2] = [595.28, 841.89];
/// Left and right margin, pt.
pub(crate) const SIDE: f32 = 48.2;
const TOP: f32 = 51.0;
const BOTTOM: f32 = PAGE[1] - 56.7;
/// Width of the text area.
pub(crate) const WIDTH: f32 = PAGE[0] - 2.0 * SIDE;
/// Height of the text area.
pub(crate) const HEIGHT: f32 = BOTTOM - TOP;

/// Link target: number of a heading in the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Anchor(pub(crate) usize);

/// Something drawn, with its position on the page, or in a slab not yet placed.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) x: f32,
    pub(crate) y: f32,
    /// `None` for decoration and repeated content, which screen readers skip.
    pub(crate) part: Option<Part>,
    pub(crate) ink: Ink,
}

/// What is drawn; sized kinds have their upper left corner at the position.
#[derive(Clone, Debug)]
pub(crate) enum Ink {
    /// Letters on a base line.
    Text(Type, String),
    /// Page number of a heading, flush right.
    PageOf(Type, Anchor),
    /// A filled rectangle or rule.
    Bar([f32; 2], [u8; 3]),
    Figure([f32; 2], Rc<usvg::Tree>),
    /// Link area, target and description.
    Link([f32; 2], Anchor, String),
}

impl Item {
    pub(crate) fn bar(x: f32, y: f32, size: [f32; 2], color: [u8; 3]) -> Self {
        let (part, ink) = (None, Ink::Bar(size, color));
        Self { x, y, part, ink }
    }
}

/// Content that is not split.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slab {
    pub(crate) items: Vec<Item>,
    pub(crate) height: f32,
    /// Space above and below; of two adjacent slabs the larger counts; none at the top of a page.
    pub(crate) above: f32,
    pub(crate) below: f32,
    /// Stays on one page with the next slab.
    pub(crate) with_next: bool,
    /// Heads of the table that it is a row of.
    pub(crate) heads: Option<Rc<Slab>>,
    pub(crate) anchor: Option<Anchor>,
}

/// Pages under construction.
#[derive(Default)]
pub(crate) struct Pages {
    pub(crate) pages: Vec<Vec<Item>>,
    /// Page, from 0, and height on it.
    pub(crate) anchors: HashMap<Anchor, (usize, f32)>,
    waiting: Vec<Slab>,
    y: f32,
    /// Space below the last slab.
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

    /// Places the slabs that waited for a successor.
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

    /// Height left on the page below waiting slabs.
    pub(crate) fn left(&self) -> f32 {
        let waiting = self.waiting.iter();
        let waiting: f32 = waiting.map(|slab| slab.above + slab.height + slab.below).sum();
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

    /// Space between the last slab and this one.
    fn room(&self, slab: &Slab) -> f32 {
        match self.at_top() {
            true => 0.0,
            false => self.gap.max(slab.above),
        }
    }

    fn at_top(&self) -> bool {
        self.pages.last().is_none_or(Vec::is_empty)
    }

    /// Starts a page, with the table's heads if the next slab is a row of a table in progress. Only the first heads
    /// have links.
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
        page.extend(items.map(|item| Item { y: item.y + top, ..item }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slab(height: f32) -> Slab {
        Slab { items: vec![Item::bar(0.0, 0.0, [1.0, height], [0; 3])], height, ..Slab::default() }
    }

    /// Heights of the bars on each page.
    fn heights(pages: &Pages) -> Vec<Vec<f32>> {
        let height = |item: &Item| match item.ink {
            Ink::Bar([_, height], _) => height,
            _ => 0.0,
        };
        let page_heights = |page: &Vec<Item>| page.iter().map(height).collect();
        pages.pages.iter().map(page_heights).collect()
    }

    #[test]
    fn adjacent_slabs_share_space() {
        let mut pages = Pages::default();
        for (height, with_next, [above, below]) in [
            (10.0, false, [5.0, 10.0]),
            (11.0, false, [20.0, 0.0]),
            (HEIGHT - 80.0, false, [3.0, 0.0]),
            (20.0, true, [0.0; 2]),
            (25.0, false, [0.0; 2]),
        ] {
            pages.put(Slab { with_next, above, below, ..slab(height) });
        }
        let wanted = [vec![10.0, 11.0, HEIGHT - 80.0], vec![20.0, 25.0]];
        assert_eq!(heights(&pages), wanted);
        // no space at the top
        let ys: Vec<f32> = pages.pages[0].iter().map(|item| item.y).collect();
        assert_eq!(ys, [TOP, TOP + 30.0, TOP + 44.0]);
        // slabs that do not fit one page together are placed one by one
        let mut pages = Pages::default();
        for _ in 0..5 {
            pages.put(Slab { with_next: true, ..slab(HEIGHT / 2.0 - 1.0) });
        }
        pages.settle();
        assert_eq!(pages.pages.len(), 3);
    }

    #[test]
    fn page_breaks_repeat_heads() {
        let mut pages = Pages::default();
        let heads = Rc::new(slab(7.0));
        pages.put(Slab { with_next: true, ..slab(7.0) });
        // a slab higher than a page is placed anyway
        for part in [0.4, 0.4, 0.4, 2.0] {
            pages.put(Slab { heads: Some(Rc::clone(&heads)), ..slab(HEIGHT * part) });
        }
        let heads =
            heights(&pages).into_iter().map(|page| page.iter().filter(|h| **h == 7.0).count());
        assert_eq!(heads.collect::<Vec<_>>(), [1, 1, 1]);
    }
}
