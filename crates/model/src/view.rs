//! A run or a reference system: the type of `--format json`.

use crate::{
    Counting, Estimate, Id, Machine, Measurement, Note, Percentile, Settings, Subject, Unfitted,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Name and version of the schema of [`RunView`].
pub const SCHEMA_RUN: &str = "gritstone/run/2";

/// Name and version of the schema of `list`.
pub const SCHEMA_LIST: &str = "gritstone/list/2";
/// The same of `systems`.
pub const SCHEMA_SYSTEMS: &str = "gritstone/systems/2";
/// The same of `doctor`.
pub const SCHEMA_DOCTOR: &str = "gritstone/doctor/3";

/// A run or a reference system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunView {
    /// [`SCHEMA_RUN`].
    pub schema: String,
    /// Identifier of the run, or `ref:...`.
    pub id: String,
    /// The user's name for it.
    pub label: Option<String>,
    /// Start, RFC 3339; the date of publication for a reference.
    pub started: String,
    /// Duration, s; null for a reference and for an interrupted run.
    #[serde(default)]
    pub elapsed_s: Option<f64>,
    /// Version of Gritstone that measured.
    #[serde(default)]
    pub gritstone: Option<String>,
    /// The measured system.
    pub machine: Machine,
    /// Settings; null for a reference.
    #[serde(default)]
    pub settings: Option<Settings>,
    /// Hardware counters that its launches could use; null for a reference.
    #[serde(default)]
    pub counting: Option<Counting>,
    /// Least time of the SMT probe on each CPU without a busy SMT sibling, as a share of the cycle probe; empty without SMT.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub smt_floors: BTreeMap<u32, f64>,
    /// Frequency at which times are stated, GHz; absent without a cycle probe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_ghz: Option<f64>,
    /// Contention during the run; absent without a cycle probe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contention: Option<Contention>,
    /// When its raw samples were pruned, RFC 3339, UTC: its results were computed before. Absent if it has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pruned: Option<String>,
    /// One for each benchmark.
    pub results: Vec<Measurement>,
}

/// Contention of a machine during a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Contention {
    /// Share by which launches were slower than the estimates: median over launches.
    pub slowdown: f64,
    /// 10th and 90th percentile of the slowdown.
    pub between: [f64; 2],
    /// Share of the samples during which a sibling of the core was busy; null if no launch could tell.
    pub siblings_busy: Option<f64>,
    /// Steal time, as a share; null if the system does not report it.
    pub steal: Option<f64>,
    /// Median slowdown in up to 20 parts of the run, in the order of time; empty with few launches.
    #[serde(default)]
    pub course: Vec<f64>,
}

impl RunView {
    /// The result of a benchmark.
    pub fn get(&self, id: &Id) -> Option<&Measurement> {
        self.results.iter().find(|result| result.id == *id)
    }

    /// A side of a trial, which no history includes.
    pub fn is_side(&self) -> bool {
        let settings = self.settings.as_ref();
        settings.is_some_and(|settings| settings.trial.is_some())
    }

    /// Whether the run was interrupted, or is still measuring.
    pub fn is_unfinished(&self) -> bool {
        self.settings.is_some() && self.elapsed_s.is_none()
    }

    /// Interrupted, or ended by its budget before everything was measured.
    pub fn is_partial(&self) -> bool {
        self.elapsed_s.is_none() || self.results.iter().any(Measurement::is_unreached)
    }
}

/// The reference workload: the amount of work of the document, measured in full, never extrapolated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedView {
    /// In words, such as `25,000 calls`.
    pub work: String,
    /// Operations of a workload of Gritstone; null if they are not counted.
    #[serde(default)]
    pub operations: Option<u64>,
    /// The time that the document compares.
    #[serde(default)]
    pub figure: Subject,
    /// Wall time of the work as one batch, s.
    #[serde(flatten, with = "crate::estimate::real")]
    #[schemars(with = "crate::estimate::real::Keys")]
    pub real: Option<Estimate>,
    /// User time, s; null below 100 ticks of work.
    #[serde(flatten, with = "crate::estimate::user")]
    #[schemars(with = "crate::estimate::user::Keys")]
    pub user: Option<Estimate>,
    /// System time, s; null below 100 ticks of work.
    #[serde(flatten, with = "crate::estimate::system")]
    #[schemars(with = "crate::estimate::system::Keys")]
    pub system: Option<Estimate>,
    /// User and system time together, s, if a document does not separate them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_s: Option<f64>,
    /// The whole process as time(1) sees it, s.
    #[serde(flatten, with = "crate::estimate::process")]
    #[schemars(with = "crate::estimate::process::Keys")]
    pub process: Option<Estimate>,
    /// Share of `process_s` that is not the work; may be slightly negative if start-up is within the noise.
    #[serde(default)]
    pub start_share: Option<f64>,
    /// `real_s` of each launch.
    #[serde(default)]
    pub values: Vec<f64>,
}

