//! Text in XML.

use gritstone_document::Foreign;

/// An element with text content.
pub(crate) fn element(name: &str, text: &str) -> String {
    format!("<{name}>{}</{name}>", Foreign(text).markup())
}
