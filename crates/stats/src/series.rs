//! One benchmark over the runs of a system: levels with occasional changes, an effect of each run, an error of each result.
//!
//! y = level + run effect + error, natural logarithms. The error's variance is known from the launches of the run. Run effects have their
//! own variance, heavy tails, and a correlation between neighbors; one outlier in ten must not matter. All is fitted afresh from all runs:
//! there is no state, and the order of arrival does not matter. docs/statistics.md has the model, docs/validation.md its simulations.
//!
//! Change points are found in seeded intervals (Kovács, Bühlmann, Li and Munk 2023, "Seeded binary segmentation", Biometrika 110), the
//! narrowest first, by sums of clipped deviations from the median (the bounded loss of Fearnhead and Rigaill 2019, JASA 114). A clipped run
//! weighs as much as its logarithmic rarity: where outliers are frequent, more of them make a change.

mod changes;
mod common;
mod drift;
mod pairs;
mod shared;

pub use changes::location;
pub use common::{MIN_IN_COMMON, by_chance, chance, in_common};
pub use drift::drifts;
pub use shared::{SHARED, Shared};

use crate::moderated::{self, Variance};
use crate::{descriptive, quantile, scatter};
use changes::{best_split, changes};
use pairs::{PRIOR_CORRELATION, Pairs, correlation};
use shared::shared_changes;
use std::collections::BTreeSet;
use std::f64::consts::PI;

/// Standard deviations beyond which a run is an outlier; deviations are clipped there, or nearer where outliers are frequent.
pub const CUT: f64 = 4.0;
/// Weight of all benchmarks in the share of one, in runs.
const BENCHMARK_DEVIATIONS: f64 = 20.0;
/// Runs on either side of a run that should be near it.
const NEIGHBORS: usize = 3;
/// Fewest standard errors between two levels: the largest of some n log n sums of normal values exceeds 4.6 in 0.5% of series of a hundred
/// runs; the rest is for scatter estimated from few runs. Two clipped runs do not reach it; three do where outliers are rare.
pub const CHANGE: f64 = 5.2;
/// Prior degrees of freedom of the tails of run effects, the weight of this prior in deviations, and the heaviest tails.
const PRIOR_TAILS: f64 = 8.0;
const PRIOR_DEVIATIONS: f64 = 200.0;
const MIN_TAILS: f64 = 2.0;
/// Fewest runs of which the best split may be a change while their scatter is learned.
const MIN_RUNS_OF_SPLIT: usize = 12;
/// See [`tails`].
pub const FAR: f64 = 3.0;
/// Lower bound of the standard deviation of runs, even if a few are equal.
const MIN_SD: f64 = 5e-4;

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Position of the run among those of the system.
    pub run: usize,
    /// Natural logarithm of the estimate.
    pub y: f64,
    /// Variance of `y`, from the launches of the run.
    pub variance: f64,
    /// Judged by the scatter of the other runs, if these are enough.
    pub judged: bool,
}

/// Runs that share a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// Positions of the first run, and of the one after the last.
    pub start: usize,
    /// See `start`.
    pub end: usize,
    /// Natural logarithm.
    pub mean: f64,
    /// Standard error of the mean.
    pub error: f64,
}

/// Scatter of the runs of one level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Variance of one run about its level, including errors of launches.
    pub variance: Variance,
    /// Part of it that the launches of a usual run show.
    pub within: f64,
    /// Correlation of neighboring runs.
    pub correlation: f64,
    /// Standard deviations at which deviations are clipped in the search for changes.
    pub clip: f64,
}

impl Noise {
    /// Variance of the effect of a run, beyond the errors of its launches.
    pub fn effect_variance(&self) -> f64 {
        (self.variance.value - self.within).max(0.0)
    }

    /// Standard deviation of one run about its level.
    pub fn sd(&self, point: &Point) -> f64 {
        let variance = scatter::run_variance(self.variance.value, self.within, point.variance);
        variance.sqrt().max(MIN_SD)
    }
}

