//! Fonts: word widths and glyphs.

use krilla::text::{Font, GlyphId, KrillaGlyph};
use rustybuzz::{Direction, ShapePlan, UnicodeBuffer, script};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;
use unicode_bidi::{BidiInfo, Level};
use usvg::fontdb;

/// Liberation Sans has the metrics of Helvetica and tabular digits, and covers Latin, Greek, Cyrillic and Hebrew.
/// Figures name it too. Mono is for code. See `fonts/LICENSE-OFL`.
const FILES: [&[u8]; 3] = [
    include_bytes!("../fonts/LiberationSans-Regular.ttf"),
    include_bytes!("../fonts/LiberationSans-Bold.ttf"),
    include_bytes!("../fonts/LiberationMono-Regular.ttf"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Face {
    Regular,
    Bold,
    Mono,
}

pub(crate) const INK: [u8; 3] = [0x1c, 0x1c, 0x1a];
pub(crate) const SOFT: [u8; 3] = [0x5a, 0x5a, 0x55];
/// Relative size: monospaced letters look larger.
const TYPED: f32 = 0.92;

/// Type style.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Type {
    pub(crate) face: Face,
    /// pt.
    pub(crate) size: f32,
    pub(crate) color: [u8; 3],
}

impl Type {
    pub(crate) const fn new(face: Face, size: f32) -> Self {
        let color = INK;
        Self { face, size, color }
    }

    /// In gray.
    pub(crate) const fn soft(mut self) -> Self {
        self.color = SOFT;
        self
    }

    pub(crate) fn scaled(mut self, by: f32) -> Self {
        self.size *= by;
        self
    }

    /// In the monospaced font, for code and names.
    pub(crate) fn typed(mut self) -> Self {
        let set = std::mem::replace(&mut self.face, Face::Mono);
        self.scaled(if set == Face::Mono { 1.0 } else { TYPED })
    }
}

pub(crate) struct Fonts {
    loaded: [Loaded; 3],
    /// Cached word widths, em.
    widths: RefCell<HashMap<(Face, String), f32>>,
    /// Words with characters that the fonts lack.
    replaced: RefCell<BTreeSet<String>>,
    /// The same fonts, for figures.
    pub(crate) database: Arc<fontdb::Database>,
}

struct Loaded {
    font: Font,
    face: rustybuzz::Face<'static>,
    /// Left to right, right to left.
    plans: [ShapePlan; 2],
    /// Replaces characters that the font lacks, as PDF/UA allows no `.notdef`; copying and reading aloud give the
    /// character.
    unknown: (u32, i32),
}

/// Left to right, right to left.
const WAYS: [(Direction, rustybuzz::Script); 2] =
    [(Direction::LeftToRight, script::LATIN), (Direction::RightToLeft, script::HEBREW)];

impl Fonts {
    pub(crate) fn new() -> Self {
        let mut database = fontdb::Database::new();
        for file in FILES {
            database.load_font_source(fontdb::Source::Binary(Arc::new(file)));
        }
        let load = |file: &'static [u8]| {
            let face = rustybuzz::Face::from_slice(file, 0).expect("a built-in font");
            let unknown = face.glyph_index('?').expect("a font with Latin letters");
            let advance = face.glyph_hor_advance(unknown).unwrap_or_default();
            Loaded {
                unknown: (u32::from(unknown.0), i32::from(advance)),
                font: Font::new(file.into(), 0).expect("a built-in font"),
                plans: WAYS.map(|(direction, script)| {
                    ShapePlan::new(&face, direction, Some(script), None, &[])
                }),
                face,
            }
        };
        Self {
            loaded: FILES.map(load),
            widths: RefCell::default(),
            replaced: RefCell::default(),
            database: Arc::new(database),
        }
    }

    pub(crate) fn font(&self, face: Face) -> Font {
        self.loaded[face as usize].font.clone()
    }

    /// Width of a text in one line, pt.
    pub(crate) fn width(&self, set: Type, text: &str) -> f32 {
        let words = text.split(' ').map(|word| self.word(set, word));
        words.sum::<f32>() + self.word(set, " ") * text.matches(' ').count() as f32
    }

    /// Width of a word, pt, cached.
    pub(crate) fn word(&self, set: Type, word: &str) -> f32 {
        let mut widths = self.widths.borrow_mut();
        let known = widths.entry((set.face, word.to_owned()));
        let shaped = || {
            let runs = self.runs(set.face, word);
            if runs.iter().any(|run| run.has_unknown) {
                self.replaced.borrow_mut().insert(word.to_owned());
            }
            runs.iter().map(Run::width).sum()
        };
        *known.or_insert_with(shaped) * set.size
    }

    pub(crate) fn replaced(&self) -> Vec<String> {
        self.replaced.borrow().iter().cloned().collect()
    }

    /// Splits a text into runs of one direction, in visual order.
    pub(crate) fn runs(&self, face: Face, text: &str) -> Vec<Run> {
        let loaded = &self.loaded[face as usize];
        if text.is_ascii() {
            return vec![loaded.run(0..text.len(), text, false)];
        }
        let bidi = BidiInfo::new(text, Some(Level::ltr()));
        // the text has no line breaks
        let Some(line) = bidi.paragraphs.first() else {
            return vec![];
        };
        let (levels, seen) = bidi.visual_runs(line, line.range.clone());
        let run = |range: Range<usize>| {
            let backward = levels[range.start].is_rtl();
            loaded.run(range.clone(), &text[range], backward)
        };
        seen.into_iter().map(run).collect()
    }
}

