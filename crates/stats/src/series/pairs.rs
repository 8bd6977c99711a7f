//! Scatter and correlation of runs, from differences of nearby runs.

use super::{MIN_SD, Point, bounds};
use crate::descriptive;
use crate::moderated::Variance;

/// Largest distance of compared runs: between more distant ones a change is likely.
const NEAR: usize = 6;
/// Fewest unjudged runs to estimate the scatter from; with fewer, all runs are used.
const MIN_OTHERS: usize = 3;
/// Distance of runs with which neighbors are compared to learn the correlation.
const DISTANT: usize = 3;
/// Constants of the scatter from pairs of `n` runs: ratio of the standard deviation to the lower quartile of normal differences (Rousseeuw
/// and Croux 1993, "Alternatives to the median absolute deviation", JASA 88), its bias in few runs, and degrees of freedom per run. The
/// last two by simulation.
const SD_PER_QUARTILE: f64 = 2.2219;
const BIAS: f64 = 1.4;
const FREEDOM: f64 = 0.58;
/// Prior correlation of neighboring run effects, and its weight in pairs of runs. The correlation of all benchmarks of a system has the
/// same weight for each.
pub(super) const PRIOR_CORRELATION: f64 = 0.2;
const PRIOR_PAIRS: f64 = 100.0;
const MAX_CORRELATION: f64 = 0.8;

/// Differences of nearby runs of one level.
pub(super) struct Pairs {
    runs: usize,
    /// Standard deviation of a run, if all were independent.
    sd: f64,
    /// Pairs by distance, from 1 to [`NEAR`], with the squares of their differences in units of `sd`.
    squares: Vec<Vec<f64>>,
}

impl Pairs {
    pub(super) fn new(
        points: &[Point],
        starts: &[usize],
        others_per_judged: usize,
    ) -> Option<Self> {
        let others = points.iter().filter(|point| !point.judged).count();
        let judged = points.len() - others;
        let are_enough = others >= MIN_OTHERS.max(others_per_judged * judged);
        let counts = |point: &Point| !point.judged || !are_enough;
        let runs = points.iter().filter(|point| counts(point)).count();
        let levels = || bounds(points.len(), starts).map(|(start, end)| &points[start..end]);
        // each level beyond the first uses up a value
        let counted = levels().filter(|level| level.iter().any(counts)).count();
        let runs = (runs + 1).saturating_sub(counted).max(2);
        let of_lag = |lag: usize| {
            let pairs = levels().flat_map(move |level| level.windows(lag + 1));
            let pairs = pairs.filter(|run| counts(&run[0]) && counts(&run[lag]));
            pairs.map(|run| (run[lag].y - run[0].y).abs()).collect()
        };
        let mut squares: Vec<Vec<f64>> = (1..=NEAR).map(of_lag).collect();
        let sizes = descriptive::sorted(squares.iter().flatten());
        if points.len() < 3 || sizes.is_empty() {
            return None;
        }
        let unbiased = SD_PER_QUARTILE * (1.0 - BIAS / runs as f64);
        let sd = (unbiased * descriptive::quantile(&sizes, 0.25)).max(MIN_SD);
        for size in squares.iter_mut().flatten() {
            *size = (*size / sd).powi(2);
        }
        Some(Self { runs, sd, squares })
    }

    /// Mean of 1 - correlation^lag over the pairs of these lags: the factor by which correlation reduces the variance of their differences.
    fn variance_factor(&self, lags: std::ops::RangeInclusive<usize>, correlation: f64) -> f64 {
        let (pairs, left) = lags.fold((0.0, 0.0), |(pairs, left), lag| {
            let of_lag = self.squares[lag - 1].len() as f64;
            let share = 1.0 - correlation.powi(lag as i32);
            (pairs + of_lag, left + share * of_lag)
        });
        left / pairs
    }

    pub(super) fn variance(&self, correlation: f64) -> Variance {
        let square = correlation * correlation;
        let freedom = FREEDOM * (self.runs - 1) as f64 * (1.0 - square) / (1.0 + square);
        Variance {
            value: self.sd * self.sd / self.variance_factor(1..=NEAR, correlation),
            df: freedom.max(1.0),
        }
    }
}

/// Estimated from how much less neighbors differ than distant runs, combined with a prior.
pub(super) fn correlation<'a>(
    scatters: impl Iterator<Item = &'a Pairs> + Clone,
    before: f64,
) -> f64 {
    let squares = |lags: std::ops::RangeInclusive<usize>| {
        let lags = lags.start() - 1..*lags.end();
        descriptive::sorted(scatters.clone().flat_map(|pairs| pairs.squares[lags.clone()].concat()))
    };
    let (neighbors, apart) = (squares(1..=1), squares(DISTANT..=NEAR));
    let pairs = apart.len() as f64;
    if neighbors.is_empty() || apart.is_empty() || descriptive::median(&apart) == 0.0 {
        return before;
    }
    let ratio = descriptive::median(&neighbors) / descriptive::median(&apart);
    let expected = |correlation: f64| {
        let apart = (DISTANT..=NEAR).map(|lag| 1.0 - correlation.powi(lag as i32));
        (1.0 - correlation) / (apart.sum::<f64>() / (NEAR - DISTANT + 1) as f64)
    };
    let (mut low, mut high) = (0.0, MAX_CORRELATION);
    for _ in 0..20 {
        let middle = f64::midpoint(low, high);
        match expected(middle) > ratio {
            true => low = middle,
            false => high = middle,
        }
    }
    (before * PRIOR_PAIRS + low * pairs) / (PRIOR_PAIRS + pairs)
}
