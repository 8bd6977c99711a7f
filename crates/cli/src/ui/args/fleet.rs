//! `gritstone fleet`.

use super::{PrivilegeArgs, RunArgs};
use clap::{Args, Subcommand, ValueEnum};
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

/// What starts the measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// This machine, several times in turn, for trying it out
    Local,
    /// OpenSSH, as the user has configured it
    Ssh,
    /// Slurm: an exclusive job for each node
    Slurm,
}

impl From<Engine> for gritstone_fleet::plan::Engine {
    fn from(engine: Engine) -> Self {
        match engine {
            Engine::Local => Self::Local,
            Engine::Ssh => Self::Ssh,
            Engine::Slurm => Self::Slurm,
        }
    }
}

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
    #[arg(long, value_enum, value_name = "ENGINE")]
    pub on: Engine,
    /// Nodes: a number with local; hosts, separated by commas, or an inventory with ssh; any of them with slurm [default there: all of the partition]
    #[arg(long, value_name = "N|LIST|FILE")]
    pub nodes: Option<String>,
    /// With local, measure each CPU in turn as a node [default: processor-bound benchmarks of suite standard]
    #[arg(long, conflicts_with = "nodes")]
    pub cores: bool,
    /// Identifiers or globs, as for `run` [default: suite standard]
    #[arg(value_name = "SELECTOR")]
    pub selectors: Vec<String>,
    /// Measure a suite, in addition to any SELECTOR
    #[arg(long, value_name = "NAME", help_heading = "Selection")]
    pub suite: Option<String>,
    /// Launch each benchmark six times, instead of ten times or more
    #[arg(long, help_heading = "Effort")]
    pub quick: bool,
    /// Time for each node, as for `run`
    #[arg(long, value_name = "TIME", value_parser = crate::ui::value_parsers::duration, help_heading = "Effort")]
    pub budget: Option<Duration>,
    /// Wanted half-width of the intervals, as for `run`
    #[arg(long, value_name = "SHARE", value_parser = crate::ui::value_parsers::share, help_heading = "Effort")]
    pub precision: Option<f64>,
    /// Nodes that measure at the same time, never two that stand in the same place [default: 8; 1 with local]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Effort")]
    pub at_once: Option<u32>,
    /// Directory whose file system is measured, on each node
    #[arg(long, help_heading = "Nodes")]
    pub dir: Option<PathBuf>,
    /// Command of OpenSSH's client, with its options
    #[arg(
        long,
        value_name = "COMMAND",
        default_value = "ssh",
        help_heading = "Nodes"
    )]
    pub ssh: String,
    /// Partition of Slurm [default: that of the cluster]
    #[arg(long, value_name = "NAME", help_heading = "Nodes")]
    pub partition: Option<String>,
    /// Command that submits jobs to Slurm, with options such as --account, --qos, --reservation or --time
    #[arg(
        long,
        value_name = "COMMAND",
        default_value = "sbatch",
        help_heading = "Nodes"
    )]
    pub sbatch: String,
    /// Directory that this host and Slurm's nodes share [default: that of the store]
    #[arg(long, value_name = "DIRECTORY", help_heading = "Nodes")]
    pub shared: Option<PathBuf>,
    /// Binary for the nodes [default: this program]
    #[arg(long, value_name = "FILE", help_heading = "Nodes")]
    pub binary: Option<PathBuf>,
    /// Name of the runs
    #[arg(long, help_heading = "Run")]
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

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone fleet check --node \"$SLURMD_NODENAME\"     in an epilog: exit 0 passed, 1 failed, 4 inconclusive
  gritstone fleet check --node node1 --budget 30s memory")]
pub struct FleetCheckArgs {
    /// Name of this node in the fleet; its earlier runs do not count
    #[arg(long, value_name = "NAME")]
    pub node: String,
    /// Benchmarks to measure [default: those of the fleet]
    #[arg(value_name = "SELECTOR")]
    pub selectors: Vec<String>,
    /// Fleet run or label to compare with [default: the newest fleet run]
    #[arg(long, value_name = "FLEET")]
    pub against: Option<String>,
    /// Time for the check
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = crate::ui::value_parsers::duration)]
    pub budget: Duration,
    /// Differences within this margin are "like the others"
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = crate::ui::value_parsers::share)]
    pub margin: f64,
    /// Exit code of an inconclusive check: 4 or 0
    #[arg(long, value_name = "OUTCOME", default_value = "fail")]
    pub inconclusive: super::OnInconclusive,
}

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
    #[arg(long = "place", value_name = "KEY=VALUE", value_parser = crate::ui::value_parsers::pair)]
    pub place: Vec<(String, String)>,
    /// How many nodes the fleet run has
    #[arg(long, value_name = "N")]
    pub of: Option<u32>,
    /// The only CPU that it may use
    #[arg(long)]
    pub cpu: Option<u32>,
    /// File of the bundle, or - for standard output
    #[arg(long, value_name = "FILE")]
    pub output: PathBuf,
    #[command(flatten)]
    pub run: RunArgs,
}

/// Output formats of the report of a fleet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum FleetFormat {
    /// One page
    #[default]
    Text,
    /// One JSON value
    Json,
    /// CSV: a line for each node and family, and for each finding
    Csv,
    /// OpenMetrics text of the same
    Openmetrics,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone fleet report
  gritstone fleet report november -o fleet.html
  gritstone fleet report nodes/*.jsonl --format csv")]
pub struct FleetReportArgs {
    /// Fleet runs, labels, runs or bundles; those of one node are taken together [default: the newest fleet run]
    #[arg(value_name = "FLEET | LABEL | RUN")]
    pub words: Vec<String>,
    /// Differences within this margin are "like the others"
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = crate::ui::value_parsers::share)]
    pub margin: f64,
    /// Write the report to this file instead, .html or .pdf; repeatable
    #[arg(short, long = "output", value_name = "FILE")]
    pub out: Vec<PathBuf>,
    /// Output format
    #[arg(short, long, value_enum, default_value_t, conflicts_with = "out")]
    pub format: FleetFormat,
}
