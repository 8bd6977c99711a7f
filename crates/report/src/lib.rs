//! From a run, a reference machine or a comparison to a [`Document`], and from that to a terminal or a page.
//!
//! Everything is a pure function: views of `gritstone-model` go in, text comes out.
//!
//! Must not know: files, clocks, terminals, the store, the names of benchmarks.

pub mod document;
pub mod html;
pub mod lists;
pub mod svg;
pub mod terminal;

mod audit;
mod brief;
mod clean;
mod columns;
mod compare;
mod number;
mod selftest;
mod show;
mod words;

pub use audit::audit;
pub use brief::{Brief, brief};
pub use clean::clean;
pub use compare::compare;
pub use document::Document;
pub use selftest::selftest;
pub use show::show;
