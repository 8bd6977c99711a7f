//! Circumstances that the runs of a series share. Kernel, compiler and other programs are excluded: they may be the cause of a change.

use gritstone_model::{Machine, PeerPath, RunInfo, Settings};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComparisonKey {
    /// Short name of the system.
    pub machine: String,
    /// Directory of file benchmarks, as a proxy for the file system.
    pub dir: String,
    /// Settings held by `--tune`.
    #[serde(rename = "steady")]
    pub tuned: Vec<String>,
    /// Parameters of workloads that override those of their catalog entries.
    pub params: BTreeMap<String, String>,
    /// Place of the far ends, if not on the system itself.
    pub peer: Option<PeerPath>,
}

/// What a run was to measure. Efforts and budgets are none of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    suite: Option<String>,
    selectors: BTreeSet<String>,
    allow: BTreeSet<String>,
    no_privileged: bool,
}

impl Selection {
    pub fn new(settings: Option<&Settings>) -> Self {
        let settings = settings.cloned().unwrap_or_default();
        Self {
            suite: settings.suite,
            selectors: settings.selectors.into_iter().collect(),
            allow: settings.allow.into_iter().collect(),
            no_privileged: settings.no_privileged,
        }
    }
}

impl ComparisonKey {
    /// Circumstances of a run on this machine; a printed machine has no settings.
    pub fn new(machine: &Machine, settings: Option<&Settings>) -> Self {
        let settings = settings.cloned().unwrap_or_default();
        Self {
            machine: machine.id.clone(),
            peer: settings.peer.as_ref().map(gritstone_model::Peer::path),
            dir: settings.dir,
            tuned: settings.tuned,
            params: settings.params,
        }
    }

    /// Whether a run has them. The side of a trial has settings that they do not include.
    pub fn covers(&self, run: &RunInfo) -> bool {
        run.settings.trial.is_none() && Self::new(&run.machine, Some(&run.settings)) == *self
    }
}
