//! A document for a terminal, or for a file of plain text.
//!
//! Nothing is ever wider than asked for: prose and words in cells are wrapped, wide tables are cut into panels that
//! repeat the names of their rows. The only escape sequence is bold, and only with color; all else of the kind
//! in the text is made harmless.

mod table;
mod wrap;

use crate::clean::clean;
use crate::document::{Block, Document, Figure, Text};
use unicode_width::UnicodeWidthStr;
use wrap::wrap;

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
    page.title();
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
    fn title(&mut self) {
        let title = clean(&self.document.title);
        let lines = wrap(&title, self.prose());
        let widest = lines.iter().map(|l| l.width()).max().unwrap_or(0);
        for line in &lines {
            self.bold(line);
        }
        self.line(&"=".repeat(widest));
        if let Some(subtitle) = &self.document.subtitle {
            self.wrapped("", "", &clean(subtitle));
        }
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Heading(level, text) => self.heading(*level, text),
            Block::Paragraph(text) => {
                self.blank();
                self.wrapped("", "", &self.marked(text));
            }
            Block::List(items) => {
                self.blank();
                for item in items {
                    self.wrapped("- ", "  ", &self.marked(item));
                }
            }
            Block::Terms(terms) => self.terms(terms),
            Block::Table(table) => {
                self.blank();
                let caption = self.marked(&table.caption);
                if !caption.is_empty() {
                    for line in wrap(&caption, self.width) {
                        self.bold(&line);
                    }
                }
                let (document, width) = (self.document, self.width);
                table::lines(document, table, width, |line, strong| match strong {
                    true => self.bold(line),
                    false => self.line(line),
                });
            }
            Block::Figure(figure) => self.figure(figure),
            Block::Footnotes => self.footnotes(),
        }
    }

    fn heading(&mut self, level: u8, text: &str) {
        self.blank();
        let text = clean(text);
        let lines = wrap(&text, self.prose());
        let widest = lines.iter().map(|l| l.width()).max().unwrap_or(0);
        for line in &lines {
            self.bold(line);
        }
        if level == 1 {
            self.line(&"-".repeat(widest));
        }
    }

    fn terms(&mut self, terms: &[(String, Text)]) {
        self.blank();
        let widest = terms
            .iter()
            .map(|(term, _)| clean(term).width())
            .max()
            .unwrap_or(0);
        let column = widest.min(WIDEST_TERM).min(self.width / 3) + 2;
        for (term, text) in terms {
            let term = format!("{}:", clean(term));
            let rest = " ".repeat(column);
            if term.width() < column {
                let pad = " ".repeat(column - term.width());
                self.wrapped(&format!("{term}{pad}"), &rest, &self.marked(text));
            } else {
                self.wrapped("", "", &term);
                self.wrapped(&rest, &rest, &self.marked(text));
            }
        }
    }

    fn figure(&mut self, figure: &Figure) {
        self.blank();
        for line in wrap(&self.marked(&figure.caption), self.width) {
            self.bold(&line);
        }
        self.wrapped("  ", "  ", &clean(&figure.alternative));
    }

    fn footnotes(&mut self) {
        let notes = self.document.notes();
        if notes.is_empty() {
            return;
        }
        self.blank();
        let marks: Vec<String> = notes
            .iter()
            .map(|(id, _)| self.document.mark(*id))
            .collect();
        let widest = marks.iter().map(|m| m.width()).max().unwrap_or(0);
        for ((_, note), mark) in notes.into_iter().zip(marks) {
            let pad = " ".repeat(widest - mark.width() + 1);
            self.wrapped(
                &format!("{mark}{pad}"),
                &" ".repeat(widest + 1),
                &clean(&note.text),
            );
        }
    }

    fn prose(&self) -> usize {
        self.width.min(WIDEST_PROSE)
    }

    fn marked(&self, text: &Text) -> String {
        marked(self.document, text)
    }

    /// Text with one thing before its first line, and another before the others.
    fn wrapped(&mut self, first: &str, rest: &str, text: &str) {
        let room = self.prose().saturating_sub(rest.width()).max(1);
        for (i, line) in wrap(text, room).iter().enumerate() {
            let before = if i == 0 { first } else { rest };
            self.line(&format!("{before}{line}"));
        }
    }

    fn bold(&mut self, line: &str) {
        let line = line.trim_end();
        if self.color && !line.is_empty() {
            self.line(&format!("{BOLD}{line}{PLAIN}"));
        } else {
            self.line(line);
        }
    }

    fn line(&mut self, line: &str) {
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }

    fn blank(&mut self) {
        self.out.push('\n');
    }
}

/// Words with their marks behind them.
fn marked(document: &Document, text: &Text) -> String {
    let marks: String = document
        .marks(text)
        .into_iter()
        .map(|(_, mark)| mark)
        .collect();
    format!("{}{marks}", clean(&text.text))
}
