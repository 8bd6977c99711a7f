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

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"\
version 17
timestamp 4294901234
cpu0 0 0 0 0 0 0 1000 20 7
domain0 MC 00000003 0 1 2 3 4 5 6 7 8
cpu1 0 0 0 0 0 0 5000 60 9
domain0 MC 00000003 0 1 2 3 4 5 6 7 8
";

    #[test]
    fn run_and_wait_of_each_cpu() {
        assert_eq!(
            times(TEXT, &[1]),
            Some(Times {
                run: 5000,
                wait: 60
            })
        );
        assert_eq!(
            times(TEXT, &[]),
            Some(Times {
                run: 6000,
                wait: 80
            })
        );
        assert_eq!(times(TEXT, &[2]), None);
        assert_eq!(times(b"version 17\n", &[]), None);
    }
}
