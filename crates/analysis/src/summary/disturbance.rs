//! What else went on during launches: how much of the machine they did not have, and when that is too much.

use super::limits;
use super::reading::Reading;
use gritstone_model::{Benchmark, Conditions, Count, Finding, Interference};

/// Whether the launches had less than the whole machine in too many of them.
pub(super) fn interfered(benchmark: &Benchmark, launches: &[&Reading]) -> Option<Finding> {
    let found: Vec<Disturbance> = launches
        .iter()
        .map(|reading| Disturbance::of(benchmark.processor_bound, reading))
        .filter(Disturbance::is_any)
        .collect();
    let most = found.iter().fold(Disturbance::default(), |a, b| a.max(b));
    let many = found.len() as f64 > limits::DISTURBED_SHARE * launches.len() as f64;
    many.then(|| Finding::Interfered {
        count: Count::launches(found.len(), launches.len()),
        causes: most.causes(),
    })
}

/// What was above its limit during a launch, as shares of its length; 0 for what was not, or cannot be known here.
#[derive(Default)]
pub(super) struct Disturbance {
    others: f64,
    elsewhere: f64,
    steal: f64,
    stood: f64,
    throttled: f64,
    overheated: u64,
    memory: u64,
    crowded: bool,
}

impl Disturbance {
    /// Work that the processor bounds does not feel the CPUs beside it, or feels them in the pacer too.
    pub(super) fn of(processor_bound: bool, reading: &Reading) -> Self {
        Self {
            crowded: reading.crowded,
            ..Self::by_conditions(processor_bound, &reading.launch.conditions)
        }
    }

    pub(super) fn by_conditions(processor_bound: bool, conditions: &Conditions) -> Self {
        let above = |part: Option<u64>, limit: f64| {
            let share = part.unwrap_or(0) as f64 / conditions.wall.max(1) as f64;
            if share > limit { share } else { 0.0 }
        };
        // of others only what is more than the grain of their counter
        let grain = conditions.grain.unwrap_or(0);
        let others = conditions.others.map(|others| others.saturating_sub(grain));
        let elsewhere = conditions.elsewhere.filter(|_| !processor_bound);
        Self {
            others: above(others, limits::OTHERS_SHARE),
            elsewhere: above(elsewhere, limits::ELSEWHERE_SHARE),
            steal: above(conditions.steal, limits::STEAL_SHARE),
            stood: above(conditions.gap, limits::STEAL_SHARE),
            throttled: above(conditions.throttled, 0.0),
            overheated: conditions.overheated.unwrap_or(0),
            memory: conditions.memory_limit.unwrap_or(0),
            crowded: false,
        }
    }

    pub(super) fn is_any(&self) -> bool {
        !self.causes().is_empty()
    }

    fn max(self, other: &Self) -> Self {
        Self {
            others: self.others.max(other.others),
            elsewhere: self.elsewhere.max(other.elsewhere),
            steal: self.steal.max(other.steal),
            stood: self.stood.max(other.stood),
            throttled: self.throttled.max(other.throttled),
            overheated: self.overheated.max(other.overheated),
            memory: self.memory.max(other.memory),
            crowded: self.crowded || other.crowded,
        }
    }

    fn causes(&self) -> Vec<Interference> {
        use Interference::{
            Elsewhere, MemoryLimit, Others, Overheated, Smt, Stalled, Steal, Throttled,
        };
        [
            (self.others > 0.0).then_some(Others(self.others)),
            (self.elsewhere > 0.0).then_some(Elsewhere(self.elsewhere)),
            (self.steal > 0.0).then_some(Steal(self.steal)),
            (self.stood > 0.0).then_some(Stalled(self.stood)),
            (self.throttled > 0.0).then_some(Throttled(self.throttled)),
            (self.overheated > 0).then_some(Overheated(self.overheated)),
            (self.memory > 0).then_some(MemoryLimit(self.memory)),
            self.crowded.then_some(Smt),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}
