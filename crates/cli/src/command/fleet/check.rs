//! `gritstone fleet check`: measures this node for a minute, and compares it with the fleet, for an epilog or a health check.

use crate::command::run::args::RunArgs;
use crate::command::run::job::Job;
use crate::ui::args::OnInconclusive;
use crate::ui::candidates;
use crate::ui::exit::Exit;
use crate::ui::output;
use crate::ui::value_parsers;
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use gritstone_analysis::fleet::{self, NodeRun, Verdict};
use gritstone_fleet::report;
use gritstone_runs::context::Context;
use gritstone_session::local_backend::End;
use gritstone_session::undo;
use std::collections::BTreeSet;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone fleet check --node \"$SLURMD_NODENAME\"     in an epilog: exit 0 passed, 1 failed, 4 inconclusive
  gritstone fleet check --node node1 --budget 30s memory")]
pub struct FleetCheckArgs {
    /// Name of this node in the fleet; its earlier runs do not count
    #[arg(long, value_name = "NAME")]
    pub node: String,
    /// Benchmarks to measure [default: those of the fleet]
    #[arg(value_name = "SELECTOR", add = candidates::benchmarks())]
    pub selectors: Vec<String>,
    /// Fleet run or label to compare with [default: the newest fleet run]
    #[arg(long, value_name = "FLEET")]
    pub against: Option<String>,
    /// Time for the check
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = value_parsers::duration)]
    pub budget: Duration,
    /// Differences within this margin are "like the others"
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = value_parsers::share)]
    pub margin: f64,
    /// Exit code of an inconclusive check: 4 or 0
    #[arg(long, value_name = "OUTCOME", default_value = "fail")]
    pub inconclusive: OnInconclusive,
}

pub fn check(context: &Context, args: &FleetCheckArgs) -> Result<Exit> {
    undo::recover();
    let against: Vec<String> = args.against.iter().cloned().collect();
    let (name, mut runs) = report::runs(context, &against)?;
    runs.retain(|run| run.node != args.node);
    ensure!(!runs.is_empty(), "fleet {name} has no other node");
    let Some(run) = measured(context, args, &runs)? else {
        return Ok(Exit::Interrupted);
    };
    runs.push(run);
    let view = fleet::report(&name, &runs, args.margin);
    let verdict = fleet::verdict(&view, &args.node);
    output::plain(&format!("{}\n", gritstone_report::node(&view, &args.node, verdict)))?;
    Ok(match verdict {
        Verdict::Passed => Exit::Done,
        Verdict::Failed => Exit::CheckFailed,
        Verdict::Inconclusive => match args.inconclusive {
            OnInconclusive::Fail => Exit::Inconclusive,
            OnInconclusive::Pass => Exit::Done,
        },
    })
}

/// Measures the benchmarks of the fleet on this node; `None` if interrupted.
fn measured(
    context: &Context,
    args: &FleetCheckArgs,
    fleet: &[NodeRun],
) -> Result<Option<NodeRun>> {
    let ids: BTreeSet<String> =
        fleet.iter().flat_map(|run| run.results.keys()).map(ToString::to_string).collect();
    let known =
        |id: &String| context.catalogue.benchmarks.iter().any(|entry| entry.id.as_str() == id);
    let selectors = match args.selectors.is_empty() {
        true => ids.into_iter().filter(known).collect(),
        false => args.selectors.clone(),
    };
    let run_args = RunArgs {
        selectors,
        quick: true,
        budget: Some(args.budget),
        label: Some(format!("check-{}", args.node)),
        ..RunArgs::default()
    };
    let job = Job::new(context, &run_args)?;
    let id = job.info.id.clone();
    let (view, end) = job.measure(context)?;
    if end? == End::Interrupted {
        return Ok(None);
    }
    let store = context.reader()?.context("the store is gone")?;
    let run = store.load(&id)?;
    Ok(Some(NodeRun { node: args.node.clone(), ..NodeRun::new(&run, &view) }))
}
