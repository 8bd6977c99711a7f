//! A gate: passed, failed or inconclusive.
//!
//! Against its history, a run fails on an unaccepted change for the worse that it belongs to, whichever run began it, and where the newest
//! runs are slower than their level. Without evidence of a slowdown it passes, with the minimum detectable slowdown. It is inconclusive
//! while a benchmark is missing. Levels are fitted afresh from all runs ([`crate::levels`]).

mod missing;
mod view;

pub use view::{require_detectable, show};

use crate::compare::uncompared;
use crate::levels::{self, Role, SystemLevels};
use crate::run_summary::RunSummary;
use gritstone_model::{
    Better, CheckOutcome, CheckRow, CheckView, CompareRow, CompareView, Finding, Flag, Id,
    Measurement, RowVariance, RunView,
};
use gritstone_stats::series::{self, Departure, Level, Noise, Point, Series, Shared};
use gritstone_stats::{multiple, quantile};
use missing::is_broken;
use std::collections::{BTreeMap, BTreeSet};
use view::worst_first;

/// Level of one run over all of its benchmarks.
const ALPHA: f64 = 0.02;
/// Fewest runs of a base that was not accepted.
pub(crate) const MIN_BASE: usize = 3;
/// Fewest runs of a level that is better than the first one, for a base.
const MIN_RUNS_OF_BETTER: usize = 5;
/// Numbers of newest runs that are tested as a group against the level.
const NEWEST: [usize; 4] = [1, 2, 3, 5];
/// The group without which levels are fitted: one run may be odd, and three are a level.
const LEVELS: usize = 2;
/// Largest slowdown that is stated as detectable.
const MAX_DETECTABLE: f64 = 10.0;
/// Power at the minimum detectable slowdown.
const POWER: f64 = 0.9;

/// Benchmarks whose level in a run was accepted, with the identifier of the run.
pub type Accepted = BTreeSet<(String, Id)>;

/// Tests the comparison of a run with another against the allowed slowdown, with p adjusted by Holm. Results that only the run has, or
/// that neither side has, are ignored.
pub fn check(
    view: &CompareView,
    [base, run]: [&RunView; 2],
    max_slowdown: f64,
    alpha: f64,
) -> CheckView {
    let missing = missing::of_base(view, base, run);
    let is_missing = |row: &CompareRow| missing.iter().any(|benchmark| benchmark.id == row.id);
    let rows = view.rows.iter().filter(|row| row.base.is_some());
    let rows = rows.filter(|row| !is_missing(row));
    let mut rows: Vec<CompareRow> = rows.cloned().collect();
    let p: Vec<Option<f64>> = rows.iter().map(|row| row.p).collect();
    for (row, p) in rows.iter_mut().zip(multiple::holm(&p)) {
        row.p_adjusted = p;
    }
    // either the program or the machine is slower
    let allowed = 1.0 / (1.0 + max_slowdown);
    let all_slower = view.common.as_ref().is_some_and(|change| change.ratio < allowed);
    let judged = |row: CompareRow| CheckRow {
        outcome: match run.get(&row.id).is_some_and(is_broken) {
            true => CheckOutcome::Regressed,
            false => match outcome(&row, max_slowdown, alpha) {
                CheckOutcome::Passed
                    if all_slower && row.ratio.is_some_and(|ratio| ratio < allowed) =>
                {
                    CheckOutcome::Inconclusive
                }
                outcome => outcome,
            },
        },
        since: None,
        row,
    };
    let rows = rows.into_iter().map(judged).collect();
    let common = view.common.filter(|_| all_slower);
    CheckView {
        differ_in: view.differ_in.clone(),
        ..worst_first([&view.base_name, &view.other], rows, missing, common, max_slowdown)
    }
}

