//! What is said of a run without its launches, and which runs may be gone on with.

use gritstone_model::{Origin, RunData};

/// What a listing says about a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunHead {
    /// Identifier.
    pub id: String,
    /// The name that the user gave.
    pub label: Option<String>,
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// Seconds from start to end; `None` for a run that was cut off, or that still goes on.
    pub elapsed_s: Option<f64>,
    /// Version of Gritstone that measured.
    pub gritstone: String,
    /// Short name of the machine, the same for all its runs.
    pub machine_id: String,
    /// Display name of the system.
    pub machine: String,
    /// Operating system and version.
    pub system: String,
    /// When its launches were pruned, RFC 3339, UTC; `None` for a run that has them.
    pub pruned: Option<String>,
    /// Where it comes from.
    pub origin: Origin,
    /// What made it.
    pub kind: Kind,
    /// How many benchmarks it was to measure.
    pub benchmarks: u64,
}

/// What made a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `run`.
    Run,
    /// One side of a trial.
    Ab,
    /// The A/A test.
    Noise,
    /// It comes from elsewhere.
    Import,
}

impl Kind {
    /// Its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Ab => "ab",
            Self::Noise => "noise",
            Self::Import => "import",
        }
    }
}

/// A run that may be gone on with: only the store makes one, of a run that began here, by this user on this machine, and has not ended.
#[derive(Debug)]
pub struct Resumable(pub(crate) RunData);

impl Resumable {
    /// The run, as far as it has come.
    #[must_use]
    pub fn data(&self) -> &RunData {
        &self.0
    }

    /// The same.
    #[must_use]
    pub fn into_data(self) -> RunData {
        self.0
    }
}
