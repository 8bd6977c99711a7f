//! Change points over all benchmarks and systems, grouped into events by the run that begins them.

use crate::context::Context;
use crate::history::history_of;
use anyhow::Result;
use gritstone_model::{
    Acknowledged, Change, ChangeEvent, Difference, HistoryChange, HistorySeries, HistoryView,
    Machine, RunInfo,
};
use gritstone_store::{ChangeEntry, Store};
use std::collections::{BTreeMap, BTreeSet};

/// Runs in which changes are looked for.
const RUNS: usize = 100;
/// Ends of the identifiers of events, after the run that begins them.
const WAYS: [&str; 2] = ["-worse", "-better"];

/// Changes that begin with the same run, by direction, newest first, as far as runs tell: who acknowledged them is read when it is asked for.
///
/// # Errors
/// What befalls the store.
pub fn events(context: &Context, store: &Store) -> Result<Vec<ChangeEvent>> {
    context.compute_missing_results(store)?;
    let mut all: Vec<Change> = vec![];
    for id in store.recurring()? {
        let view = history_of(context, store, &id, RUNS)?;
        all.extend(view.iter().flat_map(of_view));
    }
    if all.is_empty() {
        return Ok(vec![]);
    }
    let mut events = grouped(all);
    for event in &mut events {
        let runs = event.before.iter().chain([&event.run]);
        let infos: Vec<RunInfo> = runs.filter_map(|run| store.info(run).ok()).collect();
        // where one cannot be read, nothing is told
        if let [before, after] = infos.as_slice() {
            event.differ_in = differ(&before.machine, &after.machine);
        }
    }
    Ok(events)
}

/// Writes to events what is known of them.
pub fn mark(events: &mut [ChangeEvent], entries: Vec<ChangeEntry>) {
    let acknowledged = entries.into_iter().filter(|entry| entry.acknowledges);
    // the newest counts
    let mut newest: BTreeMap<String, Acknowledged> = BTreeMap::new();
    for ChangeEntry {
        event,
        who,
        note,
        at,
        ..
    } in acknowledged
    {
        newest.insert(event, Acknowledged { who, at, note });
    }
    for event in events {
        event.acknowledged = newest.get(&event.id).cloned();
    }
}

fn grouped(changes: Vec<Change>) -> Vec<ChangeEvent> {
    let mut events: BTreeMap<(String, String, bool), ChangeEvent> = BTreeMap::new();
    for change in changes {
        let (run, worse) = (change.change.run.clone(), change.change.ratio < 1.0);
        let key = (change.change.started.clone(), run.clone(), worse);
        let event = events.entry(key).or_insert_with(|| ChangeEvent {
            id: format!("{run}{}", WAYS[usize::from(!worse)]),
            run,
            started: change.change.started.clone(),
            machine: change.machine.clone(),
            name: change.name.clone(),
            worse,
            before: change.before.clone(),
            differ_in: vec![],
            acknowledged: None,
            changes: vec![],
        });
        event.changes.push(change);
    }
    events.into_values().rev().collect()
}

/// The facts of a system that are other than before: what they were, and what they are.
pub fn differences<'a>(
    before: &'a Machine,
    after: &'a Machine,
) -> impl Iterator<Item = (String, Option<String>, Option<String>)> {
    let names: BTreeSet<&String> = before.facts.keys().chain(after.facts.keys()).collect();
    names.into_iter().filter_map(move |name| {
        let [was, is] = [before, after].map(|of| of.facts.get(name));
        (was != is).then(|| (name.clone(), was.cloned(), is.cloned()))
    })
}

fn differ(before: &Machine, after: &Machine) -> Vec<Difference> {
    let told = |fact: Option<String>| fact.unwrap_or_default();
    differences(before, after)
        .map(|(what, was, is)| Difference {
            what,
            base: told(was),
            other: told(is),
        })
        .collect()
}

/// The changes of all series of a benchmark.
fn of_view(view: &HistoryView) -> impl Iterator<Item = Change> {
    let of_series = |series: &HistorySeries| {
        let change = |change: &_| of_one(view, series, change);
        series.changes.iter().map(change).collect::<Vec<_>>()
    };
    view.series.iter().flat_map(of_series)
}

fn of_one(view: &HistoryView, series: &HistorySeries, change: &HistoryChange) -> Change {
    let before = series.points[..change.at].iter().rev();
    let before = before.clone().find(|point| point.value.is_some());
    Change {
        benchmark: view.id.clone(),
        title: view.title.clone(),
        machine: series.machine.clone(),
        name: series.name.clone(),
        kernel: series.kernel.clone(),
        before: before.map(|point| point.run.clone()),
        change: change.clone(),
    }
}
