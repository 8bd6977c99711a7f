//! A node of a fleet, its place, and the engine that starts its measurement.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Key of a place that does not count for neighbors.
pub const NO_PLACE: &str = "partition";

/// A node of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Its name; with ssh, as OpenSSH knows it.
    pub node: String,
    /// Rack, switch, hypervisor and so on.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub place: BTreeMap<String, String>,
    /// The only CPU that it may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<u32>,
}

impl Node {
    pub fn new(node: String, place: BTreeMap<String, String>) -> Self {
        Self { node, place, cpu: None }
    }

    /// Places shared with neighbors: a rack, a switch, a hypervisor.
    pub fn neighborhood(&self) -> impl Iterator<Item = (&str, &str)> {
        let places = self.place.iter().filter(|(key, _)| *key != NO_PLACE);
        places.map(|(key, value)| (key.as_str(), value.as_str()))
    }
}

/// Means of starting the measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// This machine, several times in turn.
    Local,
    Ssh,
    /// An exclusive job for each node.
    Slurm,
}

impl Engine {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Ssh => "ssh",
            Self::Slurm => "slurm",
        }
    }
}
