//! Level, margin and run effects of a comparison.

use super::difference::Spread;
use crate::run_effect::{DEFAULT_RUN_VARIANCE, RunEffects};
use crate::side::MedianOfRuns;
use gritstone_model::{Id, RunView, Verdict};
use gritstone_stats::scatter::Scatter;
use gritstone_stats::verdict;
use std::collections::BTreeSet;

/// Share of comparisons with a false "faster" or "slower".
pub(super) const ALPHA: f64 = 0.05;
/// Confidence of an interval that excludes 1 where p is below [`ALPHA`].
pub(super) const CONFIDENCE: f64 = 1.0 - ALPHA;

#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Difference within which two results count as the same: 0.01 is 1%.
    pub margin: f64,
    /// Level of a gate over the comparison, at which all tested results have a minimum detectable effect; `None`: only inconclusive ones, at
    /// that of their verdicts.
    pub gate: Option<f64>,
    /// Run effects by [`crate::run_effect::estimate`]; [`DEFAULT_RUN_VARIANCE`] for other benchmarks.
    pub effects: RunEffects,
    /// Benchmarks that are shown; `None`: all.
    pub selected: Option<BTreeSet<Id>>,
    /// Scatter of the benchmarks of this comparison beyond the stated one; set by [`super::compare`].
    pub(super) spread: Spread,
    /// Frequencies at which the times of both sides are stated, GHz, if both are of one machine and the frequencies may differ.
    pub(super) reference_ghz: Option<[f64; 2]>,
}

impl Options {
    pub fn new(margin: f64, effects: RunEffects) -> Self {
        Self { margin, effects, ..Self::default() }
    }

    /// With what a gate at this level needs.
    #[must_use]
    pub fn for_gate(self, alpha: f64) -> Self {
        Self { gate: Some(alpha), ..self }
    }

    /// Shows only these benchmarks of a comparison of all.
    #[must_use]
    pub fn showing(self, selected: BTreeSet<Id>) -> Self {
        Self { selected: Some(selected), ..self }
    }

    pub(super) fn for_runs(&self, base: &RunView, other: &RunView) -> Self {
        let same = base.machine.id == other.machine.id;
        let both = base.reference_ghz.zip(other.reference_ghz);
        Self {
            reference_ghz: both.filter(|_| same).map(|(base, other)| [base, other]),
            ..self.clone()
        }
    }

    /// "Same" if the interval is within the margin.
    pub(super) fn before_p(&self, interval: Option<[f64; 2]>) -> Verdict {
        match interval.is_some_and(|interval| verdict::is_within_margin(interval, self.margin)) {
            true => Verdict::Same,
            false => Verdict::Inconclusive,
        }
    }

    pub(super) fn effect(&self, id: &Id) -> Scatter {
        *self.effects.rows.get(id).unwrap_or(&DEFAULT_RUN_VARIANCE)
    }

    pub(super) fn medians(&self, id: &Id) -> [MedianOfRuns; 2] {
        self.effects.medians.get(id).copied().unwrap_or_default()
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            margin: 0.02,
            gate: None,
            effects: RunEffects::default(),
            selected: None,
            spread: Spread::default(),
            reference_ghz: None,
        }
    }
}
