//! CPU time of the threads of the kernel. They work for whoever asks: what a program leaves to the system (requests that go to a device, a
//! journal that is committed, bytes that cross a terminal) they do for it, on whatever CPU.
//!
//! Must not know: what was launched.

use crate::Root;
use std::collections::BTreeMap;

/// `PF_KTHREAD` of the flags in /proc/PID/stat. (That their parent is process 2 does not hold in a namespace of processes.)
const KERNEL_THREAD: u64 = 0x0020_0000;

/// Whether these fields of /proc/PID/stat, those behind the name, are of a thread of the kernel.
pub(crate) fn are_of_one(fields: &[&str]) -> bool {
    let flags = fields.get(6).and_then(|flags| flags.parse::<u64>().ok());
    flags.is_some_and(|flags| flags & KERNEL_THREAD != 0)
}

/// CPU time of each process, ns, whatever it is: most have done nothing in between, and are not looked at more closely.
pub(crate) type Times = BTreeMap<u32, u64>;

/// What all of them have used so far.
pub(crate) fn times(root: &Root) -> Times {
    let tick = 1_000_000_000 / root.answers().user_hz.filter(|&hz| hz > 0).unwrap_or(100);
    let time = |pid: u32| {
        // in nanoseconds where the kernel keeps them
        let fine = root.text(&format!("/proc/{pid}/schedstat"));
        let fine = fine.and_then(|text| text.split_whitespace().next()?.parse().ok());
        let ticks = || Some(parse(&root.text(&format!("/proc/{pid}/stat"))?)?.1 * tick);
        Some((pid, fine.or_else(ticks)?))
    };
    let numbers = root.names("/proc");
    let pids = numbers.iter().filter_map(|name| name.parse().ok());
    pids.filter_map(time).collect()
}

/// What the threads of the kernel have used since then on these CPUs, and on all others; on all where there are none. A thread counts
/// where it was last.
pub(crate) fn since(root: &Root, before: &Times, cpus: &[u32]) -> (u64, u64) {
    let mut used = (0_u64, 0_u64);
    for (pid, now) in times(root) {
        let time = now.saturating_sub(before.get(&pid).copied().unwrap_or(0));
        if time == 0 {
            continue;
        }
        let stat = root.text(&format!("/proc/{pid}/stat"));
        let Some((cpu, _)) = stat.and_then(|stat| parse(&stat)) else {
            continue;
        };
        match cpus.is_empty() || cpus.contains(&cpu) {
            true => used.0 += time,
            false => used.1 += time,
        }
    }
    used
}

/// The CPU that a thread of the kernel was on last, and its ticks of CPU time; `None` for whatever else it is. The name may hold blanks
/// and brackets, so what counts begins behind the last one.
fn parse(stat: &str) -> Option<(u32, u64)> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    if !are_of_one(&fields) {
        return None;
    }
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let cpu = u32::try_from(number(36)?).ok()?;
    Some((cpu, number(11)? + number(12)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Answers;

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
        assert_eq!(before, [(1, 70), (7, 1000), (8, 30_000_000)].into());
        process(1, 64, 1, 900, Some(900));
        process(7, KERNEL_THREAD | 64, 0, 1, Some(1700));
        process(8, KERNEL_THREAD | 64, 1, 4, None);
        process(9, KERNEL_THREAD | 64, 1, 0, Some(3));
        assert_eq!(since(&root, &before, &[1]), (20_000_003, 700));
        assert_eq!(since(&root, &before, &[]), (20_000_703, 0));
    }

    #[test]
    fn this_machine_has_some_or_hides_them() {
        let live = Root::live();
        let before = Times::new();
        let (all, none) = since(&live, &before, &[]);
        let own = times(&live).get(&std::process::id()).copied();
        assert!(own.is_none_or(|time| time > 0));
        assert_eq!(none, 0, "of {all}");
    }
}
