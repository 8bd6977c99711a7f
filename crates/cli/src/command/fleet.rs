//! `gritstone fleet`: measures many nodes, and compares them.

mod check;
mod node;
mod report;

use crate::ui::args::PrivilegeArgs;
use crate::ui::candidates;
use crate::ui::exit::Exit;
use crate::ui::output;
use crate::ui::value_parsers;
use anyhow::{Result, ensure};
use check::FleetCheckArgs;
use clap::{Args, Subcommand};
use gritstone_fleet::drive;
use gritstone_fleet::plan::{Engine, Plan, Request};
use gritstone_runs::context::Context;
use node::FleetNodeArgs;
use report::FleetReportArgs;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone fleet run --on ssh --nodes inventory --quick memory cpu
  gritstone fleet resume
  gritstone fleet report -o fleet.html")]
pub struct FleetArgs {
    #[command(subcommand)]
    pub command: FleetCommand,
}

#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// Measure the same on many nodes, and say which are not like the others
    Run(Box<FleetRunArgs>),
    /// Measure the nodes that a fleet run lacks
    Resume(FleetResumeArgs),
    /// Say which nodes are not like the others, and in what
    Report(FleetReportArgs),
    /// Measure this node, and check it against the others of a fleet
    Check(FleetCheckArgs),
    /// Measure this node of a fleet run, and write its bundle: what engines start
    Node(Box<FleetNodeArgs>),
}

const ENGINES: [(Engine, &str); 3] = [
    (Engine::Local, "This machine, several times in turn, for trying it out"),
    (Engine::Ssh, "OpenSSH, as the user has configured it"),
    (Engine::Slurm, "Slurm: an exclusive job for each node"),
];

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone fleet run --on local --nodes 4 --quick byte/syscall byte/pipe
  gritstone fleet run --on ssh --nodes node1,node2,node3,node4 --quick
  gritstone fleet run --on ssh --nodes inventory --at-once 16 --budget 10m
  gritstone fleet run --on slurm --partition batch --at-once 16 --budget 10m

An inventory has a line for each node: the host as the engine knows it, and where it stands:
  node1  rack=a switch=1 partition=batch")]
