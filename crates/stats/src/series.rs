//! One benchmark over the runs of a system: levels that change now and then, an effect of each run, an error of each result.
//!
//! y = level + run effect + error, natural logarithms. The error's variance is known from the launches of the run. Run effects have a
//! variance of their own, heavy tails, and a correlation between neighbors; one odd run in ten must not matter. Everything is fitted
//! afresh from all runs: no state, and the same answer whatever the order of arrival. docs/statistics.md has the model, docs/validation.md
//! the worlds in which it was tried.
//!
//! Change points are found in seeded intervals (Kovács, Bühlmann, Li and Munk 2023, "Seeded binary segmentation", Biometrika 110), the
//! narrowest first, by sums of deviations from the median that are cut off at [`CUT`] standard deviations: an odd run counts no more than
//! that (the bounded loss of Fearnhead and Rigaill 2019, JASA 114).

use crate::moderated::Variance;
use crate::{descriptive, quantile};

/// Standard deviations at which a deviation is cut off.
pub const CUT: f64 = 4.0;
/// Standard errors that two levels are apart at least: the largest of some n log n sums of normal values exceeds it in 0.5% of series of
/// a hundred runs.
pub const CHANGE: f64 = 4.6;
/// Degrees of freedom of the tails of run effects: before they are known, and the heaviest.
const PRIOR_TAILS: f64 = 8.0;
const MIN_TAILS: f64 = 3.0;
/// Deviations from which tails are learned, and runs of the series that they are from.
const MIN_DEVIATIONS: usize = 200;
/// See [`tails`].
pub const MIN_RUNS_OF_TAILS: usize = 8;
/// Correlation of neighboring run effects before it is known, and the runs that this belief is worth.
const PRIOR_CORRELATION: (f64, f64) = (0.2, 10.0);
const MAX_CORRELATION: f64 = 0.8;
/// Efficiency of a variance from the median absolute deviation: degrees of freedom of each value.
const MAD_FREEDOM: f64 = 0.37;
/// Each seeded interval is this much shorter than those before.
const DECAY: f64 = std::f64::consts::FRAC_1_SQRT_2;
/// Least standard deviation of runs, whatever a few equal ones say.
const MIN_SD: f64 = 5e-4;

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Natural logarithm of the estimate.
    pub y: f64,
    /// Variance of `y` that the launches of the run show.
    pub variance: f64,
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

/// How the runs of one level scatter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Variance of one run about its level, errors of launches included.
    pub variance: Variance,
    /// Mean variance that launches show, a part of it.
    pub within: f64,
    /// Correlation of neighboring runs.
    pub correlation: f64,
}

impl Noise {
    /// From deviations of runs about their levels, in the order of time; `None` of fewer than three runs. Robust: half of them may be
    /// off.
    #[must_use]
    pub fn of_points(points: &[Point], starts: &[usize]) -> Option<Self> {
        let runs = points.len();
        let levels = starts.len() + 1;
        if runs < 3 || runs <= levels {
            return None;
        }
        let deviations = deviations(points, starts);
        let mut sizes: Vec<f64> = deviations.iter().map(|x| x.abs()).collect();
        sizes.sort_unstable_by(f64::total_cmp);
        // the medians of the levels take a value each with them: of what is left, the median
        let left = &sizes[levels.min(runs - 1)..];
        let sd = (descriptive::OF_MAD * descriptive::median(left)).max(MIN_SD);
        let cut = |x: &f64| (x / sd).clamp(-CUT, CUT);
        let pairs = deviations
            .windows(2)
            .map(|pair| cut(&pair[0]) * cut(&pair[1]))
            .sum::<f64>();
        let squares = deviations.iter().map(|x| cut(x).powi(2)).sum::<f64>();
        let (prior, worth) = PRIOR_CORRELATION;
        let correlation = match squares > 0.0 {
            // what the mean takes from it: Kendall (1954), (1 + 3 rho) / n
            true => (prior * worth + runs as f64 * pairs / squares + 1.0) / (worth + runs as f64),
            false => prior,
        };
        let freedom = (MAD_FREEDOM * (runs - levels) as f64).max(1.0);
        Some(Self {
            variance: Variance {
                value: sd * sd,
                df: freedom,
            },
            within: points.iter().map(|point| point.variance).sum::<f64>() / runs as f64,
            correlation: correlation.clamp(0.0, MAX_CORRELATION),
        })
    }

