//! The published results: what is shipped, and what is refused. One program: each module is a part that can be called by name.

mod malformed;
mod shipped;
mod views;

/// The words of a note; nothing where it is not one of words.
pub fn text(note: &gritstone_model::Note) -> &str {
    match &note.finding {
        gritstone_model::Finding::Stated { text, .. } => text,
        _ => "",
    }
}
