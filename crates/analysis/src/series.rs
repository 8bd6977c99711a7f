//! Histories: one result over the runs of a system, with levels, change points and marks.

use crate::comparability::ComparisonKey;
use crate::compare::is_usable;
use crate::levels::{self, Role, SystemLevels};
use crate::run_summary::RunSummary;
use crate::same;
use gritstone_model::{
    Difference, HistoryChange, HistoryMark, HistoryPoint, HistorySeries, HistoryView, Id,
    Measurement, RunView, SCHEMA_HISTORY, SameFact, Subject, Unit, grouped,
};
use gritstone_stats::quantile;
use gritstone_stats::series::{self, Level, Series, Shared};

/// Levels (means between change points) of all benchmarks, fitted per system to all of its runs.
#[derive(Clone, Debug, Default)]
pub struct Systems {
    groups: Vec<(ComparisonKey, Vec<String>, SystemLevels)>,
    same: Vec<SameFact>,
}

impl Systems {
    /// Only to runs that share these facts with the newest one of the system.
    pub fn fit(past: Vec<RunSummary>, same: &[SameFact]) -> Self {
        let groups = grouped(past.into_iter().map(|run| (run.circumstances.clone(), run)));
        let fitted = groups.into_iter().map(|(circumstances, mut runs)| {
            let newest = runs.iter().max_by(|a, b| a.start_key().cmp(&b.start_key())).cloned();
            RunSummary::restrict(&mut runs, &newest.unwrap_or_default(), same);
            let runs: Vec<&RunSummary> = runs.iter().collect();
            let system = levels::fit(&runs, &|_| Role::Earlier, &|run| Some(&run.values));
            let ids = runs.iter().map(|run| run.run.clone()).collect();
            (circumstances, ids, system)
        });
        Self { groups: fitted.collect(), same: same.to_vec() }
    }

    /// Leaves out results that a restricted fit did not use.
    fn restrict(&self, circumstances: &ComparisonKey, results: &mut Vec<(&RunView, Measurement)>) {
        let group = self.groups.iter().find(|(like, ..)| like == circumstances);
        let newest = results.last().map(|(_, result)| same::compiler(result));
        if self.same.is_empty() {
            return;
        }
        let is_of_newest = |result: &Measurement| Some(same::compiler(result)) == newest;
        results.retain(|(run, result)| {
            group.is_some_and(|(_, ids, _)| ids.contains(&run.id))
                && (!self.same.contains(&SameFact::Compiler) || is_of_newest(result))
        });
    }

    fn series(&self, id: &Id, key: &Key) -> Option<(&[String], &Series)> {
        let (_, ids, system) = self.groups.iter().find(|(like, ..)| *like == key.circumstances)?;
        let former = system.former.get(&(id.clone(), key.version));
        Some((ids, former.or_else(|| system.series.get(id))?))
    }
}

/// The history of a benchmark from runs, oldest first. `None` when none of those that the fit used has it.
pub fn history<'a>(
    id: &Id,
    runs: impl IntoIterator<Item = &'a RunView>,
    systems: &Systems,
) -> Option<HistoryView> {
    let result = |run: &RunView| run.get(id).cloned();
    let found: Vec<(&RunView, Measurement)> =
        runs.into_iter().filter_map(|run| Some((run, result(run)?))).collect();
    let newest = found.last()?.1.clone();
    let mut groups: Vec<(Key, Vec<(&RunView, Measurement)>)> = vec![];
    for (run, result) in found {
        let key = Key::new(run, &result);
        // the series with the newest run comes last
        let mut group = match groups.iter().position(|(alike, _)| *alike == key) {
            Some(index) => groups.remove(index),
            None => (key, vec![]),
        };
        group.1.push((run, result));
        groups.push(group);
    }
    for (key, group) in &mut groups {
        systems.restrict(&key.circumstances, group);
    }
    groups.retain(|(_, group)| !group.is_empty());
    (!groups.is_empty()).then(|| HistoryView {
        schema: SCHEMA_HISTORY.to_owned(),
        id: id.clone(),
        title: newest.title.clone(),
        unit: newest.unit.clone(),
        better: newest.better,
        series: groups.into_iter().map(|(key, group)| series(id, key, &group, systems)).collect(),
    })
}

#[derive(PartialEq)]
struct Key {
    circumstances: ComparisonKey,
    version: u32,
    unit: Unit,
}

impl Key {
    fn new(run: &RunView, result: &Measurement) -> Self {
        Self {
            circumstances: ComparisonKey::new(&run.machine, run.settings.as_ref()),
            version: result.version,
            unit: result.unit.clone(),
        }
    }
}

