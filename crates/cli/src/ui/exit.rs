//! Exit codes, and the errors that carry one.

use gritstone_exec::{ExecError, Shortage};
use gritstone_model::PrSideName;
use gritstone_pr::NotComparable;
use gritstone_pr::same_output::OutputDiffers;
use gritstone_session::NothingMeasured;
use gritstone_store::StoreError;
use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};
use std::error::Error;
use std::process::ExitCode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Done = 0,
    CheckFailed = 1,
    /// An unknown name, a bad option, a damaged file.
    WrongUse = 2,
    NothingMeasured = 3,
    Inconclusive = 4,
    /// 128 and the number of the signal, as in shells.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// An error with an exit code other than that of wrong use.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    pub exit: Exit,
    pub message: String,
}

impl Exit {
    pub fn because(self, message: impl Into<String>) -> anyhow::Error {
        let message = message.into();
        Failure { exit: self, message }.into()
    }
}

pub fn exit_of(error: &anyhow::Error) -> Exit {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return failure.exit;
    }
    if error.is::<NothingMeasured>() {
        return Exit::NothingMeasured;
    }
    if let Some(differs) = error.downcast_ref::<OutputDiffers>() {
        return match differs.side {
            PrSideName::Head => Exit::CheckFailed,
            PrSideName::Base => Exit::Inconclusive,
        };
    }
    if error.is::<NotComparable>() {
        return Exit::Inconclusive;
    }
    match error.downcast_ref::<ExecError>() {
        Some(ExecError::Interrupted) => Exit::Interrupted,
        Some(ExecError::NowhereToExecute { .. }) => Exit::NothingMeasured,
        _ if is_shortage(error) => Exit::NothingMeasured,
        _ => Exit::WrongUse,
    }
}

/// True if the machine or the user lacks a resource.
fn is_shortage(error: &anyhow::Error) -> bool {
    let lack = |cause: &(dyn Error + 'static)| {
        let exec = cause.downcast_ref().and_then(ExecError::shortage);
        let system = cause.downcast_ref().and_then(Shortage::from_error);
        let store = cause.downcast_ref();
        exec.or(system).is_some()
            || matches!(store, Some(StoreError::Full { .. } | StoreError::Disk { .. }))
    };
    error.chain().any(lack)
}

fn file_size_is_limited() -> bool {
    getrlimit(Resource::RLIMIT_FSIZE).is_ok_and(|(now, _)| now != RLIM_INFINITY)
}

/// Advice to append to an error.
pub fn advice(error: &anyhow::Error) -> String {
    let short = error.chain().find_map(|cause| match cause.downcast_ref() {
        // SQLite hides the system error
        Some(StoreError::Disk { .. }) if file_size_is_limited() => Some(Shortage::FileSize),
        _ => cause.downcast_ref().and_then(Shortage::from_error),
    });
    short.map_or_else(String::new, |shortage| format!("; {shortage}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_disks_need_free_space() {
        let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
        assert_eq!(advice(&full.into()), "; free some space there");
    }

    #[test]
    fn all_exit_codes_are_documented() {
        let document = include_str!("../../../../docs/exit-codes.md");
        for exit in [
            Exit::Done,
            Exit::CheckFailed,
            Exit::WrongUse,
            Exit::NothingMeasured,
            Exit::Inconclusive,
            Exit::Interrupted,
        ] {
            assert!(document.contains(&format!("\n| {} | ", exit as u8)), "{exit:?}");
        }
    }
}
