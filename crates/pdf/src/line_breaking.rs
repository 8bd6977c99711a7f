//! A text in lines of a given width: broken at spaces, and within a word only where the word alone is too long for a line. What is to
//! be typed is set in the face for that.

use crate::fonts::{Fonts, Type};
use gritstone_document::{clean, code_spans};

/// Behind these a word that has to be broken is broken best.
const BREAK_BEHIND: &[char] = &['/', '-', '_', '@', '.', ',', ':', ';', '=', '+'];

/// Words, made harmless.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inline {
    pub(crate) text: String,
}

impl Inline {
    pub(crate) fn new(text: &str) -> Self {
        Self {
            text: clean(text).into_owned(),
        }
    }
}

/// Whether letters are to be typed, and these letters, which are set alike.
type Piece<'a> = (bool, &'a str);

/// One line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    /// With the space at which it was broken.
    pub(crate) pieces: Vec<(bool, String)>,
    /// Without that space, pt.
    pub(crate) width: f32,
}

/// The lines of a text. There is one line at least.
pub(crate) fn broken(fonts: &Fonts, set: Type, inline: &Inline, room: f32) -> Vec<Line> {
    let mut lines = Lines {
        fonts,
        set,
        room,
        done: vec![],
        open: Line::default(),
        used: 0.0,
        empty: true,
    };
    for word in words(&inline.text) {
        lines.word(&word);
    }
    lines.end();
    lines.done
}

/// The words of a text, each in pieces that are set alike.
fn words(text: &str) -> Vec<Vec<Piece<'_>>> {
    let mut words = vec![vec![]];
    for (typed, piece) in code_spans::pieces(text) {
        for (at, text) in piece.split(' ').enumerate() {
            if at > 0 {
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
                // the space at which it is broken takes no room
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

    /// A piece of a word that is longer than a line, from where the line has come to.
    fn cut(&mut self, (typed, mut rest): Piece) {
        while !rest.is_empty() {
            let begun = self.used > 0.0;
            let (mut end, mut good, mut used) = (0, 0, self.used);
            for (at, letter) in rest.char_indices() {
                let next = at + letter.len_utf8();
                used += self.width((typed, &rest[at..next]));
                if (at > 0 || begun) && used > self.room {
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
        let made = broken(&Fonts::new(), set, &Inline::new(text), room);
        assert!(made.iter().all(|line| line.width <= room));
        let letters = |line: &Line| -> String {
            let pieces = line.pieces.iter();
            pieces.map(|(_, text)| text.as_str()).collect()
        };
        let made: Vec<String> = made.iter().map(letters).collect();
        assert_eq!(made.concat(), text);
        made
    }

    #[test]
    fn lines_are_broken_at_spaces_and_long_words_where_they_look_best() {
        for (text, room, count, first) in [
            ("a few words", 500.0, 1, "a few words"),
            ("", 500.0, 1, ""),
            ("a few words more", 50.0, 3, "a few "),
            ("kernel/pipeback/512@cross", 70.0, 3, "kernel/"),
        ] {
            let made = lines(text, room);
            assert_eq!((made.len(), made[0].as_str()), (count, first), "{made:?}");
        }
        assert!(lines(&"x".repeat(1000), 100.0).len() > 40);
    }

    #[test]
    fn what_is_to_be_typed_is_set_so_without_its_backticks() {
        let set = Type::new(Face::Regular, 10.0);
        let one = broken(&Fonts::new(), set, &Inline::new("say (`a b`)."), 500.0);
        let pieces = one[0].pieces.iter().map(|(typed, text)| (*typed, &**text));
        assert!(pieces.eq([(false, "say ("), (true, "a b"), (false, ").")]));
    }
}
