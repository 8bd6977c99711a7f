//! Histories of benchmarks over stored runs.

use crate::context::Context;
use anyhow::Result;
use gritstone_analysis::run_summary::RunSummary;
use gritstone_analysis::series::{self, Systems};
use gritstone_model::{HistoryView, Id, RunView};
use gritstone_store::Store;
use std::collections::{BTreeMap, BTreeSet};

/// The history of a benchmark over the newest runs of each system.
pub fn over_runs(
    context: &Context,
    store: &Store,
    id: &Id,
    most: usize,
) -> Result<Option<HistoryView>> {
    context.compute_missing_results(store)?;
    let runs = store.newest(std::slice::from_ref(id), most)?;
    let runs: Vec<&str> = runs.iter().flatten().map(String::as_str).collect();
    let past: Vec<RunSummary> =
        context.stored_summaries(store, &runs)?.into_iter().collect::<Result<_>>()?;
    let views = stored_views(context, store, id, &runs)?;
    Ok(series::history(id, &views, &Systems::fit(&past)))
}

/// The histories of several benchmarks over the newest runs of each system, whose results are cached.
pub fn histories(
    context: &Context,
    store: &Store,
    ids: &[Id],
    most: usize,
) -> Result<Vec<HistoryView>> {
    let newest = store.newest(ids, most)?;
    let runs: BTreeMap<&Id, Vec<String>> = ids.iter().zip(newest).collect();
    let all: BTreeSet<&str> = runs.values().flatten().map(String::as_str).collect();
    let all: Vec<&str> = all.into_iter().collect();
    let past: Vec<RunSummary> =
        context.stored_summaries(store, &all)?.into_iter().collect::<Result<_>>()?;
    let systems = Systems::fit(&past);
    let mut histories = vec![];
    for (id, runs) in &runs {
        let runs: Vec<&str> = runs.iter().map(String::as_str).collect();
        let views = stored_views(context, store, id, &runs)?;
        histories.extend(series::history(id, &views, &systems));
    }
    Ok(histories)
}

fn stored_views(context: &Context, store: &Store, id: &Id, runs: &[&str]) -> Result<Vec<RunView>> {
    context.stored_results(store, runs, id)?.into_iter().collect()
}
