//! CPU time of the threads of the kernel. They work for whoever asks: what a program leaves to the system (requests that go to a device, a
//! journal that is committed, bytes that cross a terminal) they do for it, on whatever CPU.
//!
//! Must not know: what was launched.

use crate::Root;
use crate::counters::{number, words};
use crate::process::{Stat, tick};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Most of them never have anything to do: one that has used less than this in its life, ns, is not asked again, and who has come is not
/// looked for, when all were asked a moment ago.
const IDLE: u64 = 10_000_000;
const MOMENT: Duration = Duration::from_secs(2);

/// The thread that starts all others.
const KTHREADD: u32 = 2;

/// CPU time of each thread, ns, by its number, in order.
pub(crate) type Times = Vec<(u32, u64)>;

/// Those that are known. They hardly change, and are asked around nearly every launch: so a process that is none of them is looked at
/// once.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    /// What each had used when it was last asked, ns.
    known: BTreeMap<u32, u64>,
    /// Processes that are something else, for good; where the short list is read there are none to remember.
    others: BTreeSet<u32>,
    /// When all were asked.
    all_asked: Option<Instant>,
}

impl Threads {
    /// What they have used before a launch. Those that have come since all were asked are not among them, and of idle ones it is what
    /// they had used then: what either has done in this moment counts as done during the launch.
    pub(crate) fn before(&mut self, root: &Root) -> Times {
        match self.all_asked {
            Some(then) if then.elapsed() < MOMENT => self.ask(root, IDLE),
            _ => self.all(root),
        }
    }

    /// What all of them have used so far.
    fn all(&mut self, root: &Root) -> Times {
        self.look(root);
        self.all_asked = Some(Instant::now());
        self.ask(root, 0)
    }

    /// What they have used so far; those that had used less than `least` are not asked.
    fn ask(&mut self, root: &Root, least: u64) -> Times {
        let tick = tick(root);
        let time = |(pid, used): (&u32, &mut u64)| {
            if *used < least {
                return Some((*pid, *used));
            }
            // in nanoseconds, where the system counts them
            let fine = root
                .bytes(&format!("/proc/{pid}/schedstat"))
                .and_then(|text| first(&text));
            let ticks = || Some(parse(&root.text(&format!("/proc/{pid}/stat"))?)?.1 * tick);
            *used = fine.or_else(ticks)?;
            Some((*pid, *used))
        };
        self.known.iter_mut().filter_map(time).collect()
    }

    /// What they have used since then on these CPUs, and on all others; on all where there are none. A thread counts where it was last.
    pub(crate) fn since(&mut self, root: &Root, before: &Times, cpus: &[u32]) -> (u64, u64) {
        let mut used = (0_u64, 0_u64);
        for (pid, now) in self.all(root) {
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
        // only once all processes were looked at: in a container this number is some other's
        let told = self.known.contains_key(&KTHREADD).then(|| started(root));
        let there = told.flatten().unwrap_or_else(|| root.processes());
        let is_there = |pid: &u32| there.binary_search(pid).is_ok();
        // the short list may lack some while others end: whoever was forgotten would come back with all that it did in its life
        let is_still = |pid: &u32| {
            let stat = root.text(&format!("/proc/{pid}/stat"));
            stat.is_some_and(|stat| parse(&stat).is_some())
        };
        self.known.retain(|pid, _| is_there(pid) || is_still(pid));
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
            self.known.insert(pid, 0);
        }
    }
}

