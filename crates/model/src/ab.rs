//! What a trial of sides against each other looks like to a reader: the shape of `gritstone ab --format json`.

use crate::{Compiled, Counts, Explanation, Id, Note, Unit, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name and version of the schema of [`AbView`].
pub const SCHEMA_AB: &str = "gritstone/ab/3";

/// Sides whose launches were interleaved, row by row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AbView {
    /// [`SCHEMA_AB`].
    pub schema: String,
    /// Identifier of the trial.
    pub trial: String,
    /// What a person calls the machine.
    pub machine: String,
    /// The sides, the first of which is the base where there are two.
    pub sides: Vec<AbSide>,
    /// Whether both sides are known to be the same.
    pub same: bool,
    /// Ratio within which two sides count as the same: 0.01 is 1%.
    pub margin: f64,
    /// Share of comparisons that may be called different though they are not.
    pub level: f64,
    /// One for each thing that was measured on all sides.
    pub rows: Vec<AbRow>,
    /// Nanoseconds that a program takes that does nothing; null where only rows of the catalog were measured.
    pub start_up_ns: Option<f64>,
}

/// One side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AbSide {
    /// `a`, `b` and so on.
    pub side: String,
    /// The run that has its launches.
    pub run: String,
    /// The label of that run.
    pub label: Option<String>,
    /// What is special about it.
    pub what: String,
    /// What its compiler made; null where it has none of its own.
    pub compiled: Option<Compiled>,
}

/// One row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AbRow {
    /// Which benchmark.
    pub id: Id,
    /// Heading of its row.
    pub title: String,
    /// Unit of the estimates.
    pub unit: Unit,
    /// One for each side.
    pub figures: Vec<AbFigure>,
    /// Of two sides, the second against the first; of more, all against the best, nearest first.
    pub comparisons: Vec<AbComparison>,
}

/// The figure of one side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AbFigure {
    /// `a`, `b` and so on.
    pub side: String,
    /// Null when there is none.
    pub estimate: Option<f64>,
    /// Interval at 95% of this figure alone; null when the launches are too few.
    pub interval: Option<[f64; 2]>,
    /// Smallest and largest launch.
    pub range: Option<[f64; 2]>,
    /// Launches that were measured.
    pub launches: usize,
    /// Samples in them.
    pub samples: usize,
    /// User time of one operation, s; null below 100 ticks of work.
    pub user_s: Option<f64>,
    /// System time of one operation, s; null below 100 ticks of work.
    pub system_s: Option<f64>,
    /// Both together, s, which the kernel knows better than either.
    pub cpu_s: Option<f64>,
    /// Largest peak memory of a process, KiB; null for rows of the catalog.
    pub peak_kb: Option<u64>,
    /// What was counted of an operation: median over launches.
    #[serde(default, skip_serializing_if = "Counts::is_empty")]
    pub counters: Counts<f64>,
    /// Exit statuses other than 0 that were taken for good.
    pub statuses: Vec<i32>,
    /// What did not hold, and remarks.
    pub notes: Vec<Note>,
}

/// One side against another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AbComparison {
    /// The side that is 1.
    pub base: String,
    /// The side that is compared with it.
    pub other: String,
    /// Pairs that it rests on.
    pub pairs: usize,
    /// Launches of the base, and of the other, beside which another thread of the core was busy.
    pub crowded: [usize; 2],
    /// Whether these differ by more than chance (p below 0.01): nothing is left out then, and means are compared.
    pub crowded_differ: bool,
    /// Pairs with such a launch that it does not rest on.
    pub left_out: usize,
    /// Above 1: the other is better. Null where there is no pair.
    pub ratio: Option<f64>,
    /// Its interval, which holds at all looks together; null before the first look.
    pub interval: Option<[f64; 2]>,
    /// p, adjusted for the looks.
    pub p: Option<f64>,
    /// The same, adjusted for the number of comparisons.
    pub p_adjusted: Option<f64>,
    /// What it says of the other.
    pub verdict: Verdict,
    /// The smallest change that so many pairs would have shown 95 times in 100, as a share.
    pub smallest: Option<f64>,
    /// What the counters say of it; null where they say nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
    /// What must be known of it.
    #[serde(default)]
    pub notes: Vec<Note>,
}
