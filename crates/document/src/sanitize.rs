//! Text from outside made harmless for a terminal and a page: no control characters, no letters that turn the
//! direction of what follows.

use gritstone_model::is_unprintable;
use std::borrow::Cow;

/// Line ends and tabs become spaces; other control characters, and those that reverse the direction of the
/// text around them, become U+FFFD, so that a reader sees that something was there.
#[must_use]
pub fn clean(text: &str) -> Cow<'_, str> {
    // nearly all text is of these, and there is much of it
    if text.bytes().all(|b| matches!(b, b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    text.chars()
        .map(|c| match c {
            '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => ' ',
            c if is_unprintable(c) => '\u{FFFD}',
            c => c,
        })
        .collect()
}

/// A text in at most so many letters.
#[must_use]
pub fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

/// Text as it may go to a stream: line ends and tabs stay, and so do these styles of ours, word for word; every other character
/// that a terminal would obey becomes U+FFFD.
#[must_use]
pub fn printable<'a>(text: &'a str, styles: &[&str]) -> Cow<'a, str> {
    let obeyed = |c: char| !matches!(c, '\n' | '\t') && is_unprintable(c);
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let style = styles.iter().find(|style| rest.starts_with(**style));
        let taken = style.map_or(c.len_utf8(), |style| style.len());
        match style {
            Some(style) => out.push_str(style),
            None if obeyed(c) => out.push('\u{FFFD}'),
            None => out.push(c),
        }
        rest = &rest[taken..];
    }
    Cow::Owned(out)
}

/// The five characters that mean something in XML and HTML, in text and in quoted attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_never_sees_an_escape() {
        assert_eq!(
            clean("a\x1b[31mb\r\nc\u{9b}d\u{7f}"),
            "a\u{FFFD}[31mb  c\u{FFFD}d\u{FFFD}"
        );
        assert_eq!(clean("x\u{202E}y\u{2066}z"), "x\u{FFFD}y\u{FFFD}z");
        assert_eq!(clean("ä 東京 עברית †‡"), "ä 東京 עברית †‡");
        assert_eq!(clean("\u{FFFE}\u{1FFFF}"), "\u{FFFD}\u{FFFD}");
    }

    #[test]
    fn a_stream_has_no_styles_but_ours() {
        assert_eq!(
            printable(
                "a\n\tb\r\x1b[1mc\x1b[0m\x1b[31md\u{85}",
                &["\x1b[1m", "\x1b[0m"]
            ),
            "a\n\tb\u{FFFD}\x1b[1mc\x1b[0m\u{FFFD}[31md\u{FFFD}"
        );
        assert_eq!(printable("\x1b[1m", &[]), "\u{FFFD}[1m");
        assert!(matches!(printable("ä 東京 †‡\n", &[]), Cow::Borrowed(_)));
    }

    #[test]
    fn markup_becomes_text() {
        assert_eq!(
            escape("<a href='x'>\"&\"</a>"),
            "&lt;a href=&#39;x&#39;&gt;&quot;&amp;&quot;&lt;/a&gt;"
        );
    }
}
