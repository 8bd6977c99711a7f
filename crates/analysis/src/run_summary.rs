//! The part of a run that series and comparisons need.

use crate::comparability::{ComparisonKey, Selection};
use crate::{same, tails};
use gritstone_model::{
    Flag, Id, Kind, Machine, Measurement, Quantity, RunView, SameFact, Settings, Status,
};
use gritstone_stats::quantile;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    pub run: String,
    /// Its start, RFC 3339, UTC.
    pub started: String,
    pub circumstances: ComparisonKey,
    #[serde(default)]
    pub selection: Selection,
    /// Facts of the whole run that `--same` holds.
    #[serde(default)]
    pub facts: BTreeMap<SameFact, String>,
    /// Distinct compilers, with their flags.
    #[serde(default)]
    pub compilers: Vec<String>,
    #[serde(rename = "figures")]
    pub values: BTreeMap<Id, RunValue>,
    /// Exact sizes, with the versions of their benchmarks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sizes: BTreeMap<Id, (u32, f64)>,
    /// Results of percentiles beyond the median, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub percentiles: BTreeMap<String, BTreeMap<Id, RunValue>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunValue {
    pub version: u32,
    /// ln(speed): of the estimate where more is better, of its reciprocal where less is.
    pub speed: f64,
    /// Variance of `speed`, from the launches of the run; 0 where they are too few for an interval.
    pub within: f64,
    /// What `speed` would gain in nanoseconds, or in one per second; `None` in summaries of before.
    pub unit: Option<f64>,
    /// Position among the compilers of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler: Option<usize>,
}

impl RunSummary {
    pub(crate) fn head(
        run: &str,
        started: &str,
        machine: &Machine,
        settings: Option<&Settings>,
    ) -> Self {
        Self {
            run: run.to_owned(),
            started: started.to_owned(),
            circumstances: ComparisonKey::new(machine, settings),
            selection: Selection::new(settings),
            ..Self::default()
        }
    }

    /// Excludes invalid results and those with interference.
    pub fn new(view: &RunView) -> Self {
        let values = |results: &[Measurement]| -> BTreeMap<Id, RunValue> {
            let value = |result: &Measurement| Some((result.id.clone(), RunValue::new(result)?));
            results.iter().filter_map(value).collect()
        };
        let percentile = |name: &str| {
            let results = view.results.iter().filter_map(|r| tails::percentile_of(r, name));
            let values = values(&results.collect::<Vec<_>>());
            (!values.is_empty()).then(|| (name.to_owned(), values))
        };
        let is_size = |result: &&Measurement| {
            result.unit.as_str() == "bytes"
                && result.outcome() == Status::Measured
                && !result.is_flagged(Flag::Invalid)
        };
        let size = |result: &Measurement| {
            Some((result.id.clone(), (result.version, result.value().filter(|size| *size > 0.0)?)))
        };
        let settings = view.settings.as_ref();
        let mut compilers: Vec<String> = view.results.iter().map(same::compiler).collect();
        compilers.sort_unstable();
        compilers.dedup();
        let mut of_results = values(&view.results);
        for result in &view.results {
            if let Some(value) = of_results.get_mut(&result.id) {
                value.compiler = compilers.binary_search(&same::compiler(result)).ok();
            }
        }
        Self {
            facts: SameFact::ALL.iter().map(|fact| (*fact, same::run_fact(view, *fact))).collect(),
            compilers,
            values: of_results,
            sizes: view.results.iter().filter(is_size).filter_map(size).collect(),
            percentiles: tails::TAILS.into_iter().filter_map(percentile).collect(),
            ..Self::head(&view.id, &view.started, &view.machine, settings)
        }
    }

    pub(crate) fn compiler(&self, id: &Id) -> Option<&String> {
        self.compilers.get(self.values.get(id)?.compiler?)
    }

    /// Leaves out runs that differ in these facts from the newest one, and values of other compilers than its.
    pub fn restrict(runs: &mut Vec<Self>, newest: &Self, same: &[SameFact]) {
        runs.retain(|run| same.iter().all(|fact| run.facts.get(fact) == newest.facts.get(fact)));
        if !same.contains(&SameFact::Compiler) {
            return;
        }
        for run in runs {
            let compilers = std::mem::take(&mut run.compilers);
            run.values.retain(|id, value| {
                let compiler = value.compiler.map(|index| &compilers[index]);
                newest.compiler(id).is_none_or(|of_newest| compiler == Some(of_newest))
            });
            run.compilers = compilers;
        }
    }

    pub(crate) fn start_key(&self) -> (&str, &str) {
        (&self.started, &self.run)
    }
}

impl RunValue {
    /// `None` for a result that no series includes.
    pub fn new(result: &Measurement) -> Option<Self> {
        let counts = result.outcome() == Status::Measured
            && varies(result)
            && !result.is_flagged(Flag::Invalid)
            && !result.is_flagged(Flag::Interference);
        let interval = result.interval();
        let value = result.value().filter(|x| x.is_finite() && *x > 0.0)?;
        if !counts || interval.is_some_and(|[low, _]| low <= 0.0) {
            return None;
        }
        Some(Self {
            version: result.version,
            speed: result.better.log_speed(value),
            within: launch_variance(interval),
            unit: match result.unit.quantity() {
                Quantity::Time { ns } => Some(result.better.log_speed(ns)),
                Quantity::Rate { plain } => Some(result.better.log_speed(plain)),
                Quantity::Share | Quantity::Exact => None,
            },
            compiler: None,
        })
    }
}

/// False for exact sizes, and for scores, whose parts are included.
pub(crate) fn varies(result: &Measurement) -> bool {
    result.kind != Kind::Score && result.unit.quantity() != Quantity::Exact
}

/// Variance of ln(estimate) that a 95% interval above 0 implies; 0 without one.
pub(crate) fn launch_variance(interval: Option<[f64; 2]>) -> f64 {
    let Some([low, high]) = interval.filter(|[low, _]| *low > 0.0) else {
        return 0.0;
    };
    ((high / low).ln() / 2.0 / quantile::normal(0.95)).powi(2)
}

/// Hash of the program behind a result; empty if there is none.
pub(crate) fn program(result: &Measurement) -> &str {
    result.program.as_ref().map_or("", |program| &program.hash)
}