/// A ratio above 1 means that the run is better. Sizes are exact; of other results, a slowdown beyond the allowed one takes an interval
/// that excludes none and a p that holds among all benchmarks.
fn outcome(row: &CompareRow, max_slowdown: f64, alpha: f64) -> CheckOutcome {
    let allowed = 1.0 / (1.0 + max_slowdown);
    let mut notes = row.notes.iter();
    let disturbed = notes.any(|note| note.flag() == Some(Flag::Interference));
    let slower = row.ratio.is_some_and(|ratio| ratio < allowed);
    match row.interval {
        None if row.unit == "bytes" && row.ratio.is_some() => match slower {
            true => CheckOutcome::Regressed,
            false => CheckOutcome::Passed,
        },
        Some(_) if disturbed => CheckOutcome::Inconclusive,
        Some([_, high]) => {
            let sure = high < 1.0 && row.p_adjusted.is_some_and(|p| p < alpha);
            match slower && sure {
                true => CheckOutcome::Regressed,
                false => CheckOutcome::Passed,
            }
        }
        None => CheckOutcome::Inconclusive,
    }
}

/// Tests a run against the runs of the system before it, in any order.
pub fn against_history(
    run: &RunView,
    earlier: &[RunSummary],
    max_slowdown: f64,
    accepted: &Accepted,
) -> CheckView {
    let newest = RunSummary::new(run);
    let earlier: Vec<&RunSummary> =
        earlier.iter().filter(|run| run.begun() < newest.begun()).collect();
    let runs: Vec<&RunSummary> = earlier.iter().copied().chain([&newest]).collect();
    let mut begun: Vec<(&str, &str)> = runs.iter().map(|run| run.begun()).collect();
    begun.sort_unstable();
    // the scatter of the runs before each group
    let fitted = |newest: usize| {
        let judged: BTreeSet<&str> = begun.iter().rev().take(newest).map(|(_, run)| *run).collect();
        let role = |run: &str| match judged.contains(run) {
            true => Role::Judged,
            false => Role::Earlier,
        };
        levels::fit(&runs, &role, &|run| Some(&run.values))
    };
    let systems = NEWEST.map(fitted);
    let gate = Gate {
        runs: &runs,
        systems: &systems,
        system: &systems[LEVELS],
        accepted,
        allowed: max_slowdown.ln_1p(),
    };
    let standings: BTreeMap<&Id, Standing> = run
        .results
        .iter()
        .filter_map(|result| Some((&result.id, gate.standing(&result.id)?)))
        .collect();
    let p: Vec<Option<f64>> = standings.values().map(|standing| Some(standing.p)).collect();
    let adjusted: BTreeMap<&Id, f64> =
        standings.keys().zip(multiple::holm(&p)).filter_map(|(id, p)| Some((*id, p?))).collect();
    // Holm's level of the last p that is small enough
    let selected = adjusted.values().filter(|p| **p < ALPHA).count();
    let of_family = ALPHA / (adjusted.len().max(1) + 1 - selected.max(1)) as f64;
    let known = |id: &Id| earlier.iter().any(|past| past.values.contains_key(id));
    let missing = missing::of_history(run, &runs, accepted, MIN_BASE);
    let is_missing = |id: &Id| missing.iter().any(|benchmark| benchmark.id == *id);
    let rows = run.results.iter().filter(|result| {
        result.estimate().is_some() || known(&result.id) && !is_missing(&result.id)
    });
    let rows = rows.map(|result| {
        let standing = standings.get(&result.id);
        let p = adjusted.get(&result.id).copied().unwrap_or(1.0);
        gate.row(result, standing, p, standings.len(), of_family)
    });
    let sides = ["its history", run.id.as_str()];
    worst_first(sides, rows.collect(), missing, None, max_slowdown)
}

struct Gate<'a> {
    runs: &'a [&'a RunSummary],
    /// Fitted without the scatter of each number of [`NEWEST`] runs.
    systems: &'a [SystemLevels; NEWEST.len()],
    /// That of [`LEVELS`].
    system: &'a SystemLevels,
    accepted: &'a Accepted,
    /// ln of the slowdown that is allowed.
    allowed: f64,
}

