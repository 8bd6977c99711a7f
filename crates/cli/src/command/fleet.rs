//! `gritstone fleet`: the same measured on many nodes, and the nodes compared.

mod check;
mod node;
mod report;

use crate::ui::args::{FleetArgs, FleetCommand, FleetRunArgs};
use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::Result;
use gritstone_fleet::drive;
use gritstone_fleet::plan::{Plan, Request};
use gritstone_runs::context::World;

/// `gritstone fleet`.
pub fn fleet(world: &World, args: &FleetArgs) -> Result<Exit> {
    match &args.command {
        FleetCommand::Run(args) => {
            let plan = Plan::new(world, &request(args))?;
            plan.keep(world)?;
            measure(world, &plan)
        }
        FleetCommand::Resume(args) => measure(world, &Plan::find(world, args.fleet.as_deref())?),
        FleetCommand::Report(args) => report::report(world, args),
        FleetCommand::Check(args) => check::check(world, args),
        FleetCommand::Node(args) => node::node(world, args),
    }
}

/// Measures the nodes that have no run yet, and shows the report.
fn measure(world: &World, plan: &Plan) -> Result<Exit> {
    let outcome = drive::measure(world, plan)?;
    if outcome.interrupted {
        output::remark(
            "interrupted; `gritstone fleet resume` goes on with the nodes that are missing",
        );
        return Ok(Exit::Interrupted);
    }
    if outcome.missing == plan.nodes.len() {
        return Err(Exit::NothingMeasured.because("no node could be measured"));
    }
    report::show(world, &plan.fleet)?;
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
        on: args.on.into(),
        nodes: args.nodes.clone(),
        cores: args.cores,
        selectors: args.selectors.clone(),
        suite: args.suite.clone(),
        quick: args.quick,
        budget: args.budget,
        precision: args.precision,
        at_once: args.at_once.map(|n| n as usize),
        dir: args.dir.clone(),
        ssh: args.ssh.clone(),
        partition: args.partition.clone(),
        sbatch: args.sbatch.clone(),
        shared: args.shared.clone(),
        binary: args.binary.clone(),
        label: args.label.clone(),
        allow: args.privileges.allowed(),
        no_privileged: args.privileges.no_privileged,
    }
}
