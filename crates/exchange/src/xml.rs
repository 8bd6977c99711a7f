//! Text in XML.

use gritstone_document::Untrusted;

/// An element with text content.
pub(crate) fn element(name: &str, text: &str) -> String {
    format!("<{name}>{}</{name}>", Untrusted(text).markup())
}
