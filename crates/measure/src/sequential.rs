//! The scheduler of comparisons: pairs of sides in random order, until every step is decided or the time is over.

use crate::{Observation, Scheduler, Slot, Standing, is_failing};
use gritstone_stats::interim::{self, LOOKS};
use gritstone_stats::paired_times::{Timed, Times};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

/// How often the program is launched that does nothing.
const START_UPS: u32 = 10;

/// What is compared.
#[derive(Clone, Copy, Debug)]
pub struct Design {
    /// Steps that every side has.
    pub steps: usize,
    /// Sides, two at least.
    pub sides: usize,
    /// Whether the first side has one step more: a program that does nothing, which is launched beside its first step.
    pub start_up: bool,
    /// Whether the others are compared with the first side, not with the best.
    pub reference: bool,
    /// Time for everything.
    pub budget: Duration,
    /// The smallest difference that counts, as a share.
    pub margin: f64,
    /// Seed of the orders.
    pub seed: u64,
}

/// A step, on all sides.
struct Track {
    times: Times,
    /// The sides that get no more launches, in a ranking of several.
    lost: BTreeSet<usize>,
    /// No more launches: it is decided, cannot be launched, or has no time left.
    out: bool,
    seconds: f64,
    rounds: u32,
    failed: usize,
}

/// Launches of all sides in turns.
pub struct Sequential {
    design: Design,
    coin: Pcg64,
    tracks: Vec<Track>,
    rounds: u32,
    /// Steps that are left in the round.
    round: VecDeque<usize>,
    /// What is left of the launches of one step in one round.
    turn: VecDeque<Slot>,
    /// The step that they are of.
    step: usize,
    /// What they took so far, by side.
    taken: Vec<(usize, Option<Timed>)>,
}

impl Track {
    fn cost(&self) -> f64 {
        self.seconds / f64::from(self.rounds.max(1))
    }

    /// Pairs that are enough whatever they say, or launches that fail.
    fn is_over(&self) -> bool {
        let mut kept = self.times.kept().into_iter();
        kept.all(|pairs| pairs >= LOOKS[LOOKS.len() - 1])
            || is_failing(self.failed, self.times.rounds())
    }

    fn is_look_due(&self) -> bool {
        let mut kept = self.times.kept().into_iter();
        !self.out && kept.any(|pairs| LOOKS.contains(&pairs))
    }
}

impl Sequential {
    /// Nothing launched yet.
    #[must_use]
    pub fn new(design: Design) -> Self {
        let track = |_| Track {
            times: Times(vec![vec![]; design.sides]),
            lost: BTreeSet::new(),
            out: false,
            seconds: 0.0,
            rounds: 0,
            failed: 0,
        };
        Self {
            design,
            coin: Pcg64::seed_from_u64(design.seed),
            tracks: (0..design.steps).map(track).collect(),
            rounds: 0,
            round: VecDeque::new(),
            turn: VecDeque::new(),
            step: 0,
            taken: vec![],
        }
    }

    /// Times of each step.
    #[must_use]
    pub fn times(&self) -> Vec<Times> {
        self.tracks
            .iter()
            .map(|track| track.times.clone())
            .collect()
    }

    /// One launch of a step on each side that is not out, in random order; none where there is no time.
    fn begin_turn(&mut self, step: usize, now: Duration) {
        let track = &mut self.tracks[step];
        if now + Duration::from_secs_f64(track.cost()) > self.design.budget {
            track.out = true;
            return;
        }
        let still_in = |side: &usize| !track.lost.contains(side);
        let mut order: Vec<usize> = (0..self.design.sides).filter(still_in).collect();
        order.shuffle(&mut self.coin);
        let round = self.rounds - 1;
        for side in order {
            self.turn.push_back(Slot { side, step, round });
            if self.design.start_up && (step, side) == (0, 0) && round < START_UPS {
                let step = self.design.steps;
                self.turn.push_back(Slot { side, step, round });
            }
        }
        self.step = step;
    }

    /// After a round: if it is time to look, what is decided gets no more launches, be it a step or a side of one.
    fn look(&mut self) {
        for track in &mut self.tracks {
            track.out |= track.is_over();
        }
        if !self.tracks.iter().any(Track::is_look_due) {
            return;
        }
        let judged = interim::judge(&self.times(), self.design.margin, false);
        for (track, judged) in self.tracks.iter_mut().zip(&judged) {
            let reference = self.design.reference;
            track.out |= interim::decided(&track.times, judged, reference);
            track
                .lost
                .extend(interim::lost(&track.times, judged, reference));
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
            self.look();
            let open = (0..self.tracks.len()).filter(|&step| !self.tracks[step].out);
            let mut order: Vec<usize> = open.collect();
            if order.is_empty() {
                return None;
            }
            order.shuffle(&mut self.coin);
            self.round = order.into();
            self.rounds += 1;
        }
    }

    fn observe(&mut self, slot: Slot, observed: &Observation<'_>) {
        let track = &mut self.tracks[self.step];
        track.seconds += observed.seconds;
        if slot.step == self.step {
            self.taken.push((slot.side, observed.learned.timed()));
        }
        if self.turn.is_empty() {
            track.rounds += 1;
            for (side, timed) in self.taken.drain(..) {
                track.failed += usize::from(timed.is_none());
                track.times.0[side].push(timed);
            }
        }
    }

    fn standing(&self) -> Standing<'_> {
        Standing::Turns {
            times: &self.tracks[self.step].times,
            margin: self.design.margin,
            end: self.design.budget,
        }
    }
}
