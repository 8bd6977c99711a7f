//! The scheduler of runs: a pilot, then in rounds and within the time as many launches as the intervals call for; last, those that
//! were disturbed once more.

use crate::prior_runs::{Earlier, Known};
use crate::rounds::{Need, adjacent, rounds, share, together};
use crate::{CONFIDENCE, Observation, Scheduler, Slot, Standing, is_failing, launched};
use gritstone_model::{Benchmark, Outcome, Plan, Quantity, Step, Work};
use gritstone_stats::plan::{launches_for, launches_needed};
use std::collections::VecDeque;
use std::time::Duration;

/// Launches of the pilot: the fewest that have an interval at 95%.
pub const PILOT: usize = 6;
/// Launches that a result needs to be compared.
pub(crate) const MIN_LAUNCHES: usize = 10;
/// Beyond this the drift of the machine, not the number of launches, limits what can be known.
pub(crate) const MAX_LAUNCHES: usize = 100;
/// Fewer values have hardly a scatter.
const MIN_FOR_SCATTER: usize = 3;
/// Of the launches of a track, at most one in this many is repeated because it was disturbed.
pub(crate) const REPEATED: usize = 4;
/// Part of the budget that is planned with; the rest is for launches that take longer than those before them.
const SHARED_OUT: f64 = 0.97;
/// Seconds of a launch that asks for nothing: the mean over 285 benchmarks (docs/validation.md).
const TYPICAL: f64 = 0.25;
/// Without a budget a run takes so many times as long as the fewest launches of everything, where intervals stay too wide: suite
/// `standard` ends in five minutes on two cores.
pub const AT_MOST: u32 = 5;

/// What bounds the measuring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Time for everything: it decides how many steps are begun. Without it all are, and where intervals are wider than asked
    /// for, there are more launches, for [`AT_MOST`] times as long as the fewest take.
    pub budget: Option<Duration>,
    /// Target half-width of intervals, as a share of the estimate.
    pub precision: f64,
    /// The pilot is everything.
    pub quick: bool,
    /// Seed of the orders.
    pub seed: u64,
}

impl Limits {
    /// Fewest launches of a step.
    fn least(&self) -> usize {
        if self.quick { PILOT } else { MIN_LAUNCHES }
    }
}

/// A step of a side, and what is known of it.
struct Track {
    side: usize,
    step: usize,
    /// Programs of the load that it is measured beside.
    load: usize,
    /// A size or a count: once is enough.
    exact: bool,
    /// What earlier runs tell.
    known: Known,
    /// Seconds of a launch by what its entry asks for.
    typical: f64,
    /// ln of the value of each launch that was measured.
    values: Vec<f64>,
    /// Of these, those of launches that had their core to themselves: the result is made of them.
    alone: Vec<f64>,
    launches: usize,
    /// Launches that it is to have in all, as far as is known.
    planned: usize,
    seconds: f64,
    disturbed: usize,
    /// Of the disturbed, those for which there was another launch in the second stage.
    replaced: usize,
    /// No more launches: it failed, timed out, cannot run, or does not fit into the budget.
    out: bool,
    /// Its pilot did not fit when it had its turn. It is asked again when the others have theirs: the first launches take longest.
    waiting: bool,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Six launches of everything.
    Pilot,
    /// Launches for those whose interval is too wide, until none is or the time is spent. How many launches there were before the
    /// last such stage.
    More(Option<usize>),
    /// Nothing, after the repeats of disturbed launches.
    End,
}

/// A pilot, the launches that intervals call for, and repeats of disturbed ones.
pub struct AfterPilot {
    limits: Limits,
    tracks: Vec<Track>,
    /// Tracks that are launched in the same rounds: each track is in one group.
    groups: Vec<Vec<usize>>,
    /// The stage that begins next.
    stage: Stage,
    /// Stages since the first round.
    stages: u64,
    /// Rounds of the stage that are to come.
    rounds: VecDeque<Vec<usize>>,
    /// What is left of the round.
    round: VecDeque<usize>,
    next_round: u32,
    /// The first round of this process.
    first: u32,
    /// The track that was begun last, until it is known whether its pilot fits.
    begun: Option<usize>,
    /// The budget is spoken for: nothing else is begun in this pilot.
    full: bool,
    /// Launches before this pilot.
    before: usize,
    expected_rounds: usize,
    expected_end: Duration,
}

