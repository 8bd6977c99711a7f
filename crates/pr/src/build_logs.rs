//! Output of builds, stored in the user's state directory.

use anyhow::{Context as _, Result};
use gritstone_exec::{Dir, OFlags, StateDir};
use gritstone_session::undo;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The newest logs that are stored.
const MAX_LOGS: usize = 20;

/// Copies the output of a build to `<side>-<commit>.log`, in place of an earlier one; removes the oldest of too many.
///
/// # Errors
/// When it cannot be copied.
pub fn store(side: &str, commit: &str, output: &Path) -> Result<PathBuf> {
    let state = undo::state().context("neither XDG_STATE_HOME nor HOME says where")?;
    let logs = StateDir { below: state.below.join("builds"), ..state }.make()?;
    let commit: String = commit.chars().take(12).collect();
    let name = OsString::from(format!("{side}-{commit}.log"));
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
    io::copy(&mut File::open(output)?, &mut logs.file(&name, flags)?)?;
    remove_oldest(&logs)?;
    Ok(logs.path().join(name))
}

fn remove_oldest(logs: &Dir) -> io::Result<()> {
    let time = |name: &OsStr| -> io::Result<SystemTime> {
        logs.file(name, OFlags::RDONLY)?.metadata()?.modified()
    };
    let names = logs.names()?.into_iter();
    let mut logs_by_time: Vec<(SystemTime, OsString)> =
        names.map(|name| Ok((time(&name)?, name))).collect::<io::Result<_>>()?;
    logs_by_time.sort();
    let excess = logs_by_time.len().saturating_sub(MAX_LOGS);
    logs_by_time[..excess].iter().try_for_each(|(_, name)| logs.unlink(name))
}