/// Ratio of the variance of the mean of neighboring runs to that of independent ones.
fn inflation(correlation: f64, runs: usize) -> f64 {
    let (n, left) = (runs as f64, 1.0 - correlation);
    // the sum of correlation^k (1 - k/n)
    let sum = correlation / left * (1.0 - (1.0 - correlation.powi(runs as i32)) / (n * left));
    1.0 + 2.0 * sum
}

/// Ratio of the variance of the median of n neighboring runs to that of one run; without `noise`, at the prior correlation. For independent
/// normal values it is about pi / (2n + pi - 2): exact within 2% for odd n, too large for even n.
pub fn median_variance_ratio(noise: Option<Noise>, runs: usize) -> f64 {
    let correlation = noise.map_or(PRIOR_CORRELATION, |noise| noise.correlation);
    let independent = PI / (2.0 * runs as f64 + PI - 2.0);
    inflation(correlation, runs) * independent
}

/// A benchmark over the runs of a system, in the order of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// One point per run with a result.
    pub points: Vec<Point>,
    /// Positions at which a level begins, except the first.
    pub starts: Vec<usize>,
    /// Those of them at which most benchmarks change, in order.
    pub shared: Vec<Shared>,
    /// First positions of the sides of a comparison, which follow the other runs; each side is one level.
    pub sides: Vec<usize>,
    /// Fewest other runs for each judged one that is left out of the scatter; at least three in all.
    pub others_per_judged: usize,
    /// `None` with fewer than three runs.
    pub noise: Option<Noise>,
}

impl Series {
    /// Number of runs before the sides: the search for changes ends there.
    fn before_sides(&self) -> usize {
        *self.sides.first().unwrap_or(&self.points.len())
    }

    /// Begins a level at the best split of the runs before the sides, if there are enough of them and `min` standard errors between both
    /// parts, and at shared changes.
    fn split(&mut self, min: f64) {
        let before = self.before_sides();
        let noise = self.noise.filter(|_| before >= MIN_RUNS_OF_SPLIT);
        let segments = self.segments();
        let splits = noise.into_iter().flat_map(|noise| {
            let split =
                |&(start, end): &(usize, usize)| best_split(&self.points, &noise, start, end);
            segments.iter().filter_map(split).collect::<Vec<_>>()
        });
        let best = splits.max_by(|a, b| a.distance.total_cmp(&b.distance));
        let best = best.filter(|candidate| candidate.distance > min);
        self.begin_levels(best.map(|candidate| candidate.split));
    }

    /// Runs before the sides, between shared changes.
    fn segments(&self) -> Vec<(usize, usize)> {
        let starts: Vec<usize> = self.shared_starts().collect();
        bounds(self.before_sides(), &starts).collect()
    }

    /// At these positions, shared changes and sides.
    fn begin_levels(&mut self, starts: impl IntoIterator<Item = usize>) {
        let starts: BTreeSet<usize> = starts.into_iter().chain(self.shared_starts()).collect();
        self.starts =
            starts.into_iter().chain(self.sides.iter().copied().filter(|side| *side > 0)).collect();
    }

    /// None with fewer than three runs.
    pub fn levels(&self) -> Vec<Level> {
        let levels = |noise| levels(&self.points, &self.starts, &noise);
        self.noise.map_or(vec![], levels)
    }
}

/// Fits scatter and levels of all benchmarks of a system to their points.
pub fn fit<'a>(all: impl IntoIterator<Item = &'a mut Series>) {
    let mut all: Vec<&mut Series> = all.into_iter().collect();
    fit_scatter(&mut all, PRIOR_CORRELATION);
    let found = shared_changes(&all, None);
    if !found.is_empty() {
        // an unknown change adds to scatter and correlation: those decide which the changes leave
        let correlation = share(&mut all, &found);
        let mut found = shared_changes(&all, Some(correlation));
        // few benchmarks that change by much move the median too, but show the place better
        for _ in 0..2 {
            share(&mut all, &found);
            for series in &mut all {
                series.keep_own_changes();
            }
            found = shared::located(&all, &found);
        }
        fit_scatter(&mut all, PRIOR_CORRELATION);
    }
    for series in &mut all {
        let Some(noise) = series.noise else { continue };
        let starts = changes(&series.points[..series.before_sides()], &noise);
        let starts = series.at_shared_places(&starts, &noise);
        series.begin_levels(starts);
        series.keep_own_changes();
    }
}

