//! Whether another thread of the core was busy beside a sample. Two threads of one core share its places for
//! instructions: additions that wait for each other go on at one a cycle, additions that do not are slowed. So the pacer
//! of the latter, as a share of the former, is least when the core is ours alone, and that least is what it is held to.
//!
//! The work itself has no part in this, so that samples can be chosen by it and the figure is not bent towards fast ones.

use super::limits;
use super::reading::samples;
use gritstone_model::{Launch, Sample};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// What wide over pace was on each set of CPUs. What the core is when it is ours alone is the value that a tenth
/// of them stay below: alone they agree to a part in a thousand, but one in a hundred is off by a few per cent, to either side.
#[derive(Clone, Debug, Default)]
pub struct Floor(BTreeMap<Vec<u32>, Seen>);

/// What was seen on one set of CPUs, as bits, which positive numbers have in their own order: those up to the floor, which is the
/// greatest of them, and all others. A run sees tens of thousands, and asks after each launch.
#[derive(Clone, Debug, Default)]
struct Seen {
    least: BinaryHeap<u64>,
    rest: BinaryHeap<Reverse<u64>>,
}

/// The part of the readings that stay below the floor.
const BELOW: usize = 10;

impl Floor {
    /// That of nothing: nobody is held to it.
    pub(crate) const fn none() -> Self {
        Self(BTreeMap::new())
    }

    /// Takes in what a launch saw.
    pub fn see(&mut self, launch: &Launch) {
        for share in shares(launch) {
            let seen = self.0.entry(launch.cpus.clone()).or_default();
            seen.see(share);
        }
    }

    /// That of several launches.
    pub(crate) fn of<'a>(launches: impl IntoIterator<Item = &'a Launch>) -> Self {
        let mut all: BTreeMap<Vec<u32>, Vec<u64>> = BTreeMap::new();
        for launch in launches {
            let known = all.entry(launch.cpus.clone()).or_default();
            known.extend(shares(launch));
        }
        let each = all.into_iter();
        Self(each.map(|(cpus, seen)| (cpus, Seen::of(seen))).collect())
    }

    /// Whether the core was shared while the pacers ran that a launch on these CPUs reports.
    pub(crate) fn is_crowded(&self, cpus: &[u32], pace: u64, wide: u64) -> bool {
        match (self.0.get(cpus).and_then(Seen::floor), share(pace, wide)) {
            (Some(floor), Some(share)) => share > floor * (1.0 + limits::CROWDED_SHARE),
            _ => false,
        }
    }

    /// The samples beside which nobody else used the core.
    pub(crate) fn alone<'a>(&self, cpus: &[u32], samples: &[&'a Sample]) -> Vec<&'a Sample> {
        let alone = |sample: &&Sample| !self.is_crowded(cpus, sample.pace, sample.wide);
        samples.iter().copied().filter(alone).collect()
    }
}

impl Seen {
    /// How many of so many are up to the floor, the floor among them.
    fn up_to_the_floor(all: usize) -> usize {
        all.min(all / BELOW + 1)
    }

    fn of(mut all: Vec<u64>) -> Self {
        let count = Self::up_to_the_floor(all.len());
        if count < all.len() {
            all.select_nth_unstable(count);
        }
        let rest = all.split_off(count);
        Self {
            least: all.into(),
            rest: rest.into_iter().map(Reverse).collect(),
        }
    }

    fn see(&mut self, share: u64) {
        if self.least.peek().is_some_and(|floor| share < *floor) {
            self.least.push(share);
        } else {
            self.rest.push(Reverse(share));
        }
        let count = Self::up_to_the_floor(self.least.len() + self.rest.len());
        if self.least.len() > count {
            self.rest.extend(self.least.pop().map(Reverse));
        } else if self.least.len() < count {
            self.least
                .extend(self.rest.pop().map(|Reverse(share)| share));
        }
    }

    fn floor(&self) -> Option<f64> {
        self.least.peek().copied().map(f64::from_bits)
    }
}

/// What the pacers of a launch say, sample by sample, as bits.
fn shares(launch: &Launch) -> impl Iterator<Item = u64> {
    samples(launch)
        .filter_map(|sample| share(sample.pace, sample.wide))
        .map(f64::to_bits)
}

/// `None` where one of the pacers is missing.
fn share(pace: u64, wide: u64) -> Option<f64> {
    (pace > 0 && wide > 0).then(|| wide as f64 / pace as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_is_the_same_seen_one_by_one_and_at_once() {
        assert!(Seen::of(vec![]).floor().is_none());
        let mut state = 1_u64;
        let mut all = vec![];
        let mut seen = Seen::default();
        for count in 1..400 {
            // repeatable, with values that are there several times
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(count);
            let share = (1 + (state >> 33) % 90) as f64 / 64.0;
            all.push(share.to_bits());
            seen.see(share.to_bits());
            let mut sorted: Vec<f64> = all.iter().copied().map(f64::from_bits).collect();
            sorted.sort_by(f64::total_cmp);
            let floor = Some(sorted[sorted.len() / BELOW]);
            assert_eq!(seen.floor(), floor, "{count}");
            assert_eq!(Seen::of(all.clone()).floor(), floor, "{count}");
        }
    }
}
