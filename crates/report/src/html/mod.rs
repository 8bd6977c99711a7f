//! A document as one HTML file: no script, nothing fetched, readable on a phone, on paper and without color.
//!
//! The markup is also well-formed XML, so that a strict parser can prove that every element is closed. A table scrolls inside
//! a box of its own, and names its rows and columns for those who listen.

use crate::clean::{clean, escape};
use crate::document::{Block, Column, Document, Figure, Row, Style, Table, Text};
use crate::typed::pieces;
use std::fmt::Write as _;

const STYLE: &str = include_str!("style.css");
/// Where all terms are as short as marks are, they need no wider column.
const SHORT_TERM: usize = 3;
/// From so many sections on there is a list of them.
const CONTENTS_FROM: usize = 4;
/// The style sheet has room for so many marks behind a number.
const MOST_MARKS: usize = 9;
/// Names of rows up to here stay in one line.
const SHORT_NAME: usize = 16;
/// A longer word may be broken.
const LONGEST_WORD: usize = 24;

/// A page that is being written.
struct Page<'a> {
    document: &'a Document,
    out: String,
}

/// The document as a page.
#[must_use]
pub fn render(document: &Document) -> String {
    let title = escape(&document.title);
    let out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <header>\n<h1>{title}</h1>\n"
    );
    let mut page = Page { document, out };
    if let Some(subtitle) = &document.subtitle {
        page.element("p class=\"subtitle\"", &escape(subtitle));
    }
    page.out.push_str("</header>\n");
    page.contents();
    let mut sections = 0;
    for block in &document.blocks {
        if matches!(block, Block::Heading(1, _)) {
            sections += 1;
        }
        page.block(block, sections);
    }
    page.out.push_str("</main>\n</body>\n</html>\n");
    page.out
}

