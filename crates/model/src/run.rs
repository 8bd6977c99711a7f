//! A stored run: settings, machine, and every launch with its events.

use crate::{Benchmark, Commit, CustomCatalog, Event, FleetMember, Id, Machine, Peer, Skip};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Outcome of a launch. All four are stored and shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", content = "why", rename_all = "snake_case")]
#[serde(try_from = "NamedOutcome")]
pub enum Outcome {
    /// The workload said `bye`, and left no process.
    Measured,
    /// The workload cannot run here.
    Skipped(String),
    /// A call failed, the protocol was violated, a signal arrived, or processes were left behind.
    Failed(String),
    /// It exceeded its deadline.
    TimedOut(String),
}

impl Outcome {
    /// `measured`, `skipped`, `failed`, `timed_out`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Skipped(_) => "skipped",
            Self::Failed(_) => "failed",
            Self::TimedOut(_) => "timed_out",
        }
    }

    /// The reason; empty when measured.
    pub fn why(&self) -> &str {
        match self {
            Self::Measured => "",
            Self::Skipped(why) | Self::Failed(why) | Self::TimedOut(why) => why,
        }
    }
}

/// An outcome during parsing: a value that is not text is an error.
#[derive(Deserialize)]
struct NamedOutcome {
    outcome: String,
    why: Option<String>,
}

impl TryFrom<NamedOutcome> for Outcome {
    type Error = String;

    fn try_from(read: NamedOutcome) -> Result<Self, String> {
        match (read.outcome.as_str(), read.why) {
            ("measured", None) => Ok(Self::Measured),
            ("skipped", Some(why)) => Ok(Self::Skipped(why)),
            ("failed", Some(why)) => Ok(Self::Failed(why)),
            ("timed_out", Some(why)) => Ok(Self::TimedOut(why)),
            (other, _) => Err(format!("'{other}' is not an outcome, or has no reason")),
        }
    }
}

/// Contention during a launch; `None` if unknown here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conditions {
    /// Length of the launch, ns.
    pub wall: u64,
    /// CPUs of the counters: those of the launch, or all; 0 in older runs.
    #[serde(default)]
    pub cpus: u32,
    /// CPU time on these CPUs of other processes, ns.
    pub others: Option<u64>,
    /// Resolution of the counter of `others`, ns: less is indistinguishable from zero.
    pub grain: Option<u64>,
    /// Time stolen by the hypervisor from these CPUs, ns.
    pub steal: Option<u64>,
    /// Time that the cgroup was throttled by its CPU quota, ns, summed over CPUs.
    pub throttled: Option<u64>,
    /// Times that the cgroup ran into its memory limit.
    pub memory_limit: Option<u64>,
    /// Energy of the processor packages for all causes, uJ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_uj: Option<u64>,
}

/// One execution of a benchmark's process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    pub id: Id,
    /// Its round, from 0.
    pub round: u32,
    /// Start, ns since the start of the run.
    pub start: u64,
    /// CPUs; empty for all.
    pub cpus: Vec<u32>,
    /// Number of simultaneous copies. The events of each of several begin with [`crate::Param::Copy`].
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub copies: u32,
    pub outcome: Outcome,
    pub events: Vec<Event>,
    pub conditions: Conditions,
}

