//! Our directories and files: checked for owner and mode, opened by descriptor, with unpredictable names.
//!
//! Symbolic links are followed on the way to the base that the user named, never below it. Every directory above must belong to this user
//! or to root, and be sticky if others may write to it: then no other user can replace our files.

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::fs::{RawMode, fchmod, fstat, mkdirat, openat, statat, unlinkat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use thiserror::Error;

mod below;
mod remove;
mod state_dir;

pub use below::open_below;
pub use remove::remove_within;
pub use state_dir::StateDir;

/// Stands for all users without a mapping in this user namespace.
const OVERFLOW: u32 = 65534;
const PRIVATE: Mode = Mode::RWXU;

/// Reason for which a file is not ours or its parent not safe.
#[derive(Debug, Error)]
pub enum NotOurs {
    #[error("{path} belongs to user {owner}, who could replace files in it: {remedy}")]
    Owner { path: PathBuf, owner: u32, remedy: &'static str },
    /// By all users or by a group.
    #[error("{path} can be written by other users (mode {mode:04o}): {remedy}")]
    Writable { path: PathBuf, mode: RawMode, remedy: &'static str },
    #[error("{0} is a symbolic link or not of the expected type: name another")]
    Kind(PathBuf),
    #[error("{0} is not a regular file: name another")]
    NotRegular(PathBuf),
    #[error("{0} was replaced after this run had created it: it was not removed")]
    Replaced(PathBuf),
    #[error("{0} has a name that Gritstone never gives: it was not removed")]
    Name(PathBuf),
}

const OTHER_DIRECTORY: &str = "choose another directory, or chown it";
const CHMOD: &str = "chmod go-w it, or choose another directory";

impl From<NotOurs> for io::Error {
    fn from(why: NotOurs) -> Self {
        Self::new(io::ErrorKind::PermissionDenied, why)
    }
}

pub fn is_not_ours(why: &io::Error) -> bool {
    why.get_ref().is_some_and(|inner| inner.is::<NotOurs>())
}

/// Device and inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    pub dev: u64,
    pub ino: u64,
}

impl Identity {
    pub fn of_file(file: impl AsFd) -> io::Result<Self> {
        Ok(Self::from(&fstat(file)?))
    }

    /// Identity of an entry; does not follow a link.
    pub fn of_entry(dir: &Dir, name: &OsStr) -> io::Result<Self> {
        Ok(Self::from(&statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }
}

impl From<&Stat> for Identity {
    #[allow(clippy::useless_conversion, reason = "their types differ by processor")]
    fn from(stat: &Stat) -> Self {
        Self { dev: stat.st_dev.into(), ino: stat.st_ino.into() }
    }
}

/// An open directory of ours.
#[derive(Debug)]
pub struct Dir {
    fd: OwnedFd,
    path: PathBuf,
}

impl AsFd for Dir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Dir {
    /// Makes the directory; fails if it exists.
    pub fn make(path: &Path) -> io::Result<Self> {
        let (parent, name) = parent_of(path)?;
        mkdirat(&parent, name, PRIVATE)?;
        let dir =
            Self { fd: open_directory(&parent, Path::new(name), path)?, path: path.to_owned() };
        // undo the umask
        fchmod(&dir.fd, PRIVATE)?;
        dir.must_be_ours()?;
        Ok(dir)
    }

    /// Opens the directory; fails if it is not ours, or a link.
    pub fn open(path: &Path) -> io::Result<Self> {
        let (parent, name) = parent_of(path)?;
        let dir =
            Self { fd: open_directory(&parent, Path::new(name), path)?, path: path.to_owned() };
        dir.must_be_ours()?;
        Ok(dir)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A path by which this process reaches it even if it is renamed.
    pub fn by_descriptor(&self) -> PathBuf {
        by_descriptor(&self.fd)
    }

    /// True if it has the mode with which it was made.
    pub fn is_private(&self) -> io::Result<bool> {
        let stat = fstat(&self.fd)?;
        Ok(Mode::from_raw_mode(stat.st_mode) == PRIVATE)
    }

    fn must_be_ours(&self) -> io::Result<()> {
        Ok(check(&fstat(&self.fd)?, FileType::Directory, &self.path)?)
    }

    /// Opens a file of ours in it; fails for a link, another user's file, or one that others can write.
    pub fn file(&self, name: &OsStr, flags: OFlags) -> io::Result<File> {
        let path = self.path.join(name);
        let mode = match flags.contains(OFlags::CREATE) {
            true => Mode::RUSR | Mode::WUSR,
            false => Mode::empty(),
        };
        let opened = open_below(self, Path::new(name), flags | OFlags::NOFOLLOW, mode);
        let fd = opened.map_err(|why| as_kind(why, &path))?;
        check(&fstat(&fd)?, FileType::RegularFile, &path)?;
        Ok(File::from(fd))
    }

    pub fn names(&self) -> io::Result<Vec<OsString>> {
        Ok(names(self)?)
    }

    pub fn unlink(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(self, name, AtFlags::empty())?)
    }
}

fn names(dir: impl AsFd) -> Result<Vec<OsString>, Errno> {
    let mut names = vec![];
    for entry in rustix::fs::Dir::read_from(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if !matches!(name, b"." | b"..") {
            names.push(OsStr::from_bytes(name).to_owned());
        }
    }
    Ok(names)
}

pub fn by_descriptor(fd: impl AsFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", fd.as_fd().as_raw_fd()))
}

fn open_directory(parent: impl AsFd, name: &Path, path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW;
    open_below(parent, name, flags, Mode::empty()).map_err(|why| as_kind(why, path))
}

fn as_kind(why: Errno, path: &Path) -> io::Error {
    match why {
        Errno::LOOP | Errno::NOTDIR => NotOurs::Kind(path.to_owned()).into(),
        why => why.into(),
    }
}

fn parent_of(path: &Path) -> io::Result<(OwnedFd, &OsStr)> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(NotOurs::Kind(path.to_owned()).into());
    };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent = match parent.as_os_str().is_empty() {
        true => Path::new("."),
        false => parent,
    };
    let opened = openat(rustix::fs::CWD, parent, flags, Mode::empty());
    Ok((opened?, name))
}

/// Opens the real path of a directory that the user named, if no other user can replace its contents. An error names the unsafe component.
pub fn safe_parent(path: &Path) -> io::Result<OwnedFd> {
    let real = fs::canonicalize(path)?;
    let mut parts: Vec<&Path> = real.ancestors().collect();
    parts.reverse();
    for part in parts {
        check_parent(&statat(rustix::fs::CWD, part, AtFlags::empty())?, part)?;
    }
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(openat(rustix::fs::CWD, &real, flags, Mode::empty())?)
}

/// Maximum size of a file, bytes: more than the plan of ten thousand nodes.
const MAX_FILE: u64 = 1 << 24;

/// Makes a directory with mode 0700 in a place where no other user can replace it.
pub fn create_directory(path: &Path) -> io::Result<()> {
    let path = std::path::absolute(path)?;
    let above = path.ancestors().find(|part| part.exists());
    safe_parent(above.unwrap_or(Path::new("/")))?;
    DirBuilder::new().recursive(true).mode(0o700).create(&path)
}

/// The path of an existing or future file of ours with mode 0600, which no other user can replace or redirect. A link to it must belong to
/// this user or to root.
pub fn own_file(path: &Path) -> io::Result<PathBuf> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(NotOurs::Kind(path.to_owned()).into());
    };
    safe_parent(parent)?;
    let real = fs::canonicalize(parent)?.join(name);
    match fs::symlink_metadata(&real) {
        Err(why) if why.kind() == io::ErrorKind::NotFound => {
            match new_file(&real) {
                // created by another process since
                Err(why) if why.kind() == io::ErrorKind::AlreadyExists => own_file(&real),
                result => result.map(|_| real),
            }
        }
        Err(why) => Err(why),
        Ok(found) if found.is_symlink() => {
            if found.uid() != nix::unistd::geteuid().as_raw() && found.uid() != 0 {
                return Err(NotOurs::Kind(real).into());
            }
            own_file(&fs::canonicalize(&real)?)
        }
        Ok(_) => {
            check(
                &statat(rustix::fs::CWD, &real, AtFlags::SYMLINK_NOFOLLOW)?,
                FileType::RegularFile,
                &real,
            )?;
            Ok(real)
        }
    }
}

