//! A user's command as a resource, and the shell that runs it.

use crate::owned_files::Identity;
use crate::process::nothing;
use crate::resource::{Resource, Undo};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::signal::SigSet;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::ops::RangeInclusive;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{self, ExitStatus, Stdio};

/// Bytes of a command's error output that are passed on.
const MAX_OUTPUT: u64 = 2000;
/// Exit statuses by which a shell reports the signal that ended its last command.
const SIGNALS: RangeInclusive<i32> = 129..=192;

/// A user's command that undoes other commands, run by the shell in a directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Command {
    pub command: String,
    pub directory: PathBuf,
}

impl Resource for Command {
    /// The user's commands make the change.
    fn make(&self) -> io::Result<Option<Identity>> {
        Ok(None)
    }

    fn undo(&self, _: Option<Identity>) -> io::Result<Undo> {
        shell(&self.command, &self.directory, nothing()?).map_err(io::Error::other)?;
        Ok(Undo::Restored)
    }

    fn remedy(&self) -> (String, &'static str) {
        let Self { command, .. } = self;
        let what = format!("the undo command of the run, '{command}', failed");
        (what, "; it is not executed again: do it by hand")
    }
}

/// Why a shell command failed.
#[derive(Debug, thiserror::Error)]
pub enum ShellError {
    #[error(transparent)]
    NotStarted(#[from] io::Error),
    #[error("{}", described(*status, stderr))]
    Failed { status: ExitStatus, stderr: String },
}

impl ShellError {
    /// True if a signal ended it, also as a shell reports it for its last command: part of its work may be done.
    pub(crate) fn is_killed(&self) -> bool {
        match self {
            Self::NotStarted(_) => false,
            Self::Failed { status, .. } => status.code().is_none_or(|code| SIGNALS.contains(&code)),
        }
    }
}

/// `exit status 1 (error output)`.
fn described(status: ExitStatus, stderr: &str) -> String {
    let how = match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => status.to_string(),
    };
    match stderr {
        "" => how,
        output => format!("{how} ({output})"),
    }
}

/// The watchdog blocks signals, and what a child blocks, it and its descendants never get.
#[allow(unsafe_code)]
fn unblock_signals(command: &mut process::Command) {
    let unblock = || Ok(SigSet::empty().thread_set_mask()?);
    // SAFETY: pthread_sigmask is async-signal-safe, and the closure does nothing else
    unsafe { command.pre_exec(unblock) };
}

/// Runs a user's command in the shell; waits for it, not for its background processes. An error has its status and
/// output.
pub fn shell(command: &str, directory: &Path, stdin: Stdio) -> Result<(), ShellError> {
    // not a pipe, which would end with its last holder
    let mut stderr =
        File::from(memfd_create("stderr", MFdFlags::MFD_CLOEXEC).map_err(io::Error::from)?);
    let mut shell = process::Command::new("/bin/sh");
    shell.args(["-c", command]).current_dir(directory);
    shell.stdin(stdin).stdout(nothing()?).stderr(stderr.try_clone()?);
    unblock_signals(&mut shell);
    let status = shell.status()?;
    if status.success() {
        return Ok(());
    }
    let mut bytes = vec![];
    // the status counts, with or without the output
    let _ = stderr.rewind().and_then(|()| stderr.take(MAX_OUTPUT).read_to_end(&mut bytes));
    let stderr = String::from_utf8_lossy(&bytes).trim().to_owned();
    Err(ShellError::Failed { status, stderr })
}
