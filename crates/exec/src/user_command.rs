//! A command of the user with files as output, under a supervisor: it is killed with this process, and its descendants with it.

use crate::process::{End, Task, carry_out};
use crate::{ExecError, WorkDirs};
use gritstone_kernels::SUPERVISOR;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Finds the program on PATH, closes the descriptor of events, and becomes the command.
const REDIRECT: &str = r#"out=$1 err=$2; shift 2; exec "$@" 3>&- >"$out" 2>"$err""#;

#[derive(Debug)]
pub struct UserTask<'a> {
    /// Program and arguments.
    pub argv: Vec<OsString>,
    pub directory: &'a Path,
    pub environment: &'a BTreeMap<String, OsString>,
    /// File for standard output.
    pub stdout: &'a Path,
    /// File for standard error.
    pub stderr: &'a Path,
    pub deadline: Duration,
    pub stop: &'a AtomicBool,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserEnd {
    Success,
    Status(i32),
    Signal(i32),
    TimedOut,
    /// The supervisor's reason.
    NotStarted(String),
}

impl WorkDirs {
    /// Executes it and waits for its end.
    ///
    /// # Errors
    /// When no process can be started, or the user interrupts.
    pub fn execute(&self, task: UserTask<'_>) -> Result<UserEnd, ExecError> {
        let words = ["-c", REDIRECT, "sh"].map(OsString::from).into_iter();
        let files = [task.stdout, task.stderr].map(OsString::from);
        let ended = carry_out(&Task {
            supervisor: &self.embedded_program(SUPERVISOR)?,
            cpus: "-",
            words: "-",
            program: Path::new("/bin/sh"),
            arguments: words.chain(files).chain(task.argv).collect(),
            directory: task.directory,
            environment: task.environment,
            deadline: task.deadline,
            stop: task.stop,
        })?;
        Ok(match ended.end {
            _ if ended.timed_out => UserEnd::TimedOut,
            Some(End { signal: Some(signal), .. }) => UserEnd::Signal(signal),
            Some(End { exit: 0, .. }) => UserEnd::Success,
            Some(End { exit, .. }) => UserEnd::Status(exit),
            None => UserEnd::NotStarted(ended.refusal().unwrap_or(ended.stderr)),
        })
    }
}
