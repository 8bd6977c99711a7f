//! Names of runs and benchmarks to stored runs and cached results.

pub mod context;
pub mod result_cache;
pub mod selection;
