//! What a run or a reference system looks like to a reader: the shape of `--format json`, from which every table, page and figure
//! is made.

use crate::{
    Better, Counting, Counts, Estimate, Flag, Id, Kind, Latencies, Machine, Note, PartValue,
    Percentile, Program, Responses, Settings, Subject, Unfitted, Unit, flags,
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunView {
    /// [`SCHEMA_RUN`].
    pub schema: String,
    /// Identifier of the run, or `ref:...`.
    pub id: String,
    /// The user's name for it.
    pub label: Option<String>,
    /// Start, RFC 3339; the date of publication for a reference.
    pub started: String,
    /// Seconds that it took; null for a reference and for a run that was cut off.
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
    /// When its raw samples were pruned, RFC 3339, UTC: its results are those computed before. Absent where it has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pruned: Option<String>,
    /// One for each benchmark.
    pub results: Vec<Measurement>,
}

impl RunView {
    /// The result of a benchmark.
    #[must_use]
    pub fn get(&self, id: &Id) -> Option<&Measurement> {
        self.results.iter().find(|result| result.id == *id)
    }
}

/// Whether and how a result was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// From launches here.
    Measured,
    /// Skipped: nothing was launched, or it cannot run here.
    #[default]
    Skipped,
    /// Failed: a launch failed.
    Failed,
    /// Timed out: a launch was stopped at its deadline.
    TimedOut,
    /// A document printed it.
    Published,
}

impl Status {
    /// The word that it has in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::Published => "published",
        }
    }
}

/// The result of a benchmark: estimate, interval, notes and what they rest on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measurement {
    /// Identifier of the benchmark.
    pub id: Id,
    /// Title of the benchmark.
    pub title: String,
    /// Kind of entry.
    pub kind: Kind,
    /// Version of the entry; 0 for a reference.
    pub version: u32,
    /// Unit of `estimate`, `interval`, `statistics` and `values`.
    pub unit: Unit,
    /// Which direction is better.
    pub better: Better,
    /// Whether and how it was measured.
    pub outcome: Status,
    /// The estimate; `None` when there is none.
    #[serde(flatten, with = "crate::estimate::estimate")]
    #[schemars(with = "crate::estimate::estimate::Keys")]
    pub estimate: Option<Estimate>,
    /// Confidence level of the interval.
    pub confidence: Option<f64>,
    /// Core cycles an operation.
    #[serde(flatten, with = "crate::estimate::cycles")]
    #[schemars(with = "crate::estimate::cycles::Keys")]
    pub cycles: Option<Estimate>,
    /// Frequency at which it ran, by the cycle probe.
    pub ghz: Option<f64>,
    /// Launches that were measured.
    pub launches: usize,
    /// Samples in them.
    pub samples: usize,
    /// Flags and notes.
    pub notes: Vec<Note>,
    /// Over launches, or over events for a distribution.
    pub statistics: Option<Statistics>,
    /// Operations that were timed one by one; null where none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latencies: Option<Latencies>,
    /// Response times by number of users and kind of transaction; empty without users.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub responses: Vec<Responses>,
    /// The curve of which this benchmark is the last point.
    pub series: Option<Vec<SeriesPoint>>,
    /// What is counted along the x of `series`.
    #[serde(default)]
    pub series_label: Option<String>,
    /// Copies of it at once; null where only one was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copies: Option<CopiesView>,
    /// Page faults that waited for a device, for each page that was touched; null where the work is not paging.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults_per_page: Option<f64>,
    /// What was counted of an operation: median over launches.
    #[serde(default, skip_serializing_if = "Counts::is_empty")]
    pub counters: Counts<f64>,
    /// The reference workload: the amount of work of the document.
    pub published: Option<PublishedView>,
    /// The program behind it.
    pub program: Option<Program>,
    /// What was measured: page cache, file system, device; null where the title says it.
    #[serde(default)]
    pub measured: Option<String>,
    /// Parts of the estimate: text, data and bss of a program, pairs of CPUs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartValue>,
    /// Names that belong to the result (symbols that the shortest program links).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Whether core cycles compare better than nanoseconds.
    #[serde(default)]
    pub processor_bound: bool,
    /// Variance between runs of its system, on which comparisons rest; absent when not requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_runs: Option<OfRuns>,
    /// One value a launch, in `unit`, in the order of time.
    #[serde(default)]
    pub values: Vec<f64>,
    /// The same in core cycles per operation; empty without a cycle probe.
    #[serde(default)]
    pub paced_values: Vec<f64>,
}

