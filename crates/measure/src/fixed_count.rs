//! Bounds on the number of launches, which override the decisions and the budget of a scheduler.

use crate::{Observation, Scheduler, Slot, Standing};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use std::collections::VecDeque;
use std::time::Duration;

/// Launches each side, of one step, at least `min` and at most `max` times.
pub struct Bounded {
    inner: Box<dyn Scheduler>,
    min: u32,
    max: u32,
    random: Pcg64,
    /// By side.
    launches: Vec<u32>,
    rounds: u32,
    inner_is_done: bool,
    /// Sides left in an additional round.
    turn: VecDeque<usize>,
}

impl Bounded {
    /// `seed` determines the orders of additional rounds.
    #[must_use]
    pub fn new(inner: Box<dyn Scheduler>, sides: usize, [min, max]: [u32; 2], seed: u64) -> Self {
        Self {
            inner,
            min,
            max,
            random: Pcg64::seed_from_u64(seed),
            launches: vec![0; sides],
            rounds: 0,
            inner_is_done: false,
            turn: VecDeque::new(),
        }
    }
}

impl Scheduler for Bounded {
    fn next(&mut self, now: Duration) -> Option<Slot> {
        if !self.inner_is_done {
            match self.inner.next(now).filter(|slot| slot.round < self.max) {
                Some(slot) => return Some(slot),
                None => self.inner_is_done = true,
            }
        }
        if self.turn.is_empty() {
            let short = (0..self.launches.len()).filter(|&side| self.launches[side] < self.min);
            let mut order: Vec<usize> = short.collect();
            order.shuffle(&mut self.random);
            self.turn = order.into();
            self.rounds += 1;
        }
        let side = self.turn.pop_front()?;
        Some(Slot {
            side,
            step: 0,
            round: self.rounds - 1,
        })
    }

    fn observe(&mut self, slot: Slot, observed: &Observation<'_>) {
        self.launches[slot.side] += 1;
        if !self.inner_is_done {
            self.rounds = self.rounds.max(slot.round + 1);
            self.inner.observe(slot, observed);
        }
    }

    fn standing(&self) -> Standing<'_> {
        match self.inner.standing() {
            Standing::Rounds { rounds, end } => {
                let [min, max] = [self.min, self.max].map(|n| n as usize);
                // sides that failed to start have rounds beyond those of the others
                let rounds = rounds.clamp(min, max).max(self.rounds as usize);
                Standing::Rounds { rounds, end }
            }
            Standing::Turns {
                times, margin, end, ..
            } => Standing::Turns {
                times,
                margin,
                rounds: (self.min == self.max).then_some(self.max as usize),
                end,
            },
        }
    }
}
