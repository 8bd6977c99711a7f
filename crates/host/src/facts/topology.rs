//! Cores and sockets of hardware threads.

use crate::Root;
use gritstone_model::CpuSet;
use std::collections::{BTreeMap, BTreeSet};

/// Place of a hardware thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Core {
    /// -1 on boards that do not number theirs.
    pub socket: i64,
    /// Same for the threads of one core of the socket only.
    pub core: u64,
}

/// Place of each online CPU. If neither /sys nor /proc/cpuinfo has it, each is a core of its own in socket 0.
pub(super) fn read(root: &Root, cpuinfo: &str, online: &CpuSet) -> BTreeMap<u32, Core> {
    let mut listed = from_cpuinfo(cpuinfo);
    online
        .iter()
        .map(|cpu| {
            let core = from_sys(root, cpu)
                .or_else(|| listed.remove(&cpu))
                .unwrap_or(Core { socket: 0, core: u64::from(cpu) });
            (cpu, core)
        })
        .collect()
}

/// Identifies a core by its lowest thread: `core_id` repeats between dies on some machines.
fn from_sys(root: &Root, cpu: u32) -> Option<Core> {
    let directory = format!("/sys/devices/system/cpu/cpu{cpu}/topology");
    let siblings = root
        .cpus(&format!("{directory}/core_cpus_list"))
        .or_else(|| root.cpus(&format!("{directory}/thread_siblings_list")))?;
    Some(Core {
        socket: root.number(&format!("{directory}/physical_package_id")).unwrap_or(0),
        core: u64::from(siblings.iter().next()?),
    })
}

/// On x86, paragraphs of /proc/cpuinfo name socket and core.
fn from_cpuinfo(cpuinfo: &str) -> BTreeMap<u32, Core> {
    let mut cores = BTreeMap::new();
    let (mut cpu, mut socket) = (None, None);
    for line in cpuinfo.lines() {
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        let value = value.trim();
        match key.trim() {
            "processor" => (cpu, socket) = (value.parse().ok(), None),
            "physical id" => socket = value.parse().ok(),
            "core id" => {
                if let (Some(cpu), Some(socket), Ok(core)) = (cpu, socket, value.parse()) {
                    cores.insert(cpu, Core { socket, core });
                }
            }
            _ => {}
        }
    }
    cores
}

/// Sockets, cores and threads.
pub(super) fn counts(cores: &BTreeMap<u32, Core>) -> (usize, usize, usize) {
    let distinct: BTreeSet<Core> = cores.values().copied().collect();
    let sockets: BTreeSet<i64> = cores.values().map(|core| core.socket).collect();
    (sockets.len(), distinct.len(), cores.len())
}
