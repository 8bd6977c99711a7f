//! Errors in a file of the catalog: file, line, column and the line itself.

use gritstone_model::{Id, is_unprintable};
use std::ops::Range;

/// A fault in a file of the catalog.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {what}\n{frame}")]
pub struct Error {
    /// Path of the file.
    pub file: String,
    /// Line of the fault, from 1.
    pub line: usize,
    /// Column of the fault in characters, from 1.
    pub column: usize,
    /// What is wrong, and what to do.
    pub what: String,
    /// The line, with the fault underlined.
    pub frame: String,
}

/// One file: its name and its text, in which spans are byte ranges.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'a> {
    pub name: &'a str,
    pub text: &'a str,
}

impl Text<'_> {
    /// A fault at `span`.
    pub fn error(&self, span: &Range<usize>, what: impl Into<String>) -> Error {
        let (line, column) = self.position(span.start);
        Error {
            file: self.name.to_owned(),
            line,
            column,
            what: what.into(),
            frame: self.frame(span, line, column),
        }
    }

    /// An error of TOML or serde, at `whole` if it has no position.
    pub fn serde(&self, fault: &toml::de::Error, fallback: Range<usize>) -> Error {
        self.error(&fault.span().unwrap_or(fallback), fault.message())
    }

    /// A fault at `span` unless it holds.
    pub fn must<S: ToString>(
        &self,
        holds: bool,
        span: &Range<usize>,
        what: impl FnOnce() -> S,
    ) -> Result<(), Error> {
        if holds {
            return Ok(());
        }
        Err(self.error(span, what().to_string()))
    }

    /// Checks for a plain name in the directory of a command, not a path.
    pub fn file_name(&self, span: &Range<usize>, name: &str) -> Result<(), Error> {
        let dots = matches!(name, "" | "." | "..");
        let good = !dots && !name.contains('/') && !name.chars().any(is_unprintable);
        self.must(good, span, || {
            format!(
                "'{name}' is not a file name: it lies in the directory of the command, without /"
            )
        })
    }

    /// Checks for `family/name`, which is also a path under `kernels/`.
    pub fn program(&self, span: &Range<usize>, name: &str) -> Result<(), Error> {
        let parts = name.split('/').count();
        let good = parts == 2 && !name.contains('@') && Id::parse(name).is_ok();
        self.must(good, span, || {
            format!("'{name}' is not a program: write family/name, for kernels/family/name.c")
        })
    }

    /// Line and column of a byte, from 1.
    pub fn position(&self, byte: usize) -> (usize, usize) {
        let before = self.text.get(..byte).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (line, before[start..].chars().count() + 1)
    }

    fn frame(&self, span: &Range<usize>, line: usize, column: usize) -> String {
        let source = self.text.lines().nth(line - 1).unwrap_or("");
        let covered = self.text.get(span.clone()).unwrap_or("");
        // a span of several lines is underlined on its first
        let first = covered.lines().next().unwrap_or("").chars().count();
        let gutter = " ".repeat(line.to_string().len());
        let (before, under) = (" ".repeat(column - 1), "^".repeat(first.max(1)));
        format!("{gutter} |\n{line} | {source}\n{gutter} | {before}{under}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_and_lines() {
        let text = Text { name: "catalogue/x.toml", text: "a = 1\nä = \"wörd\"\n" };
        let start = text.text.find("\"w").unwrap();
        let error = text.error(&(start..start + "\"wörd\"".len()), "wrong");
        assert_eq!((error.line, error.column), (2, 5));
        assert_eq!(
            error.to_string(),
            "catalogue/x.toml:2:5: wrong\n  |\n2 | ä = \"wörd\"\n  |     ^^^^^^"
        );
    }

    #[test]
    fn final_spans_have_a_place() {
        let text = Text { name: "x", text: "a" };
        assert_eq!(text.error(&(1..1), "cut off").column, 2);
        assert_eq!(text.error(&(9..12), "beyond").line, 1);
    }
}
