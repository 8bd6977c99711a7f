//! A text in lines of a given width: broken at spaces, and within a word only where the word alone is too long for a line. What is to
//! be typed is set in the face for that.

use crate::face::{Fonts, Type};
use gritstone_report::typed::pieces;
use std::ops::Range;

/// Behind these a word that has to be broken is broken best.
const BREAK_BEHIND: &[char] = &['/', '-', '_', '@', '.', ',', ':', ';', '=', '+'];

/// Letters that are set alike.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Piece<T> {
    /// Whether they are to be typed.
    pub(crate) typed: bool,
    pub(crate) text: T,
}

/// One line.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Line {
    /// With the space at which it was broken.
    pub(crate) pieces: Vec<Piece<String>>,
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
    let words = words(text);
    for (at, word) in words.iter().enumerate() {
        // the first mark does not stand alone at the head of a line
        let behind = match at + 1 == words.len() {
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

/// The words of a text, each in pieces that are set alike.
fn words(text: &str) -> Vec<Vec<Piece<&str>>> {
    let mut words = vec![vec![]];
    for (typed, piece) in pieces(text) {
        for (at, text) in piece.split(' ').enumerate() {
            if at > 0 {
                words.push(vec![]);
            }
            if let Some(word) = words.last_mut().filter(|_| !text.is_empty()) {
                word.push(Piece { typed, text });
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
    /// Width of the open line with its marks.
    used: f32,
    empty: bool,
}

impl Lines<'_> {
    fn word(&mut self, word: &[Piece<&str>], behind: f32) {
        let width: f32 = word.iter().map(|piece| self.width(piece)).sum();
        let beside = [
            self.open.pieces.last().map(|last| last.typed),
            word.first().map(|first| first.typed),
        ];
        let typed = beside == [Some(true); 2];
        let space = Piece { typed, text: " " };
        let gap = self.width(&space);
        if !self.empty && self.used + gap + width + behind <= self.room {
            self.put(&space);
        } else if !self.empty {
            // the space at which it is broken takes no room
            self.letters(&space);
            self.end();
        }
        match self.used + width <= self.room {
            true => word.iter().for_each(|piece| self.put(piece)),
            false => word.iter().for_each(|piece| self.cut(piece)),
        }
        self.empty = false;
    }

    fn width(&self, piece: &Piece<&str>) -> f32 {
        let set = match piece.typed {
            true => self.set.typed(),
            false => self.set,
        };
        self.fonts.word(set, piece.text)
    }

    fn put(&mut self, piece: &Piece<&str>) {
        self.letters(piece);
        self.used += self.width(piece);
        self.open.width = self.used;
        self.empty = false;
    }

    fn letters(&mut self, piece: &Piece<&str>) {
        match self.open.pieces.last_mut() {
            Some(last) if last.typed == piece.typed => last.text.push_str(piece.text),
            _ => self.open.pieces.push(Piece {
                typed: piece.typed,
                text: piece.text.to_owned(),
            }),
        }
    }

    /// A piece of a word that is longer than a line, from where the line has come to.
    fn cut(&mut self, piece: &Piece<&str>) {
        let part = |text| Piece { text, ..*piece };
        let mut rest = piece.text;
        while !rest.is_empty() {
            let begun = self.used > 0.0;
            let (mut end, mut good, mut used) = (0, 0, self.used);
            for (at, letter) in rest.char_indices() {
                let next = at + letter.len_utf8();
                let width = self.width(&part(&rest[at..next]));
                if (at > 0 || begun) && used + width > self.room {
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
            if end > 0 {
                self.put(&part(&rest[..end]));
            }
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
        color: [0; 3],
    };

    fn lines(text: &str, marks: &[f32], room: f32) -> Vec<Line> {
        let fonts = Fonts::new();
        let made = broken(&fonts, SET, text, marks, room);
        let together: String = made.iter().map(letters).collect();
        assert_eq!(together, text.replace('`', ""));
        for line in &made {
            assert!(line.width <= room, "{line:?}");
            let mut width = 0.0;
            for piece in &line.pieces {
                let set = if piece.typed { SET.typed() } else { SET };
                width += fonts.width(set, piece.text.trim_end());
            }
            let space = fonts.space(SET) * line.pieces.len() as f32;
            assert!((line.width - width).abs() < 0.5 + space, "{line:?} {width}");
        }
        made
    }

    fn letters(line: &Line) -> String {
        let pieces = line.pieces.iter();
        pieces.map(|piece| piece.text.as_str()).collect()
    }

    #[test]
    fn what_is_to_be_typed_is_set_so_without_its_backticks() {
        let one = lines("say (`a b`) and `c`.", &[], 500.0);
        let pieces: Vec<_> = one[0].pieces.iter().map(|p| (p.typed, &*p.text)).collect();
        let wanted = [
            (false, "say ("),
            (true, "a b"),
            (false, ") and "),
            (true, "c"),
            (false, "."),
        ];
        assert_eq!(pieces, wanted);
        let broken = lines("say `a command that is long`", &[], 60.0);
        assert!(broken.len() > 2 && broken.last().unwrap().pieces[0].typed);
        let alone = broken_at_all("one ` alone");
        assert_eq!(alone, "one ` alone");
        assert!(lines(&format!("`{}`", "x".repeat(100)), &[], 50.0).len() > 8);
    }

    fn broken_at_all(text: &str) -> String {
        let made = broken(&Fonts::new(), SET, text, &[], 500.0);
        made.iter().map(letters).collect()
    }

    #[test]
    fn lines_are_broken_at_spaces_and_long_words_where_they_look_best() {
        assert_eq!(lines("a few words", &[], 500.0).len(), 1);
        assert_eq!(lines("", &[], 500.0).len(), 1);
        let broken = lines("a few words more", &[], 50.0);
        assert_eq!(letters(&broken[0]), "a few ");
        let id = lines("kernel/pipeback/512@cross", &[], 70.0);
        assert_eq!(letters(&id[0]), "kernel/");
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
            [letters(&taken[0]), letters(&taken[1])],
            ["a few ", "words"]
        );
        assert_eq!(taken[1].marks, 0..1);
        let many = lines("x", &[20.0; 7], 50.0);
        let marks: Vec<_> = many.iter().map(|line| line.marks.clone()).collect();
        assert_eq!(marks, [0..2, 2..4, 4..6, 6..7]);
    }
}
