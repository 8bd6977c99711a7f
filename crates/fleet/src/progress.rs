//! Progress of a fleet run: reported as nodes end, and written beside the plan for readers such as `gritstone serve`.

use super::lock;
use super::plan::{self, Plan};
use anyhow::Result;
use gritstone_model::{FleetNodeProgress, FleetNodeState, FleetProgress};
use gritstone_report::duration;
use gritstone_runs::context::Context;
use gritstone_store::{Member, Store};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

const FILE: &str = "progress.json";

/// State of the nodes that the store does not have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeStates {
    /// Nodes that are measuring.
    pub measuring: BTreeSet<String>,
    /// Failed nodes with the reason.
    pub failed: BTreeMap<String, String>,
}

impl NodeStates {
    /// Empty without a file.
    fn read(folder: &Path) -> Result<Self> {
        let text = gritstone_files::read_owned_text(folder, FILE)?;
        Ok(match text {
            Some(text) => serde_json::from_str(&text)?,
            None => Self::default(),
        })
    }

    /// Writes the file. Errors are ignored: the fleet run goes on.
    pub fn write(&self, folder: &Path) {
        let text = serde_json::to_string(self).map_err(anyhow::Error::from);
        let written = text.and_then(|text| {
            gritstone_runs::output_file::write(&folder.join(FILE), text.as_bytes())
        });
        if let Err(why) = written {
            log::info!("others cannot follow this fleet: {why:#}");
        }
    }
}

/// Reports nodes as they end.
pub struct Progress {
    folder: PathBuf,
    all: usize,
    done: usize,
    known: NodeStates,
}

impl Progress {
    /// For `all` nodes of the plan in `folder`; `failed` were excluded before.
    pub fn new(folder: &Path, all: usize, failed: BTreeMap<String, String>) -> Self {
        Self {
            folder: folder.to_owned(),
            all,
            done: 0,
            known: NodeStates { failed, ..NodeStates::default() },
        }
    }

    /// Failed nodes with the reason.
    pub fn failed(&self) -> &BTreeMap<String, String> {
        &self.known.failed
    }

    pub fn started(&mut self, node: &str) {
        self.known.measuring.insert(node.to_owned());
        self.known.write(&self.folder);
    }

    /// Reports a measured node, with its time if known.
    pub fn measured(&mut self, node: &str, took: Option<Duration>) {
        self.ended(node);
        let took =
            took.map_or(String::new(), |took| format!(" in {}", duration(took.as_secs_f64())));
        let (done, all) = (self.done, self.all);
        log::info!("{node}: measured{took} ({done} of {all})");
    }

    /// Reports a failed node, with its time if it had begun.
    pub fn failed_node(&mut self, node: &str, why: &str, took: Option<Duration>) {
        self.known.failed.insert(node.to_owned(), why.to_owned());
        self.ended(node);
        let after =
            took.map_or(String::new(), |took| format!(" after {}", duration(took.as_secs_f64())));
        let (done, all) = (self.done, self.all);
        log::info!("{node}: failed{after} ({done} of {all}): {why}");
    }

    fn ended(&mut self, node: &str) {
        self.done += 1;
        self.known.measuring.remove(node);
        self.known.write(&self.folder);
    }
}

/// Progress of the newest fleet run if it lacks nodes: the one that is being measured on this machine, else that of the newest run of a
/// node. Its nodes are in the plan, if that is here; otherwise their number is in the runs.
///
/// # Errors
/// When the store cannot be read.
pub fn newest(context: &Context, store: Option<&Store>) -> Result<Option<FleetProgress>> {
    let members = store.map_or(Ok(vec![]), Store::members)?;
    let measured = plan::measured(context);
    let newest = members.first().map(|member| member.member.fleet.as_str());
    let Some(fleet) = measured.as_ref().map(|plan| plan.fleet.as_str()).or(newest) else {
        return Ok(None);
    };
    let members: Vec<&Member> =
        members.iter().filter(|member| member.member.fleet == fleet).collect();
    let planned = match &measured {
        Some(plan) => Some(plan.clone()),
        // a plan of another user is not used
        None => Plan::find(context, Some(fleet)).ok().filter(|plan| plan.fleet == fleet),
    };
    let progress = match planned {
        Some(plan) => planned_progress(context, &plan, &members)?,
        None => unplanned_progress(fleet, &members),
    };
    Ok(Some(progress).filter(|progress| {
        progress.nodes.len() < progress.of
            || progress.nodes.iter().any(FleetNodeProgress::is_missing)
    }))
}

fn planned_progress(context: &Context, plan: &Plan, members: &[&Member]) -> Result<FleetProgress> {
    let folder = plan.folder(context)?;
    let (is_measured, known) = (lock::is_held(&folder), NodeStates::read(&folder)?);
    let node = |name: &String| {
        let run = members.iter().find(|member| member.ended && member.member.node == *name);
        let why = known.failed.get(name).cloned();
        let state = match (run, &why) {
            (Some(_), _) => FleetNodeState::Done,
            (None, Some(_)) => FleetNodeState::Failed,
            _ if is_measured && known.measuring.contains(name) => FleetNodeState::Measuring,
            _ => FleetNodeState::Missing,
        };
        FleetNodeProgress {
            node: name.clone(),
            state,
            run: run.map(|member| member.run.clone()),
            why: why.filter(|_| run.is_none()),
        }
    };
    Ok(FleetProgress {
        fleet: plan.fleet.clone(),
        of: plan.nodes.len(),
        ended: !is_measured,
        nodes: plan.nodes.iter().map(|planned| node(&planned.node)).collect(),
    })
}

/// Without the plan: more runs may come.
fn unplanned_progress(fleet: &str, members: &[&Member]) -> FleetProgress {
    let mut nodes: BTreeMap<&str, &Member> = BTreeMap::new();
    for member in members {
        let known = nodes.entry(&member.member.node).or_insert(member);
        if member.ended && !known.ended {
            *known = member;
        }
    }
    let node = |(name, member): (&str, &Member)| FleetNodeProgress {
        node: name.to_owned(),
        state: match member.ended {
            true => FleetNodeState::Done,
            false => FleetNodeState::Measuring,
        },
        run: Some(member.run.clone()),
        why: None,
    };
    let size = members.iter().filter_map(|member| member.member.of).max();
    FleetProgress {
        fleet: fleet.to_owned(),
        of: size.map_or(0, |size| size as usize).max(nodes.len()),
        ended: false,
        nodes: nodes.into_iter().map(node).collect(),
    }
}
