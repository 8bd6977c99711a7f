//! What is to be done: steps, and skips with their reasons.
//!
//! Must not know: how a step is carried out.

use crate::{Benchmark, Footnote, Id};
use serde::{Deserialize, Serialize};

/// One launch of one benchmark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Which benchmark.
    pub id: Id,
    /// The CPUs on which its processes are placed: one, two for `@cross`, empty for all; those of copies in turn.
    pub cpus: Vec<u32>,
    /// How many copies of it work at once.
    pub copies: u32,
}

/// A benchmark that will not run, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skip {
    /// Which benchmark.
    pub id: Id,
    /// The reason and what mends it; its kind is `NotRun`.
    pub footnote: Footnote,
}

/// What a run measures, what it computes from that, and what it must leave out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// One step for every benchmark that is launched; rounds repeat them in fresh orders.
    pub steps: Vec<Step>,
    /// Every benchmark that is shown, in the order of the catalogue, skipped and derived ones too.
    pub benchmarks: Vec<Benchmark>,
    /// What cannot run here.
    pub skips: Vec<Skip>,
}
