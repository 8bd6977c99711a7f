//! One process at a time measures a fleet run: it holds a lock in the folder of the plan, which goes with the process however that ends. A lock of
//! the open file (`F_OFD_SETLK`): it holds on NFS, and whether it is held can be asked without taking it.

use anyhow::{Context, Result, bail};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::libc;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// It has the process that holds it in it, and stays: who removed it could remove that of the next process.
const FILE: &str = "lock";

/// A fleet run that no other process measures until this is dropped.
#[derive(Debug)]
pub struct Held(#[expect(dead_code, reason = "it is held while it is open")] File);

/// Takes it.
///
/// # Errors
/// When another process has it, or there can be no lock.
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
    match fcntl(&file, FcntlArg::F_OFD_SETLK(&whole())) {
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
    let mut asked = whole();
    match fcntl(&file, FcntlArg::F_OFD_GETLK(&mut asked)) {
        Ok(_) => i32::from(asked.l_type) != libc::F_UNLCK,
        Err(_) => false,
    }
}

/// Of a file, to its end and beyond, for writing.
fn whole() -> libc::flock {
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
        let own = format!(
            "november is being measured by process {} on ",
            std::process::id()
        );
        assert!(why.contains(&own), "{why}");
        drop(held);
        assert!(!is_held(folder.path()));
        hold(folder.path(), "november").unwrap();
    }
}
