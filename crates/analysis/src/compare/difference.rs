//! A difference of two results, and its variance.

use crate::run_effect::{DEFAULT_RUN_VARIANCE, DEFAULT_SYSTEM_VARIANCE};
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
    /// Whether the runs are of different systems: then [`DEFAULT_SYSTEM_VARIANCE`] is an upper bound.
    pub different_systems: bool,
}

impl Default for Spread {
    fn default() -> Self {
        Self {
            inflation: 1.0,
            common: 0.0,
            freedom: DEFAULT_RUN_VARIANCE.freedom,
            different_systems: false,
        }
    }
}

impl Spread {
    /// Standard deviation of an effect of a run without history, ln.
    pub(super) fn stated_sd(&self) -> f64 {
        match self.is_bounded() {
            true => DEFAULT_SYSTEM_VARIANCE.ln_sd,
            false => self.estimated_sd(),
        }
    }

    /// Whether benchmarks of two systems differ by more than their runs are assumed to.
    pub(super) fn is_bounded(&self) -> bool {
        self.different_systems && self.estimated_sd() > DEFAULT_SYSTEM_VARIANCE.ln_sd
    }

    fn estimated_sd(&self) -> f64 {
        let variance = DEFAULT_RUN_VARIANCE.ln_sd.powi(2) * self.inflation;
        variance.max(self.common / 2.0).sqrt()
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
        self.variance_and_freedom(spread).0
    }

    fn variance_and_freedom(&self, spread: &Spread) -> (f64, f64) {
        if self.effect.runs > 0 {
            let variance = self.variance_with(&self.effect).max(spread.common);
            return (variance, self.effect.freedom);
        }
        let variance = (self.variance_with(&self.effect) * spread.inflation).max(spread.common);
        let bound = self.variance_with(&DEFAULT_SYSTEM_VARIANCE);
        match spread.different_systems && variance > bound {
            true => (bound, DEFAULT_SYSTEM_VARIANCE.freedom),
            false => (variance, spread.freedom),
        }
    }

    fn variance_with(&self, effect: &Scatter) -> f64 {
        let of_side = |side: usize| {
            let median = self.medians[side];
            // variance of one run
            let within = self.within[side] * median.runs as f64;
            effect.run_variance(within) * median.share
        };
        of_side(0) + of_side(1) + self.frequency
    }

    pub(super) fn ratio(&self, spread: &Spread, confidence: f64) -> Ratio {
        let (variance, freedom) = self.variance_and_freedom(spread);
        // identical launches have no variance to divide by
        two_sample::student(self.ln_ratio, variance.max(1e-18), freedom, confidence)
    }
}
