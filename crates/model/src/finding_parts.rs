//! Parts of findings: counts, loads, interference, reasons.

use crate::{Cache, Id};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Author {
    /// The catalog entry.
    Catalog,
    /// The workload, or its setup.
    Workload,
    /// The document that published the result.
    Document,
    /// The transcriber of the document.
    Reader,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Repeat {
    /// Processes.
    Launch,
    /// Passes over several benchmarks.
    Round,
    /// Timed regions of a launch.
    Sample,
}

/// A part of a count: 3 of 8 launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Count {
    pub part: usize,
    pub of: usize,
    pub what: Repeat,
}

impl Count {
    pub fn launches(part: usize, total: usize) -> Self {
        let what = Repeat::Launch;
        Self { part, of: total, what }
    }

    pub fn samples(part: usize, total: usize) -> Self {
        let what = Repeat::Sample;
        Self { part, of: total, what }
    }

    pub fn rounds(part: usize, total: usize) -> Self {
        let what = Repeat::Round;
        Self { part, of: total, what }
    }
}

/// Interference, the worst over the launches.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Interference {
    /// Other processes on the CPUs of the launch: a share of the time of these.
    Others(f64),
    /// Steal time of the hypervisor: a share of the time.
    Steal(f64),
    /// Throttled by the CPU quota: a share of the time.
    Throttled(f64),
    /// Times that the memory limit was reached.
    MemoryLimit(u64),
    /// Another thread of the core was busy.
    Smt,
    /// Another run of Gritstone measured on this machine: its process, 0 if unknown.
    OtherRun(u32),
}

/// Rate of a load program during a benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadRate {
    /// Units of work per hour.
    pub per_hour: f64,
    /// The unit of work, in the program's words.
    pub what: String,
}

/// Why a difference is below zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NegativeBecause {
    /// Its parts had interference.
    Interference,
    /// There are too few rounds for an interval.
    TooFew,
    /// A part does not do its work.
    Work,
}

/// Why a score is missing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Withheld {
    /// No benchmarks to score by.
    Empty,
    /// The baseline is unknown.
    NoBaseline,
    /// The baseline has no result that is comparable.
    NotComparable,
    Missing(Vec<Part>),
    /// The baseline has no comparable result of these.
    Uncovered(Vec<Part>),
    /// These have too many launches.
    TooMany(Vec<Part>),
    /// A work check of these failed.
    Invalid(Vec<Part>),
    /// These have a value, a reference or a weight that is not above 0.
    NotPositive(Vec<Part>),
}

/// A part of a result, or a benchmark that a result is derived from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Code of a program, bytes.
    Text,
    /// Its initialized data, bytes.
    Data,
    /// Its zeroed data, bytes.
    Bss,
    Cpus(u32, u32),
    /// CPU time per operation of the client of a database: the mean.
    ClientCpu,
    /// The same for the server process of the client.
    ServerCpu,
    /// The score without this benchmark.
    Without(Id),
    /// Ratio of this benchmark to the baseline.
    RatioOf(Id),
    Benchmark(Id),
}

/// A part with its value, in the unit of the result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PartValue {
    pub part: Part,
    pub value: f64,
}

/// A rise of a curve beyond its noise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rise {
    /// Start of the rise, x.
    pub from: f64,
    /// End of the rise, x.
    pub to: f64,
    /// Factor of the rise.
    pub factor: f64,
    /// The cache that ends there; null if the system reports none of that size.
    pub cache: Option<Cache>,
}

/// Why no law of scaling was fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unfitted {
    /// Too few numbers of copies.
    Sizes {
        /// Numbers of copies that were measured.
        sizes: usize,
        needed: usize,
    },
    /// Too few launches of one number of copies.
    Launches { copies: u32, launches: usize, needed: usize },
    /// A rate is missing or zero.
    NoRate,
}
