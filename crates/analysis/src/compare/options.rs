//! Confidence, margin and variance between runs of a comparison.

use crate::run_variance::{BetweenRun, Class, DEFAULT, RunVariances};
use gritstone_model::{CompareShift, Id, Measurement, RunView, Verdict};
use gritstone_stats::scatter::Scatter;
use gritstone_stats::verdict;
use std::collections::BTreeMap;

/// Level at which the false-discovery rate is held: nominally 3.5%, since variances of benchmarks scatter more than the model's, so that
/// 5% are kept (docs/validation.md).
const ALPHA: f64 = 0.035;

/// What a comparison is made with.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Confidence of the intervals, between 0 and 1.
    pub confidence: f64,
    /// Difference within which two results count as the same: 0.01 is 1%.
    pub margin: f64,
    /// False-discovery rate over the rows of what is called faster or slower.
    pub alpha: f64,
    /// Scatter between runs of one machine where its own runs tell it: [`crate::run_variance::estimate`].
    /// [`DEFAULT`] stands for the rows that are not here.
    pub between_run: RunVariances,
    /// ln(ratio) of the common shift, of the classes of which it is taken out: [`compare`] itself finds it.
    pub shifts: BTreeMap<Class, f64>,
    /// Whether core cycles may stand for the time of rows that the processor bounds. [`compare`] itself forbids it where the
    /// machines are two: a core that is twice as fast needs as many cycles.
    pub cycles: bool,
}

impl Options {
    /// Those for two runs: cycles say nothing of two machines.
    pub(crate) fn of(&self, base: &RunView, other: &RunView) -> Self {
        Self {
            cycles: self.cycles && base.machine.id == other.machine.id,
            ..self.clone()
        }
    }

    /// What is said before p is known: the same, where both one-sided tests say that the difference lies within the margin.
    pub(super) fn before_p(&self, inner: Option<[f64; 2]>) -> Verdict {
        match inner.is_some_and(|inner| verdict::within(inner, self.margin)) {
            true => Verdict::Same,
            false => Verdict::Inconclusive,
        }
    }

    /// The same for runs whose common shifts are these: what runs of the system differ by is taken out.
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

    /// Scatter of the time of a benchmark between runs, of the common shift too.
    pub(super) fn all_of(&self, result: &Measurement) -> Scatter {
        let own = self.between_run(&result.id).raw;
        let common = self.between_run.shifts.get(&Class::of(result, false));
        common.map_or(own, |common| own.with(*common))
    }

    /// What two results of a class differ by beyond what their launches show, and ln(ratio) of the shift that is taken out.
    pub(super) fn beyond(&self, class: Class, own: Scatter) -> (Scatter, f64) {
        match (self.shifts.get(&class), self.between_run.shifts.get(&class)) {
            (Some(shift), _) => (own, *shift),
            (None, Some(common)) => (own.with(*common), 0.0),
            (None, None) => (own, 0.0),
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
