//! The state machine of a run: its stages, and the rounds of the current one.

use crate::rounds::rounds;
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// [`crate::PILOT`] launches of each track. Repeated for tracks that the budget postponed.
    Pilot,
    /// Launches of tracks whose interval is too wide. Repeated until no interval is, or none can be launched.
    Precision,
    /// Disturbed launches once more. The last stage.
    Repeats,
}

/// Facts at the end of a stage.
#[derive(Clone, Copy, Debug, Default)]
pub struct StageEnd {
    /// The stage had launches.
    pub has_launched: bool,
    /// The budget has room for tracks that it postponed.
    pub is_readmitting: bool,
    /// More launches would make an interval narrow enough, and fit.
    pub needs_precision: bool,
    pub quick: bool,
}

impl Stage {
    /// The stage after this one, if any.
    pub fn next(self, end: StageEnd) -> Option<Self> {
        let may_be_precise = self == Self::Pilot || end.has_launched;
        match self {
            Self::Repeats => None,
            _ if end.is_readmitting => Some(Self::Pilot),
            _ if may_be_precise && end.needs_precision => Some(Self::Precision),
            // a quick run has six launches on a busy machine too
            _ if end.quick => None,
            _ => Some(Self::Repeats),
        }
    }
}

/// The current stage and its rounds.
pub struct Stages {
    seed: u64,
    current: Option<Stage>,
    /// Launches before the current stage.
    launches_before: usize,
    /// First round of the last pilot.
    pilot_round: u32,
    since_pilot: u64,
    /// Later rounds of the stage.
    rounds: VecDeque<Vec<usize>>,
    /// The rest of the current round.
    round: VecDeque<usize>,
    next_round: u32,
    expected_rounds: usize,
}

impl Stages {
    pub fn new(seed: u64, expected_rounds: usize) -> Self {
        Self {
            seed,
            current: None,
            launches_before: 0,
            pilot_round: 0,
            since_pilot: 0,
            rounds: VecDeque::new(),
            round: VecDeque::new(),
            next_round: 0,
            expected_rounds,
        }
    }

    pub fn current(&self) -> Option<Stage> {
        self.current
    }

    pub fn has_launched(&self, launches: usize) -> bool {
        launches > self.launches_before
    }

    pub fn expected_rounds(&self) -> usize {
        self.expected_rounds
    }

    /// Begins a stage in which track `i` is launched `more[i]` times. `least_rounds` are expected of it and the stages after it.
    pub fn begin(&mut self, stage: Stage, more: &[usize], launches: usize, least_rounds: usize) {
        self.current = Some(stage);
        self.launches_before = launches;
        match stage {
            Stage::Pilot => (self.pilot_round, self.since_pilot) = (self.next_round, 0),
            Stage::Precision | Stage::Repeats => self.since_pilot += 1,
        }
        let more_rounds = more.iter().copied().max().unwrap_or(0);
        self.expected_rounds = self.next_round as usize + more_rounds.max(least_rounds);
        // A seed repeats the orders of a whole run. A resumed run continues in other orders.
        let pilot_seed = self.seed.wrapping_add(u64::from(self.pilot_round) << 8);
        self.rounds = rounds(more, pilot_seed.wrapping_add(self.since_pilot)).into();
    }

    pub fn sort_first_round<K: Ord>(&mut self, key: impl Fn(usize) -> K) {
        if let Some(first) = self.rounds.front_mut() {
            first.sort_by_key(|&track| key(track));
        }
    }

    /// The next track of the current round, with the number of the round.
    pub fn next_track(&mut self) -> Option<(usize, u32)> {
        Some((self.round.pop_front()?, self.next_round - 1))
    }

    pub fn take_next_round(&mut self) -> Option<Vec<usize>> {
        self.rounds.pop_front()
    }

    pub fn begin_round(&mut self, tracks: Vec<usize>) {
        self.round = tracks.into();
        self.next_round += 1;
    }

    /// Counts a round that was launched, maybe by an earlier process.
    pub fn observe_round(&mut self, round: u32) {
        self.next_round = self.next_round.max(round.saturating_add(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_follow_each_other() {
        let end = StageEnd::default();
        let launched = StageEnd { has_launched: true, ..end };
        let needs = |end| StageEnd { needs_precision: true, ..end };
        let quick = StageEnd { quick: true, ..end };
        let readmitting = StageEnd { is_readmitting: true, ..needs(launched) };
        use Stage::{Pilot, Precision, Repeats};
        for (stage, end, next) in [
            (Pilot, end, Some(Repeats)),
            (Pilot, needs(end), Some(Precision)),
            (Pilot, readmitting, Some(Pilot)),
            (Pilot, quick, None),
            (Precision, needs(launched), Some(Precision)),
            (Precision, needs(end), Some(Repeats)),
            (Precision, launched, Some(Repeats)),
            (Precision, quick, None),
            (Repeats, readmitting, None),
        ] {
            assert_eq!(stage.next(end), next, "{stage:?} {end:?}");
        }
    }
}
