//! Three fonts: how wide words are in them, and the glyphs of a text.

use krilla::text::{Font, GlyphId, KrillaGlyph};
use rustybuzz::{Direction, ShapePlan, UnicodeBuffer, script};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use unicode_bidi::{BidiInfo, Level};
use usvg::fontdb;

/// Liberation Sans has the metrics of Helvetica and figures of one width; it knows Latin, Greek, Cyrillic and Hebrew.
/// Its name stands in the figures too. Mono is for names of programs. See `fonts/LICENSE-OFL`.
const FILES: [&[u8]; 3] = [
    include_bytes!("../fonts/LiberationSans-Regular.ttf"),
    include_bytes!("../fonts/LiberationSans-Bold.ttf"),
    include_bytes!("../fonts/LiberationMono-Regular.ttf"),
];
/// The same words come again and again; longer ones are not worth keeping.
const LONGEST_KEPT: usize = 32;

/// One of the fonts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Face {
    Regular,
    Bold,
    Mono,
}

/// How text is set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Type {
    pub(crate) face: Face,
    /// pt.
    pub(crate) size: f32,
    pub(crate) color: [u8; 3],
}

/// Letters of a typewriter face look larger.
const TYPED: f32 = 0.92;

impl Type {
    /// The same for what is to be typed, and for names.
    pub(crate) fn typed(self) -> Self {
        match self.face {
            Face::Mono => self,
            _ => Self {
                face: Face::Mono,
                size: self.size * TYPED,
                ..self
            },
        }
    }
}

pub(crate) struct Fonts {
    loaded: [Loaded; 3],
    /// Widths of words, in ems.
    widths: RefCell<HashMap<(Face, String), f32>>,
    /// The same fonts, for figures.
    pub(crate) database: Arc<fontdb::Database>,
}

struct Loaded {
    font: Font,
    face: rustybuzz::Face<'static>,
    forward: ShapePlan,
    backward: ShapePlan,
}

impl Fonts {
    pub(crate) fn new() -> Self {
        let mut database = fontdb::Database::new();
        for file in FILES {
            database.load_font_source(fontdb::Source::Binary(Arc::new(file)));
        }
        Self {
            loaded: FILES.map(Loaded::new),
            widths: RefCell::default(),
            database: Arc::new(database),
        }
    }

    fn loaded(&self, face: Face) -> &Loaded {
        &self.loaded[face as usize]
    }

    pub(crate) fn font(&self, face: Face) -> &Font {
        &self.loaded(face).font
    }

    /// Width of a text in one line, pt.
    pub(crate) fn width(&self, set: Type, text: &str) -> f32 {
        let words = text.split(' ').map(|word| self.word(set, word));
        words.sum::<f32>() + self.space(set) * text.matches(' ').count() as f32
    }

    pub(crate) fn space(&self, set: Type) -> f32 {
        self.word(set, " ")
    }

    /// Width of a word, pt.
    pub(crate) fn word(&self, set: Type, word: &str) -> f32 {
        let shaped = || {
            let runs = self.runs(set.face, word);
            runs.iter().map(Run::width).sum::<f32>()
        };
        if word.len() > LONGEST_KEPT {
            return shaped() * set.size;
        }
        let mut widths = self.widths.borrow_mut();
        let known = widths.entry((set.face, word.to_owned()));
        *known.or_insert_with(shaped) * set.size
    }

    /// A text as runs of one direction each, from left to right as they are seen.
    pub(crate) fn runs(&self, face: Face, text: &str) -> Vec<Run> {
        let loaded = self.loaded(face);
        if text.is_ascii() {
            return vec![loaded.run(0..text.len(), text, false)];
        }
        let bidi = BidiInfo::new(text, Some(Level::ltr()));
        let mut runs = vec![];
        for paragraph in &bidi.paragraphs {
            let (levels, seen) = bidi.visual_runs(paragraph, paragraph.range.clone());
            for range in seen {
                let backward = levels[range.start].is_rtl();
                runs.push(loaded.run(range.clone(), &text[range], backward));
            }
        }
        runs
    }
}