/// Begins levels of all benchmarks at these changes, and fits their scatter; returns the correlation of neighboring runs.
fn share(all: &mut [&mut Series], changes: &[Shared]) -> f64 {
    for series in all.iter_mut() {
        series.shared = shared::by_points(&series.points[..series.before_sides()], changes);
    }
    fit_scatter(all, PRIOR_CORRELATION)
}

/// Fits the scatter of benchmarks, and returns the correlation of neighboring runs.
fn fit_scatter(all: &mut [&mut Series], prior_correlation: f64) -> f64 {
    for series in all.iter_mut() {
        series.begin_levels([]);
    }
    let mut correlation = set_noise(all, prior_correlation);
    // pairs of runs across a change would hide it: the best split counts as one if it is a change by the scatter that it leaves
    for min in [0.0, CHANGE] {
        for series in all.iter_mut() {
            series.split(min);
        }
        correlation = set_noise(all, prior_correlation);
    }
    set_clip(all);
    correlation
}

/// Scatter of runs about the levels that begin at `starts`, from differences of nearby runs: variances are moderated towards those of all
/// benchmarks, correlations towards that of all, which is returned.
fn set_noise(all: &mut [&mut Series], prior_correlation: f64) -> f64 {
    let pairs =
        |series: &&mut Series| Pairs::new(&series.points, &series.starts, series.others_per_judged);
    let scatters: Vec<Option<Pairs>> = all.iter().map(pairs).collect();
    let of_all = correlation(scatters.iter().flatten(), prior_correlation);
    for (series, pairs) in all.iter_mut().zip(&scatters) {
        series.noise = pairs.as_ref().map(|pairs| {
            let correlation = correlation(std::iter::once(pairs), of_all);
            Noise {
                variance: pairs.variance(correlation),
                within: descriptive::median_of(series.points.iter().map(|point| point.variance)),
                correlation,
                clip: CUT,
            }
        });
    }
    moderate(all);
    of_all
}

/// Clips at z with exp(-z²/2) = the share of outliers: of the benchmark, moderated towards all.
fn set_clip(all: &mut [&mut Series]) {
    let counts: Vec<(f64, f64)> = all.iter().map(|series| count_outliers(series)).collect();
    let share = |prior: f64, weight: f64, (outliers, runs): (f64, f64)| {
        (outliers + prior * weight) / (runs + weight)
    };
    let sum = counts.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let of_all = share((-CUT * CUT / 2.0).exp(), PRIOR_DEVIATIONS, sum);
    for (series, count) in all.iter_mut().zip(counts) {
        if let Some(noise) = &mut series.noise {
            let share = share(of_all, BENCHMARK_DEVIATIONS, count).max(of_all);
            noise.clip = (-2.0 * share.ln()).sqrt().min(CUT);
        }
    }
}

/// Outliers of a series, and all, less the judged ones. An outlier is far from the median of the three before it and of the three after it, so that runs of a new
/// level are not outliers.
fn count_outliers(series: &Series) -> (f64, f64) {
    let Some(noise) = series.noise else {
        return (0.0, 0.0);
    };
    let points = &series.points;
    let is_outlier = |run: &usize| {
        // the order of sides means nothing
        let starts = || series.sides.iter().copied();
        let start = starts().filter(|start| start <= run).max().unwrap_or(0);
        let end = starts().find(|start| start > run).unwrap_or(points.len());
        let (before, after) = (run.saturating_sub(NEIGHBORS).max(start)..*run, run + 1..end);
        let far_from =
            |near: &[Point]| (points[*run].y - median(near)).abs() > CUT * noise.sd(&points[*run]);
        let near = [&points[before], &points[after]];
        let mut near = near.into_iter().map(|near| &near[..near.len().min(NEIGHBORS)]);
        near.all(|near| !near.is_empty() && far_from(near))
    };
    let others = (0..points.len()).filter(|run| !points[*run].judged);
    let outliers = others.clone().filter(is_outlier).count();
    (outliers as f64, others.count() as f64)
}

