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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Answers;
    use crate::process::KERNEL_THREAD;

    #[test]
    fn each_thread_counts_where_it_was_last() {
        let directory = tempfile::tempdir().unwrap();
        let process = |pid: u32, flags: u64, cpu: u32, ticks: u32, fine: Option<u64>| {
            let folder = directory.path().join(format!("proc/{pid}"));
            std::fs::create_dir_all(&folder).unwrap();
            let between = "0 ".repeat(23);
            let stat =
                format!("{pid} (a b) c) S 2 0 0 0 0 {flags} 0 0 0 0 {ticks} 1 {between}{cpu} 0\n");
            std::fs::write(folder.join("stat"), stat).unwrap();
            if let Some(fine) = fine {
                std::fs::write(folder.join("schedstat"), format!("{fine} 5 6\n")).unwrap();
            }
        };
        let root = Root::recorded(directory.path(), Answers::default());
        process(1, 64, 1, 70, Some(70));
        process(7, KERNEL_THREAD | 64, 0, 1, Some(1000));
        process(8, KERNEL_THREAD | 64, 1, 2, None);
        let before = times(&root);
        assert_eq!(
            before,
            BTreeMap::from([(7, (0, 1000)), (8, (1, 30_000_000))])
        );
        process(1, 64, 1, 900, Some(900));
        process(7, KERNEL_THREAD | 64, 0, 1, Some(1700));
        process(8, KERNEL_THREAD | 64, 1, 4, None);
        process(9, KERNEL_THREAD | 64, 1, 0, Some(3));
        assert_eq!(since(&root, &before, &[1]), (20_000_003, 700));
        assert_eq!(since(&root, &before, &[]), (20_000_703, 0));
        // its number may be another's later
        std::fs::remove_dir_all(directory.path().join("proc/7")).unwrap();
        assert_eq!(since(&root, &before, &[]), (20_000_003, 0));
        process(7, 64, 0, 1, Some(9000));
        assert_eq!(since(&root, &before, &[]), (20_000_003, 0));
    }

    #[test]
    fn this_machine_has_some_or_hides_them() {
        let live = Root::live();
        assert!(!times(&live).contains_key(&std::process::id()));
        let (all, none) = since(&live, &Times::new(), &[]);
        assert_eq!(none, 0, "of {all}");
    }
}
