//! Makes launches: unpacks the programs, starts them in fresh directories under a supervisor, reads their events,
//! enforces the deadline, and leaves nothing behind.
//!
//! A launch: benchmark -> command lines ([`launch`]) -> a process under the supervisor ([`process`]) -> events and an
//! outcome. All files are in two directories ([`work_dirs`]). Directories, git work trees ([`work_tree`]), settings ([`settings`]), control groups
//! ([`cgroup`]), the scratch file system ([`scratch_fs`]), the swap file ([`swap`]) and the trace ([`tracefs`]) are
//! recorded in the undo journal ([`journal`]) before they are made or changed. They are undone on every exit; if the
//! run was killed, by its watchdog ([`watchdog`]) or by the next start ([`recover`]). A background load ([`load`])
//! lives on between launches. [`rebuild`] compiles workloads with other compilers; [`syscalls`] counts system calls
//! and instructions.

mod acquired;
mod any_resource;
mod arguments;
mod cgroup;
mod custom;
mod disk;
mod elf;
mod journal;
mod journal_file;
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
mod undo_command;
mod user_command;
mod version;
mod watchdog;
mod work_dirs;
mod work_tree;

pub use acquired::Config;
pub use custom::Custom;
pub use journal::{Journal, Registry, SettingError, Settings, UndoBy, measuring};
pub use launch::{Executor, Launched, Subject, Variant};
pub use limits::Shortage;
pub use owned_files::{Dir, NotOurs, StateDir, read_owned, read_owned_text, safe_parent};
pub use recover::recover;
pub use resource::Unavailable;
pub use rustix::fs::OFlags;
pub use setup::{FarEnd, Setup, Storage};
pub use tune::Tuning;
pub use undo_command::{ShellError, shell};
pub use user_command::{UserEnd, UserTask};
pub use watchdog::watch;
pub use work_dirs::WorkDirs;
pub use work_tree::HeldWorkTree;

use gritstone_model::{Benchmark, Outcome, Work};
use nix::unistd::{SysconfVar, sysconf};
use std::path::PathBuf;
use thiserror::Error;

/// True if this parameter of the entry, which the executor interprets, is `yes`.
fn asks(benchmark: &Benchmark, key: &str) -> bool {
    matches!(&benchmark.work, Work::Kernel(work) if work.asks(key))
}

/// Bytes; sysconf knows it on every Linux.
fn page_size() -> u64 {
    let size = sysconf(SysconfVar::PAGE_SIZE).ok().flatten();
    size.and_then(|size| size.try_into().ok()).unwrap_or(4096)
}

#[derive(Debug, Error)]
pub enum ExecError {
    /// The launch in progress was ended and must not be stored.
    #[error("stopped on request")]
    Interrupted,
    #[error(
        "no directory to execute programs from: {tried}; set TMPDIR to a directory that is writable, has room and is not mounted noexec"
    )]
    NowhereToExecute {
        /// Each directory with the reason.
        tried: String,
    },
    #[error("{what}")]
    NoRoom {
        /// The program, and the free space of each directory.
        what: String,
    },
    #[error("cannot measure files in {dir}: {why}; choose another directory with --dir or TMPDIR")]
    NowhereToMeasure { dir: PathBuf, why: std::io::Error },
    #[error("The background load cannot be started: {0}")]
    NoLoad(String),
    #[error("{what}: {why}{}", limits::advice(why))]
    System { what: String, why: std::io::Error },
}

impl ExecError {
    pub fn shortage(&self) -> Option<Shortage> {
        match self {
            Self::NowhereToMeasure { why, .. } | Self::System { why, .. } => {
                Shortage::from_error(why)
            }
            Self::NoRoom { .. } => Some(Shortage::Space),
            Self::Interrupted | Self::NowhereToExecute { .. } | Self::NoLoad(_) => None,
        }
    }

    /// Shortages are the outcome of a launch: other benchmarks may need less.
    fn outcome(self) -> Result<Outcome, Self> {
        match (&self, self.shortage()) {
            (Self::NoLoad(_), _) => Ok(Outcome::Skipped(self.to_string())),
            (_, Some(shortage)) if shortage.is_transient() => Ok(Outcome::Failed(self.to_string())),
            (_, Some(_)) => Ok(Outcome::Skipped(self.to_string())),
            (_, None) => Err(self),
        }
    }

    fn system(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        |why| Self::System { what, why }
    }
}
