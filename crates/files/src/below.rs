//! Opens paths below an open directory: no links, no way out.

use rustix::fs::{Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path};

pub fn open_below(
    dir: impl AsFd,
    path: &Path,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::CLOEXEC;
    let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    match openat2(&dir, path, flags, mode, within) {
        // Linux before 5.6 lacks it, and seccomp filters refuse what they do not know
        Err(Errno::NOSYS | Errno::PERM) => part_by_part(dir, path, flags, mode),
        opened => opened,
    }
}

/// For kernels without openat2(2).
pub(super) fn part_by_part(
    dir: impl AsFd,
    path: &Path,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    let mut parts = path.components().peekable();
    let mut above: Option<OwnedFd> = None;
    while let Some(part) = parts.next() {
        let Component::Normal(name) = part else {
            return Err(Errno::XDEV);
        };
        let last = parts.peek().is_none();
        let (flags, mode) = match last {
            true => (flags, mode),
            false => (OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()),
        };
        let from = above.as_ref().map_or(dir.as_fd(), AsFd::as_fd);
        let fd = openat(from, name, flags | OFlags::NOFOLLOW, mode)?;
        above = Some(fd);
    }
    above.ok_or(Errno::NOENT)
}
