//! CPU time of processes (`proc_pid_stat(5)`): of those that are none of ours, and of the threads of the kernel.

use crate::Root;
use crate::counters::{number, words};
use std::collections::{BTreeMap, BTreeSet};

/// `PF_KTHREAD` of the flags. (That their parent is process 2 does not hold in a namespace of processes.)
const KERNEL_THREAD: u64 = 0x0020_0000;

/// Length of a tick of CPU time in files for users, ns: `USER_HZ` is 100 wherever the system does not say.
pub(crate) fn tick(root: &Root) -> u64 {
    1_000_000_000 / root.answers().user_hz.filter(|&hz| hz > 0).unwrap_or(100)
}

struct Process {
    parent: u64,
    of_the_kernel: bool,
    /// Ticks of CPU time: its own, and of the children that it has waited for.
    own: u64,
    children: u64,
    /// That it was on last.
    cpu: Option<u64>,
}

impl Process {
    fn read(root: &Root, pid: u32) -> Option<Self> {
        let text = root.text(&format!("/proc/{pid}/stat"))?;
        // the name may hold blanks and brackets itself
        let (_, behind) = text.rsplit_once(')')?;
        let fields: Vec<&str> = behind.split_ascii_whitespace().collect();
        // the manual counts from 1, and the name is its second
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        Some(Self {
            parent: field(4)?,
            of_the_kernel: field(9)? & KERNEL_THREAD != 0,
            own: field(14)?.checked_add(field(15)?)?,
            children: field(16)?.checked_add(field(17)?)?,
            cpu: field(39),
        })
    }

    fn all(root: &Root) -> BTreeMap<u32, Self> {
        let processes = root.processes().into_iter();
        processes
            .filter_map(|pid| Some((pid, Self::read(root, pid)?)))
            .collect()
    }
}

/// CPU time of other people's processes, ns: what is left of a busy machine when it is kept busy on purpose. `None` without a /proc.
///
/// Beside a load of our own the counters of CPUs no longer tell what others did. So the processes are added up one by one: their
/// own time and that of the children that they have waited for, which is all there is of those that came and went.
/// Left out are the threads of the kernel, which work for whoever asks, and everything that descends from us, which is `own`.
pub(crate) fn foreign(root: &Root, own: u32) -> Option<u64> {
    let processes = Process::all(root);
    let ours = |pid: u32| {
        let (mut seen, mut at) = (BTreeSet::new(), pid);
        // a number may have been given anew while we read: no circle is followed twice
        while at != own && seen.insert(at) {
            match processes.get(&at) {
                Some(process) if process.of_the_kernel => return true,
                Some(process) => at = process.parent.try_into().unwrap_or(0),
                None => break,
            }
        }
        at == own
    };
    let foreign = processes.iter().filter(|(pid, _)| !ours(**pid));
    let ticks: u64 = foreign.map(|(_, of)| of.own + of.children).sum();
    (!processes.is_empty()).then(|| ticks.saturating_mul(tick(root)))
}

/// The CPU that each thread of the kernel was on last, and its CPU time, ns, by its number.
pub(crate) type Times = BTreeMap<u32, (u32, u64)>;

/// What the threads of the kernel have used so far. They work for whoever asks: what a program leaves to the system (requests that go to a
/// device, a journal that is committed, bytes that cross a terminal) they do for it, on whatever CPU.
///
/// All processes are looked at before such a launch, and after it where others seem to have been at work: about 15 us each, so that 100 of
/// them take less than a hundredth of a launch of a second.
pub(crate) fn of_the_kernel(root: &Root) -> Times {
    let processes = Process::all(root).into_iter();
    let thread = |(pid, process): (u32, Process)| {
        // in nanoseconds, where the system counts them
        let fine = root.bytes(&format!("/proc/{pid}/schedstat"));
        let fine = fine.and_then(|text| number(words(&text).next()?));
        let used = fine.unwrap_or(process.own.saturating_mul(tick(root)));
        Some((pid, (process.cpu?.try_into().ok()?, used)))
    };
    processes
        .filter(|(_, process)| process.of_the_kernel)
        .filter_map(thread)
        .collect()
}

/// What they have used since then on these CPUs; on all where there are none. A thread counts where it was last.
pub(crate) fn since(root: &Root, before: &Times, cpus: &[u32]) -> u64 {
    let now = of_the_kernel(root).into_iter();
    let here = now.filter(|(_, (cpu, _))| cpus.is_empty() || cpus.contains(cpu));
    let used = |(pid, (_, now)): (u32, (u32, u64))| {
        now.saturating_sub(before.get(&pid).map_or(0, |(_, then)| *then))
    };
    here.map(used).fold(0, u64::saturating_add)
}
