//! Renders a document for a terminal or plain text file.
//!
//! A table row is one line: words are shortened and columns dropped if needed, identifiers never. Flags are letters in
//! a column of their own. Prose is wrapped. All escape sequences are ours, and only with color; those in the text are
//! replaced.

mod ascii;
mod notes;
mod table;
mod wrap;

use crate::footnote::FlagStyle;
use crate::footnote::Tone;
use crate::sanitize::clean;
use crate::tree::{Block, Document, Text};
pub use ascii::to_ascii;
use std::borrow::Cow;
use wrap::width_of;
pub use wrap::{NO_BREAK, unbroken, wrap};

const BOLD: &str = "\x1b[1m";
const FAINT: &str = "\x1b[2m";
const RED: &str = "\x1b[31m";
pub const GREEN: &str = "\x1b[32m";
const YELLOW: &str = "\x1b[33m";
pub const CYAN: &str = "\x1b[36m";
pub const PLAIN: &str = "\x1b[0m";
/// All escape sequences that [`render`] writes.
pub const STYLES: [&str; 7] = [BOLD, FAINT, RED, GREEN, YELLOW, CYAN, PLAIN];

/// Maximum width of prose, however wide the terminal.
const MAX_PROSE_WIDTH: usize = 100;
/// Minimum width of a terminal.
const MIN_WIDTH: usize = 20;
/// Longest term that has its text beside it.
const MAX_TERM_WIDTH: usize = 24;

/// Rendering options.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Columns of a line, at least 20.
    pub width: usize,
    /// Bold headings; colored identifiers, verdicts and flags.
    pub color: bool,
    pub ascii: bool,
    /// Full notes; otherwise flagged ones are summarized by cause.
    pub notes: bool,
}

impl Look {
    /// Plain text.
    pub fn plain(width: usize) -> Self {
        Self { width, color: false, ascii: false, notes: false }
    }
}

pub fn render(document: &Document, look: Look) -> String {
    let width = look.width.max(MIN_WIDTH);
    let plain: Vec<Option<Block>> = document.blocks.iter().map(Block::plain).collect();
    let mut page = Page { document, look: Look { width, ..look }, out: String::new() };
    if !document.title.is_empty() {
        page.heading(&document.title);
    }
    if let Some(subtitle) = &document.subtitle {
        page.wrapped("", "", &page.clean(subtitle));
    }
    let mut after_heading = false;
    for (block, plain) in document.blocks.iter().zip(&plain) {
        after_heading = page.block(plain.as_ref().unwrap_or(block), after_heading);
    }
    page.out
}

struct Page<'a> {
    document: &'a Document,
    look: Look,
    out: String,
}

impl<'a> Page<'a> {
    /// Returns whether the block was a heading, which no empty line follows.
    fn block(&mut self, block: &'a Block, after_heading: bool) -> bool {
        let notes = match block {
            Block::Footnotes => self.notes(),
            _ => vec![],
        };
        if matches!(block, Block::Footnotes) && notes.is_empty() {
            return after_heading;
        }
        if !after_heading && !self.out.is_empty() {
            self.out.push('\n');
        }
        match block {
            Block::Heading(_, text) => self.heading(text),
            Block::Paragraph(text) => self.wrapped("", "", &self.clean(&text.text)),
            Block::List(items) => {
                for item in items {
                    self.wrapped("- ", "  ", &self.clean(&item.text));
                }
            }
            Block::Terms(terms) => self.terms(terms),
            Block::Table(table) => {
                if !table.caption.text.is_empty() {
                    self.heading(&table.caption.text);
                }
                self.table(table);
            }
            Block::Figure(figure) => {
                self.heading(&figure.caption.text);
                self.wrapped("  ", "  ", &self.clean(&figure.alternative));
            }
            // rendered in their plain form
            Block::Tiles(_) | Block::Results(_) => {}
            Block::Footnotes => notes.iter().for_each(|line| self.line(line)),
        }
        matches!(block, Block::Heading(..))
    }

    /// Replaces characters that this output cannot show.
    fn clean<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let text = clean(text);
        match self.look.ascii {
            true => Cow::Owned(to_ascii(&text)),
            false => text,
        }
    }

    fn heading(&mut self, text: &str) {
        let text = self.clean(text);
        for line in wrap(&text, self.look.width.min(MAX_PROSE_WIDTH)) {
            self.line(&self.styled(BOLD, &line));
        }
    }

    fn terms(&mut self, terms: &[(String, Text)]) {
        let widths = terms.iter().map(|(term, _)| width_of(&self.clean(term)));
        let widest = widths.max().unwrap_or(0);
        let column = widest.min(MAX_TERM_WIDTH).min(self.look.width / 3) + 2;
        for (term, text) in terms {
            let term = self.clean(term).into_owned();
            let text = self.clean(&text.text).into_owned();
            self.term(&term, column, &text);
        }
    }

    /// A term with its text beside it, or below it if the column is too narrow.
    fn term(&mut self, term: &str, column: usize, text: &str) {
        let rest = " ".repeat(column);
        if width_of(term) < column {
            let pad = " ".repeat(column - width_of(term));
            self.wrapped(&format!("{term}{pad}"), &rest, text);
        } else {
            self.wrapped("", "", term);
            self.wrapped(&rest, &rest, text);
        }
    }

    /// Wrapped text with one prefix on its first line and another on the rest.
    fn wrapped(&mut self, first: &str, rest: &str, text: &str) {
        let room = self.look.width.min(MAX_PROSE_WIDTH);
        let room = room.saturating_sub(width_of(rest));
        for (i, line) in wrap(text, room).iter().enumerate() {
            let before = if i == 0 { first } else { rest };
            self.line(&format!("{before}{line}"));
        }
    }

    fn styled(&self, style: &str, text: &str) -> String {
        match self.look.color && !text.trim().is_empty() {
            true => format!("{style}{text}{PLAIN}"),
            false => text.to_owned(),
        }
    }

    fn toned(&self, tone: Option<Tone>, text: &str) -> String {
        let style = match tone {
            None => return text.to_owned(),
            Some(Tone::Good) => GREEN,
            Some(Tone::Bad) => RED,
            Some(Tone::Doubt) => YELLOW,
            Some(Tone::Faint) => FAINT,
        };
        self.styled(style, text)
    }

    /// A flag's letter in its color.
    fn flag(&self, flag: &FlagStyle) -> String {
        let letter = flag.letter;
        let letter = match self.look.ascii {
            true => to_ascii(letter),
            false => letter.to_owned(),
        };
        self.toned(Some(flag.tone), &letter)
    }

    fn line(&mut self, line: &str) {
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
