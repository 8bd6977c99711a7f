//! Lines no wider than asked for, by the width that a terminal gives to each letter.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns of a terminal that clean text takes: ASCII, of which nearly all text is, one a byte.
pub(super) fn width_of(text: &str) -> usize {
    match text.is_ascii() {
        true => text.len(),
        false => text.width(),
    }
}

/// Breaks at spaces, and inside a word only when it is wider than a whole line. At least one line.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![];
    let mut line = String::new();
    let mut used = 0;
    for word in text.split_whitespace() {
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
    fn breaks_at_spaces_and_inside_words_only_where_it_must() {
        assert_eq!(wrap("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij kl", 4), ["abcd", "efgh", "ij", "kl"]);
        assert_eq!(wrap("a abcdefgh", 4), ["a", "abcd", "efgh"]);
        assert_eq!(wrap("", 4), [""]);
        assert_eq!(wrap(" a  b ", 9), ["a b"]);
        assert_eq!(wrap("東京都庁", 5), ["東京", "都庁"]);
    }
}
