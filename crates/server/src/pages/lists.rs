//! Lists of stored runs and systems.

use gritstone_model::{Id, ListedRun, ListedSystem};
use gritstone_runs::context::Context;
use gritstone_runs::listing::listed;
use gritstone_store::{Kind, RunHead, Store, StoreError};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Runs in a list.
pub(super) const LISTED: usize = 50;

/// Runs as list entries.
pub(super) fn runs(heads: Vec<RunHead>) -> Vec<ListedRun> {
    heads.into_iter().map(listed).collect()
}

/// Whether a run has ended, and is neither a side of a trial nor an A/A test.
pub(crate) fn is_whole(run: &RunHead) -> bool {
    matches!(run.kind, Kind::Run | Kind::Import) && run.elapsed_s.is_some()
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
    let mut examined = LISTED;
    loop {
        let heads = store.newest_runs(None, examined)?;
        let are_all = heads.len() < examined;
        let others = heads.into_iter().filter(|head| head.kind != Kind::Ab);
        let newest: Vec<RunHead> = others.take(LISTED).collect();
        if are_all || newest.len() == LISTED {
            return Ok(runs(newest));
        }
        examined *= 4;
    }
}