impl Loaded {
    fn run(&self, range: Range<usize>, text: &str, backward: bool) -> Run {
        let mut buffer = UnicodeBuffer::new();
        buffer.push_str(text);
        let (direction, script) = WAYS[usize::from(backward)];
        let plan = &self.plans[usize::from(backward)];
        buffer.set_direction(direction);
        buffer.set_script(script);
        let shaped = rustybuzz::shape_with_plan(&self.face, plan, buffer);
        let mut starts: Vec<u32> = shaped.glyph_infos().iter().map(|i| i.cluster).collect();
        starts.sort_unstable();
        starts.dedup();
        let em = self.font.units_per_em();
        let has_unknown = shaped.glyph_infos().iter().any(|info| info.glyph_id == 0);
        let placed = shaped.glyph_infos().iter().zip(shaped.glyph_positions());
        let glyphs = placed.map(|(info, position)| {
            let next = starts.partition_point(|start| *start <= info.cluster);
            let end = starts.get(next).map_or(text.len(), |end| *end as usize);
            let (glyph, advance) = match info.glyph_id {
                0 => self.unknown,
                known => (known, position.x_advance),
            };
            KrillaGlyph::new(
                GlyphId::new(glyph),
                advance as f32 / em,
                position.x_offset as f32 / em,
                position.y_offset as f32 / em,
                position.y_advance as f32 / em,
                info.cluster as usize..end,
                None,
            )
        });
        Run { range, glyphs: glyphs.collect(), has_unknown }
    }
}

/// Glyphs of one direction.
pub(crate) struct Run {
    /// In the text.
    pub(crate) range: Range<usize>,
    pub(crate) glyphs: Vec<KrillaGlyph>,
    has_unknown: bool,
}

impl Run {
    /// em.
    pub(crate) fn width(&self) -> f32 {
        self.glyphs.iter().map(|glyph| glyph.x_advance).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glyphs_cover_all_bytes() {
        let fonts = Fonts::new();
        let hebrew = "ab מחשב cd";
        for text in ["plain", "efficient", "µs ± 3 †‡", hebrew, "東京\u{FFFD}"] {
            let mut covered = vec![false; text.len()];
            for run in fonts.runs(Face::Regular, text) {
                for glyph in &run.glyphs {
                    let range = glyph.text_range.clone();
                    covered[run.range.start + range.start..run.range.start + range.end].fill(true);
                }
            }
            assert!(covered.iter().all(|c| *c), "{text}");
        }
        let runs = fonts.runs(Face::Regular, hebrew);
        assert_eq!(runs.len(), 3);
        let starts = runs[1].glyphs.iter().map(|g| g.text_range.start);
        assert!(starts.rev().is_sorted());
    }
}
