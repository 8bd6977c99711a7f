//! Changes that the benchmarks of a system share: each alone may be too small to find, and their median scatters less than any of them.

use super::changes::{MIN_RUNS, by_chance, changes, location, splits};
use super::pairs::PRIOR_CORRELATION;
use super::{CHANGE, Level, Noise, Point, Series, fit_scatter, levels, median};
use crate::descriptive;
use std::collections::BTreeMap;
use std::f64::consts::FRAC_PI_2;

/// Fewest benchmarks whose medians are a series.
const MIN_BENCHMARKS: usize = 3;
/// Fewest standard errors between the levels of a benchmark before and after a shared change to which it belongs.
pub const SHARED: f64 = 3.0;

/// A change of most benchmarks: by runs of the system, or by points of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared {
    /// Position of the first after it.
    pub start: usize,
    /// First and last possible one, as [`super::location`] has them.
    pub between: [usize; 2],
}

/// Changes by runs, by the scatter of medians, or also by the scatter of benchmarks and the correlation of their neighboring runs.
pub(super) fn shared_changes(all: &[&mut Series], correlation: Option<f64>) -> Vec<Shared> {
    let Some(mut medians) = medians(all) else {
        return vec![];
    };
    fit_scatter(&mut [&mut medians], correlation.unwrap_or(PRIOR_CORRELATION));
    let Some(mut noise) = medians.noise else {
        return vec![];
    };
    if correlation.is_some() {
        // a few medians may be near each other by chance
        let variances: Vec<f64> =
            all.iter().filter_map(|series| Some(series.noise?.variance.value)).collect();
        let min = descriptive::mean(&variances) * FRAC_PI_2 / variances.len() as f64;
        noise.variance.value = noise.variance.value.max(min);
    }
    let points = &medians.points;
    let all = levels(points, &changes(points, &noise), &noise);
    let change = |pair: &[Level]| {
        let (before, after) = (pair[0], pair[1]);
        let (first, last) = location(points, &noise, before.start, after.start, after.end);
        Shared {
            start: points[after.start].run,
            between: [first, last].map(|place| points[place].run),
        }
    };
    all.windows(2).map(change).collect()
}

/// By run, the median of the deviations of the benchmarks from their medians. A run counts if it has half of the benchmarks in use then: those
/// with results before it, or in it, and after.
fn medians(all: &[&mut Series]) -> Option<Series> {
    let mut runs: BTreeMap<usize, Vec<Point>> = BTreeMap::new();
    let mut spans = vec![];
    for series in all.iter().filter(|series| series.noise.is_some()) {
        let points = &series.points[..series.before_sides()];
        let (Some(first), Some(last)) = (points.first(), points.last()) else {
            continue;
        };
        spans.push(first.run..=last.run);
        let center = median(points);
        for point in points {
            let y = point.y - center;
            runs.entry(point.run).or_default().push(Point { y, ..*point });
        }
    }
    let has_most = |(run, points): &(usize, Vec<Point>)| {
        let measured = spans.iter().filter(|span| span.contains(run)).count();
        points.len() >= MIN_BENCHMARKS && 2 * points.len() >= measured
    };
    let point = |(run, points): (usize, Vec<Point>)| {
        let variances: Vec<f64> = points.iter().map(|point| point.variance).collect();
        Point {
            run,
            y: median(&points),
            variance: descriptive::mean(&variances) * FRAC_PI_2 / points.len() as f64,
            judged: points.iter().any(|point| point.judged),
        }
    };
    let points: Vec<Point> = runs.into_iter().filter(has_most).map(point).collect();
    let others = all.iter().map(|series| series.others_per_judged);
    (!points.is_empty()).then_some(Series {
        others_per_judged: others.max().unwrap_or(0),
        points,
        ..Series::default()
    })
}

/// Moves each change to the run between its neighbors at which the benchmarks that belong to it show it best.
pub(super) fn located(all: &[&mut Series], changes: &[Shared]) -> Vec<Shared> {
    let best = |change: &Shared| {
        let mut clearness: BTreeMap<usize, f64> = BTreeMap::new();
        for series in all {
            let points = &series.points[..series.before_sides()];
            let place = position(points, change.start);
            let edges = [0].into_iter().chain(series.shared_starts()).chain([points.len()]);
            let edges: Vec<usize> = edges.collect();
            let around = edges.windows(3).find(|edges| edges[1] == place);
            let (Some(noise), Some(&[start, _, end])) = (series.noise, around) else {
                continue;
            };
            for (split, distance) in splits(points, &noise, start, end) {
                *clearness.entry(points[split].run).or_default() += distance.powi(2);
            }
        }
        let best = clearness.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let start = best.map_or(change.start, |(run, _)| run);
        let [first, last] = change.between;
        Shared { start, between: [first.min(start), last.max(start)] }
    };
    changes.iter().map(best).collect()
}

fn position(points: &[Point], run: usize) -> usize {
    points.partition_point(|point| point.run < run)
}

