//! Changes that the benchmarks of a system share: each alone may be too small to find, and their median scatters less than any of them.

use super::changes::{changes, splits};
use super::pairs::PRIOR_CORRELATION;
use super::{Level, Point, Series, learn, levels, median};
use crate::descriptive;
use std::collections::BTreeMap;
use std::f64::consts::FRAC_PI_2;

/// Fewest benchmarks with a median of its own.
const MIN_BENCHMARKS: usize = 3;
/// Fewest standard errors between the levels of a benchmark before and after a shared change to which it belongs.
pub const SHARED: f64 = 3.0;
/// Fewest runs of a benchmark on either side.
const MIN_RUNS: usize = 2;

/// Positions of the runs, among those of the system, that begin a shared level, by the scatter of medians, or also by the scatter of
/// benchmarks and the correlation of their neighboring runs.
pub(super) fn shared_changes(all: &[&mut Series], correlation: Option<f64>) -> Vec<usize> {
    let Some(mut medians) = medians(all) else {
        return vec![];
    };
    learn(
        &mut [&mut medians],
        correlation.unwrap_or(PRIOR_CORRELATION),
    );
    let Some(mut noise) = medians.noise else {
        return vec![];
    };
    if correlation.is_some() {
        // a few medians may be near each other by chance
        let variances: Vec<f64> = all
            .iter()
            .filter_map(|series| Some(series.noise?.variance.value))
            .collect();
        let least = descriptive::mean(&variances) * FRAC_PI_2 / variances.len() as f64;
        noise.variance.value = noise.variance.value.max(least);
    }
    let starts = changes(&medians.points, &noise).into_iter();
    starts.map(|start| medians.points[start].run).collect()
}

/// By run, the median of the deviations of the benchmarks from their medians, for runs that have at least half of the benchmarks.
fn medians(all: &[&mut Series]) -> Option<Series> {
    let mut runs: BTreeMap<usize, Vec<Point>> = BTreeMap::new();
    for series in all.iter().filter(|series| series.noise.is_some()) {
        let points = &series.points[..series.before_sides()];
        let center = if points.is_empty() {
            0.0
        } else {
            median(points)
        };
        for point in points {
            let y = point.y - center;
            runs.entry(point.run)
                .or_default()
                .push(Point { y, ..*point });
        }
    }
    let most = runs.values().map(Vec::len).max()?;
    let point = |(run, points): (usize, Vec<Point>)| {
        let variances: Vec<f64> = points.iter().map(|point| point.variance).collect();
        Point {
            run,
            y: median(&points),
            variance: descriptive::mean(&variances) * FRAC_PI_2 / points.len() as f64,
            judged: points.iter().any(|point| point.judged),
        }
    };
    let points = runs
        .into_iter()
        .filter(|(_, points)| 2 * points.len() >= most)
        .map(point)
        .collect();
    (most >= MIN_BENCHMARKS).then_some(Series {
        points,
        ..Series::default()
    })
}

/// Moves each of these runs to the place between its neighbors at which the benchmarks that belong to the change show it best.
pub(super) fn located(all: &[&mut Series], runs: &[usize]) -> Vec<usize> {
    let best = |change: usize| {
        let mut clearness: BTreeMap<usize, f64> = BTreeMap::new();
        for series in all {
            let points = &series.points[..series.before_sides()];
            let place = position(points, runs[change]);
            let (Some(noise), Ok(index)) = (series.noise, series.shared.binary_search(&place))
            else {
                continue;
            };
            let start = index
                .checked_sub(1)
                .map_or(0, |before| series.shared[before]);
            let end = *series.shared.get(index + 1).unwrap_or(&points.len());
            for (split, distance) in splits(points, &noise, start, end) {
                *clearness.entry(points[split].run).or_default() += distance.powi(2);
            }
        }
        let best = clearness.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        best.map_or(runs[change], |(run, _)| run)
    };
    (0..runs.len()).map(best).collect()
}

fn position(points: &[Point], run: usize) -> usize {
    points.partition_point(|point| point.run < run)
}

/// Positions in a series at which these runs begin levels.
pub(super) fn positions(points: &[Point], runs: &[usize]) -> Vec<usize> {
    let mut starts: Vec<usize> = runs.iter().map(|run| position(points, *run)).collect();
    starts.sort_unstable();
    starts.dedup();
    starts.retain(|start| (MIN_RUNS..=points.len().saturating_sub(MIN_RUNS)).contains(start));
    starts
}

impl Series {
    /// Drops the shared changes to which the benchmark does not belong.
    pub(super) fn keep_own_changes(&mut self) {
        let points = &self.points[..self.before_sides()];
        let Some(noise) = self.noise else { return };
        loop {
            let all = levels(points, &self.shared, &noise);
            let distance = |pair: &[Level]| {
                (pair[1].mean - pair[0].mean).abs() / pair[1].error.hypot(pair[0].error)
            };
            let distances = all.windows(2).map(distance).enumerate();
            match distances.min_by(|a, b| a.1.total_cmp(&b.1)) {
                Some((change, distance)) if distance <= SHARED => drop(self.shared.remove(change)),
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fit;
    use super::*;
    use rand::{RngExt as _, SeedableRng as _};

    /// Runs that scatter by 0.6%, slower by 1.3% from the ninth on where the benchmark changes.
    fn benchmark(random: &mut rand_pcg::Pcg64Mcg, changes: bool) -> Series {
        let mut point = |run| Point {
            run,
            y: random.random_range(-0.01..0.01) - if changes && run >= 8 { 0.013 } else { 0.0 },
            variance: 1e-6,
            judged: false,
        };
        Series {
            points: (0..16).map(&mut point).collect(),
            ..Series::default()
        }
    }

    #[test]
    fn small_changes_are_found_together() {
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(3);
        let mut all: Vec<Series> = (0..20).map(|n| benchmark(&mut random, n < 15)).collect();
        let mut alone = all.clone();
        fit(&mut all);
        for series in &mut alone {
            fit([series]);
        }
        let found = |all: &[Series]| all.iter().filter(|series| series.starts == [8]).count();
        assert!(
            found(&all[..15]) >= 12 && found(&alone) <= 5,
            "{} {}",
            found(&all),
            found(&alone)
        );
        assert!(all[15..].iter().all(|series| series.starts.is_empty()));
    }

    #[test]
    fn equal_runs_share_no_change() {
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(4);
        for _ in 0..50 {
            let mut all: Vec<Series> = (0..20).map(|_| benchmark(&mut random, false)).collect();
            fit(&mut all);
            assert!(all.iter().all(|series| series.shared.is_empty()));
        }
    }
}
