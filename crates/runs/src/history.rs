//! Histories of benchmarks over stored runs.

use crate::context::Context;
use crate::earlier_runs::MAX_RUNS;
use crate::uncached::or_warning;
use anyhow::{Result, ensure};
use gritstone_analysis::series::{self, Systems};
use gritstone_model::{HistoryView, Id, RunView, SameFact};
use gritstone_store::Store;
use std::collections::{BTreeMap, BTreeSet};

/// Which runs a history has.
#[derive(Clone, Copy, Debug)]
pub struct Extent<'a> {
    /// Number of newest runs of each system.
    pub runs: usize,
    /// The branch of their commits.
    pub branch: Option<&'a str>,
    /// Facts that they share with the newest of these.
    pub same: &'a [SameFact],
}

/// The history of a benchmark over the newest runs of each system.
pub fn over_runs(
    context: &Context,
    store: &Store,
    id: &Id,
    extent: Extent<'_>,
) -> Result<Option<HistoryView>> {
    Ok(histories(context, store, std::slice::from_ref(id), extent)?.pop())
}

/// The histories of several benchmarks over the newest runs of each system, without unreadable ones. Levels are fitted to all benchmarks of
/// at least [`MAX_RUNS`] runs, as those of the gate.
pub fn histories(
    context: &Context,
    store: &Store,
    ids: &[Id],
    extent: Extent<'_>,
) -> Result<Vec<HistoryView>> {
    let uncached = context.compute_missing_results(store)?;
    let newest = store.newest(ids, extent.runs, extent.branch)?;
    if let Some(branch) = extent.branch {
        let is_any = newest.iter().any(|runs| !runs.is_empty());
        ensure!(is_any, "no stored run of these benchmarks is of a commit on branch '{branch}'");
    }
    let newest: Vec<Vec<String>> = newest.into_iter().map(|runs| uncached.readable(runs)).collect();
    let shown: BTreeSet<&str> = newest.iter().flatten().map(String::as_str).collect();
    let shown: Vec<&str> = shown.into_iter().collect();
    let mut fitted = context.readable_summaries(store, &uncached, &shown)?;
    let machines = fitted.iter().flatten().map(|run| run.circumstances.machine.clone()).collect();
    let others = store.newest_of(&machines, extent.runs.max(MAX_RUNS), extent.branch)?;
    let others = uncached.readable(others);
    let others = others.iter().map(String::as_str);
    let others: Vec<&str> = others.filter(|run| shown.binary_search(run).is_err()).collect();
    fitted.extend(context.readable_summaries(store, &uncached, &others)?);
    let systems = Systems::fit(fitted.into_iter().flatten().collect(), extent.same);
    let mut histories = vec![];
    for (id, runs) in ids.iter().zip(&newest).collect::<BTreeMap<_, _>>() {
        let runs: Vec<&str> = runs.iter().map(String::as_str).collect();
        let views = context.stored_results(store, &uncached, &runs, id)?;
        let views = runs.iter().zip(views).map(|(run, view)| or_warning(run, view));
        let views: Vec<Option<RunView>> = views.collect::<Result<_>>()?;
        histories.extend(series::history(id, views.iter().flatten(), &systems));
    }
    Ok(histories)
}
