//! A document for a terminal, or for a file of plain text.
//!
//! Nothing is ever wider than asked for: prose and words in cells are wrapped, wide tables are cut into panels that
//! repeat the names of their rows. The only escape sequence is bold, and only with color; all else of the kind
//! in the text is made harmless.

mod table;
mod wrap;

use crate::clean::clean;
use crate::document::{Block, Document, Text};
use wrap::{widest, width_of, wrap};

const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";
/// All escape sequences that [`render`] writes.
pub const STYLES: [&str; 2] = [BOLD, PLAIN];

/// Longer lines of prose are hard to read, however wide the terminal.
const WIDEST_PROSE: usize = 100;
/// Narrower than this nothing can be set.
const NARROWEST: usize = 20;
/// Terms up to here stand beside what belongs to them.
const WIDEST_TERM: usize = 24;

/// The document as text, lines at most `width` wide (20 at least), with bold headings when `color` is asked for.
#[must_use]
pub fn render(document: &Document, width: usize, color: bool) -> String {
    let mut page = Page {
        document,
        width: width.max(NARROWEST),
        color,
        out: String::new(),
    };
    page.heading(&document.title, "=");
    if let Some(subtitle) = &document.subtitle {
        page.wrapped("", "", &clean(subtitle));
    }
    for block in &document.blocks {
        page.block(block);
    }
    page.out
}

struct Page<'a> {
    document: &'a Document,
    width: usize,
    color: bool,
    out: String,
}

impl Page<'_> {
    fn block(&mut self, block: &Block) {
        if matches!(block, Block::Footnotes) && self.document.notes().is_empty() {
            return;
        }
        self.out.push('\n');
        match block {
            Block::Heading(level, text) => self.heading(text, if *level == 1 { "-" } else { "" }),
            Block::Paragraph(text) => self.wrapped("", "", &self.marked(text)),
            Block::List(items) => {
                for item in items {
                    self.wrapped("- ", "  ", &self.marked(item));
                }
            }
            Block::Terms(terms) => {
                let words = terms.iter().map(|(term, _)| clean(term));
                let column = widest(words).min(WIDEST_TERM).min(self.width / 3) + 2;
                for (term, text) in terms {
                    self.term(&format!("{}:", clean(term)), column, &self.marked(text));
                }
            }
            Block::Table(table) => {
                if !table.caption.text.is_empty() {
                    self.caption(&table.caption);
                }
                table::lines(self.document, table, self.width, |line, strong| {
                    self.line(line, strong);
                });
            }
            Block::Figure(figure) => {
                self.caption(&figure.caption);
                self.wrapped("  ", "  ", &clean(&figure.alternative));
            }
            Block::Footnotes => {
                let notes = self.document.notes();
                let marks = notes.iter().map(|(id, _)| self.document.mark(*id));
                let marks: Vec<String> = marks.collect();
                let column = widest(&marks) + 1;
                for ((_, note), mark) in notes.into_iter().zip(marks) {
                    self.term(&mark, column, &clean(&note.text));
                }
            }
        }
    }

    /// Bold lines, underlined where that is asked for.
    fn heading(&mut self, text: &str, underline: &str) {
        let lines = wrap(&clean(text), self.width.min(WIDEST_PROSE));
        for line in &lines {
            self.line(line, true);
        }
        if !underline.is_empty() {
            self.line(&underline.repeat(widest(&lines)), false);
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

    fn caption(&mut self, caption: &Text) {
        for line in wrap(&self.marked(caption), self.width) {
            self.line(&line, true);
        }
    }

    /// Words with their marks behind them.
    fn marked(&self, text: &Text) -> String {
        let marks = self.document.marks(text).into_iter();
        let marks: String = marks.map(|(_, mark)| mark).collect();
        format!("{}{marks}", clean(&text.text))
    }

    /// Text with one thing before its first line, and another before the others.
    fn wrapped(&mut self, first: &str, rest: &str, text: &str) {
        let room = self.width.min(WIDEST_PROSE).saturating_sub(width_of(rest));
        for (i, line) in wrap(text, room).iter().enumerate() {
            let before = if i == 0 { first } else { rest };
            self.line(&format!("{before}{line}"), false);
        }
    }

    fn line(&mut self, line: &str, bold: bool) {
        let line = line.trim_end();
        match bold && self.color && !line.is_empty() {
            true => self.out.extend([BOLD, line, PLAIN]),
            false => self.out.push_str(line),
        }
        self.out.push('\n');
    }
}
