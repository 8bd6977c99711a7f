//! Launches to results: estimates with their findings, comparisons, histories, gates and scores. The mathematics is that of
//! `gritstone_stats`.

pub mod ab;
pub mod audit;
pub mod check;
pub mod comparability;
pub mod compare;
mod conversion;
mod describe;
pub mod events;
mod explain;
pub mod fleet;
pub mod levels;
pub mod reliability;
pub mod run_effect;
pub mod run_summary;
mod same;
pub mod scores;
pub mod series;
pub mod side;
pub mod summary;
mod tails;
#[cfg(test)]
mod tests;
pub mod trends;

/// Version of the analysis. Raise it with every change of results: stores compute cached results of other versions
/// again.
pub const VERSION: u32 = 28;
