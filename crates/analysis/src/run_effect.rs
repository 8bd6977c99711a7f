//! The effect that a run has on all launches of a benchmark, beyond what these show: learned from all runs of the system
//! ([`crate::levels`]), stated until there are three.

use crate::comparability::Circumstances;
use crate::levels::{self, SystemLevels};
use crate::past::{Past, RunValue, varies, within};
use crate::tails;
use gritstone_model::{Id, OfRuns, RunView, Subject};
use gritstone_stats::quantile;
use gritstone_stats::scatter::Scatter;
use gritstone_stats::series::Series;
use std::borrow::Borrow;
use std::collections::BTreeMap;

/// Fewest runs for a half-width over runs.
const RUNS_OF_A_SYSTEM: usize = 5;
/// Before there are three runs: half a percent, known as badly as from four. Comparisons widen it where their benchmarks differ by more
/// ([`crate::compare`]).
pub const STATED: Scatter = Scatter::stated(0.005, 4.0);

/// Effects of runs for a comparison, by benchmark; [`STATED`] holds for those that are not here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunEffects {
    pub rows: BTreeMap<Id, Scatter>,
    /// What the benchmarks of each earlier run deviated alike from their levels, ln.
    pub common: Vec<f64>,
    /// The same as `rows` of percentiles beyond the median, by name.
    pub percentiles: BTreeMap<String, BTreeMap<Id, Scatter>>,
}

impl FromIterator<(Id, Scatter)> for RunEffects {
    fn from_iter<I: IntoIterator<Item = (Id, Scatter)>>(rows: I) -> Self {
        Self {
            rows: rows.into_iter().collect(),
            ..Self::default()
        }
    }
}

/// The results of a run: its estimates, or a percentile of them.
type Values<'a> = &'a dyn Fn(&Past) -> Option<&BTreeMap<Id, RunValue>>;

/// From all stored runs of the systems of both sides, these among them. Of two systems each has its own, and the variances are averaged.
#[must_use]
pub fn estimate(past: &[impl Borrow<Past>], base: &RunView, other: &RunView) -> RunEffects {
    let [of_base, of_other] = [base, other].map(|view| Past::new(view).circumstances);
    let fitted = |like: &Circumstances, values: Values| {
        let runs = past.iter().map(Borrow::borrow);
        let runs = runs.filter(|run| run.circumstances == *like);
        let judged = |run: &str| [&base.id, &other.id].into_iter().any(|of| of == run);
        levels::fit(&runs.collect::<Vec<&Past>>(), &judged, values)
    };
    let of = |values: Values| {
        let b = fitted(&of_base, values);
        let (rows, common) = (scatters(&b), b.others_common);
        if of_base == of_other {
            return (rows, common);
        }
        let o = fitted(&of_other, values);
        let others = scatters(&o);
        let both = rows
            .iter()
            .filter_map(|(id, b)| Some((id.clone(), b.mean(*others.get(id)?))));
        (both.collect(), [common, o.others_common].concat())
    };
    let percentile = |name: &str| {
        let (rows, _) = of(&|run: &Past| run.percentiles.get(name));
        (!rows.is_empty()).then(|| (name.to_owned(), rows))
    };
    let (rows, common) = of(&|run: &Past| Some(&run.values));
    RunEffects {
        rows,
        common,
        percentiles: tails::TAILS.into_iter().filter_map(percentile).collect(),
    }
}

fn scatters(system: &SystemLevels) -> BTreeMap<Id, Scatter> {
    let scatter = |(id, series): (&Id, &Series)| {
        let noise = series.noise?;
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
pub fn add_to(past: &[impl Borrow<Past>], view: &mut RunView) {
    let learned = estimate(past, view, view);
    for result in &mut view.results {
        if result.values().is_empty() || !varies(result) {
            continue;
        }
        let effect = learned.rows.get(&result.id).copied().unwrap_or(STATED);
        let variance = effect.of_run(within(result.interval()));
        let half = quantile::student(0.95, effect.freedom) * variance.sqrt();
        result.of_runs = Some(OfRuns {
            runs: effect.runs,
            compared: Subject::Estimate,
            half_width: (effect.runs >= RUNS_OF_A_SYSTEM).then(|| half.exp_m1()),
        });
    }
}
