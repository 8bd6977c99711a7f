//! SMT contention. Two threads of a core share its issue slots: dependent additions proceed at one per cycle, independent ones are slowed.
//! So the ratio of SMT probe to cycle probe has its minimum without contention. The floor is the minimum of this run and of earlier runs of
//! the machine, so that a permanent neighbor is detected too.
//!
//! Independent of the work. Undefined on cores with one thread, and for several copies, which are each other's neighbors. Launches on
//! several CPUs, which may differ in kind and be siblings, are compared with others of the same benchmark in the run.

use super::limits;
use super::reading::{Reading, samples};
use gritstone_model::{Benchmark, Id, Launch, RunData, RunInfo};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Ratio of SMT probe to cycle probe on a core without a busy sibling, by CPU.
#[derive(Clone, Debug, Default)]
pub struct Floor {
    /// Cores have siblings.
    shared: bool,
    known: BTreeMap<u32, f64>,
    /// Readings of this run, sorted.
    seen: BTreeMap<u32, Vec<f64>>,
    /// Readings of launches on several CPUs.
    several: BTreeMap<Id, Vec<f64>>,
}

impl Floor {
    pub(crate) fn before(run: &RunInfo) -> Self {
        Self {
            shared: run.machine.may_share_cores(),
            known: run.settings.smt_floors.clone(),
            ..Self::default()
        }
    }

    pub(crate) fn from_run(run: &RunData) -> Self {
        let mut all = Self::before(&run.info);
        for launch in &run.launches {
            if let Some(seen) = all.seen_with(launch) {
                seen.extend(shares(launch));
            }
        }
        let seen = all.seen.values_mut().chain(all.several.values_mut());
        seen.for_each(|seen| seen.sort_unstable_by(f64::total_cmp));
        all
    }

    pub(crate) fn observe(&mut self, launch: &Launch) {
        let Some(seen) = self.seen_with(launch) else { return };
        for share in shares(launch) {
            seen.insert(seen.partition_point(|known| *known < share), share);
        }
    }

    /// The sorted shares of earlier launches on the same CPU, or of the same benchmark.
    fn seen_with(&mut self, launch: &Launch) -> Option<&mut Vec<f64>> {
        match (launch.cpus.as_slice(), launch.copies, self.shared) {
            ([cpu], 1, true) => Some(self.seen.entry(*cpu).or_default()),
            ([_, _, ..], 1, true) => Some(self.several.entry(launch.id.clone()).or_default()),
            _ => None,
        }
    }

    /// The tenth percentile of each CPU: a few readings are off in both directions if the CPU is time-shared.
    pub(crate) fn learned(&self) -> BTreeMap<u32, f64> {
        let cpus = self.seen.keys();
        cpus.filter_map(|cpu| Some((*cpu, self.seen_floor(*cpu)?))).collect()
    }

    fn seen_floor(&self, cpu: u32) -> Option<f64> {
        tenth_percentile(self.seen.get(&cpu)?)
    }

    pub(super) fn floor_of_launch(&self, launch: &Launch) -> Option<f64> {
        match (launch.cpus.as_slice(), launch.copies) {
            ([cpu], 1) => self.floor(*cpu),
            (_, 1) => tenth_percentile(self.several.get(&launch.id)?),
            _ => None,
        }
    }

    fn floor(&self, cpu: u32) -> Option<f64> {
        let known = self.known.get(&cpu).filter(|_| self.shared);
        let known = known.map(|floor| floor.max(MIN_SHARE));
        [self.seen_floor(cpu), known].into_iter().flatten().reduce(f64::min)
    }

    /// From 1 without contention to 0 beside a busy thread; 1 without a known floor.
    pub(crate) fn weight(&self, launch: &Launch, cycle_probe: u64, smt_probe: u64) -> f64 {
        let above = self.floor_of_launch(launch).zip(share(cycle_probe, smt_probe));
        above.map_or(1.0, |(floor, share)| {
            let slowed = (share / floor - 1.0).max(0.0) / limits::CONTENDED_SHARE;
            (-slowed * slowed).exp()
        })
    }

    fn is_contended(&self, launch: &Launch, cycle_probe: u64, smt_probe: u64) -> bool {
        self.weight(launch, cycle_probe, smt_probe) < 0.5
    }
}

/// Sets the weights of samples by the slowdown from another thread of the core.
pub(super) fn weigh(reading: &mut Reading, floor: &Floor) {
    let launch = reading.launch;
    let contended = |cycle_probe, smt_probe| floor.is_contended(launch, cycle_probe, smt_probe);
    let samples = reading.samples.iter();
    reading.weights = samples.map(|s| floor.weight(launch, s.cycle_probe, s.smt_probe)).collect();
    reading.contended_batches =
        reading.batches.iter().any(|b| contended(b.cycle_probe, b.smt_probe));
    reading.contended_processes =
        reading.processes.iter().any(|p| contended(p.cycle_probe, p.smt_probe));
}

/// None for benchmarks with a background load, which keeps the siblings busy on purpose.
pub(super) fn floor_for<'a>(benchmark: &Benchmark, floor: &'a Floor) -> &'a Floor {
    static NONE: LazyLock<Floor> = LazyLock::new(Floor::default);
    match benchmark.load().is_empty() {
        true => floor,
        false => &NONE,
    }
}

fn tenth_percentile(seen: &[f64]) -> Option<f64> {
    let enough = seen.len() >= READINGS_PER_FLOOR;
    enough.then(|| seen[seen.len() / READINGS_PER_FLOOR].max(MIN_SHARE))
}

