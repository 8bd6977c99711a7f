//! Which hardware threads share a core and a socket.

use crate::Root;
use gritstone_model::CpuSet;
use std::collections::{BTreeMap, BTreeSet};

/// The place of a hardware thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Core {
    /// Number of the socket; -1 on boards that do not number theirs.
    pub socket: i64,
    /// A number that the threads of one core of the socket share, and no others.
    pub core: u64,
}

/// The place of each online CPU. Where neither /sys nor /proc/cpuinfo tells, each is a core of its own in socket 0.
pub(super) fn read(root: &Root, cpuinfo: &str, online: &CpuSet) -> BTreeMap<u32, Core> {
    let mut listed = from_cpuinfo(cpuinfo);
    online
        .iter()
        .map(|cpu| {
            let core = from_sys(root, cpu)
                .or_else(|| listed.remove(&cpu))
                .unwrap_or(Core {
                    socket: 0,
                    core: u64::from(cpu),
                });
            (cpu, core)
        })
        .collect()
}

/// By the lowest of the threads that share the core: `core_id` repeats from die to die on some machines.
fn from_sys(root: &Root, cpu: u32) -> Option<Core> {
    let directory = format!("/sys/devices/system/cpu/cpu{cpu}/topology");
    let siblings = root
        .cpus(&format!("{directory}/core_cpus_list"))
        .or_else(|| root.cpus(&format!("{directory}/thread_siblings_list")))?;
    Some(Core {
        socket: root
            .number(&format!("{directory}/physical_package_id"))
            .unwrap_or(0),
        core: u64::from(siblings.iter().next()?),
    })
}

/// From the paragraphs of /proc/cpuinfo, which on x86 name socket and core.
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

/// How many sockets, cores and threads.
pub(super) fn counts(cores: &BTreeMap<u32, Core>) -> (usize, usize, usize) {
    let distinct: BTreeSet<Core> = cores.values().copied().collect();
    let sockets: BTreeSet<i64> = cores.values().map(|core| core.socket).collect();
    (sockets.len(), distinct.len(), cores.len())
}
