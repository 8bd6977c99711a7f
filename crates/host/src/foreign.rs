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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Answers;

    #[test]
    fn our_own_and_the_kernels_are_left_out() {
        let directory = tempfile::tempdir().unwrap();
        // process, parent, name, ticks of its own, of its children
        let all = [
            (1, 0, "init", 1, 100),
            (2, 0, "kthreadd", 5000, 0),
            (7, 2, "kworker/0:1", 9000, 0),
            (20, 1, "a b) c", 10, 20),
            (30, 1, "gritstone", 700, 0),
            (31, 30, "supervisor", 700, 700),
            (32, 31, "cc1", 700, 0),
        ];
        for (pid, parent, name, own, children) in all {
            let folder = directory.path().join(format!("proc/{pid}"));
            std::fs::create_dir_all(&folder).unwrap();
            // PF_KTHREAD
            let flags = if pid == 2 || pid == 7 {
                0x0020_8040
            } else {
                0x0040_0100
            };
            let stat = format!(
                "{pid} ({name}) S {parent} 1 1 0 -1 {flags} 0 0 0 0 {own} 0 {children} 0 20 0 1 {}\n",
                "0 ".repeat(30)
            );
            std::fs::write(folder.join("stat"), stat).unwrap();
        }
        let root = Root::recorded(directory.path(), Answers::default());
        assert_eq!(cpu(&root, 30), Some((1 + 100 + 10 + 20) * 10_000_000));
        assert_eq!(cpu(&root, 99), Some((131 + 2800) * 10_000_000));
        let nothing = Root::recorded(&directory.path().join("none"), Answers::default());
        assert_eq!(cpu(&nothing, 30), None);
    }

    #[test]
    fn this_machine_has_others() {
        assert!(cpu(&Root::live(), std::process::id()).is_some());
    }
}