impl Track {
    fn new(side: usize, step: usize, benchmark: &Benchmark, known: Known, least: usize) -> Self {
        let exact = matches!(benchmark.unit.quantity(), Quantity::Exact);
        Self {
            side,
            step,
            load: benchmark.load().len(),
            exact,
            known,
            typical: typical(benchmark),
            values: vec![],
            alone: vec![],
            launches: 0,
            planned: if exact { 1 } else { least },
            seconds: 0.0,
            disturbed: 0,
            replaced: 0,
            out: false,
            waiting: false,
        }
    }

    /// Seconds of a launch: its own, else those of earlier runs.
    fn cost(&self) -> Option<f64> {
        match self.launches {
            0 => self.known.seconds,
            launches => Some(self.seconds / launches as f64),
        }
    }

    /// Launches that are to come, of so many in all.
    fn missing(&self, of: usize) -> usize {
        let of = if self.exact { 1 } else { of };
        if self.out {
            return 0;
        }
        of.saturating_sub(self.launches)
    }

    /// Launches that are not to be in the result. Where hardly any was alone, all of them must do.
    fn crowded(&self) -> usize {
        match self.alone.len() < MIN_FOR_SCATTER {
            true => 0,
            false => self.values.len() - self.alone.len(),
        }
    }

    /// How many launches the result needs, as far as is known: what a crowded one says of the scatter is not the result's, and it is
    /// made again.
    fn wanted(&self, limits: &Limits) -> usize {
        let (precision, crowded) = (limits.precision, self.crowded());
        let values = match crowded {
            0 => &self.values,
            _ => &self.alone,
        };
        if limits.quick {
            return crowded + PILOT;
        }
        let first = self.known.ln_sd.map_or(MIN_LAUNCHES, |sd| {
            launches_for(sd, precision, CONFIDENCE, MIN_LAUNCHES, MAX_LAUNCHES)
        });
        let more = || launches_needed(values, precision, CONFIDENCE, MAX_LAUNCHES);
        crowded
            + match values.len() < first {
                true => first,
                false => more(),
            }
    }
}

impl AfterPilot {
    /// Of all steps of all sides, each a track of its own, of which earlier runs tell this.
    #[must_use]
    pub fn new(plans: &[&Plan], limits: Limits, earlier: &Earlier) -> Self {
        let mut tracks = vec![];
        let mut paired: Vec<Vec<usize>> = vec![];
        for (side, plan) in plans.iter().enumerate() {
            let before = tracks.len();
            let steps = launched(plan);
            let own = steps.iter().enumerate();
            tracks.extend(own.map(|(at, (step, entry))| {
                let known = earlier.get(&(step.id.clone(), step.copies));
                Track::new(
                    side,
                    at,
                    entry,
                    known.copied().unwrap_or_default(),
                    limits.least(),
                )
            }));
            paired.extend(plan.benchmarks.iter().map(|benchmark| {
                let with = |at: &usize| launched_with(benchmark, steps[*at].0);
                let own = (0..steps.len()).filter(with);
                own.map(|at| before + at).collect()
            }));
        }
        let groups = together(tracks.len(), &paired);
        let mut scheduler = Self {
            limits,
            tracks,
            groups,
            stage: Stage::Pilot,
            stages: 0,
            rounds: VecDeque::new(),
            round: VecDeque::new(),
            next_round: 0,
            first: 0,
            begun: None,
            full: false,
            before: 0,
            expected_rounds: limits.least(),
            expected_end: Duration::ZERO,
        };
        scheduler.expect(Duration::ZERO);
        scheduler
    }

    /// How long the fewest launches of everything take, as far as is known beforehand.
    #[must_use]
    pub fn expected(&self) -> Duration {
        let least = self.limits.least();
        self.time_of(|track| track.missing(least))
    }

    fn time_of(&self, launches: impl Fn(&Track) -> usize) -> Duration {
        let slowness = self.slowness().unwrap_or(1.0);
        let cost = |track: &Track| track.cost().unwrap_or(track.typical * slowness);
        let all = self
            .tracks
            .iter()
            .map(|track| cost(track) * launches(track) as f64);
        Duration::from_secs_f64(all.sum())
    }