/// The newest runs of a benchmark against their expected level.
#[derive(Clone, Copy, Debug)]
struct Standing {
    base: Level,
    /// Position of the first of these runs among those of the system.
    since: usize,
    /// ln(speed) of the runs over that of the base.
    by: f64,
    /// Standard error of `by`, and its degrees of freedom.
    error: f64,
    freedom: f64,
    /// p of no slowdown, adjusted for all groups of newest runs.
    p: f64,
    /// The runs form a new level, so that a change precedes them.
    is_level: bool,
    /// Standard error of the newest run alone.
    newest_error: f64,
    runs: usize,
    noise: Noise,
}

impl Gate<'_> {
    /// `None` without a base.
    fn standing(&self, id: &Id) -> Option<Standing> {
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
        let change = self.change(series, from, *last, before);
        match change {
            Some(change) if change.is_level => Some(self.within(&change, points, &groups)),
            change => self
                .slower(points, &groups, noise)
                .into_iter()
                .chain(change)
                .min_by(|a, b| a.p.total_cmp(&b.p)),
        }
    }

    fn is_accepted(&self, run: usize, id: &Id) -> bool {
        let run = self.runs[run].run.clone();
        self.accepted.contains(&(run, id.clone()))
    }

    /// Position of the first point of the level that was accepted last: points before it do not belong to the base. If the accepted run's
    /// level is not slower than the one before, or the run is slower than its level, its own position counts.
    fn first_accepted(&self, id: &Id, series: &Series) -> usize {
        let all = series.levels();
        let is_slower = |pair: &[Level]| pair[1].mean < pair[0].mean - self.allowed;
        let slower = all.windows(2).filter(|pair| is_slower(pair));
        let slower: Vec<Level> = slower.map(|pair| pair[1]).collect();
        let accepted = |position: &usize| self.is_accepted(series.points[*position].run, id);
        let positions = (0..series.points.len()).filter(accepted);
        positions.fold(0, |from, position| {
            // a run slower than the level that it was put into begins another
            let belongs = |level: &&Level| {
                (level.start..level.end).contains(&position)
                    && series.points[position].y >= level.mean - self.allowed
            };
            let level = slower.iter().find(belongs);
            level.map_or(position, |level| level.start).max(from)
        })
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

    /// The last level without what follows the first `runs`; one that is better than all before takes as many runs as [`best`].
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
            false => best.filter(|_| is_better),
        }
    }

    /// The group that is slower most clearly, else the farthest.
    fn slower(
        &self,
        points: &[Point],
        groups: &[(Level, Departure)],
        noise: Noise,
    ) -> Option<Standing> {
        let newest_error = groups.first()?.1.error;
        // p is smallest for the last run of a large change: the change began with the first run that is as slow
        let are_slower =
            |group: &&(Level, Departure)| group.1.by < -self.allowed && are_alike(points, group);
        let slower = groups.iter().filter(are_slower);
        let least = slower.map(|(_, departure)| departure.p).fold(1.0, f64::min);
        let clearest = groups.iter().rev().find(are_slower);
        let farthest = |a: &&(Level, Departure), b: &&(Level, Departure)| {
            a.1.distance.total_cmp(&b.1.distance)
        };
        let (base, clearest) = clearest.or_else(|| groups.iter().min_by(farthest))?;
        Some(Standing {
            base: *base,
            since: points[clearest.start].run,
            by: clearest.by,
            error: clearest.error,
            freedom: clearest.freedom,
            p: (least * groups.len() as f64).min(1.0),
            is_level: false,
            newest_error,
            runs: points.len(),
            noise,
        })
    }

    /// The newest runs of a level that is worse: those that left it are judged by their own values.
    fn within(
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
            is_level: is_change,
            newest_error: (noise.variance.value + best.error.powi(2)).sqrt(),
            runs: points.len(),
            noise,
        })
    }

    fn row(
        &self,
        result: &Measurement,
        standing: Option<&Standing>,
        p: f64,
        tests: usize,
        of_family: f64,
    ) -> CheckRow {
        let mut row = uncompared(result);
        let accepted = self.is_accepted(self.runs.len() - 1, &result.id);
        if accepted {
            row.notes.push(Finding::Accepted {}.into());
        }
        let Some(standing) = standing else {
            let fit = result.value().is_some_and(|value| value > 0.0);
            if fit && row.notes.iter().all(|note| note.flag().is_none()) {
                row.notes.push(self.why_no_base(&result.id).into());
            }
            return CheckRow {
                outcome: match is_broken(result) {
                    true => CheckOutcome::Regressed,
                    false if accepted => CheckOutcome::Passed,
                    false => CheckOutcome::Inconclusive,
                },
                since: None,
                row,
            };
        };
        let regressed = standing.by < -self.allowed && (standing.is_level || p < ALPHA);
        let sign = if result.better == Better::Higher { 1.0 } else { -1.0 };
        let half =
            |level: f64| quantile::student(1.0 - 2.0 * level, standing.freedom) * standing.error;
        // one that excludes no change has the level that decides
        let half = match half(0.025) < standing.by.abs() && !standing.is_level {
            true => half(of_family / NEWEST.len() as f64),
            false => half(0.025),
        };
        row.base = Some((sign * standing.base.mean).exp());
        row.other = Some((sign * (standing.base.mean + standing.by)).exp());
        row.ratio = Some(standing.by.exp());
        row.interval = Some([-half, half].map(|half| (standing.by + half).exp()));
        (row.p, row.p_adjusted) = (Some(standing.p), Some(p));
        row.smallest = self.detectable(standing, tests, regressed);
        row.between_run =
            Some(RowVariance { estimate: standing.noise.of_runs().sqrt(), runs: standing.runs });
        CheckRow {
            outcome: if regressed { CheckOutcome::Regressed } else { CheckOutcome::Passed },
            since: regressed.then(|| self.runs[standing.since].started.clone()),
            row,
        }
    }

    /// Minimum detectable slowdown of the newest run alone, as a share; none beyond [`MAX_DETECTABLE`]. A slowdown that passes was not
    /// detectable.
    fn detectable(&self, standing: &Standing, tests: usize, regressed: bool) -> Option<f64> {
        let level = ALPHA / tests.max(1) as f64 / NEWEST.len() as f64;
        let freedom = standing.noise.variance.df.min(self.system.tails);
        let needed = quantile::student(1.0 - 2.0 * level, freedom) * standing.newest_error;
        let surely = quantile::normal(2.0 * POWER - 1.0) * standing.newest_error;
        let passed = if regressed { 0.0 } else { -standing.by };
        let smallest = (needed.max(self.allowed) + surely).max(passed).exp_m1();
        Some(smallest).filter(|smallest| *smallest <= MAX_DETECTABLE)
    }

    fn why_no_base(&self, id: &Id) -> Finding {
        let series = self.system.series.get(id);
        let base =
            series.map_or(0, |series| series.points.len() - 1 - self.first_accepted(id, series));
        match base {
            0 => Finding::NoHistory {},
            runs => Finding::ShortHistory { runs, needed: MIN_BASE },
        }
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

/// Deviation from the base, beyond that of the other benchmarks, that odd runs as frequent as those before explain; 0 where none of the
/// runs is odd.
fn individual_deviation(
    system: &SystemLevels,
    before: &[Point],
    runs: &[Point],
    base: &Level,
    noise: &Noise,
) -> f64 {
    let common = |point: &Point| system.common.get(&point.run).copied();
    let deviation = |point: &Point| point.y - base.mean - common(point).unwrap_or(0.0);
    let is_odd = |point: &Point| deviation(point).abs() > series::CUT * noise.sd(point);
    if before.is_empty() || !runs.iter().any(is_odd) {
        return 0.0;
    }
    let others: Vec<f64> = before.iter().map(deviation).collect();
    let runs: Vec<f64> = runs.iter().map(deviation).collect();
    series::by_chance(&others, &runs, ALPHA)
}
