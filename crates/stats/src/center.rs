//! One figure: the pseudo-median over launches with its interval.

use crate::order;
use crate::rungs::{Rungs, Stretch};
use crate::scatter::Scatter;
use crate::serial;
use statrs::distribution::{Binomial, DiscreteCDF};

/// A center with its interval, in the unit of the values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The pseudo-median (Hodges-Lehmann): the median of the averages of all pairs of values.
    pub value: f64,
    /// Interval by inversion of the signed-rank test, `widened`; `None` when the values are too few for the test to
    /// reach the confidence (fewer than 6 for 95 %, 8 for 99 %).
    pub interval: Option<[f64; 2]>,
    /// Interval of the median by order statistics, a check that asks nothing of the shape; widened like the other.
    pub median_interval: Option<[f64; 2]>,
    /// Lag-1 autocorrelation of the values (of their logarithms for [`log_center`]) in the order of time.
    pub rho1: f64,
    /// Factor by which both intervals were widened about their centers for it: sqrt((1 + rho) / (1 - rho)) with rho the
    /// autocorrelation freed of its bias, when that is above 2 / sqrt(n), 3 at most; else 1.
    pub widened: f64,
}

/// Center of positive values, one a launch in the order of time: the pseudo-median of ln(value), exponentiated. Widening
/// is done on the logarithms.
///
/// `None` when there is no value, more than 1,000, or one that is not positive and finite.
#[must_use]
pub fn log_center(values: &[f64], confidence: f64) -> Option<Estimate> {
    log_center_between(values, 0.0, confidence)
}

/// [`log_center`] with an interval for the machine, not for this run of it: the scatter of ln(figure) between runs is
/// added in quadrature (see [`crate::scatter`] for what it is and what to take). A drift slower than the run moves all
/// its launches together, and no statistics inside the run can see it.
///
/// `None` when there is no value, more than 1,000, or one that is not positive and finite.
#[must_use]
pub fn log_center_between(
    values: &[f64],
    between: impl Into<Scatter>,
    confidence: f64,
) -> Option<Estimate> {
    let estimate = center(&order::logs(values)?, between.into(), confidence);
    let exp = |[low, high]: [f64; 2]| [low.exp(), high.exp()];
    Some(Estimate {
        value: estimate.value.exp(),
        interval: estimate.interval.map(exp),
        median_interval: estimate.median_interval.map(exp),
        ..estimate
    })
}

/// Center of values that may be negative, such as differences, one a launch in the order of time.
///
/// `None` when there is no value, more than 1,000, or one that is not finite.
#[must_use]
pub fn plain_center(values: &[f64], confidence: f64) -> Option<Estimate> {
    plain_center_between(values, 0.0, confidence)
}

/// [`plain_center`] with what [`log_center_between`] adds, as a share of the center.
///
/// `None` when there is no value, more than 1,000, or one that is not finite.
#[must_use]
pub fn plain_center_between(
    values: &[f64],
    between: impl Into<Scatter>,
    confidence: f64,
) -> Option<Estimate> {
    let some = (1..=order::MOST).contains(&values.len());
    let fit = some && values.iter().all(|x| x.is_finite());
    fit.then(|| {
        let between = between.into();
        let extra = Scatter {
            ln_sd: between.ln_sd * order::pseudo_median(values).abs(),
            ..between
        };
        center(values, extra, confidence)
    })
}

fn center(values: &[f64], extra: Scatter, confidence: f64) -> Estimate {
    let rungs = Rungs::one(values);
    let rho1 = serial::rho1(values);
    let widened = serial::widening(rho1, values.len());
    let stretch = Stretch {
        factor: widened,
        extra,
    };
    Estimate {
        value: rungs.center(),
        interval: rungs.interval(confidence, stretch),
        median_interval: median_interval(values, confidence, stretch),
        rho1,
        widened,
    }
}

/// Where the median lies: the interval by order statistics, and between the least and the most of values that are too few for one.
pub fn ends_of_median(values: &[f64], confidence: f64) -> Option<[f64; 2]> {
    let found = median_interval(values, confidence, Stretch::NONE);
    let sorted = order::sorted(values);
    found.or_else(|| Some([*sorted.first()?, *sorted.last()?]))
}

