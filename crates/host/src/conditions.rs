//! Conditions of a launch: the kernel's counters before and after it.
//!
//! A `Watch` keeps its files open and its buffers allocated; a snapshot is one or two `pread(2)` per file. It runs in
//! the calling thread, before and after a launch and never during one, so that it takes nothing from the measurement.
//! It costs 20 to 40 us on a machine with few CPUs (`cargo test -p gritstone-host -- --ignored` measures it), and
//! more with the number of CPUs, since the kernel writes all of /proc/stat each time.
//!
//! CPU time of others is the busy time of the launch's CPUs, minus the CPU time of the launch, which the caller knows to the microsecond
//! (`wait4(2)`: the sum of user and system time is exact, though neither is). Busy time comes from the finest available counter:
//! `cpuacct.usage_percpu` of the outermost cgroup (version 1) or /proc/schedstat, both in nanoseconds, or /proc/stat in ticks of 10 ms,
//! which also includes interrupts. `grain` is the part of the difference that the counter alone may cause. Kernel threads that work for a
//! launch are subtracted only if others have used more than the grain, since reading them takes longer than all else here. Schedstat counts
//! a task when it leaves the CPU, so that a spinner found at the start adds time from before; busy time is therefore limited to the
//! duration of the launch.

use crate::counters;
use crate::energy::Energy;
use crate::facts::{Levels, levels, online};
use crate::mounts;
use crate::source::{Counter, Source, read};
use crate::{Root, processes};
use gritstone_model::{Benchmark, Conditions};
use std::time::Instant;

/// Open counters of this machine.
#[derive(Debug)]
pub struct Watch {
    start: Instant,
    /// Period of a tick in /proc/stat, ns.
    tick: u64,
    /// Period of a scheduler tick, ns.
    scheduler_tick: u64,
    possible: Vec<u32>,
    /// Number of online CPUs.
    online: usize,
    /// CPUs of this process; none if it may use all.
    allowed: Vec<u32>,
    stat: Option<Source>,
    cpuacct: Option<Source>,
    schedstat: Option<Source>,
    /// `None` if no controller is mounted; empty without limits.
    throttled: Option<Vec<Counter>>,
    memory_limit: Option<Vec<Counter>>,
    energy: Energy,
    root: Root,
}

/// Counters before a launch, and its CPUs.
#[derive(Clone, Debug)]
pub struct CounterSnapshot {
    cpus: Vec<u32>,
    counters: Counters,
    energy: Option<Vec<u64>>,
    /// With a background load: our process, and the CPU time of foreign processes.
    foreign: Option<(u32, Option<u64>)>,
    /// Kernel threads work for the launch.
    kernel_threads: bool,
    /// Their CPU times, unless they are hidden.
    kernel: Option<processes::Times>,
}

/// One reading, ns or events since an arbitrary time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counters {
    wall: u64,
    ticks: Option<u64>,
    steal: Option<u64>,
    run: Option<u64>,
    throttled: Option<u64>,
    memory_limit: Option<u64>,
}

impl Watch {
    pub fn open(root: &Root) -> Self {
        let possible = root.cpus("/sys/devices/system/cpu/possible").unwrap_or_default();
        let mut stat = Source::open(root, "/proc/stat");
        if let Some(source) = &mut stat {
            source.keep(counters::cpu_lines);
        }
        let online = online(root, &root.text("/proc/cpuinfo").unwrap_or_default());
        let allowed = root.syscall_results().allowed.as_ref();
        let allowed = allowed.filter(|allowed| allowed.len() < online.len());
        Self {
            start: Instant::now(),
            allowed: allowed.map(|allowed| allowed.iter().collect()).unwrap_or_default(),
            tick: processes::tick(root),
            // HZ=100 is the coarsest in use
            scheduler_tick: root.syscall_results().tick.unwrap_or(10_000_000),
            possible: possible.iter().collect(),
            online: online.len().max(1),
            stat,
            cpuacct: outermost_cpuacct(root),
            schedstat: Source::open(root, "/proc/schedstat"),
            throttled: levels(root, "cpu").map(|levels| throttled(root, &levels)),
            memory_limit: levels(root, "memory").map(|levels| memory_limits(root, &levels)),
            energy: Energy::open(root),
            root: root.clone(),
        }
    }

    /// Reads the counters before a launch of `benchmark` on `cpus` (empty: all that this process may use). If kernel threads work for the
    /// benchmark, they do not count as others. With a background load, others are the processes on all CPUs that do
    /// not descend from process `harness`.
    pub fn begin(&mut self, benchmark: &Benchmark, cpus: &[u32], harness: u32) -> CounterSnapshot {
        let loaded = !benchmark.load().is_empty();
        let cpus = match cpus {
            _ if loaded => vec![],
            [] => self.allowed.clone(),
            cpus => cpus.to_vec(),
        };
        let kernel_threads = benchmark.kernel_threads && !loaded;
        CounterSnapshot {
            foreign: loaded.then(|| (harness, processes::foreign(&self.root, harness))),
            kernel: match kernel_threads {
                true => processes::kernel_thread_times(&self.root),
                false => None,
            },
            kernel_threads,
            counters: self.read(&cpus),
            energy: self.energy.read(),
            cpus,
        }
    }

