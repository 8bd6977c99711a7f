//! Privileged actions of workloads.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A privileged action of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// A file system on a loop device.
    FileSystem,
    /// A swap file.
    Swap,
    /// An instance of tracefs.
    Trace,
    /// A control group that limits memory.
    MemoryGroup,
    /// A control group that limits CPU time.
    CpuGroup,
    /// A control group that limits the number of processes.
    ProcessGroup,
    /// SCHED_FIFO, locked memory, an awake CPU.
    RealTime,
    NetworkNamespaces,
    MountNamespace,
    IpcNamespace,
    /// Namespaces for a database server, which runs as another account.
    Server,
    /// A flag of a directory (chattr).
    DirectoryFlag,
    /// Settings of the machine.
    Settings,
}

impl Action {
    /// All actions in the order of lists.
    pub const ALL: [Self; 13] = [
        Self::FileSystem,
        Self::Swap,
        Self::Trace,
        Self::MemoryGroup,
        Self::CpuGroup,
        Self::ProcessGroup,
        Self::RealTime,
        Self::NetworkNamespaces,
        Self::MountNamespace,
        Self::IpcNamespace,
        Self::Server,
        Self::DirectoryFlag,
        Self::Settings,
    ];
}

/// A privileged action of a workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Privilege {
    pub action: Action,
    /// The workload or load program.
    pub program: String,
    /// Values of parameters that cause it; empty for always.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub when: BTreeMap<String, Vec<String>>,
}

/// Benchmarks of one capability over the years, in the unit of the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timeline {
    pub title: String,
    pub benchmarks: Vec<crate::Id>,
}