/// The k-th smallest and the k-th largest value, k as large as 2 P(B < k) <= 1 - confidence allows, B binomial
/// with one half; stretched about the median.
fn median_interval(values: &[f64], confidence: f64, stretch: Stretch) -> Option<[f64; 2]> {
    let n = values.len();
    let binomial = Binomial::new(0.5, n as u64).ok()?;
    let level = 1.0 - confidence + 1e-12;
    let k = (0..n / 2)
        .take_while(|below| 2.0 * binomial.cdf(*below as u64) <= level)
        .count();
    let sorted = order::sorted(values);
    (k > 0).then(|| {
        stretch.about(
            order::median(&sorted),
            [sorted[k - 1], sorted[n - k]],
            confidence,
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No two averages are the same, and no order is hidden in it.
    const TEN: [f64; 10] = [3.0, 1024.0, 9.0, 1.0, 243.0, 27.0, 512.0, 81.0, 5.0, 77.0];

    #[test]
    fn ten_values_by_hand() {
        let estimate = plain_center(&TEN, 0.95).unwrap();
        let averages = order::walsh(&TEN);
        assert_eq!(estimate.value, averages[27]);
        // 2 P(W <= 8) = .0488: the 9th from both ends
        assert_eq!(estimate.interval, Some([averages[8], averages[46]]));
        // 2 P(B <= 1) = .0215, 2 P(B <= 2) = .109: the 2nd from both ends
        assert_eq!(estimate.median_interval, Some([3.0, 512.0]));
        assert_eq!(estimate.widened, 1.0);
    }

    #[test]
    fn logarithms_commute_with_exponentials() {
        let estimate = log_center(&TEN.map(f64::exp), 0.95);
        assert!(estimate.is_none(), "exp(1024) is not finite");
        let small = TEN.map(|x| x / 100.0);
        let (log, plain) = (
            log_center(&small.map(f64::exp), 0.95).unwrap(),
            plain_center(&small, 0.95).unwrap(),
        );
        assert!((log.value.ln() - plain.value).abs() < 1e-9);
        for (a, b) in log.interval.unwrap().iter().zip(plain.interval.unwrap()) {
            assert!((a.ln() - b).abs() < 1e-9);
        }
        assert!((log.rho1 - plain.rho1).abs() < 1e-9);
    }

    #[test]
    fn too_few_values_have_no_interval() {
        let values: Vec<f64> = (1..=12).map(|x| f64::from(x * x % 13)).collect();
        for n in 1..=12 {
            let at = |confidence| plain_center(&values[..n], confidence).unwrap();
            assert_eq!(at(0.95).interval.is_some(), n >= 6, "{n}");
            assert_eq!(at(0.95).median_interval.is_some(), n >= 6, "{n}");
            assert_eq!(at(0.99).interval.is_some(), n >= 8, "{n}");
        }
    }

    #[test]
    fn what_has_no_center() {
        assert!(log_center(&[], 0.95).is_none());
        assert!(log_center(&[1.0, 0.0], 0.95).is_none());
        assert!(log_center(&[1.0, -1.0], 0.95).is_none());
        assert!(log_center(&[1.0, f64::NAN], 0.95).is_none());
        assert!(plain_center(&[], 0.95).is_none());
        assert!(plain_center(&[1.0; order::MOST + 1], 0.95).is_none());
        assert!(plain_center(&[1.0, f64::INFINITY], 0.95).is_none());
        assert_eq!(plain_center(&[-3.0], 0.95).unwrap().value, -3.0);
    }

    #[test]
    fn equal_values_have_an_interval_without_width() {
        let estimate = log_center(&[7.0; 8], 0.95).unwrap();
        let [low, high] = estimate.interval.unwrap();
        assert!((estimate.value - 7.0).abs() < 1e-12 && low == high);
    }

    #[test]
    fn what_runs_differ_by_is_added_in_quadrature() {
        let small = TEN.map(|x| (x / 100.0).exp());
        let run = log_center(&small, 0.95).unwrap();
        let machine = log_center_between(&small, 0.5, 0.95).unwrap();
        assert_eq!(run.value, machine.value);
        let halves = |e: &Estimate| e.interval.unwrap().map(|x| (x / e.value).ln().abs());
        for (run, machine) in halves(&run).iter().zip(halves(&machine)) {
            assert!((run.hypot(1.959_964 * 0.5) - machine).abs() < 1e-6);
        }
        assert!(machine.median_interval.unwrap()[0] < run.median_interval.unwrap()[0]);
    }

    #[test]
    fn a_difference_moves_with_its_terms() {
        let values = TEN.map(|x| x - 20.0);
        let run = plain_center(&values, 0.95).unwrap();
        let machine = plain_center_between(&values, 0.5, 0.95).unwrap();
        let halves = |e: &Estimate| e.interval.unwrap().map(|x| (x - e.value).abs());
        for (seen, all) in halves(&run).iter().zip(halves(&machine)) {
            assert!((seen.hypot(1.959_964 * 0.5 * run.value) - all).abs() < 1e-3);
        }
    }

    #[test]
    fn a_drifting_series_is_widened_about_its_center() {
        let line: Vec<f64> = (0..20).map(f64::from).collect();
        let estimate = plain_center(&line, 0.95).unwrap();
        assert!(estimate.widened > 2.0, "{estimate:?}");
        let shuffled: Vec<f64> = (0..20).map(|i| f64::from(i * 7 % 20)).collect();
        let plain = plain_center(&shuffled, 0.95).unwrap();
        assert_eq!(plain.widened, 1.0);
        let half = |e: &Estimate| e.interval.unwrap()[1] - e.value;
        assert!((half(&estimate) - estimate.widened * half(&plain)).abs() < 1e-9);
    }
}
