//! Text in XML.

use gritstone_document::Foreign;

/// An element with a text in it.
pub(crate) fn element(name: &str, text: &str) -> String {
    format!("<{name}>{}</{name}>", Foreign(text).markup())
}
