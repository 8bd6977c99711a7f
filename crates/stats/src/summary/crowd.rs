//! Whether another thread of the core was busy beside a sample. Two threads of one core share its places for
//! instructions: additions that wait for each other go on at one a cycle, additions that do not are slowed. So the pacer
//! of the latter, as a share of the former, is least when the core is ours alone, and that least is what it is held to.
//!
//! The work itself has no part in this, so that samples can be chosen by it and the figure is not bent towards fast ones.
//! Must not know: the work that was timed, other conditions, footnotes.

use super::limits;
use gritstone_model::{Event, Launch, Sample};
use std::collections::BTreeMap;

/// The least of wide over pace that was seen on each set of CPUs.
#[derive(Clone, Debug, Default)]
pub struct Floor(BTreeMap<Vec<u32>, f64>);

impl Floor {
    /// That of nothing: nobody is held to it.
    pub(crate) const fn none() -> Self {
        Self(BTreeMap::new())
    }

    /// Takes in what a launch saw.
    pub fn see(&mut self, launch: &Launch) {
        let shares = launch.events.iter().filter_map(|event| match event {
            Event::Sample(sample) => share(sample.pace, sample.wide),
            Event::Batch(batch) => share(batch.pace, batch.wide),
            _ => None,
        });
        let Some(least) = shares.reduce(f64::min) else {
            return;
        };
        let floor = self.0.entry(launch.cpus.clone()).or_insert(least);
        *floor = floor.min(least);
    }

    /// That of several launches.
    pub(crate) fn of<'a>(launches: impl IntoIterator<Item = &'a Launch>) -> Self {
        let mut floor = Self::default();
        launches.into_iter().for_each(|launch| floor.see(launch));
        floor
    }

    /// Whether the core was shared while the pacers ran that a launch on these CPUs reports.
    pub(crate) fn is_crowded(&self, cpus: &[u32], pace: u64, wide: u64) -> bool {
        match (self.0.get(cpus), share(pace, wide)) {
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

/// `None` where one of the pacers is missing.
fn share(pace: u64, wide: u64) -> Option<f64> {
    (pace > 0 && wide > 0).then(|| wide as f64 / pace as f64)
}