    /// Variance of the effect of a run, beyond the errors of its launches.
    #[must_use]
    pub fn of_runs(&self) -> f64 {
        (self.variance.value - self.within).max(0.0)
    }

    /// Standard deviation of one run about its level.
    fn sd(&self, point: &Point) -> f64 {
        let more = (point.variance - self.within).max(0.0);
        (self.variance.value + more).sqrt().max(MIN_SD)
    }

    /// Variance of the mean of neighboring runs over that of independent ones.
    fn inflation(&self, runs: usize) -> f64 {
        let lag = |lag: usize| (1.0 - lag as f64 / runs as f64) * self.correlation.powi(lag as i32);
        1.0 + 2.0 * (1..runs.min(32)).map(lag).sum::<f64>()
    }
}

/// Deviations of each run from the median of its level.
fn deviations(points: &[Point], starts: &[usize]) -> Vec<f64> {
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
    let ys: Vec<f64> = points.iter().map(|point| point.y).collect();
    descriptive::median(&descriptive::sorted(&ys))
}

/// Deviations of runs from their levels, in standard deviations.
#[must_use]
pub fn distances(points: &[Point], starts: &[usize], noise: &Noise) -> Vec<f64> {
    let deviations = deviations(points, starts);
    let each = deviations.iter().zip(points);
    each.map(|(off, point)| off / noise.sd(point)).collect()
}

