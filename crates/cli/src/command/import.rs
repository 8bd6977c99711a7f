//! `gritstone import`: bundles and results of other programs into the store.

use crate::ui::exit::Exit;
use crate::ui::output;
use crate::ui::settable::SetBy;
use anyhow::{Result, bail};
use clap::Args;
use gritstone_exchange as exchange;
use gritstone_model::RunData;
use gritstone_runs::context::Context;
use gritstone_runs::files;
use gritstone_store::Sent;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone import run.jsonl
  gritstone import hyperfine.json --label main")]
pub struct ImportArgs {
    /// Files
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Name of the runs
    #[arg(long, add = SetBy::AnyFile)]
    pub label: Option<String>,
    /// Name of the measured system, where the file does not say
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,
}

/// Checks all files, then stores them one by one, so that memory holds one run. Runs that are stored already are left alone: an
/// import that was interrupted can be repeated.
pub fn import(context: &Context, args: &ImportArgs) -> Result<Exit> {
    if args.files.len() > 1 {
        for path in &args.files {
            read(path, args)?;
        }
    }
    let mut store = context.writer()?;
    for path in &args.files {
        let run = read(path, args)?;
        let id = &run.info.id;
        match store.import_once(&run)? {
            Sent::Stored => drop(context.computed(&store, &run)?),
            Sent::Known => output::remark(&format!("run {id} is in the store already")),
            Sent::Differs => bail!(
                "{}: another run {id} is in the store already",
                path.display()
            ),
        }
        output::plain(&format!("{id}\n"))?;
    }
    Ok(Exit::Done)
}

fn read(path: &Path, args: &ImportArgs) -> Result<RunData> {
    let mut run = files::read(path)?;
    if let Some(label) = &args.label {
        run.info.label = Some(label.clone());
    }
    if let Some(host) = &args.host {
        exchange::name_machine(&mut run, host)?;
    }
    Ok(run)
}
