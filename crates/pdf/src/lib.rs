//! A document as a PDF: tagged, with its fonts inside, the text selectable and the footnotes linked.
//!
//! The pages are laid out by `template.typ`, which is fixed. The document reaches it as data, a JSON file that is read
//! while it is typeset, so that no text of a document is ever markup.
//!
//! Must not know: what the document is about, files of the machine, its fonts, the time of day.

mod data;
mod world;

use gritstone_report::Document;
use std::fmt;
use typst::comemo;
use typst::diag::SourceDiagnostic;
use typst_layout::PagedDocument;
use typst_pdf::{PdfOptions, pdf};
use world::Pages;

/// Why there is no PDF: what the typesetter said. Only a fault of ours makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the typesetter refuses the document: {}", self.0)
    }
}

impl std::error::Error for Error {}

/// The document as a PDF. The same document gives the same bytes.
///
/// # Errors
/// When the typesetter refuses it.
pub fn render(document: &Document) -> Result<Vec<u8>, Error> {
    let made = typeset(document);
    comemo::evict(0);
    made
}

fn typeset(document: &Document) -> Result<Vec<u8>, Error> {
    let pages = Pages::new(data::of(document), data::figures(document));
    let laid_out: PagedDocument = typst::compile(&pages).output.map_err(|e| said(&e))?;
    // what was remembered to lay it out is most of the memory, and no use any more
    comemo::evict(0);
    pdf(&laid_out, &PdfOptions::default()).map_err(|e| said(&e))
}

fn said(errors: &[SourceDiagnostic]) -> Error {
    let messages: Vec<&str> = errors.iter().map(|e| e.message.as_str()).collect();
    Error(messages.join("; "))
}
