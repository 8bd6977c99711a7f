//! A machine: this one, one in a store, or one of those in the documents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a figure was measured on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// Short name by which it is asked for: `vax-11-780-4.1bsd`, or a hash of what does not change on a live machine.
    pub id: String,
    /// What a person calls it.
    pub name: String,
    /// Operating system and version.
    pub system: String,
    /// The document that published its figures; `None` for a machine that Gritstone measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// Year of the figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<i32>,
    /// Memory, discs, and the like, in a sentence.
    pub configuration: String,
    /// Everything else, by name (`cpu.model`, `kernel.release`, ...): what `compare` names when two machines differ.
    #[serde(default)]
    pub facts: BTreeMap<String, String>,
}
