//! Whether another thread of the core was busy beside a sample. Two threads of one core share its places for
//! instructions: additions that wait for each other go on at one a cycle, additions that do not are slowed. So the pacer
//! of the latter, as a share of the former, is least when the core is ours alone, and that least is what it is held to.
//!
//! The work itself has no part in this, so that samples can be chosen by it and the figure is not bent towards fast ones.
//! Must not know: the work that was timed, other conditions, footnotes.

use super::limits;
use super::reading::samples;
use gritstone_model::{Launch, Sample};
use std::collections::BTreeMap;

/// What wide over pace was on each set of CPUs, from the least. What the core is when it is ours alone is the value that a tenth
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
            let known = self.0.entry(launch.cpus.clone()).or_default();
            let at = known.partition_point(|other| *other < share);
            known.insert(at, share);
        }
    }

    /// That of several launches.
    pub(crate) fn of<'a>(launches: impl IntoIterator<Item = &'a Launch>) -> Self {
        let mut floor = Self::default();
        for launch in launches {
            let known = floor.0.entry(launch.cpus.clone()).or_default();
            known.extend(shares(launch));
        }
        let each = floor.0.values_mut();
        each.for_each(|known| known.sort_unstable_by(f64::total_cmp));
        floor
    }

    /// Whether the core was shared while the pacers ran that a launch on these CPUs reports.
    pub(crate) fn is_crowded(&self, cpus: &[u32], pace: u64, wide: u64) -> bool {
        let floor = |known: &Vec<f64>| known.get(known.len() / BELOW).copied();
        match (self.0.get(cpus).and_then(floor), share(pace, wide)) {
            (Some(floor), Some(share)) => share > floor * (1.0 + limits::CROWDED_SHARE),
            _ => false,
        }
    }

    /// The samples beside which nobody else used the core.
    pub(crate) fn alone(&self, cpus: &[u32], samples: &[Sample]) -> Vec<Sample> {
        let alone = |sample: &&Sample| !self.is_crowded(cpus, sample.pace, sample.wide);
        samples.iter().filter(alone).copied().collect()
    }
}

/// What the pacers of a launch say, sample by sample.
fn shares(launch: &Launch) -> impl Iterator<Item = f64> {
    samples(launch).filter_map(|sample| share(sample.pace, sample.wide))
}

/// `None` where one of the pacers is missing.
fn share(pace: u64, wide: u64) -> Option<f64> {
    (pace > 0 && wide > 0).then(|| wide as f64 / pace as f64)
}
