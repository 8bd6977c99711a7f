//! Contents of documents: title, machines, cells of tables, command lines.

use gritstone_model::{Better, Id, Machine, Note, Unit};
use serde::{Deserialize, Serialize};

/// Description of a document: `document.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Short name, also of its folder: `byte-1984`.
    pub name: String,
    /// Title, in its own language.
    pub title: String,
    /// Author, if the document names one.
    pub author: String,
    /// Date of publication with its known precision: `1984-08` or `1984-11-16`.
    pub date: String,
    /// Year of publication.
    pub year: i32,
    /// Publisher, subject and method, in a few sentences.
    pub about: String,
}

/// The three times of `time(1)`, and the sum of user and system time, in seconds; `None` if not printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seconds {
    /// Elapsed time.
    pub real: Option<f64>,
    /// Time in the program.
    pub user: Option<f64>,
    pub system: Option<f64>,
    /// Time in program and system together, if the document does not separate them.
    pub cpu: Option<f64>,
}

impl Seconds {
    /// All four.
    pub fn all(&self) -> [Option<f64>; 4] {
        [self.real, self.user, self.system, self.cpu]
    }

    /// Whether no time is printed.
    pub fn is_empty(&self) -> bool {
        self.all() == [None; 4]
    }
}

/// A printed rate, or a printed time per operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Value {
    /// In `unit`, as printed.
    pub value: f64,
    pub unit: Unit,
    /// Direction.
    pub better: Better,
}

/// Printed statistics of a repeated operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Smallest.
    pub min: f64,
    pub median: f64,
    /// Mean; `None` if not printed.
    pub mean: Option<f64>,
    /// Largest.
    pub max: f64,
    /// Unit of all four: a time, so that lower is better.
    pub unit: Unit,
}

/// A cell of a table. One without seconds, value and distribution is a number that the document or its scan lacks; a note gives the reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Identifier of the machine.
    pub machine: String,
    /// Which benchmark.
    pub benchmark: Id,
    /// Short name of the document.
    pub document: String,
    /// Name of the benchmark in the document, if known.
    pub title: Option<String>,
    /// Place in the document: `table 1`.
    pub place: String,
    /// Times of the reference workload.
    pub seconds: Seconds,
    /// A rate, or a time per operation.
    pub value: Option<Value>,
    /// Statistics over many operations.
    pub distribution: Option<Distribution>,
    /// Page faults per touched page.
    pub faults_per_page: Option<f64>,
    /// Remarks of the document (`Published`), and doubts (`Doubtful`).
    pub notes: Vec<Note>,
}

impl Cell {
    /// Whether it has no number.
    pub fn is_missing(&self) -> bool {
        let printed = self.value.is_some() || self.distribution.is_some();
        !printed && self.seconds.is_empty() && self.faults_per_page.is_none()
    }
}

/// A command line printed for a benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Command {
    /// Which benchmark.
    pub benchmark: Id,
    /// Short name of the document.
    pub document: String,
    /// Place in the document.
    pub place: String,
    pub command: String,
    /// Doubts.
    pub notes: Vec<Note>,
}

/// All shipped documents, or others in the same format.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct References {
    /// The documents, by name.
    pub documents: Vec<Document>,
    /// Their machines, each with its document and year; document by document, in the order of the files.
    pub machines: Vec<Machine>,
    /// All cells in the order of the tables and, within a row, of the benchmarks' names.
    pub cells: Vec<Cell>,
    /// Command lines.
    pub commands: Vec<Command>,
}
