//! Lists of stored runs and systems.

use gritstone_model::{Id, ListedRun, ListedSystem};
use gritstone_runs::context::Context;
use gritstone_runs::listing::listed;
use gritstone_store::{RunHead, Store, StoreError};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Runs in a list.
pub(super) const LISTED: usize = 50;

/// Runs as list entries.
pub(super) fn runs(heads: Vec<RunHead>) -> Vec<ListedRun> {
    heads.into_iter().map(listed).collect()
}

/// Measured benchmarks with a page: those of the catalog, and others with a history. Sides of trials have none.
pub(crate) fn benchmarks(context: &Context, store: &Store) -> Result<Vec<Id>, StoreError> {
    let known = &context.catalogue.benchmarks;
    let known: BTreeSet<&Id> = known.iter().map(|benchmark| &benchmark.id).collect();
    let benchmarks = store.benchmarks()?.into_iter();
    let shown = benchmarks.filter(|(id, has_history)| *has_history || known.contains(id));
    Ok(shown.map(|(id, _)| id).collect())
}

/// All systems; the one with the newest run first.
pub(super) fn systems(store: Option<&Store>) -> Result<Vec<ListedSystem>, StoreError> {
    let systems = store.map_or(Ok(vec![]), Store::systems)?;
    let system = |(head, runs): (RunHead, u64)| ListedSystem {
        id: head.machine_id,
        name: head.machine,
        system: head.system,
        runs: runs as usize,
        newest: head.id,
        started: head.started,
        reliability: None,
        contention: None,
    };
    Ok(systems.into_iter().map(system).collect())
}

/// The newest runs but sides of trials, newest first.
pub(super) fn newest(store: Option<&Rc<Store>>) -> Result<Vec<ListedRun>, StoreError> {
    let Some(store) = store else {
        return Ok(vec![]);
    };
    Ok(runs(newest_where(store, None, LISTED, |run| run.side.is_none())?))
}

/// The newest wanted runs of one machine or of all, newest first, at most `max`.
pub(super) fn newest_where(
    store: &Store,
    machine: Option<&str>,
    max: usize,
    wanted: impl Fn(&RunHead) -> bool,
) -> Result<Vec<RunHead>, StoreError> {
    let mut examined = max.max(LISTED);
    loop {
        let heads = store.newest_runs(machine, examined)?;
        let are_all = heads.len() < examined;
        let newest: Vec<RunHead> = heads.into_iter().filter(&wanted).take(max).collect();
        if are_all || newest.len() == max {
            return Ok(newest);
        }
        examined *= 4;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{fuzz, sides};

    #[test]
    fn runs_are_found_behind_sides() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("store.db")).unwrap();
        let runs = &fuzz::runs()[..3];
        for run in runs.iter().chain(&sides(LISTED + 2)) {
            store.import(run).unwrap();
        }
        let ids = |machine, max| -> Vec<String> {
            let found = newest_where(&store, machine, max, RunHead::is_whole).unwrap();
            found.into_iter().map(|run| run.id).collect()
        };
        let newest = [2, 1, 0].map(|number| runs[number].info.id.clone());
        let machine = Some(runs[0].info.machine.id.as_str());
        assert_eq!(ids(machine, 2), newest[..2]);
        assert_eq!(ids(None, 9), newest);
        assert_eq!(ids(Some("other"), 9), [""; 0]);
    }
}
