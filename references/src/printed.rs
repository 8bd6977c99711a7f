//! What documents print: themselves, their machines, the cells of their tables, their command lines.

use gritstone_model::{Better, Id, Machine, Note, Unit};
use serde::{Deserialize, Serialize};

/// What a document is: `document.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Short name, and that of its folder: `byte-1984`.
    pub name: String,
    /// Title, in its own language.
    pub title: String,
    /// Who wrote it, as far as the document says.
    pub author: String,
    /// Date of publication, as exact as it is known: `1984-08` or `1984-11-16`.
    pub date: String,
    /// Year of publication.
    pub year: i32,
    /// Where it appeared, what it measured and how, in a few sentences.
    pub about: String,
}

/// The three times of `time(1)`, and user and system time in one, in seconds; `None` where the document does not
/// print it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seconds {
    /// Elapsed.
    pub real: Option<f64>,
    /// In the program.
    pub user: Option<f64>,
    pub system: Option<f64>,
    /// In the program and in the system, where the document does not tell one from the other.
    pub cpu: Option<f64>,
}

impl Seconds {
    /// All four.
    #[must_use]
    pub fn all(&self) -> [Option<f64>; 4] {
        [self.real, self.user, self.system, self.cpu]
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all() == [None; 4]
    }
}

/// A printed rate, or a printed time of one operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Value {
    /// In `unit`, as printed.
    pub value: f64,
    pub unit: Unit,
    /// Which way is good.
    pub better: Better,
}

/// The printed statistics of an operation that was timed again and again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Smallest.
    pub min: f64,
    pub median: f64,
    /// Mean; `None` where the document does not print it.
    pub mean: Option<f64>,
    /// Largest.
    pub max: f64,
    /// Of all four: a time, so that less is better.
    pub unit: Unit,
}

/// A cell of a table. One without seconds, value and distribution is a figure that the document, or its scan, does not have:
/// a footnote says why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Identifier of the machine.
    pub machine: String,
    /// Which benchmark.
    pub benchmark: Id,
    /// Short name of the document.
    pub document: String,
    /// What the document calls it, where the files say.
    pub title: Option<String>,
    /// Where in the document: `table 1`.
    pub place: String,
    /// Times of the document's whole work.
    pub seconds: Seconds,
    /// A rate, or a time of one operation.
    pub value: Option<Value>,
    /// Statistics over many operations.
    pub distribution: Option<Distribution>,
    /// Page faults for each page that was touched.
    pub faults_per_page: Option<f64>,
    /// The document's own remarks (`Published`), and what is doubtful (`Doubtful`).
    pub notes: Vec<Note>,
}

impl Cell {
    /// Whether there is no figure.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        let printed = self.value.is_some() || self.distribution.is_some();
        !printed && self.seconds.is_empty() && self.faults_per_page.is_none()
    }
}

/// A command line that a document prints for a benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Command {
    /// Which benchmark.
    pub benchmark: Id,
    /// Short name of the document.
    pub document: String,
    /// Where in the document.
    pub place: String,
    /// The line.
    pub command: String,
    /// What is doubtful about it.
    pub notes: Vec<Note>,
}

/// All that is shipped, or what was read from other files of the same shape.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct References {
    /// The documents, by name.
    pub documents: Vec<Document>,
    /// Their machines, each with its document and year; document by document, in the order of the files.
    pub machines: Vec<Machine>,
    /// Every cell, in the order of the tables and, in a row, of the benchmarks' names.
    pub cells: Vec<Cell>,
    /// Command lines.
    pub commands: Vec<Command>,
}
