//! Histories of benchmarks over stored runs.

use crate::context::Context;
use anyhow::Result;
use gritstone_analysis::series;
use gritstone_model::{HistoryView, Id, RunView};
use gritstone_store::Store;

/// The history of a benchmark over the newest runs.
pub fn over_runs(
    context: &Context,
    store: &Store,
    id: &Id,
    most: usize,
) -> Result<Option<HistoryView>> {
    context.compute_missing_results(store)?;
    history_of(context, store, id, most)
}

/// [`over_runs`] without filling the cache first.
pub fn history_of(
    context: &Context,
    store: &Store,
    id: &Id,
    most: usize,
) -> Result<Option<HistoryView>> {
    let runs = store.newest(id, most, &|_| true)?;
    let runs: Vec<&str> = runs.iter().map(String::as_str).collect();
    let views = context.stored_results(store, &runs, id)?;
    let views: Vec<RunView> = views.into_iter().collect::<Result<_>>()?;
    Ok(series::history(id, &views))
}
