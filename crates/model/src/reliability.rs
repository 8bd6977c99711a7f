//! Reliability of the results of a run, in one word.

use crate::Flag;
use crate::names::names;
use schemars::JsonSchema;

names! {
    /// Reliability, worst first.
    #[derive(PartialOrd, Ord, JsonSchema)]
    pub enum Reliability {
        /// At least a third of the results are in doubt, or nothing was measured.
        Low = "low",
        /// At least a tenth are in doubt, a result is invalid, or the run was interrupted.
        Medium = "medium",
        /// All others.
        High = "high",
    }
}

/// Reliability of a run, with reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assessment {
    pub reliability: Reliability,
    pub measured: usize,
    /// Flags that put results in doubt, each with the number of results; the most frequent first.
    pub causes: Vec<(Flag, usize)>,
    pub interrupted: bool,
}
