//! The part of a run that fleet reports need: small enough for ten thousand in memory.

use crate::{conversion, run_summary};
use gritstone_model::{Better, Event, Flag, Id, Measurement, RunData, RunView, Status, Unit};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Most inputs of a benchmark whose check values are kept.
const MAX_INPUTS: usize = 8;
/// Facts that name or count a node: unique per node, or changing by themselves.
const NODE_FACTS: [&str; 2] = ["host.name", "dir.mount_point"];

/// A run of a node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeRun {
    pub run: String,
    /// Its start, RFC 3339, UTC.
    pub started: String,
    pub node: String,
    /// Identifier of the machine: a replaced node keeps its name.
    pub machine: String,
    pub place: BTreeMap<String, String>,
    pub facts: BTreeMap<String, String>,
    pub results: BTreeMap<Id, NodeResult>,
}

/// A result on a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeResult {
    pub version: u32,
    /// Hash of the program; empty if there is none.
    pub program: String,
    pub unit: Unit,
    pub better: Better,
    /// The estimate in clock time, not at the reference frequency of the machine: a node at a lower frequency is slow; 0 without one.
    pub estimate: f64,
    /// ln(speed); `None` where the result is not valid.
    pub speed: Option<f64>,
    /// Variance of it, from the launches.
    pub within: f64,
    /// Whether there was interference.
    pub interference: bool,
    /// Check values, each input and value once.
    pub checks: Vec<CheckValue>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckValue {
    pub n: u64,
    pub got: u64,
    pub expected: u64,
    /// The CPU, for a launch on one CPU.
    pub cpu: Option<u32>,
}

impl NodeResult {
    /// Version and parameters: results of other work are not compared.
    pub fn work(&self) -> (u32, &str) {
        (self.version, &self.program)
    }

    fn new(result: &Measurement, reference_ghz: Option<f64>, checks: Vec<CheckValue>) -> Self {
        let fit = |x: &f64| x.is_finite() && *x > 0.0;
        let ghz = result.ghz().zip(reference_ghz).map(<[f64; 2]>::from);
        let to_clock = conversion::to_reference(result, &result.unit, ghz);
        let estimate = result.value().map(|x| x * to_clock).filter(fit);
        let counts = result.outcome() == Status::Measured
            && !result.is_flagged(Flag::Invalid)
            && result.interval().is_none_or(|[low, _]| low > 0.0);
        let speed = estimate.filter(|_| counts).map(|x| result.better.log_speed(x));
        Self {
            version: result.version,
            program: run_summary::program(result).to_owned(),
            unit: result.unit.clone(),
            better: result.better,
            estimate: estimate.unwrap_or(0.0),
            speed,
            within: run_summary::launch_variance(result.interval()),
            interference: result.is_flagged(Flag::Interference),
            checks,
        }
    }
}

impl NodeRun {
    /// A run as that of a node: by its fleet, else by the host name of the machine, else by the machine.
    pub fn new(run: &RunData, view: &RunView) -> Self {
        Self::with_checks(view, checks(run))
    }

    /// The same without check values, which a view lacks.
    pub fn without_checks(view: &RunView) -> Self {
        Self::with_checks(view, BTreeMap::new())
    }

    fn with_checks(view: &RunView, mut checks: BTreeMap<Id, Vec<CheckValue>>) -> Self {
        let member = view.settings.as_ref().and_then(|settings| settings.fleet.clone());
        let member = member.unwrap_or_default();
        let named = [&member.node].into_iter().filter(|name| !name.is_empty());
        let host = view.machine.facts.get("host.name");
        // the host name of many machines
        let mut names = named.chain(host.filter(|name| *name != "localhost"));
        let results = view.results.iter().filter(|result| run_summary::varies(result));
        let result = |result: &Measurement| {
            let checks = checks.remove(&result.id).unwrap_or_default();
            (result.id.clone(), NodeResult::new(result, view.reference_ghz, checks))
        };
        let mut facts = view.machine.facts.clone();
        facts.retain(|name, _| !NODE_FACTS.contains(&name.as_str()));
        Self {
            run: view.id.clone(),
            started: view.started.clone(),
            node: names.next().unwrap_or(&view.machine.id).clone(),
            machine: view.machine.id.clone(),
            place: member.place,
            facts,
            results: results.map(result).collect(),
        }
    }
}

/// The check values of each benchmark: all that the workload itself refutes, and a few others.
fn checks(run: &RunData) -> BTreeMap<Id, Vec<CheckValue>> {
    let mut all: BTreeMap<Id, Vec<CheckValue>> = BTreeMap::new();
    for launch in &run.launches {
        let cpu = match launch.cpus.as_slice() {
            [cpu] => Some(*cpu),
            _ => None,
        };
        for event in &launch.events {
            let Event::Check(check) = event else { continue };
            let known = all.entry(launch.id.clone()).or_default();
            let value = CheckValue { n: check.n, got: check.got, expected: check.expected, cpu };
            let same = |other: &CheckValue| (other.n, other.got) == (value.n, value.got);
            if !known.iter().any(same) && known.len() < MAX_INPUTS {
                known.push(value);
            }
        }
    }
    all
}
