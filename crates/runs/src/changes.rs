//! Events of all benchmarks and systems, with the facts of the systems and the commits between.

use crate::context::Context;
use crate::history::{Extent, histories};
use anyhow::Result;
use gritstone_analysis::events::KnownEvents;
use gritstone_model::{
    ChangeEvent, Commit, CommitRange, Difference, HistoryView, Machine, RunInfo, Triage,
};
use gritstone_store::{ChangeEntry, EntryContent, Store};
use std::collections::{BTreeMap, BTreeSet};

/// The histories of all benchmarks that recur.
///
/// # Errors
/// When the store cannot be read.
pub fn recurring(context: &Context, store: &Store, extent: Extent<'_>) -> Result<Vec<HistoryView>> {
    context.compute_missing_results(store)?;
    histories(context, store, &store.recurring()?, extent)
}

/// Whether any series has two runs to compare.
pub fn is_compared(histories: &[HistoryView]) -> bool {
    let mut series = histories.iter().flat_map(|view| &view.series);
    series.any(|series| series.compared() > 1)
}

/// Events of histories without their triage logs, newest first.
///
/// # Errors
/// When the store cannot be read.
pub fn events(store: &Store, histories: &[HistoryView]) -> Result<Vec<ChangeEvent>> {
    let known = known_events(store)?;
    let mut events = gritstone_analysis::events::events(histories, &known);
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

/// Identifiers of events with an entry in the log, and those that they would have where their run was removed.
fn known_events(store: &Store) -> Result<KnownEvents> {
    let replaced = store.replaced()?;
    let mut known = KnownEvents::new();
    for ChangeEntry { event, .. } in store.change_entries()? {
        for (run, gone) in &replaced {
            if let Some(suffix) = event.strip_prefix(gone.as_str()) {
                known.insert(format!("{run}{suffix}"), event.clone());
            }
        }
        known.insert(event.clone(), event);
    }
    Ok(known)
}

/// Adds their triage logs.
pub fn add_triage(events: &mut [ChangeEvent], entries: Vec<ChangeEntry>) {
    let mut triages: BTreeMap<String, Triage> = BTreeMap::new();
    for entry in entries {
        if let EntryContent::Triage(content) = entry.content {
            triages.entry(entry.event).or_default().push(content);
        }
    }
    for event in events {
        event.triage = triages.get(&event.id).cloned().unwrap_or_default();
        event.triage.cover(event.benchmarks().collect::<Vec<_>>());
    }
}

/// Changed facts: name, before, after.
pub fn differences<'a>(
    before: &'a Machine,
    after: &'a Machine,
) -> impl Iterator<Item = (String, Option<String>, Option<String>)> {
    let names: BTreeSet<&String> = before.facts.keys().chain(after.facts.keys()).collect();
    names.into_iter().filter_map(move |name| {
        let [was, is] = [before, after].map(|machine| machine.facts.get(name));
        (was != is).then(|| (name.clone(), was.cloned(), is.cloned()))
    })
}

fn machine_differences(before: &Machine, after: &Machine) -> Vec<Difference> {
    let text = |fact: Option<String>| fact.unwrap_or_default();
    differences(before, after)
        .map(|(what, was, is)| Difference { what, base: text(was), other: text(is) })
        .collect()
}
