//! Directories below one that the user named: made, opened and checked component by component.

use super::{Dir, PRIVATE, check_parent, create_directory, open_directory, safe_parent};
use rustix::fs::{fchmod, fstat, mkdirat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

/// A directory of this user that outlives a run: of journals, of a fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateDir {
    /// Named by the user.
    pub base: PathBuf,
    /// May not contain links.
    pub below: PathBuf,
}

impl StateDir {
    pub fn path(&self) -> PathBuf {
        self.base.join(&self.below)
    }

    /// Fails if it is missing or not ours, or if others can write to it or its parents.
    pub fn open(&self) -> io::Result<Dir> {
        let base = safe_parent(&self.base)?;
        self.walk(&base, |_, _| Ok(()))
    }

    /// Makes it if missing, with mode 0700 whatever the umask.
    pub fn make(&self) -> io::Result<Dir> {
        create_directory(&self.base)?;
        let base = safe_parent(&self.base)?;
        self.walk(&base, |parent, name| match mkdirat(parent, name, PRIVATE) {
            Ok(()) => {
                let directory = open_directory(parent, Path::new(name), Path::new(name))?;
                Ok(fchmod(directory, PRIVATE)?)
            }
            Err(Errno::EXIST) => Ok(()),
            Err(why) => Err(why.into()),
        })
    }

    /// Each component must be safe for the next.
    fn walk(
        &self,
        base: &OwnedFd,
        before: impl Fn(BorrowedFd<'_>, &OsStr) -> io::Result<()>,
    ) -> io::Result<Dir> {
        let mut fd = base.try_clone()?;
        let mut path = self.base.clone();
        for part in &self.below {
            check_parent(&fstat(&fd)?, &path)?;
            before(fd.as_fd(), part)?;
            path.push(part);
            fd = open_directory(&fd, Path::new(part), &path)?;
        }
        let dir = Dir { fd, path };
        dir.must_be_ours()?;
        Ok(dir)
    }
}
