//! Lets one process at a time measure a fleet run: it holds a lock in the folder of the plan, which the kernel releases at its end. A lock
//! of the open file (`F_OFD_SETLK`) works on NFS, and can be tested without being taken.

use anyhow::{Context, Result, bail};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::libc;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Has the id of the holder in it, and is never removed: removal could hit the lock of the next process.
const FILE: &str = "lock";

/// Exclusive right to measure a fleet run, until dropped.
#[derive(Debug)]
pub struct Held(#[expect(dead_code, reason = "it is held while it is open")] File);

/// Takes the lock.
///
/// # Errors
/// When another process has it, or the file system has no locks.
pub fn hold(folder: &Path, fleet: &str) -> Result<Held> {
    let path = folder.join(FILE);
    let mut file = File::options()
        .create(true)
        .read(true)
        .write(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(OFlag::O_NOFOLLOW.bits())
        .open(&path)
        .with_context(|| format!("cannot open {}", path.display()))?;
    match fcntl(&file, FcntlArg::F_OFD_SETLK(&exclusive_lock())) {
        Ok(_) => {}
        Err(Errno::EAGAIN | Errno::EACCES) => {
            let holder = fs::read_to_string(&path).unwrap_or_default();
            bail!(
                "fleet {fleet} is being measured by {}: wait for it or end it",
                holder.lines().next().unwrap_or("another process")
            );
        }
        Err(why) => return Err(why).with_context(|| format!("cannot lock {}", path.display())),
    }
    let host = nix::sys::utsname::uname()?;
    let host = host.nodename().to_string_lossy();
    file.set_len(0)?;
    writeln!(file, "process {} on {host}", std::process::id())?;
    Ok(Held(file))
}

/// Whether a process has it.
pub fn is_held(folder: &Path) -> bool {
    let Ok(file) = File::open(folder.join(FILE)) else {
        return false;
    };
    let mut lock = exclusive_lock();
    match fcntl(&file, FcntlArg::F_OFD_GETLK(&mut lock)) {
        Ok(_) => i32::from(lock.l_type) != libc::F_UNLCK,
        Err(_) => false,
    }
}

/// An exclusive lock of a whole file and beyond its end.
fn exclusive_lock() -> libc::flock {
    libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_end_with_their_holder() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_held(folder.path()));
        let held = hold(folder.path(), "november").unwrap();
        assert!(is_held(folder.path()));
        let why = hold(folder.path(), "november").unwrap_err().to_string();
        let holder = format!("november is being measured by process {} on ", std::process::id());
        assert!(why.contains(&holder), "{why}");
        drop(held);
        assert!(!is_held(folder.path()));
        hold(folder.path(), "november").unwrap();
    }
}
