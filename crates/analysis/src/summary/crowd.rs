//! Whether another thread of the core was busy beside a sample. Two threads of one core share its places for
//! instructions: additions that wait for each other go on at one a cycle, additions that do not are slowed. So the cycle probe
//! of the latter, as a share of the former, is least when the core is ours alone, and that least is what it is held to.
//!
//! The work itself has no part in this, so that samples can be chosen by it and the figure is not bent towards fast ones.

use super::limits;
use super::reading::samples;
use gritstone_model::{Launch, Sample};
use std::collections::BTreeMap;

/// What wide over pace was on each set of CPUs, in order. What the core is when it is ours alone is the value that a tenth
/// of them stay below: alone they agree to a part in a thousand, but one in a hundred is off by a few per cent, to either side.
#[derive(Clone, Debug, Default)]
pub struct Floor(BTreeMap<Vec<u32>, Vec<f64>>);

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
            seen.insert(seen.partition_point(|known| *known < share), share);
        }
    }

    /// That of several launches.
    pub(crate) fn of<'a>(launches: impl IntoIterator<Item = &'a Launch>) -> Self {
        let mut all = Self::default();
        for launch in launches {
            let known = all.0.entry(launch.cpus.clone()).or_default();
            known.extend(shares(launch));
        }
        for seen in all.0.values_mut() {
            seen.sort_unstable_by(f64::total_cmp);
        }
        all
    }

    /// Whether the core was shared while the probes ran that a launch on these CPUs reports.
    pub(crate) fn is_crowded(&self, cpus: &[u32], pace: u64, wide: u64) -> bool {
        let floor = self
            .0
            .get(cpus)
            .and_then(|seen| seen.get(seen.len() / BELOW));
        match (floor, share(pace, wide)) {
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

/// What the probes of a launch say, sample by sample.
fn shares(launch: &Launch) -> impl Iterator<Item = f64> {
    samples(launch).filter_map(|sample| share(sample.pace, sample.wide))
}

/// `None` where one of the probes is missing.
fn share(pace: u64, wide: u64) -> Option<f64> {
    (pace > 0 && wide > 0).then(|| wide as f64 / pace as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gritstone_model::{Conditions, Event, Id, Outcome};

    #[test]
    fn the_floor_is_the_same_seen_one_by_one_and_at_once() {
        let launch = |wide: u64| Launch {
            id: Id::parse("a/b").unwrap(),
            round: 0,
            start: 0,
            cpus: vec![0],
            copies: 1,
            outcome: Outcome::Measured,
            events: vec![Event::Sample(Box::new(Sample {
                n: 1,
                pace: 64,
                wide,
                ..Sample::default()
            }))],
            conditions: Conditions::default(),
        };
        let mut state = 1_u64;
        let (mut launches, mut one_by_one) = (vec![], Floor::default());
        for count in 1..400 {
            // repeatable, with values that are there several times
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(count);
            launches.push(launch(1 + (state >> 33) % 90));
            one_by_one.see(&launches[launches.len() - 1]);
            assert_eq!(one_by_one.0, Floor::of(&launches).0, "{count}");
        }
        // a tenth of 399 values that lie evenly from 1 to 90 is below 9 or so
        assert!(!one_by_one.is_crowded(&[0], 64, 7));
        assert!(one_by_one.is_crowded(&[0], 64, 12));
        assert!(!one_by_one.is_crowded(&[1], 64, 90));
    }
}
