//! Carries out launches: unpacks the programs, starts them in fresh directories under a keeper, reads what they say,
//! stops them at their deadline, and leaves nothing behind.
//!
//! The way of a launch: benchmark -> command lines ([`launch`]) -> a process under the keeper ([`process`]) -> events
//! and an outcome. Everything on disc is below two directories ([`places`]); they, and what is changed of the machine's
//! settings ([`settings`]), the control group that holds some launches to an amount of memory ([`group`]), the file system that is made for some
//! ([`volume`]), the swap file for others ([`swap`]), and the trace by which others are timed ([`trace`]), stand in a journal ([`journal`]) before they are made or changed, and are undone on every
//! exit, by a watchdog ([`watchdog`]) or by the next start ([`recover`]) when the run was killed. Some rows are measured beside a
//! load ([`load`]), which lives on between launches. Two side ways: kernels
//! are compiled again with another compiler ([`rebuild`]), and their entries into the kernel of the system are counted
//! ([`entries`]).

mod disc;
pub mod entries;
mod equipment;
mod group;
mod journal;
mod judge;
mod launch;
mod linked;
mod load;
mod loops;
mod ours;
mod own;
mod owner;
mod pidfd;
mod places;
pub mod privileged;
mod process;
pub mod rebuild;
mod recover;
mod resource;
mod settings;
mod shortage;
mod steady;
mod swap;
#[cfg(test)]
mod tests;
mod trace;
#[cfg(test)]
mod undoing;
mod user;
mod version;
mod volume;
mod watchdog;

pub use equipment::Wanted;
pub use group::is_confined;
pub use journal::{Journal, Registry, Settings};
pub use launch::{CACHED, Executor, PROOF_FAILED, Setup};
pub use ours::{Dir, NotOurs, State};
pub use places::Places;
pub use recover::{measuring, recover, shell};
pub use resource::Unavailable;
pub use rustix::fs::OFlags;
pub use shortage::Shortage;
pub use swap::wants_swap;
pub use trace::is_traced;
pub use volume::wants_file_system;
pub use watchdog::watch;

use gritstone_model::{Benchmark, Event, Outcome, Work};
use std::path::PathBuf;
use thiserror::Error;

/// Whether a row asks for something that is carried out here, by this parameter of its entry.
fn asks(benchmark: &Benchmark, key: &str) -> bool {
    matches!(&benchmark.work, Work::Kernel(work) if work.asks(key))
}

/// What came of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launched {
    /// How it ended.
    pub outcome: Outcome,
    /// Everything that was said, in order; what came before a failure too.
    pub events: Vec<Event>,
    /// CPU time of the launch's processes, ns: what the conditions must not count as others'.
    pub cpu: u64,
}

/// Why launches cannot go on at all.
#[derive(Debug, Error)]
pub enum ExecError {
    /// The user asked to stop; the launch in progress was ended and is not to be recorded.
    #[error("stopped on request")]
    Interrupted,
    /// There is no directory from which programs may be executed.
    #[error(
        "no directory to execute programs from: {tried}; set TMPDIR to a directory that is writable and not mounted noexec"
    )]
    NowhereToExecute {
        /// Each directory with the reason.
        tried: String,
    },
    /// No directory has room for a program; the benchmarks that need it cannot be measured.
    #[error("{what}")]
    NoRoom {
        /// The program, and each directory with what is free there.
        what: String,
    },
    /// The directory in which files are measured cannot be used.
    #[error("cannot measure files in {dir}: {why}; choose another directory with --dir")]
    NowhereToMeasure {
        /// The directory.
        dir: PathBuf,
        /// The reason.
        why: std::io::Error,
    },
    /// The system refused something else.
    #[error("{what}: {why}{}", shortage::advice(why))]
    System {
        /// What was tried.
        what: String,
        /// The reason.
        why: std::io::Error,
    },
}

impl ExecError {
    /// What there is too little of, where that is the reason.
    #[must_use]
    pub fn shortage(&self) -> Option<Shortage> {
        match self {
            Self::NowhereToMeasure { why, .. } | Self::System { why, .. } => Shortage::of(why),
            Self::NoRoom { .. } => Some(Shortage::Space),
            Self::Interrupted | Self::NowhereToExecute { .. } => None,
        }
    }

    fn system(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        |why| Self::System { what, why }
    }
}

/// Whoever can carry out one launch: the [`Executor`], or a made-up one whose samples are known.
pub trait Execute {
    /// Makes ready what `benchmark` is measured beside, if that takes time: its load. A launch does so by itself; beforehand, the
    /// time for it is none of the launch's.
    ///
    /// # Errors
    /// As of [`Self::launch`]; a load that cannot be made is the outcome of the launch.
    fn settle(&mut self, _benchmark: &Benchmark) -> Result<(), ExecError> {
        Ok(())
    }

    /// Launches `benchmark` once on `cpus` (empty: all).
    ///
    /// # Errors
    /// Only when no launch can be carried out any more; a launch that fails is an [`Outcome`].
    fn launch(&mut self, benchmark: &Benchmark, cpus: &[u32]) -> Result<Launched, ExecError> {
        self.launch_copies(benchmark, cpus, 1)
    }

    /// The same as so many copies that work at once, on `cpus` in turn; what each of several said begins with its number.
    ///
    /// # Errors
    /// As of [`Self::launch`]; a launch fails when one of its copies does.
    fn launch_copies(
        &mut self,
        benchmark: &Benchmark,
        cpus: &[u32],
        copies: u32,
    ) -> Result<Launched, ExecError>;
}
