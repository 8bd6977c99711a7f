//! The pseudo-median over launches, with its interval.

use crate::descriptive;
use crate::rank_intervals::RankIntervals;
use crate::scatter::Scatter;
use statrs::distribution::{Binomial, DiscreteCDF};

/// A center with its interval, in the unit of the values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The pseudo-median (Hodges-Lehmann): the median of the averages of all pairs of values.
    pub value: f64,
    /// Interval by inversion of the signed-rank test; `None` when the values are too few for the test to reach the confidence (fewer
    /// than 6 for 95%, 8 for 99%).
    pub interval: Option<[f64; 2]>,
}

/// Center of positive values, one per launch: the pseudo-median of ln(value), exponentiated.
///
/// `None` when there is no value, more than 1,000, or one that is not positive and finite.
pub fn log_center(values: &[f64], confidence: f64) -> Option<Estimate> {
    let estimate = plain_center(&descriptive::logs(values)?, confidence)?;
    Some(Estimate {
        value: estimate.value.exp(),
        interval: estimate.interval.map(|ends| ends.map(f64::exp)),
    })
}

/// Center of values that may be negative, such as differences, one per launch.
///
/// `None` when there is no value, more than 1,000, or one that is not finite.
pub fn plain_center(values: &[f64], confidence: f64) -> Option<Estimate> {
    let in_range = (1..=descriptive::MAX_VALUES).contains(&values.len());
    let is_valid = in_range && values.iter().all(|x| x.is_finite());
    is_valid.then(|| {
        let ranks = RankIntervals::one(values);
        Estimate {
            value: ranks.center(),
            interval: ranks.interval(confidence, Scatter::known(0.0)),
        }
    })
}

/// Interval of the median by order statistics: from the k-th smallest to the k-th largest value, with the largest k for which 2 P(B < k) <=
/// 1 - confidence, B ~ Binomial(n, 1/2). With too few values for this confidence, their full range.
pub fn ends_of_median(values: &[f64], confidence: f64) -> Option<[f64; 2]> {
    let n = values.len();
    let binomial = Binomial::new(0.5, n as u64).ok()?;
    let level = 1.0 - confidence + 1e-12; // tolerance for rounding
    let is_within_level = |below: &usize| 2.0 * binomial.cdf(*below as u64) <= level;
    let k = (0..n / 2).take_while(is_within_level).count().max(1);
    let sorted = descriptive::sorted(values);
    Some([*sorted.get(k - 1)?, *sorted.get(n - k)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No ties among the averages, and in no particular order.
    const TEN: [f64; 10] = [3.0, 1024.0, 9.0, 1.0, 243.0, 27.0, 512.0, 81.0, 5.0, 77.0];

    #[test]
    fn ten_values_by_hand() {
        let estimate = plain_center(&TEN, 0.95).unwrap();
        let averages = descriptive::walsh(&TEN);
        assert_eq!(estimate.value, averages[27]);
        // 2 P(W <= 8) = .0488: the 9th from both ends
        assert_eq!(estimate.interval, Some([averages[8], averages[46]]));
        // 2 P(B <= 1) = .0215, 2 P(B <= 2) = .109: the 2nd from both ends
        assert_eq!(ends_of_median(&TEN, 0.95), Some([3.0, 512.0]));
        assert_eq!(ends_of_median(&TEN[..3], 0.95), Some([3.0, 1024.0]));
        assert_eq!(ends_of_median(&[], 0.95), None);
    }

    #[test]
    fn logarithms_commute_with_exponentials() {
        let estimate = log_center(&TEN.map(f64::exp), 0.95);
        assert!(estimate.is_none(), "exp(1024) is not finite");
        let small = TEN.map(|x| x / 100.0);
        let (log, plain) =
            (log_center(&small.map(f64::exp), 0.95).unwrap(), plain_center(&small, 0.95).unwrap());
        assert!((log.value.ln() - plain.value).abs() < 1e-9);
        for (a, b) in log.interval.unwrap().iter().zip(plain.interval.unwrap()) {
            assert!((a.ln() - b).abs() < 1e-9);
        }
    }

    #[test]
    fn few_values_have_no_interval() {
        let values: Vec<f64> = (1..=12).map(|x| f64::from(x * x % 13)).collect();
        for n in 1..=12 {
            let center = |confidence| plain_center(&values[..n], confidence).unwrap();
            assert_eq!(center(0.95).interval.is_some(), n >= 6, "{n}");
            assert_eq!(center(0.99).interval.is_some(), n >= 8, "{n}");
        }
    }

    #[test]
    fn invalid_values_have_no_center() {
        assert!(log_center(&[], 0.95).is_none());
        assert!(log_center(&[1.0, 0.0], 0.95).is_none());
        assert!(log_center(&[1.0, -1.0], 0.95).is_none());
        assert!(log_center(&[1.0, f64::NAN], 0.95).is_none());
        assert!(plain_center(&[], 0.95).is_none());
        assert!(plain_center(&[1.0; descriptive::MAX_VALUES + 1], 0.95).is_none());
        assert!(plain_center(&[1.0, f64::INFINITY], 0.95).is_none());
        assert_eq!(plain_center(&[-3.0], 0.95).unwrap().value, -3.0);
    }

    #[test]
    fn equal_values_have_zero_width() {
        let estimate = log_center(&[7.0; 8], 0.95).unwrap();
        let [low, high] = estimate.interval.unwrap();
        assert!((estimate.value - 7.0).abs() < 1e-12 && low == high);
    }
}
