//! /proc/self/mountinfo.

use std::path::{Path, PathBuf};

/// See proc_pid_mountinfo(5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    /// Mount id, also in /proc/self/fdinfo.
    pub id: u64,
    /// Major and minor number of the device.
    pub number: (u64, u64),
    /// The mounted part of the file system: `/`, or a directory for a bind mount.
    pub root: String,
    /// Mount point.
    pub point: PathBuf,
    /// Options of the mount.
    pub options: Vec<String>,
    /// `ext4`, `tmpfs`, `fuse.sshfs`, ...
    pub fs_type: String,
    /// Device, server or label.
    pub source: String,
    /// Options of the file system.
    pub super_options: Vec<String>,
}

/// Skips lines that are not mounts.
pub(crate) fn parse(text: &str) -> Vec<Mount> {
    text.lines().filter_map(mount).collect()
}

fn mount(line: &str) -> Option<Mount> {
    // the optional fields in the middle end with a lone dash
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ');
    let id = left.next()?.parse().ok()?;
    let _parent = left.next()?;
    let (major, minor) = left.next()?.split_once(':')?;
    let number = (major.parse().ok()?, minor.parse().ok()?);
    let root = unescape(left.next()?);
    let point = PathBuf::from(unescape(left.next()?));
    let options = list(left.next()?);
    let mut right = right.split(' ');
    Some(Mount {
        id,
        number,
        root,
        point,
        options,
        fs_type: unescape(right.next()?),
        source: unescape(right.next()?),
        super_options: list(right.next().unwrap_or_default()),
    })
}

fn list(options: &str) -> Vec<String> {
    options.split(',').map(unescape).collect()
}

/// Blanks and the like are octal: `\040`.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let code = tail.get(..3).filter(|_| first == b'\\').and_then(octal);
        bytes.push(code.unwrap_or(first));
        rest = if code.is_some() { &tail[3..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn octal(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()
}

/// The mount of an absolute path without symbolic links: the longest mount point above it, the last of several on one
/// point, which hides the others.
pub(crate) fn holding<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    mounts
        .iter()
        .filter(|mount| path.starts_with(&mount.point))
        .max_by_key(|mount| mount.point.components().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 master:2 - ext4 /dev/vda rw,discard
40 27 0:50 / /mnt/a\\040b rw,noexec - tmpfs tmpfs rw,size=4k
41 27 254:0 /srv/x /home rw - ext4 /dev/vda rw
42 40 0:51 / /mnt/a\\040b rw - tmpfs second rw
43 27 0:52 / /empty rw - tmpfs  rw
";

    #[test]
    fn deepest_last_mount_contains_path() {
        let mounts = parse(TEXT);
        assert_eq!(mounts.len(), 6);
        assert_eq!(mounts[1].number, (254, 0));
        assert_eq!(mounts[1].super_options, ["rw", "discard"]);
        assert_eq!((&*mounts[3].root, &*mounts[5].source), ("/srv/x", ""));
        for (path, id) in
            [("/usr/bin", 27), ("/home/me", 41), ("/homeless", 27), ("/mnt/a b/c", 42)]
        {
            assert_eq!(holding(&mounts, Path::new(path)).unwrap().id, id, "{path}");
        }
        assert_eq!(holding(&[], Path::new("/")), None);
    }

    #[test]
    fn escapes_that_are_none_stay() {
        assert_eq!(unescape("a\\040b\\134"), "a b\\");
        for none in ["\\", "\\04", "\\999"] {
            assert_eq!(unescape(none), none);
        }
    }
}
