//! Variances of many benchmarks, each poorly estimated from a few runs: together they give the distribution of variances, towards which
//! each is moderated (Smyth 2004, "Linear models and empirical Bayes methods", Stat. Appl. Genet. Mol. Biol. 3(1), equations 4 and 7 and
//! section 6.2).

use crate::descriptive;
use statrs::function::gamma::digamma;

/// Most degrees of freedom from the distribution. The variances of real benchmarks have longer tails than the model's: with 30 in place of
/// 10, false calls of fleets of four nodes rise from 0.6 to 3.7% of nodes (docs/validation.md).
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
    /// Shrinks this variance towards the distribution.
    #[must_use]
    pub fn moderated(self, prior: Self) -> Self {
        let df = self.df + prior.df;
        Self { value: (self.df * self.value + prior.df * prior.value) / df, df }
    }
}

/// The prior distribution of variances; `None` with fewer than two.
pub fn distribution(variances: &[Option<Variance>]) -> Option<Variance> {
    let known: Vec<Variance> = variances.iter().copied().flatten().collect();
    (known.len() > 1).then(|| prior(&known))
}

/// The scaled inverse chi-square distribution whose logarithm has the observed mean and variance.
fn prior(variances: &[Variance]) -> Variance {
    // a benchmark without scatter needs a logarithm too: that of a variance below any clock's resolution
    let logs: Vec<f64> = variances
        .iter()
        .map(|s| s.value.max(1e-12).ln() - digamma(s.df / 2.0) + (s.df / 2.0).ln())
        .collect();
    let within =
        variances.iter().map(|s| trigamma(s.df / 2.0)).sum::<f64>() / variances.len() as f64;
    let beyond = descriptive::deviation(&logs).powi(2) - within;
    let df = match beyond > 0.0 {
        true => (2.0 * inverse_trigamma(beyond)).min(MAX_PRIOR_DF),
        false => MAX_PRIOR_DF,
    };
    Variance { value: (descriptive::mean(&logs) + digamma(df / 2.0) - (df / 2.0).ln()).exp(), df }
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

/// x > 0 with trigamma(x) = y > 0, by bisection: trigamma falls from infinity to 0.
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

    #[test]
    fn trigamma_as_printed() {
        assert!((trigamma(1.0) - PI * PI / 6.0).abs() < 1e-9);
        assert!((trigamma(0.5) - PI * PI / 2.0).abs() < 1e-9);
        assert!((trigamma(10.0) - 0.105_166_335_7).abs() < 1e-9);
        for x in [0.3, 1.0, 7.0, 40.0] {
            assert!((inverse_trigamma(trigamma(x)) / x - 1.0).abs() < 1e-9);
        }
    }

    fn variances(values: &[f64]) -> Vec<Option<Variance>> {
        let variance = |&value: &f64| Some(Variance { value, df: 5.0 });
        values.iter().map(variance).collect()
    }

    #[test]
    fn high_variance_is_shrunk_little() {
        let mut values = [1e-6; 24];
        values[5] = 1e-3;
        let all = variances(&values);
        let prior = distribution(&all).unwrap();
        let [quiet, restless] =
            [4, 5].map(|index: usize| all[index].unwrap().moderated(prior).value.sqrt());
        assert!(quiet < 2e-3 && restless > 8e-3, "{quiet} {restless}");
    }

    #[test]
    fn equal_variances_have_one_prior() {
        assert!(distribution(&variances(&[1e-6])).is_none());
        let prior = distribution(&variances(&[1e-6; 2])).unwrap();
        // equal variances imply a single true one
        assert!(prior.df == MAX_PRIOR_DF && (prior.value / 1e-6).ln().abs() < 0.3, "{prior:?}");
    }
}
