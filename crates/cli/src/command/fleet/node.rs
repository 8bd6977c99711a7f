//! `gritstone fleet node`: measures this node of a fleet run, and writes its bundle.

use crate::command::run;
use crate::command::run::args::RunArgs;
use crate::command::run::job::Job;
use crate::ui::exit::Exit;
use crate::ui::output;
use crate::ui::value_parsers;
use anyhow::{Context as _, Result};
use clap::Args;
use gritstone_exchange::write_bundle;
use gritstone_model::FleetMember;
use gritstone_runs::context::Context;
use gritstone_runs::output_file;
use gritstone_session::local_backend::End;
use gritstone_session::{signals, undo};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use std::path::Path;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone fleet node --fleet november --node node1 --output node1.jsonl --quick --seed 1 memory")]
pub struct FleetNodeArgs {
    /// Identifier of the fleet run
    #[arg(long)]
    pub fleet: String,
    /// Name of this node
    #[arg(long)]
    pub node: String,
    /// Where it stands
    #[arg(long = "place", value_name = "KEY=VALUE", value_parser = value_parsers::pair)]
    pub place: Vec<(String, String)>,
    /// How many nodes the fleet run has
    #[arg(long, value_name = "N")]
    pub of: Option<u32>,
    /// The only CPU that it may use
    #[arg(long)]
    pub cpu: Option<u32>,
    /// File of the bundle, or - for standard output
    #[arg(long, value_name = "FILE", conflicts_with_all = ["no_store", "dry_run", "resume", "catalog", "format"])]
    pub output: PathBuf,
    #[command(flatten)]
    pub run: RunArgs,
}

pub fn node(context: &Context, args: &FleetNodeArgs) -> Result<Exit> {
    if args.output != Path::new("-") {
        output_file::check(&args.output)?;
    }
    undo::recover();
    if args.output == Path::new("-") {
        signals::end_with_reader();
    }
    if let Some(cpu) = args.cpu {
        let mut only = CpuSet::new();
        let set = only.set(cpu as usize).and_then(|()| sched_setaffinity(Pid::from_raw(0), &only));
        set.with_context(|| format!("CPU {cpu} cannot be used alone"))?;
    }
    let mut job = Job::new(context, &args.run)?;
    job.info.settings.fleet = Some(FleetMember {
        fleet: args.fleet.clone(),
        node: args.node.clone(),
        place: args.place.iter().cloned().collect(),
        of: args.of,
    });
    let id = job.info.id.clone();
    let (view, end) = job.measure(context)?;
    if end? == End::Interrupted {
        return Ok(Exit::Interrupted);
    }
    let exit = run::check_measured(&view)?;
    let store = context.reader()?.context("the store of this node was removed")?;
    let bundle = write_bundle(&store.load(&id)?);
    match args.output == Path::new("-") {
        true => output::plain(&bundle)?,
        false => output_file::write(&args.output, bundle.as_bytes())?,
    }
    Ok(exit)
}