/// Moderates variances relative to those of launches: benchmarks with more scatter between launches also differ more between runs.
fn moderate(all: &mut [&mut Series]) {
    let shown = |noise: &Noise| noise.within.max(MIN_SD * MIN_SD);
    let over_shown =
        |noise: &Noise| Variance { value: noise.variance.value / shown(noise), ..noise.variance };
    let ratios: Vec<Option<Variance>> =
        all.iter().map(|series| series.noise.as_ref().map(over_shown)).collect();
    let Some(prior) = moderated::distribution(&ratios) else {
        return;
    };
    for noise in all.iter_mut().filter_map(|series| series.noise.as_mut()) {
        let moderated = over_shown(noise).moderated(prior);
        noise.variance = Variance { value: moderated.value * shown(noise), ..moderated };
    }
}

/// Deviations of each run from the median of its level.
pub fn deviations(points: &[Point], starts: &[usize]) -> Vec<f64> {
    let mut all = vec![];
    for (start, end) in bounds(points.len(), starts) {
        let center = median(&points[start..end]);
        all.extend(points[start..end].iter().map(|point| point.y - center));
    }
    all
}

fn bounds(len: usize, starts: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    let begins = std::iter::once(0).chain(starts.iter().copied());
    let ends = starts.iter().copied().chain([len]);
    begins.zip(ends).collect::<Vec<_>>().into_iter()
}

fn median(points: &[Point]) -> f64 {
    descriptive::median_of(points.iter().map(|point| point.y))
}

/// Degrees of freedom of Student's t that exceeds [`FAR`] of its robust standard deviations as often as `far` of `deviations` do, combined
/// with the prior; between 2 and 30.
pub fn tails(far: usize, deviations: usize) -> f64 {
    let exceeds = |freedom: f64| {
        // the robust standard deviation of t is its upper quartile over that of the normal distribution
        let sd = quantile::student(0.5, freedom) / quantile::normal(0.5);
        quantile::student_tails(FAR * sd, freedom)
    };
    let believed = PRIOR_DEVIATIONS * exceeds(PRIOR_TAILS);
    let share = (far as f64 + believed) / (deviations as f64 + PRIOR_DEVIATIONS);
    let (mut low, mut high) = (MIN_TAILS, 30.0);
    for _ in 0..20 {
        let middle = f64::midpoint(low, high);
        match exceeds(middle) > share {
            true => low = middle,
            false => high = middle,
        }
    }
    high
}

/// The levels between changes.
pub fn levels(points: &[Point], starts: &[usize], noise: &Noise) -> Vec<Level> {
    let level = |(start, end): (usize, usize)| {
        let within = &points[start..end];
        let center = median(within);
        // one step from the median towards the mean, outliers clipped
        let cut = |point: &Point| {
            let sd = noise.sd(point);
            (point.y - center).clamp(-CUT / 2.0 * sd, CUT / 2.0 * sd)
        };
        let runs = within.len();
        let variances = within.iter().map(|point| noise.sd(point).powi(2));
        let variance = variances.sum::<f64>() / (runs * runs) as f64;
        Level {
            start,
            end,
            mean: center + within.iter().map(cut).sum::<f64>() / runs as f64,
            error: (variance * inflation(noise.correlation, runs)).sqrt(),
        }
    };
    bounds(points.len(), starts).map(level).collect()
}

/// Deviation of the newest runs from a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Departure {
    /// Position of the first of them.
    pub start: usize,
    /// Mean of the runs minus that of the level.
    pub by: f64,
    /// Standard error of `by`.
    pub error: f64,
    /// Degrees of freedom of `error`.
    pub freedom: f64,
    /// Distance in standard errors, outliers clipped.
    pub distance: f64,
    /// `by` as it is tested: without the excess of outliers beside the nearest.
    pub tested: f64,
    /// One-sided p of no deviation in its direction.
    pub p: f64,
}

