//! Plan: steps, and skips with reasons.

use crate::{Benchmark, Finding, Id, Note};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One launch of one benchmark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    pub id: Id,
    /// CPUs of its processes: one, two for `@cross`, empty for all; those of copies in turn.
    pub cpus: Vec<u32>,
    /// Number of simultaneous copies.
    pub copies: u32,
}

/// Calibration of earlier launches of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calibration {
    /// Operations of a timed region.
    pub n: Option<u64>,
    /// Whether enough launches have shown that time grows with n.
    pub growth_shown: bool,
}

/// A skipped benchmark, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "StoredSkip", into = "StoredSkip")]
pub struct Skip {
    pub id: Id,
    /// Reason and remedy.
    pub reason: String,
}

impl Skip {
    /// The note on its result.
    pub fn note(&self) -> Note {
        Note::new(Finding::Unavailable { reason: self.reason.clone() })
    }
}

/// A skip in the format of bundles.
#[derive(Serialize, Deserialize, JsonSchema)]
struct StoredSkip {
    id: Id,
    footnote: StoredReason,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct StoredReason {
    #[serde(default = "not_run")]
    kind: String,
    why: String,
}

fn not_run() -> String {
    "not run".to_owned()
}

impl From<StoredSkip> for Skip {
    fn from(stored: StoredSkip) -> Self {
        Self { id: stored.id, reason: stored.footnote.why }
    }
}

impl From<Skip> for StoredSkip {
    fn from(skip: Skip) -> Self {
        Self { id: skip.id, footnote: StoredReason { kind: not_run(), why: skip.reason } }
    }
}

/// Measured, computed and skipped benchmarks of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// One step for every launched benchmark; rounds repeat them in fresh orders.
    pub steps: Vec<Step>,
    /// Every shown benchmark, in the order of the catalog, including skipped and derived ones.
    pub benchmarks: Vec<Benchmark>,
    pub skips: Vec<Skip>,
}
