//! Makes external text harmless for a terminal and a page: no control characters, and none that change the direction of text.

use gritstone_model::is_unprintable;
use std::borrow::Cow;

/// Line ends and tabs become spaces; other control characters, and those that reverse the direction of the
/// text around them, become U+FFFD, so that a reader sees that something was there.
pub fn clean(text: &str) -> Cow<'_, str> {
    // fast path for nearly all text
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

/// Truncates to `max` characters.
pub fn shortened(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    text.chars().take(max - 1).chain(['…']).collect()
}

/// Text for output to a stream: line ends, tabs and the given styles stay; every other control sequence becomes U+FFFD.
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

/// Removes commands for the runner of GitHub: `::` at the start of a line, and `##[` anywhere.
pub fn without_commands(text: &str) -> Cow<'_, str> {
    let commands = |line: &str| line.trim_start().starts_with("::") || line.contains("##[");
    if !text.lines().any(commands) {
        return Cow::Borrowed(text);
    }
    let inert = |line: &str| {
        let line = line.replace("##[", "#\u{FFFD}[");
        match line.trim_start().starts_with("::") {
            true => line.replacen("::", "\u{FFFD}:", 1),
            false => line,
        }
    };
    Cow::Owned(text.split_inclusive('\n').map(inert).collect())
}

/// Text from outside: a bundle, a catalog, another host, a command line. It has no `Display`: each medium has one
/// escape, here or in the file of the medium.
#[derive(Clone, Copy, Debug)]
pub struct Untrusted<'a>(pub &'a str);

impl Untrusted<'_> {
    /// For XML and HTML, in text and in quoted attributes.
    pub fn markup(self) -> String {
        let mut out = String::with_capacity(self.0.len());
        for c in clean(self.0).chars() {
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

    /// For Markdown, in a paragraph, a cell, or a comment, where `@name` would notify a user.
    pub fn markdown(self) -> String {
        let mut out = String::with_capacity(self.0.len());
        for c in clean(self.0).chars() {
            match c {
                '@' if !out.ends_with(char::is_alphanumeric) => out.push_str("@\u{200B}"),
                '<' => out.push_str("&lt;"),
                '>' => out.push_str("&gt;"),
                '&' => out.push_str("&amp;"),
                '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '#' | '~' | '$' | '!' => {
                    out.push('\\');
                    out.push(c);
                }
                c => out.push(c),
            }
        }
        out
    }

    /// For a chat message in the markup of Slack or Mattermost, where `<!channel>` and `@name` would notify users.
    pub fn chat(self) -> String {
        let mut out = String::with_capacity(self.0.len());
        for c in clean(self.0).chars() {
            match c {
                '@' if !out.ends_with(char::is_alphanumeric) => out.push_str("@\u{200B}"),
                '(' if out.ends_with(']') => out.push_str("\u{200B}("),
                '<' => out.push_str("&lt;"),
                '>' => out.push_str("&gt;"),
                '&' => out.push_str("&amp;"),
                c => out.push(c),
            }
        }
        out
    }
}

/// [`Untrusted::markup`] within this crate.
pub(crate) fn escape(text: &str) -> String {
    Untrusted(text).markup()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_get_no_escape() {
        assert_eq!(clean("a\x1b[31mb\r\nc\u{9b}d\u{7f}"), "a\u{FFFD}[31mb  c\u{FFFD}d\u{FFFD}");
        assert_eq!(clean("x\u{202E}y\u{2066}z"), "x\u{FFFD}y\u{FFFD}z");
        assert_eq!(clean("ä 東京 עברית †‡"), "ä 東京 עברית †‡");
        assert_eq!(clean("\u{FFFE}\u{1FFFF}"), "\u{FFFD}\u{FFFD}");
    }

    #[test]
    fn streams_keep_our_styles_only() {
        assert_eq!(
            printable("a\n\tb\r\x1b[1mc\x1b[0m\x1b[31md\u{85}", &["\x1b[1m", "\x1b[0m"]),
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

    #[test]
    fn each_medium_shows_hostile_text() {
        let hostile = Untrusted("=a\n::error::\x1b[31m\u{202e}|<b>,\"\\%");
        let [markup, markdown, chat] = [hostile.markup(), hostile.markdown(), hostile.chat()];
        let all = markup.clone() + &markdown + &chat;
        assert!(!all.contains(is_unprintable), "{all}");
        assert!(markup.contains("|&lt;b&gt;,&quot;"), "{markup}");
        assert!(markdown.contains("\\|&lt;b&gt;,\""), "{markdown}");
        assert_eq!(Untrusted("@all read@cold").markdown(), "@\u{200B}all read@cold");
        let link = Untrusted("<!channel> @all [see](https://evil)").chat();
        assert_eq!(link, "&lt;!channel&gt; @\u{200B}all [see]\u{200B}(https://evil)");
    }

    #[test]
    fn lines_are_no_workflow_commands() {
        for (text, inert) in [
            ("a\n::error::x\n", "a\n\u{FFFD}:error::x\n"),
            ("  ::stop-commands::x", "  \u{FFFD}:stop-commands::x"),
            ("a ##[error]b", "a #\u{FFFD}[error]b"),
            ("a::b", "a::b"),
        ] {
            assert_eq!(without_commands(text), inert);
        }
    }
}