/// Reads a file of ours, if it exists, from a directory in which no other user can replace it.
pub fn read_owned(directory: &Path, name: &str) -> io::Result<Option<Vec<u8>>> {
    let path = directory.join(name);
    match fs::symlink_metadata(&path) {
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found?,
    };
    let parent = safe_parent(directory)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = openat(&parent, name, flags, Mode::empty());
    let file = File::from(opened.map_err(|why| as_kind(why, &path))?);
    check_file(&file, &path)?;
    let mut bytes = vec![];
    file.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > MAX_FILE {
        true => Err(io::Error::other(format!("{} has more than {MAX_FILE} bytes", path.display()))),
        false => Ok(Some(bytes)),
    }
}

/// The same of a file that we wrote, which is UTF-8.
pub fn read_owned_text(directory: &Path, name: &str) -> io::Result<Option<String>> {
    let text = read_owned(directory, name)?.map(String::from_utf8).transpose();
    text.map_err(|why| io::Error::new(io::ErrorKind::InvalidData, why))
}

/// Checks that only root and this user may rename its entries.
fn check_parent(stat: &Stat, path: &Path) -> Result<(), NotOurs> {
    let us = nix::unistd::geteuid().as_raw();
    let unmapped = stat.st_uid == OVERFLOW && root_is_unmapped();
    if stat.st_uid != us && stat.st_uid != 0 && !unmapped {
        return Err(NotOurs::Owner {
            path: path.to_owned(),
            owner: stat.st_uid,
            remedy: OTHER_DIRECTORY,
        });
    }
    let sticky = Mode::from_raw_mode(stat.st_mode).contains(Mode::SVTX);
    match others_can_write(stat) && !sticky {
        true => Err(writable(stat, path)),
        false => Ok(()),
    }
}

