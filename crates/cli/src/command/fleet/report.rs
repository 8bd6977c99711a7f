//! `gritstone fleet report`: the nodes of a fleet compared.

use crate::command::report;
use crate::ui::candidates;
use crate::ui::exit::Exit;
use crate::ui::output;
use crate::ui::value_parsers;
use anyhow::Result;
use clap::{Args, ValueEnum};
use gritstone_analysis::fleet;
use gritstone_fleet::report::view;
use gritstone_report::Detail;
use gritstone_runs::context::Context;
use std::path::PathBuf;

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
    #[arg(value_name = "FLEET | LABEL | RUN", add = candidates::runs())]
    pub words: Vec<String>,
    /// Differences within this margin are "like the others"
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = value_parsers::share)]
    pub margin: f64,
    /// Write the report to this file instead, .html or .pdf; repeatable
    #[arg(short, long = "output", value_name = "FILE")]
    pub out: Vec<PathBuf>,
    /// Output format
    #[arg(short, long, value_enum, default_value_t, conflicts_with = "out")]
    pub format: FleetFormat,
}

pub fn report(context: &Context, args: &FleetReportArgs) -> Result<Exit> {
    for path in &args.out {
        report::is_pdf(path)?;
    }
    let view = view(context, &args.words, args.margin)?;
    for path in &args.out {
        report::write(&gritstone_report::fleet(&view, Detail::Everything), path)?;
    }
    match args.format {
        _ if !args.out.is_empty() => {}
        FleetFormat::Text => output::text(&gritstone_report::fleet(&view, output::detail()))?,
        FleetFormat::Json => output::json(&view)?,
        FleetFormat::Csv => output::plain(&gritstone_exchange::fleet_csv(&view))?,
        FleetFormat::Openmetrics => output::plain(&gritstone_exchange::fleet_openmetrics(&view))?,
    }
    Ok(Exit::Done)
}

pub fn show(context: &Context, named: &str) -> Result<()> {
    let view = view(context, &[named.to_owned()], fleet::MARGIN)?;
    output::text(&gritstone_report::fleet(&view, output::detail()))
}
