//! Interference during launches: other processes, steal, throttling, memory limit, SMT; another run explains it. CPU time of the workload
//! itself is excluded.

use super::limits;
use super::reading::Reading;
use gritstone_model::{Count, Finding, Interference, Launch, Param, RunInfo, other_program};

/// Whether too many launches had less than the whole machine.
pub(super) fn interfered(launches: &[&Reading]) -> Option<Finding> {
    let found: Vec<InterferenceShares> = launches
        .iter()
        .map(|reading| InterferenceShares::new(reading))
        .filter(InterferenceShares::is_any)
        .collect();
    let most = found.iter().fold(InterferenceShares::default(), |a, b| a.max(b));
    let many = found.len() as f64 > limits::DISTURBED_SHARE * launches.len() as f64;
    many.then(|| Finding::Interfered {
        count: Count::launches(found.len(), launches.len()),
        causes: most.causes().chain(other_run(launches)).collect(),
    })
}

/// Whether other processes went unobserved in too many launches. Runs of other programs have no conditions.
pub(super) fn unobserved(run: &RunInfo, launches: &[&Reading]) -> Option<Finding> {
    let is_unobserved = |reading: &&&Reading| reading.launch.conditions.others.is_none();
    let count = launches.iter().filter(is_unobserved).count();
    let many = count as f64 > limits::DISTURBED_SHARE * launches.len() as f64;
    let measured = other_program(&run.gritstone).is_none();
    (measured && many).then_some(Finding::InterferenceUnobserved {})
}

/// Adds to observed interference, never its only cause: the other run may use other CPUs.
fn other_run(launches: &[&Reading]) -> Option<Interference> {
    let mut params = launches.iter().flat_map(|launch| &launch.params);
    params.find_map(|param| match param {
        Param::OtherRun(process) => Some(Interference::OtherRun(*process)),
        _ => None,
    })
}

/// By cause, in the order of [`CAUSES`]: shares of the time of the launch's CPUs, and counts; 0 if unobserved.
#[derive(Default)]
pub(super) struct InterferenceShares([f64; 5]);

const CAUSES: [fn(f64) -> Interference; 5] = [
    Interference::Others,
    Interference::Steal,
    Interference::Throttled,
    |times| Interference::MemoryLimit(times as u64),
    |_| Interference::Smt,
];

impl InterferenceShares {
    pub(super) fn new(reading: &Reading) -> Self {
        let Self(mut causes) = Self::by_conditions(reading.launch);
        causes[4] = f64::from(u8::from(reading.contended()));
        Self(causes)
    }

    pub(super) fn by_conditions(launch: &Launch) -> Self {
        let conditions = &launch.conditions;
        let cpus = match conditions.cpus {
            // an older run
            0 => launch.cpus.len().max(1) as f64,
            cpus => f64::from(cpus),
        };
        let above = |part: Option<u64>, limit: f64| {
            let share = part.unwrap_or(0) as f64 / (conditions.wall.max(1) as f64 * cpus);
            if share > limit { share } else { 0.0 }
        };
        // other processes count only beyond the resolution of their counter
        let grain = conditions.grain.unwrap_or(0);
        let others = conditions.others.map(|others| others.saturating_sub(grain));
        Self([
            above(others, limits::OTHERS_SHARE),
            above(conditions.steal, limits::STOPPED_SHARE),
            above(conditions.throttled, limits::STOPPED_SHARE),
            conditions.memory_limit.unwrap_or(0) as f64,
            0.0,
        ])
    }

    pub(super) fn is_any(&self) -> bool {
        self.0.iter().any(|amount| *amount > 0.0)
    }

    fn max(self, other: &Self) -> Self {
        Self(std::array::from_fn(|index| self.0[index].max(other.0[index])))
    }

    fn causes(self) -> impl Iterator<Item = Interference> {
        let amounts = self.0.into_iter().zip(CAUSES);
        let found = amounts.filter(|(amount, _)| *amount > 0.0);
        found.map(|(amount, cause)| cause(amount))
    }
}
