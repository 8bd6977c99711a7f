//! `gritstone fleet`: the same measured on many nodes, and the nodes against each other.

mod check;
mod drive;
mod engine;
mod host;
mod inventory;
mod lock;
mod node;
mod plan;
mod progress;
mod report;
mod slurm;

use crate::ui::args::{FleetArgs, FleetCommand};
use crate::ui::exit::Exit;
use anyhow::Result;
use gritstone_runs::context::World;
pub use progress::newest as progress;

/// `gritstone fleet`.
pub fn fleet(world: &World, args: &FleetArgs) -> Result<Exit> {
    match &args.command {
        FleetCommand::Run(args) => drive::run(world, args),
        FleetCommand::Resume(args) => drive::resume(world, args),
        FleetCommand::Report(args) => report::report(world, args),
        FleetCommand::Check(args) => check::check(world, args),
        FleetCommand::Node(args) => node::node(world, args),
    }
}