/// Over launches; for operations timed one by one, over operations, with the median and the percentiles of [`Latencies`]. In the unit of
/// the result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Statistics {
    /// Smallest.
    pub min: f64,
    /// Middle value.
    pub median: f64,
    /// Mean; null if a document does not print it.
    #[serde(default)]
    pub mean: Option<f64>,
    /// Largest.
    pub max: f64,
    /// Standard deviation; null if a document does not print it.
    #[serde(default)]
    pub sd: Option<f64>,
    /// By name: "p90", "p99", "p99.9".
    #[serde(default)]
    pub percentiles: BTreeMap<String, f64>,
    /// Change from the first launch to the last by the Theil-Sen slope, as a share of the estimate.
    #[serde(default)]
    pub drift: Option<f64>,
    /// Modes of the launches.
    #[serde(default)]
    pub modes: Option<usize>,
}

impl Statistics {
    /// The share of events at or below a percentile, in percent, by its name: 99.9 of `p99.9`.
    pub fn percent(name: &str) -> Option<f64> {
        name.strip_prefix('p')?.parse().ok()
    }
}

/// A point of a curve.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeriesPoint {
    /// Position on the x axis.
    pub x: f64,
    /// The estimate; `None` if it is missing.
    #[serde(flatten, with = "crate::estimate::estimate")]
    #[schemars(with = "crate::estimate::estimate::Keys")]
    pub estimate: Option<Estimate>,
    /// CPUs in use, CPU time over real time, if x is simultaneous users or jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<f64>,
    /// Percentiles of the response times of its users, ms; empty without users.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub responses: Vec<Percentile>,
    /// Percentiles of its operations, in the unit of the result; empty unless they were timed one by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub percentiles: Vec<Percentile>,
}

/// A benchmark measured as one copy and as several. A copy's rate is its total work over its total time, so that the first point may differ
/// a little from the estimate of the benchmark.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CopiesView {
    /// One for each number of copies, in ascending order.
    pub points: Vec<CopiesPoint>,
    /// The Universal Scalability Law through the points; null if `unfitted` gives a reason.
    pub law: Option<LawView>,
    /// Why no law was fitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfitted: Option<Unfitted>,
}

/// A number of simultaneous copies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CopiesPoint {
    /// Number of copies.
    pub copies: u32,
    /// Total in the unit of the benchmark: the sum of rates; for times, the time per operation of any copy.
    #[serde(flatten, with = "crate::estimate::total")]
    #[schemars(with = "crate::estimate::total::Keys")]
    pub total: Option<Estimate>,
    /// Value per copy: a share of the total rate; for times, the time per operation.
    pub per_copy: Option<f64>,
    /// Total rate relative to n times one copy, from the rounds in which both were measured; 1 for one copy.
    #[serde(flatten, with = "crate::estimate::efficiency")]
    #[schemars(with = "crate::estimate::efficiency::Keys")]
    pub efficiency: Option<Estimate>,
    /// `total` of each launch, in the order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<f64>,
    /// `efficiency` of each round in which both were measured; empty for one copy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub efficiencies: Vec<f64>,
    /// Number of measured launches.
    pub launches: usize,
    /// Number of samples of all copies in them.
    pub samples: usize,
    /// Flags and notes.
    pub notes: Vec<Note>,
}

/// The Universal Scalability Law: N copies do gN / (1 + a(N-1) + bN(N-1)) operations per second; each estimate has an interval, whose ends
/// may be open.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LawView {
    /// g, operations per second of one copy.
    pub one: f64,
    /// Interval of `one`.
    pub one_interval: [Option<f64>; 2],
    /// a, the share that waits for others.
    pub contention: f64,
    /// Interval of `contention`.
    pub contention_interval: [Option<f64>; 2],
    /// b, cost of each pair.
    pub coherence: f64,
    /// Interval of `coherence`.
    pub coherence_interval: [Option<f64>; 2],
    /// Copies with the highest total rate; null when no peak was seen.
    pub peak: Option<f64>,
    /// Interval of `peak`.
    pub peak_interval: Option<[Option<f64>; 2]>,
    /// 1/a, where the asymptotes of the rate cross; null when the interval of a includes 0.
    pub knee: Option<f64>,
    /// Prediction from one copy to the largest measured number, in the unit of the benchmark.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<SeriesPoint>,
}
