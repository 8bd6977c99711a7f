//! Serde types of the files; unknown keys and wrong types are errors.

use gritstone_model::{Better, Flag, Unit};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use toml::Spanned;

/// `machines.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MachinesFile {
    pub machine: Vec<MachineEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MachineEntry {
    pub id: Spanned<String>,
    /// The document's number of the machine.
    pub number: Option<u32>,
    pub name: String,
    pub system: String,
    pub configuration: String,
    /// Year of measurement, if it is known and not that of the document.
    pub year: Option<i32>,
    /// Doubts about the machine.
    pub note: Option<String>,
}

/// Any other file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableFile {
    pub place: String,
    /// The document's marks, explained in our words.
    #[serde(default)]
    pub footnotes: BTreeMap<Spanned<String>, String>,
    /// Flags that correspond to marks.
    #[serde(default)]
    pub kinds: BTreeMap<Spanned<String>, Flag>,
    /// Names of benchmarks in the document.
    #[serde(default)]
    pub titles: BTreeMap<Spanned<String>, String>,
    #[serde(default)]
    pub row: Vec<RowEntry>,
    #[serde(default)]
    pub command: Vec<CommandEntry>,
}

/// A command line for a benchmark.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CommandEntry {
    pub benchmark: Spanned<String>,
    pub command: String,
    pub doubt: Option<String>,
}

/// A row: `machine`, optional `marks`, and one cell per benchmark.
pub(crate) struct RowEntry {
    pub machine: Spanned<String>,
    pub marks: Vec<Spanned<String>>,
    pub cells: Vec<(Spanned<String>, CellEntry)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CellEntry {
    pub real_s: Option<f64>,
    pub user_s: Option<f64>,
    pub system_s: Option<f64>,
    pub cpu_s: Option<f64>,
    pub value: Option<f64>,
    pub min: Option<f64>,
    pub median: Option<f64>,
    pub mean: Option<f64>,
    pub max: Option<f64>,
    pub faults_per_page: Option<Reckoned>,
    pub unit: Option<Unit>,
    pub better: Option<Better>,
    #[serde(default)]
    pub marks: Vec<Spanned<String>>,
    pub doubt: Option<Doubt>,
    pub missing: Option<String>,
    /// Basis of calculated numbers of the cell, which the document does not print.
    pub reckoned: Option<String>,
}

/// A number that was calculated, and its basis.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reckoned {
    pub value: f64,
    pub from: String,
}

/// `doubt = "why"` for the whole cell, or `doubt.real_s = "why"` for one of its numbers.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "`doubt` is a reason, or a reason for each of real_s, user_s, system_s, cpu_s, value, min, median, mean and max"
)]
pub(crate) enum Doubt {
    Whole(String),
    Figures(BTreeMap<Figure, String>),
}

/// A number of a cell that can be doubtful.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Figure {
    RealS,
    UserS,
    SystemS,
    CpuS,
    Value,
    Min,
    Median,
    Mean,
    Max,
}

impl<'de> Deserialize<'de> for RowEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RowVisitor)
    }
}

/// A derived `flatten` would lose the positions of keys.
struct RowVisitor;

impl<'de> Visitor<'de> for RowVisitor {
    type Value = RowEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a row: machine, marks, and a cell for each benchmark")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<RowEntry, M::Error> {
        let mut machine = None;
        let mut marks = Vec::new();
        let mut cells = Vec::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            match key.get_ref().as_str() {
                "machine" => machine = Some(map.next_value()?),
                "marks" => marks = map.next_value()?,
                _ => cells.push((key, map.next_value()?)),
            }
        }
        Ok(RowEntry {
            machine: machine.ok_or_else(|| M::Error::missing_field("machine"))?,
            marks,
            cells,
        })
    }
}
