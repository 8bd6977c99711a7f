//! Where the newest runs of a benchmark stand against the levels before them.

use super::accepted::Accepted;
use crate::levels::SystemLevels;
use crate::run_summary::RunSummary;
use gritstone_model::Id;
use gritstone_stats::quantile;
use gritstone_stats::series::{self, Departure, Level, Noise, Point, Series, Shared};

/// Level of one run over all of its benchmarks.
pub(super) const ALPHA: f64 = 0.02;
/// Fewest runs of a base that was not accepted.
pub(crate) const MIN_BASE: usize = 3;
/// Fewest runs of a level that is better than the first one, for a base.
const MIN_RUNS_OF_BETTER: usize = 5;
/// Numbers of newest runs that are tested as a group against the level.
pub(super) const NEWEST: [usize; 4] = [1, 2, 3, 5];
/// The group without which levels are fitted: one run may be an outlier, and three are a level.
pub(super) const LEVELS: usize = 2;

pub(super) struct Gate<'a> {
    pub(super) runs: &'a [&'a RunSummary],
    /// Fitted without the scatter of each number of [`NEWEST`] runs.
    pub(super) systems: &'a [SystemLevels; NEWEST.len()],
    /// That of [`LEVELS`].
    pub(super) system: &'a SystemLevels,
    pub(super) accepted: &'a Accepted,
    /// ln of the slowdown that is allowed.
    pub(super) allowed: f64,
}

/// The newest runs of a benchmark against their expected level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    pub(super) base: Level,
    /// Position of the first of these runs among those of the system.
    pub(super) since: usize,
    /// ln(speed) of the runs over that of the base.
    pub(super) by: f64,
    /// Standard error of `by`, and its degrees of freedom.
    pub(super) error: f64,
    pub(super) freedom: f64,
    /// p of no slowdown, adjusted for all groups of newest runs.
    pub(super) p: f64,
    /// Number of these groups.
    pub(super) groups: usize,
    /// The runs form a new level, so that a change precedes them.
    pub(super) is_level: bool,
    /// Standard error of the newest run alone.
    pub(super) newest_error: f64,
    pub(super) runs: usize,
    pub(super) noise: Noise,
}

impl Gate<'_> {
    /// `None` without a base.
    pub(super) fn standing(&self, id: &Id) -> Option<Standing> {
        let series = self.system.series.get(id)?;
        let noise = series.noise?;
        if series.points.last()?.run + 1 != self.runs.len() {
            return None;
        }
        let from = self.first_accepted(id, series);
        let points = &series.points[from..];
        let starts: Vec<usize> = series
            .starts
            .iter()
            // fewer runs are judged one by one: they may not be alike
            .filter(|start| **start > from && **start + MIN_BASE <= series.points.len())
            .map(|start| start - from)
            .collect();
        let all = series::levels(points, &starts, &noise);
        let (last, before) = all.split_last()?;
        let groups = self.newest(id, from, &all);
        let change = self.change(series, from, *last, before, groups.first()?.1.error);
        match change {
            Some(change) if change.is_level => {
                let of_level = groups.into_iter().filter(|(base, _)| base.start == last.start);
                Some(self.in_level(&change, points, &of_level.collect::<Vec<_>>()))
            }
            change => self
                .slower(points, &groups, noise)
                .into_iter()
                .chain(change)
                .min_by(|a, b| a.p.total_cmp(&b.p)),
        }
    }

    pub(super) fn is_accepted(&self, run: usize, id: &Id) -> bool {
        self.accepted.covers(&self.runs[run].run, id)
    }

    pub(super) fn first_accepted(&self, id: &Id, series: &Series) -> usize {
        self.accepted.first(id, series, self.runs, self.allowed)
    }

    /// The newest runs in groups against the level before them.
    fn newest(&self, id: &Id, from: usize, levels: &[Level]) -> Vec<(Level, Departure)> {
        let departure = |(&newest, system): (&usize, &SystemLevels)| {
            let series = system.series.get(id)?;
            let (points, noise) = (&series.points[from..], &series.noise?);
            let runs = points.len().checked_sub(newest)?;
            let base = self.base(levels, runs, from)?;
            let (before, newest_runs) = (&points[base.start..base.end], &points[runs..]);
            let base = Level { start: base.start, ..series::levels(before, &[], noise)[0] };
            let chance = shared_deviation(system, newest_runs);
            let chance =
                chance.max(individual_deviation(system, before, newest_runs, &base, noise));
            let of_newest = series::departure(points, &base, noise, newest, system.tails, chance);
            Some((base, of_newest))
        };
        NEWEST.iter().zip(self.systems).filter_map(departure).collect()
    }

    /// The last level without what follows the first `runs`; one that is better than all before takes as many runs as [`best`]. The best
    /// before it while these are too few, for newest runs that do not reach back into another level.
    fn base(&self, levels: &[Level], runs: usize, from: usize) -> Option<Level> {
        let (last, before) = levels.split_last()?;
        let base = Level { end: last.end.min(runs), ..*last };
        let best = best(before, from);
        let is_better = best.is_some_and(|best| last.mean > best.mean + self.allowed);
        let needed = match (before.is_empty(), is_better) {
            (true, _) => min_base(from),
            (false, true) => MIN_RUNS_OF_BETTER,
            (false, false) => MIN_BASE,
        };
        match base.end >= base.start + needed {
            true => Some(base),
            false => best.filter(|_| is_better || runs >= last.start),
        }
    }

    /// The group with the least p of those that are slower, since the first run of the largest of these; else the farthest group.
    fn slower(
        &self,
        points: &[Point],
        groups: &[(Level, Departure)],
        noise: Noise,
    ) -> Option<Standing> {
        let newest_error = groups.first()?.1.error;
        // p may be smallest for the last run of a change, which began with the first run that is as slow
        let are_slower =
            |group: &&(Level, Departure)| group.1.by < -self.allowed && are_alike(points, group);
        let mut slower = groups.iter().filter(are_slower);
        let clearest = slower.clone().min_by(|a, b| a.1.p.total_cmp(&b.1.p));
        let farthest = groups.iter().min_by(|a, b| a.1.distance.total_cmp(&b.1.distance));
        let (base, departure) = clearest.or(farthest)?;
        let (_, largest) = slower.next_back().or(farthest)?;
        let p = if clearest.is_some() { departure.p } else { 1.0 };
        Some(Standing {
            base: *base,
            since: points[largest.start].run,
            by: departure.by,
            // as many standard errors as the test
            error: departure.error * (departure.by / departure.tested).max(1.0),
            freedom: departure.freedom,
            p: (p * groups.len() as f64).min(1.0),
            groups: groups.len(),
            is_level: false,
            newest_error,
            runs: points.len(),
            noise,
        })
    }

    /// The newest runs of a level that is worse: those that left it are judged by their own values.
    fn in_level(
        &self,
        change: &Standing,
        points: &[Point],
        groups: &[(Level, Departure)],
    ) -> Standing {
        let all = groups.len() as f64;
        let left = groups.iter().filter(|group| {
            group.1.p * all < ALPHA && group.1.by.abs() > self.allowed && are_alike(points, group)
        });
        let Some((level, departure)) = left.min_by(|a, b| a.1.p.total_cmp(&b.1.p)) else {
            return *change;
        };
        let by = level.mean + departure.by - change.base.mean;
        let error = departure.error.hypot(change.base.error);
        let p = quantile::student_tails((by / error).abs(), departure.freedom) / 2.0;
        let is_level = departure.by < 0.0;
        Standing {
            by,
            error,
            freedom: departure.freedom,
            p: if is_level {
                0.0
            } else if by < 0.0 {
                (p * all).min(1.0)
            } else {
                1.0
            },
            groups: groups.len(),
            is_level,
            ..*change
        }
    }

    /// The last level against the best before it.
    fn change(
        &self,
        series: &Series,
        from: usize,
        last: Level,
        before: &[Level],
        newest_error: f64,
    ) -> Option<Standing> {
        let (points, noise) = (&series.points[from..], series.noise?);
        let best = best(before, from)?;
        let (by, error) = (last.mean - best.mean, last.error.hypot(best.error));
        let is_between =
            |change: &Shared| (best.end + from..=last.start + from).contains(&change.start);
        let least = match series.shared.iter().any(is_between) {
            true => series::SHARED,
            false => series::CHANGE,
        };
        let is_change = by < -self.allowed && -by / error > least;
        Some(Standing {
            base: best,
            since: points[best.end].run,
            by,
            error,
            freedom: noise.variance.df,
            p: if is_change { 0.0 } else { 1.0 },
            groups: NEWEST.len(),
            is_level: is_change,
            newest_error,
            runs: points.len(),
            noise,
        })
    }
}

