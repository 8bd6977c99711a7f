//! CPU time of the threads of the kernel. They work for whoever asks: what a program leaves to the system (requests that go to a device, a
//! journal that is committed, bytes that cross a terminal) they do for it, on whatever CPU.
//!
//! All processes are looked at before such a launch, and after it where others seem to have been at work: about 15 us each, so that 100 of them
//! take less than a hundredth of a launch of a second.

use crate::Root;
use crate::counters::{number, words};
use crate::process::{Stat, tick};
use std::collections::BTreeMap;

/// The CPU that each thread was on last, and its CPU time, ns, by its number.
pub(crate) type Times = BTreeMap<u32, (u32, u64)>;

/// What all of them have used so far.
pub(crate) fn times(root: &Root) -> Times {
    let tick = tick(root);
    let thread = |pid: u32| {
        let stat = root.text(&format!("/proc/{pid}/stat"))?;
        let stat = Stat::of(&stat).filter(Stat::is_of_the_kernel)?;
        // in nanoseconds, where the system counts them
        let fine = root.bytes(&format!("/proc/{pid}/schedstat"));
        let fine = fine.and_then(|text| number(words(&text).next()?));
        let used = fine.or_else(|| Some(stat.ticks()? * tick))?;
        Some((pid, (stat.cpu()?, used)))
    };
    root.processes().into_iter().filter_map(thread).collect()
}

/// What they have used since then on these CPUs, and on all others; on all where there are none. A thread counts where it was last.
pub(crate) fn since(root: &Root, before: &Times, cpus: &[u32]) -> (u64, u64) {
    let (mut here, mut there) = (0, 0);
    for (pid, (cpu, now)) in times(root) {
        let used = now.saturating_sub(before.get(&pid).map_or(0, |(_, then)| *then));
        match cpus.is_empty() || cpus.contains(&cpu) {
            true => here += used,
            false => there += used,
        }
    }
    (here, there)
}
