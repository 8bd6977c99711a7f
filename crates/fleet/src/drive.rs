//! Starts the nodes without a run, a few at a time, and imports their bundles.

use super::bundles;
use super::engine::{self, Started};
use super::host::Node;
use super::plan::{Engine, Plan};
use super::progress::{NodeStates, Progress};
use super::{lock, slurm};
use anyhow::{Context as _, Result, anyhow};
use gritstone_files::Dir;
use gritstone_runs::context::Context;
use gritstone_session::{signals, ssh};
use gritstone_store::StoreError;
use nix::sys::signal::Signal;
use std::collections::BTreeMap;
use std::process::ExitStatus;
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
    NodeStates::default().write(&folder);
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
    missing: Vec<Node>,
    stop: &AtomicBool,
) -> Result<BTreeMap<String, String>> {
    let mut nodes = Nodes {
        context,
        plan,
        directory,
        progress: Progress::new(directory.path(), missing.len(), BTreeMap::new()),
        waiting: missing,
        running: vec![],
    };
    loop {
        let stopped = stop.load(Ordering::Relaxed);
        if nodes.running.is_empty() && (stopped || nodes.waiting.is_empty()) {
            return Ok(nodes.progress.failed().clone());
        }
        for running in &mut nodes.running {
            if stopped || running.is_overdue(plan) {
                running.end();
            }
        }
        if !stopped {
            nodes.start();
        }
        nodes.import_ended()?;
        thread::sleep(POLL_INTERVAL);
    }
}

struct Nodes<'a> {
    context: &'a Context,
    plan: &'a Plan,
    directory: &'a Dir,
    progress: Progress,
    waiting: Vec<Node>,
    running: Vec<Running>,
}

/// A node that is being measured.
struct Running {
    started: Started,
    since: Instant,
    sigterm_sent: Option<Instant>,
}

impl Running {
    fn is_overdue(&self, plan: &Plan) -> bool {
        let limit = plan.minutes.map(|minutes| Duration::from_secs(60 * minutes));
        limit.is_some_and(|limit| self.since.elapsed() > limit)
    }

    /// SIGTERM lets a node store its results and remove its files; one that does not is killed after [`GRACE_PERIOD`].
    fn end(&mut self) {
        let signal = match self.sigterm_sent {
            None => Signal::SIGTERM,
            Some(sent) if sent.elapsed() > GRACE_PERIOD => Signal::SIGKILL,
            Some(_) => return,
        };
        self.sigterm_sent.get_or_insert_with(Instant::now);
        ssh::end_group(&self.started.child, signal);
    }

    fn reason(&self, status: ExitStatus, plan: &Plan) -> anyhow::Error {
        let line = self.started.last_log_line();
        let line = line.unwrap_or_else(|| format!("it ended with {status}"));
        match plan.minutes.filter(|_| self.is_overdue(plan)) {
            Some(limit) => anyhow!("it took more than {limit} minutes; its last words: {line}"),
            None => anyhow!(line),
        }
    }
}

impl Nodes<'_> {
    /// Starts as many as may run.
    fn start(&mut self) {
        while self.running.len() < self.plan.at_once {
            let running = self.running.iter().map(|running| &running.started.node);
            let free = |node: &Node| !running.clone().any(|other| neighbors(node, other));
            let Some(next) = self.waiting.iter().position(free) else {
                return;
            };
            let node = self.waiting.remove(next);
            if self.import_leftover(&node) {
                continue;
            }
            match engine::start(self.plan, self.directory, &node) {
                Ok(started) => {
                    self.progress.started(&node.node);
                    self.running.push(Running {
                        started,
                        since: Instant::now(),
                        sigterm_sent: None,
                    });
                }
                Err(why) => self.fail(&node, &why, None),
            }
        }
    }

    /// Imports a bundle that an earlier attempt could not; false where there is none, or not all of it.
    fn import_leftover(&mut self, node: &Node) -> bool {
        let files = self.directory.path().join(&node.node);
        let bundle = files.with_added_extension("jsonl");
        match bundles::import(self.context, self.plan, &bundle, &node.node) {
            Ok(()) => {
                let _ = std::fs::remove_file(bundle);
                self.progress.measured(&node.node, None);
                true
            }
            // it stays for the next attempt
            Err(why) if why.is::<StoreError>() => {
                self.fail(node, &why, None);
                true
            }
            Err(_) => false,
        }
    }

    fn import_ended(&mut self) -> Result<()> {
        let mut index = 0;
        while index < self.running.len() {
            let Some(status) = self.running[index].started.child.try_wait()? else {
                index += 1;
                continue;
            };
            let mut ended = self.running.remove(index);
            ended.started.wait_for_output();
            let node = ended.started.node.clone();
            let taken = match status.success() {
                true => {
                    bundles::import(self.context, self.plan, &ended.started.bundle(), &node.node)
                }
                false => Err(ended.reason(status, self.plan)),
            };
            ended.started.clean(taken.is_ok());
            let took = Some(ended.since.elapsed());
            match taken {
                Ok(()) => self.progress.measured(&node.node, took),
                Err(why) => self.fail(&node, &why, took),
            }
        }
        Ok(())
    }

    fn fail(&mut self, node: &Node, why: &anyhow::Error, took: Option<Duration>) {
        let why = format!("{why:#}");
        self.progress.failed_node(&node.node, &why, took);
    }
}

/// Whether two nodes share a rack, a switch or a hypervisor, so that they may influence each other.
fn neighbors(a: &Node, b: &Node) -> bool {
    a.neighborhood().any(|place| b.neighborhood().any(|other| other == place))
}
