//! Line wrapping by display width.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Display width of sanitized text, with a fast path for ASCII.
pub(super) fn width_of(text: &str) -> usize {
    match text.is_ascii() {
        true => text.len(),
        false => text.width(),
    }
}

/// A space at which no line breaks.
pub const NO_BREAK: char = '\u{a0}';

/// The same text, all on one line.
pub fn unbroken(text: &str) -> String {
    text.replace(' ', &NO_BREAK.to_string())
}

/// Breaks at spaces; inside a word only if it is wider than a line. Returns at least one line.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![];
    let mut line = String::new();
    let mut used = 0;
    let is_space = |c: char| c.is_whitespace() && c != NO_BREAK;
    for word in text.split(is_space).filter(|word| !word.is_empty()) {
        if used > 0 && used + 1 + width_of(word) <= width {
            line.push(' ');
            used += 1;
        } else if used > 0 {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        for c in word.chars() {
            let wide = c.width().unwrap_or(0);
            if used > 0 && used + wide > width {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            line.push(c);
            used += wide;
        }
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn words_break_only_if_needed() {
        assert_eq!(wrap("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij kl", 4), ["abcd", "efgh", "ij", "kl"]);
        assert_eq!(wrap("a abcdefgh", 4), ["a", "abcd", "efgh"]);
        assert_eq!(wrap("", 4), [""]);
        assert_eq!(wrap(" a  b ", 9), ["a b"]);
        assert_eq!(wrap("東京都庁", 5), ["東京", "都庁"]);
    }
}
