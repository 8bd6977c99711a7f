//! Lists of what a store has, from the heads of its runs.

use crate::listing::listed;
use gritstone_model::{ListedRun, ListedSystem};
use gritstone_store::RunHead;
use std::collections::BTreeMap;

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
