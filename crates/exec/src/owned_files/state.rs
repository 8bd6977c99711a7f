//! The directory in which journals are kept: made, opened and checked part by part.

use super::{Dir, PRIVATE, check_parent, open_directory, safe_parent};
use rustix::fs::{fchmod, fstat, mkdirat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::DirBuilder;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The directory of the user's in which journals are kept, and what else must outlive a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The directory that the user named.
    pub base: PathBuf,
    /// The way from there; none of it may be a link.
    pub below: PathBuf,
}

impl State {
    /// Where it is.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.base.join(&self.below)
    }

    /// Opens it, if it is there and ours.
    ///
    /// # Errors
    /// When it is not there, not ours, or others can write to it or to what it is in.
    pub fn open(&self) -> io::Result<Dir> {
        let base = safe_parent(&self.base)?;
        self.walk(&base, |_, _| Ok(()))
    }

    /// The same, made where it is not there, with mode 0700 whatever the umask.
    ///
    /// # Errors
    /// As of [`Self::open`], or when it cannot be made.
    pub fn make(&self) -> io::Result<Dir> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.base)?;
        let base = safe_parent(&self.base)?;
        self.walk(&base, |parent, name| match mkdirat(parent, name, PRIVATE) {
            Ok(()) => {
                let made = open_directory(parent, Path::new(name), Path::new(name))?;
                Ok(fchmod(made, PRIVATE)?)
            }
            Err(Errno::EXIST) => Ok(()),
            Err(why) => Err(why.into()),
        })
    }

    /// Part by part, since each must be safe for what is in it.
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
