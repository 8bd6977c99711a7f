//! Levels of all benchmarks over the runs of a system: the one model behind `compare`, `history`, `changes` and `check`
//! ([`gritstone_stats::series`]).

use crate::past::{Past, RunValue};
use gritstone_model::Id;
use gritstone_stats::series::{self, Point, Series};
use std::collections::BTreeMap;

/// Fewest runs of a series that tails are learned from.
const MIN_RUNS_OF_TAILS: usize = 6;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SystemLevels {
    /// Results of the newest version of each benchmark.
    pub series: BTreeMap<Id, Series>,
    /// Degrees of freedom of the tails of run effects, over all benchmarks.
    pub tails: f64,
}

/// Fits runs of one system in any order; `values` are those of a run: its estimates, or a percentile of them. Runs that are `judged` do
/// not say how runs scatter.
#[must_use]
pub fn fit<'a>(
    runs: &[&'a Past],
    judged: &dyn Fn(&str) -> bool,
    values: &dyn Fn(&'a Past) -> Option<&'a BTreeMap<Id, RunValue>>,
) -> SystemLevels {
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by(|&a, &b| runs[a].begun().cmp(&runs[b].begun()));
    order.dedup_by(|a, b| runs[*a].run == runs[*b].run);
    let mut all: BTreeMap<Id, Series> = BTreeMap::new();
    let mut versions: BTreeMap<Id, u32> = BTreeMap::new();
    for &run in &order {
        for (id, value) in values(runs[run]).into_iter().flatten() {
            let version = versions.entry(id.clone()).or_insert(value.version);
            let series = all.entry(id.clone()).or_default();
            if *version != value.version {
                *version = value.version;
                *series = Series::default();
            }
            series.points.push(Point {
                run,
                y: value.speed,
                variance: value.within,
                judged: judged(&runs[run].run),
            });
        }
    }
    series::fit(all.values_mut());
    SystemLevels {
        tails: tails(&all),
        series: all,
    }
}

/// From how many results are far from their levels, in all runs but the oddest: one is an accident.
fn tails(all: &BTreeMap<Id, Series>) -> f64 {
    // by run: results, and those that are far
    let mut runs: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for of in all.values() {
        let noise = of.noise.filter(|_| of.points.len() >= MIN_RUNS_OF_TAILS);
        let distances = noise.map_or(vec![], |noise| {
            series::distances(&of.points, &of.starts, &noise)
        });
        for (point, distance) in of.points.iter().zip(distances) {
            let (results, far) = runs.entry(point.run).or_default();
            *results += 1;
            *far += usize::from(distance.abs() > series::FAR);
        }
    }
    let oddest = runs.values().copied().max_by_key(|(_, far)| *far);
    let oddest = oddest.unwrap_or_default();
    let (results, far) = (runs.values()).fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
    series::tails(far - oddest.1, results - oddest.0)
}