/// Checks type and owner, and that others cannot write it.
fn check(stat: &Stat, kind: FileType, path: &Path) -> Result<(), NotOurs> {
    if FileType::from_raw_mode(stat.st_mode) != kind {
        return Err(match kind {
            FileType::RegularFile => NotOurs::NotRegular(path.to_owned()),
            _ => NotOurs::Kind(path.to_owned()),
        });
    }
    if stat.st_uid != nix::unistd::geteuid().as_raw() {
        return Err(NotOurs::Owner {
            path: path.to_owned(),
            owner: stat.st_uid,
            remedy: OTHER_DIRECTORY,
        });
    }
    match others_can_write(stat) {
        true => Err(writable(stat, path)),
        false => Ok(()),
    }
}

pub fn check_file(file: &File, path: &Path) -> io::Result<()> {
    Ok(check(&fstat(file)?, FileType::RegularFile, path)?)
}

fn writable(stat: &Stat, path: &Path) -> NotOurs {
    NotOurs::Writable {
        path: path.to_owned(),
        mode: Mode::from_raw_mode(stat.st_mode).as_raw_mode(),
        remedy: CHMOD,
    }
}

fn others_can_write(stat: &Stat) -> bool {
    let mode = Mode::from_raw_mode(stat.st_mode);
    mode.contains(Mode::WOTH) || mode.contains(Mode::WGRP) && !is_private(stat.st_gid)
}

/// In a user namespace without root, files of root have the overflow user.
fn root_is_unmapped() -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let all_ids = u64::from(u32::MAX).to_string();
    !map.lines().any(|line| line.split_whitespace().eq(["0", "0", all_ids.as_str()]))
}

/// True for a user private group: of the user's name, without other members.
fn is_private(gid: u32) -> bool {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let us = nix::unistd::geteuid().as_raw();
    is_private_in(&read("/etc/passwd"), &read("/etc/group"), us, gid)
}

fn is_private_in(users: &str, groups: &str, us: u32, gid: u32) -> bool {
    let fields = |line: &str| line.split(':').map(str::to_owned).collect::<Vec<_>>();
    let users: Vec<Vec<String>> = users.lines().map(fields).collect();
    let number = |field: Option<&String>| field?.parse::<u32>().ok();
    let Some(user) = users.iter().find(|user| number(user.get(2)) == Some(us)) else {
        return false;
    };
    let alone = users.iter().all(|other| number(other.get(3)) != Some(gid) || other[0] == user[0]);
    let groups: Vec<Vec<String>> = groups.lines().map(fields).collect();
    let group = groups.iter().find(|group| number(group.get(2)) == Some(gid));
    let private = group.is_some_and(|group| {
        let members = group.get(3).map_or("", String::as_str);
        let mut members = members.split(',').filter(|member| !member.is_empty());
        group[0] == user[0] && members.all(|member| *member == *user[0])
    });
    alone && private
}

/// Creates a file with mode 0600; fails if it exists.
pub fn new_file(path: &Path) -> io::Result<File> {
    File::options().write(true).create_new(true).mode(0o600).open(path)
}

#[cfg(test)]
mod tests;