fn kernel(run: &RunView) -> String {
    let release = run.machine.facts.get("kernel.release");
    release.cloned().unwrap_or_default()
}

fn series(
    id: &Id,
    key: Key,
    group: &[(&RunView, Measurement)],
    systems: &Systems,
) -> HistorySeries {
    let (newest, result) = &group[group.len() - 1];
    let points: Vec<HistoryPoint> = group.iter().map(|(run, result)| point(run, result)).collect();
    let known = systems.series(id, &key);
    HistorySeries {
        machine: key.circumstances.machine,
        name: newest.machine.name.clone(),
        kernel: kernel(newest),
        compiler: same::compiler(result),
        version: key.version,
        unit: key.unit,
        dir: key.circumstances.dir,
        tuned: key.circumstances.tuned,
        params: key.circumstances.params,
        changes: known.map_or(vec![], |(runs, known)| changes(&points, runs, known)),
        marks: marks(group),
        points,
    }
}

/// Name of the kernel in marks.
pub const KERNEL: &str = "kernel";

/// Where the kernel, the compiler or Gritstone differs from the run before.
fn marks(group: &[(&RunView, Measurement)]) -> Vec<HistoryMark> {
    let facts = |(run, result): &(&RunView, Measurement)| {
        let gritstone = same::run_fact(run, SameFact::Gritstone);
        [(KERNEL, kernel(run)), ("compiler", same::compiler(result)), ("gritstone", gritstone)]
    };
    let differences = |pair: &[(&RunView, Measurement)]| -> Vec<Difference> {
        let both = facts(&pair[0]).into_iter().zip(facts(&pair[1]));
        both.filter(|((_, base), (_, other))| base != other)
            .map(|((what, base), (_, other))| Difference { what: what.to_owned(), base, other })
            .collect()
    };
    let pairs = group.windows(2).enumerate();
    pairs
        .map(|(index, pair)| HistoryMark { at: index + 1, differ_in: differences(pair) })
        .filter(|mark| !mark.differ_in.is_empty())
        .collect()
}

/// Change points of a fitted series, as indices into the displayed points.
fn changes(points: &[HistoryPoint], runs: &[String], known: &Series) -> Vec<HistoryChange> {
    let Some(noise) = known.noise else {
        return vec![];
    };
    let all = known.levels();
    let place = |index: usize| {
        let run = &runs[known.points[index].run];
        points.iter().position(|point| point.run == *run)
    };
    let change = |(pair, drift): (&[Level], bool)| {
        let [before, after] = pair else { return None };
        let index = place(after.start)?;
        let [first, last] = between(known, before, after);
        let by = after.mean - before.mean;
        let half = quantile::student(0.95, noise.variance.df) * before.error.hypot(after.error);
        Some(HistoryChange {
            run: points[index].run.clone(),
            started: points[index].started.clone(),
            at: index,
            // as far as the points are displayed
            between: [
                (first..after.start).find_map(place).unwrap_or(index),
                (after.start..=last).rev().find_map(place).unwrap_or(index),
            ],
            ratio: by.exp(),
            interval: Some([(by - half).exp(), (by + half).exp()]),
            runs: after.end - after.start,
            drift,
        })
    };
    let drifts = series::drifts(&known.points, &noise, &all);
    all.windows(2).zip(drifts).filter_map(change).collect()
}

/// First and last point with which the second of these levels may begin.
pub(crate) fn between(known: &Series, before: &Level, after: &Level) -> [usize; 2] {
    let location =
        |noise| series::location(&known.points, &noise, before.start, after.start, after.end);
    let (first, last) = known.noise.map_or((after.start, after.start), location);
    let shared = known.shared.iter().find(|change| change.start == after.start);
    match shared {
        // the benchmarks together may know the place better
        Some(Shared { between: [a, b], .. }) if b - a < last - first => [*a, *b],
        _ => [first, last],
    }
}

fn point(run: &RunView, result: &Measurement) -> HistoryPoint {
    HistoryPoint {
        run: run.id.clone(),
        label: run.label.clone(),
        started: run.started.clone(),
        commit: (run.settings.as_ref())
            .and_then(|settings| settings.commit.as_ref())
            .map(|commit| commit.id.clone()),
        estimate: result.value(),
        interval: result.interval(),
        value: result.value().filter(|x| *x > 0.0 && is_usable(result, Subject::Estimate)),
        notes: result.notes_on_result().cloned().collect(),
    }
}
