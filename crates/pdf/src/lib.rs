//! Renders a document as a PDF: tagged, with embedded fonts and selectable text.
//!
//! `blocks`, `tiles` and `table` lay a document out in slabs, `page` distributes them over pages, `write` draws the
//! pages. Nothing in a document is interpreted as markup. Full pages are final, so that time and memory are linear in
//! the number of pages.

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

/// An internal error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the document cannot be written as a PDF: {0}")]
pub struct Error(String);

/// A rendered document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pdf {
    pub bytes: Vec<u8>,
    /// Words with characters that the fonts lack, which show as `?`.
    pub replaced: Vec<String>,
}

/// Renders a document, deterministically.
///
/// # Errors
/// When a drawing cannot be read, or a font cannot be written.
pub fn render(document: &Document) -> Result<Pdf, Error> {
    let fonts = fonts::Fonts::new();
    let bytes = write::pdf(setter::Setter::new(&fonts, document)?)?;
    Ok(Pdf { bytes, replaced: fonts.replaced() })
}