/// Degrees of freedom of Student's t that exceeds three of its robust standard deviations as often as the distances of many series do,
/// each of at least [`MIN_RUNS_OF_TAILS`] runs; between 3 and 30; 8 of few distances.
#[must_use]
pub fn tails(distances: &[f64]) -> f64 {
    if distances.len() < MIN_DEVIATIONS {
        return PRIOR_TAILS;
    }
    let beyond = distances.iter().filter(|x| x.abs() > 3.0).count();
    let share = beyond as f64 / distances.len() as f64;
    let exceeds = |freedom: f64| {
        // the robust standard deviation of t is its upper quartile over that of the normal distribution
        let sd = quantile::student(0.5, freedom) / quantile::normal(0.5);
        quantile::student_tails(3.0 * sd, freedom)
    };
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

/// Variance of one run from the differences of neighbors, which changes of level hardly touch; `None` of fewer than three runs.
#[must_use]
pub fn rough_noise(points: &[Point]) -> Option<Noise> {
    if points.len() < 3 {
        return None;
    }
    let mut squares: Vec<f64> = points
        .windows(2)
        .map(|p| (p[1].y - p[0].y).powi(2))
        .collect();
    squares.sort_unstable_by(f64::total_cmp);
    // a difference has twice the variance; the median of its square is 0.455 of that
    let value = descriptive::median(&squares) / 2.0 / 0.455;
    Some(Noise {
        variance: Variance {
            value: value.max(MIN_SD * MIN_SD),
            df: (MAD_FREEDOM * (points.len() - 1) as f64).max(1.0),
        },
        within: points.iter().map(|p| p.variance).sum::<f64>() / points.len() as f64,
        correlation: PRIOR_CORRELATION.0,
    })
}

/// Positions at which a new level begins, in order. No level but the last is shorter than two runs.
#[must_use]
pub fn changes(points: &[Point], noise: &Noise) -> Vec<usize> {
    let mut found: Vec<usize> = vec![];
    let mut candidates: Vec<Candidate> = intervals(points.len())
        .into_iter()
        .filter_map(|(start, end)| best_split(points, noise, start, end))
        .filter(|candidate| candidate.distance > CHANGE)
        .collect();
    // the narrowest first: each has one change at most; of equal ones the clearest
    candidates.sort_by(|a, b| {
        let width = |c: &Candidate| c.end - c.start;
        width(a)
            .cmp(&width(b))
            .then(b.distance.total_cmp(&a.distance))
    });
    for candidate in candidates {
        let apart = |at: &usize| *at <= candidate.start || *at >= candidate.end;
        if found.iter().all(apart) {
            found.push(candidate.at);
        }
    }
    found.sort_unstable();
    refined(points, noise, found)
}

/// Moves each change to the best place between its neighbors, and drops those that are none any more.
fn refined(points: &[Point], noise: &Noise, mut starts: Vec<usize>) -> Vec<usize> {
    loop {
        let edges: Vec<usize> = [0]
            .into_iter()
            .chain(starts.iter().copied())
            .chain([points.len()])
            .collect();
        let moved: Vec<Option<Candidate>> = edges
            .windows(3)
            .map(|edge| best_split(points, noise, edge[0], edge[2]))
            .collect();
        let weakest = (0..moved.len()).min_by(|&a, &b| {
            let distance = |at: usize| moved[at].map_or(0.0, |candidate| candidate.distance);
            distance(a).total_cmp(&distance(b))
        });
        match weakest {
            Some(at) if moved[at].is_none_or(|candidate| candidate.distance <= CHANGE) => {
                starts.remove(at);
            }
            _ => {
                let places: Vec<usize> = moved.into_iter().flatten().map(|c| c.at).collect();
                let ordered = places.windows(2).all(|pair| pair[0] < pair[1]);
                return if ordered { places } else { starts };
            }
        }
    }
}

/// First and last position at which the change at `at` may be, between the levels from `start` and to `end`: those whose sums fall
/// short of the clearest by less than chance explains in 19 of 20 cases.
#[must_use]
pub fn location(
    points: &[Point],
    noise: &Noise,
    start: usize,
    at: usize,
    end: usize,
) -> (usize, usize) {
    let distances = splits(points, noise, start, end);
    let clearest = distances
        .iter()
        .map(|(_, distance)| *distance)
        .fold(0.0, f64::max);
    let short = clearest * clearest - quantile::chi_square(0.95, 1.0) * 2.0;
    let may = distances
        .iter()
        .filter(|(_, distance)| distance * distance >= short);
    let places = may.map(|(at, _)| *at).chain([at]);
    places.fold((at, at), |(first, last), place| {
        (first.min(place), last.max(place))
    })
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    start: usize,
    end: usize,
    at: usize,
    /// Standard errors between both sides.
    distance: f64,
}

/// The split of an interval whose sides are most standard errors apart.
fn best_split(points: &[Point], noise: &Noise, start: usize, end: usize) -> Option<Candidate> {
    let splits = splits(points, noise, start, end).into_iter();
    let best = splits.reduce(|best, split| if split.1 > best.1 { split } else { best });
    best.map(|(at, distance)| Candidate {
        start,
        end,
        at,
        distance,
    })
}

/// Splits of an interval that leave two runs on each side: position, and standard errors between both sides.
fn splits(points: &[Point], noise: &Noise, start: usize, end: usize) -> Vec<(usize, f64)> {
    let within = &points[start..end];
    let n = within.len();
    if n < 4 {
        return vec![];
    }
    let center = median(within);
    let cut = |point: &Point| ((point.y - center) / noise.sd(point)).clamp(-CUT, CUT);
    let all: Vec<f64> = within.iter().map(cut).collect();
    let mean = descriptive::mean(&all);
    let mut sum = 0.0;
    let mut found = vec![];
    for at in 1..n - 1 {
        sum += all[at - 1] - mean;
        if at < 2 {
            continue;
        }
        let (left, right) = (at as f64, (n - at) as f64);
        let variance = left * right / n as f64 * noise.inflation(at.min(n - at));
        found.push((start + at, sum.abs() / variance.sqrt()));
    }
    found
}

/// All of 0 to `len`, then ever shorter ones that overlap by half, down to four runs.
fn intervals(len: usize) -> Vec<(usize, usize)> {
    let mut all = vec![];
    let mut length = len as f64;
    while length >= 4.0 {
        let width = length.ceil() as usize;
        let count = 2 * (len as f64 / length).ceil() as usize - 1;
        let step = match count {
            1 => 0.0,
            count => (len - width) as f64 / (count - 1) as f64,
        };
        all.extend((0..count).map(|i| {
            let start = (i as f64 * step).floor() as usize;
            (start, (start + width).min(len))
        }));
        length *= DECAY;
    }
    all
}

/// The levels between changes.
#[must_use]
pub fn levels(points: &[Point], starts: &[usize], noise: &Noise) -> Vec<Level> {
    let level = |(start, end): (usize, usize)| {
        let within = &points[start..end];
        let center = median(within);
        // one step from the median towards the mean, odd runs cut off
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
            error: (variance * noise.inflation(runs)).sqrt(),
        }
    };
    bounds(points.len(), starts).map(level).collect()
}

/// The newest runs against a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Departure {
    /// Position of the first of them.
    pub start: usize,
    /// Mean of the runs less that of the level.
    pub by: f64,
    /// Standard error of `by`.
    pub error: f64,
    /// Degrees of freedom of `error`.
    pub freedom: f64,
    /// One-sided p of no departure to its side.
    pub p: f64,
}

