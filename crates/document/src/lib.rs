//! A [`Document`], and its renderings: a terminal, one HTML file, SVG figures.
//!
//! It knows no benchmark: what a note means arrives as a [`Mark`], and its sentence is written.

pub mod code_spans;
pub mod html;
pub mod layout;
pub mod mark;
pub mod number;
pub mod sparkline;
pub mod svg;
pub mod terminal;

mod sanitize;
mod tree;

pub use mark::{Footnote, Mark, Tone};
pub use number::{MISSING, percent_option, unit_text};
pub use sanitize::{Foreign, clean, printable, shortened, without_commands};
pub use tree::*;