    /// Reads the counters after the launch, whose reaped processes used `used` ns of CPU time on those CPUs. If
    /// Gritstone itself has to run on one of them, it counts as others: about a millisecond per launch.
    pub fn end(&mut self, before: &CounterSnapshot, used: u64) -> Conditions {
        let after = self.read(&before.cpus);
        let energy = before.energy.as_ref().zip(self.energy.read());
        let old = before.counters;
        let wall = after.wall.saturating_sub(old.wall);
        let count = match before.cpus.len() {
            0 => self.online as u64,
            some => some as u64,
        };
        // a task running on another CPU is accounted at its next tick
        let fine = since(old.run, after.run)
            .map(|busy| (busy.min(wall.saturating_mul(count)), self.scheduler_tick));
        // a tick of /proc/stat may have begun before, and another may end after
        let coarse = || {
            since(old.ticks, after.ticks).map(|busy| (busy, 2 * self.tick.max(self.scheduler_tick)))
        };
        let busy = fine.or_else(coarse);
        let grain = busy.map(|(_, grain)| grain.saturating_mul(count));
        let foreign = busy.map(|(busy, _)| busy.saturating_sub(used));
        // less than the grain may be an error of the counter
        let for_it = match &before.kernel {
            _ if !before.kernel_threads || foreign <= grain => Some(0),
            Some(then) => processes::since(&self.root, then, &before.cpus),
            None => None,
        };
        let others = match before.foreign {
            None => foreign.zip(for_it).map(|(foreign, for_it)| foreign.saturating_sub(for_it)),
            Some((harness, foreign)) => since(foreign, processes::foreign(&self.root, harness)),
        };
        Conditions {
            wall,
            cpus: u32::try_from(count).unwrap_or(u32::MAX),
            others,
            grain,
            steal: since(old.steal, after.steal),
            throttled: since(old.throttled, after.throttled),
            memory_limit: since(old.memory_limit, after.memory_limit),
            energy_uj: energy.and_then(|(before, after)| self.energy.between(before, &after)),
        }
    }

    fn read(&mut self, cpus: &[u32]) -> Counters {
        let tick = |ticks: u64| ticks.checked_mul(self.tick);
        let ticks = read(&mut self.stat, |text| counters::ticks(text, cpus));
        let possible = &self.possible;
        Counters {
            wall: u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX),
            ticks: ticks.and_then(|[busy, _]| tick(busy)),
            steal: ticks.and_then(|[_, steal]| tick(steal)),
            // both readings must be of the same counter
            run: match self.cpuacct {
                Some(_) => read(&mut self.cpuacct, |text| counters::usage(text, possible, cpus)),
                None => read(&mut self.schedstat, |text| counters::schedule(text, cpus)),
            },
            throttled: total(&mut self.throttled),
            memory_limit: total(&mut self.memory_limit),
        }
    }
}

/// `None` if it is missing, or went back because a CPU was taken offline.
fn since(before: Option<u64>, after: Option<u64>) -> Option<u64> {
    after?.checked_sub(before?)
}

fn total(counters: &mut Option<Vec<Counter>>) -> Option<u64> {
    let mut sum = 0_u64;
    for counter in counters.as_mut()? {
        sum = sum.checked_add(counter.value()?)?;
    }
    Some(sum)
}

/// CPU time of all tasks per CPU. Only the outermost group has all of them, and only it has `release_agent`: a
/// container sees its own group in its place.
fn outermost_cpuacct(root: &Root) -> Option<Source> {
    let mounts = mounts::parse(&root.text("/proc/self/mountinfo")?);
    let mount = mounts.iter().find(|mount| {
        let mut options = mount.super_options.iter();
        mount.fs_type == "cgroup" && mount.root == "/" && options.any(|option| option == "cpuacct")
    })?;
    let directory = mount.point.display();
    if !root.exists(&format!("{directory}/release_agent")) {
        return None;
    }
    Source::open(root, &format!("{directory}/cpuacct.usage_percpu"))
}

/// Throttled time. `cpu.stat.local` (Linux 6.5) includes all levels, also those above a container; without it each
/// level with a quota counts.
fn throttled(root: &Root, levels: &Levels) -> Vec<Counter> {
    let (key, unit): (&[u8], u64) = match levels.version {
        1 => (b"throttled_time", 1),
        _ => (b"throttled_usec", 1000),
    };
    let innermost = levels.directories.first();
    if let Some(counter) = innermost
        .and_then(|level| Counter::open(root, &format!("{level}/cpu.stat.local"), key, unit))
    {
        return vec![counter];
    }
    levels
        .limits(|version, level| {
            crate::facts::quota(root, version, level)?;
            Counter::open(root, &format!("{level}/cpu.stat"), key, unit)
        })
        .collect()
}

/// Hits of a memory limit, on each level that has one.
fn memory_limits(root: &Root, levels: &Levels) -> Vec<Counter> {
    levels
        .limits(|version, level| {
            crate::facts::memory_limit(root, version, level)?;
            match version {
                1 => Counter::open(root, &format!("{level}/memory.failcnt"), b"", 1),
                // its own hits (since Linux 5.2): other counters include groups below, some of which are ours, at
                // their limit on purpose
                _ => Counter::open(root, &format!("{level}/memory.events.local"), b"max", 1)
                    .or_else(|| Counter::open(root, &format!("{level}/memory.events"), b"max", 1)),
            }
        })
        .collect()
}
