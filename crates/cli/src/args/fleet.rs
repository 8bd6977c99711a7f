//! `gritstone fleet`.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone fleet report
  gritstone fleet report -o fleet.html")]
pub struct FleetArgs {
    #[command(subcommand)]
    pub command: FleetCommand,
}

#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// Say which nodes are not like the others, and in what
    Report(FleetReportArgs),
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
    /// Write the report to this file instead, .html or .pdf; repeatable
    #[arg(short, long = "output", value_name = "FILE")]
    pub out: Vec<PathBuf>,
    /// Output format
    #[arg(short, long, value_enum, default_value_t, conflicts_with = "out")]
    pub format: FleetFormat,
}
