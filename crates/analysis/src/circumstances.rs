//! What runs must have in common to be held against each other, whatever the row: a figure that differs though all of this is the same
//! has changed.

use gritstone_model::{Machine, Settings};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// On what, where and how a run was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Circumstances {
    /// Short name of the system.
    pub machine: String,
    /// Release of the system's kernel, or the system where that is not known.
    pub kernel: String,
    /// Directory in which files were measured: it says on which file system.
    pub dir: String,
    /// What was steadied while it was measured.
    pub steady: Vec<String>,
    /// Parameters of workloads that override those of their catalog entries.
    pub params: BTreeMap<String, String>,
}

impl Circumstances {
    /// Those of a run on this machine; a printed machine has no settings.
    #[must_use]
    pub fn of(machine: &Machine, settings: Option<&Settings>) -> Self {
        let release = machine.facts.get("kernel.release");
        let settings = settings.cloned().unwrap_or_default();
        Self {
            machine: machine.id.clone(),
            kernel: release.unwrap_or(&machine.system).clone(),
            dir: settings.dir,
            steady: settings.steady,
            params: settings.params,
        }
    }
}