impl Page<'_> {
    /// An element on a line, opened by its name and attributes.
    fn element(&mut self, open: &str, content: &str) {
        let (name, _) = open.split_once(' ').unwrap_or((open, ""));
        let _ = writeln!(self.out, "<{open}>{content}</{name}>");
    }

    fn block(&mut self, block: &Block, section: usize) {
        match block {
            Block::Heading(1, text) => {
                self.element(&format!("h2 id=\"section-{section}\""), &escape(text));
            }
            Block::Heading(level, text) => {
                self.element(&format!("h{}", (*level).clamp(2, 3) + 1), &escape(text));
            }
            Block::Paragraph(text) => self.element("p", &self.marked(text)),
            Block::List(items) => {
                self.out.push_str("<ul>\n");
                for item in items {
                    self.element("li", &self.marked(item));
                }
                self.out.push_str("</ul>\n");
            }
            Block::Terms(terms) => {
                let short = |(term, _): &(String, Text)| term.chars().count() <= SHORT_TERM;
                let class = if terms.iter().all(short) { "notes" } else { "" };
                let term = |(term, text): &(String, Text)| {
                    (String::new(), term.clone(), self.marked(text))
                };
                self.terms(class, &terms.iter().map(term).collect::<Vec<_>>());
            }
            Block::Table(table) => self.table(table),
            Block::Figure(figure) => self.figure(figure),
            Block::Footnotes => {
                let notes = self.document.notes().into_iter().map(|(id, note)| {
                    let anchor = format!(" id=\"note-{}\"", id.index() + 1);
                    (anchor, self.document.mark(id), words(&note.text))
                });
                let notes: Vec<_> = notes.collect();
                if !notes.is_empty() {
                    self.terms("notes", &notes);
                }
            }
        }
    }

    /// Links to the sections, where there are enough of them.
    fn contents(&mut self) {
        let section = |block: &Block| match block {
            Block::Heading(1, text) => Some(escape(text)),
            _ => None,
        };
        let sections: Vec<String> = self.document.blocks.iter().filter_map(section).collect();
        if sections.len() < CONTENTS_FROM {
            return;
        }
        self.out.push_str("<nav aria-label=\"Contents\">\n<ol>\n");
        for (number, text) in (1..).zip(sections) {
            self.element("li", &format!("<a href=\"#section-{number}\">{text}</a>"));
        }
        self.out.push_str("</ol>\n</nav>\n");
    }

    /// Terms with what belongs to them, each with the attributes of both together.
    fn terms(&mut self, class: &str, terms: &[(String, String, String)]) {
        let _ = match class {
            "" => writeln!(self.out, "<dl>"),
            class => writeln!(self.out, "<dl class=\"{class}\">"),
        };
        for (attributes, term, text) in terms {
            let both = format!("<dt>{}</dt><dd>{text}</dd>", escape(term));
            let _ = writeln!(self.out, "<div{attributes}>{both}</div>");
        }
        self.out.push_str("</dl>\n");
    }

    /// A box that scrolls by itself.
    fn scroll(&mut self, label: &str) {
        let _ = writeln!(
            self.out,
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">",
            escape(label)
        );
    }

    fn figure(&mut self, figure: &Figure) {
        self.out.push_str("<figure>\n");
        self.element("figcaption", &self.marked(&figure.caption));
        self.scroll(&figure.caption.text);
        let _ = write!(
            self.out,
            "{}</div>\n\
             <details><summary>The figure in words</summary><p>{}</p></details>\n</figure>\n",
            figure.svg,
            escape(&figure.alternative)
        );
    }

    fn table(&mut self, table: &Table) {
        match table.caption.text.as_str() {
            "" => {
                self.scroll(&self.document.title);
                self.out.push_str("<table>\n");
            }
            label => {
                self.scroll(label);
                self.out.push_str("<table>\n");
                let caption = self.marked(&table.caption);
                self.element("caption", &format!("<span>{caption}</span>"));
            }
        }
        self.heads(&table.columns);
        let room = (0..table.columns.len()).map(|column| {
            let of = table.rows.iter().map(|row| &row.cells[column]);
            of.map(|text| self.marks_width(text)).max().unwrap_or(0)
        });
        let room: Vec<usize> = room.map(|room| room.min(MOST_MARKS)).collect();
        for row in &table.rows {
            self.row(&table.columns, row, &room);
        }
        self.out.push_str("</tbody>\n</table>\n</div>\n");
    }

    fn heads(&mut self, columns: &[Column]) {
        let grouped = columns.iter().any(|c| c.group.is_some());
        let head = |column: &Column, rows: &str| {
            let (class, head) = (class(column.style), escape(&column.head));
            format!("<th scope=\"col\"{rows} class=\"{class}\">{head}</th>")
        };
        self.out.push_str("<thead>\n");
        if grouped {
            let run = |run: &[Column]| match &run[0].group {
                Some(group) => format!(
                    "<th scope=\"colgroup\" class=\"g\" colspan=\"{}\"><span>{}</span></th>",
                    run.len(),
                    escape(group)
                ),
                None => head(&run[0], " rowspan=\"2\""),
            };
            let runs = columns.chunk_by(|a, b| a.group.is_some() && a.group == b.group);
            self.element("tr", &runs.map(run).collect::<String>());
        }
        let lower = columns.iter().filter(|c| !grouped || c.group.is_some());
        self.element(
            "tr",
            &lower.map(|column| head(column, "")).collect::<String>(),
        );
        self.out.push_str("</thead>\n<tbody>\n");
    }

    fn row(&mut self, columns: &[Column], row: &Row, room: &[usize]) {
        let mut cells = String::new();
        for (i, (column, text)) in columns.iter().zip(&row.cells).enumerate() {
            let cell = self.cell(column.style, text, room[i]);
            // a short name is not broken at its hyphens
            let short = text.text.chars().count() <= SHORT_NAME;
            let _ = match (i == 0 && column.key, class(column.style)) {
                (true, _) if short => write!(cells, "<th scope=\"row\" class=\"k\">{cell}</th>"),
                (true, class) => write!(cells, "<th scope=\"row\" class=\"{class}\">{cell}</th>"),
                (false, class) => write!(cells, "<td class=\"{class}\">{cell}</td>"),
            };
        }
        self.element(
            if row.strong {
                "tr class=\"strong\""
            } else {
                "tr"
            },
            &cells,
        );
    }

    fn cell(&self, style: Style, text: &Text, room: usize) -> String {
        let (words, marks) = (escape(&text.text), self.superscript("sup", text));
        match style {
            // the same room is kept free behind every number of a column, so that the numbers line up
            Style::Number if room > 0 && marks.is_empty() => {
                format!("{words}<sup class=\"m{room}\"></sup>")
            }
            Style::Number => {
                let open = format!("sup class=\"m{room}\"");
                words + &self.superscript(&open, text)
            }
            Style::Code => format!("<code>{words}</code>{marks}"),
            Style::Text => breakable(&text.text) + &marks,
        }
    }

    /// Words with links to their footnotes behind them.
    fn marked(&self, text: &Text) -> String {
        words(&text.text) + &self.superscript("sup", text)
    }

    /// The links in an element; nothing where there are none.
    fn superscript(&self, open: &str, text: &Text) -> String {
        let mut marks = String::new();
        for (id, mark) in self.document.marks(text) {
            let (number, mark) = (id.index() + 1, escape(&mark));
            let _ = write!(
                marks,
                "<a href=\"#note-{number}\" aria-label=\"footnote {mark}\">{mark}</a>"
            );
        }
        match marks.as_str() {
            "" => marks,
            _ => format!("<{open}>{marks}</sup>"),
        }
    }

    /// Letters that the marks of a text take.
    fn marks_width(&self, text: &Text) -> usize {
        let marks = self.document.marks(text);
        marks
            .iter()
            .map(|(_, mark)| clean(mark).chars().count())
            .sum()
    }
}

/// Escaped words, with what is to be typed set so.
fn words(text: &str) -> String {
    let set = |(typed, piece)| match typed {
        false => escape(piece),
        true => format!("<code>{}</code>", escape(piece)),
    };
    pieces(text).map(set).collect()
}

/// Escaped words; one that is longer than a column gets places where it may be broken, and no other word is.
fn breakable(text: &str) -> String {
    let word = |word: &str| {
        let letters: Vec<char> = word.chars().collect();
        let size = match letters.len() > LONGEST_WORD {
            true => LONGEST_WORD / 2,
            false => LONGEST_WORD,
        };
        let pieces = letters.chunks(size).map(|piece| piece.iter().collect());
        let pieces = pieces.map(|piece: String| escape(&piece));
        pieces.collect::<Vec<_>>().join("<wbr/>")
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

fn class(style: Style) -> &'static str {
    match style {
        Style::Number => "n",
        Style::Text => "t",
        Style::Code => "c",
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn what_is_to_be_typed_is_set_so() {
        assert_eq!(
            words("say `a < b` and `c`"),
            "say <code>a &lt; b</code> and <code>c</code>"
        );
    }
}
