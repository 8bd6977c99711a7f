//! Conditions that comparable runs share: a result that differs under equal conditions has changed.

use gritstone_model::{Machine, PeerPath, Settings};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Circumstances {
    /// Short name of the system.
    pub machine: String,
    /// Release of the system's kernel, or the system where that is not known.
    pub kernel: String,
    /// Directory of file benchmarks, which stands for the file system.
    pub dir: String,
    /// Settings that `--tune` held.
    pub steady: Vec<String>,
    /// Parameters of workloads that override those of their catalog entries.
    pub params: BTreeMap<String, String>,
    /// Where the far ends were, if not on the system itself.
    #[serde(default)]
    pub peer: Option<PeerPath>,
    /// Release of the kernel there.
    #[serde(default)]
    pub peer_kernel: String,
}

impl Circumstances {
    /// Those of a run on this machine; a printed machine has no settings.
    #[must_use]
    pub fn new(machine: &Machine, settings: Option<&Settings>) -> Self {
        let settings = settings.cloned().unwrap_or_default();
        let kernel = |of: &Machine| {
            let release = of.facts.get("kernel.release");
            release.unwrap_or(&of.system).clone()
        };
        let peer = settings.peer.as_ref();
        Self {
            machine: machine.id.clone(),
            kernel: kernel(machine),
            peer: peer.map(|peer| peer.path()),
            peer_kernel: peer.map_or_else(String::new, |peer| kernel(&peer.machine)),
            dir: settings.dir,
            steady: settings.steady,
            params: settings.params,
        }
    }
}
