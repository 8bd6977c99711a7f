//! Names of runs and benchmarks to stored runs and cached results.

pub mod clock;
pub mod context;
pub mod custom_catalog;
pub mod files;
pub mod result_cache;
pub mod selection;
