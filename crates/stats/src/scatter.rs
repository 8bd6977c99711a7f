//! Variance between runs of one system beyond that of their launches, and its degrees of freedom.

use crate::moderated::Variance;

/// Standard deviation of ln(estimate), with degrees of freedom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scatter {
    /// Standard deviation of ln(estimate) of one run, or of a difference.
    pub ln_sd: f64,
    /// Degrees of freedom; infinite for a known value.
    pub freedom: f64,
    /// Number of runs that it was learned from; 0 for a default.
    pub runs: usize,
    /// Part of the variance that is explained by launches; 0 for a default.
    pub within: f64,
}

/// A known standard deviation.
impl From<f64> for Scatter {
    fn from(ln_sd: f64) -> Self {
        Self::known(ln_sd)
    }
}

impl From<Scatter> for Variance {
    fn from(scatter: Scatter) -> Self {
        Self { value: scatter.ln_sd * scatter.ln_sd, df: scatter.freedom }
    }
}

impl Scatter {
    /// A known standard deviation.
    pub const fn known(ln_sd: f64) -> Self {
        Self { ln_sd, freedom: f64::INFINITY, runs: 0, within: 0.0 }
    }

    /// An assumed one with few degrees of freedom.
    pub const fn stated(ln_sd: f64, freedom: f64) -> Self {
        Self { ln_sd, freedom, runs: 0, within: 0.0 }
    }

    /// Variance of ln(estimate) of a run with launch variance `within`: a learned one includes the errors of usual launches.
    pub fn run_variance(&self, within: f64) -> f64 {
        let variance = self.ln_sd * self.ln_sd;
        match self.runs {
            0 => variance + within,
            _ => run_variance(variance, self.within, within),
        }
    }

    /// Standard deviation of the run effect, without that of launches.
    pub fn beyond_launches(&self) -> f64 {
        (self.ln_sd * self.ln_sd - self.within).max(0.0).sqrt()
    }

    /// Scatter of the difference of two such runs.
    #[must_use]
    pub fn of_difference(self) -> Self {
        Self { ln_sd: self.ln_sd * std::f64::consts::SQRT_2, ..self }
    }

    /// For one run of two sides with different scatter: the root of the mean of the squares, with the degrees of freedom of Satterthwaite
    /// (1946).
    #[must_use]
    pub fn mean(self, other: Self) -> Self {
        let (a, b) = (self.ln_sd * self.ln_sd, other.ln_sd * other.ln_sd);
        let unsure = a * a / self.freedom + b * b / other.freedom;
        Self {
            ln_sd: f64::midpoint(a, b).sqrt(),
            freedom: if unsure > 0.0 { (a + b).powi(2) / unsure } else { f64::INFINITY },
            runs: self.runs.min(other.runs),
            within: f64::midpoint(self.within, other.within),
        }
    }
}

/// Variance of a run with launch variance `within`, if usual runs have `variance` and launch variance `usual`. Launches that scatter more
/// than runs overstate it.
pub(crate) fn run_variance(variance: f64, usual: f64, within: f64) -> f64 {
    let overstated = (variance / usual).min(1.0);
    variance + (within - usual).max(0.0) * if usual > 0.0 { overstated } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wider_launches_widen_a_run() {
        assert_eq!(run_variance(4.0, 1.0, 0.5), 4.0);
        assert_eq!(run_variance(4.0, 1.0, 3.0), 6.0);
        assert_eq!(run_variance(4.0, 0.0, 3.0), 7.0);
        // runs differ by a quarter of the variance of their launches
        assert_eq!(run_variance(1.0, 4.0, 12.0), 3.0);
    }

    #[test]
    fn variances_of_two_sides_combine() {
        let learned = |ln_sd| Scatter { ln_sd, freedom: 4.0, runs: 5, within: 0.0 };
        let both = learned(0.01).mean(learned(0.01));
        assert!((both.ln_sd - 0.01).abs() < 1e-15 && (both.freedom - 8.0).abs() < 1e-9);
        // (1 + 4)^2 / (1 / 4 + 16 / infinity) = 100
        let both = learned(0.01).mean(Scatter::known(0.02));
        assert!((both.ln_sd - 0.01 * 2.5_f64.sqrt()).abs() < 1e-15);
        assert!((both.freedom - 100.0).abs() < 1e-9 && both.runs == 0);
        let none = Scatter::known(0.0).mean(Scatter::known(0.0));
        assert!(none.ln_sd == 0.0 && none.freedom.is_infinite());
    }
}
