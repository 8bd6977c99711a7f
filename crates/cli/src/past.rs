//! `gritstone history` and `gritstone check`: a figure over many runs, and a run held against them or against another.
//!
//! Must not know: how changes are found, how a gate decides.

use crate::args::{CheckArgs, HistoryArgs};
use crate::failure::Exit;
use crate::output;
use crate::world::World;
use anyhow::{Context, Result, anyhow, bail};
use gritstone_model::{CheckOutcome, CheckView, HistoryView, Id, RunView};
use gritstone_plan::select;
use gritstone_stats::{check as gate, series, summary};
use gritstone_store::Store;
use std::collections::BTreeMap;

/// False-discovery rate over the rows of a gate.
const ALPHA: f64 = 0.05;

/// Runs that a gate looks back on: enough to see a change and to learn the scatter after it.
const LOOK_BACK: usize = 30;

/// `gritstone history`.
pub fn history(world: &World, args: &HistoryArgs) -> Result<Exit> {
    let id = Id::parse(&args.benchmark)?;
    let none = || match select(
        &world.catalogue.benchmarks,
        std::slice::from_ref(&args.benchmark),
    ) {
        Ok(_) => anyhow!(
            "no run in the store has {id}: `gritstone run {id}` measures it, `gritstone list` says what there is"
        ),
        Err(unknown) => anyhow!("no run in the store has {id}, and {unknown}"),
    };
    let store = world.reader()?.ok_or_else(none)?;
    let view = over_runs(world, &store, &id, args.runs as usize)?.ok_or_else(none)?;
    if let Some(path) = &args.svg {
        let svg = gritstone_report::history_svg(&view).unwrap_or_default();
        std::fs::write(path, svg).with_context(|| format!("cannot write {}", path.display()))?;
    }
    output::write(args.format.format, &view, || {
        gritstone_report::history(&view)
    })?;
    Ok(Exit::Done)
}

/// The history of a benchmark over the newest runs; a derived one needs the rows that it is made of.
fn over_runs(world: &World, store: &Store, id: &Id, most: usize) -> Result<Option<HistoryView>> {
    let mut ids = vec![id.clone()];
    let known = world.catalogue.benchmarks.iter().find(|b| b.id == *id);
    let made_of = known
        .into_iter()
        .flat_map(|benchmark| benchmark.work.parts());
    ids.extend(made_of.cloned());
    let runs = store.series(&ids, most)?;
    let options = world.summary_options();
    let views: Vec<RunView> = runs
        .iter()
        .map(|run| summary::summarise(run, &options))
        .collect();
    Ok(series::history(id, &views))
}

/// `gritstone check`.
pub fn check(world: &World, args: &CheckArgs) -> Result<Exit> {
    let run = world.view(&args.run)?;
    let view = match &args.against {
        Some(base) => {
            if base.starts_with("ref:") {
                bail!(
                    "{base} is printed in a document: a gate holds a run against runs; name one of `gritstone machines`' own, a label or a file"
                );
            }
            let compared = world.compare(&world.view(base)?, &run, args.max_slowdown);
            gate::check(&compared, args.max_slowdown, ALPHA)
        }
        None => against_history(world, &run, args)?,
    };
    output::write(args.format.format, &view, || gritstone_report::check(&view))?;
    Ok(match view.outcome {
        CheckOutcome::Passed => Exit::Done,
        CheckOutcome::Regressed => Exit::CheckFailed,
        CheckOutcome::CannotTell => Exit::CannotTell,
    })
}

fn against_history(world: &World, run: &RunView, args: &CheckArgs) -> Result<CheckView> {
    let mut histories = BTreeMap::new();
    if let Some(store) = world.reader()? {
        for result in &run.results {
            let found = over_runs(world, &store, &result.id, LOOK_BACK)?;
            histories.extend(found.map(|view| (result.id.clone(), view)));
        }
    }
    Ok(gate::against_history(
        run,
        &histories,
        args.max_slowdown,
        ALPHA,
    ))
}
