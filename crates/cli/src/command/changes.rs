//! `gritstone changes`: change points over all benchmarks and systems, grouped into events by the run that begins them.

use crate::command::history::history_of;
use crate::ui::args::{ChangesArgs, ChangesCommand};
use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::{Context, Result, bail};
use gritstone_model::{
    Acknowledged, Change, ChangeEvent, ChangesView, Difference, HistoryChange, HistorySeries,
    HistoryView, Machine, RunInfo, SCHEMA_CHANGES,
};
use gritstone_runs::clock;
use gritstone_runs::context::World;
use gritstone_store::{ChangeEntry, Store, Who};
use std::collections::{BTreeMap, BTreeSet};

/// Runs in which changes are looked for.
const RUNS: usize = 100;
/// Events that are listed unless all are asked for.
const NEWEST: usize = 30;
/// Ends of the identifiers of events, after the run that begins them.
const WAYS: [&str; 2] = ["-worse", "-better"];

/// `gritstone changes`.
pub fn changes(world: &World, args: &ChangesArgs) -> Result<Exit> {
    let store = world
        .reader()?
        .context("no run is stored yet: `gritstone run --quick` makes one")?;
    let mut events = events(world, &store)?;
    mark(&mut events, store.change_entries()?);
    drop(store);
    if let Some(ChangesCommand::Acknowledge { event, note }) = &args.command {
        let event = named(&events, event)?;
        let who = user();
        let now = clock::now();
        let mut store = world.writer()?;
        store.acknowledge(&event.id, Who::User(&who), note, &now)?;
        output::remark(&format!("change {} is acknowledged by {who}", event.id));
        return Ok(Exit::Done);
    }
    let all = events.len();
    if !args.all {
        events.truncate(NEWEST);
    }
    let view = ChangesView {
        schema: SCHEMA_CHANGES.to_owned(),
        events,
    };
    output::write(args.format.format, &view, || {
        gritstone_report::changes(&view.events, all)
    })?;
    Ok(Exit::Done)
}

/// The event of a name, or of a part that no other has.
fn named<'a>(events: &'a [ChangeEvent], name: &str) -> Result<&'a ChangeEvent> {
    let like = events.iter().filter(|event| event.id.contains(name));
    let like: Vec<&ChangeEvent> = like.collect();
    let whole = like.iter().find(|event| event.id == name);
    match (whole, like.as_slice()) {
        (Some(event), _) => Ok(event),
        (None, [one]) => Ok(one),
        (None, []) => bail!("no change is called '{name}': `gritstone changes` lists them"),
        (None, [one, other, ..]) => {
            bail!(
                "'{name}' may be {} or {}: write more of it",
                one.id,
                other.id
            )
        }
    }
}

/// The user that this process works for.
fn user() -> String {
    let uid = nix::unistd::getuid();
    let user = nix::unistd::User::from_uid(uid).ok().flatten();
    user.map_or_else(|| format!("user {uid}"), |user| user.name)
}

/// Changes that begin with the same run, by direction, newest first, as far as runs tell: who acknowledged them is read when it is asked for.
///
/// # Errors
/// What befalls the store.
pub fn events(world: &World, store: &Store) -> Result<Vec<ChangeEvent>> {
    world.compute_missing(store)?;
    let mut all: Vec<Change> = vec![];
    for id in store.recurring()? {
        let view = history_of(world, store, &id, RUNS)?;
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