/// Share of readings below the floor: one in ten.
const READINGS_PER_FLOOR: usize = 10;

/// Lower bound for any core: the SMT probe has eight chains of additions, one cycle each.
const MIN_SHARE: f64 = 1.0 / 8.0;

/// `None` if one of the probes is missing.
fn shares(launch: &Launch) -> impl Iterator<Item = f64> {
    samples(launch).filter_map(|sample| share(sample.cycle_probe, sample.smt_probe))
}

fn share(cycle_probe: u64, smt_probe: u64) -> Option<f64> {
    (cycle_probe > 0 && smt_probe > 0).then(|| smt_probe as f64 / cycle_probe as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gritstone_model::{Event, Machine, Sample};
    use gritstone_testkit::id;

    fn launch(cpus: &[u32], smt_probe: u64) -> Launch {
        let sample = Event::Sample(Box::new(Sample {
            n: 1,
            cycle_probe: 1000,
            smt_probe,
            ..Sample::default()
        }));
        Launch { cpus: cpus.to_vec(), ..gritstone_testkit::launch("a/b", 0, vec![sample]) }
    }

    fn info(facts: &[(&str, &str)], known: &[(u32, f64)]) -> RunInfo {
        let fact = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let mut info = RunInfo {
            machine: Machine { facts: facts.iter().map(fact).collect(), ..Machine::default() },
            ..RunInfo::default()
        };
        info.settings.smt_floors = known.iter().copied().collect();
        info
    }

    /// Adds readings of CPU 0.
    fn seen(info: &RunInfo, readings: impl IntoIterator<Item = u64>) -> Floor {
        let mut floor = Floor::before(info);
        for smt_probe in readings {
            floor.observe(&launch(&[0], smt_probe));
        }
        floor
    }

    const SMT: [(&str, &str); 1] = [("cpu.smt", "on")];

    #[test]
    fn floor_is_the_tenth_percentile() {
        // readings of a time-shared CPU: a few too low, most right, some beside a neighbor
        let readings = || [147, 203].into_iter().chain([254; 20]).chain([380; 8]);
        let floor = seen(&info(&SMT, &[]), readings());
        assert_eq!(floor.learned(), BTreeMap::from([(0, 0.254)]));
        let is_contended = |floor: &Floor, cpus: &[u32], cycle_probe, smt_probe| {
            floor.is_contended(&launch(cpus, smt_probe), cycle_probe, smt_probe)
        };
        assert!(!is_contended(&floor, &[0], 1000, 263));
        assert!(is_contended(&floor, &[0], 1000, 266));
        // unknown for another CPU, for several, without probes, and after few readings
        assert!(!is_contended(&floor, &[1], 1000, 900));
        assert!(!is_contended(&floor, &[0, 1], 1000, 900));
        assert!(!is_contended(&floor, &[0], 1000, 0) && !is_contended(&floor, &[0], 0, 900));
        let few = seen(&info(&SMT, &[]), readings().take(9));
        assert!(!is_contended(&few, &[0], 1000, 900));
        // impossible values do not lower the floor
        assert_eq!(seen(&info(&SMT, &[]), [60; 20]).learned()[&0], MIN_SHARE);
    }

    #[test]
    fn earlier_floors_reveal_permanent_neighbor() {
        let busy = || [381; 50];
        assert!(!seen(&info(&SMT, &[]), busy()).is_contended(&launch(&[0], 381), 1000, 381));
        let floor = seen(&info(&SMT, &[(0, 0.254)]), busy());
        assert!(floor.is_contended(&launch(&[0], 381), 1000, 381));
        // and the run does not claim to have measured the floor itself
        assert_eq!(floor.learned()[&0], 0.381);
        // the first run without a neighbor uses its own floor
        let floor = seen(&info(&SMT, &[(0, 0.381)]), [254; 50]);
        assert!(floor.is_contended(&launch(&[0], 300), 1000, 300));
    }

    #[test]
    fn single_thread_cores_are_unshared() {
        let virtual_machine: [(&str, &str); 2] = [("cpu.smt", "off"), ("virtual.machine", "KVM")];
        let no_smt: [(&str, &str); 1] = [("cpu.smt", "off")];
        for (facts, shared) in [
            (&SMT[..], true),
            (&virtual_machine, true),
            (&no_smt, false),
            // a board without this information
            (&[], false),
        ] {
            let info = info(facts, &[(0, 0.254)]);
            let readings = (0..40).map(|index| if index % 4 == 0 { 254 } else { 381 });
            let floor = seen(&info, readings);
            let launch = launch(&[0], 381);
            assert_eq!(floor.is_contended(&launch, 1000, 381), shared, "{facts:?}");
            assert_eq!(floor.learned().is_empty(), !shared);
        }
    }

    #[test]
    fn cpus_have_separate_floors() {
        let mut floor = Floor::before(&info(&SMT, &[]));
        let copies = Launch { copies: 2, ..launch(&[0], 254) };
        for _ in 0..20 {
            floor.observe(&launch(&[0, 1], 254));
            floor.observe(&launch(&[], 254));
            floor.observe(&copies);
        }
        assert!(floor.learned().is_empty());
        assert!(floor.is_contended(&launch(&[0, 1], 381), 1000, 381));
        let other = Launch { id: id("a/other"), ..launch(&[0, 1], 381) };
        assert!(!floor.is_contended(&other, 1000, 381) && !floor.is_contended(&copies, 1000, 381));
    }
}
