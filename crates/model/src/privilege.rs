//! What workloads do with rights that not everybody has.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Something that a run does with rights that not everybody has.
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
    /// Namespaces for the server of a database, which another account executes.
    Server,
    /// A flag of a directory.
    DirectoryFlag,
    /// Settings of the machine.
    Settings,
}

impl Action {
    /// All, in the order in which they are listed.
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

/// An action of a workload itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Privilege {
    pub action: Action,
    /// The workload or load program.
    pub program: String,
    /// Parameters with the values by which it does; without any, always.
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
