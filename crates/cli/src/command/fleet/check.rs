//! `gritstone fleet check`: this node, measured for a minute, against the others of a fleet: for an epilog or a health check.

use crate::command::job::Job;
use crate::ui::args::{FleetCheckArgs, OnInconclusive, RunArgs};
use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::{Context, Result, ensure};
use gritstone_analysis::fleet::{self, NodeRun, Verdict};
use gritstone_fleet::report;
use gritstone_runs::context::World;
use gritstone_session::local_backend::End;
use gritstone_session::undo;
use std::collections::BTreeSet;

/// Measures, compares and says.
pub fn check(world: &World, args: &FleetCheckArgs) -> Result<Exit> {
    undo::recover();
    let against: Vec<String> = args.against.iter().cloned().collect();
    let (name, mut runs) = report::runs(world, &against)?;
    runs.retain(|run| run.node != args.node);
    ensure!(!runs.is_empty(), "fleet {name} has no other node");
    let own = measured(world, args, &runs)?;
    let Some(own) = own else {
        return Ok(Exit::Interrupted);
    };
    runs.push(own);
    let view = fleet::report(&name, &runs, args.margin);
    let verdict = fleet::verdict(&view, &args.node);
    output::plain(&format!(
        "{}\n",
        gritstone_report::node(&view, &args.node, verdict)
    ))?;
    Ok(match verdict {
        Verdict::Passed => Exit::Done,
        Verdict::Failed => Exit::CheckFailed,
        Verdict::Inconclusive => match args.inconclusive {
            OnInconclusive::Fail => Exit::Inconclusive,
            OnInconclusive::Pass => Exit::Done,
        },
    })
}

/// What this node does in the budget of what the fleet was measured by; `None` when the user asked to stop.
fn measured(world: &World, args: &FleetCheckArgs, fleet: &[NodeRun]) -> Result<Option<NodeRun>> {
    let ids: BTreeSet<String> = fleet
        .iter()
        .flat_map(|run| run.results.keys())
        .map(ToString::to_string)
        .collect();
    let known = |id: &String| {
        world
            .catalogue
            .benchmarks
            .iter()
            .any(|entry| entry.id.as_str() == id)
    };
    let selectors = match args.selectors.is_empty() {
        true => ids.into_iter().filter(known).collect(),
        false => args.selectors.clone(),
    };
    let asked = RunArgs {
        selectors,
        quick: true,
        budget: Some(args.budget),
        label: Some(format!("check-{}", args.node)),
        ..RunArgs::default()
    };
    let job = Job::new(world, &asked)?;
    let id = job.info.id.clone();
    let (view, end) = job.measure(world)?;
    if end == End::Interrupted {
        return Ok(None);
    }
    let store = world.reader()?.context("the store is gone")?;
    let run = store.load(&id)?;
    Ok(Some(NodeRun {
        node: args.node.clone(),
        ..NodeRun::of(&run, &view)
    }))
}
