//! The effect of a run on all launches of a benchmark, beyond their scatter: learned from all runs of the system ([`crate::levels`]),
//! assumed until there are two besides those that are compared.

use crate::comparability::ComparisonKey;
use crate::levels::{self, Role, SystemLevels};
use crate::run_summary::{RunSummary, RunValue, launch_variance, varies};
use crate::side::{MedianOfRuns, Medians, Side};
use crate::tails;
use gritstone_model::{Id, OfRuns, RunView};
use gritstone_stats::quantile;
use gritstone_stats::scatter::Scatter;
use gritstone_stats::series::{self, Series};
use std::borrow::Borrow;
use std::collections::BTreeMap;

/// Fewest runs for a half-width over runs.
const RUNS_OF_A_SYSTEM: usize = 5;
/// Fewest runs other than the two that are compared, for the scatter of runs to be learned.
const MIN_OTHERS: usize = 2;
/// Assumed before there are as many: half a percent, with the uncertainty of four runs. Comparisons widen it if their benchmarks differ
/// by more ([`crate::compare`]).
pub const DEFAULT_RUN_VARIANCE: Scatter = Scatter::stated(0.005, 4.0);
/// Upper bound for runs of different systems, whose benchmarks differ by more than run effects.
pub(crate) const DEFAULT_SYSTEM_VARIANCE: Scatter = Scatter::stated(0.02, 4.0);

/// Run effects for a comparison, by benchmark; [`DEFAULT_RUN_VARIANCE`] for missing ones.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEffects {
    pub rows: BTreeMap<Id, Scatter>,
    /// Shared deviation of each earlier run from the levels, ln.
    pub common: Vec<f64>,
    /// Like `rows`, for percentiles beyond the median, by name.
    pub percentiles: BTreeMap<String, BTreeMap<Id, Scatter>>,
    /// Runs of the base and of the other.
    pub runs: [usize; 2],
    pub medians: Medians,
}

impl Default for RunEffects {
    fn default() -> Self {
        Self {
            rows: BTreeMap::new(),
            common: vec![],
            percentiles: BTreeMap::new(),
            runs: [1; 2],
            medians: Medians::new(),
        }
    }
}

impl FromIterator<(Id, Scatter)> for RunEffects {
    fn from_iter<I: IntoIterator<Item = (Id, Scatter)>>(rows: I) -> Self {
        Self { rows: rows.into_iter().collect(), ..Self::default() }
    }
}

/// The results of a run: its estimates, or a percentile of them.
type Values<'a> = &'a dyn Fn(&RunSummary) -> Option<&BTreeMap<Id, RunValue>>;

/// [`estimate_sides`] with one run per side.
pub fn estimate(past: &[impl Borrow<RunSummary>], base: &RunView, other: &RunView) -> RunEffects {
    estimate_sides(past, &[base, other].map(Side::from))
}

/// Learns from all stored runs of both systems and from the runs of a side of several. Two systems have separate variances, which are
/// averaged.
pub fn estimate_sides(past: &[impl Borrow<RunSummary>], sides: &[Side; 2]) -> RunEffects {
    let runs = sides.each_ref().map(|side| side.runs.len());
    let [of_base, of_other] = sides.each_ref().map(|side| &side.runs[0].circumstances);
    // runs from files are not among the stored ones
    let several = sides.iter().filter(|side| side.runs.len() > 1);
    let side_runs = several.flat_map(|side| &side.runs);
    let all: Vec<&RunSummary> = past.iter().map(Borrow::borrow).chain(side_runs).collect();
    let role = |run: &str| {
        let has_run = |side: &Side| side.runs.iter().any(|past| past.run == run);
        match sides.iter().position(has_run) {
            Some(side) if runs != [1; 2] => Role::Side(side),
            Some(_) => Role::Compared,
            None => Role::Earlier,
        }
    };
    let fitted = |like: &ComparisonKey, values: Values| {
        let runs = all.iter().copied().filter(|run| run.circumstances == *like);
        levels::fit(&runs.collect::<Vec<&RunSummary>>(), &role, values)
    };
    // each system has its own variances
    let systems = |values: Values| {
        let base = fitted(of_base, values);
        let other = (of_base != of_other).then(|| fitted(of_other, values));
        (base, other)
    };
    let rows = |(base, other): &(SystemLevels, Option<SystemLevels>)| {
        let rows = scatters(base);
        let Some(other) = other else { return rows };
        let others = scatters(other);
        let both = rows.iter().filter_map(|(id, b)| Some((id.clone(), b.mean(*others.get(id)?))));
        both.collect()
    };
    let percentile = |name: &str| {
        let rows = rows(&systems(&|run: &RunSummary| run.percentiles.get(name)));
        (!rows.is_empty()).then(|| (name.to_owned(), rows))
    };
    let estimates = systems(&|run: &RunSummary| Some(&run.values));
    let (base, other) = &estimates;
    let common = |system: &SystemLevels| system.others_common.clone();
    RunEffects {
        rows: rows(&estimates),
        common: [common(base), other.as_ref().map_or(vec![], common)].concat(),
        percentiles: tails::TAILS.into_iter().filter_map(percentile).collect(),
        runs,
        medians: medians(sides, [base, other.as_ref().unwrap_or(base)]),
    }
}

fn medians(sides: &[Side; 2], systems: [&SystemLevels; 2]) -> Medians {
    if sides.iter().all(|side| side.runs.len() == 1) {
        return Medians::new();
    }
    let median = |id: &Id, side: usize| {
        let runs = sides[side].count(id);
        let series = systems[side].series.get(id);
        MedianOfRuns {
            runs,
            share: series::median_variance_ratio(series.and_then(|series| series.noise), runs),
        }
    };
    let results = sides[0].view.results.iter();
    let medians =
        results.map(|result| (result.id.clone(), [0, 1].map(|side| median(&result.id, side))));
    medians.collect()
}

fn scatters(system: &SystemLevels) -> BTreeMap<Id, Scatter> {
    let scatter = |(id, series): (&Id, &Series)| {
        let others = series.points.iter().filter(|point| !point.judged).count();
        // a change between the compared runs would be most of their scatter
        let noise = series.noise.filter(|_| others >= MIN_OTHERS)?;
        Some((
            id.clone(),
            Scatter {
                ln_sd: noise.variance.value.sqrt(),
                freedom: noise.variance.df.min(system.tails),
                runs: series.points.len(),
                within: noise.within,
            },
        ))
    };
    system.series.iter().filter_map(scatter).collect()
}

/// Adds the half-width over runs to each result.
pub fn add_to(past: &[impl Borrow<RunSummary>], view: &mut RunView) {
    let learned = estimate(past, view, view);
    for result in &mut view.results {
        let reaches_zero = result.interval().is_some_and(|[low, _]| low <= 0.0);
        if result.values().is_empty() || !varies(result) || reaches_zero {
            continue;
        }
        let effect = learned.rows.get(&result.id).copied().unwrap_or(DEFAULT_RUN_VARIANCE);
        let variance = effect.run_variance(launch_variance(result.interval()));
        let half = quantile::student(0.95, effect.freedom) * variance.sqrt();
        result.of_runs = Some(OfRuns {
            runs: effect.runs,
            half_width: (effect.runs >= RUNS_OF_A_SYSTEM).then(|| half.exp_m1()),
        });
    }
}
