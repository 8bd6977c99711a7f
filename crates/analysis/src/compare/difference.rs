//! A difference of two results, and its variance.

use crate::run_effect::STATED;
use crate::side::MedianOfRuns;
use gritstone_stats::scatter::Scatter;
use gritstone_stats::two_sample::{self, Ratio};

/// Scatter of the benchmarks of two runs beyond the stated one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    /// Ratio of the variance of differences to that explained by launches and the stated run effect.
    pub inflation: f64,
    /// Lower bound of the variance: a shift that all benchmarks share, if runs shift by chance.
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
    /// Variance within each side, from its launches.
    pub within: [f64; 2],
    /// Variance due to different frequencies.
    pub frequency: f64,
    pub effect: Scatter,
    pub medians: [MedianOfRuns; 2],
}

impl Difference {
    pub(super) fn variance(&self, spread: &Spread) -> f64 {
        let of_side = |side: usize| {
            let median = self.medians[side];
            // variance of one run
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
        // identical launches have no variance to divide by
        let variance = self.variance(spread).max(1e-18);
        two_sample::student(self.ln_ratio, variance, freedom, confidence)
    }
}
