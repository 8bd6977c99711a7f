//! Variance of unchanged benchmarks between runs of a system.
//!
//! Two-way model of y = ln(estimate) of benchmark b in run r: y = m(b) + s(r) + e(b, r). The shift s(r) moves all
//! benchmarks of a run alike (frequency, temperature, a neighbor); e has a variance for each benchmark. A few runs
//! estimate one variance badly, but many benchmarks give the distribution of variances, towards which each is
//! moderated (Smyth 2004, "Linear models and empirical Bayes methods", Stat. Appl. Genet. Mol. Biol. 3(1), equations 4
//! and 7 and section 6.2). Fewer than half of the benchmarks may have changed; docs/validation.md has rates of false
//! calls and power.

use crate::descriptive;
use statrs::function::gamma::digamma;

/// Fewest benchmarks of which a shift and a distribution of variances are estimated.
pub const MIN_BENCHMARKS: usize = 8;
/// Fewest runs that give a variance.
pub const MIN_RUNS: usize = 3;
/// Most degrees of freedom that the distribution lends. The variances of real benchmarks have longer tails than the model's: with 30
/// in place of 10, false calls rise by a percent (docs/validation.md).
const MAX_PRIOR_DF: f64 = 10.0;

/// An estimated variance and its degrees of freedom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variance {
    /// Of ln(estimate) of one run.
    pub value: f64,
    /// Degrees of freedom, finite.
    pub df: f64,
}

impl Variance {
    /// Of at least two values.
    fn new(values: &[f64]) -> Self {
        Self {
            value: descriptive::deviation(values).powi(2),
            df: values.len() as f64 - 1.0,
        }
    }

    /// Shrinks this variance towards the distribution.
    #[must_use]
    pub fn moderated(self, prior: Self) -> Self {
        let df = self.df + prior.df;
        Self {
            value: (self.df * self.value + prior.df * prior.value) / df,
            df,
        }
    }
}

/// The model as fitted to the runs of one system.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Shift of each run, natural logarithm; 0 for all where there are fewer than [`MIN_BENCHMARKS`].
    pub shifts: Vec<f64>,
    /// Variance of the shifts; `None` where there are too few benchmarks or runs.
    pub shift: Option<Variance>,
    /// Moderated variance of each benchmark, in the order given, less the shifts.
    pub benchmarks: Vec<Variance>,
}

/// Fits the model to ln(estimate) by benchmark and run, with `None` for gaps. A benchmark with fewer than [`MIN_RUNS`]
/// values gets the variance of the distribution, or `stated` if fewer than [`MIN_BENCHMARKS`] define it.
#[must_use]
pub fn fit(values: &[Vec<Option<f64>>], stated: Variance) -> Fit {
    let runs = values.iter().map(Vec::len).max().unwrap_or(0);
    let shifts = shifts(values, runs);
    let variances: Vec<Option<Variance>> = values
        .iter()
        .map(|of| {
            let known = of.iter().zip(&shifts);
            let residuals: Vec<f64> = known.filter_map(|(y, s)| Some((*y)? - s)).collect();
            (residuals.len() >= MIN_RUNS).then(|| Variance::new(&residuals))
        })
        .collect();
    let prior = distribution(&variances);
    Fit {
        shift: (values.len() >= MIN_BENCHMARKS && runs >= MIN_RUNS).then(|| Variance::new(&shifts)),
        benchmarks: variances
            .iter()
            .map(|variance| match (variance, prior) {
                (Some(variance), Some(prior)) => variance.moderated(prior),
                (Some(variance), None) => *variance,
                (None, prior) => prior.unwrap_or(stated),
            })
            .collect(),
        shifts,
    }
}

/// Common shifts: the median over benchmarks of the distance to their mean over runs, both found in turn where runs
/// lack benchmarks.
fn shifts(values: &[Vec<Option<f64>>], runs: usize) -> Vec<f64> {
    let mut shifts = vec![0.0; runs];
    if values.len() < MIN_BENCHMARKS {
        return shifts;
    }
    for _ in 0..4 {
        let centers: Vec<Option<f64>> = values
            .iter()
            .map(|of| mean(of.iter().zip(&shifts).filter_map(|(y, s)| Some((*y)? - s))))
            .collect();
        for (run, shift) in shifts.iter_mut().enumerate() {
            let of = values.iter().zip(&centers);
            let residuals = of.filter_map(|(of, m)| Some((*of.get(run)?)? - (*m)?));
            *shift = median(residuals).unwrap_or(0.0);
        }
    }
    shifts
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| descriptive::mean(&values))
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| descriptive::median(&descriptive::sorted(&values)))
}

/// The prior distribution of variances; `None` with fewer than [`MIN_BENCHMARKS`].
pub(crate) fn distribution(variances: &[Option<Variance>]) -> Option<Variance> {
    let known: Vec<Variance> = variances.iter().copied().flatten().collect();
    (known.len() >= MIN_BENCHMARKS).then(|| prior(&known))
}

