//! The scheduler of runs: a pilot, then in rounds and within the budget as many launches as the intervals need, last repeats of
//! disturbed launches.

use crate::budget::{Budget, duration_of};
use crate::limits::{Limits, MAX_TIME_FACTOR, PILOT};
use crate::prior_runs::PriorRuns;
use crate::rounds::{Need, merge_groups, share};
use crate::stages::{Stage, StageEnd, Stages};
use crate::track::Track;
use crate::{Observation, Scheduler, Slot, Standing, steps_with_entries};
use gritstone_model::{Benchmark, Plan, Step, Work};
use std::time::Duration;

/// A pilot, the launches that intervals need, and repeats of disturbed ones.
pub struct AfterPilot {
    limits: Limits,
    tracks: Vec<Track>,
    /// Tracks that are launched in the same rounds: each track is in one group.
    groups: Vec<Vec<usize>>,
    budget: Budget,
    stages: Stages,
    expected_end: Duration,
}

impl AfterPilot {
    /// Schedules all steps of all sides, each a track of its own.
    pub fn new(plans: &[&Plan], limits: Limits, prior_runs: &PriorRuns) -> Self {
        let mut tracks = vec![];
        let mut paired: Vec<Vec<usize>> = vec![];
        for (side, plan) in plans.iter().enumerate() {
            let first = tracks.len();
            let steps = steps_with_entries(plan);
            tracks.extend(steps.iter().enumerate().map(|(index, (step, entry))| {
                let prior = prior_runs.get(&(step.id.clone(), step.copies));
                let prior = prior.copied().unwrap_or_default();
                Track::new(side, index, entry, prior, limits.min_launches())
            }));
            paired.extend(plan.benchmarks.iter().map(|benchmark| {
                let with = |index: &usize| is_launched_with(benchmark, steps[*index].0);
                let indices = (0..steps.len()).filter(with);
                indices.map(|index| first + index).collect()
            }));
        }
        let budget = Budget::new(&limits);
        Self {
            groups: merge_groups(tracks.len(), &paired),
            expected_end: budget.expected_end(Duration::ZERO, &tracks),
            stages: Stages::new(limits.seed, limits.min_launches()),
            limits,
            tracks,
            budget,
        }
    }

    /// Expected time of the fewest launches of everything.
    pub fn expected(&self) -> Duration {
        let least = self.limits.min_launches();
        duration_of(&self.tracks, |track| track.missing(least))
    }

    /// Begins the next stage; false after the last.
    fn begin_stage(&mut self, now: Duration) -> bool {
        let launches: usize = self.tracks.iter().map(|track| track.launches).sum();
        let Some((stage, needed)) = self.next_stage(now, launches) else {
            return false;
        };
        let mut least_rounds = 0;
        let tracks = self.tracks.iter_mut();
        let more: Vec<usize> = match stage {
            Stage::Pilot => {
                least_rounds = self.limits.min_launches();
                tracks.map(|track| track.missing(PILOT)).collect()
            }
            Stage::Precision => {
                for (track, more) in tracks.zip(&needed) {
                    track.plan_for_precision(*more);
                }
                needed
            }
            Stage::Repeats => tracks.map(Track::plan_repeats).collect(),
        };
        self.stages.begin(stage, &more, launches, least_rounds);
        if stage == Stage::Pilot && self.budget.is_limited() {
            // a budget begins tracks in the order of the plan, a step on all sides
            let tracks = &self.tracks;
            self.stages.sort_first_round(|index| (tracks[index].step, tracks[index].side));
        }
        true
    }

    /// The next stage, and the launches that precision needs.
    fn next_stage(&mut self, now: Duration, launches: usize) -> Option<(Stage, Vec<usize>)> {
        let Some(ended) = self.stages.current() else {
            return Some((Stage::Pilot, vec![]));
        };
        let has_launched = self.stages.has_launched(launches);
        let is_readmitting = self.budget.readmit(&mut self.tracks, now, has_launched);
        let needed = self.allot(now);
        let end = StageEnd {
            has_launched,
            is_readmitting,
            needs_precision: needed.iter().any(|&more| more > 0),
            quick: self.limits.quick,
        };
        Some((ended.next(end)?, needed))
    }

    /// How many more launches each track gets for precision.
    fn allot(&self, now: Duration) -> Vec<usize> {
        let needs: Vec<Need> = self.groups.iter().map(|group| self.need(group)).collect();
        let without_budget = |need: &Need| {
            need.cost * (f64::from(MAX_TIME_FACTOR) * need.min_launches as f64 - need.done as f64)
        };
        let mut seconds = self.budget.seconds_left(now);
        if !self.budget.is_limited() {
            seconds = seconds.min(needs.iter().map(without_budget).sum());
        }
        let mut more = vec![0; self.tracks.len()];
        for (group, total) in self.groups.iter().zip(share(&needs, seconds)) {
            // the time limits what is more than an interval needs
            let total = match self.budget.is_limited() {
                true => total,
                false => total.max(PILOT + self.failed(group)),
            };
            for &index in group {
                more[index] = self.tracks[index].missing(total);
            }
        }
        more
    }

    /// A group needs as many launches as the track in it that needs most.
    fn need(&self, group: &[usize]) -> Need {
        let tracks = group.iter().map(|&index| &self.tracks[index]);
        let open: Vec<&Track> = tracks.filter(|track| !track.closed).collect();
        let wanted = open.iter().map(|track| track.wanted(&self.limits));
        Need {
            cost: open.iter().filter_map(|track| track.cost()).sum(),
            done: open.iter().map(|track| track.launches).min().unwrap_or(0),
            wanted: wanted.max().unwrap_or(0),
            min_launches: self.limits.min_launches() + self.failed(group),
        }
    }

    /// Most failed launches of an open track.
    fn failed(&self, group: &[usize]) -> usize {
        let tracks = group.iter().map(|&index| &self.tracks[index]);
        tracks.filter(|track| !track.closed).map(Track::failed).max().unwrap_or(0)
    }
}

/// The terms of a difference are paired round by round, and so are one copy and several: they need launches in the same rounds.
fn is_launched_with(benchmark: &Benchmark, step: &Step) -> bool {
    match &benchmark.work {
        Work::Derived { .. } => step.copies == 1 && benchmark.work.parts().contains(&&step.id),
        _ => step.id == benchmark.id,
    }
}

impl Scheduler for AfterPilot {
    fn next(&mut self, now: Duration) -> Option<Slot> {
        self.budget.review_begun(&self.tracks, now);
        loop {
            while let Some((index, round)) = self.stages.next_track() {
                if self.budget.may_launch(index, &self.tracks, now) {
                    self.expected_end = self.budget.expected_end(now, &self.tracks);
                    let Track { side, step, .. } = self.tracks[index];
                    return Some(Slot { side, step, round });
                }
            }
            if let Some(round) = self.stages.take_next_round() {
                let round = self.budget.order_round(round, &self.tracks, now);
                self.stages.begin_round(round);
            } else if !self.begin_stage(now) {
                return None;
            }
        }
    }

    fn observe(&mut self, slot: Slot, observed: &Observation<'_>) {
        self.stages.observe_round(slot.round);
        let mut tracks = self.tracks.iter_mut();
        if let Some(track) = tracks.find(|t| (t.side, t.step) == (slot.side, slot.step)) {
            track.observe(observed);
        }
    }

    fn standing(&self) -> Standing<'_> {
        Standing::Rounds { rounds: self.stages.expected_rounds(), end: self.expected_end }
    }
}
