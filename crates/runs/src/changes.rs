//! Change points over all benchmarks and systems, grouped into events by the runs that may have begun them.

use crate::context::Context;
use crate::history::histories;
use anyhow::Result;
use gritstone_model::{
    Acknowledged, Change, ChangeEvent, Commit, CommitRange, Difference, HistoryChange,
    HistorySeries, HistoryView, Machine, RunInfo,
};
use gritstone_store::{ChangeEntry, Store};
use std::collections::{BTreeMap, BTreeSet};

/// Newest runs that are searched.
const MAX_RUNS: usize = 400;
/// Suffixes of event identifiers, after the id of the first run.
const EVENT_SUFFIXES: [&str; 2] = ["-worse", "-better"];

/// Events without acknowledgments, newest first.
///
/// # Errors
/// When the store cannot be read.
pub fn events(context: &Context, store: &Store) -> Result<Vec<ChangeEvent>> {
    context.compute_missing_results(store)?;
    let views = histories(context, store, &store.recurring()?, MAX_RUNS)?;
    let all: Vec<Located> = views.iter().flat_map(changes_in).collect();
    if all.is_empty() {
        return Ok(vec![]);
    }
    let mut events = group(all);
    let known = store.change_entries()?;
    keep_identifiers(
        &mut events,
        &known.into_iter().map(|entry| entry.event).collect(),
    );
    for event in &mut events {
        let runs = event.before.iter().chain([&event.run]);
        let infos: Vec<RunInfo> = runs.filter_map(|run| store.info(run).ok()).collect();
        if let [before, after] = infos.as_slice() {
            event.differ_in = machine_differences(&before.machine, &after.machine);
            let commits = [before, after].map(|info| info.settings.commit.as_ref());
            if let [Some(good), Some(bad)] = commits {
                event.commits = (good.id != bad.id).then(|| CommitRange {
                    good: good.id.clone(),
                    bad: bad.id.clone(),
                    link: Commit::link_between(good, bad),
                });
            }
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

/// A change and the runs that may have begun it.
struct Located {
    change: Change,
    may_begin: Vec<String>,
}

/// Changes for the worse or the better of one system that may have begun with the same run are one event, which begins with the run that
/// most of them begin with.
fn group(mut all: Vec<Located>) -> Vec<ChangeEvent> {
    all.sort_by(|a, b| {
        let begun = |of: &Located| {
            (
                of.change.change.started.clone(),
                of.change.benchmark.clone(),
            )
        };
        begun(a).cmp(&begun(b))
    });
    let mut events: Vec<ChangeEvent> = vec![];
    for Located { change, may_begin } in all {
        let worse = change.change.ratio < 1.0;
        let joins = |event: &&mut ChangeEvent| {
            event.machine == change.machine
                && event.worse == worse
                && event.may_begin.iter().any(|run| may_begin.contains(run))
        };
        match events.iter_mut().find(joins) {
            Some(event) => {
                event.may_begin.retain(|run| may_begin.contains(run));
                event.changes.push(change);
            }
            None => events.push(begin(change, may_begin, worse)),
        }
    }
    for event in &mut events {
        place(event);
    }
    events.sort_by(|a, b| (&b.started, &b.id).cmp(&(&a.started, &a.id)));
    events
}

fn begin(change: Change, may_begin: Vec<String>, worse: bool) -> ChangeEvent {
    ChangeEvent {
        id: String::new(),
        run: String::new(),
        started: String::new(),
        may_begin,
        machine: change.machine.clone(),
        name: change.name.clone(),
        worse,
        before: None,
        differ_in: vec![],
        commits: None,
        acknowledged: None,
        changes: vec![change],
    }
}

/// At the run that most changes begin with, of those that all may begin with.
fn place(event: &mut ChangeEvent) {
    let begins = |run: &String| {
        let changes = event.changes.iter();
        changes.filter(|of| of.change.run == *run).count()
    };
    let first = event.changes.iter().max_by_key(|of| {
        (
            event.may_begin.contains(&of.change.run),
            begins(&of.change.run),
        )
    });
    if let Some(first) = first {
        let id = format!(
            "{}{}",
            first.change.run,
            EVENT_SUFFIXES[usize::from(!event.worse)]
        );
        let (run, started, before) = (
            first.change.run.clone(),
            first.change.started.clone(),
            first.before.clone(),
        );
        (event.id, event.run, event.started, event.before) = (id, run, started, before);
    }
}

/// Gives events the identifiers by which the store knows them: further runs may have moved their first run.
fn keep_identifiers(events: &mut [ChangeEvent], known: &BTreeSet<String>) {
    for event in events {
        let suffix = EVENT_SUFFIXES[usize::from(!event.worse)];
        let alias = event.may_begin.iter().map(|run| format!("{run}{suffix}"));
        if let (false, Some(alias)) = (
            known.contains(&event.id),
            alias.into_iter().find(|id| known.contains(id)),
        ) {
            event.id = alias;
        }
    }
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

fn changes_in(view: &HistoryView) -> impl Iterator<Item = Located> {
    let of_series = |series: &HistorySeries| {
        let change = |change: &_| change_of_series(view, series, change);
        series.changes.iter().map(change).collect::<Vec<_>>()
    };
    view.series.iter().flat_map(of_series)
}

fn change_of_series(view: &HistoryView, series: &HistorySeries, change: &HistoryChange) -> Located {
    let before = series.points[..change.at].iter().rev();
    let before = before.clone().find(|point| point.value.is_some());
    let [first, last] = change.between;
    let may_begin = series.points[first..=last]
        .iter()
        .map(|point| point.run.clone());
    Located {
        may_begin: may_begin.collect(),
        change: Change {
            benchmark: view.id.clone(),
            title: view.title.clone(),
            machine: series.machine.clone(),
            name: series.name.clone(),
            kernel: series.kernel.clone(),
            before: before.map(|point| point.run.clone()),
            change: change.clone(),
        },
    }
}
