//! Changes that came little by little.

use super::changes::intervals;
use super::{Level, Noise, Point, inflation};
use crate::{descriptive, quantile};

/// For each change between neighboring levels, whether the runs about it are better explained by a straight line from the level before to
/// the level after: alone, or with its neighbors of the same direction, which are then parts of one drift.
pub fn drifts(points: &[Point], noise: &Noise, levels: &[Level]) -> Vec<bool> {
    let number = levels.len().saturating_sub(1);
    let mut is_drift = vec![false; number];
    let rises = |change: usize| levels[change + 1].mean > levels[change].mean;
    for first in 0..number {
        let alike = (first..number).take_while(|change| rises(*change) == rises(first));
        for last in alike {
            if is_line(points, noise, &levels[first..=last + 1]) {
                is_drift[first..=last].fill(true);
            }
        }
    }
    is_drift
}

/// Whether a line explains these levels better than the steps between them. It has one number more than a single step has, and must
/// explain more than chance does in 1 of 100 cases; it has none more than several steps.
fn is_line(points: &[Point], noise: &Noise, levels: &[Level]) -> bool {
    let [first, second, ..] = levels else { return false };
    let last = levels[levels.len() - 1];
    let within = &points[first.start..last.end];
    let steps: f64 =
        levels.iter().map(|level| misfit(&points[level.start..level.end], noise, |_| 0.0)).sum();
    // others are worse, and many in a long history
    let is_astride = |&(start, end): &(usize, usize)| {
        first.start + start < last.start && second.start < first.start + end
    };
    let lines = intervals(within.len()).into_iter().filter(is_astride).map(|(start, end)| {
        let length = (end - 1 - start) as f64;
        misfit(within, noise, |run| ((run as f64 - start as f64) / length).clamp(0.0, 1.0))
    });
    let line = lines.fold(f64::INFINITY, f64::min);
    let by_chance = match levels.len() {
        2 => quantile::chi_square(0.99, 1.0) * inflation(noise.correlation, within.len()),
        _ => 0.0,
    };
    steps - line > by_chance
}

/// Clipped squares of what the best multiple of `shape` leaves, in variances of a run.
fn misfit(points: &[Point], noise: &Noise, shape: impl Fn(usize) -> f64) -> f64 {
    let shape: Vec<f64> = (0..points.len()).map(shape).collect();
    let center = descriptive::mean(&shape);
    let square: f64 = shape.iter().map(|x| (x - center).powi(2)).sum();
    let values: Vec<f64> = points.iter().map(|point| point.y).collect();
    let (mut clipped, mut left) = (values.clone(), values.clone());
    // least squares, with outliers clipped about the fit before
    for _ in 0..3 {
        let mean = descriptive::mean(&clipped);
        let product: f64 = shape.iter().zip(&clipped).map(|(x, y)| (x - center) * (y - mean)).sum();
        let slope = if square > 0.0 { product / square } else { 0.0 };
        for (index, x) in shape.iter().enumerate() {
            let fit = mean + slope * (x - center);
            let max = noise.clip * noise.sd(&points[index]);
            left[index] = ((values[index] - fit) / max).clamp(-1.0, 1.0);
            clipped[index] = fit + left[index] * max;
        }
    }
    left.iter().map(|left| (left * noise.clip).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::{Series, fit};
    use rand::{RngExt, SeedableRng};

    /// Changes that are found, and those of them that are drifts, in 100 series of `runs` runs whose effects have a standard deviation of
    /// 1%; one run in `one_in` is 15% slower.
    fn changes(runs: usize, one_in: Option<u32>, level: impl Fn(usize) -> f64) -> [usize; 2] {
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(9);
        let mut number = [0; 2];
        for _ in 0..100 {
            let mut point = |run| {
                let effect: f64 = (0..12).map(|_| random.random_range(-0.5..0.5)).sum();
                let is_outlier = one_in.is_some_and(|n| random.random_range(0..n) == 0);
                let y = level(run) + 0.01 * effect + if is_outlier { 0.15 } else { 0.0 };
                Point { run, y, variance: 1e-6, judged: false }
            };
            let mut series =
                Series { points: (0..runs).map(&mut point).collect(), ..Series::default() };
            fit([&mut series]);
            let Some(noise) = series.noise else { continue };
            let drifts = drifts(&series.points, &noise, &series.levels());
            number[0] += drifts.len();
            number[1] += drifts.iter().filter(|is_drift| **is_drift).count();
        }
        number
    }

    #[test]
    fn steps_are_seldom_drifts() {
        let step = |at, size| move |run| if run < at { 0.0 } else { size };
        for (runs, at, one_in) in
            [(20, 10, None), (40, 34, None), (20, 10, Some(10)), (40, 20, Some(10))]
        {
            for size in [0.05, 0.1] {
                let [all, drifts] = changes(runs, one_in, step(at, size));
                assert!(all >= 50 && drifts * 20 <= all, "{runs}, {at}: {drifts} of {all}");
            }
        }
        // equal steps at equal distances are the most like a line
        let [all, drifts] = changes(42, None, |run| [0.0, 0.05, 0.1][run / 14]);
        assert!(all >= 150 && drifts * 10 <= all, "{drifts} of {all}");
    }

    #[test]
    fn lines_are_drifts() {
        for one_in in [None, Some(10)] {
            let [all, drifts] = changes(40, one_in, |run| 0.0025 * run as f64);
            assert!(all >= 50 && drifts * 10 >= all * 9, "{drifts} of {all}");
        }
        // a level before and after
        let [all, drifts] = changes(60, None, |run| 0.005 * run.clamp(20, 40) as f64);
        assert!(drifts * 10 >= all * 9, "{drifts} of {all}");
    }
}
