//! Levels of all benchmarks over the runs of a system: the one model behind `compare`, `history`, `changes` and `check`
//! ([`gritstone_stats::series`]).

use crate::run_summary::{RunSummary, RunValue};
use gritstone_model::Id;
use gritstone_stats::series::{self, Point, Series};
use std::collections::BTreeMap;

/// Fewest other runs for each compared one: with fewer, the scatter of two compared runs would be that of a few others.
const OTHERS_PER_COMPARED: usize = 3;
/// Fewest runs of a series for an estimate of tails.
const MIN_RUNS_OF_TAILS: usize = 6;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SystemLevels {
    /// Results of the newest version of each benchmark.
    pub series: BTreeMap<Id, Series>,
    /// Results of earlier versions.
    pub former: BTreeMap<(Id, u32), Series>,
    /// Degrees of freedom of the tails of run effects, over all benchmarks.
    pub tails: f64,
    /// Deviation from the level that the benchmarks of a run share, ln, by position of the run ([`series::in_common`]).
    pub common: BTreeMap<usize, f64>,
    /// The same for runs that are not judged.
    pub others_common: Vec<f64>,
}

/// How a fit uses a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Earlier,
    /// Left out of the scatter if there are three other runs.
    Judged,
    /// Left out of the scatter if there are three other runs for each.
    Compared,
    /// Belongs to a side of several runs, which form one level.
    Side(usize),
}

impl Role {
    fn side(self) -> Option<usize> {
        match self {
            Self::Side(side) => Some(side),
            Self::Earlier | Self::Judged | Self::Compared => None,
        }
    }
}

/// Fits runs of one system in any order; `values` are those of a run: its estimates, or a percentile of them. Sides come after
/// the earlier runs, one level each.
pub fn fit<'a>(
    runs: &[&'a RunSummary],
    role: &dyn Fn(&str) -> Role,
    values: &dyn Fn(&'a RunSummary) -> Option<&'a BTreeMap<Id, RunValue>>,
) -> SystemLevels {
    let role = |run: usize| role(&runs[run].run);
    let mut order: Vec<usize> = (0..runs.len()).collect();
    let place = |run: usize| (role(run).side(), runs[run].start_key());
    order.sort_by(|&a, &b| place(a).cmp(&place(b)));
    order.dedup_by(|a, b| runs[*a].run == runs[*b].run);
    let mut all: BTreeMap<(Id, u32), Series> = BTreeMap::new();
    // the values of a version are in the unit of its last one; compared runs count as the last
    let mut newest: BTreeMap<&Id, u32> = BTreeMap::new();
    let mut units: BTreeMap<(&Id, u32), f64> = BTreeMap::new();
    let (others, compared): (Vec<usize>, Vec<usize>) =
        order.iter().partition(|&&run| role(run) == Role::Earlier);
    for run in others.into_iter().chain(compared) {
        for (id, value) in values(runs[run]).into_iter().flatten() {
            newest.insert(id, value.version);
            units.extend(value.unit.map(|unit| ((id, value.version), unit)));
        }
    }
    let speed = |id: &Id, value: &RunValue| {
        let change = value.unit.zip(units.get(&(id, value.version)).copied());
        value.speed + change.map_or(0.0, |(unit, last)| unit - last)
    };
    for (place, &run) in order.iter().enumerate() {
        for (id, value) in values(runs[run]).into_iter().flatten() {
            let series = all.entry((id.clone(), value.version)).or_default();
            let before = series.points.last();
            let before = before.and_then(|point| role(order[point.run]).side());
            if before != role(run).side() {
                series.sides.push(series.points.len());
            }
            series.points.push(Point {
                run: place,
                y: speed(id, value),
                variance: value.within,
                judged: matches!(role(run), Role::Judged | Role::Compared),
            });
            if role(run) == Role::Compared {
                series.others_per_judged = OTHERS_PER_COMPARED;
            }
        }
    }
    series::fit(all.values_mut());
    let points = all.values_mut().flat_map(|series| &mut series.points);
    points.for_each(|point| point.run = order[point.run]);
    let apart = deviations(all.values());
    let by = |all: &[Deviation]| all.iter().map(|deviation| deviation.by).collect::<Vec<f64>>();
    let common: BTreeMap<usize, f64> =
        apart.iter().map(|(run, all)| (*run, series::in_common(&by(all)))).collect();
    let is_other = |run: usize| !matches!(role(run), Role::Judged | Role::Compared);
    let others = common.iter().filter(|(run, _)| is_other(**run));
    // the others have no value in common
    let others = others.filter(|(run, _)| apart[run].len() >= series::MIN_IN_COMMON);
    let is_newest = |(id, version): &(Id, u32)| newest[id] == *version;
    let former = all.extract_if(.., |version, _| !is_newest(version)).collect();
    SystemLevels {
        others_common: others.map(|(_, common)| *common).collect(),
        tails: tails(&apart, &common, &is_other),
        common,
        former,
        series: all.into_iter().map(|((id, _), series)| (id, series)).collect(),
    }
}

/// Deviation of a result from its level.
struct Deviation {
    by: f64,
    /// Standard deviation of a run, if there are enough runs to learn tails.
    sd: Option<f64>,
}

/// Deviations by run.
fn deviations<'a>(all: impl Iterator<Item = &'a Series>) -> BTreeMap<usize, Vec<Deviation>> {
    let mut runs: BTreeMap<usize, Vec<Deviation>> = BTreeMap::new();
    for series in all {
        let Some(noise) = series.noise else { continue };
        let long = series.points.len() >= MIN_RUNS_OF_TAILS;
        let each = series::deviations(&series.points, &series.starts);
        for (point, by) in series.points.iter().zip(each) {
            let sd = long.then(|| noise.sd(point));
            let of_run = runs.entry(point.run).or_default();
            of_run.push(Deviation { by, sd });
        }
    }
    runs
}

/// Estimates tails from the frequency of results of unjudged runs far from their levels, beyond the shared deviation of their run.
fn tails(
    apart: &BTreeMap<usize, Vec<Deviation>>,
    common: &BTreeMap<usize, f64>,
    is_other: &dyn Fn(usize) -> bool,
) -> f64 {
    let others = apart.iter().filter(|(run, _)| is_other(**run));
    let distances = others.flat_map(|(run, all)| {
        let distance = |deviation: &Deviation| Some((deviation.by - common[run]) / deviation.sd?);
        all.iter().filter_map(distance)
    });
    let (results, far) = distances.fold((0, 0), |(results, far), distance| {
        let is_far = distance.abs() > series::FAR;
        (results + 1, far + usize::from(is_far))
    });
    series::tails(far, results)
}
