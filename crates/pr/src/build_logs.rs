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

/// A log that another process removes meanwhile is no error.
fn remove_oldest(logs: &Dir) -> io::Result<()> {
    let time =
        |name: &OsStr| logs.file(name, OFlags::RDONLY).ok()?.metadata().ok()?.modified().ok();
    let names = logs.names()?.into_iter();
    let mut by_time: Vec<(SystemTime, OsString)> =
        names.filter_map(|name| Some((time(&name)?, name))).collect();
    by_time.sort();
    let excess = by_time.len().saturating_sub(MAX_LOGS);
    by_time[..excess].iter().try_for_each(|(_, name)| match logs.unlink(name) {
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn only_newest_logs_remain() {
        let home = tempfile::tempdir().unwrap();
        let logs = Dir::make(&home.path().join("builds")).unwrap();
        std::fs::create_dir(logs.path().join("not-a-log")).unwrap();
        // the first is the newest
        for age in 0..MAX_LOGS as u64 + 3 {
            let name = OsString::from(format!("{age:02}.log"));
            let file = logs.file(&name, OFlags::WRONLY | OFlags::CREATE).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1000 - age)).unwrap();
        }
        remove_oldest(&logs).unwrap();
        let mut names = logs.names().unwrap();
        names.sort();
        assert_eq!(names.len(), MAX_LOGS + 1);
        assert_eq!((&*names[0], &*names[MAX_LOGS - 1]), ("00.log".as_ref(), "19.log".as_ref()));
    }
}
