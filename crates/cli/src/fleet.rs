//! `gritstone fleet`: the nodes of a fleet.

mod report;

use crate::args::{FleetArgs, FleetCommand};
use crate::failure::Exit;
use crate::world::World;
use anyhow::Result;

/// `gritstone fleet`.
pub fn fleet(world: &World, args: &FleetArgs) -> Result<Exit> {
    match &args.command {
        FleetCommand::Report(args) => report::report(world, args),
    }
}
