//! A table as HTML: it scrolls inside a box of its own, and names its rows and columns for those who listen.

use super::{marked, marks, marks_width, superscript};
use crate::clean::escape;
use crate::document::{Column, Document, Row, Style, Table, Text};
use std::fmt::Write as _;

/// The style sheet has room for so many marks behind a number.
const MOST_MARKS: usize = 9;

/// Names of rows up to here stay in one line.
const SHORT_NAME: usize = 16;
/// A longer word may be broken.
const LONGEST_WORD: usize = 24;

pub(super) fn render(out: &mut String, document: &Document, table: &Table) {
    let label = if table.caption.text.is_empty() {
        &document.title
    } else {
        &table.caption.text
    };
    let _ = writeln!(
        out,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n<table>",
        escape(label)
    );
    if !table.caption.text.is_empty() {
        let _ = writeln!(
            out,
            "<caption><span>{}</span></caption>",
            marked(document, &table.caption)
        );
    }
    out.push_str("<thead>\n");
    heads(out, &table.columns);
    out.push_str("</thead>\n<tbody>\n");
    let room: Vec<usize> = (0..table.columns.len())
        .map(|i| room(document, table, i))
        .collect();
    for row in &table.rows {
        self::row(out, document, &table.columns, row, &room);
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
}

/// Letters to keep free behind every number of a column, so that the numbers line up.
fn room(document: &Document, table: &Table, column: usize) -> usize {
    let widths = table
        .rows
        .iter()
        .map(|row| marks_width(document, &row.cells[column]));
    widths.max().unwrap_or(0).min(MOST_MARKS)
}

fn heads(out: &mut String, columns: &[Column]) {
    let grouped = columns.iter().any(|c| c.group.is_some());
    let head = |out: &mut String, column: &Column, rows: usize| {
        let rows = if rows > 1 {
            format!(" rowspan=\"{rows}\"")
        } else {
            String::new()
        };
        let _ = write!(
            out,
            "<th scope=\"col\"{rows}{}>{}</th>",
            class(column.style),
            escape(&column.head)
        );
    };
    if grouped {
        out.push_str("<tr>");
        for run in columns.chunk_by(|a, b| a.group.is_some() && a.group == b.group) {
            match &run[0].group {
                Some(group) => {
                    let _ = write!(
                        out,
                        "<th scope=\"colgroup\" class=\"g\" colspan=\"{}\"><span>{}</span></th>",
                        run.len(),
                        escape(group)
                    );
                }
                None => run.iter().for_each(|column| head(out, column, 2)),
            }
        }
        out.push_str("</tr>\n");
    }
    out.push_str("<tr>");
    for column in columns.iter().filter(|c| !grouped || c.group.is_some()) {
        head(out, column, 1);
    }
    out.push_str("</tr>\n");
}

fn row(out: &mut String, document: &Document, columns: &[Column], row: &Row, room: &[usize]) {
    out.push_str(if row.strong {
        "<tr class=\"strong\">"
    } else {
        "<tr>"
    });
    for (i, (column, text)) in columns.iter().zip(&row.cells).enumerate() {
        let cell = cell(document, column.style, text, room[i]);
        let class = class(column.style);
        let _ = if i == 0 && column.key {
            // a short name is not broken at its hyphens
            let class = if text.text.chars().count() <= SHORT_NAME {
                " class=\"k\""
            } else {
                class
            };
            write!(out, "<th scope=\"row\"{class}>{cell}</th>")
        } else {
            write!(out, "<td{class}>{cell}</td>")
        };
    }
    out.push_str("</tr>\n");
}

fn cell(document: &Document, style: Style, text: &Text, room: usize) -> String {
    let words = escape(&text.text);
    let sup = superscript(document, text);
    match style {
        Style::Number if room > 0 => {
            let marks = marks(document, text);
            format!("{words}<sup class=\"m{room}\">{marks}</sup>")
        }
        Style::Number => words,
        Style::Code => format!("<code>{words}</code>{sup}"),
        Style::Text => format!("{}{sup}", breakable(&text.text)),
    }
}

/// Escaped words; one that is longer than a column gets places where it may be broken, and no other word is.
fn breakable(text: &str) -> String {
    let mut words = String::new();
    for (i, word) in text.split(' ').enumerate() {
        if i > 0 {
            words.push(' ');
        }
        let letters: Vec<char> = word.chars().collect();
        let piece = if letters.len() > LONGEST_WORD {
            LONGEST_WORD / 2
        } else {
            LONGEST_WORD
        };
        let pieces = letters
            .chunks(piece)
            .map(|piece| escape(&piece.iter().collect::<String>()));
        words.push_str(&pieces.collect::<Vec<_>>().join("<wbr/>"));
    }
    words
}

fn class(style: Style) -> &'static str {
    match style {
        Style::Number => " class=\"n\"",
        Style::Text => " class=\"t\"",
        Style::Code => " class=\"c\"",
    }
}
