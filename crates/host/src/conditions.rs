//! What else went on during a launch: the kernel's counters before it and after it.
//!
//! A `Watch` keeps its files open and its buffers allocated; a snapshot is one `pread(2)` or two of each file. It
//! runs in the thread that asks, before and after a launch and never during one, so that it takes nothing from
//! what is measured. It costs 20 to 40 us on a machine of few CPUs (`cargo test -p gritstone-host -- --ignored`
//! measures it), and more with the number of CPUs, since the kernel writes the whole of /proc/stat each time.
//!
//! CPU time of others is the time that the launch's CPUs were busy, less what the launch used, which the caller
//! knows to the microsecond (`wait4(2)`: the sum of user and system time is exact, though neither is). Busy time is taken from the finest counter that there is:
//! `cpuacct.usage_percpu` of the outermost cgroup (version 1), /proc/schedstat, both in nanoseconds, or /proc/stat in
//! ticks of 10 ms, which also sees interrupts. `grain` says how much of the difference the counter alone may make.
//! Threads of the kernel that work for a launch are told from others where those have used more than the grain: to ask them takes longer
//! than all else here.
//! Schedstat counts a task when it leaves the CPU, so that a spinner found at the start brings in time from before: no CPU is
//! taken to have been busy for longer than the launch lasted.

use crate::counters;
use crate::energy::Energy;
use crate::facts::{Levels, levels};
use crate::mounts;
use crate::source::{Counter, Source, read};
use crate::{Root, processes};
use gritstone_model::{Benchmark, Conditions};
use std::time::Instant;

/// The counters of this machine, kept open.
#[derive(Debug)]
pub struct Watch {
    start: Instant,
    /// Length of a tick of /proc/stat, ns.
    tick: u64,
    /// Length of the scheduler's tick, ns.
    scheduler_tick: u64,
    possible: Vec<u32>,
    /// How many CPUs are switched on.
    online: usize,
    stat: Option<Source>,
    cpuacct: Option<Source>,
    schedstat: Option<Source>,
    /// `None` when no controller is mounted; empty when nothing is limited.
    throttled: Option<Vec<Counter>>,
    memory_limit: Option<Vec<Counter>>,
    energy: Energy,
    root: Root,
}

/// The counters before a launch, and the CPUs that they are of.
#[derive(Clone, Debug)]
pub struct Before {
    cpus: Vec<u32>,
    counters: Counters,
    energy: Option<Vec<u64>>,
    /// Beside a load of our own: our process, and the CPU time of others' processes.
    foreign: Option<(u32, Option<u64>)>,
    /// Of a launch that the threads of the kernel work for: what they had used.
    kernel: Option<processes::Times>,
}

/// One reading, ns or events since some time in the past.
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
    /// Opens what this machine has.
    #[must_use]
    pub fn open(root: &Root) -> Self {
        let possible = root
            .cpus("/sys/devices/system/cpu/possible")
            .unwrap_or_default();
        let mut stat = Source::open(root, "/proc/stat");
        if let Some(source) = &mut stat {
            source.keep(counters::cpu_lines);
        }
        let online = root
            .cpus("/sys/devices/system/cpu/online")
            .unwrap_or_default();
        Self {
            start: Instant::now(),
            tick: processes::tick(root),
            // HZ 100 is the coarsest that anyone builds
            scheduler_tick: root.answers().tick.unwrap_or(10_000_000),
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

    /// Reads the counters before a launch of `benchmark` on `cpus`; on all where there are none. Where the entry says that threads of the
    /// kernel work for it, they are none of the others. Beside a load of its own, which process `own` keeps running, others are those
    /// whose processes do not descend from that, on all CPUs.
    pub fn begin(&mut self, benchmark: &Benchmark, cpus: &[u32], own: u32) -> Before {
        let loaded = !benchmark.load().is_empty();
        let cpus = if loaded { vec![] } else { cpus.to_vec() };
        Before {
            foreign: loaded.then(|| (own, processes::foreign(&self.root, own))),
            kernel: (benchmark.kernel_threads && !loaded)
                .then(|| processes::of_the_kernel(&self.root)),
            counters: self.read(&cpus),
            energy: self.energy.read(),
            cpus,
        }
    }

    /// Reads the counters after the launch, which used `used` ns of CPU time on those CPUs (all its processes, reaped). Where
    /// Gritstone itself has to run on one of them, it is one of the others: about a millisecond of a launch.
    pub fn end(&mut self, before: &Before, used: u64) -> Conditions {
        let after = self.read(&before.cpus);
        let energy = before.energy.as_ref().zip(self.energy.read());
        let old = before.counters;
        let wall = after.wall.saturating_sub(old.wall);
        let count = match before.cpus.len() {
            0 => self.online as u64,
            some => some as u64,
        };
        // what is running on another CPU is brought up to date at its next tick
        let fine = since(old.run, after.run)
            .map(|busy| (busy.min(wall.saturating_mul(count)), self.scheduler_tick));
        // a tick of /proc/stat may have begun before, and another may end after
        let coarse = || {
            since(old.ticks, after.ticks).map(|busy| (busy, 2 * self.tick.max(self.scheduler_tick)))
        };
        let busy = fine.or_else(coarse);
        let grain = busy.map(|(_, grain)| grain.saturating_mul(count));
        let foreign = busy.map(|(busy, _)| busy.saturating_sub(used));
        // what the counter alone may make is nobody's
        let kernel = before.kernel.as_ref().filter(|_| foreign > grain);
        let for_it = kernel.map_or(0, |then| processes::since(&self.root, then, &before.cpus));
        let others = match before.foreign {
            None => foreign.map(|foreign| foreign.saturating_sub(for_it)),
            Some((own, foreign)) => since(foreign, processes::foreign(&self.root, own)),
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
            // one counter or the other, never a difference between the two
            run: match self.cpuacct {
                Some(_) => read(&mut self.cpuacct, |text| {
                    counters::usage(text, possible, cpus)
                }),
                None => read(&mut self.schedstat, |text| counters::schedule(text, cpus)),
            },
            throttled: total(&mut self.throttled),
            memory_limit: total(&mut self.memory_limit),
        }
    }
}

/// What a counter has gone up by; `None` where it is not there, or went back (a CPU was taken offline).
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

/// CPU time of all tasks on each CPU. Only the outermost group has all of them, and only it has `release_agent`: a
/// container sees its own group in that place.
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

/// Time throttled. The kernel's `cpu.stat.local` (Linux 6.5) tells of every level at once, those above a container
/// too; without it each level with a quota counts for itself.
fn throttled(root: &Root, levels: &Levels) -> Vec<Counter> {
    let (key, unit): (&[u8], u64) = match levels.version {
        1 => (b"throttled_time", 1),
        _ => (b"throttled_usec", 1000),
    };
    let own = levels.directories.first();
    if let Some(counter) =
        own.and_then(|level| Counter::open(root, &format!("{level}/cpu.stat.local"), key, unit))
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

/// Times that a memory limit was met, on each level that has one.
fn memory_limits(root: &Root, levels: &Levels) -> Vec<Counter> {
    levels
        .limits(|version, level| {
            crate::facts::memory_limit(root, version, level)?;
            match version {
                1 => Counter::open(root, &format!("{level}/memory.failcnt"), b"", 1),
                // its own hits alone, since Linux 5.2: the others count those of the groups below too, of which some are ours, at their limit on purpose
                _ => Counter::open(root, &format!("{level}/memory.events.local"), b"max", 1)
                    .or_else(|| Counter::open(root, &format!("{level}/memory.events"), b"max", 1)),
            }
        })
        .collect()
}