pub struct FleetRunArgs {
    /// What starts the measurements
    #[arg(long, value_parser = value_parsers::named(Engine::as_str, ENGINES), value_name = "ENGINE")]
    pub on: Engine,
    /// Nodes: a number with local; hosts, separated by commas, or an inventory with ssh; any of them with slurm [default there: all of the partition]
    #[arg(long, value_name = "N|LIST|FILE")]
    pub nodes: Option<String>,
    /// With local, measure each CPU in turn as a node [default: processor-bound benchmarks of suite standard]
    #[arg(long, conflicts_with = "nodes")]
    pub cores: bool,
    /// Identifiers or globs, as for `run` [default: suite standard]
    #[arg(value_name = "SELECTOR", add = candidates::benchmarks())]
    pub selectors: Vec<String>,
    /// Measure a suite, in addition to any SELECTOR
    #[arg(long, value_name = "NAME", help_heading = "Selection")]
    pub suite: Option<String>,
    /// Launch each benchmark six times, instead of ten times or more
    #[arg(long, help_heading = "Effort")]
    pub quick: bool,
    /// Time for each node, as for `run`
    #[arg(long, value_name = "TIME", value_parser = value_parsers::duration, help_heading = "Effort")]
    pub budget: Option<Duration>,
    /// Target half-width of the confidence intervals, as for `run`
    #[arg(long, value_name = "SHARE", value_parser = value_parsers::share, help_heading = "Effort")]
    pub precision: Option<f64>,
    /// Nodes that measure at the same time, never two that stand in the same place [default: 8; 1 with local]
    #[arg(long, value_name = "N", value_parser = value_parsers::whole(1..=1000_u32), help_heading = "Effort")]
    pub at_once: Option<u32>,
    /// Directory whose file system is measured, on each node
    #[arg(long, help_heading = "Nodes")]
    pub dir: Option<PathBuf>,
    /// With ssh, the command of OpenSSH's client, with its options [default: ssh]
    #[arg(long, value_name = "COMMAND", help_heading = "Nodes")]
    pub ssh: Option<String>,
    /// With slurm, the partition [default: that of the cluster]
    #[arg(long, value_name = "NAME", help_heading = "Nodes")]
    pub partition: Option<String>,
    /// With slurm, the command that submits jobs, with options such as --account, --qos, --reservation or --time [default: sbatch]
    #[arg(long, value_name = "COMMAND", help_heading = "Nodes")]
    pub sbatch: Option<String>,
    /// With slurm, the directory that this host and the nodes share [default: that of the store]
    #[arg(long, value_name = "DIRECTORY", help_heading = "Nodes")]
    pub shared: Option<PathBuf>,
    /// Binary for the nodes [default: this program]
    #[arg(long, value_name = "FILE", help_heading = "Nodes")]
    pub binary: Option<PathBuf>,
    /// Name of the runs
    #[arg(long, value_parser = value_parsers::label, help_heading = "Run")]
    pub label: Option<String>,
    #[command(flatten)]
    pub privileges: PrivilegeArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone fleet resume
  gritstone fleet resume 20261103-100000-5f3a9c01")]
pub struct FleetResumeArgs {
    /// The fleet run, or a part of its name [default: the newest]
    #[arg(value_name = "FLEET")]
    pub fleet: Option<String>,
}

/// `gritstone fleet`.
pub fn fleet(context: &Context, args: &FleetArgs) -> Result<Exit> {
    match &args.command {
        FleetCommand::Run(args) => {
            check_engine(args)?;
            let plan = Plan::new(context, &request(args))?;
            plan.write(context)?;
            measure(context, &plan)
        }
        FleetCommand::Resume(args) => {
            measure(context, &Plan::find(context, args.fleet.as_deref())?)
        }
        FleetCommand::Report(args) => report::report(context, args),
        FleetCommand::Check(args) => check::check(context, args),
        FleetCommand::Node(args) => node::node(context, args),
    }
}

/// Refuses options of another engine.
fn check_engine(args: &FleetRunArgs) -> Result<()> {
    for (option, given, engine) in [
        ("--partition", args.partition.is_some(), Engine::Slurm),
        ("--sbatch", args.sbatch.is_some(), Engine::Slurm),
        ("--shared", args.shared.is_some(), Engine::Slurm),
        ("--ssh", args.ssh.is_some(), Engine::Ssh),
    ] {
        ensure!(
            !given || args.on == engine,
            "{option} is for --on {}, and changes nothing with --on {}: leave it out",
            engine.as_str(),
            args.on.as_str()
        );
    }
    Ok(())
}

/// Measures the nodes that have no run yet, and shows the report.
fn measure(context: &Context, plan: &Plan) -> Result<Exit> {
    let outcome = drive::measure(context, plan)?;
    if outcome.interrupted {
        output::remark("interrupted; `gritstone fleet resume` continues with the missing nodes");
        return Ok(Exit::Interrupted);
    }
    if outcome.missing == plan.nodes.len() {
        return Err(Exit::NothingMeasured.because("no node was measured"));
    }
    report::show(context, &plan.fleet)?;
    if outcome.missing > 0 {
        return Err(Exit::CheckFailed.because(format!(
            "{} of {} nodes are missing; `gritstone fleet resume` measures them",
            outcome.missing,
            plan.nodes.len()
        )));
    }
    Ok(Exit::Done)
}

fn request(args: &FleetRunArgs) -> Request {
    Request {
        on: args.on,
        nodes: args.nodes.clone(),
        cores: args.cores,
        selectors: args.selectors.clone(),
        suite: args.suite.clone(),
        quick: args.quick,
        budget: args.budget,
        precision: args.precision,
        at_once: args.at_once.map(|n| n as usize),
        dir: args.dir.clone(),
        ssh: args.ssh.clone().unwrap_or_else(|| "ssh".to_owned()),
        partition: args.partition.clone(),
        sbatch: args.sbatch.clone().unwrap_or_else(|| "sbatch".to_owned()),
        shared: args.shared.clone(),
        binary: args.binary.clone(),
        label: args.label.clone(),
        allow: args.privileges.allowed(),
        no_privileged: args.privileges.no_privileged,
    }
}
