//! Scores of machines by environment: the type of `gritstone score --format json`.

use crate::{Difference, Id, Note, Withheld};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Name and version of the schema of [`ScoresView`].
pub const SCHEMA_SCORES: &str = "gritstone/ratings/3";

/// Systems, each scored against the same base.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScoresView {
    /// [`SCHEMA_SCORES`].
    pub schema: String,
    /// Identifier of the base run or system.
    pub base: String,
    /// Display name of the base.
    pub base_name: String,
    /// The selectors that name benchmarks; empty for the environments of the catalog.
    #[serde(default)]
    pub by: Vec<String>,
    /// The user's profile: each of its benchmarks is an environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    pub confidence: f64,
    /// In the given order.
    pub machines: Vec<ScoredSystem>,
}

/// A use of a system as weights of benchmarks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Its name, for `--profile`.
    pub name: String,
    /// The use in a few words.
    pub title: String,
    pub why: String,
    /// The weight of each benchmark, above 0; only the proportions matter.
    pub weights: BTreeMap<Id, f64>,
}

impl Profile {
    /// The relative weight of each benchmark, the largest first.
    pub fn shares(&self) -> Vec<(&Id, f64)> {
        let total: f64 = self.weights.values().sum();
        let shares = self.weights.iter().map(|(id, weight)| (id, weight / total));
        let mut shares: Vec<(&Id, f64)> = shares.collect();
        shares.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        shares
    }
}

/// A run or system with its scores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScoredSystem {
    /// Identifier of the run, or `ref:...`.
    pub id: String,
    pub name: String,
    /// By whole programs and several users, as table 1.1 of hp-1987: all of its environments or none; null if run and base have no common
    /// benchmark of them.
    #[serde(default)]
    pub programs: Option<SystemScores>,
    pub one_cpu: SystemScores,
    /// Whether the run was interrupted, or is still measuring.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
    /// Programs of a profile whose versions differ from the base.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differ_in: Vec<Difference>,
}

/// The scores of one system by environment, and over all of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemScores {
    /// One for each environment.
    pub environments: Vec<EnvironmentScore>,
    /// Over all environments of which the base has a benchmark, equally weighted.
    pub overall: EnvironmentScore,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EnvironmentScore {
    pub environment: String,
    /// Above 1: better than the base. Null if it is withheld, and if the base has no benchmark of the environment.
    #[serde(rename = "rating")]
    pub score: Option<f64>,
    /// Its interval; null when a benchmark has too few launches, or both sides are printed.
    pub interval: Option<[f64; 2]>,
    /// The common benchmarks of both sides: those of the score, if there is one.
    pub rows: Vec<Id>,
    /// Number of benchmarks of the environment.
    pub of: usize,
    /// Reason for a missing score although the base has benchmarks.
    #[serde(default)]
    pub withheld: Option<Withheld>,
    /// Selected benchmarks that cannot be used.
    #[serde(default)]
    pub left_out: Vec<LeftOutRow>,
    #[serde(default)]
    pub notes: Vec<Note>,
    /// Printed scores of the environment, which are not comparable.
    #[serde(default)]
    pub published: Vec<PublishedScore>,
}

/// A printed score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedScore {
    /// `ref:...`.
    pub id: String,
    pub name: String,
    #[serde(rename = "rating")]
    pub score: f64,
}

/// A benchmark that a score leaves out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOutRow {
    pub id: Id,
    /// Whether its work check failed; else it was not measured.
    pub invalid: bool,
}
