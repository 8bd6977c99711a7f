//! What earlier runs of a system tell of its benchmarks before one is launched: what a launch takes, and how launches scatter.

use gritstone_analysis::summary::Reader;
use gritstone_model::{Benchmark, Id, Launch, RunData};
use gritstone_stats::descriptive;
use std::collections::BTreeMap;

/// Runs that tell the scatter of launches. Of fewer it is a pilot like any other.
const RUNS_FOR_SCATTER: usize = 3;

/// What is known of a step beforehand.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Known {
    /// Seconds that a launch takes.
    pub seconds: Option<f64>,
    /// Standard deviation of ln(value) between the launches of a run.
    pub ln_sd: Option<f64>,
}

/// By benchmark and copies.
pub type Earlier = BTreeMap<(Id, u32), Known>;

/// What runs tell of benchmarks, the newest run first: what the newest says of time, and the median of what at least three that did the
/// same work say of scatter.
#[must_use]
pub fn learn(runs: &[RunData], benchmarks: &[Benchmark]) -> Earlier {
    let mut scatters: BTreeMap<(Id, u32), Vec<f64>> = BTreeMap::new();
    let mut earlier = Earlier::new();
    for run in runs {
        for (step, seconds) in times(run) {
            let known = earlier.entry(step).or_default();
            known.seconds = known.seconds.or(Some(seconds));
        }
        for (step, values) in values(run, benchmarks) {
            if values.len() >= crate::PILOT {
                let scatter = scatters.entry(step).or_default();
                scatter.push(descriptive::deviation(&values));
            }
        }
    }
    for (step, own) in scatters
        .into_iter()
        .filter(|(_, own)| own.len() >= RUNS_FOR_SCATTER)
    {
        earlier.entry(step).or_default().ln_sd =
            Some(descriptive::median(&descriptive::sorted(&own)));
    }
    earlier
}

/// Seconds from one launch to the next, the median.
fn times(run: &RunData) -> BTreeMap<(Id, u32), f64> {
    let mut times: BTreeMap<(Id, u32), Vec<f64>> = BTreeMap::new();
    for (at, launch) in run.launches.iter().enumerate() {
        let next = run.launches.get(at + 1);
        let until = next.map(|next| next.start.saturating_sub(launch.start));
        let ns = until.unwrap_or(0).max(launch.conditions.wall);
        times.entry(step(launch)).or_default().push(ns as f64 / 1e9);
    }
    let median = |own: Vec<f64>| descriptive::median(&descriptive::sorted(&own));
    times
        .into_iter()
        .map(|(step, own)| (step, median(own)))
        .collect()
}

/// ln of the value of each launch of the same work.
fn values(run: &RunData, benchmarks: &[Benchmark]) -> BTreeMap<(Id, u32), Vec<f64>> {
    let now: BTreeMap<&Id, u32> = benchmarks.iter().map(|b| (&b.id, b.version)).collect();
    let same = |then: &&Benchmark| now.get(&then.id) == Some(&then.version);
    let then = run.benchmarks.iter().filter(same);
    let then: BTreeMap<&Id, &Benchmark> = then.map(|entry| (&entry.id, entry)).collect();
    let mut reader = Reader::default();
    let mut values: BTreeMap<(Id, u32), Vec<f64>> = BTreeMap::new();
    for launch in &run.launches {
        let learned = then
            .get(&launch.id)
            .map(|entry| reader.learn(entry, launch));
        if let Some(learned) = learned.filter(|learned| !learned.crowded) {
            let value = learned.ns_per_op.map(f64::ln);
            values.entry(step(launch)).or_default().extend(value);
        }
    }
    values
}

fn step(launch: &Launch) -> (Id, u32) {
    (launch.id.clone(), launch.copies)
}