/// The last `runs` against a level before them: a single run by `tails` (see [`tails`]), several by their mean, odd ones cut off.
#[must_use]
pub fn departure(
    points: &[Point],
    level: &Level,
    noise: &Noise,
    runs: usize,
    tails: f64,
) -> Departure {
    let start = points.len() - runs;
    let last = &points[start..];
    let square = last
        .iter()
        .map(|point| noise.sd(point).powi(2))
        .sum::<f64>()
        / runs as f64;
    let error = (square / runs as f64 * noise.inflation(runs) + level.error.powi(2)).sqrt();
    let cut = |point: &Point| match runs {
        1 => point.y - level.mean,
        _ => {
            let sd = noise.sd(point);
            (point.y - level.mean).clamp(-CUT * sd, CUT * sd)
        }
    };
    let freedom = match runs {
        1 => tails,
        _ => noise.variance.df.max(tails),
    };
    let distance = last.iter().map(cut).sum::<f64>() / runs as f64 / error;
    Departure {
        start,
        by: last.iter().map(|point| point.y - level.mean).sum::<f64>() / runs as f64,
        error,
        freedom,
        p: quantile::student_tails(distance.abs(), freedom) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(levels: &[(usize, f64)]) -> Vec<Point> {
        let zigzag = [0.0, 0.004, -0.003, 0.002, -0.005, 0.001, 0.003];
        let level = levels.iter().flat_map(|&(n, x)| std::iter::repeat_n(x, n));
        let each = level.zip(zigzag.iter().cycle());
        each.map(|(x, e)| Point {
            y: x + e,
            variance: 1e-6,
        })
        .collect()
    }

    fn starts(levels: &[(usize, f64)]) -> Vec<usize> {
        let points = points(levels);
        changes(&points, &rough_noise(&points).unwrap())
    }

    #[test]
    fn steps_are_located() {
        assert_eq!(starts(&[(30, 0.0), (12, 0.05)]), [30]);
        assert_eq!(starts(&[(20, 0.0), (25, -0.1), (40, 0.03)]), [20, 45]);
        assert_eq!(starts(&[(6, 0.0), (4, 0.05)]), [6]);
        assert_eq!(starts(&[(60, 0.0)]), [0_usize; 0]);
        assert_eq!(starts(&[(3, 0.0)]), [0_usize; 0]);
    }

    #[test]
    fn odd_runs_are_no_change() {
        let mut odd = points(&[(40, 0.0)]);
        (odd[7].y, odd[20].y, odd[39].y) = (0.3, -0.5, 0.4);
        let noise = rough_noise(&odd).unwrap();
        assert!(changes(&odd, &noise).is_empty());
        let level = levels(&odd, &[], &noise)[0];
        assert!(level.mean.abs() < 0.002, "{level:?}");
        let known = Noise::of_points(&odd, &[]).unwrap();
        assert!(known.variance.value.sqrt() < 0.006, "{known:?}");
    }

    #[test]
    fn one_far_run_departs() {
        let calm = points(&[(20, 0.0)]);
        let noise = Noise::of_points(&calm, &[]).unwrap();
        let level = levels(&calm, &[], &noise)[0];
        let p = |after: &[f64]| {
            let more = after.iter().map(|&y| Point { y, variance: 1e-6 });
            let all: Vec<Point> = calm.iter().copied().chain(more).collect();
            departure(&all, &level, &noise, after.len(), 3.0)
        };
        assert!(p(&[0.001]).p > 0.1);
        assert!(p(&[0.02]).p > 1e-3, "{:?}", p(&[0.02]));
        assert!(p(&[0.3]).p < 1e-3);
        let three = p(&[0.02, 0.02, 0.021]);
        assert!(three.p < 1e-3 && three.start == 20, "{three:?}");
        assert!((three.by - 0.0203).abs() < 1e-3);
        // as odd runs are rare, one counts more
        assert!(departure(&calm, &level, &noise, 1, 30.0).p < 1.0);
    }

    #[test]
    fn correlation_of_runs_is_learned() {
        let slow: Vec<Point> = (0..60)
            .map(|at| Point {
                y: 0.01 * (f64::from(at) / 5.0).sin(),
                variance: 0.0,
            })
            .collect();
        assert!(Noise::of_points(&slow, &[]).unwrap().correlation > 0.6);
        let quick: Vec<Point> = (0..60)
            .map(|at| Point {
                y: 0.01 * f64::from(at * 7 % 11),
                variance: 0.0,
            })
            .collect();
        assert!(Noise::of_points(&quick, &[]).unwrap().correlation < 0.3);
    }
}
