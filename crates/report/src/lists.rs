//! Lists as documents: benchmarks, machines, missing programs.

use crate::words;
use gritstone_document::{Column, Document, Row, Table, Text};
use gritstone_model::CustomCatalog;

/// A document of one table; the first column names the row.
pub fn table<const N: usize>(
    title: &str,
    columns: [impl Into<Column>; N],
    rows: Vec<[String; N]>,
) -> Document {
    let mut document = Document::new(title);
    if rows.is_empty() {
        document.paragraph("There is nothing to list.");
    }
    append(&mut document, "", columns, rows);
    document
}

/// Appends a table with a caption to a document, without empty columns; nothing without rows.
pub fn append<const N: usize>(
    document: &mut Document,
    caption: &str,
    columns: [impl Into<Column>; N],
    rows: Vec<[String; N]>,
) {
    let columns =
        columns.into_iter().enumerate().map(|(i, column)| Column { key: i == 0, ..column.into() });
    let rows = rows.into_iter();
    let table = Table {
        caption: caption.into(),
        columns: columns.collect(),
        rows: rows.map(|cells| Row::new(cells.map(Text::new).into())).collect(),
    };
    document.table(table.without_empty_columns());
}

/// Adds a footnote for custom benchmarks, in a document whose tables have none.
pub(crate) fn not_ours(document: &mut Document, catalogue: Option<&CustomCatalog>) {
    if let Some(catalog) = catalogue {
        document.paragraph(format!(
            "◊ Not benchmarks of Gritstone: those of the family {}, of the catalog {}.",
            words::join(&catalog.families),
            catalog.named()
        ));
    }
}
