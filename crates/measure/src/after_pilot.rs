//! The scheduler of runs: a pilot, then the launches that the pilot calls for, in rounds, within the budget; last, those that were
//! disturbed once more.

use crate::rounds::{Need, adjacent, rounds, share};
use crate::{CONFIDENCE, Observation, Scheduler, Slot, Standing, is_failing, launched};
use gritstone_model::{Benchmark, Outcome, Plan, Quantity, Step, Work};
use gritstone_stats::plan::launches_needed;
use std::collections::VecDeque;
use std::time::Duration;

/// Launches of the pilot: the fewest that have an interval at 95 %.
pub const PILOT: usize = 6;
/// Launches that a result needs to be compared.
pub(crate) const MIN_LAUNCHES: usize = 10;
/// Beyond this the drift of the machine, not the number of launches, limits what can be known.
pub(crate) const MAX_LAUNCHES: usize = 100;
/// Fewer values have hardly a scatter.
const MIN_FOR_SCATTER: usize = 3;
/// Of the launches of a track, at most one in this many is repeated because it was disturbed.
pub(crate) const REPEATED: usize = 4;
/// Part of the budget that is shared out after the pilot; the rest is for launches that take longer than the pilot's.
const SHARED_OUT: f64 = 0.97;

/// What bounds the measuring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Time for everything.
    pub budget: Duration,
    /// Half-width of the interval that is asked for, as a share of the estimate.
    pub precision: f64,
    /// Seed of the orders.
    pub seed: u64,
}

/// A step of a side, and what is known of it.
struct Track {
    side: usize,
    step: usize,
    /// Programs of the load that it is measured beside.
    load: usize,
    /// A size or a count: once is enough.
    exact: bool,
    /// ln of the value of each launch that was measured.
    values: Vec<f64>,
    /// Of these, those of launches that had their core to themselves: the result is made of them.
    alone: Vec<f64>,
    launches: usize,
    seconds: f64,
    disturbed: usize,
    /// Of the disturbed, those for which there was another launch in the second stage.
    replaced: usize,
    /// No more launches: it failed, timed out, or cannot run.
    out: bool,
}

/// A pilot, the launches that it calls for, and repeats of disturbed ones.
pub struct AfterPilot {
    limits: Limits,
    tracks: Vec<Track>,
    /// Tracks that are launched in the same rounds.
    paired: Vec<Vec<usize>>,
    /// The stage that begins next.
    stage: u64,
    /// Rounds of the stage that are to come.
    rounds: VecDeque<Vec<usize>>,
    /// What is left of the round.
    round: VecDeque<usize>,
    next_round: u32,
    /// The first round of this process.
    first: u32,
    expected_rounds: usize,
    expected_end: Duration,
}

impl Track {
    fn new(side: usize, step: usize, benchmark: &Benchmark) -> Self {
        Self {
            side,
            step,
            load: benchmark.load().len(),
            exact: matches!(benchmark.unit.quantity(), Quantity::Exact),
            values: vec![],
            alone: vec![],
            launches: 0,
            seconds: 0.0,
            disturbed: 0,
            replaced: 0,
            out: false,
        }
    }

    fn cost(&self) -> f64 {
        match self.launches {
            0 => 0.0,
            launches => self.seconds / launches as f64,
        }
    }

    /// Launches that are not to be in the result. Where hardly any was alone, all of them must do.
    fn crowded(&self) -> usize {
        match self.alone.len() < MIN_FOR_SCATTER {
            true => 0,
            false => self.values.len() - self.alone.len(),
        }
    }

    /// How many launches the result needs: what a crowded one says of the scatter is not the result's, and it is made again.
    fn need(&self, precision: f64) -> Need {
        let crowded = self.crowded();
        let values = match crowded {
            0 => &self.values,
            _ => &self.alone,
        };
        let launches =
            || launches_needed(values, precision, CONFIDENCE, MIN_LAUNCHES, MAX_LAUNCHES);
        Need {
            cost: self.cost(),
            done: self.launches,
            wanted: if self.out { 0 } else { launches() + crowded },
            least: MIN_LAUNCHES,
        }
    }
}

impl AfterPilot {
    /// Of all steps of all sides, each a track of its own.
    #[must_use]
    pub fn new(plans: &[&Plan], limits: Limits) -> Self {
        let mut tracks = vec![];
        let mut paired = vec![];
        for (side, plan) in plans.iter().enumerate() {
            let before = tracks.len();
            let steps = launched(plan);
            let own = steps.iter().enumerate();
            tracks.extend(own.map(|(step, (_, entry))| Track::new(side, step, entry)));
            paired.extend(plan.benchmarks.iter().map(|benchmark| {
                let with = |at: &usize| launched_with(benchmark, steps[*at].0);
                let own = (0..steps.len()).filter(with);
                own.map(|at| before + at).collect()
            }));
        }
        Self {
            limits,
            tracks,
            paired,
            stage: 0,
            rounds: VecDeque::new(),
            round: VecDeque::new(),
            next_round: 0,
            first: 0,
            expected_rounds: 0,
            expected_end: limits.budget,
        }
    }

