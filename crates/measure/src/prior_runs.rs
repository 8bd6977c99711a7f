//! Launch times and scatter from earlier runs of a system, known before the first launch.

use gritstone_analysis::summary::Reader;
use gritstone_model::{Benchmark, Id, Launch, RunData};
use gritstone_stats::descriptive;
use std::collections::BTreeMap;

/// With fewer runs the scatter is taken from the pilot.
const MIN_RUNS_FOR_SCATTER: usize = 3;

/// Prior knowledge of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Prior {
    /// Time of a launch.
    pub seconds: Option<f64>,
    /// Standard deviation of ln(value) between the launches of a run.
    pub ln_sd: Option<f64>,
}

/// By benchmark and copies.
pub type PriorRuns = BTreeMap<(Id, u32), Prior>;

/// Launch times of the newest run, and the median scatter of at least three runs of the same work. Expects the newest run first.
pub fn learn_prior(runs: &[RunData], benchmarks: &[Benchmark]) -> PriorRuns {
    let mut scatters: BTreeMap<(Id, u32), Vec<f64>> = BTreeMap::new();
    let mut priors = PriorRuns::new();
    for run in runs {
        for (step, seconds) in launch_times(run) {
            priors.entry(step).or_default().seconds.get_or_insert(seconds);
        }
        for (step, values) in ln_values(run, benchmarks) {
            if values.len() >= crate::limits::PILOT {
                let scatter = scatters.entry(step).or_default();
                scatter.push(descriptive::deviation(&values));
            }
        }
    }
    scatters.retain(|_, scatters| scatters.len() >= MIN_RUNS_FOR_SCATTER);
    for (step, scatters) in scatters {
        priors.entry(step).or_default().ln_sd = Some(descriptive::median_of(&scatters));
    }
    priors
}

/// Median seconds from one launch to the next.
fn launch_times(run: &RunData) -> BTreeMap<(Id, u32), f64> {
    let mut times: BTreeMap<(Id, u32), Vec<f64>> = BTreeMap::new();
    for (index, launch) in run.launches.iter().enumerate() {
        let next = run.launches.get(index + 1);
        let until = next.map(|next| next.start.saturating_sub(launch.start));
        let ns = until.unwrap_or(0).max(launch.conditions.wall);
        times.entry(step(launch)).or_default().push(ns as f64 / 1e9);
    }
    let median = |(step, times): (_, Vec<f64>)| (step, descriptive::median_of(times));
    times.into_iter().map(median).collect()
}

/// ln(value) of each undisturbed launch of the same version of a benchmark.
fn ln_values(run: &RunData, benchmarks: &[Benchmark]) -> BTreeMap<(Id, u32), Vec<f64>> {
    let versions: BTreeMap<&Id, u32> = benchmarks.iter().map(|b| (&b.id, b.version)).collect();
    let same =
        run.benchmarks.iter().filter(|entry| versions.get(&entry.id) == Some(&entry.version));
    let entries: BTreeMap<&Id, &Benchmark> = same.map(|entry| (&entry.id, entry)).collect();
    let mut reader = Reader::new(&run.info);
    let mut values: BTreeMap<(Id, u32), Vec<f64>> = BTreeMap::new();
    for launch in &run.launches {
        let learned = entries.get(&launch.id).map(|entry| reader.read(entry, launch));
        if let Some(learned) = learned.filter(|learned| !learned.contended) {
            let value = learned.ns_per_op.map(f64::ln);
            values.entry(step(launch)).or_default().extend(value);
        }
    }
    values
}

fn step(launch: &Launch) -> (Id, u32) {
    (launch.id.clone(), launch.copies)
}
