//! The mathematics of repeated timings: centers and their intervals, ratios of two samples, tests that look while it is measured,
//! change points. Formulas, sources and the simulations that back them are in `docs/statistics.md`.

#![warn(missing_docs)]

pub mod center;
pub mod fleet;
pub mod history;
pub mod looks;
pub mod moderated;
pub mod modes;
pub mod multiple;
pub mod order;
pub mod plan;
pub mod quantile;
pub mod ranks;
pub mod rating;
mod rungs;
pub mod scaling;
pub mod scatter;
pub mod serial;
pub mod tails;
pub mod times;
pub mod two;
pub mod verdict;