    /// Begins the next stage; false after the last.
    fn begin_stage(&mut self, now: Duration) -> bool {
        let launches: Vec<usize> = match self.stage {
            0 => {
                self.first = self.next_round;
                let missing = |track: &Track| PILOT.saturating_sub(track.launches);
                self.tracks.iter().map(missing).collect()
            }
            1 => {
                let needed = self.allot(now);
                for track in &mut self.tracks {
                    track.replaced = track.crowded();
                }
                needed
            }
            2 => {
                let again = |track: &Track| {
                    (track.disturbed - track.replaced).min(track.launches / REPEATED)
                };
                self.tracks.iter().map(again).collect()
            }
            _ => return false,
        };
        self.expect(&launches, now);
        // a seed repeats the order of a whole run, but of a round for which there is no time; what goes on after a cut is in another order anyway
        let seed = self.limits.seed.wrapping_add(u64::from(self.first) << 8);
        self.rounds = rounds(&launches, seed.wrapping_add(self.stage)).into();
        self.stage += 1;
        true
    }

    /// How many more launches each track gets.
    fn allot(&self, now: Duration) -> Vec<usize> {
        let precision = self.limits.precision;
        let mut needs: Vec<Need> = self.tracks.iter().map(|t| t.need(precision)).collect();
        for group in &self.paired {
            let open = || group.iter().filter(|&&at| !self.tracks[at].out);
            let most = open().map(|&at| needs[at].wanted).max().unwrap_or(0);
            for &at in open() {
                needs[at].wanted = most;
            }
        }
        let left = self.limits.budget.saturating_sub(now).as_secs_f64();
        share(&needs, left * SHARED_OUT)
    }

    /// What a stage will take; of the pilot nothing is known.
    fn expect(&mut self, launches: &[usize], now: Duration) {
        if self.stage == 0 {
            self.expected_rounds = self.first as usize + PILOT;
            return;
        }
        let all = self.tracks.iter().zip(launches);
        let open: Vec<_> = all.filter(|(track, _)| !track.out).collect();
        let cost: f64 = open.iter().map(|(t, n)| t.cost() * **n as f64).sum();
        let rounds = open.iter().map(|(_, n)| **n).max().unwrap_or(0);
        self.expected_rounds = self.next_round as usize + rounds;
        self.expected_end = (now + Duration::from_secs_f64(cost)).min(self.limits.budget);
    }

    /// A round for which there is no time takes tracks that have few launches first, and of these the quick ones: so as many as can be
    /// have what a result needs.
    fn as_time_allows(&self, mut order: Vec<usize>, now: Duration) -> Vec<usize> {
        let cost = |at: &usize| self.tracks[*at].cost();
        let has = |at: &usize| self.tracks[*at].launches.min(MIN_LAUNCHES);
        order.retain(|&at| !self.tracks[at].out);
        let left = self.limits.budget.saturating_sub(now);
        if order.iter().map(cost).sum::<f64>() > left.as_secs_f64() {
            order.sort_by(|a, b| has(a).cmp(&has(b)).then(cost(a).total_cmp(&cost(b))));
        }
        // what is measured under the same load comes together, so that the load need not be started for each launch
        adjacent(&order, |at| self.tracks[at].load)
    }
}

/// The terms of a difference are paired round by round, as one copy and several are: they need launches in the same rounds.
fn launched_with(benchmark: &Benchmark, step: &Step) -> bool {
    match &benchmark.work {
        Work::Derived { .. } => step.copies == 1 && benchmark.work.parts().contains(&&step.id),
        _ => step.id == benchmark.id,
    }
}

impl Scheduler for AfterPilot {
    fn next(&mut self, now: Duration) -> Option<Slot> {
        loop {
            while let Some(at) = self.round.pop_front() {
                let track = &self.tracks[at];
                if now + Duration::from_secs_f64(track.cost()) <= self.limits.budget {
                    return Some(Slot {
                        side: track.side,
                        step: track.step,
                        round: self.next_round - 1,
                    });
                }
            }
            if let Some(order) = self.rounds.pop_front() {
                self.round = self.as_time_allows(order, now).into();
                self.next_round += 1;
            } else if !self.begin_stage(now) {
                return None;
            }
        }
    }

    fn observe(&mut self, slot: Slot, observed: &Observation<'_>) {
        self.next_round = self.next_round.max(slot.round.saturating_add(1));
        let of = |track: &&mut Track| (track.side, track.step) == (slot.side, slot.step);
        let Some(track) = self.tracks.iter_mut().find(of) else {
            return;
        };
        let learned = observed.learned;
        track.launches += 1;
        track.seconds += observed.seconds;
        track.disturbed += usize::from(learned.disturbed);
        if let Some(ns) = learned.ns_per_op {
            track.values.push(ns.ln());
            if !learned.crowded {
                track.alone.push(ns.ln());
            }
        }
        track.out = match observed.outcome {
            Outcome::Measured if track.exact => true,
            Outcome::Skipped(_) | Outcome::TimedOut(_) => true,
            _ => is_failing(track.launches - track.values.len(), track.values.len()),
        };
    }

    fn standing(&self) -> Standing<'_> {
        Standing::Rounds {
            rounds: self.expected_rounds,
            end: self.expected_end,
        }
    }
}
