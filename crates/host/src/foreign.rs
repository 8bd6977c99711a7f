//! CPU time of other people's processes: what is left of a busy machine when it is kept busy on purpose.
//!
//! Beside a load of our own the counters of CPUs no longer tell what others did. So the processes are added up one by one: their
//! own time and that of the children that they have waited for, which is all there is of those that came and went.
//! Left out are the threads of the kernel, which work for whoever asks, and everything that descends from us.

use crate::Root;
use crate::process::{Stat, tick};
use std::collections::{BTreeMap, BTreeSet};

/// CPU time of all processes that neither are `own`, nor descend from it, nor belong to the kernel, ns. `None` without a /proc.
pub(crate) fn cpu(root: &Root, own: u32) -> Option<u64> {
    let processes: BTreeMap<u32, Process> = (root.processes().into_iter())
        .filter_map(|pid| Some((pid, parse(&root.text(&format!("/proc/{pid}/stat"))?)?)))
        .collect();
    let ours = |pid: u32| {
        let mut seen = BTreeSet::new();
        let mut at = pid;
        // a number may have been given anew while we read: no circle is followed twice
        while seen.insert(at) {
            if at == own {
                return true;
            }
            match processes.get(&at) {
                Some(process) if process.of_the_kernel => return true,
                Some(process) => at = process.parent,
                None => break,
            }
        }
        false
    };
    let foreign = processes.iter().filter(|(pid, _)| !ours(**pid));
    let ticks: u64 = foreign.map(|(_, process)| process.ticks).sum();
    (!processes.is_empty()).then(|| ticks.saturating_mul(tick(root)))
}

struct Process {
    parent: u32,
    /// Of CPU time.
    ticks: u64,
    of_the_kernel: bool,
}

fn parse(stat: &str) -> Option<Process> {
    let stat = Stat::of(stat)?;
    Some(Process {
        parent: stat.parent()?,
        ticks: stat.ticks()? + stat.ticks_of_children()?,
        of_the_kernel: stat.is_of_the_kernel(),
    })
}
