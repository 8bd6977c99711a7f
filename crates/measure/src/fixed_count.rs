//! A scheduler whose launches are counted: so many of each side at least, whatever it has decided and whatever time is left, and so
//! many at most.

use crate::{Observation, Scheduler, Slot, Standing};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use std::collections::VecDeque;
use std::time::Duration;

/// The launches of another scheduler, of sides with one step each, no fewer and no more than asked for.
pub struct Bounded {
    inner: Box<dyn Scheduler>,
    least: u32,
    most: u32,
    coin: Pcg64,
    /// Launches of each side.
    made: Vec<u32>,
    rounds: u32,
    inner_is_done: bool,
    /// What is left of a round of ours.
    turn: VecDeque<usize>,
}

impl Bounded {
    /// Of so many sides; `seed` is that of the orders of its own rounds.
    #[must_use]
    pub fn new(
        inner: Box<dyn Scheduler>,
        sides: usize,
        [least, most]: [u32; 2],
        seed: u64,
    ) -> Self {
        Self {
            inner,
            least,
            most,
            coin: Pcg64::seed_from_u64(seed),
            made: vec![0; sides],
            rounds: 0,
            inner_is_done: false,
            turn: VecDeque::new(),
        }
    }
}

impl Scheduler for Bounded {
    fn next(&mut self, now: Duration) -> Option<Slot> {
        if !self.inner_is_done {
            match self.inner.next(now).filter(|slot| slot.round < self.most) {
                Some(slot) => return Some(slot),
                None => self.inner_is_done = true,
            }
        }
        if self.turn.is_empty() {
            let short = (0..self.made.len()).filter(|&side| self.made[side] < self.least);
            let mut order: Vec<usize> = short.collect();
            order.shuffle(&mut self.coin);
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
        self.made[slot.side] += 1;
        if !self.inner_is_done {
            self.rounds = self.rounds.max(slot.round + 1);
            self.inner.observe(slot, observed);
        }
    }

    fn standing(&self) -> Standing<'_> {
        self.inner.standing()
    }
}
