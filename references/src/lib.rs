//! Published results of reference machines, as data.
//!
//! Each document has a folder beside this crate: `document.toml` says what it is, `machines.toml` what was measured,
//! and every other file is a table. The files are embedded by the build and checked when they are read: [`all`].
//! README.md has the shape of the files, and the reasoning behind every figure that is marked doubtful.
//!
//! Must not know: which benchmarks the catalogue has (they are handed in), how a figure is printed or compared.

mod error;
mod lookup;
mod read;
mod shape;
mod table;
mod view;

pub use error::Error;
pub use lookup::LookupError;

use gritstone_model::{Better, Footnote, Id, Machine, Unit};

/// The files: path below `references/`, and text.
static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// What a document is.
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seconds {
    /// Elapsed.
    pub real: Option<f64>,
    /// In the program.
    pub user: Option<f64>,
    /// In the system.
    pub system: Option<f64>,
    /// In the program and in the system, where the document does not tell one from the other.
    pub cpu: Option<f64>,
}

impl Seconds {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        [self.real, self.user, self.system, self.cpu]
            .iter()
            .all(Option::is_none)
    }
}

/// A printed rate, or a printed time of one operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// In `unit`, as printed.
    pub value: f64,
    /// Unit.
    pub unit: Unit,
    /// Which way is good.
    pub better: Better,
}

/// The printed statistics of an operation that was timed again and again.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// Smallest.
    pub min: f64,
    /// Median.
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
#[derive(Clone, Debug, PartialEq)]
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
    pub footnotes: Vec<Footnote>,
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
    pub footnotes: Vec<Footnote>,
}

/// All that is shipped, or what was read from other files of the same shape.
#[derive(Clone, Debug, Default, PartialEq)]
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

/// Reads what is embedded.
///
/// # Errors
/// When a file is not of the shape, or contradicts another: with file and line. A test of this crate reads the files
/// that are shipped, so that no user sees it.
pub fn all() -> Result<References, Error> {
    References::parse(FILES)
}
