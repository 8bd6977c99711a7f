//! A [`Document`], and its renderings: a terminal, one HTML file, SVG figures.
//!
//! It knows no benchmark: the meaning of a note comes as a [`FlagStyle`], with its sentence.

pub mod code_spans;
pub mod footnote;
pub mod html;
pub mod layout;
pub mod number;
pub mod sparkline;
pub mod svg;
pub mod terminal;

mod sanitize;
mod tree;

pub use footnote::{FlagStyle, Footnote, Tone, listed};
pub use number::{MISSING, percent_option, unit_text};
pub use sanitize::{Untrusted, clean, printable, shortened, without_commands};
pub use tree::*;
