//! Linearity: whether time grows in proportion to operations. Loops that a compiler removed and quadratic work fail.

use super::interference::InterferenceShares;
use super::limits;
use super::reading::{Reading, median};
use gritstone_model::Finding;
use gritstone_stats::center::ends_of_median;
use std::collections::BTreeMap;

/// Time must grow in proportion to n between the two largest n that were probed often enough. Launches with interference are ignored: a
/// region longer than another process's time slice is always interrupted, a shorter one seldom, so that all work seems to grow faster than
/// n (SMT contention slows both alike, and is allowed). Of the others the minimum time of each n counts, as in an audit: short bursts only
/// add time, and more to long regions than to short ones. Some virtual machines hide steal, so superlinear growth must appear among shorter
/// regions too. Sublinear growth needs no such confirmation.
pub(super) fn linear(launches: &[&Reading]) -> Option<Finding> {
    let growth = |l: &Reading| Growth::new(l.warm(), min_time);
    if launches.iter().all(|l| growth(l).is_none()) {
        return Some(Growth::unverified(launches.len()));
    }
    // interference is unknown without /proc
    let undisturbed = |l: &Reading| {
        l.launch.conditions.others.is_some()
            && !InterferenceShares::by_conditions(l.launch).is_any()
    };
    let growths: Vec<Growth> =
        launches.iter().filter(|l| undisturbed(l)).filter_map(|l| growth(l)).collect();
    if growths.len() < limits::LINEAR_LAUNCHES {
        return None;
    }
    let example = growths.first()?;
    let exponents: Vec<f64> = growths.iter().map(|growth| growth.exponent).collect();
    let growth = example.with_median_exponent(&exponents);
    let faster = growth.exponent > *limits::LINEAR_EXPONENT.end();
    if !surely_not_linear(&exponents) || (faster && shorter_regions_are_linear(launches)) {
        return None;
    }
    growth.finding()
}

/// Minimum wall time.
pub(crate) fn min_time(walls: &[f64]) -> Option<f64> {
    walls.iter().copied().reduce(f64::min)
}

/// Growth over the last doublings, by the minimum time of each n in all launches: the median of the steps, of which
/// two may exceed a time slice.
fn shorter_regions_are_linear(launches: &[&Reading]) -> bool {
    let all = launches.iter().flat_map(|l| l.warm());
    let steps = Growth::steps(all, min_time);
    let last = steps.iter().take(limits::LINEAR_STEPS);
    median(last.map(|step| step.exponent)).is_some_and(|m| limits::LINEAR_EXPONENT.contains(&m))
}

/// Whether the growth of launches deviates significantly from linear: the 95% interval of the median of their exponents by order statistics
/// (all of them, if they are too few) is outside the linear range. Exponents of work that involves other processes scatter by tenths
/// between launches.
pub(crate) fn surely_not_linear(exponents: &[f64]) -> bool {
    let linear = limits::LINEAR_EXPONENT;
    let ends = ends_of_median(exponents, limits::LINEAR_CONFIDENCE);
    ends.is_some_and(|[low, high]| low > *linear.end() || high < *linear.start())
}

/// Growth of time with n.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    small: u64,
    large: u64,
    pub exponent: f64,
}

impl Growth {
    /// From timed regions (n, ns), those of one n reduced by `typical`: ln(ratio of times) / ln(ratio of n), of the largest n and the next
    /// that is at most half of it.
    pub(crate) fn new(
        warm: impl Iterator<Item = (u64, u64)>,
        typical: impl Fn(&[f64]) -> Option<f64>,
    ) -> Option<Self> {
        Self::steps(warm, typical).into_iter().next()
    }

    /// The same from each n to the next that is at most half of it, the largest first.
    fn steps(
        warm: impl Iterator<Item = (u64, u64)>,
        typical: impl Fn(&[f64]) -> Option<f64>,
    ) -> Vec<Self> {
        let mut by_n: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for (n, wall) in warm.filter(|(n, _)| *n > 0) {
            by_n.entry(n).or_default().push(wall as f64);
        }
        by_n.retain(|_, walls| walls.len() >= limits::LINEAR_REGIONS);
        let mut probed =
            by_n.into_iter().rev().filter_map(|(n, walls)| Some((n, typical(&walls)?)));
        let Some(mut last) = probed.next() else {
            return Vec::new();
        };
        let mut steps = Vec::new();
        for (n, wall) in probed {
            let (large, long) = last;
            // a step of less than 2 (64 to 100, where a limit cut the last doubling short) would be dominated by noise
            if n > large.div_ceil(2) {
                continue;
            }
            let exponent = (long / wall).ln() / (large as f64 / n as f64).ln();
            steps.push(Self {
                small: n,
                large,
                exponent: if exponent.is_nan() { 0.0 } else { exponent },
            });
            last = (n, wall);
        }
        steps
    }

    pub(crate) fn with_median_exponent(self, exponents: &[f64]) -> Self {
        let exponent = median(exponents.iter().copied()).unwrap_or(self.exponent);
        Self { exponent, ..self }
    }

    /// A finding if growth is not linear.
    pub(crate) fn finding(&self) -> Option<Finding> {
        (!limits::LINEAR_EXPONENT.contains(&self.exponent)).then(|| Finding::NotLinear {
            small: self.small,
            large: self.large,
            exponent: Some(self.exponent).filter(|exponent| exponent.is_finite()),
            allowed: [*limits::LINEAR_EXPONENT.start(), *limits::LINEAR_EXPONENT.end()],
        })
    }

    pub(crate) fn unverified(launches: usize) -> Finding {
        Finding::GrowthUnverified { launches }
    }
}
