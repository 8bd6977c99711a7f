//! Removes our directories by descriptor: follows no links, and removes only files of this user.

use super::{NotOurs, by_descriptor, check, names, open_below, parent_of};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, chmod, fchmod, fstat, unlinkat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

/// Removes a directory or file of ours, with its contents. Most launches leave theirs empty.
pub fn remove_within(path: &Path) -> io::Result<()> {
    let (parent, name) = match parent_of(path) {
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(()),
        parent => parent?,
    };
    Ok(remove_at(&parent, name)?)
}

fn remove_at(parent: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
    match unlinkat(parent, name, AtFlags::REMOVEDIR) {
        Err(Errno::NOENT) => return Ok(()),
        Err(Errno::NOTDIR) => return unlinkat(parent, name, AtFlags::empty()),
        Err(Errno::NOTEMPTY | Errno::EXIST) => {}
        done => return done,
    }
    let dir = open_or_unlock(parent, name)?;
    empty(&dir)?;
    unlinkat(parent, name, AtFlags::REMOVEDIR)
}

fn empty(dir: &OwnedFd) -> Result<(), Errno> {
    for name in names(dir)? {
        match remove_either(dir, &name) {
            // a program may have been killed while its directory was not writable
            Err(Errno::ACCESS) => {
                fchmod(dir, Mode::RWXU)?;
                remove_either(dir, &name)?;
            }
            done => done?,
        }
    }
    Ok(())
}

/// Tries a file first, as most are.
fn remove_either(dir: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
    match unlinkat(dir, name, AtFlags::empty()) {
        Err(Errno::ISDIR | Errno::PERM) => remove_at(dir, name),
        Err(Errno::NOENT) => Ok(()),
        done => done,
    }
}

/// Also opens a directory without permissions.
fn open_or_unlock(parent: impl AsFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW;
    let open = || open_below(&parent, Path::new(name), flags, Mode::empty());
    match open() {
        Err(Errno::ACCESS) => {
            // by descriptor: chmod(2) follows links, and the name may have become one
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW;
            let closed = open_below(&parent, Path::new(name), flags, Mode::empty())?;
            let path = by_descriptor(&closed);
            let stat = fstat(&closed)?;
            check(&stat, FileType::Directory, Path::new(name)).or_else(|why| match why {
                NotOurs::Writable { .. } => Ok(()),
                _ => Err(Errno::ACCESS),
            })?;
            chmod(path, Mode::RWXU)?;
            open()
        }
        opened => opened,
    }
}
