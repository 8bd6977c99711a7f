//! Check of the standard output of a command: that of the head must equal that of the base.

use gritstone_model::PrSideName;
use std::fmt;

/// Most characters of a line in a message.
const MAX_SHOWN_CHARS: usize = 200;

/// An output that differs from that of the base.
#[derive(Debug, PartialEq, Eq)]
pub struct OutputDiffers {
    pub side: PrSideName,
    /// Number of the line, from 1.
    line: usize,
    /// The line of the base, and the other; `None` after the end.
    lines: [Option<String>; 2],
}

impl fmt::Display for OutputDiffers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [base, found] = self.lines.each_ref().map(|line| match line {
            Some(line) => format!("'{line}'"),
            None => "no line".to_owned(),
        });
        let line = self.line;
        match self.side {
            PrSideName::Head => write!(
                f,
                "the output of head differs from that of base, first in line {line}: {base} of base, {found} of head"
            ),
            PrSideName::Base => write!(
                f,
                "the output of base differs from launch to launch, first in line {line}: {base}, then {found}; --same-output needs a command whose output is always the same"
            ),
        }
    }
}

impl std::error::Error for OutputDiffers {}

/// # Errors
/// The first line in which an output differs from the first one of the base.
pub fn check(base: &[u8], side: PrSideName, found: &[u8]) -> Result<(), OutputDiffers> {
    if base == found {
        return Ok(());
    }
    let lines = |text| <[u8]>::split_inclusive(text, |byte| *byte == b'\n');
    let (mut expected, mut found) = (lines(base), lines(found));
    let mut line = 1;
    loop {
        let pair = [expected.next(), found.next()];
        if pair[0] != pair[1] {
            return Err(OutputDiffers {
                side,
                line,
                lines: pair.map(|line| line.map(printable_line)),
            });
        }
        line += 1;
    }
}

/// Shortened, with control characters escaped.
fn printable_line(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let (start, more) = match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => (&text[..end], "..."),
        None => (&*text, ""),
    };
    start.escape_debug().to_string() + more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_difference_is_named() {
        let difference = |base: &str, found: &str| {
            let differs = check(base.as_bytes(), PrSideName::Head, found.as_bytes());
            differs.err().map(|differs| (differs.line, differs.lines))
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(difference("a\nb\n", "a\nc\n"), Some((2, [some("b\\n"), some("c\\n")])));
        assert_eq!(difference("a\n", "a\nb"), Some((2, [None, some("b")])));
        assert_eq!(difference("a\n", "a"), Some((1, [some("a\\n"), some("a")])));
        assert_eq!(difference("a\x1b[1m", ""), Some((1, [some("a\\u{1b}[1m"), None])));
    }
}
