//! Operations timed one by one: percentiles with their intervals, and a histogram.

use crate::Estimate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Of all launches of a result that is a time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latencies {
    pub events: u64,
    /// Percentiles that the events support, from the median on.
    pub percentiles: Vec<Percentile>,
    /// `[from, below, events]` for every nonempty bucket, in the unit of the result; eight buckets per power of two of nanoseconds.
    pub histogram: Vec<(f64, f64, u64)>,
}

impl Latencies {
    /// A percentile by its name.
    pub fn get(&self, name: &str) -> Option<&Percentile> {
        self.percentiles.iter().find(|percentile| percentile.name == name)
    }
}

/// A percentile of the operations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Percentile {
    /// `p50`, `p90`, `p99` or `p99.9`; of responses `p50`, `p95` or `p99`.
    pub name: String,
    /// In the unit of the result; for responses in ms.
    #[serde(flatten, with = "crate::estimate::estimate")]
    #[schemars(with = "crate::estimate::estimate::Keys")]
    pub estimate: Option<Estimate>,
    pub basis: PercentileBasis,
    /// One value per launch, in the order of time; empty if launches have too few operations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<f64>,
}

/// Response times of users, ms.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Responses {
    pub users: u64,
    /// Kind of transaction; null for all kinds together.
    pub kind: Option<String>,
    pub events: u64,
    /// `p50`, `p95` and `p99`, as far as the transactions support them; without the values of single launches.
    pub percentiles: Vec<Percentile>,
    pub max: f64,
}

/// Population of a percentile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PercentileBasis {
    /// Percentile of a launch: its center over launches.
    #[default]
    Launches,
    /// Percentile of the pooled operations of all launches, since a single one has too few.
    Operations,
}
