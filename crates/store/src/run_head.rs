//! Heads of runs for listings, and runs that can be resumed.

use gritstone_model::{Origin, RunData};
use serde::Deserialize;

/// A run in a listing.
#[derive(Clone, Debug, PartialEq)]
pub struct RunHead {
    pub id: String,
    /// The user's name for it.
    pub label: Option<String>,
    /// RFC 3339, UTC.
    pub started: String,
    /// Seconds from start to end; `None` for a run that was interrupted or goes on.
    pub elapsed_s: Option<f64>,
    /// Version of Gritstone that measured it.
    pub gritstone: String,
    /// The same for all runs of a machine.
    pub machine_id: String,
    /// Display name of the system.
    pub machine: String,
    /// Operating system and version.
    pub system: String,
    /// When its launches were pruned, RFC 3339, UTC.
    pub pruned: Option<String>,
    pub origin: Origin,
    pub kind: Kind,
    /// The trial of which it is a side.
    pub side: Option<SideName>,
    /// The suite that was selected.
    pub suite: Option<String>,
    /// Number of selected benchmarks.
    pub benchmarks: u64,
}

impl RunHead {
    /// Whether it has ended, and is neither a side of a trial nor an A/A test.
    pub fn is_whole(&self) -> bool {
        matches!(self.kind, Kind::Run | Kind::Import) && self.elapsed_s.is_some()
    }
}

/// Command or import that made a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Run,
    /// One side of a trial.
    Ab,
    /// The A/A test.
    Noise,
    /// Another run from elsewhere.
    Import,
}

/// A side of a trial.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SideName {
    pub trial: String,
    pub side: String,
}

impl Kind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Ab => "ab",
            Self::Noise => "noise",
            Self::Import => "import",
        }
    }
}

/// A run that can be resumed. Only the store makes one: for a run that began here, by this user on this machine, and
/// has not ended.
#[derive(Debug)]
pub struct Resumable(pub(crate) RunData);

impl Resumable {
    pub fn data(&self) -> &RunData {
        &self.0
    }

    pub fn into_data(self) -> RunData {
        self.0
    }
}