/// The last `runs` against a level before them: a single run by `tails` (see [`tails`]), several by their mean, outliers far beyond the nearest clipped. The
/// standard error is at least `chance`, the deviation that outliers explain ([`by_chance`]).
pub fn departure(
    points: &[Point],
    level: &Level,
    noise: &Noise,
    runs: usize,
    tails: f64,
    chance: f64,
) -> Departure {
    let start = points.len() - runs;
    let last = &points[start..];
    let square = last.iter().map(|point| noise.sd(point).powi(2)).sum::<f64>() / runs as f64;
    let error =
        (square / runs as f64 * inflation(noise.correlation, runs) + level.error.powi(2)).sqrt();
    let error = error.max(chance);
    let mean = |cut: f64| {
        let each = last.iter().map(|point| {
            let max = cut * noise.sd(point);
            (point.y - level.mean).clamp(-max, max)
        });
        each.sum::<f64>() / runs as f64
    };
    let freedom = noise.variance.df.min(tails * runs as f64);
    let (by, cut) = (mean(f64::INFINITY), mean(CUT));
    // several runs that are far in one direction show a change of any size: none is an outlier beside the nearest
    let distances = last.iter().map(|point| (point.y - level.mean) * by.signum() / noise.sd(point));
    let nearest = distances.fold(f64::INFINITY, f64::min);
    let tested = match runs {
        1 => by,
        _ => mean(CUT.max(2.0 * nearest)),
    };
    Departure {
        start,
        by,
        error,
        freedom,
        distance: cut / error,
        tested,
        p: quantile::student_tails((tested / error).abs(), freedom) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    fn series(ys: impl IntoIterator<Item = f64>) -> Series {
        let point = |y| Point { run: 0, y, variance: 1e-6, judged: false };
        let mut series =
            Series { points: ys.into_iter().map(point).collect(), ..Series::default() };
        fit([&mut series]);
        series
    }

    fn stepped(levels: &[(usize, f64)]) -> Series {
        let zigzag = [0.0, 0.004, -0.003, 0.002, -0.005, 0.001, 0.003];
        let level = levels.iter().flat_map(|&(n, x)| std::iter::repeat_n(x, n));
        series(level.zip(zigzag.iter().cycle()).map(|(x, e)| x + e))
    }

    #[test]
    fn steps_are_located() {
        let starts = |levels: &[(usize, f64)]| stepped(levels).starts;
        assert_eq!(starts(&[(30, 0.0), (12, 0.05)]), [30]);
        assert_eq!(starts(&[(20, 0.0), (25, -0.1), (40, 0.03)]), [20, 45]);
        assert_eq!(starts(&[(8, 0.0), (8, 0.05)]), [8]);
        assert_eq!(starts(&[(6, 0.0), (34, -0.1)]), [6]);
        assert_eq!(starts(&[(60, 0.0)]), [0_usize; 0]);
        assert_eq!(starts(&[(3, 0.0)]), [0_usize; 0]);
    }

    #[test]
    fn outliers_are_no_change() {
        let mut ys: Vec<f64> = stepped(&[(40, 0.0)]).points.iter().map(|p| p.y).collect();
        (ys[7], ys[20], ys[39]) = (0.3, -0.5, 0.4);
        let series = series(ys);
        assert!(series.starts.is_empty());
        assert!(series.levels()[0].mean.abs() < 0.002, "{series:?}");
        let sd = series.noise.unwrap().variance.value.sqrt();
        assert!(sd < 0.006, "{sd}");
    }

    #[test]
    fn frequent_outliers_are_skipped() {
        let starts = |outliers: &[usize]| {
            let mut ys: Vec<f64> = stepped(&[(60, 0.0)]).points.iter().map(|p| p.y).collect();
            for run in outliers {
                ys[*run] += 0.3;
            }
            series(ys).starts
        };
        assert_eq!(starts(&[30, 31, 32, 33, 34]), [30, 35]);
        assert_eq!(starts(&[4, 11, 19, 30, 31, 32, 44, 52]), [0_usize; 0]);
    }

    #[test]
    fn judged_runs_widen_no_scatter() {
        let mut calm = stepped(&[(20, 0.0)]);
        let before = calm.noise;
        let point = |y| Point { run: 0, y, variance: 1e-6, judged: true };
        calm.points.extend([0.2, -0.3].map(point));
        fit([&mut calm]);
        assert_eq!(calm.noise.map(|noise| noise.variance), before.map(|noise| noise.variance));
    }

    #[test]
    fn one_far_run_departs() {
        let calm = stepped(&[(20, 0.0)]);
        let noise = calm.noise.unwrap();
        let level = calm.levels()[0];
        let p = |after: &[f64]| {
            let more = after.iter().map(|&y| Point { run: 0, y, variance: 1e-6, judged: false });
            let all: Vec<Point> = calm.points.iter().copied().chain(more).collect();
            departure(&all, &level, &noise, after.len(), 3.0, 0.0)
        };
        assert!(p(&[0.001]).p > 0.1);
        assert!(p(&[0.02]).p > 1e-3, "{:?}", p(&[0.02]));
        assert!(p(&[0.3]).p < 1e-3);
        let three = p(&[0.02, 0.02, 0.021]);
        assert!(three.p < 1e-3 && three.start == 20, "{three:?}");
        assert!((three.by - 0.0203).abs() < 1e-3);
    }

    #[test]
    fn sides_have_no_order() {
        let fitted = |sides: [f64; 2]| {
            let before = [0.0, 0.004, -0.003, 0.002, -0.005, 0.001, 0.003, 0.0];
            let ys = before.into_iter().chain(sides);
            let point = |y| Point { run: 0, y, variance: 1e-6, judged: false };
            let points: Vec<Point> = ys.map(point).collect();
            let mut series =
                Series { points, sides: vec![before.len(), before.len() + 1], ..Series::default() };
            fit([&mut series]);
            series.noise
        };
        assert_eq!(fitted([0.1, 0.0]), fitted([0.0, 0.1]));
    }

    #[test]
    fn correlated_runs_stay_correlated() {
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(1);
        let mut walk = |_| {
            let mut last = 0.0;
            let mut y = |run| {
                last = 0.7 * last + random.random_range(-0.01..0.01);
                Point { run, y: last, variance: 1e-6, judged: false }
            };
            Series { points: (0..16).map(&mut y).collect(), ..Series::default() }
        };
        let mut walks: Vec<Series> = (0..20).map(&mut walk).collect();
        fit(&mut walks);
        let correlation = |walk: &Series| walk.noise.unwrap().correlation;
        let all: Vec<f64> = walks.iter().map(correlation).collect();
        assert!(descriptive::mean(&all) > 0.55, "{all:?}");
    }

    #[test]
    fn correlation_of_runs_is_learned() {
        let slow = series((0..60).map(|run| 0.01 * (f64::from(run) / 5.0).sin()));
        assert!(slow.noise.unwrap().correlation > 0.4, "{:?}", slow.noise);
        let quick = series((0..60).map(|run| 0.01 * f64::from(run * 7 % 11)));
        assert!(quick.noise.unwrap().correlation < 0.3, "{:?}", quick.noise);
    }

    #[test]
    fn median_of_one_is_one() {
        let independent = Noise { correlation: 0.0, ..series([0.0, 0.1, 0.2]).noise.unwrap() };
        let share = |runs| median_variance_ratio(Some(independent), runs);
        assert!((share(1) - 1.0).abs() < 1e-12);
        // exactly 0.4487 and 0.2868
        assert!((share(3) - 0.44).abs() < 0.01 && (share(5) - 0.285).abs() < 0.005);
        assert!(median_variance_ratio(None, 3) > share(3));
    }

    #[test]
    fn tails_follow_far_results() {
        let [few, known, heavy] =
            [(0, 0), (2, 2000), (200, 2000)].map(|(far, all)| tails(far, all));
        assert!((few - PRIOR_TAILS).abs() < 0.1);
        assert!(known > 20.0 && heavy < 3.0, "{known} {heavy}");
    }
}