/// The distribution of variances, as the scaled inverse chi-square whose logarithm has the mean and the variance seen.
fn prior(of: &[Variance]) -> Variance {
    // a benchmark that never differed has a logarithm too: that of a variance below all clocks
    let logs: Vec<f64> = of
        .iter()
        .map(|s| s.value.max(1e-12).ln() - digamma(s.df / 2.0) + (s.df / 2.0).ln())
        .collect();
    let within = of.iter().map(|s| trigamma(s.df / 2.0)).sum::<f64>() / of.len() as f64;
    let beyond = descriptive::deviation(&logs).powi(2) - within;
    let df = match beyond > 0.0 {
        true => (2.0 * inverse_trigamma(beyond)).min(MAX_PRIOR_DF),
        false => MAX_PRIOR_DF,
    };
    Variance {
        value: (descriptive::mean(&logs) + digamma(df / 2.0) - (df / 2.0).ln()).exp(),
        df,
    }
}

/// Second derivative of ln Gamma for x > 0: recurrence up to 8, then the asymptotic series (Abramowitz and Stegun 6.4.12).
fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 8.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let i = 1.0 / x;
    let squared = i * i;
    sum + i + squared / 2.0 + i * squared * (1.0 / 6.0 - squared * (1.0 / 30.0 - squared / 42.0))
}

/// x > 0 with trigamma(x) = y > 0, by halving: trigamma falls from infinity to 0.
fn inverse_trigamma(y: f64) -> f64 {
    let (mut low, mut high): (f64, f64) = (1e-8, 1e8);
    for _ in 0..100 {
        let middle = (low * high).sqrt();
        if trigamma(middle) > y {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    const STATED: Variance = Variance {
        value: 1e-4,
        df: 4.0,
    };

    #[test]
    fn trigamma_as_printed() {
        assert!((trigamma(1.0) - PI * PI / 6.0).abs() < 1e-9);
        assert!((trigamma(0.5) - PI * PI / 2.0).abs() < 1e-9);
        assert!((trigamma(10.0) - 0.105_166_335_7).abs() < 1e-9);
        for x in [0.3, 1.0, 7.0, 40.0] {
            assert!((inverse_trigamma(trigamma(x)) / x - 1.0).abs() < 1e-9);
        }
    }

    /// Benchmark b of run r: b + shift(r) + amplitude(b) of a pattern whose median over the benchmarks is 0.
    fn sample_runs(shifts: &[f64], amplitudes: &[f64]) -> Vec<Vec<Option<f64>>> {
        let of = |b: usize, r: usize| {
            let sign = [1.0, -1.0, 0.0][(b + r) % 3];
            Some(b as f64 + shifts[r] + sign * amplitudes[b])
        };
        (0..amplitudes.len())
            .map(|b| (0..shifts.len()).map(|r| of(b, r)).collect())
            .collect()
    }

    #[test]
    fn common_shift_is_no_variance() {
        let shifts = [0.0, 0.03, -0.01, 0.02, 0.0, 0.01];
        let found = fit(&sample_runs(&shifts, &[1e-3; 9]), STATED);
        let moved = |r: usize| found.shifts[r] - found.shifts[0] - shifts[r];
        assert!((0..6).all(|r| moved(r).abs() <= 1e-3), "{:?}", found.shifts);
        // sum of squares of 1, -1, 0, 1, -1, 0 over 5 degrees of freedom
        let expected = 4e-6 / 5.0;
        for found in &found.benchmarks {
            assert!((found.df - 15.0).abs() < 1e-9, "{found:?}");
            assert!((found.value / expected).ln().abs() < 0.3, "{found:?}");
        }
        let shift = found.shift.unwrap();
        assert!((shift.value.sqrt() - 0.0147).abs() < 1e-4 && shift.df == 5.0);
    }

    #[test]
    fn high_variance_is_shrunk_little() {
        let mut amplitudes = [1e-3; 24];
        amplitudes[5] = 0.03;
        let found = fit(&sample_runs(&[0.0; 6], &amplitudes), STATED);
        let [quiet, restless] = [4, 5].map(|b| found.benchmarks[b].value.sqrt());
        assert!(quiet < 2e-3 && restless > 8e-3, "{quiet} {restless}");
    }

    #[test]
    fn few_runs_keep_the_default() {
        let two = fit(&sample_runs(&[0.0, 0.02], &[1e-3; 12]), STATED);
        assert_eq!((two.benchmarks[3], two.shift), (STATED, None));
        let few = fit(&sample_runs(&[0.0, 0.02, 0.01, 0.0], &[1e-3; 3]), STATED);
        assert_eq!((few.shifts, few.shift), (vec![0.0; 4], None));
        assert_eq!(few.benchmarks[0].df, 3.0);
        assert_eq!(fit(&[], STATED).benchmarks, []);
    }

    #[test]
    fn missing_benchmarks_are_allowed() {
        let mut values = sample_runs(&[0.0, 0.02, 0.01, 0.03], &[1e-3; 9]);
        values[0] = vec![None, Some(0.02), None, Some(0.03)];
        let found = fit(&values, STATED);
        let prior = found.benchmarks[0];
        assert!(prior.df <= MAX_PRIOR_DF && found.benchmarks[1].df == prior.df + 3.0);
    }
}