/// Fewest runs of a base that begins with this position: the scatter of an accepted level is known from the runs before.
fn min_base(from: usize) -> usize {
    if from == 0 { MIN_BASE } else { 1 }
}

/// The best level of enough runs: a few faster runs amid others are no base.
fn best(levels: &[Level], from: usize) -> Option<Level> {
    let is_settled = |level: &&Level| {
        let runs = level.end - level.start;
        runs >= if level.start == 0 { min_base(from) } else { MIN_RUNS_OF_BETTER }
    };
    let settled = levels.iter().filter(is_settled);
    settled.max_by(|a, b| a.mean.total_cmp(&b.mean)).copied()
}

/// Whether each of the runs is beyond half of their mean.
fn are_alike(points: &[Point], (base, departure): &(Level, Departure)) -> bool {
    let runs = points[departure.start..].iter();
    let mut along = runs.map(|run| (run.y - base.mean) * departure.by.signum());
    along.all(|along| along > departure.by.abs() / 2.0)
}

/// Deviation that the benchmarks of these runs share by chance.
fn shared_deviation(system: &SystemLevels, points: &[Point]) -> f64 {
    let of_run = |point: &Point| system.common.get(&point.run).copied();
    let of_runs: Vec<f64> = points.iter().filter_map(of_run).collect();
    series::by_chance(&system.others_common, &of_runs, ALPHA)
}

/// Deviation from the base, beyond that of the other benchmarks, that outliers as frequent as those before explain; 0 where none of the
/// runs is an outlier.
fn individual_deviation(
    system: &SystemLevels,
    before: &[Point],
    runs: &[Point],
    base: &Level,
    noise: &Noise,
) -> f64 {
    let common = |point: &Point| system.common.get(&point.run).copied();
    let deviation = |point: &Point| point.y - base.mean - common(point).unwrap_or(0.0);
    let is_outlier = |point: &Point| deviation(point).abs() > series::CUT * noise.sd(point);
    if before.is_empty() || !runs.iter().any(is_outlier) {
        return 0.0;
    }
    let others: Vec<f64> = before.iter().map(deviation).collect();
    let runs: Vec<f64> = runs.iter().map(deviation).collect();
    series::by_chance(&others, &runs, ALPHA)
}
