//! Privileged actions of workloads.

use crate::names::names;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

names! {
    /// A privileged action of a run.
    #[derive(PartialOrd, Ord)]
    pub enum Action {
        /// A file system on a loop device.
        FileSystem = "file-system",
        /// A swap file.
        Swap = "swap",
        /// An instance of tracefs.
        Trace = "trace",
        /// A control group that limits memory.
        MemoryGroup = "memory-group",
        /// A control group that limits CPU time.
        CpuGroup = "cpu-group",
        /// A control group that limits the number of processes.
        ProcessGroup = "process-group",
        /// SCHED_FIFO, locked memory, an awake CPU.
        RealTime = "real-time",
        NetworkNamespaces = "network-namespaces",
        MountNamespace = "mount-namespace",
        IpcNamespace = "ipc-namespace",
        /// Namespaces for a database server, which runs as another account.
        Server = "server",
        /// A flag of a directory (chattr).
        DirectoryFlag = "directory-flag",
        /// Settings of the machine.
        Settings = "settings",
    }
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
