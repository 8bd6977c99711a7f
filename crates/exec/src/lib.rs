//! Carries out launches: unpacks the programs, starts them in fresh directories under a supervisor, reads what they say,
//! stops them at their deadline, and leaves nothing behind.
//!
//! The way of a launch: benchmark -> command lines ([`launch`]) -> a process under the supervisor ([`process`]) -> events
//! and an outcome. Everything on disk is below two directories ([`places`]); they, and what is changed of the machine's
//! settings ([`settings`]), the control group that holds some launches to an amount of memory ([`group`]), the file system that is made for some
//! ([`volume`]), the swap file for others ([`swap`]), and the trace by which others are timed ([`trace`]), stand in a journal ([`journal`]) before they are made or changed, and are undone on every
//! exit, by a watchdog ([`watchdog`]) or by the next start ([`recover`]) when the run was killed. Some rows are measured beside a
//! load ([`load`]), which lives on between launches. Two side ways: kernels
//! are compiled again with another compiler ([`rebuild`]), and their entries into the kernel of the system are counted
//! ([`entries`]).

mod acquired;
mod cgroup;
mod custom;
mod disk;
mod elf;
mod journal;
mod launch;
mod limits;
mod load;
mod loops;
mod outcome;
mod owned_files;
mod owner;
mod pidfd;
pub mod privileged;
mod process;
pub mod rebuild;
mod recover;
mod resource;
mod scratch_fs;
mod settings;
mod setup;
mod swap;
pub mod syscalls;
#[cfg(test)]
mod tests;
mod tracefs;
mod tune;
mod version;
mod watchdog;
mod work_dirs;

pub use acquired::Config;
pub use cgroup::is_confined;
pub use custom::Custom;
pub use journal::{Journal, Registry, SettingError, Settings};
pub use launch::{Executor, Launched, Subject, Variant};
pub use limits::Shortage;
pub use owned_files::{Dir, NotOurs, State, text_of_ours};
pub use recover::{measuring, recover, shell};
pub use resource::Unavailable;
pub use rustix::fs::OFlags;
pub use scratch_fs::wants_file_system;
pub use setup::{FarEnd, Setup, Storage};
pub use swap::wants_swap;
pub use tracefs::is_traced;
pub use tune::Tuning;
pub use watchdog::watch;
pub use work_dirs::Places;

use gritstone_model::{Benchmark, Outcome, Work};
use std::path::PathBuf;
use thiserror::Error;

/// Whether a row asks for something that is carried out here, by this parameter of its entry.
fn asks(benchmark: &Benchmark, key: &str) -> bool {
    matches!(&benchmark.work, Work::Kernel(work) if work.asks(key))
}

/// Why launches cannot go on at all.
#[derive(Debug, Error)]
pub enum ExecError {
    /// The user asked to stop; the launch in progress was ended and is not to be recorded.
    #[error("stopped on request")]
    Interrupted,
    /// There is no directory from which programs may be executed.
    #[error(
        "no directory to execute programs from: {tried}; set TMPDIR to a directory that is writable, has room and is not mounted noexec"
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
    /// What a row is measured beside cannot be had.
    #[error("The load cannot be made: {0}")]
    NoLoad(String),
    /// The system refused something else.
    #[error("{what}: {why}{}", limits::advice(why))]
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
            Self::Interrupted | Self::NowhereToExecute { .. } | Self::NoLoad(_) => None,
        }
    }

    /// The outcome of a launch for which there is too little of something: others may do with less.
    fn outcome(self) -> Result<Outcome, Self> {
        match (&self, self.shortage()) {
            (Self::NoLoad(_), _) => Ok(Outcome::Skipped(self.to_string())),
            (_, Some(shortage)) if shortage.may_pass() => Ok(Outcome::Failed(self.to_string())),
            (_, Some(_)) => Ok(Outcome::Skipped(self.to_string())),
            (_, None) => Err(self),
        }
    }

    fn system(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        |why| Self::System { what, why }
    }
}
