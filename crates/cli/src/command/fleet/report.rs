//! `gritstone fleet report`: the nodes of a fleet compared.

use crate::command::report;
use crate::ui::args::{FleetFormat, FleetReportArgs};
use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::Result;
use gritstone_analysis::fleet;
use gritstone_fleet::report::view;
use gritstone_report::Detail;
use gritstone_runs::context::World;

/// Compares the nodes and shows what differs.
pub fn report(world: &World, args: &FleetReportArgs) -> Result<Exit> {
    for path in &args.out {
        report::is_pdf(path)?;
    }
    let view = view(world, &args.words, args.margin)?;
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

/// Shows the report of a fleet run that has just been measured.
pub fn show(world: &World, named: &str) -> Result<()> {
    let view = view(world, &[named.to_owned()], fleet::MARGIN)?;
    output::text(&gritstone_report::fleet(&view, output::detail()))
}
