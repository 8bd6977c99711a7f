//! A table as HTML: it scrolls inside a box of its own, and names its rows and columns for those who listen.
//!
//! Must not know: what the table says.

use super::{marked, marks, marks_width};
use crate::clean::escape;
use crate::document::{Column, Document, Row, Style, Table, Text};
use std::fmt::Write as _;

/// The style sheet has room for so many marks behind a number.
const MOST_MARKS: usize = 9;

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
            write!(out, "<th scope=\"row\"{class}>{cell}</th>")
        } else {
            write!(out, "<td{class}>{cell}</td>")
        };
    }
    out.push_str("</tr>\n");
}

fn cell(document: &Document, style: Style, text: &Text, room: usize) -> String {
    let words = escape(&text.text);
    match style {
        Style::Number if room > 0 => format!(
            "{words}<sup class=\"m{room}\">{}</sup>",
            marks(document, text)
        ),
        Style::Code => {
            let marks = marks(document, text);
            let marks = if marks.is_empty() {
                marks
            } else {
                format!("<sup>{marks}</sup>")
            };
            format!("<code>{words}</code>{marks}")
        }
        _ => marked(document, text),
    }
}

fn class(style: Style) -> &'static str {
    match style {
        Style::Number => " class=\"n\"",
        Style::Text => " class=\"t\"",
        Style::Code => " class=\"c\"",
    }
}
