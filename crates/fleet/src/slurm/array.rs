//! The tasks of an array of jobs, while they are followed.

use super::Queued;
use super::tools::{self, State};
use crate::host::Node;
use crate::plan::Plan;
use crate::progress::Progress;
use anyhow::Result;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::time::{Duration, Instant};

/// Interval of checks for nodes that died while their tasks wait: dead in two of them.
const ASK_FOR_NODES: Duration = Duration::from_secs(30);
/// Shortest interval between reports of the queue's state.
const SAY: Duration = Duration::from_secs(60);

/// Tasks with the state that was last reported.
pub(super) struct Array {
    pub(super) job: String,
    pub(super) waiting: BTreeMap<usize, Node>,
    pub(super) began: BTreeMap<usize, Instant>,
    pub(super) ended: BTreeMap<usize, Instant>,
    pub(super) progress: Progress,
    /// Time of the last check for dead nodes.
    asked: Instant,
    /// Nodes that it found dead.
    dead: BTreeSet<String>,
    /// The last report, and its time.
    said: (String, Option<Instant>),
}

impl Array {
    pub(super) fn new(queued: &Queued, progress: Progress) -> Self {
        Self {
            job: queued.job.clone(),
            waiting: queued.nodes.iter().cloned().enumerate().collect(),
            began: BTreeMap::new(),
            ended: BTreeMap::new(),
            progress,
            asked: Instant::now(),
            dead: BTreeSet::new(),
            said: (String::new(), None),
        }
    }

    pub(super) fn runs(&mut self, task: usize, node: &str) {
        if let Entry::Vacant(place) = self.began.entry(task) {
            place.insert(Instant::now());
            self.progress.started(node);
        }
    }

    fn took(&self, task: usize) -> Option<Duration> {
        self.began.get(&task).map(Instant::elapsed)
    }

    pub(super) fn take(&mut self, task: usize, taken: Result<()>) {
        match taken {
            Ok(()) => {
                let took = self.took(task);
                if let Some(node) = self.waiting.remove(&task) {
                    self.progress.measured(&node.node, took);
                }
            }
            Err(why) => self.skip(task, &format!("{why:#}")),
        }
    }

    pub(super) fn skip(&mut self, task: usize, why: &str) {
        let took = self.took(task);
        if let Some(node) = self.waiting.remove(&task) {
            self.progress.failed_node(&node.node, why, took);
        }
    }

    /// Nodes that died while their tasks wait, and why.
    pub(super) fn dead_nodes(
        &mut self,
        plan: &Plan,
        states: &BTreeMap<usize, State>,
    ) -> BTreeMap<String, String> {
        let mut pending = states.values().filter(|state| matches!(state, State::Pending(_)));
        if self.asked.elapsed() < ASK_FOR_NODES || pending.next().is_none() {
            return BTreeMap::new();
        }
        self.asked = Instant::now();
        let known = tools::nodes(plan.slurm.partition.as_deref()).unwrap_or_default();
        let dead: BTreeMap<String, String> = known
            .into_iter()
            .filter_map(|node| Some((node.name.clone(), node.unusable()?)))
            .collect();
        let before = mem::replace(&mut self.dead, dead.keys().cloned().collect());
        let twice = dead.into_iter().filter(|(node, _)| before.contains(node));
        twice.collect()
    }

    /// Reports how many tasks run and wait, and for what.
    pub(super) fn report(&mut self, states: &BTreeMap<usize, State>) {
        let of_waiting = self.waiting.keys().filter_map(|task| states.get(task));
        let mut running = 0;
        let mut pending: BTreeMap<&str, usize> = BTreeMap::new();
        for state in of_waiting {
            match state {
                State::Running => running += 1,
                State::Pending(why) => *pending.entry(why).or_default() += 1,
                State::Ended(_) => {}
            }
        }
        let why: Vec<String> = pending.iter().map(|(why, n)| format!("{n} {why}")).collect();
        if !self.waiting.is_empty() && running + pending.len() > 0 {
            let waiting: usize = pending.values().sum();
            let why = match why.is_empty() {
                true => String::new(),
                false => format!(" ({})", why.join(", ")),
            };
            self.log_report(&format!(
                "job {}: {running} measuring, {waiting} waiting{why}",
                self.job
            ));
        }
    }

    /// Prints a report, unless it repeats the last one or follows it too soon.
    pub(super) fn log_report(&mut self, text: &str) {
        let (last, when) = &self.said;
        if last != text && when.is_none_or(|when| when.elapsed() > SAY) {
            log::info!("{text}");
            self.said = (text.to_owned(), Some(Instant::now()));
        }
    }
}
