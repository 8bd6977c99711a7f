//! Lists of what a store has, from the heads of its runs.

use crate::listing::listed;
use gritstone_model::{ListedRun, ListedSystem, Machine};
use gritstone_store::RunHead;
use std::collections::{BTreeMap, BTreeSet};

/// Runs in a list, and changes on the first page.
pub(super) const LISTED: usize = 50;

/// The newest of these runs, newest first.
pub(super) fn newest(heads: Vec<RunHead>) -> Vec<ListedRun> {
    heads.into_iter().rev().take(LISTED).map(listed).collect()
}

/// The systems of these runs, that with the newest first.
pub(super) fn systems(heads: &[RunHead]) -> Vec<ListedSystem> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut systems: Vec<ListedSystem> = vec![];
    for head in heads.iter().rev() {
        let count = counts.entry(&head.machine_id).or_default();
        *count += 1;
        if *count == 1 {
            systems.push(ListedSystem {
                id: head.machine_id.clone(),
                name: head.machine.clone(),
                system: head.system.clone(),
                runs: 0,
                newest: head.id.clone(),
                started: head.started.clone(),
                reliability: None,
            });
        }
    }
    for system in &mut systems {
        system.runs = counts[system.id.as_str()];
    }
    systems
}

/// The facts of a system that are other than before: what they were, and what they are.
pub(super) fn differences<'a>(
    before: &'a Machine,
    after: &'a Machine,
) -> impl Iterator<Item = (String, Option<String>, Option<String>)> {
    let names: BTreeSet<&String> = before.facts.keys().chain(after.facts.keys()).collect();
    names.into_iter().filter_map(move |name| {
        let [was, is] = [before, after].map(|of| of.facts.get(name));
        (was != is).then(|| (name.clone(), was.cloned(), is.cloned()))
    })
}
