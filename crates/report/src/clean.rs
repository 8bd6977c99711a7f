//! Text from outside made harmless for a terminal and a page: no control characters, no letters that turn the
//! direction of what follows.
//!
//! Must not know: markup, widths.

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
            c if c.is_control() || turns(c) || is_noncharacter(c) => '\u{FFFD}',
            c => c,
        })
        .collect()
}

/// Marks, embeddings, overrides and isolates of the bidirectional algorithm.
fn turns(c: char) -> bool {
    matches!(c, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Code points that no document may hold.
fn is_noncharacter(c: char) -> bool {
    matches!(c, '\u{FDD0}'..='\u{FDEF}') || u32::from(c) & 0xFFFE == 0xFFFE
}

/// The five characters that mean something in XML and HTML, in text and in quoted attributes.
pub(crate) fn escape(text: &str) -> String {
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
    fn markup_becomes_text() {
        assert_eq!(
            escape("<a href='x'>\"&\"</a>"),
            "&lt;a href=&#39;x&#39;&gt;&quot;&amp;&quot;&lt;/a&gt;"
        );
    }
}
