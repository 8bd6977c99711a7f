//! Starts the nodes without a run, a few at a time, and imports their bundles.

use super::bundles::{self, take};
use super::engine::{self, Started};
use super::host::Node;
use super::plan::{Engine, Plan};
use super::progress::{Known, Progress};
use super::{lock, slurm};
use anyhow::{Context as _, Result};
use gritstone_files::Dir;
use gritstone_runs::context::Context;
use gritstone_session::{signals, ssh};
use gritstone_store::StoreError;
use nix::sys::signal::Signal;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How long nodes may take to end before they are killed.
const GRACE_PERIOD: Duration = Duration::from_secs(30);

/// How a fleet run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub interrupted: bool,
    /// Nodes that are not measured.
    pub missing: usize,
}

/// Measures the nodes that have no run yet.
///
/// # Errors
/// When nodes cannot be started at all, or another process measures the fleet.
pub fn measure(context: &Context, plan: &Plan) -> Result<Outcome> {
    let directory = plan.open(context)?;
    let folder = directory.path().to_owned();
    let _lock = lock::hold(&folder, &plan.fleet)?;
    // clears the progress of an earlier attempt
    Known::default().keep(&folder);
    let missing = bundles::missing(context, plan)?;
    log::info!(
        "fleet {}: {} of {} nodes to be measured, {} at once",
        plan.fleet,
        missing.len(),
        plan.nodes.len(),
        plan.at_once
    );
    let stop = signals::stop_flag().context("signals cannot be caught")?;
    let failed = match plan.on {
        Engine::Slurm => slurm::measure(context, plan, &folder, &stop)?,
        Engine::Local | Engine::Ssh => measure_nodes(context, plan, &directory, missing, &stop)?,
    };
    for (node, why) in &failed {
        log::warn!("{node} is missing: {why}");
    }
    Ok(Outcome {
        interrupted: stop.load(Ordering::Relaxed),
        missing: bundles::missing(context, plan)?.len(),
    })
}

/// Measures nodes, `at_once` at a time, never two neighbors; returns those that failed, and why.
fn measure_nodes(
    context: &Context,
    plan: &Plan,
    directory: &Dir,
    mut waiting: Vec<Node>,
    stop: &AtomicBool,
) -> Result<BTreeMap<String, String>> {
    let mut progress = Progress::new(directory.path(), waiting.len(), BTreeMap::new());
    let mut running: Vec<(Started, Instant)> = vec![];
    let mut stopping_since: Option<Instant> = None;
    while !running.is_empty() || !(waiting.is_empty() || stop.load(Ordering::Relaxed)) {
        if stop.load(Ordering::Relaxed) {
            // SIGTERM lets a node store its results and remove its files
            let signal = match stopping_since {
                None => Some(Signal::SIGTERM),
                Some(since) => (since.elapsed() > GRACE_PERIOD).then_some(Signal::SIGKILL),
            };
            stopping_since.get_or_insert_with(Instant::now);
            if let Some(signal) = signal {
                for (started, _) in &running {
                    ssh::end_group(&started.child, signal);
                }
            }
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
            // one that an earlier attempt could not import
            let bundle = directory
                .path()
                .join(&node.node)
                .with_added_extension("jsonl");
            match take(context, plan, &bundle, &node.node) {
                Ok(()) => {
                    let _ = std::fs::remove_file(bundle);
                    progress.measured(&node.node, None);
                    continue;
                }
                // it stays for the next attempt
                Err(why) if why.is::<StoreError>() => {
                    progress.failed_node(&node.node, &format!("{why:#}"), None);
                    continue;
                }
                // there is none, or not all of it
                Err(_) => {}
            }
            match engine::start(plan, directory, &node) {
                Ok(started) => {
                    progress.begun(&node.node);
                    running.push((started, Instant::now()));
                }
                Err(why) => progress.failed_node(&node.node, &format!("{why:#}"), None),
            }
        }
        let mut index = 0;
        while index < running.len() {
            let Some(status) = running[index].0.child.try_wait()? else {
                index += 1;
                continue;
            };
            let (mut started, since) = running.remove(index);
            started.wait_for_output();
            let taken = match status.success() {
                true => take(context, plan, &started.bundle(), &started.node.node),
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
                Err(why) => progress.failed_node(node, &format!("{why:#}"), Some(since.elapsed())),
            }
        }
        thread::sleep(POLL_INTERVAL);
    }
    Ok(progress.failed().clone())
}

/// Whether two nodes share a rack, a switch or a hypervisor, so that they may influence each other.
fn neighbors(a: &Node, b: &Node) -> bool {
    a.neighborhood()
        .any(|place| b.neighborhood().any(|other| other == place))
}
