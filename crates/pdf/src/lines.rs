//! A text in lines of a given width: broken at spaces, and within a word only where the word alone is too long for a line. What is to
//! be typed is set in the face for that.

use crate::face::{Fonts, Type};
use crate::page::Anchor;
use gritstone_report::{clean, typed};

/// Behind these a word that has to be broken is broken best.
const BREAK_BEHIND: &[char] = &['/', '-', '_', '@', '.', ',', ':', ';', '=', '+'];

/// Words, and the marks of the footnotes behind them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inline {
    pub(crate) text: String,
    pub(crate) marks: Vec<(Anchor, String)>,
}

impl Inline {
    pub(crate) fn new(text: &str) -> Self {
        Self {
            text: clean(text).into_owned(),
            marks: vec![],
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
    /// Without that space, and without the marks, pt.
    pub(crate) width: f32,
    pub(crate) marks: Vec<(Anchor, String)>,
}

/// The lines of a text with its marks. There is one line at least.
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
    let marked = |(_, mark): &(Anchor, String)| fonts.width(set.raised(), mark);
    let words = words(&inline.text);
    for (at, word) in words.iter().enumerate() {
        // the first mark does not stand alone at the head of a line
        let first = inline.marks.first().filter(|_| at + 1 == words.len());
        lines.word(word, first.map_or(0.0, marked));
    }
    for mark in &inline.marks {
        let width = marked(mark);
        if !lines.empty && lines.used + width > room {
            lines.end();
        }
        lines.open.marks.push(mark.clone());
        lines.used += width;
        lines.empty = false;
    }
    lines.end();
    lines.done
}

/// The words of a text, each in pieces that are set alike.
fn words(text: &str) -> Vec<Vec<Piece<'_>>> {
    let mut words = vec![vec![]];
    for (typed, piece) in typed::pieces(text) {
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
    /// Width of the open line with its marks.
    used: f32,
    empty: bool,
}

impl Lines<'_> {
    fn word(&mut self, word: &[Piece], behind: f32) {
        let width: f32 = word.iter().map(|piece| self.width(*piece)).sum();
        if !self.empty {
            let ends = (self.open.pieces.last(), word.first());
            let space = (matches!(ends, (Some((true, _)), Some((true, _)))), " ");
            let (used, gap) = (self.used, self.width(space));
            self.put(space);
            if used + gap + width + behind > self.room {
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
    use crate::face::Face;

    /// The letters of each line, with how many marks stand at its end.
    fn lines(text: &str, marks: &[&str], room: f32) -> Vec<(String, usize)> {
        let set = Type::new(Face::Regular, 10.0);
        let mut inline = Inline::new(text);
        let mark = |mark: &&str| (Anchor::Note(0), (*mark).to_owned());
        inline.marks = marks.iter().map(mark).collect();
        let made = broken(&Fonts::new(), set, &inline, room);
        assert!(made.iter().all(|line| line.width <= room));
        let letters = |line: &Line| -> String {
            let pieces = line.pieces.iter();
            pieces.map(|(_, text)| text.as_str()).collect()
        };
        assert_eq!(made.iter().map(letters).collect::<String>(), text);
        let made = made.iter().map(|l| (letters(l), l.marks.len()));
        made.collect()
    }

    #[test]
    fn lines_are_broken_at_spaces_and_long_words_where_they_look_best() {
        for (text, room, count, first) in [
            ("a few words", 500.0, 1, "a few words"),
            ("", 500.0, 1, ""),
            ("a few words more", 50.0, 3, "a few "),
            ("kernel/pipeback/512@cross", 70.0, 3, "kernel/"),
        ] {
            let made = lines(text, &[], room);
            assert_eq!((made.len(), made[0].0.as_str()), (count, first), "{made:?}");
        }
        assert!(lines(&"x".repeat(1000), &[], 100.0).len() > 40);
    }

    #[test]
    fn marks_stand_at_the_last_word_and_wrap_like_words() {
        let text = "a few words";
        assert_eq!(lines(text, &["*", "†"], 500.0), [(text.to_owned(), 2)]);
        // the last word goes to the next line with its mark
        let width = Fonts::new().width(Type::new(Face::Regular, 10.0), text);
        let wanted = [("a few ".to_owned(), 0), ("words".to_owned(), 1)];
        assert_eq!(lines(text, &["*"], width + 1.0), wanted);
        let many = lines("x", &["§§§§"; 7], 40.0);
        assert!(many.len() > 2 && many[1..].iter().all(|(text, n)| text.is_empty() && *n > 0));
    }

    #[test]
    fn what_is_to_be_typed_is_set_so_without_its_backticks() {
        let set = Type::new(Face::Regular, 10.0);
        let one = broken(&Fonts::new(), set, &Inline::new("say (`a b`)."), 500.0);
        let pieces = one[0].pieces.iter().map(|(typed, text)| (*typed, &**text));
        assert!(pieces.eq([(false, "say ("), (true, "a b"), (false, ").")]));
    }
}
