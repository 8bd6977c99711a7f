//! Times of single launches during a run or a trial.

use super::interference::InterferenceShares;
use super::reading::Reading;
use super::smt_contention::{self, Floor, floor_for};
use super::{Launched, sample_use};
use gritstone_model::{Benchmark, Event, Launch, Param, RunInfo};
use gritstone_stats::paired_times::Timed;

/// ns per operation, for the variance that pilots estimate. `None` unless measured.
pub fn launch_ns_per_op(benchmark: &Benchmark, launch: &Launch) -> Option<f64> {
    ns_per_op(benchmark, &Reading::new(launch))
}

fn ns_per_op(benchmark: &Benchmark, reading: &Reading) -> Option<f64> {
    let ns = match reading.launch.copies {
        1 => Launched::without_launches(benchmark).ns(reading),
        _ => reading.together_ns(),
    };
    ns.filter(|_| reading.measured())
}

fn layout(launch: &Launch) -> u32 {
    let mut events = launch.events.iter();
    let number = events.find_map(|event| match event {
        Event::Param(Param::Layout(number)) => Some(*number),
        _ => None,
    });
    number.unwrap_or(0)
}

/// Any constant frequency: only the scatter of launches matters.
const SCHEDULING_GHZ: f64 = 1.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaunchTime {
    /// ns per operation; in a run, of undisturbed samples if there are any. `None` unless measured.
    pub ns_per_op: Option<f64>,
    /// Share of its samples that were undisturbed.
    pub weight: f64,
    /// Too much interference: the launch is stored, and repeated.
    pub disturbed: bool,
    /// SMT contention in too many of the samples that the value uses.
    pub contended: bool,
    /// Build of the launch, if the side has several.
    pub layout: u32,
}

impl LaunchTime {
    pub fn timed(&self) -> Option<Timed> {
        let Self { contended, layout, .. } = *self;
        self.ns_per_op.map(|ns| Timed { ns, contended, layout })
    }
}

/// Reads launches in order, each with the SMT floor of earlier ones.
#[derive(Clone, Debug, Default)]
pub struct Reader {
    floor: Floor,
    /// Whether the launches are of a trial, in which all samples count.
    trial: bool,
}

impl Reader {
    /// For a run, or the first side of a trial, before its first launch.
    pub fn new(run: &RunInfo) -> Self {
        Self { floor: Floor::before(run), trial: run.settings.trial.is_some() }
    }

    /// Updates the SMT floor.
    pub fn observe(&mut self, launch: &Launch) {
        self.floor.observe(launch);
    }

    /// Updates the SMT floor, and reads a launch.
    pub fn read(&mut self, benchmark: &Benchmark, launch: &Launch) -> LaunchTime {
        self.observe(launch);
        let mut reading = Reading::new(launch);
        reading.sample_use = sample_use(benchmark, &reading, self.trial);
        reading.counts_whole = self.trial;
        reading.reference_ghz = (!self.trial && !benchmark.paced).then_some(SCHEDULING_GHZ);
        smt_contention::weigh(&mut reading, floor_for(benchmark, &self.floor));
        LaunchTime {
            ns_per_op: ns_per_op(benchmark, &reading),
            weight: reading.weight(),
            disturbed: InterferenceShares::new(&reading).is_any(),
            contended: reading.contended(),
            layout: layout(launch),
        }
    }
}
