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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_possible_cpus() {
        let usage = b"100 200 300 \n";
        assert_eq!(nanoseconds(usage, &[0, 1, 4], &[4]), Some(300));
        assert_eq!(nanoseconds(usage, &[0, 1, 4], &[]), Some(600));
        assert_eq!(nanoseconds(usage, &[0, 1, 4], &[2]), None);
        assert_eq!(
            nanoseconds(usage, &[0, 1], &[0]),
            None,
            "a column more than CPUs"
        );
        assert_eq!(nanoseconds(b"1 x 3\n", &[0, 1, 4], &[1]), None);
    }
}
