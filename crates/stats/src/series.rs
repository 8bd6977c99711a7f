//! One figure over many runs, as a reader sees it: runs that are alike in series of their own, with their changes.
//!
//! Must not know: the store, how it is drawn.

use crate::compare::counts;
use crate::{history, two};
use gritstone_model::{
    Better, HistoryChange, HistoryPoint, HistorySeries, HistoryView, Id, Machine, ResultView,
    RunView, SCHEMA_HISTORY,
};

/// Fewest values since the last change against which a new run is held: those of which scatter between runs is learned.
pub const FEWEST: usize = crate::between::FEWEST_RUNS;

/// The history of a benchmark from runs, oldest first. `None` when no run has it.
#[must_use]
pub fn history<'a>(id: &Id, runs: impl IntoIterator<Item = &'a RunView>) -> Option<HistoryView> {
    let of = |run: &RunView| run.results.iter().find(|r| r.id == *id).cloned();
    let found: Vec<(&RunView, ResultView)> = runs
        .into_iter()
        .filter_map(|run| Some((run, of(run)?)))
        .collect();
    let newest = found.last()?.1.clone();
    let mut groups: Vec<Vec<(&RunView, ResultView)>> = vec![];
    for (run, result) in found {
        let alike =
            |group: &Vec<(&RunView, ResultView)>| key(group[0].0, &group[0].1) == key(run, &result);
        match groups.iter().position(alike) {
            // the series with the newest run comes last
            Some(at) => {
                let mut group = groups.remove(at);
                group.push((run, result));
                groups.push(group);
            }
            None => groups.push(vec![(run, result)]),
        }
    }
    Some(HistoryView {
        schema: SCHEMA_HISTORY.to_owned(),
        id: id.clone(),
        title: newest.title.clone(),
        unit: newest.unit.clone(),
        better: newest.better,
        series: groups.iter().map(|group| series(group)).collect(),
    })
}

/// What runs must have in common to be held against each other.
fn key(run: &RunView, result: &ResultView) -> (String, String, String, u32, String) {
    (
        run.machine.id.clone(),
        kernel(&run.machine),
        compiler(result),
        result.version,
        result.unit.to_string(),
    )
}

fn kernel(machine: &Machine) -> String {
    let release = machine.facts.get("kernel.release");
    release.cloned().unwrap_or_else(|| machine.system.clone())
}

fn compiler(result: &ResultView) -> String {
    let program = result.program.as_ref();
    program.map_or(String::new(), |program| {
        format!("{} {}", program.compiler, program.flags)
            .trim()
            .to_owned()
    })
}

fn series(group: &[(&RunView, ResultView)]) -> HistorySeries {
    let (run, first) = (group[0].0, &group[0].1);
    let paced = group
        .iter()
        .all(|(_, r)| r.processor_bound && (r.cycles.is_some() || r.estimate.is_none()));
    let compared = if paced { "cycles" } else { "estimate" };
    let points: Vec<HistoryPoint> = group
        .iter()
        .map(|(run, result)| point(run, result, compared))
        .collect();
    // positions of the points that count, and their values
    let (at, logs): (Vec<usize>, Vec<f64>) = points
        .iter()
        .enumerate()
        .filter_map(|(at, point)| Some((at, point.value?.ln())))
        .unzip();
    let found = history::changes(&logs);
    let correlation = history::correlation(&logs, &found);
    let level = logs.len() - found.last().unwrap_or(&0);
    // cycles are a time whatever the unit is
    let better = if paced { Better::Lower } else { first.better };
    let changes = (0..found.len())
        .filter_map(|i| change(&logs, &found, i, better))
        .map(|(position, ratio)| HistoryChange {
            run: points[at[position]].run.clone(),
            started: points[at[position]].started.clone(),
            at: at[position],
            ratio: ratio.ratio,
            interval: ratio.interval,
        });
    HistorySeries {
        machine: run.machine.id.clone(),
        name: run.machine.name.clone(),
        kernel: kernel(&run.machine),
        compiler: compiler(first),
        version: first.version,
        compared: compared.to_owned(),
        changes: changes.collect(),
        points,
        correlation,
        gates: level >= FEWEST && correlation <= history::CORRELATED,
    }
}

fn point(run: &RunView, result: &ResultView, compared: &str) -> HistoryPoint {
    let value = match compared {
        "cycles" => result.cycles,
        _ => result.estimate,
    };
    HistoryPoint {
        run: run.id.clone(),
        label: run.label.clone(),
        started: run.started.clone(),
        estimate: result.estimate,
        interval: result.interval,
        value: value.filter(|x| *x > 0.0 && counts(result, compared)),
        footnotes: result
            .footnotes
            .iter()
            .filter(|note| note.of.is_none())
            .cloned()
            .collect(),
    }
}

/// The i-th change: where, and the level after over the level before as better over worse.
fn change(logs: &[f64], found: &[usize], i: usize, better: Better) -> Option<(usize, two::Ratio)> {
    let start = if i == 0 { 0 } else { found[i - 1] };
    let end = found.get(i + 1).copied().unwrap_or(logs.len());
    let plain = |logs: &[f64]| logs.iter().map(|x| x.exp()).collect::<Vec<f64>>();
    // no more of a level than the test takes
    let start = start.max(found[i].saturating_sub(history::MOST));
    let (before, after) = (plain(&logs[start..found[i]]), plain(&logs[found[i]..end]));
    let ratio = two::ratio(&before, &after, 0.0, 0.95)?;
    Some(match better {
        Better::Higher => (found[i], ratio),
        Better::Lower => (found[i], ratio.inverse()),
    })
}

/// The values of the last level of a series, natural logarithms.
#[must_use]
pub fn last_level(series: &HistorySeries) -> Vec<f64> {
    let start = series.changes.last().map_or(0, |change| change.at);
    let points = series.points[start..].iter();
    points.filter_map(|point| Some(point.value?.ln())).collect()
}
