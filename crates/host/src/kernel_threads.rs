//! CPU time of the threads of the kernel. They work for whoever asks: what a program leaves to the system (requests that go to a device, a
//! journal that is committed, bytes that cross a terminal) they do for it, on whatever CPU.
//!
//! Must not know: what was launched.

use crate::Root;
use crate::counters::{number, words};
use crate::process::{Stat, tick};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Files that are kept open at most: a machine with hundreds of CPUs has thousands of such threads, and some users may open 256 files.
const MOST_FILES: usize = 128;

/// CPU time of each thread, ns, by its number, in order.
pub(crate) type Times = Vec<(u32, u64)>;

/// Those that are known. They hardly change, and are asked around nearly every launch: so whoever is none of them is looked at once,
/// and the files of the others stay open.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    /// With what counts their time in nanoseconds, where the system does that, and a file may be kept.
    known: BTreeMap<u32, Option<File>>,
    /// Processes that are something else, for good.
    others: BTreeSet<u32>,
}

impl Threads {
    /// What all of them have used so far.
    pub(crate) fn times(&mut self, root: &Root) -> Times {
        self.look(root);
        let tick = tick(root);
        let time = |(pid, file): (&u32, &Option<File>)| {
            let fine = match file {
                Some(file) => read(file),
                None => root
                    .bytes(&format!("/proc/{pid}/schedstat"))
                    .and_then(|text| first(&text)),
            };
            let ticks = || Some(parse(&root.text(&format!("/proc/{pid}/stat"))?)?.1 * tick);
            Some((*pid, fine.or_else(ticks)?))
        };
        self.known.iter().filter_map(time).collect()
    }

    /// What they have used since then on these CPUs, and on all others; on all where there are none. A thread counts where it was last.
    pub(crate) fn since(&mut self, root: &Root, before: &Times, cpus: &[u32]) -> (u64, u64) {
        let mut used = (0_u64, 0_u64);
        for (pid, now) in self.times(root) {
            let then = before.binary_search_by_key(&pid, |(pid, _)| *pid);
            let time = now.saturating_sub(then.map_or(0, |at| before[at].1));
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

    /// Who has come, and who has gone.
    fn look(&mut self, root: &Root) {
        let there = root.processes();
        let is_there = |pid: &u32| there.binary_search(pid).is_ok();
        self.known.retain(|pid, _| is_there(pid));
        self.others.retain(is_there);
        for pid in there {
            if self.known.contains_key(&pid) || self.others.contains(&pid) {
                continue;
            }
            // one that has gone meanwhile is nothing
            let Some(stat) = root.text(&format!("/proc/{pid}/stat")) else {
                continue;
            };
            if parse(&stat).is_none() {
                self.others.insert(pid);
                continue;
            }
            let keep = self.known.len() < MOST_FILES;
            let path = root.join(&format!("/proc/{pid}/schedstat"));
            let file = keep.then(|| File::open(path).ok()).flatten();
            self.known.insert(pid, file);
        }
    }
}

fn read(file: &File) -> Option<u64> {
    let mut line = [0; 64];
    let length = file.read_at(&mut line, 0).ok()?;
    first(&line[..length])
}

/// Of three numbers.
fn first(line: &[u8]) -> Option<u64> {
    number(words(line).next()?)
}

/// The CPU that a thread of the kernel was on last, and its ticks of CPU time; `None` for whatever else it is.
fn parse(stat: &str) -> Option<(u32, u64)> {
    let stat = Stat::of(stat).filter(Stat::is_of_the_kernel)?;
    Some((stat.cpu()?, stat.ticks()?))
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
        let mut threads = Threads::default();
        let before = threads.times(&root);
        assert_eq!(before, [(7, 1000), (8, 30_000_000)]);
        process(1, 64, 1, 900, Some(900));
        process(7, KERNEL_THREAD | 64, 0, 1, Some(1700));
        process(8, KERNEL_THREAD | 64, 1, 4, None);
        process(9, KERNEL_THREAD | 64, 1, 0, Some(3));
        assert_eq!(threads.since(&root, &before, &[1]), (20_000_003, 700));
        assert_eq!(threads.since(&root, &before, &[]), (20_000_703, 0));
        // its number may be another's later
        std::fs::remove_dir_all(directory.path().join("proc/7")).unwrap();
        assert_eq!(threads.since(&root, &before, &[]), (20_000_003, 0));
        process(7, 64, 0, 1, Some(9000));
        assert_eq!(threads.since(&root, &before, &[]), (20_000_003, 0));
    }

    #[test]
    fn this_machine_has_some_or_hides_them() {
        let live = Root::live();
        let mut threads = Threads::default();
        let (all, none) = threads.since(&live, &Times::new(), &[]);
        let own = |(pid, _): &(u32, u64)| *pid == std::process::id();
        assert!(!threads.times(&live).iter().any(own));
        assert_eq!(none, 0, "of {all}");
    }
}
