//! The measuring loop: a [`Scheduler`] says which launch is next, [`drive`] has it made, and the scheduler learns what came of it.
//!
//! What is measured are sides, each a plan of its own: a run has one side, a comparison has several. [`AfterPilot`] makes the launches
//! that a pilot calls for, [`Sequential`] pairs of sides until a comparison is decided. All effects go through [`Backend`], so that a
//! fake clock and fake launches make everything exact.

mod after_pilot;
mod drive;
mod fixed_count;
mod prior_runs;
mod rounds;
mod sequential;
#[cfg(test)]
mod tests;

pub use after_pilot::{AT_MOST, AfterPilot, Limits, PILOT};
pub use drive::{Backend, Finished, Progress, drive};
pub use fixed_count::Bounded;
pub use prior_runs::{Earlier, Known, learn};
pub use sequential::{Design, Sequential};

use gritstone_analysis::summary::Learned;
use gritstone_model::{Benchmark, Id, Outcome, Plan, Step};
use gritstone_stats::paired_times::Times;
use std::collections::BTreeMap;
use std::time::Duration;

/// Confidence of all intervals.
pub const CONFIDENCE: f64 = 0.95;

/// One launch that is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Index of the side.
    pub side: usize,
    /// Index among the steps of the side, see [`launched`].
    pub step: usize,
    /// The pass, from 0.
    pub round: u32,
}

/// What came of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Observation<'a> {
    /// What it says of its benchmark.
    pub learned: Learned,
    /// How it ended.
    pub outcome: &'a Outcome,
    /// Time that it took in all: to prepare, launch and keep it.
    pub seconds: f64,
}

/// How far the measuring is.
#[derive(Clone, Copy, Debug)]
pub enum Standing<'a> {
    /// Rounds of launches.
    Rounds {
        /// In all, as far as it is known.
        rounds: usize,
        /// When it will be over, from the start.
        end: Duration,
    },
    /// Sides in turns.
    Turns {
        /// Those of the step that is launched now, without this round.
        times: &'a Times,
        /// The smallest difference that counts, as a share.
        margin: f64,
        /// When it will be over at the latest, from the start.
        end: Duration,
    },
}

/// Decides what is launched next, and when it is enough.
pub trait Scheduler {
    /// The next launch; `None` when there is nothing left to do. `now` is counted from the start.
    fn next(&mut self, now: Duration) -> Option<Slot>;
    /// Learns what came of a launch. What is observed before the first [`Self::next`] was measured by an earlier process.
    fn observe(&mut self, slot: Slot, observed: &Observation<'_>);
    /// How far it is.
    fn standing(&self) -> Standing<'_>;
}

/// The steps of a plan that have an entry: what a [`Slot`] is an index of.
fn launched(plan: &Plan) -> Vec<(&Step, &Benchmark)> {
    let entries = plan.benchmarks.iter().map(|entry| (&entry.id, entry));
    let entries: BTreeMap<&Id, &Benchmark> = entries.collect();
    let steps = plan.steps.iter();
    steps
        .filter_map(|step| Some((step, *entries.get(&step.id)?)))
        .collect()
}

/// Whether launches fail so often that there is no point in more of them: one failure may be the machine's; two, and more than a third
/// of all, are the program's.
fn is_failing(failed: usize, measured: usize) -> bool {
    failed >= 2 && measured < 2 * failed
}
