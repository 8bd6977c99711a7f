//! Change points in seeded intervals.

use super::{CHANGE, Noise, Point, inflation, median};
use crate::{descriptive, quantile};

/// Fewest runs on either side of a change.
pub(super) const MIN_RUNS: usize = 2;
/// Width of the shortest intervals, ratio of consecutive widths, and starts per width.
const MIN_WIDTH: f64 = 2.0 * MIN_RUNS as f64;
const GROWTH: f64 = std::f64::consts::SQRT_2;
const STEPS: usize = 8;

/// See [`split_distance`]: fewest runs of a side, and most runs of both for each of the shorter side.
const MIN_SIDE: usize = 3;
const MAX_RATIO: usize = 4;

/// Positions at which a new level begins, in order. Every level has at least [`MIN_RUNS`].
pub(super) fn changes(points: &[Point], noise: &Noise) -> Vec<usize> {
    let mut found: Vec<usize> = vec![];
    let mut candidates: Vec<Candidate> = intervals(points.len())
        .into_iter()
        .filter_map(|(start, end)| best_split(points, noise, start, end))
        .filter(|candidate| candidate.distance > CHANGE)
        .collect();
    // the narrowest first, which have at most one change each; among equals the clearest
    candidates.sort_by(|a, b| {
        let width = |c: &Candidate| c.end - c.start;
        width(a).cmp(&width(b)).then(b.distance.total_cmp(&a.distance))
    });
    for candidate in candidates {
        let apart = |split: &usize| *split <= candidate.start || *split >= candidate.end;
        if found.iter().all(apart) {
            found.push(candidate.split);
        }
    }
    found.sort_unstable();
    refined(points, noise, found)
}

/// Moves each change to the best place between its neighbors, and drops those that lose significance.
fn refined(points: &[Point], noise: &Noise, mut starts: Vec<usize>) -> Vec<usize> {
    loop {
        let edges: Vec<usize> =
            [0].into_iter().chain(starts.iter().copied()).chain([points.len()]).collect();
        let moved: Vec<Option<Candidate>> =
            edges.windows(3).map(|edge| best_split(points, noise, edge[0], edge[2])).collect();
        let weakest = (0..moved.len()).min_by(|&a, &b| {
            let distance =
                |change: usize| moved[change].map_or(0.0, |candidate| candidate.distance);
            distance(a).total_cmp(&distance(b))
        });
        match weakest {
            Some(change) if moved[change].is_none_or(|candidate| candidate.distance <= CHANGE) => {
                starts.remove(change);
            }
            _ => {
                let places: Vec<usize> = moved.into_iter().flatten().map(|c| c.split).collect();
                let ordered = places.windows(2).all(|pair| pair[0] < pair[1]);
                return if ordered { places } else { starts };
            }
        }
    }
}

/// First and last possible position of the change at `split`, between the levels from `start` and to `end`: positions whose sums are
/// below the largest by no more than chance explains in 19 of 20 cases.
pub fn location(
    points: &[Point],
    noise: &Noise,
    start: usize,
    split: usize,
    end: usize,
) -> (usize, usize) {
    let distances = splits(points, noise, start, end);
    let clearest = distances.iter().map(|(_, distance)| *distance).fold(0.0, f64::max);
    let short = clearest * clearest - by_chance();
    let may = distances.iter().filter(|(_, distance)| distance * distance >= short);
    let places = may.map(|(split, _)| *split).chain([split]);
    places.fold((split, split), |(first, last), place| (first.min(place), last.max(place)))
}

/// By how much the squared distance at the right place falls short of the largest in 19 of 20 cases.
pub(super) fn by_chance() -> f64 {
    quantile::chi_square(0.95, 1.0) * 2.0
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    start: usize,
    end: usize,
    pub(super) split: usize,
    /// Standard errors between both sides.
    pub(super) distance: f64,
}

/// The split of an interval with the most standard errors between its sides.
pub(super) fn best_split(
    points: &[Point],
    noise: &Noise,
    start: usize,
    end: usize,
) -> Option<Candidate> {
    let splits = splits(points, noise, start, end).into_iter();
    let best = splits.reduce(|best, split| if split.1 > best.1 { split } else { best });
    best.map(|(split, distance)| Candidate {
        start,
        end,
        split,
        distance: distance.max(split_distance(&points[start..end], noise, split - start)),
    })
}

/// Splits of an interval that leave [`MIN_RUNS`] on each side: position, and standard errors between both sides.
pub(super) fn splits(
    points: &[Point],
    noise: &Noise,
    start: usize,
    end: usize,
) -> Vec<(usize, f64)> {
    let within = &points[start..end];
    let n = within.len();
    if n < 2 * MIN_RUNS {
        return vec![];
    }
    let center = median(within);
    let cut = |point: &Point| ((point.y - center) / noise.sd(point)).clamp(-noise.clip, noise.clip);
    let all: Vec<f64> = within.iter().map(cut).collect();
    let mean = descriptive::mean(&all);
    let mut sum = 0.0;
    let mut found = vec![];
    for split in 1..=n - MIN_RUNS {
        sum += all[split - 1] - mean;
        if split < MIN_RUNS {
            continue;
        }
        let (left, right) = (split as f64, (n - split) as f64);
        let variance = left * right / n as f64 * inflation(noise.correlation, split.min(n - split));
        found.push((start + split, sum.abs() / variance.sqrt()));
    }
    found
}

/// Standard errors between both sides of a split, clipped about the middle between their medians. A center that lies in the longer side
/// clips a change of any size to what three outliers may be: it is found where both sides have three runs, the longer one no more than
/// three times as many.
fn split_distance(within: &[Point], noise: &Noise, split: usize) -> f64 {
    let (one, other) = within.split_at(split);
    let shorter = one.len().min(other.len());
    if shorter < MIN_SIDE || within.len() > MAX_RATIO * shorter {
        return 0.0;
    }
    let middle = f64::midpoint(median(one), median(other));
    let cut = |point: &Point| ((point.y - middle) / noise.sd(point)).clamp(-noise.clip, noise.clip);
    let mean = |side: &[Point]| side.iter().map(cut).sum::<f64>() / side.len() as f64;
    let variance =
        (1.0 / one.len() as f64 + 1.0 / other.len() as f64) * inflation(noise.correlation, shorter);
    (mean(one) - mean(other)).abs() / variance.sqrt()
}

/// All of `len`, and intervals of fixed widths at fixed places, so that a new run changes none of them but the last of each width.
pub(super) fn intervals(len: usize) -> Vec<(usize, usize)> {
    let mut all = vec![];
    let mut width = MIN_WIDTH;
    while (width.ceil() as usize) < len {
        let whole = width.ceil() as usize;
        let starts = (0..len - whole).step_by((whole / STEPS).max(1));
        all.extend(starts.chain([len - whole]).map(|start| (start, start + whole)));
        width *= GROWTH;
    }
    if len >= MIN_WIDTH as usize {
        all.push((0, len));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_runs_move_no_interval() {
        for len in 4..120 {
            let all = intervals(len);
            let longer = intervals(len + 1);
            let inside = all.iter().filter(|(_, end)| *end < len);
            let unchanged = inside.filter(|interval| longer.contains(interval)).count();
            let at_end = all.iter().filter(|(_, end)| *end == len).count();
            assert_eq!(unchanged + at_end, all.len(), "{len}");
        }
        assert!(intervals(3).is_empty());
    }
}
