//! `gritstone fleet run` and `resume`: starts the nodes that are missing, some at a time, and takes in their bundles.

use super::engine::{self, Started};
use super::host::Node;
use super::plan::Plan;
use super::progress::{Known, Progress};
use super::{lock, report, slurm};
use crate::ui::args::{FleetResumeArgs, FleetRunArgs};
use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::{Context, Result, ensure};
use gritstone_runs::context::World;
use gritstone_session::signals;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How often nodes are looked after.
const LOOK: Duration = Duration::from_millis(100);

/// A new fleet run.
pub fn run(world: &World, args: &FleetRunArgs) -> Result<Exit> {
    let plan = Plan::new(world, args)?;
    plan.keep(world)?;
    measure(world, &plan)
}

/// What a fleet run lacks.
pub fn resume(world: &World, args: &FleetResumeArgs) -> Result<Exit> {
    measure(world, &Plan::find(world, args.fleet.as_deref())?)
}

/// Measures the nodes that have no run yet, and shows the report.
fn measure(world: &World, plan: &Plan) -> Result<Exit> {
    let folder = plan.folder(world)?;
    let _held = lock::hold(&folder, &plan.fleet)?;
    Known::default().keep(&folder);
    let missing = missing(world, plan)?;
    output::remark(&format!(
        "fleet {}: {} of {} nodes to be measured, {} at once",
        plan.fleet,
        missing.len(),
        plan.nodes.len(),
        plan.at_once
    ));
    let stop = signals::from_now_on().context("signals cannot be caught")?;
    let failed = match plan.on.as_str() {
        "slurm" => slurm::measure(world, plan, &folder, &stop)?,
        _ => waves(world, plan, &folder, missing, &stop)?,
    };
    for (node, why) in &failed {
        output::remark(&format!("{node} is missing: {why}"));
    }
    let left = self::missing(world, plan)?.len();
    if stop.load(Ordering::Relaxed) {
        output::remark(
            "interrupted; `gritstone fleet resume` goes on with the nodes that are missing",
        );
        return Ok(Exit::Interrupted);
    }
    if left == plan.nodes.len() {
        return Err(Exit::NothingMeasured.because("no node could be measured"));
    }
    report::show(world, &plan.fleet)?;
    if left > 0 {
        return Err(Exit::CheckFailed.because(format!(
            "{left} of {} nodes are missing; `gritstone fleet resume` measures them",
            plan.nodes.len()
        )));
    }
    Ok(Exit::Done)
}

/// The nodes without a whole run in the store.
pub fn missing(world: &World, plan: &Plan) -> Result<Vec<Node>> {
    let members = match world.reader()? {
        Some(store) => store.members()?,
        None => vec![],
    };
    let own = members
        .iter()
        .filter(|of| of.ended && of.member.fleet == plan.fleet);
    let there: BTreeSet<&str> = own.map(|of| of.member.node.as_str()).collect();
    let missing = plan
        .nodes
        .iter()
        .filter(|node| !there.contains(node.node.as_str()));
    Ok(missing.cloned().collect())
}

/// Measures nodes, so many at once, never two neighbors; those that failed, and why.
fn waves(
    world: &World,
    plan: &Plan,
    folder: &Path,
    mut waiting: Vec<Node>,
    stop: &AtomicBool,
) -> Result<BTreeMap<String, String>> {
    let mut progress = Progress::new(folder, waiting.len(), BTreeMap::new());
    let (mut running, mut told): (Vec<(Started, Instant)>, _) = (vec![], false);
    while !running.is_empty() || !(waiting.is_empty() || stop.load(Ordering::Relaxed)) {
        if stop.load(Ordering::Relaxed) && !std::mem::replace(&mut told, true) {
            running.iter().for_each(|(started, _)| end(started));
        }
        while running.len() < plan.at_once && !stop.load(Ordering::Relaxed) {
            let free = |node: &Node| {
                !running
                    .iter()
                    .any(|(other, _)| neighbors(node, &other.node))
            };
            let Some(next) = waiting.iter().position(free) else {
                break;
            };
            let node = waiting.remove(next);
            match engine::start(plan, folder, &node) {
                Ok(started) => {
                    progress.begun(&node.node);
                    running.push((started, Instant::now()));
                }
                Err(why) => progress.skipped(&node.node, &format!("{why:#}"), None),
            }
        }
        let mut at = 0;
        while at < running.len() {
            let Some(status) = running[at].0.child.try_wait()? else {
                at += 1;
                continue;
            };
            let (started, since) = running.remove(at);
            let taken = match status.success() {
                true => take(world, plan, &started.bundle(), &started.node.node),
                false => Err(anyhow::anyhow!(
                    "{}",
                    started
                        .last_words()
                        .unwrap_or_else(|| format!("it ended with {status}"))
                )),
            };
            started.clean(taken.is_ok());
            let node = &started.node.node;
            match taken {
                Ok(()) => progress.measured(node, Some(since.elapsed())),
                Err(why) => progress.skipped(node, &format!("{why:#}"), Some(since.elapsed())),
            }
        }
        thread::sleep(LOOK);
    }
    Ok(progress.failed().clone())
}

/// Whether two nodes share a rack, a switch, a hypervisor: what one does may be felt by the other.
fn neighbors(a: &Node, b: &Node) -> bool {
    a.neighborhood()
        .any(|place| b.neighborhood().any(|other| other == place))
}

/// Asks a node to end; it stores what it has, and removes what it made.
fn end(started: &Started) {
    if let Ok(pid) = i32::try_from(started.child.id()) {
        // it may have ended already
        let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
    }
}

/// Takes in a bundle: whole, of this fleet, of this node.
pub fn take(world: &World, plan: &Plan, bundle: &Path, node: &str) -> Result<()> {
    let run = gritstone_runs::files::read(bundle)?;
    let member = run.info.settings.fleet.clone().unwrap_or_default();
    ensure!(
        member.fleet == plan.fleet && member.node == node,
        "its bundle is of node {} of fleet {}",
        member.node,
        member.fleet
    );
    let mut store = world.writer()?;
    store.import(&run)?;
    world.computed(&store, &run)?;
    Ok(())
}
