//! A document as one HTML file: no script, nothing fetched, readable on a phone, on paper and without color.
//!
//! The markup is also well-formed XML, so that a strict parser can prove that every element is closed.

mod table;

use crate::clean::{clean, escape};
use crate::document::{Block, Document, Figure, Text};
use crate::typed::pieces;
use std::fmt::Write as _;

const STYLE: &str = include_str!("style.css");
/// Where all terms are as short as marks are, they need no wider column.
const SHORT_TERM: usize = 3;
/// From so many sections on there is a list of them.
const CONTENTS_FROM: usize = 4;

/// The document as a page.
#[must_use]
pub fn render(document: &Document) -> String {
    let title = escape(&document.title);
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <header>\n<h1>{title}</h1>\n"
    );
    if let Some(subtitle) = &document.subtitle {
        let _ = writeln!(out, "<p class=\"subtitle\">{}</p>", escape(subtitle));
    }
    out.push_str("</header>\n");
    contents(&mut out, document);
    let mut section = 0;
    for block in &document.blocks {
        match block {
            Block::Heading(level, text) => {
                section += usize::from(*level == 1);
                heading(&mut out, *level, text, section);
            }
            Block::Paragraph(text) => {
                let _ = writeln!(out, "<p>{}</p>", marked(document, text));
            }
            Block::List(items) => list(&mut out, document, items),
            Block::Terms(terms) => self::terms(&mut out, document, terms),
            Block::Table(table) => table::render(&mut out, document, table),
            Block::Figure(figure) => {
                self::figure(&mut out, document, figure);
            }
            Block::Footnotes => footnotes(&mut out, document),
        }
    }
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

/// Links to the sections, where there are enough of them.
fn contents(out: &mut String, document: &Document) {
    let sections: Vec<&String> = document
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Heading(1, text) => Some(text),
            _ => None,
        })
        .collect();
    if sections.len() < CONTENTS_FROM {
        return;
    }
    out.push_str("<nav aria-label=\"Contents\">\n<ol>\n");
    for (i, text) in sections.iter().enumerate() {
        let _ = writeln!(
            out,
            "<li><a href=\"#section-{}\">{}</a></li>",
            i + 1,
            escape(text)
        );
    }
    out.push_str("</ol>\n</nav>\n");
}

fn heading(out: &mut String, level: u8, text: &str, section: usize) {
    let tag = level.clamp(1, 3) + 1;
    let id = if level == 1 {
        format!(" id=\"section-{section}\"")
    } else {
        String::new()
    };
    let _ = writeln!(out, "<h{tag}{id}>{}</h{tag}>", escape(text));
}

fn list(out: &mut String, document: &Document, items: &[Text]) {
    out.push_str("<ul>\n");
    for item in items {
        let _ = writeln!(out, "<li>{}</li>", marked(document, item));
    }
    out.push_str("</ul>\n");
}

fn terms(out: &mut String, document: &Document, terms: &[(String, Text)]) {
    let short = terms
        .iter()
        .all(|(term, _)| term.chars().count() <= SHORT_TERM);
    out.push_str(if short {
        "<dl class=\"notes\">\n"
    } else {
        "<dl>\n"
    });
    for (term, text) in terms {
        let _ = writeln!(
            out,
            "<div><dt>{}</dt><dd>{}</dd></div>",
            escape(term),
            marked(document, text)
        );
    }
    out.push_str("</dl>\n");
}

fn figure(out: &mut String, document: &Document, figure: &Figure) {
    let label = escape(&figure.caption.text);
    let _ = write!(
        out,
        "<figure>\n<figcaption>{}</figcaption>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\">\n{}</div>\n\
         <details><summary>The figure in words</summary><p>{}</p></details>\n</figure>\n",
        marked(document, &figure.caption),
        figure.svg,
        escape(&figure.alternative)
    );
}

fn footnotes(out: &mut String, document: &Document) {
    let notes = document.notes();
    if notes.is_empty() {
        return;
    }
    out.push_str("<dl class=\"notes\">\n");
    for (id, note) in notes {
        let _ = writeln!(
            out,
            "<div id=\"note-{}\"><dt>{}</dt><dd>{}</dd></div>",
            id.index() + 1,
            escape(&document.mark(id)),
            words(&note.text)
        );
    }
    out.push_str("</dl>\n");
}

/// Words with links to their footnotes behind them.
fn marked(document: &Document, text: &Text) -> String {
    format!("{}{}", words(&text.text), superscript(document, text))
}

/// Escaped words, with what is to be typed set so.
fn words(text: &str) -> String {
    let set = |(typed, piece)| match typed {
        false => escape(piece),
        true => format!("<code>{}</code>", escape(piece)),
    };
    pieces(text).map(set).collect()
}

/// The links raised; nothing where there are none.
fn superscript(document: &Document, text: &Text) -> String {
    match marks(document, text).as_str() {
        "" => String::new(),
        marks => format!("<sup>{marks}</sup>"),
    }
}

/// The links alone.
fn marks(document: &Document, text: &Text) -> String {
    let mut out = String::new();
    for (id, mark) in document.marks(text) {
        let mark = escape(&mark);
        let _ = write!(
            out,
            "<a href=\"#note-{}\" aria-label=\"footnote {mark}\">{mark}</a>",
            id.index() + 1
        );
    }
    out
}

/// Letters that the marks of a text take.
fn marks_width(document: &Document, text: &Text) -> usize {
    document
        .marks(text)
        .iter()
        .map(|(_, mark)| clean(mark).chars().count())
        .sum()
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
        assert_eq!(words("a < ` alone"), "a &lt; ` alone");
    }
}
