//! A text in lines of a given width: broken at spaces, and within a word only where the word alone is too long for a line.
//!
//! Must not know: pages, tables, documents.

use crate::face::{Fonts, Type};
use std::ops::Range;

/// Behind these a word that has to be broken is broken best.
const BREAK_BEHIND: &[char] = &['/', '-', '_', '@', '.', ',', ':', ';', '=', '+'];

/// One line.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Line {
    /// With the space at which it was broken.
    pub(crate) text: String,
    /// Without that space, pt.
    pub(crate) width: f32,
    /// Which of the marks behind the text stand at its end.
    pub(crate) marks: Range<usize>,
}

/// The lines of a text with marks of these widths behind it. There is one line at least.
pub(crate) fn broken(fonts: &Fonts, set: Type, text: &str, marks: &[f32], room: f32) -> Vec<Line> {
    let mut lines = Lines {
        fonts,
        set,
        room,
        done: vec![],
        open: Line::default(),
        used: 0.0,
        empty: true,
    };
    let words = text.split(' ').count();
    for (at, word) in text.split(' ').enumerate() {
        // the first mark does not stand alone at the head of a line
        let behind = match at + 1 == words {
            true => marks.first().copied().unwrap_or_default(),
            false => 0.0,
        };
        lines.word(word, behind);
    }
    for (at, width) in marks.iter().enumerate() {
        lines.mark(at, *width);
    }
    lines.end();
    lines.done
}

struct Lines<'a> {
    fonts: &'a Fonts,
    set: Type,
    room: f32,
    done: Vec<Line>,
    open: Line,
    /// Width of the open line with its marks.
    used: f32,
    empty: bool,
}

impl Lines<'_> {
    fn word(&mut self, word: &str, behind: f32) {
        let width = self.fonts.word(self.set, word);
        let space = self.fonts.space(self.set);
        if !self.empty && self.used + space + width + behind <= self.room {
            self.open.text.push(' ');
            self.put(word, space + width);
            return;
        }
        if !self.empty {
            self.open.text.push(' ');
            self.end();
        }
        if width <= self.room {
            self.put(word, width);
        } else {
            self.cut(word);
        }
    }

    fn put(&mut self, text: &str, width: f32) {
        self.open.text.push_str(text);
        self.used += width;
        self.open.width = self.used;
        self.empty = false;
    }

    /// A word that is longer than a line.
    fn cut(&mut self, word: &str) {
        let mut rest = word;
        while !rest.is_empty() {
            let (mut end, mut good, mut used) = (0, 0, 0.0);
            for (at, letter) in rest.char_indices() {
                let next = at + letter.len_utf8();
                let width = self.fonts.word(self.set, &rest[at..next]);
                if at > 0 && used + width > self.room {
                    break;
                }
                used += width;
                end = next;
                if BREAK_BEHIND.contains(&letter) {
                    good = next;
                }
            }
            if end < rest.len() && good > end / 3 {
                end = good;
            }
            let piece = &rest[..end];
            self.put(piece, self.fonts.word(self.set, piece));
            rest = &rest[end..];
            if !rest.is_empty() {
                self.end();
            }
        }
    }

    fn mark(&mut self, at: usize, width: f32) {
        if !self.empty && self.used + width > self.room {
            self.end();
            self.open.marks = at..at;
        }
        if self.open.marks.is_empty() {
            self.open.marks.start = at;
        }
        self.open.marks.end = at + 1;
        self.used += width;
        self.empty = false;
    }

    fn end(&mut self) {
        self.done.push(std::mem::take(&mut self.open));
        self.used = 0.0;
        self.empty = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::face::Face;

    const SET: Type = Type {
        face: Face::Regular,
        size: 10.0,
        colour: [0; 3],
    };

    fn lines(text: &str, marks: &[f32], room: f32) -> Vec<Line> {
        let fonts = Fonts::new();
        let made = broken(&fonts, SET, text, marks, room);
        let together: String = made.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(together, text);
        for line in &made {
            assert!(line.width <= room, "{line:?}");
            let width = fonts.width(SET, line.text.trim_end());
            assert!((line.width - width).abs() < 0.5, "{line:?} {width}");
        }
        made
    }

    #[test]
    fn lines_are_broken_at_spaces_and_long_words_where_they_look_best() {
        assert_eq!(lines("a few words", &[], 500.0).len(), 1);
        assert_eq!(lines("", &[], 500.0).len(), 1);
        let broken = lines("a few words more", &[], 50.0);
        assert_eq!(broken[0].text, "a few ");
        let id = lines("kernel/pipeback/512@cross", &[], 70.0);
        assert_eq!(id[0].text, "kernel/");
        assert!(lines(&"x".repeat(1000), &[], 100.0).len() > 40);
    }

    #[test]
    fn marks_stand_at_the_last_word_and_wrap_like_words() {
        let one = lines("a few words", &[5.0, 5.0], 500.0);
        assert_eq!(one[0].marks, 0..2);
        // the last word goes to the next line with its mark
        let text = "a few words";
        let width = Fonts::new().width(SET, text);
        let taken = lines(text, &[5.0], width + 2.0);
        assert_eq!(
            [taken[0].text.as_str(), &taken[1].text],
            ["a few ", "words"]
        );
        assert_eq!(taken[1].marks, 0..1);
        let many = lines("x", &[20.0; 7], 50.0);
        let marks: Vec<_> = many.iter().map(|line| line.marks.clone()).collect();
        assert_eq!(marks, [0..2, 2..4, 4..6, 6..7]);
    }
}
