//! Fleets: the same benchmarks on many nodes, started locally, by ssh or by Slurm, and their progress.

pub mod drive;
pub mod plan;
pub mod report;

mod bundles;
mod engine;
mod host;
mod inventory;
mod lock;
mod progress;
mod slurm;

pub use progress::newest as progress;
