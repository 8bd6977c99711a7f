//! From samples to estimate, interval and comparison. Formulas, sources and the simulations that back them are in
//! `docs/statistics.md`.
//!
//! Must not know: files, processes, clocks, the store, how anything is drawn.

pub mod ab;
pub mod audit;
pub mod between;
pub mod center;
pub mod check;
pub mod circumstances;
pub mod compare;
pub mod describe;
pub mod drift;
pub mod history;
pub mod looks;
mod modes;
pub mod multiple;
mod order;
pub mod plan;
mod quantile;
pub mod rating;
pub mod ratings;
mod rungs;
pub mod scaling;
pub mod selftest;
mod serial;
pub mod series;
pub mod summary;
pub mod times;
pub mod two;
pub mod verdict;

/// Version of all that turns launches into results. Whoever changes what results a run gets raises it: stores keep results that were
/// computed before, and compute them again where it is another.
pub const ANALYSIS: u32 = 1;
