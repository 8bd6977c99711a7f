//! Change points of a result over many runs.
//!
//! Candidates are the splits with the largest energy distance between both sides (E-divisive; Matteson and James, JASA 109, 2014), found
//! again within each side. A candidate is a change when the rank-sum test of both sides has a p of at most [`LEVEL`] and their
//! Hodges-Lehmann shift is at least [`MIN_CHANGE`]. The level is far below that of a test of one split, since the split was
//! chosen among all; docs/validation.md has the simulation that it comes from.

use crate::{descriptive, two_sample};

/// Fewest values on each side of a change. Ten against ten can have a p of 1.1e-5.
pub const MIN_LEVEL: usize = 10;
/// Largest p of the rank-sum test at a change.
pub const LEVEL: f64 = 1e-4;
/// Smallest change, as a share.
pub const MIN_CHANGE: f64 = 0.02;
/// Fewest values of a step that is suspected.
pub const MIN_NEW_LEVEL: usize = 3;
/// Robust standard deviations that they are away from the level before.
pub const OUTLIER_DISTANCE: f64 = 4.0;
/// Standard deviation of normal values over their median absolute deviation.
pub const OF_MAD: f64 = 1.4826;
/// Most values, the newest: the cost grows with their square.
pub const MAX_VALUES: usize = 400;

/// Where a new level begins: positions from the left, in order. `values` are natural logarithms, in the order of time; beyond
/// [`MAX_VALUES`] only the newest are looked at.
#[must_use]
pub fn changes(values: &[f64]) -> Vec<usize> {
    let skipped = values.len().saturating_sub(MAX_VALUES);
    let mut found = vec![];
    if values.iter().all(|x| x.is_finite()) {
        within(&values[skipped..], skipped, &mut found);
    }
    found.sort_unstable();
    found
}

fn within(values: &[f64], offset: usize, found: &mut Vec<usize>) {
    let Some(at) = candidate(values) else {
        return;
    };
    let (before, after) = values.split_at(at);
    if is_change(before, after) {
        found.push(offset + at);
        within(before, offset, found);
        within(after, offset + at, found);
    }
}

/// The split with the largest energy distance, n m / (n + m) (2 E|X - Y| - E|X - X'| - E|Y - Y'|).
fn candidate(values: &[f64]) -> Option<usize> {
    let n = values.len();
    if n < 2 * MIN_LEVEL {
        return None;
    }
    // sums of distances within the left, within the right, and between, as one value after another changes sides
    let distances = |x: f64, of: &[f64]| of.iter().map(|y| (x - y).abs()).sum::<f64>();
    let mut left = 0.0;
    let mut right: f64 = (0..n).map(|i| distances(values[i], &values[i + 1..])).sum();
    let mut between = 0.0;
    let mut best: Option<(f64, usize)> = None;
    for at in 1..=n - MIN_LEVEL {
        let x = values[at - 1];
        let (to_left, to_right) = (distances(x, &values[..at - 1]), distances(x, &values[at..]));
        left += to_left;
        right -= to_right;
        between += to_right - to_left;
        if at < MIN_LEVEL {
            continue;
        }
        let (l, r) = (at as f64, (n - at) as f64);
        let pairs = |m: f64| m * (m - 1.0) / 2.0;
        let energy = 2.0 * between / (l * r) - left / pairs(l) - right / pairs(r);
        let scaled = l * r / (l + r) * energy;
        if best.is_none_or(|(most, _)| scaled > most) {
            best = Some((scaled, at));
        }
    }
    best.map(|(_, at)| at)
}

fn is_change(before: &[f64], after: &[f64]) -> bool {
    let plain = |logs: &[f64]| logs.iter().map(|x| x.exp()).collect::<Vec<f64>>();
    let Some(found) = two_sample::ratio(&plain(before), &plain(after), 0.0, 0.95) else {
        return false;
    };
    found.p.is_some_and(|p| p <= LEVEL) && found.ratio.ln().abs() >= MIN_CHANGE.ln_1p()
}

