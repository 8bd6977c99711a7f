//! Where the base of a benchmark begins after a slowdown was accepted.

use crate::events::MARGIN_RUNS;
use crate::run_summary::RunSummary;
use crate::series::between;
use gritstone_model::Id;
use gritstone_stats::series::{Level, Series};
use std::collections::BTreeSet;

/// Accepted slowdowns: identifiers of runs, with benchmarks.
#[derive(Clone, Debug, Default)]
pub struct Accepted {
    /// The level of the benchmark in the run, or that the run lacks it.
    pub by_name: BTreeSet<(String, Id)>,
    pub by_event: Vec<ExpectedChange>,
}

/// The level that began with an event, some runs before or after the run that identifies it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedChange {
    pub run: String,
    /// Start of the run: filters and windows may leave it out.
    pub started: String,
    pub benchmark: Id,
}

impl Accepted {
    pub(super) fn covers(&self, run: &str, id: &Id) -> bool {
        self.by_name.contains(&(run.to_owned(), id.clone()))
            || self.by_event.iter().any(|change| change.run == run && change.benchmark == *id)
    }

    /// Position of the first point of the level that was accepted last: points before it do not belong to the base. `allowed` is the
    /// logarithm of the allowed slowdown.
    pub(super) fn first(
        &self,
        id: &Id,
        series: &Series,
        runs: &[&RunSummary],
        allowed: f64,
    ) -> usize {
        let levels = series.levels();
        // the next run of the benchmark stands for one without it
        let next = |change: &ExpectedChange| {
            let begun = (change.started.as_str(), change.run.as_str());
            let next = series.points.iter().position(|p| runs[p.run].start_key() >= begun);
            // at 0 no point precedes the change: nothing is left out
            next.filter(|position| *position > 0)
        };
        let named = |(run, _): &(String, Id)| {
            series.points.iter().position(|point| runs[point.run].run == *run)
        };
        let around = |position: usize| level_around(series, &levels, position, allowed);
        let near = |position: usize| level_near(series, &levels, position);
        let by_name = self.by_name.iter().filter(|(_, benchmark)| benchmark == id);
        let by_name = by_name.filter_map(named).map(around);
        let by_event = self.by_event.iter().filter(|change| change.benchmark == *id);
        let by_event = by_event.filter_map(next);
        let by_event = by_event.map(|position| near(position).unwrap_or_else(|| around(position)));
        by_name.chain(by_event).max().unwrap_or(0)
    }
}

/// First position of the level of a point; that of the point itself where this level is not slower than the one before, or the point is
/// slower than its level.
fn level_around(series: &Series, levels: &[Level], position: usize, allowed: f64) -> usize {
    let is_slower = |pair: &&[Level]| pair[1].mean < pair[0].mean - allowed;
    let mut slower = levels.windows(2).filter(is_slower).map(|pair| pair[1]);
    // a run slower than the level that it was put into begins another
    let belongs = |level: &Level| {
        (level.start..level.end).contains(&position)
            && series.points[position].y >= level.mean - allowed
    };
    slower.find(belongs).map_or(position, |level| level.start)
}

/// First position of the nearest slower level that may belong to an event which began with a point.
fn level_near(series: &Series, levels: &[Level], position: usize) -> Option<usize> {
    let belongs = |pair: &&[Level]| {
        let [first, last] = between(series, &pair[0], &pair[1]);
        let joins = first.saturating_sub(MARGIN_RUNS)..=last + MARGIN_RUNS;
        pair[1].mean < pair[0].mean && joins.contains(&position)
    };
    let starts = levels.windows(2).filter(belongs).map(|pair| pair[1].start);
    starts.min_by_key(|start| start.abs_diff(position))
}
