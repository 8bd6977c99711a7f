//! The commit that made a benchmark slower: the type of `gritstone bisect --format json`.

use crate::names::names;
use crate::{PrQuantity, PrRow, PrSide};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name and version of the schema of [`BisectView`].
pub const SCHEMA_BISECT: &str = "gritstone/bisect/1";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BisectView {
    /// [`SCHEMA_BISECT`].
    pub schema: String,
    pub good: PrSide,
    pub bad: PrSide,
    pub quantity: PrQuantity,
    /// Why nothing was searched for: the bad commit is not slower than the good one, or one of them does not build or measures nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The benchmark that is followed, of the bad commit against the good one; null if nothing was searched for.
    pub followed: Option<PrRow>,
    /// Commits that may be the first slow one, oldest first: one if the search succeeded.
    pub candidates: Vec<BisectCommit>,
    /// In order of their tests.
    pub steps: Vec<BisectStep>,
    /// Probability that a test was wrong, over the whole search; null if nothing was searched for.
    pub error_rate: Option<f64>,
    /// Command that compares the first slow commit with the one before; null unless the search succeeded, and where
    /// files are carried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown_by: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BisectCommit {
    pub commit: String,
    /// First line of its message.
    pub subject: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BisectStep {
    pub commit: String,
    pub outcome: BisectOutcome,
    /// Speed as a multiple of that of the good commit; null if it was not measured.
    pub ratio: Option<f64>,
    pub interval: Option<[f64; 2]>,
    /// Decided by counts that agree, without a test.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exact: bool,
    /// Why it was skipped.
    pub reason: Option<String>,
}

names! {
    #[derive(JsonSchema)]
    pub enum BisectOutcome {
        /// As fast as the good commit.
        Good = "good",
        /// As slow as the bad one.
        Bad = "bad",
        /// Does not build, or does not measure the benchmark.
        Skipped = "skipped",
        /// Inconclusive within the budget.
        Inconclusive = "inconclusive",
    }
}