/// Where a step begins that is too young to be a change: at least three values at the end, and fewer than [`MIN_LEVEL`], that are all
/// beyond [`OUTLIER_DISTANCE`] robust standard deviations of those before, and beyond [`MIN_CHANGE`].
#[must_use]
pub fn suspected(values: &[f64]) -> Option<usize> {
    let skipped = values.len().saturating_sub(MAX_VALUES);
    let begin = changes(values).last().copied().unwrap_or(skipped);
    let level = values.get(begin..)?;
    let first = (level.len() + 1).saturating_sub(MIN_LEVEL).max(MIN_LEVEL);
    let last = (level.len() + 1).saturating_sub(MIN_NEW_LEVEL);
    let step = (first..last).find(|&at| {
        let (before, after) = level.split_at(at);
        let center = descriptive::median(&descriptive::sorted(before));
        let off: Vec<f64> = before.iter().map(|x| (x - center).abs()).collect();
        let far = OUTLIER_DISTANCE * OF_MAD * descriptive::median(&descriptive::sorted(&off));
        let far = far.max(MIN_CHANGE.ln_1p());
        let beyond = |way: f64| after.iter().all(|x| way * (x - center) > far);
        beyond(1.0) || beyond(-1.0)
    });
    step.map(|at| begin + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(levels: &[(usize, f64)]) -> Vec<f64> {
        let zigzag = [0.0, 0.004, -0.003, 0.002, -0.005, 0.001, 0.003];
        let level = levels.iter().flat_map(|&(n, x)| std::iter::repeat_n(x, n));
        level
            .zip(zigzag.iter().cycle())
            .map(|(x, e)| x + e)
            .collect()
    }

    #[test]
    fn steps_are_located() {
        assert_eq!(changes(&steps(&[(30, 0.0), (12, 0.05)])), [30]);
        assert_eq!(
            changes(&steps(&[(20, 0.0), (25, -0.1), (40, 0.03)])),
            [20, 45]
        );
        assert_eq!(changes(&steps(&[(10, 0.0), (10, 0.05)])), [10]);
        assert_eq!(changes(&steps(&[(60, 0.0)])), [0_usize; 0]);
    }

    #[test]
    fn short_or_hostile_series_have_no_step() {
        assert!(changes(&steps(&[(30, 0.0), (4, 0.05)])).is_empty());
        assert!(changes(&steps(&[(30, 0.0), (30, 0.015)])).is_empty());
        assert!(changes(&[]).is_empty() && changes(&[f64::NAN; 40]).is_empty());
        assert!(changes(&[1.0; 40]).is_empty());
    }

    #[test]
    fn only_newest_values_are_searched() {
        let long = steps(&[(100, 0.0), (MAX_VALUES, 0.1), (20, 0.2)]);
        assert_eq!(changes(&long), [100 + MAX_VALUES]);
    }

    #[test]
    fn a_large_step_is_suspected_at_three_values() {
        let with = |n: usize, by: f64| suspected(&steps(&[(20, 0.0), (n, by)]));
        assert_eq!(with(2, 0.05), None);
        assert_eq!(with(3, 0.05), Some(20));
        assert_eq!(with(7, -0.05), Some(20));
        // no more than robust standard deviations of 0.003 to 0.005 explain
        assert_eq!(with(5, 0.015), None);
        // old enough to be a change, and then what comes after it
        assert_eq!(with(10, 0.05), None);
        let twice = steps(&[(20, 0.0), (30, 0.05), (4, 0.0)]);
        assert_eq!((changes(&twice), suspected(&twice)), (vec![20], Some(50)));
        assert_eq!(suspected(&steps(&[(8, 0.0), (4, 0.05)])), None);
        assert_eq!(suspected(&[]), None);
    }
}
