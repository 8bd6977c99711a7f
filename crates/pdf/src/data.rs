//! A document as the JSON that `template.typ` reads.
//!
//! Must not know: how it is laid out.

use gritstone_report::clean;
use gritstone_report::document::{Block, Column, Document, Figure, Row, Style, Table, Text};
use serde_json::{Value, json};

/// A longer word may be broken, at any of its pieces.
const LONGEST_WORD: usize = 24;
/// Letters in a piece of such a word.
const PIECE: usize = 8;
/// A running title is cut here; the title itself stands on the first page.
const RUNNING: usize = 70;

/// The document, its figures by number.
pub(crate) fn of(document: &Document) -> String {
    let mut figures = 0;
    let blocks: Vec<Value> = document
        .blocks
        .iter()
        .map(|block| self::block(document, block, &mut figures))
        .collect();
    let title = clean(&document.title);
    json!({
        "title": title,
        "running": shortened(&title),
        "heading": pieces(&title),
        "subtitle": document.subtitle.as_deref().map(words),
        "blocks": blocks,
    })
    .to_string()
}

/// The drawings, in the order of the document.
pub(crate) fn figures(document: &Document) -> Vec<String> {
    let drawing = |block: &Block| match block {
        Block::Figure(figure) => Some(figure.svg.clone()),
        _ => None,
    };
    document.blocks.iter().filter_map(drawing).collect()
}

fn block(document: &Document, block: &Block, figures: &mut usize) -> Value {
    match block {
        Block::Heading(level, text) => {
            json!({"is": "heading", "level": level.clamp(&1, &3), "pieces": words(text)})
        }
        Block::Paragraph(text) => json!({"is": "paragraph", "text": marked(document, text)}),
        Block::List(items) => {
            let items: Vec<Value> = items.iter().map(|t| marked(document, t)).collect();
            json!({"is": "list", "items": items})
        }
        Block::Terms(terms) => {
            let term = |(term, text): &(String, Text)| json!({"term": words(term), "text": marked(document, text)});
            json!({"is": "terms", "terms": terms.iter().map(term).collect::<Vec<_>>()})
        }
        Block::Table(table) => self::table(document, table),
        Block::Figure(figure) => {
            *figures += 1;
            self::figure(document, figure, *figures)
        }
        Block::Footnotes => footnotes(document),
    }
}

fn figure(document: &Document, figure: &Figure, number: usize) -> Value {
    json!({
        "is": "figure",
        "file": format!("figure-{number}.svg"),
        "caption": marked(document, &figure.caption),
        "alternative": clean(&figure.alternative),
    })
}

fn footnotes(document: &Document) -> Value {
    let note = |(id, note): (
        gritstone_report::document::NoteId,
        &gritstone_report::document::Note,
    )| {
        json!({"id": id.index() + 1, "mark": document.mark(id), "pieces": words(&note.why)})
    };
    json!({"is": "footnotes", "notes": document.notes().into_iter().map(note).collect::<Vec<_>>()})
}

fn table(document: &Document, table: &Table) -> Value {
    let column = |column: &Column| {
        json!({
            "head": words(&column.head),
            "group": column.group.as_deref().map(words),
            "key": column.key,
            "style": match column.style {
                Style::Text => "text",
                Style::Number => "number",
                Style::Code => "code",
            },
        })
    };
    let row = |row: &Row| {
        let cells: Vec<Value> = row.cells.iter().map(|t| marked(document, t)).collect();
        json!({"strong": row.strong, "cells": cells})
    };
    json!({
        "is": "table",
        "caption": marked(document, &table.caption),
        "columns": table.columns.iter().map(column).collect::<Vec<_>>(),
        "rows": table.rows.iter().map(row).collect::<Vec<_>>(),
    })
}

fn marked(document: &Document, text: &Text) -> Value {
    let marks: Vec<Value> = document
        .marks(text)
        .into_iter()
        .map(|(id, mark)| json!({"id": id.index() + 1, "mark": mark}))
        .collect();
    json!({"pieces": words(&text.text), "marks": marks})
}

fn words(text: &str) -> Vec<String> {
    pieces(&clean(text))
}

/// The text in one piece, or, where it has words that are longer than a line may be, with an end of a piece wherever such
/// a word may be broken.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for (i, word) in text.split(' ').enumerate() {
        let letters: Vec<char> = word.chars().collect();
        let size = if letters.len() > LONGEST_WORD {
            PIECE
        } else {
            LONGEST_WORD
        };
        if i > 0 {
            last(&mut pieces).push(' ');
        }
        for (j, piece) in letters.chunks(size).enumerate() {
            if j > 0 {
                pieces.push(String::new());
            }
            last(&mut pieces).extend(piece);
        }
    }
    pieces
}

fn last(pieces: &mut [String]) -> &mut String {
    pieces.last_mut().expect("there is always a piece")
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= RUNNING {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(RUNNING - 1).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_words_have_places_to_break_and_nothing_is_lost() {
        assert_eq!(pieces("a few short words"), ["a few short words"]);
        let long = format!("see {} there", "x".repeat(30));
        let made = pieces(&long);
        assert_eq!(made.concat(), long);
        assert_eq!(
            made,
            ["see xxxxxxxx", "xxxxxxxx", "xxxxxxxx", "xxxxxx there"]
        );
        assert_eq!(pieces(""), [""]);
        assert_eq!(pieces(" a  b ").concat(), " a  b ");
    }

    #[test]
    fn a_running_title_has_an_end() {
        assert_eq!(shortened("short"), "short");
        assert_eq!(shortened(&"ä".repeat(200)).chars().count(), RUNNING);
    }
}
