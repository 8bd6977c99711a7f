//! CPU time of foreign processes and of kernel threads (`proc_pid_stat(5)`).

use crate::Root;
use crate::counters::{number, words};
use std::collections::{BTreeMap, BTreeSet};

/// `PF_KTHREAD`. (Their parent is not process 2 in a pid namespace.)
const KERNEL_THREAD: u64 = 0x0020_0000;

/// `USER_HZ` as a period, ns; 100 Hz if unknown.
pub(crate) fn tick(root: &Root) -> u64 {
    1_000_000_000 / root.syscall_results().user_hz.filter(|&hz| hz > 0).unwrap_or(100)
}

struct Process {
    parent: u64,
    is_kernel_thread: bool,
    /// Ticks of CPU time: its own, and that of its reaped children.
    ticks: u64,
    children: u64,
    /// The last one.
    cpu: Option<u64>,
}

impl Process {
    fn read(root: &Root, pid: u32) -> Option<Self> {
        let text = root.text(&format!("/proc/{pid}/stat"))?;
        // the name may contain blanks and brackets
        let (_, behind) = text.rsplit_once(')')?;
        let fields: Vec<&str> = behind.split_ascii_whitespace().collect();
        // fields count from 1, and the name is the second
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        Some(Self {
            parent: field(4)?,
            is_kernel_thread: field(9)? & KERNEL_THREAD != 0,
            ticks: field(14)?.checked_add(field(15)?)?,
            children: field(16)?.checked_add(field(17)?)?,
            cpu: field(39),
        })
    }

    /// `None` if /proc hides kernel threads, and with them other processes: in a pid namespace, or by `hidepid`.
    fn all(root: &Root) -> Option<BTreeMap<u32, Self>> {
        let processes = root.processes().into_iter();
        let processes: BTreeMap<u32, Self> =
            processes.filter_map(|pid| Some((pid, Self::read(root, pid)?))).collect();
        processes.values().any(|process| process.is_kernel_thread).then_some(processes)
    }
}

/// CPU time of foreign processes, ns. `None` without a /proc of this pid namespace that shows all processes.
///
/// With a background load, the counters of CPUs no longer show the time of others. So this sums the time of each
/// process and of its reaped children, which is all that is left of short ones. It excludes kernel threads, which
/// work for any process, and all descendants of `harness`.
pub(crate) fn foreign(root: &Root, harness: u32) -> Option<u64> {
    let this = root.link("/proc/self");
    if this.is_some_and(|pid| pid != harness.to_string()) {
        return None;
    }
    let processes = Process::all(root)?;
    let ours = |pid: u32| {
        let (mut seen, mut ancestor) = (BTreeSet::new(), pid);
        // a pid may be reused while we read: this avoids cycles
        while ancestor != harness && seen.insert(ancestor) {
            match processes.get(&ancestor) {
                Some(process) if process.is_kernel_thread => return true,
                Some(process) => ancestor = process.parent.try_into().unwrap_or(0),
                None => break,
            }
        }
        ancestor == harness
    };
    let foreign = processes.iter().filter(|(pid, _)| !ours(**pid));
    let ticks: u64 = foreign.map(|(_, process)| process.ticks + process.children).sum();
    Some(ticks.saturating_mul(tick(root)))
}

/// Last CPU and CPU time (ns) of each kernel thread, by its pid.
pub(crate) type Times = BTreeMap<u32, (u32, u64)>;

/// CPU time of kernel threads. They do what a program leaves to the kernel (requests to a device, a journal commit,
/// bytes across a terminal), on any CPU. `None` if they are hidden.
///
/// All processes are read before such a launch, and after it if others seem to have worked: about 15 us each, so 100
/// of them take less than a hundredth of a launch of a second.
pub(crate) fn kernel_thread_times(root: &Root) -> Option<Times> {
    let processes = Process::all(root)?.into_iter();
    let thread = |(pid, process): (u32, Process)| {
        // ns, if available
        let fine = root.bytes(&format!("/proc/{pid}/schedstat"));
        let fine = fine.and_then(|text| number(words(&text).next()?));
        let used = fine.unwrap_or(process.ticks.saturating_mul(tick(root)));
        Some((pid, (process.cpu?.try_into().ok()?, used)))
    };
    Some(processes.filter(|(_, process)| process.is_kernel_thread).filter_map(thread).collect())
}

/// CPU time used since `before` on `cpus` (empty: all). A thread counts on its last CPU.
pub(crate) fn since(root: &Root, before: &Times, cpus: &[u32]) -> Option<u64> {
    let now = kernel_thread_times(root)?.into_iter();
    let here = now.filter(|(_, (cpu, _))| cpus.is_empty() || cpus.contains(cpu));
    let used = |(pid, (_, now)): (u32, (u32, u64))| {
        now.saturating_sub(before.get(&pid).map_or(0, |(_, then)| *then))
    };
    Some(here.map(used).fold(0, u64::saturating_add))
}