impl Launch {
    /// Of one copy on any CPU, the first of its benchmark.
    pub fn new(id: Id, outcome: Outcome, events: Vec<Event>) -> Self {
        Self {
            id,
            round: 0,
            start: 0,
            cpus: vec![],
            copies: 1,
            outcome,
            events,
            conditions: Conditions::default(),
        }
    }
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_one(copies: &u32) -> bool {
    *copies == 1
}

/// The program behind a result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Program {
    /// SHA-256 of the executable, hexadecimal.
    pub hash: String,
    /// Compiler and version; for a command, program and version if known.
    pub compiler: String,
    /// Compiler flags, or the command line.
    pub flags: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Settings {
    /// The selectors as given; empty if a suite was measured.
    pub selectors: Vec<String>,
    /// The suite that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<String>,
    /// Seed of the order of rounds.
    pub seed: u64,
    /// Budget, s; null without one.
    pub budget_s: Option<f64>,
    /// Target half-width of intervals, as a share of the estimate.
    pub precision: f64,
    /// Whether `--quick` was given: six launches of everything.
    pub quick: bool,
    /// Whether reference workloads are measured.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reference: bool,
    /// Directory in which files are measured.
    pub dir: String,
    pub environment: BTreeMap<String, String>,
    /// Parameters of workloads that override those of their catalog entries.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, String>,
    /// Numbers of simultaneous copies, besides one, for benchmarks that allow copies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<u32>,
    /// Least time of the SMT probe on each CPU in earlier runs of the system, as a share of the cycle probe.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub smt_floors: BTreeMap<u32, f64>,
    /// Frequency at which times are stated, GHz: that of the first run of the system in the store. Absent in the first run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_ghz: Option<f64>,
    /// Commit of the measured program; absent if none was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<Commit>,
    /// Settings that `--tune` held during the run, in words; empty without it.
    #[serde(default, rename = "steady", skip_serializing_if = "Vec::is_empty")]
    pub tuned: Vec<String>,
    /// Permitted actions that are off by default: `swap`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// Whether privileged actions were forbidden.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_privileged: bool,
    /// The A/B test of which this run is one side; `None` for any other run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<TrialSide>,
    /// Whether it is a run of an A/A test.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub noise: bool,
    /// The node of a fleet that it measured; `None` for any other run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetMember>,
    /// The host of the far ends of network benchmarks (`--peer`); `None` if they were on the measured system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<Peer>,
    /// The custom catalog of measured benchmarks; `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catalogue: Option<CustomCatalog>,
    /// Compilers that recompiled the workloads; `None` if those in the binary were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compilers: Option<Compilers>,
}

/// Compilers and flags as given; those not given are found as for a new run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Compilers {
    /// Name or path of the compiler of C.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cc: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cflags: Option<String>,
    /// Name or path of the compiler of Fortran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fc: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fflags: Option<String>,
}

/// One side of an A/B test, whose launches were interleaved with those of the other sides: launches of one round and benchmark belong
/// together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialSide {
    /// Identifier of the A/B test; all its sides have the same.
    pub trial: String,
    /// `a`, `b` and so on.
    pub side: String,
    /// Difference from the other sides, in words: a command, a compiler, a setting.
    pub what: String,
    /// Ratio within which two sides count as the same: 0.01 is 1%.
    pub margin: f64,
    /// Margins that override `margin`, by benchmark.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub margins: BTreeMap<Id, f64>,
    /// Whether both sides are known to be the same: an A/A test.
    #[serde(default)]
    pub same: bool,
    /// Whether all other sides are compared with the first, not with the best.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reference: bool,
    /// Programs that the compiler of this side built; `None` without a compiler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiled: Option<Compiled>,
}

/// Build of the workloads by a compiler.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Compiled {
    /// Version that the C compiler reports, and that of the Fortran compiler.
    pub version: String,
    /// Seconds to compile the sources, one after another; not the runtime, not linking.
    pub compile_s: f64,
    /// Text, data and bss of the objects before linking; null with link-time code generation.
    pub bytes: Option<u64>,
    pub programs: usize,
    /// Failed programs, with messages.
    pub refused: BTreeMap<String, String>,
}

/// The head of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Identifier, unique and sortable by time.
    pub id: String,
    /// The name that the user gave.
    pub label: Option<String>,
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// Seconds from start to end; `None` for an interrupted run.
    pub elapsed_s: Option<f64>,
    pub gritstone: String,
    pub machine: Machine,
    pub settings: Settings,
}

/// The program that measured, if `version` is not one of Gritstone; its settings are unknown.
pub fn other_program(version: &str) -> Option<&str> {
    let begins = version.chars().next()?;
    (!begins.is_ascii_digit()).then_some(version)
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunData {
    pub info: RunInfo,
    /// The entries at that time, in display order.
    pub benchmarks: Vec<Benchmark>,
    /// The program behind each.
    pub programs: BTreeMap<Id, Program>,
    pub skips: Vec<Skip>,
    /// Every launch, in the order of time.
    pub launches: Vec<Launch>,
}