/// The thread that starts all others of the kernel, and those that it has started, in order; `None` where the system keeps no such list.
/// It is much shorter than that of all processes, and may lack some while others end (`proc_pid_task(5)`: children).
fn started(root: &Root) -> Option<Vec<u32>> {
    let list = root.bytes(&format!("/proc/{KTHREADD}/task/{KTHREADD}/children"))?;
    let started = words(&list).map(|pid| u32::try_from(number(pid)?).ok());
    let mut threads = started.collect::<Option<Vec<u32>>>()?;
    threads.push(KTHREADD);
    threads.sort_unstable();
    Some(threads)
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
        let before = threads.before(&root);
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
    fn idle_ones_are_asked_again_after_a_moment_and_nothing_that_they_do_is_lost() {
        let directory = tempfile::tempdir().unwrap();
        let thread = |pid: u32, fine: u64| {
            let folder = directory.path().join(format!("proc/{pid}"));
            std::fs::create_dir_all(&folder).unwrap();
            let stat = format!(
                "{pid} (k) S 2 0 0 0 0 {KERNEL_THREAD} {}\n",
                "0 ".repeat(40)
            );
            std::fs::write(folder.join("stat"), stat).unwrap();
            std::fs::write(folder.join("schedstat"), format!("{fine} 5 6\n")).unwrap();
        };
        let root = Root::recorded(directory.path(), Answers::default());
        let mut threads = Threads::default();
        thread(7, IDLE);
        thread(8, IDLE - 1);
        assert_eq!(threads.before(&root), [(7, IDLE), (8, IDLE - 1)]);
        thread(7, IDLE + 5);
        thread(8, IDLE + 6);
        thread(9, 7);
        // however slow this machine is
        threads.all_asked = Some(Instant::now() + MOMENT);
        // one that worked is asked, one that was idle is not, and one that has come is not looked for
        let before = threads.before(&root);
        assert_eq!(before, [(7, IDLE + 5), (8, IDLE - 1)]);
        assert_eq!(threads.since(&root, &before, &[]), (7 + 7, 0));
        thread(8, IDLE + 10);
        thread(9, 8);
        threads.all_asked = Some(Instant::now() + MOMENT);
        let before = threads.before(&root);
        assert_eq!(before, [(7, IDLE + 5), (8, IDLE + 10), (9, 7)]);
        threads.all_asked = Instant::now().checked_sub(MOMENT);
        assert_eq!(threads.before(&root)[2], (9, 8));
    }

    #[test]
    fn the_list_of_the_one_that_starts_them_is_believed_once_it_is_known() {
        let directory = tempfile::tempdir().unwrap();
        let thread = |pid: u32| {
            let folder = directory.path().join(format!("proc/{pid}"));
            std::fs::create_dir_all(folder.join(format!("task/{pid}"))).unwrap();
            let stat = format!(
                "{pid} (k) S 2 0 0 0 0 {KERNEL_THREAD} {}\n",
                "0 ".repeat(40)
            );
            std::fs::write(folder.join("stat"), stat).unwrap();
            std::fs::write(folder.join("schedstat"), "8 5 6\n").unwrap();
        };
        let list = |text: &str| {
            std::fs::write(directory.path().join("proc/2/task/2/children"), text).unwrap();
        };
        let root = Root::recorded(directory.path(), Answers::default());
        [2, 7, 9].into_iter().for_each(thread);
        list("11 ");
        let mut threads = Threads::default();
        let numbers = |threads: &mut Threads| -> Vec<u32> {
            threads.all(&root).into_iter().map(|(pid, _)| pid).collect()
        };
        assert_eq!(numbers(&mut threads), [2, 7, 9]);
        // one has come, one has gone, one is there, though the list lacks it, and who is in no list is not looked for
        [11, 12].into_iter().for_each(thread);
        std::fs::remove_dir_all(directory.path().join("proc/7")).unwrap();
        list("11 ");
        assert_eq!(numbers(&mut threads), [2, 9, 11]);
        // a list that cannot be understood is none
        list("11 x");
        assert_eq!(numbers(&mut threads), [2, 9, 11, 12]);
    }

    #[test]
    fn this_machine_has_some_or_hides_them() {
        let live = Root::live();
        let mut threads = Threads::default();
        let (all, none) = threads.since(&live, &Times::new(), &[]);
        let own = |(pid, _): &(u32, u64)| *pid == std::process::id();
        assert!(!threads.all(&live).iter().any(own));
        assert_eq!(none, 0, "of {all}");
    }
}
