//! `gritstone history`: benchmarks over the stored runs, with change points.

use crate::ui::args::HistoryFilterArgs;
use crate::ui::candidates;
use crate::ui::display::FormatArgs;
use crate::ui::exit::Exit;
use crate::ui::output;
use crate::ui::value_parsers;
use anyhow::{Result, anyhow, ensure};
use clap::Args;
use gritstone_analysis::ab::COMMAND;
use gritstone_model::Id;
use gritstone_plan::{Selectors, select};
use gritstone_runs::context::Context;
use gritstone_runs::history::{self, over_runs};
use std::collections::BTreeSet;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone history byte/pipe
  gritstone history byte              a line for each benchmark
  gritstone history byte/pipe --svg pipe.svg")]
pub struct HistoryArgs {
    /// Benchmark; families, globs and several benchmarks have a line each
    #[arg(value_name = "BENCHMARK | SELECTOR", required = true, add = candidates::benchmarks())]
    pub benchmarks: Vec<String>,
    /// Number of newest runs of each system
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = value_parsers::whole(1..=1000_u32))]
    pub runs: u32,
    /// Also write the chart of the newest series to FILE
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub filter: HistoryFilterArgs,
    #[command(flatten)]
    pub format: FormatArgs,
}

pub fn history(context: &Context, args: &HistoryArgs) -> Result<Exit> {
    let selectors = Selectors::new(&args.benchmarks);
    let catalogue = context.catalogue.benchmarks.iter().map(|benchmark| benchmark.id.clone());
    let stored = match context.reader()? {
        Some(store) => store.benchmarks()?,
        None => vec![],
    };
    let stored = stored.into_iter().map(|(id, _)| id).filter(|id| id.family() != COMMAND);
    let benchmarks = catalogue.chain(stored);
    let selected = |id: &Id| !selectors.is_empty() && selectors.select(id);
    let selected: BTreeSet<Id> = benchmarks.filter(selected).collect();
    let named = match args.benchmarks.as_slice() {
        [name] if selected.iter().all(|id| id.as_str() == name) => name,
        _ => return histories(context, args, selected),
    };
    let id = Id::parse(named)?;
    let none = || match select(&context.catalogue.benchmarks, &args.benchmarks) {
        Ok(_) => anyhow!(
            "no run in the store has {id}: `gritstone run {id}` measures it, `gritstone list` says what there is"
        ),
        Err(_) if id.family() == COMMAND => anyhow!(
            "commands of `gritstone ab` have no history: they share a name, and their runs are sides of A/B tests"
        ),
        Err(unknown) => anyhow!("no run in the store has {id}, and {unknown}"),
    };
    let store = context.reader()?.ok_or_else(none)?;
    let view = over_runs(context, &store, &id, args.filter.extent(args.runs))?.ok_or_else(none)?;
    // a pager may keep the output open for long
    drop(store);
    if let Some(path) = &args.svg {
        let svg = gritstone_report::history_svg(&view).unwrap_or_default();
        gritstone_runs::output_file::write(path, svg.as_bytes())?;
    }
    output::write(args.format.format, &view, || gritstone_report::history(&view))?;
    Ok(Exit::Done)
}

fn histories(context: &Context, args: &HistoryArgs, ids: BTreeSet<Id>) -> Result<Exit> {
    ensure!(
        args.svg.is_none(),
        "--svg draws one benchmark, and '{}' selects several",
        args.benchmarks.join(" ")
    );
    let mut views = vec![];
    if let Some(store) = context.reader()? {
        let ids: Vec<Id> = ids.into_iter().collect();
        views = history::histories(context, &store, &ids, args.filter.extent(args.runs))?;
    }
    ensure!(
        !views.is_empty(),
        "no stored run has '{}': `gritstone run` measures it",
        args.benchmarks.join(" ")
    );
    output::write(args.format.format, &views, || gritstone_report::histories(&views))?;
    Ok(Exit::Done)
}