/// Variance of a result between the earlier runs of its system.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OfRuns {
    /// How many they are.
    pub runs: usize,
    /// What a comparison uses: core cycles or the estimate.
    pub compared: Subject,
    /// Half-width of the 95% interval over runs of its system, as a share of the estimate; null before there are five runs.
    pub half_width: Option<f64>,
}

impl Measurement {
    /// Without an estimate and without notes.
    #[must_use]
    pub fn new(id: Id, kind: Kind, unit: Unit, better: Better) -> Self {
        Self {
            title: id.to_string(),
            id,
            kind,
            version: 0,
            unit,
            better,
            outcome: Status::Skipped,
            estimate: None,
            confidence: None,
            cycles: None,
            ghz: None,
            launches: 0,
            samples: 0,
            notes: Vec::new(),
            statistics: None,
            latencies: None,
            responses: Vec::new(),
            series: None,
            series_label: None,
            copies: None,
            faults_per_page: None,
            counters: Counts::new(),
            published: None,
            program: None,
            measured: None,
            parts: Vec::new(),
            names: Vec::new(),
            processor_bound: false,
            of_runs: None,
            values: Vec::new(),
            paced_values: Vec::new(),
        }
    }

    /// The value of the estimate.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        self.estimate.map(|estimate| estimate.value)
    }

    /// Its interval.
    #[must_use]
    pub fn interval(&self) -> Option<[f64; 2]> {
        self.estimate.and_then(|estimate| estimate.interval)
    }

    /// Whether a document printed it.
    #[must_use]
    pub fn is_published(&self) -> bool {
        self.outcome == Status::Published
    }

    /// Whether a flag is raised that concerns a part of it.
    #[must_use]
    pub fn has(&self, flag: Flag, about: Subject) -> bool {
        let mut notes = self.notes.iter();
        notes.any(|note| note.flag() == Some(flag) && note.about.concerns(about))
    }

    /// Whether a flag is raised on the result as a whole.
    #[must_use]
    pub fn is(&self, flag: Flag) -> bool {
        self.has(flag, Subject::Result)
    }

    /// The notes on the result as a whole.
    pub fn own_notes(&self) -> impl Iterator<Item = &Note> {
        let own = |note: &&Note| note.about == Subject::Result;
        self.notes.iter().filter(own)
    }

    /// The flags that count against the estimate, each once: not those of a process time, say.
    #[must_use]
    pub fn flags_of_estimate(&self) -> Vec<Flag> {
        let notes = self.notes.iter();
        let concern = notes.filter(|note| note.about.concerns(Subject::Estimate));
        flags(&concern.cloned().collect::<Vec<_>>())
    }

    /// All flags, each once.
    #[must_use]
    pub fn flags(&self) -> Vec<Flag> {
        flags(&self.notes)
    }
}

/// The reference workload: the amount of work of the document, measured whole and never multiplied.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedView {
    /// In words.
    pub work: String,
    /// Operations of a workload of Gritstone; null when they are not counted.
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
    /// User and system time together, s, where a document does not separate them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_s: Option<f64>,
    /// The whole process as time(1) sees it, s.
    #[serde(flatten, with = "crate::estimate::process")]
    #[schemars(with = "crate::estimate::process::Keys")]
    pub process: Option<Estimate>,
    /// Share of `process_s` that is not the work; a hair below 0 where the start of the process is lost in the noise.
    #[serde(default)]
    pub start_share: Option<f64>,
    /// `real_s` of each launch.
    #[serde(default)]
    pub values: Vec<f64>,
}

