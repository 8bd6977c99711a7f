//! The compared quantity of two results of a benchmark, and the ratio.

use super::difference::Difference;
use crate::conversion::scale;
use gritstone_model::{Better, Finding, Measurement, RowVariance, Subject};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ComparedBy {
    /// Interval and p of a test of launches against launches.
    Test,
    /// Interference on one side, or no launches.
    Nothing,
    /// The interval alone: one side is printed.
    Interval,
    /// Sizes, which do not vary.
    Exact,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pair {
    /// The estimate or one of the times.
    pub compared: Subject,
    /// Unit of `base` and `other`.
    pub unit: String,
    pub base: Option<f64>,
    pub other: Option<f64>,
    /// Above 1: the other is better.
    pub ratio: Option<f64>,
    pub interval: Option<[f64; 2]>,
    /// p of a ratio of 1.
    pub p: Option<f64>,
    pub basis: ComparedBy,
    /// Set for estimates with launches.
    pub difference: Option<Difference>,
    pub variance: Option<RowVariance>,
    /// Reasons for a missing ratio, and caveats.
    pub notes: Vec<Finding>,
}

impl Pair {
    pub fn new(base: &Measurement, other: &Measurement) -> Self {
        // one unit for both sides: an estimate that does not convert is absent
        let scale = scale(&other.unit, &base.unit);
        Self {
            compared: Subject::Estimate,
            unit: base.unit.to_string(),
            base: base.value(),
            other: other.value().zip(scale).map(|(x, scale)| x * scale),
            ratio: None,
            interval: None,
            p: None,
            basis: ComparedBy::Test,
            difference: None,
            variance: None,
            notes: Vec::new(),
        }
    }

    pub fn without_ratio_because(mut self, why: Finding) -> Self {
        self.notes.push(why);
        self.without_ratio()
    }

    pub fn without_ratio(self) -> Self {
        Self { ratio: None, interval: None, p: None, difference: None, variance: None, ..self }
    }
}

/// Above 1 when the other is better.
pub(crate) fn ratio(base: f64, other: f64, better: Better) -> f64 {
    match better {
        Better::Higher => other / base,
        Better::Lower => base / other,
    }
}
