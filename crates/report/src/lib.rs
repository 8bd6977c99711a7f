//! From a run, a reference system or a comparison to a [`Document`], and from that to a terminal or a page.
//!
//! Everything is a pure function: views of `gritstone-model` go in, text comes out.

pub mod code_spans;
pub mod document;
pub mod findings;
pub mod html;
pub mod layout;
pub mod lists;
pub mod svg;
pub mod terminal;

mod ab;
mod audit;
mod bench;
mod benchmark_page;
mod brief;
mod changes;
mod check;
mod columns;
mod compare;
mod copies;
mod counters;
mod fleet;
mod history;
mod json;
mod latencies;
mod many_runs;
mod number;
mod overview;
mod pairs;
mod profile;
mod ratings;
mod responses;
mod sanitize;
mod show;
mod sparkline;
mod table;
mod words;

pub use ab::ab;
pub use audit::audit;
pub use bench::{Ranked, Ranking, commands};
pub use benchmark_page::{line, one};
pub use brief::{Brief, Pair, brief, data_sheet, pair};
pub use changes::{change, changes, event, event_known, event_lines, new_events};
pub use check::check;
pub use compare::{Comparison, compare};
pub use document::Document;
pub use fleet::{fleet, fleet_lines, fleet_progress, node};
pub use history::{benchmark, histories, history, history_svg};
pub use json::json;
pub use many_runs::{Other, several};
pub use number::{percent_asked, unit_text};
pub use overview::{overview, progress, refused, runs, search, system, systems_compared};
pub use ratings::{rating_lines, ratings};
pub use sanitize::{clean, printable, shortened};
pub use show::{Detail, show};
pub use words::{bytes, duration, peer, plural, samples};
