//! Breaks text into lines: at spaces, and inside a word only if it is longer than a line. Code spans are set in the
//! monospaced font.

use crate::fonts::{Fonts, Type};
use gritstone_document::{clean, code_spans};

/// Preferred break positions inside words: after these.
const BREAK_BEHIND: &[char] = &['/', '-', '_', '@', '.', ',', ':', ';', '=', '+'];

/// Sanitized words.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inline {
    pub(crate) text: String,
}

impl Inline {
    pub(crate) fn new(text: &str) -> Self {
        Self { text: clean(text).into_owned() }
    }
}

/// Whether the piece is code; its letters.
type Piece<'a> = (bool, &'a str);

#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    /// Pieces, including the space at the break.
    pub(crate) pieces: Vec<(bool, String)>,
    /// Without that space, pt.
    pub(crate) width: f32,
}

/// Returns at least one line.
pub(crate) fn broken(fonts: &Fonts, set: Type, inline: &Inline, room: f32) -> Vec<Line> {
    let mut lines =
        Lines { fonts, set, room, done: vec![], open: Line::default(), used: 0.0, empty: true };
    for word in words(&inline.text) {
        lines.word(&word);
    }
    lines.end();
    lines.done
}

/// The words of a text, each in pieces of one style.
fn words(text: &str) -> Vec<Vec<Piece<'_>>> {
    let mut words = vec![vec![]];
    for (typed, piece) in code_spans::pieces(text) {
        for (index, text) in piece.split(' ').enumerate() {
            if index > 0 {
                words.push(vec![]);
            }
            if let Some(word) = words.last_mut().filter(|_| !text.is_empty()) {
                word.push((typed, text));
            }
        }
    }
    words
}

struct Lines<'a> {
    fonts: &'a Fonts,
    set: Type,
    room: f32,
    done: Vec<Line>,
    open: Line,
    /// Width of the open line.
    used: f32,
    empty: bool,
}

impl Lines<'_> {
    fn word(&mut self, word: &[Piece]) {
        let width: f32 = word.iter().map(|piece| self.width(*piece)).sum();
        if !self.empty {
            let ends = (self.open.pieces.last(), word.first());
            let space = (matches!(ends, (Some((true, _)), Some((true, _)))), " ");
            let (used, gap) = (self.used, self.width(space));
            self.put(space);
            if used + gap + width > self.room {
                // the space at the break takes no room
                self.open.width = used;
                self.end();
            }
        }
        match self.used + width <= self.room {
            true => word.iter().for_each(|piece| self.put(*piece)),
            false => word.iter().for_each(|piece| self.cut(*piece)),
        }
        self.empty = false;
    }

    fn width(&self, (typed, text): Piece) -> f32 {
        let set = if typed { self.set.typed() } else { self.set };
        self.fonts.word(set, text)
    }

    fn put(&mut self, (typed, text): Piece) {
        match self.open.pieces.last_mut() {
            Some((same, letters)) if *same == typed => letters.push_str(text),
            _ => self.open.pieces.push((typed, text.to_owned())),
        }
        self.used += self.width((typed, text));
        self.open.width = self.used;
        self.empty = false;
    }

    /// Breaks a piece of a word longer than a line, from the current position.
    fn cut(&mut self, (typed, mut rest): Piece) {
        while !rest.is_empty() {
            let begun = self.used > 0.0;
            let (mut end, mut good, mut used) = (0, 0, self.used);
            for (start, letter) in rest.char_indices() {
                let next = start + letter.len_utf8();
                used += self.width((typed, &rest[start..next]));
                if (start > 0 || begun) && used > self.room {
                    break;
                }
                end = next;
                if BREAK_BEHIND.contains(&letter) {
                    good = next;
                }
            }
            if end < rest.len() && good > end / 3 {
                end = good;
            }
            if end > 0 {
                self.put((typed, &rest[..end]));
            }
            rest = &rest[end..];
            if !rest.is_empty() {
                self.end();
            }
        }
    }

    fn end(&mut self) {
        self.done.push(std::mem::take(&mut self.open));
        (self.used, self.empty) = (0.0, true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fonts::Face;

    /// The letters of each line.
    fn lines(text: &str, room: f32) -> Vec<String> {
        let set = Type::new(Face::Regular, 10.0);
        let broken_lines = broken(&Fonts::new(), set, &Inline::new(text), room);
        assert!(broken_lines.iter().all(|line| line.width <= room));
        let letters = |line: &Line| -> String {
            let pieces = line.pieces.iter();
            pieces.map(|(_, text)| text.as_str()).collect()
        };
        let texts: Vec<String> = broken_lines.iter().map(letters).collect();
        assert_eq!(texts.concat(), text);
        texts
    }

    #[test]
    fn lines_break_at_spaces() {
        for (text, room, count, first) in [
            ("a few words", 500.0, 1, "a few words"),
            ("", 500.0, 1, ""),
            ("a few words more", 50.0, 3, "a few "),
            ("kernel/pipeback/512@cross", 70.0, 3, "kernel/"),
        ] {
            let texts = lines(text, room);
            assert_eq!((texts.len(), texts[0].as_str()), (count, first), "{texts:?}");
        }
        assert!(lines(&"x".repeat(1000), 100.0).len() > 40);
    }

    #[test]
    fn code_spans_lose_backticks() {
        let set = Type::new(Face::Regular, 10.0);
        let one = broken(&Fonts::new(), set, &Inline::new("say (`a b`)."), 500.0);
        let pieces = one[0].pieces.iter().map(|(typed, text)| (*typed, &**text));
        assert!(pieces.eq([(false, "say ("), (true, "a b"), (false, ").")]));
    }
}
