//! A document for a terminal, or for a file of plain text.
//!
//! A row of a table is one line. Words in cells are shortened, and columns given up, where a line has no room for them; identifiers
//! are never cut. Flags of a row are letters in a column of their own. Prose is wrapped. The only escape sequences are ours, and
//! only with color; all else of the kind in the text is made harmless.

mod ascii;
mod notes;
mod table;
mod wrap;

use crate::mark::Mark;
use crate::mark::Tone;
use crate::sanitize::clean;
use crate::tree::{Block, Document, Text};
use std::borrow::Cow;
use wrap::width_of;
pub use wrap::wrap;

const BOLD: &str = "\x1b[1m";
const FAINT: &str = "\x1b[2m";
const RED: &str = "\x1b[31m";
pub const GREEN: &str = "\x1b[32m";
const YELLOW: &str = "\x1b[33m";
pub const CYAN: &str = "\x1b[36m";
pub const PLAIN: &str = "\x1b[0m";
/// All escape sequences that [`render`] writes.
pub const STYLES: [&str; 7] = [BOLD, FAINT, RED, GREEN, YELLOW, CYAN, PLAIN];

/// Longer lines of prose are hard to read, however wide the terminal.
const WIDEST_PROSE: usize = 100;
/// Narrower than this nothing can be set.
const NARROWEST: usize = 20;
/// Terms up to here stand beside what belongs to them.
const WIDEST_TERM: usize = 24;

/// How a document is to look.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Columns of a line, 20 at least.
    pub width: usize,
    /// Headings in bold, identifiers, verdicts and flags in colors.
    pub color: bool,
    /// No character but those of ASCII.
    pub ascii: bool,
    /// Every note in full, instead of the flagged ones summed up by cause.
    pub notes: bool,
}

impl Look {
    /// Plain text of that width.
    #[must_use]
    pub fn plain(width: usize) -> Self {
        Self {
            width,
            color: false,
            ascii: false,
            notes: false,
        }
    }
}

/// The document as text.
#[must_use]
pub fn render(document: &Document, look: Look) -> String {
    let width = look.width.max(NARROWEST);
    let plain: Vec<Option<Block>> = document.blocks.iter().map(Block::plain).collect();
    let mut page = Page {
        document,
        look: Look { width, ..look },
        out: String::new(),
    };
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
    /// Says whether it was a heading, below which no line is left free.
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
            // these come in their plain form
            Block::Tiles(_) | Block::Results(_) => {}
            Block::Footnotes => notes.iter().for_each(|line| self.line(line)),
        }
        matches!(block, Block::Heading(..))
    }

    /// What is said, as this look can say it.
    fn clean<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let text = clean(text);
        match self.look.ascii {
            true => Cow::Owned(ascii::of(&text)),
            false => text,
        }
    }

    fn heading(&mut self, text: &str) {
        let text = self.clean(text);
        for line in wrap(&text, self.look.width.min(WIDEST_PROSE)) {
            self.line(&self.styled(BOLD, &line));
        }
    }

    fn terms(&mut self, terms: &[(String, Text)]) {
        let widths = terms.iter().map(|(term, _)| width_of(&self.clean(term)));
        let widest = widths.max().unwrap_or(0);
        let column = widest.min(WIDEST_TERM).min(self.look.width / 3) + 2;
        for (term, text) in terms {
            let term = self.clean(term).into_owned();
            let text = self.clean(&text.text).into_owned();
            self.term(&term, column, &text);
        }
    }

    /// A term with what belongs to it beside it, or below it where the column has no room for it.
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

    /// Text with one thing before its first line, and another before the others.
    fn wrapped(&mut self, first: &str, rest: &str, text: &str) {
        let room = self.look.width.min(WIDEST_PROSE);
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

    /// A letter of a flag in its color.
    fn flag(&self, mark: &Mark) -> String {
        let letter = mark.letter;
        let letter = match self.look.ascii {
            true => ascii::of(letter),
            false => letter.to_owned(),
        };
        self.toned(Some(mark.tone), &letter)
    }

    fn line(&mut self, line: &str) {
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