impl Loaded {
    fn new(file: &'static [u8]) -> Self {
        let face = rustybuzz::Face::from_slice(file, 0).expect("a font that is built in");
        let plan = |direction, script| ShapePlan::new(&face, direction, Some(script), None, &[]);
        Self {
            font: Font::new(file.into(), 0).expect("a font that is built in"),
            forward: plan(Direction::LeftToRight, script::LATIN),
            backward: plan(Direction::RightToLeft, script::HEBREW),
            face,
        }
    }

    fn run(&self, range: Range<usize>, text: &str, backward: bool) -> Run {
        let mut buffer = UnicodeBuffer::new();
        buffer.push_str(text);
        let (direction, script, plan) = match backward {
            false => (Direction::LeftToRight, script::LATIN, &self.forward),
            true => (Direction::RightToLeft, script::HEBREW, &self.backward),
        };
        buffer.set_direction(direction);
        buffer.set_script(script);
        let shaped = rustybuzz::shape_with_plan(&self.face, plan, buffer);
        let mut starts: Vec<u32> = shaped.glyph_infos().iter().map(|i| i.cluster).collect();
        starts.sort_unstable();
        starts.dedup();
        let em = self.font.units_per_em();
        let placed = shaped.glyph_infos().iter().zip(shaped.glyph_positions());
        let glyphs = placed.map(|(info, at)| {
            let next = starts.partition_point(|start| *start <= info.cluster);
            let end = starts.get(next).map_or(text.len(), |end| *end as usize);
            KrillaGlyph::new(
                GlyphId::new(info.glyph_id),
                at.x_advance as f32 / em,
                at.x_offset as f32 / em,
                at.y_offset as f32 / em,
                at.y_advance as f32 / em,
                info.cluster as usize..end,
                None,
            )
        });
        Run {
            range,
            glyphs: glyphs.collect(),
        }
    }
}

/// Glyphs of one direction.
pub(crate) struct Run {
    /// Of the text.
    pub(crate) range: Range<usize>,
    pub(crate) glyphs: Vec<KrillaGlyph>,
}

impl Run {
    /// In ems.
    pub(crate) fn width(&self) -> f32 {
        self.glyphs.iter().map(|glyph| glyph.x_advance).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_widths_and_digits_one_width() {
        let fonts = Fonts::new();
        let set = |face| Type {
            face,
            size: 10.0,
            color: [0; 3],
        };
        let regular = |text: &str| fonts.width(set(Face::Regular), text);
        assert!((regular("0123") - regular("8888")).abs() < 1e-3);
        assert!(regular("a b") > regular("ab"));
        assert!(fonts.width(set(Face::Bold), "word") > regular("word"));
        assert_eq!(
            fonts.width(set(Face::Mono), "iii"),
            fonts.width(set(Face::Mono), "WWW")
        );
        assert_eq!(regular(""), 0.0);
    }

    #[test]
    fn every_byte_of_a_text_belongs_to_a_glyph_and_hebrew_runs_backwards() {
        let fonts = Fonts::new();
        for text in [
            "plain",
            "efficient",
            "µs ± 3 †‡",
            "ab מחשב cd",
            "東京\u{FFFD}",
        ] {
            let mut covered = vec![false; text.len()];
            for run in fonts.runs(Face::Regular, text) {
                for glyph in &run.glyphs {
                    let range = glyph.text_range.clone();
                    covered[run.range.start + range.start..run.range.start + range.end].fill(true);
                }
            }
            assert!(covered.iter().all(|c| *c), "{text}");
        }
        let runs = fonts.runs(Face::Regular, "ab מחשב cd");
        assert_eq!(runs.len(), 3);
        let starts: Vec<usize> = runs[1].glyphs.iter().map(|g| g.text_range.start).collect();
        assert!(starts.is_sorted_by(|a, b| a > b), "{starts:?}");
    }
}
