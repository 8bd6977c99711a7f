//! The ratio of two samples with interval and p.

use crate::rank_intervals::RankIntervals;
use crate::scatter::Scatter;
use crate::{descriptive, paired_ranks, quantile};

/// Other over base.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Estimate: that of Hodges and Lehmann, or of [`paired_ranks::test`].
    pub ratio: f64,
    /// Interval; `None` when the values are too few for the test to reach the confidence.
    pub interval: Option<[f64; 2]>,
    /// Two-sided p of a ratio of 1: the smallest level at which the interval excludes 1. With few values it is at least 2 / C(n + m, n),
    /// .0022 for 6 against 6.
    pub p: Option<f64>,
}

impl Ratio {
    /// Base over other.
    #[must_use]
    pub fn inverse(self) -> Self {
        let interval = self.interval.map(|[low, high]| [1.0 / high, 1.0 / low]);
        Self { ratio: 1.0 / self.ratio, interval, p: self.p }
    }
}

/// Two sets of launches that were not interleaved, each in the order of time: the median of ln(other_j / base_i) over
/// all pairs, and the rank-sum test inverted, both exponentiated.
///
/// `extra` is the scatter of the difference of both sides that launches do not show, since all launches of a run share it: for two runs of
/// the machine, [`Scatter::of_difference`]. The half-widths of the interval and t times the standard deviation are added in quadrature, t
/// Student's quantile for its degrees of freedom, and p is that of the widened interval. With 0 both are the exact test's.
///
/// `None` when a side is empty, has more than 1,000 values, or one that is not positive and finite.
pub fn ratio(
    base: &[f64],
    other: &[f64],
    extra: impl Into<Scatter>,
    confidence: f64,
) -> Option<Ratio> {
    let intervals = RankIntervals::two(&descriptive::logs(base)?, &descriptive::logs(other)?);
    Some(conclude(&intervals, extra.into(), confidence))
}

/// A ratio with a known variance of its logarithm.
pub fn student(center: f64, variance: f64, freedom: f64, confidence: f64) -> Ratio {
    let sd = variance.sqrt();
    let half = quantile::student(confidence, freedom) * sd;
    let t = if center == 0.0 { 0.0 } else { center.abs() / sd };
    Ratio {
        ratio: center.exp(),
        interval: Some([(center - half).exp(), (center + half).exp()]),
        p: Some(quantile::student_tails(t, freedom)),
    }
}

/// Interleaved pairs, the i-th of one with the i-th of the other: the estimate of ln(other_i / base_i) by [`paired_ranks::test`]. Effects that
/// both of a pair share, such as a slow minute, cancel, so nothing is added for them.
///
/// `None` when the sides are empty or of different length, have more than 1,000 values, or one that is not positive and
/// finite.
pub fn paired(base: &[f64], other: &[f64], confidence: f64) -> Option<Ratio> {
    let (center, interval, p) = paired_ranks::test(&log_ratios(base, other)?, confidence);
    let interval = interval.map(|ends| ends.map(f64::exp));
    Some(Ratio { ratio: center.exp(), interval, p: Some(p) })
}

/// The same by the mean of ln(other_i / base_i) and Student's t: for pairs that include a minority of another kind, which a median ignores.
/// No interval for fewer than two.
///
/// `None` as of [`paired`].
pub fn paired_means(base: &[f64], other: &[f64], confidence: f64) -> Option<Ratio> {
    let d = log_ratios(base, other)?;
    let (n, mean) = (d.len() as f64, descriptive::mean(&d));
    let error = descriptive::deviation(&d) / n.sqrt();
    Some(match d.len() {
        1 => Ratio { ratio: mean.exp(), interval: None, p: None },
        _ => student(mean, error * error, n - 1.0, confidence),
    })
}

fn log_ratios(base: &[f64], other: &[f64]) -> Option<Vec<f64>> {
    let (x, y) = (descriptive::logs(base)?, descriptive::logs(other)?);
    (x.len() == y.len()).then(|| x.iter().zip(&y).map(|(x, y)| y - x).collect())
}

fn conclude(intervals: &RankIntervals, unseen: Scatter, confidence: f64) -> Ratio {
    Ratio {
        ratio: intervals.center().exp(),
        interval: intervals.interval(confidence, unseen).map(|ends| ends.map(f64::exp)),
        p: Some(intervals.p(unseen)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: [f64; 6] = [100.0, 101.0, 103.0, 99.5, 100.4, 102.0];

    fn times(factor: f64) -> Vec<f64> {
        BASE.iter().map(|x| x * factor).collect()
    }

    #[test]
    fn separated_samples_have_smallest_p() {
        let found = ratio(&BASE, &times(1.5), 0.0, 0.95).unwrap();
        assert!((found.ratio - 1.5).abs() < 1e-12);
        assert!((found.p.unwrap() - 2.0 / 924.0).abs() < 1e-12);
        let [low, high] = found.interval.unwrap();
        assert!(low > 1.45 && low < 1.5 && high > 1.5 && high < 1.55);
        let paired = paired(&BASE, &times(1.5), 0.95).unwrap();
        assert!((paired.p.unwrap() - 2.0 / 64.0).abs() < 1e-12);
        let [low, high] = paired.interval.unwrap();
        assert!((low - 1.5).abs() < 1e-9 && (high - 1.5).abs() < 1e-9);
    }

    #[test]
    fn run_variance_adds_in_quadrature() {
        let exact = ratio(&BASE, &times(1.05), 0.0, 0.95).unwrap();
        let honest = ratio(&BASE, &times(1.05), 0.03, 0.95).unwrap();
        assert_eq!(exact.ratio, honest.ratio);
        let halves = |r: &Ratio| r.interval.unwrap().map(|x| (x / r.ratio).ln().abs());
        for (e, h) in halves(&exact).iter().zip(halves(&honest)) {
            assert!((e.hypot(1.959_964 * 0.03) - h).abs() < 1e-7);
        }
        assert!(exact.p.unwrap() < 0.01 && honest.p.unwrap() > 0.05);
        // without scatter within runs only the machine's is left: z = ln 1.05 / 0.03
        let machine = ratio(&[1.0; 9], &[1.05; 9], 0.03, 0.95).unwrap();
        assert!((machine.p.unwrap() - 0.103_87).abs() < 1e-4, "{machine:?}");
    }

    #[test]
    fn swapped_sides_invert_the_ratio() {
        let there = ratio(&BASE, &times(0.97), 0.004, 0.95).unwrap();
        let back = ratio(&times(0.97), &BASE, 0.004, 0.95).unwrap().inverse();
        assert!((there.ratio - back.ratio).abs() < 1e-12);
        assert!((there.p.unwrap() - back.p.unwrap()).abs() < 1e-12);
        for (a, b) in there.interval.unwrap().iter().zip(back.interval.unwrap()) {
            assert!((a - b).abs() < 1e-12);
        }
    }

    #[test]
    fn incomparable_samples_have_no_ratio() {
        assert!(ratio(&[], &BASE, 0.0, 0.95).is_none());
        assert!(ratio(&BASE, &[1.0, -1.0], 0.0, 0.95).is_none());
        assert!(paired(&BASE, &BASE[..5], 0.95).is_none());
        let few = ratio(&BASE[..3], &BASE[3..], 0.0, 0.95).unwrap();
        assert!(few.interval.is_none() && few.p.unwrap() >= 0.1);
        let same = ratio(&[5.0; 8], &[5.0; 8], 0.0, 0.95).unwrap();
        assert_eq!((same.interval, same.p), (Some([1.0, 1.0]), Some(1.0)));
    }
}
