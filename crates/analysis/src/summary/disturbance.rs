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

/// How much there was of each cause, in the order of [`CAUSES`]: shares of the length of a launch and counts; 0 for what was not
/// above its limit, or cannot be known here.
#[derive(Default)]
pub(super) struct Disturbance([f64; 8]);

const CAUSES: [fn(f64) -> Interference; 8] = [
    Interference::Others,
    Interference::Elsewhere,
    Interference::Steal,
    Interference::Stalled,
    Interference::Throttled,
    |times| Interference::Overheated(times as u64),
    |times| Interference::MemoryLimit(times as u64),
    |_| Interference::Smt,
];

impl Disturbance {
    /// Work that the processor bounds does not feel the CPUs beside it, or feels them in the cycle probe too.
    pub(super) fn of(processor_bound: bool, reading: &Reading) -> Self {
        let Self(mut causes) = Self::by_conditions(processor_bound, &reading.launch.conditions);
        causes[7] = f64::from(u8::from(reading.crowded));
        Self(causes)
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
        Self([
            above(others, limits::OTHERS_SHARE),
            above(elsewhere, limits::ELSEWHERE_SHARE),
            above(conditions.steal, limits::STEAL_SHARE),
            above(conditions.gap, limits::STEAL_SHARE),
            above(conditions.throttled, 0.0),
            conditions.overheated.unwrap_or(0) as f64,
            conditions.memory_limit.unwrap_or(0) as f64,
            0.0,
        ])
    }

    pub(super) fn is_any(&self) -> bool {
        self.0.iter().any(|amount| *amount > 0.0)
    }

    fn max(self, other: &Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at].max(other.0[at])))
    }

    fn causes(&self) -> Vec<Interference> {
        let amounts = self.0.iter().zip(CAUSES);
        let found = amounts.filter(|(amount, _)| **amount > 0.0);
        found.map(|(amount, cause)| cause(*amount)).collect()
    }
}
