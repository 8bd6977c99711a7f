//! Lines no wider than asked for, by the width that a terminal gives to each letter.

use std::borrow::Cow;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns of a terminal that clean text takes: ASCII, of which nearly all text is, one a byte.
pub(super) fn width_of(text: &str) -> usize {
    match text.is_ascii() {
        true => text.len(),
        false => text.width(),
    }
}

/// Breaks at spaces, and inside a word only when it is wider than a whole line. At least one line.
pub(super) fn wrap(text: &str, width: usize) -> Vec<Cow<'_, str>> {
    let width = width.max(1);
    match is_plain(text) {
        true => plain(text, width),
        false => any(text, width).into_iter().map(Cow::Owned).collect(),
    }
}

/// The same of text whose letters are a byte and a column each, with nothing to leave out but the blank at each break: nearly all is.
fn plain(mut text: &str, width: usize) -> Vec<Cow<'_, str>> {
    let mut lines = Vec::with_capacity(1);
    while text.len() > width {
        let last = text.as_bytes()[..=width].iter().rposition(|&b| b == b' ');
        let (end, next) = last.map_or((width, width), |at| (at, at + 1));
        lines.push(Cow::Borrowed(&text[..end]));
        text = &text[next..];
    }
    lines.push(Cow::Borrowed(text));
    lines
}

fn any(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::with_capacity(text.len().min(width));
    let mut used = 0;
    for word in text.split_whitespace() {
        let space = usize::from(!line.is_empty());
        let wide = width_of(word);
        if used + space + wide <= width {
            if space == 1 {
                line.push(' ');
            }
            line.push_str(word);
            used += space + wide;
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        line = broken(word, width, &mut lines);
        used = width_of(&line);
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// Whether it is of visible letters of ASCII and of single blanks between them.
fn is_plain(text: &str) -> bool {
    let mut last = b' ';
    let single = text.bytes().all(|b| {
        let one = b.is_ascii_graphic() || (b == b' ' && last != b' ');
        last = b;
        one
    });
    single && !text.ends_with(' ')
}

/// Cuts a word that is wider than a line; what is left begins the next one.
fn broken(word: &str, width: usize, lines: &mut Vec<String>) -> String {
    let mut line = String::new();
    let mut used = 0;
    for c in word.chars() {
        let w = c.width().unwrap_or(0);
        if used + w > width && used > 0 {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        line.push(c);
        used += w;
    }
    line
}

/// Width of the widest word.
pub(super) fn longest_word(text: &str) -> usize {
    text.split_whitespace().map(width_of).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaks_at_spaces_and_inside_words_only_where_it_must() {
        assert_eq!(wrap("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij kl", 4), ["abcd", "efgh", "ij", "kl"]);
        assert_eq!(wrap("a abcdefgh", 4), ["a", "abcd", "efgh"]);
        assert_eq!(wrap("", 4), [""]);
        assert_eq!(wrap(" a  b ", 9), ["a b"]);
        assert_eq!(wrap("a b ", 9), ["a b"]);
        assert_eq!(wrap("東京都庁", 5), ["東京", "都庁"]);
        // what is plain and what is not break in the same places
        for text in [
            "",
            "a",
            "ab c",
            "abcd ef",
            "a abcdefgh ij kl",
            "abcde fghi j",
        ] {
            for width in 1..=12 {
                assert_eq!(plain(text, width), any(text, width), "{text} {width}");
            }
        }
        assert_eq!(longest_word("an interval of"), 8);
    }
}
