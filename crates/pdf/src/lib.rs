//! A document as a PDF: tagged, with its fonts inside, the text selectable and the footnotes linked.
//!
//! `blocks`, `sheet` and `table` lay a document out in slabs, `page` fills pages with them, `write` draws the pages. Nothing of the
//! document is ever markup, and a page is not looked at again once it is full, so that time and memory grow with the
//! number of pages and no faster.

mod blocks;
mod fonts;
mod line_breaking;
mod page;
mod setter;
mod table;
mod tags;
mod tiles;
mod write;

use gritstone_document::Document;

/// Why there is no PDF. Only a fault of ours makes one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the document cannot be written as a PDF: {0}")]
pub struct Error(String);

/// The document as a PDF. The same document gives the same bytes.
///
/// # Errors
/// When a drawing cannot be read, or a font cannot be written.
pub fn render(document: &Document) -> Result<Vec<u8>, Error> {
    let fonts = fonts::Fonts::new();
    write::pdf(setter::Setter::of(&fonts, document)?)
}
