//! Names of runs and benchmarks to stored runs and cached results.

pub mod brief;
pub mod changes;
pub mod clock;
pub mod context;
pub mod custom_catalog;
pub mod earlier_runs;
pub mod files;
pub mod gate;
pub mod history;
pub mod listing;
pub mod output_file;
pub mod result_cache;
pub mod scores;
pub mod selection;
mod settled;
pub mod trials;
pub mod uncached;
pub mod verify;
