//! `cpuacct.usage_percpu` of cgroup v1: nanoseconds that tasks ran on each possible CPU, in one line.

use super::{number, sum, words};

/// Nanoseconds on `cpus`; on all where there are none. `possible` gives the CPU of each column: it is the kernel's list of
/// possible CPUs, in order.
pub(crate) fn nanoseconds(usage: &[u8], possible: &[u32], cpus: &[u32]) -> Option<u64> {
    let columns = words(usage).count();
    if columns != possible.len() {
        return None;
    }
    let met = words(usage)
        .zip(possible)
        .filter_map(|(word, &cpu)| Some((cpu, [number(word)?])));
    sum(met, cpus).map(|[total]| total)
}
