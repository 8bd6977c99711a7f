//! Change points over all benchmarks and systems, group into events by the run that begins them.

use crate::context::Context;
use crate::history::history_of;
use anyhow::Result;
use gritstone_model::{
    Acknowledged, Change, ChangeEvent, Difference, HistoryChange, HistorySeries, HistoryView,
    Machine, RunInfo,
};
use gritstone_store::{ChangeEntry, Store};
use std::collections::{BTreeMap, BTreeSet};

/// Newest runs that are searched.
const MAX_RUNS: usize = 100;
/// Suffixes of event identifiers, after the id of the first run.
const EVENT_SUFFIXES: [&str; 2] = ["-worse", "-better"];

/// Events without acknowledgments, newest first.
///
/// # Errors
/// When the store cannot be read.
pub fn events(context: &Context, store: &Store) -> Result<Vec<ChangeEvent>> {
    context.compute_missing_results(store)?;
    let mut all: Vec<Change> = vec![];
    for id in store.recurring()? {
        let view = history_of(context, store, &id, MAX_RUNS)?;
        all.extend(view.iter().flat_map(changes_in));
    }
    if all.is_empty() {
        return Ok(vec![]);
    }
    let mut events = group(all);
    for event in &mut events {
        let runs = event.before.iter().chain([&event.run]);
        let infos: Vec<RunInfo> = runs.filter_map(|run| store.info(run).ok()).collect();
        if let [before, after] = infos.as_slice() {
            event.differ_in = machine_differences(&before.machine, &after.machine);
        }
    }
    Ok(events)
}

/// Adds acknowledgments; the newest counts.
pub fn add_acknowledgments(events: &mut [ChangeEvent], entries: Vec<ChangeEntry>) {
    let acknowledged = entries.into_iter().filter(|entry| entry.acknowledges);
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

fn group(changes: Vec<Change>) -> Vec<ChangeEvent> {
    let mut events: BTreeMap<(String, String, bool), ChangeEvent> = BTreeMap::new();
    for change in changes {
        let (run, worse) = (change.change.run.clone(), change.change.ratio < 1.0);
        let key = (change.change.started.clone(), run.clone(), worse);
        let event = events.entry(key).or_insert_with(|| ChangeEvent {
            id: format!("{run}{}", EVENT_SUFFIXES[usize::from(!worse)]),
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

/// Changed facts: name, before, after.
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

fn machine_differences(before: &Machine, after: &Machine) -> Vec<Difference> {
    let text = |fact: Option<String>| fact.unwrap_or_default();
    differences(before, after)
        .map(|(what, was, is)| Difference {
            what,
            base: text(was),
            other: text(is),
        })
        .collect()
}

fn changes_in(view: &HistoryView) -> impl Iterator<Item = Change> {
    let of_series = |series: &HistorySeries| {
        let change = |change: &_| change_of_series(view, series, change);
        series.changes.iter().map(change).collect::<Vec<_>>()
    };
    view.series.iter().flat_map(of_series)
}

fn change_of_series(view: &HistoryView, series: &HistorySeries, change: &HistoryChange) -> Change {
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
