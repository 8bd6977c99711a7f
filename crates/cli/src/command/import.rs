//! `gritstone import`: bundles and results of other programs into the store.

use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::{Result, anyhow};
use clap::Args;
use gritstone_exchange as exchange;
use gritstone_model::RunData;
use gritstone_runs::context::Context;
use gritstone_runs::files;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone import run.jsonl
  gritstone import hyperfine.json --label main")]
pub struct ImportArgs {
    /// Files
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Name of the runs
    #[arg(long)]
    pub label: Option<String>,
    /// Name of the measured system, where the file does not say
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,
}

/// Imports all files or none.
pub fn import(context: &Context, args: &ImportArgs) -> Result<Exit> {
    let runs: Vec<RunData> = args
        .files
        .iter()
        .map(|path| files::read(path))
        .collect::<Result<_>>()?;
    let mut store = context.writer()?;
    for run in &runs {
        if store.info(&run.info.id).is_ok() {
            return Err(anyhow!("run {} is in the store already", run.info.id));
        }
    }
    for mut run in runs {
        if let Some(label) = &args.label {
            run.info.label = Some(label.clone());
        }
        if let Some(host) = &args.host {
            exchange::name_machine(&mut run, host)?;
        }
        store.import(&run)?;
        context.computed(&store, &run)?;
        output::plain(&format!("{}\n", run.info.id))?;
    }
    Ok(Exit::Done)
}