/// The changes by points of a series.
pub(super) fn by_points(points: &[Point], changes: &[Shared]) -> Vec<Shared> {
    if points.len() < 2 * MIN_RUNS {
        return vec![];
    }
    let by_points = |change: &Shared| Shared {
        start: position(points, change.start),
        between: change.between.map(|run| position(points, run).min(points.len() - 1)),
    };
    let has_sides = |change: &Shared| (MIN_RUNS..=points.len() - MIN_RUNS).contains(&change.start);
    let mut found: Vec<Shared> = changes.iter().map(by_points).filter(has_sides).collect();
    found.sort_by_key(|change| change.start);
    found.dedup_by_key(|change| change.start);
    found
}

impl Series {
    pub(super) fn shared_starts(&self) -> impl Iterator<Item = usize> {
        self.shared.iter().map(|change| change.start)
    }

    /// Moves changes of the benchmark to shared ones: where the difference may be chance, or where both places show a change, and their
    /// squared distances differ by less than that of a change.
    pub(super) fn at_shared_places(&self, own: &[usize], noise: &Noise) -> Vec<usize> {
        let points = &self.points[..self.before_sides()];
        let edges = [0].into_iter().chain(own.iter().copied()).chain([points.len()]);
        let edges: Vec<usize> = edges.collect();
        let place = |around: &[usize]| {
            let squares: Vec<(usize, f64)> = splits(points, noise, around[0], around[2])
                .into_iter()
                .map(|(split, distance)| (split, distance.powi(2)))
                .collect();
            let clearest = squares.iter().map(|(_, square)| *square).fold(0.0, f64::max);
            let may_be = |square: f64| {
                let min = CHANGE * CHANGE;
                clearest - square < if square > min { min } else { by_chance() }
            };
            let shared = squares.iter().filter(|(split, square)| {
                may_be(*square) && self.shared_starts().any(|start| start == *split)
            });
            let shared = shared.max_by(|a, b| a.1.total_cmp(&b.1));
            shared.map_or(around[1], |(split, _)| *split)
        };
        edges.windows(3).map(place).collect()
    }

    /// Drops the shared changes to which the benchmark does not belong, by its levels.
    pub(super) fn keep_own_changes(&mut self) {
        let Some(noise) = self.noise else { return };
        loop {
            let all = levels(&self.points, &self.starts, &noise);
            let is_shared =
                |pair: &&[Level]| self.shared_starts().any(|start| start == pair[1].start);
            let shared = all.windows(2).filter(is_shared);
            let distance = |pair: &[Level]| {
                let [before, after] = [pair[0], pair[1]];
                let distance = (after.mean - before.mean).abs() / after.error.hypot(before.error);
                (after.start, distance)
            };
            match shared.map(distance).min_by(|a, b| a.1.total_cmp(&b.1)) {
                Some((weakest, distance)) if distance <= SHARED => {
                    self.shared.retain(|change| change.start != weakest);
                    self.starts.retain(|start| *start != weakest);
                }
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
        Series { points: (0..16).map(&mut point).collect(), ..Series::default() }
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
        assert!(found(&all[..15]) >= 12 && found(&alone) <= 5, "{} {}", found(&all), found(&alone));
        assert!(all[15..].iter().all(|series| series.starts.is_empty()));
    }

    #[test]
    fn own_changes_leave_no_other() {
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(5);
        for own in 3..14 {
            let mut all: Vec<Series> = (0..20).map(|n| benchmark(&mut random, n > 0)).collect();
            for point in &mut all[0].points[own..] {
                point.y -= 0.2;
            }
            fit(&mut all);
            // two clipped runs may be outliers
            let starts = &all[0].starts;
            assert!(matches!(starts[..], [start] if start.abs_diff(own) <= 2), "{own} {starts:?}");
        }
    }

    #[test]
    fn far_changes_keep_their_place() {
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(7);
        let mut all: Vec<Series> = (0..20).map(|_| benchmark(&mut random, false)).collect();
        for (number, series) in all.iter_mut().enumerate() {
            let mut more = benchmark(&mut random, false).points;
            more.iter_mut().for_each(|point| point.run += 16);
            series.points.extend(more);
            series.points[7..].iter_mut().for_each(|point| point.y -= 0.012);
            let slower = if number == 0 { 0.012 } else { 0.0 };
            series.points[22..].iter_mut().for_each(|point| point.y -= slower);
        }
        fit(&mut all);
        let starts = &all[0].starts;
        assert!(starts.iter().any(|start| start.abs_diff(22) <= 3), "{starts:?}");
        let shared = all[1..].iter().filter(|series| series.starts == [7]);
        assert!(shared.count() >= 15);
    }

    #[test]
    fn few_and_changing_runs_fit() {
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(6);
        for runs in 0..8 {
            for judged in [[0, 1], [1, 3], [5, 6]] {
                let mut all: Vec<Series> = (0..4).map(|_| benchmark(&mut random, true)).collect();
                for (number, series) in all.iter_mut().enumerate() {
                    series.points.truncate(runs);
                    series.points.drain(..number.min(runs));
                    series.others_per_judged = 3;
                    series.sides = [vec![], vec![0], vec![series.points.len() / 2]]
                        .into_iter()
                        .nth(judged[0] % 3)
                        .unwrap_or_default();
                    series.sides.retain(|side| *side < series.points.len());
                    for point in &mut series.points {
                        point.judged = judged.contains(&point.run);
                    }
                }
                fit(&mut all);
                assert!(all.iter().all(|series| series.starts.iter().all(|start| *start > 0)));
            }
        }
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
