//! Quantiles and tails of the normal, Student's and the chi-square distribution.

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal, StudentsT};

/// z with P(|Z| <= z) = `confidence`.
pub fn normal(confidence: f64) -> f64 {
    Normal::standard().inverse_cdf(f64::midpoint(1.0, confidence))
}

/// P(|Z| >= z) for z >= 0.
pub fn normal_tails(z: f64) -> f64 {
    if z.is_infinite() {
        return 0.0;
    }
    (2.0 * Normal::standard().sf(z)).min(1.0)
}

/// t with P(|T| <= t) = `confidence` for `freedom` degrees of freedom; the normal quantile if these are infinite, infinite if there are
/// none.
pub fn student(confidence: f64, freedom: f64) -> f64 {
    if freedom.is_infinite() {
        return normal(confidence);
    }
    StudentsT::new(0.0, 1.0, freedom)
        .map_or(f64::INFINITY, |t| t.inverse_cdf(f64::midpoint(1.0, confidence)))
}

/// P(|T| >= t) for t >= 0; 1 for NaN, as of zero over zero.
pub fn student_tails(t: f64, freedom: f64) -> f64 {
    if t.is_nan() {
        return 1.0;
    }
    if t.is_infinite() || freedom.is_infinite() {
        return normal_tails(t);
    }
    StudentsT::new(0.0, 1.0, freedom).map_or(1.0, |known| (2.0 * known.sf(t)).min(1.0))
}

/// x with P(X <= x) = `share` for `freedom` degrees of freedom, at least one, by bisection of the distribution function: the inverse of
/// `statrs` is 0 for small shares of one degree.
pub fn chi_square(share: f64, freedom: f64) -> f64 {
    let Ok(known) = ChiSquared::new(freedom) else {
        return f64::NAN;
    };
    let (mut low, mut high) = (0.0, freedom);
    while known.cdf(high) < share {
        high *= 2.0;
    }
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if known.cdf(middle) < share {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    #[test]
    fn zero_over_zero_is_equal() {
        assert_eq!(super::student_tails(f64::NAN, 4.0), 1.0);
        assert_eq!(super::student_tails(f64::INFINITY, 4.0), 0.0);
    }

    use super::*;

    #[test]
    fn quantiles_equal_printed_tables() {
        assert!((normal(0.95) - 1.959_964).abs() < 1e-5);
        assert!((normal_tails(2.575_829) - 0.01).abs() < 1e-7);
        assert!((student(0.95, 5.0) - 2.570_582).abs() < 1e-5);
        assert!((student(0.99, 9.0) - 3.249_836).abs() < 1e-5);
        assert!((student(0.95, 1000.0) - 1.962_339).abs() < 1e-5);
        assert!(student(0.95, 0.0).is_infinite());
        assert!(normal_tails(f64::INFINITY) == 0.0 && normal_tails(0.0) == 1.0);
        assert_eq!(student(0.95, f64::INFINITY), normal(0.95));
        assert!((student_tails(4.604_095, 4.0) - 0.01).abs() < 1e-7);
        assert_eq!(student_tails(1.0, f64::INFINITY), normal_tails(1.0));
        assert_eq!(student_tails(f64::INFINITY, 4.0), 0.0);
        assert!((chi_square(0.975, 4.0) - 11.143_287).abs() < 1e-5);
        assert!((chi_square(0.025, 4.0) - 0.484_419).abs() < 1e-5);
        assert!((chi_square(0.025, 1.0) - 0.000_982_1).abs() < 1e-6);
        assert!((chi_square(0.975, 1.0) - 5.023_886).abs() < 1e-5);
        assert!((chi_square(0.025, 99.0) - 73.361_08).abs() < 1e-4);
    }
}
