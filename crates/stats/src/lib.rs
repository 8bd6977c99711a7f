//! The mathematics of repeated timings: location estimates with intervals, ratios of two samples, tests with interim analyses, change
//! points.
//! Formulas, sources and the simulations behind them are in `docs/statistics.md`.

#![warn(missing_docs)]

pub mod center;
pub mod descriptive;
pub mod fleet;
pub mod interim;
pub mod moderated;
pub mod modes;
pub mod multiple;
pub mod paired_ranks;
pub mod paired_times;
pub mod percentiles;
pub mod plan;
pub mod quantile;
mod rank_intervals;
pub mod ranks;
pub mod scaling;
pub mod scatter;
pub mod score;
pub mod serial;
pub mod series;
pub mod two_sample;
pub mod undisturbed;
pub mod verdict;
