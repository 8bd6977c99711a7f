//! How the program ends: the exit codes of the design, and the errors that carry one of their own.

use gritstone_exec::{ExecError, Shortage};
use gritstone_session::NothingMeasured;
use gritstone_store::StoreError;
use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};
use std::error::Error;
use std::fmt;
use std::process::ExitCode;

/// Exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// A check failed.
    CheckFailed = 1,
    /// Wrong use: an unknown name, a bad option, a damaged file.
    WrongUse = 2,
    /// Nothing could be measured.
    NothingMeasured = 3,
    /// The measurement does not decide what was asked.
    Inconclusive = 4,
    /// The user asked to stop: 128 and the number of the signal, as shells have it.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// An error that asks for an exit code other than that of wrong use.
#[derive(Debug)]
pub struct Failure {
    /// The code.
    pub exit: Exit,
    /// What is said.
    pub what: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl Error for Failure {}

impl Exit {
    /// An error that asks for this code.
    pub fn because(self, what: impl Into<String>) -> anyhow::Error {
        let what = what.into();
        Failure { exit: self, what }.into()
    }
}

/// The exit code that an error asks for.
pub fn exit_of(error: &anyhow::Error) -> Exit {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return failure.exit;
    }
    if error.is::<NothingMeasured>() {
        return Exit::NothingMeasured;
    }
    match error.downcast_ref::<ExecError>() {
        Some(ExecError::Interrupted) => Exit::Interrupted,
        Some(ExecError::NowhereToExecute { .. }) => Exit::NothingMeasured,
        _ if lacks(error) => Exit::NothingMeasured,
        _ => Exit::WrongUse,
    }
}

/// Whether it is due to something that the machine or this user has too little of.
fn lacks(error: &anyhow::Error) -> bool {
    let lack = |cause: &(dyn Error + 'static)| {
        let exec = cause.downcast_ref().and_then(ExecError::shortage);
        let system = cause.downcast_ref().and_then(Shortage::from_error);
        let store = cause.downcast_ref();
        exec.or(system).is_some()
            || matches!(
                store,
                Some(StoreError::Full { .. } | StoreError::Disk { .. })
            )
    };
    error.chain().any(lack)
}

fn file_size_is_limited() -> bool {
    getrlimit(Resource::RLIMIT_FSIZE).is_ok_and(|(now, _)| now != RLIM_INFINITY)
}

/// What to do about an error that does not say so itself, to stand behind it.
pub fn advice(error: &anyhow::Error) -> String {
    let short = error.chain().find_map(|cause| match cause.downcast_ref() {
        // SQLite does not say which error of the system it met
        Some(StoreError::Disk { .. }) if file_size_is_limited() => Some(Shortage::FileSize),
        _ => cause.downcast_ref().and_then(Shortage::from_error),
    });
    short.map_or_else(String::new, |shortage| format!("; {shortage}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_has_them_all() {
        let document = include_str!("../../../../docs/exit-codes.md");
        for exit in [
            Exit::Done,
            Exit::CheckFailed,
            Exit::WrongUse,
            Exit::NothingMeasured,
            Exit::Inconclusive,
            Exit::Interrupted,
        ] {
            assert!(
                document.contains(&format!("\n| {} | ", exit as u8)),
                "{exit:?}"
            );
        }
    }
}
