//! From a run, a reference system or a comparison to a [`Document`], and from that to a terminal or a page.
//!
//! Everything is a pure function: views of `gritstone-model` go in, text comes out.

pub mod document;
pub mod findings;
pub mod html;
pub mod layout;
pub mod lists;
pub mod svg;
pub mod terminal;
pub mod typed;

mod ab;
mod audit;
mod brief;
mod changes;
mod check;
mod clean;
mod columns;
mod commands;
mod compare;
mod copies;
mod counters;
mod fleet;
mod history;
mod json;
mod latencies;
mod number;
mod one;
mod overview;
mod pairs;
mod profile;
mod ratings;
mod responses;
mod selftest;
mod several;
mod show;
mod spark;
mod table;
mod words;

pub use ab::ab;
pub use audit::audit;
pub use brief::{Brief, Pair, brief, data_sheet, pair};
pub use changes::{change, changes, event, event_known, event_lines, new_events};
pub use check::check;
pub use clean::{clean, printable, shortened};
pub use commands::{Ranked, Ranking, commands};
pub use compare::{Comparison, compare};
pub use document::Document;
pub use fleet::{fleet, fleet_lines, fleet_progress, node};
pub use history::{benchmark, histories, history, history_svg};
pub use json::json;
pub use number::{percent_asked, unit_text};
pub use one::{line, one};
pub use overview::{overview, progress, refused, runs, search, system, systems_compared};
pub use ratings::{rating_lines, ratings};
pub use selftest::selftest;
pub use several::{Other, several};
pub use show::{Detail, show};
pub use words::{bytes, duration, peer, plural, samples};
