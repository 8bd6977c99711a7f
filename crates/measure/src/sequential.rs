//! The scheduler of trials: pairs of sides in random order, until every step is decided or the time is over.

use crate::{Observation, Scheduler, Slot, Standing, is_failing};
use gritstone_stats::interim::{self, INTERIM_ANALYSES, MAX_PAIRS};
use gritstone_stats::paired_times::{Timed, Times};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

/// Launches of the program that does nothing.
const START_UP_LAUNCHES: u32 = 10;

#[derive(Clone, Copy, Debug)]
pub struct Design {
    /// Number of steps of each side.
    pub steps: usize,
    /// Two or more.
    pub sides: usize,
    /// The first side has an additional step: a program that does nothing, launched after the first step.
    pub start_up: bool,
    /// Sides are compared with the first, not with the best.
    pub reference: bool,
    /// Time for everything.
    pub budget: Duration,
    /// The smallest difference that counts, as a share.
    pub margin: f64,
    /// Seed of the orders.
    pub seed: u64,
}

/// One step, on all sides.
struct Track {
    times: Times,
    /// Sides of a ranking that get no more launches.
    dropped_sides: BTreeSet<usize>,
    /// Gets no more launches: it is decided, keeps failing, or does not fit the budget.
    closed: bool,
    seconds: f64,
    rounds: u32,
    failed: usize,
}

/// Launches of all sides in turns, with interim analyses.
pub struct Sequential {
    design: Design,
    random: Pcg64,
    tracks: Vec<Track>,
    rounds: u32,
    /// Steps left in the round.
    round: VecDeque<usize>,
    /// Launches left in the turn: one step in one round.
    turn: VecDeque<Slot>,
    /// The step of the turn.
    step: usize,
    /// Times in this turn, by side.
    turn_times: Vec<(usize, Option<Timed>)>,
}

impl Track {
    fn cost(&self) -> f64 {
        self.seconds / f64::from(self.rounds.max(1))
    }

    /// The last interim analysis is done, or launches keep failing.
    fn is_over(&self) -> bool {
        let mut pairs_by_side = self.times.compared_pairs().into_iter();
        pairs_by_side.all(|pairs| pairs >= MAX_PAIRS)
            || is_failing(self.failed, self.times.rounds())
    }

    fn is_analysis_due(&self) -> bool {
        let mut pairs_by_side = self.times.compared_pairs().into_iter();
        !self.closed && pairs_by_side.any(|pairs| INTERIM_ANALYSES.contains(&pairs))
    }
}

impl Sequential {
    pub fn new(design: Design) -> Self {
        let track = |_| Track {
            times: Times(vec![vec![]; design.sides]),
            dropped_sides: BTreeSet::new(),
            closed: false,
            seconds: 0.0,
            rounds: 0,
            failed: 0,
        };
        Self {
            design,
            random: Pcg64::seed_from_u64(design.seed),
            tracks: (0..design.steps).map(track).collect(),
            rounds: 0,
            round: VecDeque::new(),
            turn: VecDeque::new(),
            step: 0,
            turn_times: vec![],
        }
    }

    /// By step.
    pub fn times(&self) -> Vec<Times> {
        self.tracks.iter().map(|track| track.times.clone()).collect()
    }

    /// Plans one launch of a step on each remaining side, in random order; closes the step if they do not fit the budget.
    fn begin_turn(&mut self, step: usize, now: Duration) {
        let track = &mut self.tracks[step];
        if now + Duration::from_secs_f64(track.cost()) > self.design.budget {
            track.closed = true;
            return;
        }
        let remains = |side: &usize| !track.dropped_sides.contains(side);
        let mut order: Vec<usize> = (0..self.design.sides).filter(remains).collect();
        order.shuffle(&mut self.random);
        let round = self.rounds - 1;
        for side in order {
            self.turn.push_back(Slot { side, step, round });
            if self.design.start_up && (step, side) == (0, 0) && round < START_UP_LAUNCHES {
                let step = self.design.steps;
                self.turn.push_back(Slot { side, step, round });
            }
        }
        self.step = step;
    }

    /// After a round: closes decided steps and drops decided sides, if an interim analysis is due.
    fn analyze_if_due(&mut self) {
        for track in &mut self.tracks {
            track.closed |= track.is_over();
        }
        if !self.tracks.iter().any(Track::is_analysis_due) {
            return;
        }
        let judged = interim::decide_all(&self.times(), |_| self.design.margin, false);
        for (track, judged) in self.tracks.iter_mut().zip(&judged) {
            let reference = self.design.reference;
            track.closed |= interim::is_decided(&track.times, judged, reference);
            track.dropped_sides.extend(interim::dropped_sides(&track.times, judged, reference));
        }
    }
}

impl Scheduler for Sequential {
    fn next(&mut self, now: Duration) -> Option<Slot> {
        loop {
            if let Some(slot) = self.turn.pop_front() {
                return Some(slot);
            }
            if let Some(step) = self.round.pop_front() {
                self.begin_turn(step, now);
                continue;
            }
            self.analyze_if_due();
            let open = (0..self.tracks.len()).filter(|&step| !self.tracks[step].closed);
            let mut order: Vec<usize> = open.collect();
            if order.is_empty() {
                return None;
            }
            order.shuffle(&mut self.random);
            self.round = order.into();
            self.rounds += 1;
        }
    }

    fn observe(&mut self, slot: Slot, observed: &Observation<'_>) {
        let track = &mut self.tracks[self.step];
        track.seconds += observed.seconds;
        if slot.step == self.step {
            self.turn_times.push((slot.side, observed.learned.timed()));
        }
        if self.turn.is_empty() {
            track.rounds += 1;
            for (side, timed) in self.turn_times.drain(..) {
                track.failed += usize::from(timed.is_none());
                track.times.0[side].push(timed);
            }
        }
    }

    fn standing(&self) -> Standing<'_> {
        Standing::Turns {
            times: &self.tracks[self.step].times,
            margin: self.design.margin,
            rounds: None,
            end: self.design.budget,
        }
    }
}
