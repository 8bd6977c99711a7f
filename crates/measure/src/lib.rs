//! The measuring loop: a [`Scheduler`] chooses the next launch, [`drive`] has a [`Backend`] make it, and the scheduler observes it.
//!
//! Sides are measured, each with a plan of its own: a run has one side, a trial has several. [`AfterPilot`] schedules runs,
//! [`Sequential`] trials. All effects go through [`Backend`], so that a fake clock and fake launches make everything exact.

mod after_pilot;
mod budget;
mod drive;
mod fixed_count;
mod limits;
mod prior_runs;
mod rounds;
mod sequential;
mod stages;
#[cfg(test)]
mod tests;
mod track;

pub use after_pilot::AfterPilot;
pub use drive::{Backend, Finished, Progress, drive};
pub use fixed_count::Bounded;
pub use limits::{CONFIDENCE, Limits, PILOT};
pub use prior_runs::{Prior, PriorRuns, learn_prior};
pub use sequential::{Design, Sequential};

use gritstone_analysis::summary::LaunchTime;
use gritstone_model::{Benchmark, Id, Outcome, Plan, Step};
use gritstone_stats::paired_times::Times;
use std::collections::BTreeMap;
use std::time::Duration;

/// One launch to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    pub side: usize,
    /// Index into [`steps_with_entries`] of the side.
    pub step: usize,
    pub round: u32,
}

/// A finished launch, as schedulers see it.
#[derive(Clone, Copy, Debug)]
pub struct Observation<'a> {
    pub learned: LaunchTime,
    pub outcome: &'a Outcome,
    /// Executions of its command, including failed ones; 1 if not counted.
    pub executions: u32,
    /// Time to prepare, launch and store it.
    pub seconds: f64,
}

/// Progress of a scheduler. Ends are counted from the start.
#[derive(Clone, Copy, Debug)]
pub enum Standing<'a> {
    Rounds {
        /// Expected total.
        rounds: usize,
        /// Expected end.
        end: Duration,
    },
    /// Sides in turns.
    Turns {
        /// Of the current step, without this round.
        times: &'a Times,
        /// The smallest difference that counts, as a share.
        margin: f64,
        /// How many there will be, if it is fixed.
        rounds: Option<usize>,
        /// Latest end.
        end: Duration,
    },
}

/// Chooses launches, and decides when there are enough.
pub trait Scheduler {
    /// The next launch, if any is needed. `now` is counted from the start.
    fn next(&mut self, now: Duration) -> Option<Slot>;
    /// Launches observed before the first [`Self::next`] are those of an earlier process.
    fn observe(&mut self, slot: Slot, observed: &Observation<'_>);
    fn standing(&self) -> Standing<'_>;
}

/// The steps of a plan whose benchmark has an entry in it.
fn steps_with_entries(plan: &Plan) -> Vec<(&Step, &Benchmark)> {
    let entries = plan.benchmarks.iter().map(|entry| (&entry.id, entry));
    let entries: BTreeMap<&Id, &Benchmark> = entries.collect();
    let steps = plan.steps.iter();
    steps.filter_map(|step| Some((step, *entries.get(&step.id)?))).collect()
}

/// True if more launches would be wasted: one failure may be the machine's fault; two, and more than a third of all, are the program's.
fn is_failing(failed: usize, measured: usize) -> bool {
    failed >= 2 && measured < 2 * failed
}