    /// Seconds of the launches that are known for each that their entries tell.
    fn slowness(&self) -> Option<f64> {
        let known = self
            .tracks
            .iter()
            .filter_map(|track| Some((track.cost()?, track.typical)));
        let (took, typical) = known.fold((0.0, 0.0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
        (typical > 0.0).then_some(took / typical)
    }

    /// After a pilot with which something waited: whether there is another, for what fits now. Where a pilot made no launch, what
    /// waits is not reached.
    fn is_another_pilot_due(&mut self, now: Duration) -> bool {
        let waiting: Vec<usize> = (0..self.tracks.len())
            .filter(|&at| self.tracks[at].waiting)
            .collect();
        let due = !waiting.is_empty() && self.launches() > self.before;
        for at in waiting {
            let begun = self.tracks[at].launches > 0;
            let goes_on = due && (!begun || self.fits(at, now));
            self.tracks[at].waiting = false;
            self.tracks[at].out |= !goes_on;
        }
        self.full = false;
        due
    }

    /// Launches of all tracks.
    fn launches(&self) -> usize {
        self.tracks.iter().map(|track| track.launches).sum()
    }

    /// What each track gets in the next stage; nothing after the last.
    fn stage_due(&mut self, now: Duration) -> Option<Vec<usize>> {
        let launches = self.launches();
        if matches!(self.stage, Stage::More(_)) && self.is_another_pilot_due(now) {
            self.stage = Stage::Pilot;
        }
        if self.stage == Stage::Pilot {
            self.stage = Stage::More(None);
            (self.first, self.stages, self.before) = (self.next_round, 0, launches);
            return Some(self.tracks.iter().map(|t| t.missing(PILOT)).collect());
        }
        // a stage in which no launch fitted is followed by no other of its kind
        if let Stage::More(before) = self.stage
            && before.is_none_or(|before| launches > before)
        {
            let needed = self.allot(now);
            if needed.iter().any(|&more| more > 0) {
                self.stage = Stage::More(Some(launches));
                for track in &mut self.tracks {
                    track.replaced = track.crowded();
                }
                return Some(needed);
            }
        }
        // six launches are six, also where the machine is busy
        if self.stage == Stage::End || self.limits.quick {
            return None;
        }
        self.stage = Stage::End;
        let again =
            |track: &Track| (track.disturbed - track.replaced).min(track.launches / REPEATED);
        Some(self.tracks.iter().map(again).collect())
    }

    /// Begins the next stage; false after the last.
    fn begin_stage(&mut self, now: Duration) -> bool {
        let Some(launches) = self.stage_due(now) else {
            return false;
        };
        let pilot = self.stages == 0;
        if pilot {
            self.expected_rounds = self.first as usize + self.limits.least();
        } else {
            for (track, more) in self.tracks.iter_mut().zip(&launches) {
                track.planned = track.launches + more;
            }
            let most = launches.iter().copied().max().unwrap_or(0);
            self.expected_rounds = self.next_round as usize + most;
        }
        // a seed repeats the order of a whole run, but of a round for which there is no time; what goes on after a cut is in another order anyway
        let seed = self.limits.seed.wrapping_add(u64::from(self.first) << 8);
        self.rounds = rounds(&launches, seed.wrapping_add(self.stages)).into();
        if let (true, Some(_), Some(first)) = (pilot, self.limits.budget, self.rounds.front_mut()) {
            // the budget decides what is begun, in the order of the plan; of several sides, each step on all of them
            first.sort_by_key(|&at| (self.tracks[at].step, self.tracks[at].side));
        }
        self.stages += 1;
        true
    }

    /// How many more launches each track gets.
    fn allot(&self, now: Duration) -> Vec<usize> {
        let needs: Vec<Need> = self.groups.iter().map(|group| self.need(group)).collect();
        let left =
            |need: &Need| need.cost * (f64::from(AT_MOST) * need.least as f64 - need.done as f64);
        let seconds = match self.limits.budget {
            Some(budget) => budget.saturating_sub(now).as_secs_f64() * SHARED_OUT,
            None => needs.iter().map(left).sum(),
        };
        let mut more = vec![0; self.tracks.len()];
        for (group, all) in self.groups.iter().zip(share(&needs, seconds)) {
            for &at in group {
                more[at] = self.tracks[at].missing(all);
            }
        }
        more
    }

    /// What a group needs: as many launches as the one of them that needs most.
    fn need(&self, group: &[usize]) -> Need {
        let tracks = group.iter().map(|&at| &self.tracks[at]);
        let open: Vec<&Track> = tracks.filter(|track| !track.out).collect();
        Need {
            cost: open.iter().filter_map(|track| track.cost()).sum(),
            done: open.iter().map(|track| track.launches).min().unwrap_or(0),
            wanted: open
                .iter()
                .map(|t| t.wanted(&self.limits))
                .max()
                .unwrap_or(0),
            least: self.limits.least(),
        }
    }

    /// What is to come of what is planned.
    fn expect(&mut self, now: Duration) {
        let end = now + self.time_of(|track| track.missing(track.planned));
        self.expected_end = self.limits.budget.map_or(end, |budget| end.min(budget));
    }

    /// Whether the pilots of all that is begun fit into the budget, with that of `at` beside them.
    fn fits(&self, at: usize, now: Duration) -> bool {
        let Some(budget) = self.limits.budget else {
            return true;
        };
        let begun: f64 = self
            .tracks
            .iter()
            .filter(|track| track.launches > 0)
            .filter_map(|track| Some(track.cost()? * track.missing(PILOT) as f64))
            .sum();
        let track = &self.tracks[at];
        // the first is begun whatever it takes
        let unknown = || Some(track.typical * self.slowness()?);
        let cost = track.cost().or_else(unknown).unwrap_or(0.0);
        let own = if track.launches > 0 {
            0.0
        } else {
            cost * track.missing(PILOT) as f64
        };
        now.as_secs_f64() + begun + own <= budget.as_secs_f64() * SHARED_OUT
    }

    /// Whether a track has its turn. One is begun only if its pilot fits, and what turns out not to fit waits: a result without an
    /// interval helps nobody.
    fn has_its_turn(&mut self, at: usize, now: Duration) -> bool {
        if let Some(last) = self.begun.take()
            && !self.fits(last, now)
            && self
                .tracks
                .iter()
                .filter(|track| track.launches > 0)
                .count()
                > 1
        {
            self.tracks[last].waiting = true;
            self.full = true;
        }
        let track = &self.tracks[at];
        if track.out || track.waiting {
            return false;
        }
        if track.launches == 0 {
            self.full |= !self.fits(at, now);
            self.tracks[at].waiting = self.full;
            self.begun = Some(at).filter(|_| !self.full);
            return !self.full;
        }
        let end = now + Duration::from_secs_f64(track.cost().unwrap_or(0.0));
        self.limits.budget.is_none_or(|budget| end <= budget)
    }

    /// A round for which there is no time takes tracks that have few launches first, and of these the quick ones: so as many as can be
    /// have what a result needs.
    fn as_time_allows(&self, mut order: Vec<usize>, now: Duration) -> Vec<usize> {
        let cost = |at: &usize| self.tracks[*at].cost().unwrap_or(0.0);
        let has = |at: &usize| self.tracks[*at].launches.min(MIN_LAUNCHES);
        order.retain(|&at| !self.tracks[at].out);
        // which are begun is not a matter of time alone
        if let Some(budget) = self
            .limits
            .budget
            .filter(|_| order.iter().all(|at| has(at) > 0))
        {
            let left = budget.saturating_sub(now);
            if order.iter().map(cost).sum::<f64>() > left.as_secs_f64() {
                order.sort_by(|a, b| has(a).cmp(&has(b)).then(cost(a).total_cmp(&cost(b))));
            }
        }
        // what is measured under the same load comes together, so that the load need not be started for each launch
        adjacent(&order, |at| self.tracks[at].load)
    }
}

/// Seconds of a launch of which nothing else is known: the samples of a workload, and finding how many operations one takes. A target without
/// a limit of the samples tells nothing: workloads that end at the most operations that they can do have one that is never reached.
fn typical(benchmark: &Benchmark) -> f64 {
    let asked = |key: &str| match &benchmark.work {
        Work::Kernel(work) => work.params.get(key)?.parse::<f64>().ok(),
        _ => None,
    };
    let samples = asked("sample_ns").unwrap_or(0.0);
    let found = asked("target_ns").unwrap_or(0.0).min(samples);
    TYPICAL.max((samples + 2.0 * found) / 1e9)
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
                if self.has_its_turn(at, now) {
                    self.expect(now);
                    let track = &self.tracks[at];
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
