//! Confidence, margin and variance between runs of a comparison.

use crate::run_variance::{BetweenRun, Class, DEFAULT, RunVariances};
use gritstone_model::{CompareShift, Id, Measurement, RunView, Verdict};
use gritstone_stats::scatter::Scatter;
use gritstone_stats::verdict;
use std::collections::BTreeMap;

/// Level of the false-discovery rate: nominally 3.5%, since variances of benchmarks vary more than the model's; 5% are
/// reached (docs/validation.md).
const ALPHA: f64 = 0.035;

#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Confidence of the intervals, between 0 and 1.
    pub confidence: f64,
    /// Difference within which two results count as the same: 0.01 is 1%.
    pub margin: f64,
    /// Level of the false-discovery rate of "faster" and "slower".
    pub alpha: f64,
    /// Variance between runs by [`crate::run_variance::estimate`]; [`DEFAULT`] for other benchmarks.
    pub between_run: RunVariances,
    /// ln(ratio) of common shifts that are removed, by class; found by [`compare`].
    pub shifts: BTreeMap<Class, f64>,
    /// Compares processor-bound results in core cycles. [`compare`] disables it between two machines, where cycles do
    /// not measure speed.
    pub cycles: bool,
}

impl Options {
    pub(crate) fn for_runs(&self, base: &RunView, other: &RunView) -> Self {
        Self {
            cycles: self.cycles && base.machine.id == other.machine.id,
            ..self.clone()
        }
    }

    /// "Same", where both one-sided tests place the difference within the margin.
    pub(super) fn before_p(&self, inner: Option<[f64; 2]>) -> Verdict {
        match inner.is_some_and(|inner| verdict::within(inner, self.margin)) {
            true => Verdict::Same,
            false => Verdict::Inconclusive,
        }
    }

    /// Removes common shifts that the variance of the system explains.
    pub(super) fn without(&self, shifts: &BTreeMap<Class, CompareShift>) -> Self {
        let within = shifts.iter().filter(|(_, shift)| !shift.different);
        Self {
            shifts: within
                .map(|(class, shift)| (*class, shift.ratio.ln()))
                .collect(),
            ..self.clone()
        }
    }

    pub(super) fn between_run(&self, id: &Id) -> BetweenRun {
        *self.between_run.rows.get(id).unwrap_or(&DEFAULT)
    }

    /// Variance of a time between runs, including the common shift.
    pub(super) fn all_of(&self, result: &Measurement) -> Scatter {
        let benchmark = self.between_run(&result.id).raw;
        let common = self.between_run.shifts.get(&Class::new(result, false));
        common.map_or(benchmark, |common| benchmark.with(*common))
    }

    /// Variance beyond that of the launches, and ln(ratio) of the removed shift.
    pub(super) fn beyond(&self, class: Class, benchmark: Scatter) -> (Scatter, f64) {
        match (self.shifts.get(&class), self.between_run.shifts.get(&class)) {
            (Some(shift), _) => (benchmark, *shift),
            (None, Some(common)) => (benchmark.with(*common), 0.0),
            (None, None) => (benchmark, 0.0),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            confidence: 0.95,
            margin: 0.02,
            alpha: ALPHA,
            between_run: RunVariances::default(),
            shifts: BTreeMap::new(),
            cycles: true,
        }
    }
}