/// Over launches; where operations were timed one by one, over these, with the median and the percentiles of [`Latencies`]. In the unit
/// of the result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Statistics {
    /// Smallest.
    pub min: f64,
    /// Median.
    pub median: f64,
    /// Mean; null where a document does not print it.
    #[serde(default)]
    pub mean: Option<f64>,
    /// Largest.
    pub max: f64,
    /// Standard deviation; null where a document does not print it.
    #[serde(default)]
    pub sd: Option<f64>,
    /// By name: "p90", "p99", "p99.9".
    #[serde(default)]
    pub percentiles: BTreeMap<String, f64>,
    /// Change from the first launch to the last by the Theil-Sen slope, as a share of the estimate.
    #[serde(default)]
    pub drift: Option<f64>,
    /// Groups into which the launches fall.
    #[serde(default)]
    pub modes: Option<usize>,
}

impl Statistics {
    /// The share of events at or below a percentile, in percent, by its name: 99.9 of `p99.9`.
    #[must_use]
    pub fn percent(name: &str) -> Option<f64> {
        name.strip_prefix('p')?.parse().ok()
    }
}

/// A point of a curve.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeriesPoint {
    /// Where along x.
    pub x: f64,
    /// The estimate; `None` where it is missing.
    #[serde(flatten, with = "crate::estimate::estimate")]
    #[schemars(with = "crate::estimate::estimate::Keys")]
    pub estimate: Option<Estimate>,
    /// CPUs in use, CPU time over real time, where x is users or jobs at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<f64>,
    /// Percentiles of the response times of its users, ms; empty without users.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub responses: Vec<Percentile>,
    /// Percentiles of its operations, in the unit of the result; empty where they were not timed one by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub percentiles: Vec<Percentile>,
}

/// A benchmark measured as one copy and as several at once. A copy's rate is all its work over all its time, so that the
/// first point may differ a little from the estimate of the benchmark.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CopiesView {
    /// One for each number of copies, from the fewest.
    pub points: Vec<CopiesPoint>,
    /// The Universal Scalability Law through them; null where `unfitted` says why there is none.
    pub law: Option<LawView>,
    /// Why no law was fitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfitted: Option<Unfitted>,
}

/// A number of simultaneous copies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CopiesPoint {
    /// How many.
    pub copies: u32,
    /// Of all together, in the unit of the row: the sum of their rates; of times, time an operation of any of them.
    #[serde(flatten, with = "crate::estimate::total")]
    #[schemars(with = "crate::estimate::total::Keys")]
    pub total: Option<Estimate>,
    /// Value per copy: a share of the total rate; for times, the time per operation.
    pub per_copy: Option<f64>,
    /// Total rate over that of so many times one copy, from the rounds in which both were measured; 1 for one.
    #[serde(flatten, with = "crate::estimate::efficiency")]
    #[schemars(with = "crate::estimate::efficiency::Keys")]
    pub efficiency: Option<Estimate>,
    /// `total` of each launch, in the order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<f64>,
    /// `efficiency` of each round in which both were measured; empty for one copy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub efficiencies: Vec<f64>,
    /// Launches that were measured.
    pub launches: usize,
    /// Samples of all copies in them.
    pub samples: usize,
    /// Flags and notes.
    pub notes: Vec<Note>,
}

/// The Universal Scalability Law: N copies do gN / (1 + a(N-1) + bN(N-1)) operations per second; each estimate with its
/// interval, whose ends may be open.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LawView {
    /// g, operations a second of one copy.
    pub one: f64,
    /// Interval of `one`.
    pub one_interval: [Option<f64>; 2],
    /// a, the share that waits for others.
    pub contention: f64,
    /// Interval of `contention`.
    pub contention_interval: [Option<f64>; 2],
    /// b, what each pair costs.
    pub coherence: f64,
    /// Interval of `coherence`.
    pub coherence_interval: [Option<f64>; 2],
    /// Copies with the highest total rate; null when no peak was seen.
    pub peak: Option<f64>,
    /// Interval of `peak`.
    pub peak_interval: Option<[Option<f64>; 2]>,
    /// 1/a, where the asymptotes of the rate cross; null when the interval of a holds 0.
    pub knee: Option<f64>,
    /// What the law predicts from one copy to the largest measured number, in the unit of the benchmark.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<SeriesPoint>,
}
