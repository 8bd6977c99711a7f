//! /proc/schedstat: how long each CPU ran tasks, and how long tasks waited for it, in nanoseconds. Many kernels are
//! built with it (Debian's, Ubuntu's, Fedora's), some small ones are not.

use super::{cpu_name, lines, number, sum, words};

/// Nanoseconds of a set of CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Times {
    /// Spent running tasks, counted when a task leaves the CPU.
    pub run: u64,
    /// Spent by tasks waiting to run, counted when their wait ends.
    pub wait: u64,
}

/// The sum over `cpus`; over all where there are none. `None` when one is not listed.
pub(crate) fn times(schedstat: &[u8], cpus: &[u32]) -> Option<Times> {
    let met = lines(schedstat).filter_map(|line| {
        let mut words = words(line);
        let cpu = cpu_name(words.next()?)?;
        // the seventh and the eighth number, in all versions since Linux 2.6.23
        let mut rest = words.skip(6);
        Some((cpu, [number(rest.next()?)?, number(rest.next()?)?]))
    });
    let [run, wait] = sum(met, cpus)?;
    Some(Times { run, wait })
}
