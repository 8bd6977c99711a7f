//! Bounds on the number of executions, which override the decisions and the budget of a scheduler.

use crate::{Observation, Scheduler, Slot, Standing};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use std::collections::VecDeque;
use std::time::Duration;

/// Executes each side, of one step, at least `min` times, and begins no launch after `max` executions.
pub struct Bounded {
    inner: Box<dyn Scheduler>,
    min: u32,
    max: u32,
    random: Pcg64,
    /// By side.
    launches: Vec<u32>,
    executions: Vec<u32>,
    seconds: Vec<f64>,
    now: Duration,
    rounds: u32,
    inner_is_done: bool,
    /// Sides left in an additional round.
    turn: VecDeque<usize>,
}

impl Bounded {
    /// `seed` determines the orders of additional rounds.
    pub fn new(inner: Box<dyn Scheduler>, sides: usize, [min, max]: [u32; 2], seed: u64) -> Self {
        Self {
            inner,
            min,
            max,
            random: Pcg64::seed_from_u64(seed),
            launches: vec![0; sides],
            executions: vec![0; sides],
            seconds: vec![0.0; sides],
            now: Duration::ZERO,
            rounds: 0,
            inner_is_done: false,
            turn: VecDeque::new(),
        }
    }
}

impl Bounded {
    /// Rounds of a side after which it has `executions`, by those that its launches had so far.
    fn rounds_until(&self, side: usize, executions: u32) -> usize {
        let (launches, done) = (self.launches[side].max(1), self.executions[side].max(1));
        let missing = u64::from(executions.saturating_sub(self.executions[side]));
        let launches = u64::from(launches);
        let more = (missing * launches).div_ceil(u64::from(done));
        self.launches[side] as usize + usize::try_from(more).unwrap_or(usize::MAX)
    }

    fn most_rounds_until(&self, executions: u32) -> usize {
        let sides = 0..self.launches.len();
        let rounds = sides.map(|side| self.rounds_until(side, executions));
        rounds.max().unwrap_or(0)
    }

    /// When all sides have `executions`, by the time that each took so far; `None` before the first.
    fn end_at(&self, executions: u32) -> Option<Duration> {
        let (mut seconds, mut known) = (0.0, 0.0);
        for (spent, &done) in self.seconds.iter().zip(&self.executions) {
            let missing = f64::from(executions.saturating_sub(done));
            if done > 0 {
                seconds += missing * spent / f64::from(done);
                known += 1.0;
            }
        }
        let of_all = seconds * self.executions.len() as f64 / known;
        let left = Duration::try_from_secs_f64(of_all).ok().filter(|_| known > 0.0)?;
        self.now.checked_add(left)
    }

    fn end(&self, of_inner: Duration) -> Duration {
        let least = self.end_at(self.min).unwrap_or_default();
        of_inner.max(least).min(self.end_at(self.max).unwrap_or(Duration::MAX))
    }
}

impl Scheduler for Bounded {
    fn next(&mut self, now: Duration) -> Option<Slot> {
        self.now = now;
        if !self.inner_is_done {
            let next = self.inner.next(now);
            match next.filter(|slot| self.executions[slot.side] < self.max) {
                Some(slot) => return Some(slot),
                None => self.inner_is_done = true,
            }
        }
        if self.turn.is_empty() {
            let sides = 0..self.executions.len();
            let mut order: Vec<usize> =
                sides.filter(|&side| self.executions[side] < self.min).collect();
            order.shuffle(&mut self.random);
            self.turn = order.into();
            self.rounds += 1;
        }
        let side = self.turn.pop_front()?;
        Some(Slot { side, step: 0, round: self.rounds - 1 })
    }

    fn observe(&mut self, slot: Slot, observed: &Observation<'_>) {
        self.launches[slot.side] += 1;
        self.executions[slot.side] += observed.executions;
        self.seconds[slot.side] += observed.seconds;
        if !self.inner_is_done {
            self.rounds = self.rounds.max(slot.round + 1);
            self.inner.observe(slot, observed);
        }
    }

    fn standing(&self) -> Standing<'_> {
        let most = self.most_rounds_until(self.max);
        match self.inner.standing() {
            Standing::Rounds { rounds, end } => {
                let least = self.most_rounds_until(self.min).min(most);
                // the round that begins now
                let now = self.rounds as usize + usize::from(!self.inner_is_done);
                let rounds = rounds.clamp(least, most).max(now);
                Standing::Rounds { rounds, end: self.end(end) }
            }
            Standing::Turns { times, margin, end, .. } => Standing::Turns {
                times,
                margin,
                rounds: (self.min == self.max).then(|| most.max(times.rounds())),
                end: self.end(end),
            },
        }
    }
}
