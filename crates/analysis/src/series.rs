//! Histories: one result over comparable runs, with change points.

use crate::comparability::Circumstances;
use crate::compare::counts;
use gritstone_model::{
    Better, HistoryChange, HistoryPoint, HistorySeries, HistoryView, Id, Measurement, RunView,
    SCHEMA_HISTORY, Subject, Unit,
};
use gritstone_stats::{history, two_sample};

/// The history of a benchmark from runs, oldest first. `None` when no run has it.
#[must_use]
pub fn history<'a>(id: &Id, runs: impl IntoIterator<Item = &'a RunView>) -> Option<HistoryView> {
    let of = |run: &RunView| run.get(id).cloned();
    let found: Vec<(&RunView, Measurement)> = runs
        .into_iter()
        .filter_map(|run| Some((run, of(run)?)))
        .collect();
    let newest = found.last()?.1.clone();
    let mut groups: Vec<(Key, Vec<(&RunView, Measurement)>)> = vec![];
    for (run, result) in found {
        let key = Key::new(run, &result);
        // the series with the newest run comes last
        let mut group = match groups.iter().position(|(alike, _)| *alike == key) {
            Some(at) => groups.remove(at),
            None => (key, vec![]),
        };
        group.1.push((run, result));
        groups.push(group);
    }
    Some(HistoryView {
        schema: SCHEMA_HISTORY.to_owned(),
        id: id.clone(),
        title: newest.title.clone(),
        unit: newest.unit.clone(),
        better: newest.better,
        series: groups
            .into_iter()
            .map(|(key, of)| series(key, &of))
            .collect(),
    })
}

#[derive(PartialEq)]
struct Key {
    circumstances: Circumstances,
    compiler: String,
    version: u32,
    unit: Unit,
}

impl Key {
    fn new(run: &RunView, result: &Measurement) -> Self {
        Self {
            circumstances: Circumstances::new(&run.machine, run.settings.as_ref()),
            compiler: compiler(result),
            version: result.version,
            unit: result.unit.clone(),
        }
    }
}

fn compiler(result: &Measurement) -> String {
    let program = result.program.as_ref();
    program.map_or(String::new(), |program| {
        format!("{} {}", program.compiler, program.flags)
            .trim()
            .to_owned()
    })
}

fn series(key: Key, group: &[(&RunView, Measurement)]) -> HistorySeries {
    let (run, first) = (group[0].0, &group[0].1);
    let paced = group
        .iter()
        .all(|(_, r)| r.processor_bound && (r.cycles().is_some() || r.estimate().is_none()));
    let compared = if paced {
        Subject::Cycles
    } else {
        Subject::Estimate
    };
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
    let mut found = history::changes(&logs);
    let settled = found.len();
    found.extend(history::suspected(&logs));
    // cycles are a time whatever the unit is
    let better = if paced { Better::Lower } else { first.better };
    let changes = (0..found.len())
        .filter_map(|i| Some((i, change(&logs, &found, i, better)?)))
        .map(|(i, (position, ratio))| HistoryChange {
            run: points[at[position]].run.clone(),
            started: points[at[position]].started.clone(),
            at: at[position],
            ratio: ratio.ratio,
            interval: ratio.interval,
            suspected: i >= settled,
        });
    HistorySeries {
        machine: key.circumstances.machine,
        name: run.machine.name.clone(),
        kernel: key.circumstances.kernel,
        compiler: key.compiler,
        version: key.version,
        dir: key.circumstances.dir,
        steady: key.circumstances.steady,
        params: key.circumstances.params,
        compared,
        changes: changes.collect(),
        points,
    }
}

fn point(run: &RunView, result: &Measurement, compared: Subject) -> HistoryPoint {
    let value = match compared {
        Subject::Cycles => result.cycles().map(|cycles| cycles.value),
        _ => result.value(),
    };
    HistoryPoint {
        run: run.id.clone(),
        label: run.label.clone(),
        started: run.started.clone(),
        estimate: result.value(),
        interval: result.interval(),
        value: value.filter(|x| *x > 0.0 && counts(result, compared)),
        notes: result.notes_on_result().cloned().collect(),
    }
}

/// The i-th change: where, and the level after over the level before as better over worse.
fn change(
    logs: &[f64],
    found: &[usize],
    i: usize,
    better: Better,
) -> Option<(usize, two_sample::Ratio)> {
    let start = if i == 0 { 0 } else { found[i - 1] };
    let end = found.get(i + 1).copied().unwrap_or(logs.len());
    let plain = |logs: &[f64]| logs.iter().map(|x| x.exp()).collect::<Vec<f64>>();
    // no more of a level than the test takes
    let start = start.max(found[i].saturating_sub(history::MAX_VALUES));
    let (before, after) = (plain(&logs[start..found[i]]), plain(&logs[found[i]..end]));
    let ratio = two_sample::ratio(&before, &after, 0.0, 0.95)?;
    Some(match better {
        Better::Higher => (found[i], ratio),
        Better::Lower => (found[i], ratio.inverse()),
    })
}
