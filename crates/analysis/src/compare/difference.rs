//! A difference of two results, and its variance.

use crate::run_effect::STATED;
use crate::side::MedianOfRuns;
use gritstone_stats::scatter::Scatter;
use gritstone_stats::two_sample::{self, Ratio};

/// How far the benchmarks of two runs differ beyond what is stated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    /// Variance of differences over what launches and the stated effect of runs explain.
    pub inflation: f64,
    /// Least variance: of what all benchmarks moved alike, if runs do so by chance.
    pub common: f64,
    pub freedom: f64,
}

impl Default for Spread {
    fn default() -> Self {
        Self {
            inflation: 1.0,
            common: 0.0,
            freedom: STATED.freedom,
        }
    }
}

/// ln(ratio) of two results, above 0 where the other is better, and its variances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Difference {
    pub ln_ratio: f64,
    /// Variances that the launches of both sides show.
    pub within: [f64; 2],
    /// Variance by their frequencies.
    pub frequency: f64,
    pub effect: Scatter,
    pub medians: [MedianOfRuns; 2],
}

impl Difference {
    pub(super) fn variance(&self, spread: &Spread) -> f64 {
        let of_side = |side: usize| {
            let median = self.medians[side];
            // of one run
            let within = self.within[side] * median.runs as f64;
            self.effect.of_run(within) * median.share
        };
        let [base, other] = [0, 1].map(of_side);
        let inflation = match self.effect.runs {
            0 => spread.inflation,
            _ => 1.0,
        };
        ((base + other + self.frequency) * inflation).max(spread.common)
    }

    pub(super) fn ratio(&self, spread: &Spread, confidence: f64) -> Ratio {
        let freedom = match self.effect.runs {
            0 => spread.freedom,
            _ => self.effect.freedom,
        };
        // launches that agree to the last digit leave nothing to divide by
        let variance = self.variance(spread).max(1e-18);
        two_sample::student(self.ln_ratio, variance, freedom, confidence)
    }
}
