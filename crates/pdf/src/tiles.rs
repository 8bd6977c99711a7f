//! Key values and drawings.

use crate::Error;
use crate::fonts::{Face, Type};
use crate::line_breaking::Inline;
use crate::page::{HEIGHT, Ink, Item, SIDE, Slab, WIDTH};
use crate::setter::{LEFT, Laid, MM, Setter};
use crate::tags::{Part, Tree};
use gritstone_document::clean;
use gritstone_document::{Figure, Tile, Tone};
use krilla::tagging::Tag;
use std::rc::Rc;

/// Scale of figures, which are drawn for a screen: their letters get the size of tables.
const FIGURE: f32 = 0.76;
/// Minimum scale; smaller figures move to the next page.
const SMALLEST: f32 = 0.45;
/// Tiles per row.
const TILES: usize = 4;
const TILE: Type = Type::new(Face::Regular, 7.5);
const GOOD: [u8; 3] = [0x1b, 0x6e, 0x3c];
const DOUBT: [u8; 3] = [0x8a, 0x5a, 0x00];
const BAD: [u8; 3] = [0xb3, 0x26, 0x1e];

impl Setter<'_> {
    /// Sets key values side by side, each with its name above and its origin below.
    pub(crate) fn tiles(&mut self, tiles: &[Tile]) {
        tiles.chunks(TILES).for_each(|row| self.row_of_tiles(row));
    }

    fn row_of_tiles(&mut self, tiles: &[Tile]) {
        let wide = WIDTH / TILES as f32;
        let list = self.tree.add(Tree::TOP, Tag::Div);
        let parts: Vec<Part> = tiles.iter().map(|_| self.tree.add(list, Tag::P)).collect();
        type TileLine = (Type, fn(&Tile) -> &str, f32);
        let lines: [TileLine; 3] = [
            (TILE.soft(), |tile| tile.name.as_str(), 3.0 * MM),
            (Type::new(Face::Bold, 14.0), |tile| tile.value.as_str(), 1.2 * MM),
            (TILE.soft(), |tile| tile.detail.as_str(), 1.2 * MM),
        ];
        let last = lines.len() - 1;
        for (index, (set, text, above)) in lines.into_iter().enumerate() {
            let cells = tiles.iter().zip(&parts).enumerate();
            let cells = cells.map(|(column, (tile, part))| {
                let set = match tile.tone {
                    _ if set.face != Face::Bold => set,
                    Some(Tone::Good) => Type { color: GOOD, ..set },
                    Some(Tone::Doubt) => Type { color: DOUBT, ..set },
                    Some(Tone::Bad) => Type { color: BAD, ..set },
                    Some(Tone::Faint) | None => set,
                };
                let left = SIDE + column as f32 * wide;
                self.lay(&Inline::new(text(tile)), set, *part, (left, LEFT), wide - 3.0 * MM)
            });
            let cells: Vec<Laid> = cells.collect();
            let mut slabs = self.cut(&cells, usize::MAX, 0.0);
            for slab in &mut slabs {
                (slab.above, slab.with_next) = (above, index < last);
            }
            self.put(slabs);
        }
    }

    /// Sets drawings side by side, as large as the rest of the page allows, or on the next page.
    pub(crate) fn figure(&mut self, figure: &Figure) -> Result<(), Error> {
        let options =
            usvg::Options { fontdb: self.fonts.database.clone(), ..usvg::Options::default() };
        let read = |svg: &String| {
            usvg::Tree::from_str(svg, &options)
                .map_err(|e| Error(format!("figure {:?}: {e}", figure.caption.text)))
        };
        let drawings: Vec<usvg::Tree> = figure.svgs.iter().map(read).collect::<Result<_, _>>()?;
        let group = self.tree.add(Tree::TOP, Tag::Div);
        self.caption(&figure.caption, group, 5.0 * MM);
        let words = clean(&figure.alternative).into_owned();
        let part = Some(self.tree.add(group, Tag::Figure(Some(words))));
        let wide = drawings.iter().map(|drawing| drawing.size().width());
        let high = drawings.iter().map(|drawing| drawing.size().height());
        let high = high.fold(0.0, f32::max);
        let scale = FIGURE.min(WIDTH / wide.sum::<f32>()).min(0.9 * HEIGHT / high);
        let left = self.pages.left() / high;
        let scale = if left >= SMALLEST { scale.min(left) } else { scale };
        let mut slab = Slab { below: 5.0 * MM, height: high * scale, ..Slab::default() };
        let (mut x, y) = (SIDE, 0.0);
        for drawing in drawings {
            let size = [drawing.size().width(), drawing.size().height()].map(|side| side * scale);
            let ink = Ink::Figure(size, Rc::new(drawing));
            slab.items.push(Item { x, y, part, ink });
            x += size[0];
        }
        self.pages.put(slab);
        Ok(())
    }
}
