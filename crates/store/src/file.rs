//! Location of the database file, and the abilities of its file system.
//!
//! No function here opens an existing database: closing any descriptor of it would drop the locks of other connections
//! of this process.

use crate::StoreError;
use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::unistd::{AccessFlags, faccessat};
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Default path of the database: `$XDG_DATA_HOME/gritstone/gritstone.db`, else
/// `$HOME/.local/share/gritstone/gritstone.db`. Relative values count as unset, as the XDG Base Directory Specification
/// says. `variable` reads the environment.
///
/// # Errors
/// [`StoreError::NoHome`] when neither variable is usable.
pub fn default_path(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, StoreError> {
    let folder = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    folder("XDG_DATA_HOME")
        .or_else(|| folder("HOME").map(|home| home.join(".local/share")))
        .map(|data| data.join("gritstone/gritstone.db"))
        .ok_or(StoreError::NoHome)
}

/// Absolute path of a regular file, if it exists: SQLite treats names such as `:memory:` specially.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf, StoreError> {
    let unusable = |why: &str| StoreError::Unusable(path.to_owned(), why.to_owned());
    if has_scheme(path) {
        return Err(unusable("its scheme is not postgres"));
    }
    // files of /proc call themselves regular
    let is_proc = || magic(path) == Some(0x9fa0);
    let is_odd = |file: Metadata| !file.is_dir() && !file.is_file() || is_proc();
    if path.metadata().is_ok_and(is_odd) {
        return Err(unusable("it is not a regular file"));
    }
    std::path::absolute(path).map_err(|why| unusable(&why.to_string()))
}

fn has_scheme(path: &Path) -> bool {
    let scheme = path.to_str().and_then(|text| text.split_once("://"));
    scheme.is_some_and(|(scheme, _)| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(is_plain)
    })
}

/// Creates the directory and the file, accessible by their owner only. Returns the path without links: no other user
/// can replace it.
pub(crate) fn create_owned(path: &Path) -> Result<PathBuf, StoreError> {
    let Some(folder) = path.parent() else {
        return Err(StoreError::Unusable(path.into(), "it is a folder".into()));
    };
    if path.is_dir() || (path.exists() && !allowed(path, AccessFlags::W_OK)) {
        return Err(cannot_open(path, "it cannot be written"));
    }
    let created = gritstone_files::create_directory(folder);
    let created = created.and_then(|()| gritstone_files::own_file(path));
    created.map_err(|error| match error.kind() {
        _ if gritstone_files::is_not_ours(&error) => {
            StoreError::Unsafe(path.into(), error.to_string())
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            StoreError::ReadOnly(path.into())
        }
        ErrorKind::StorageFull => StoreError::Full(path.into()),
        _ => StoreError::Unusable(folder.into(), error.to_string()),
    })
}

/// The reason of SQLite's "unable to open".
pub(crate) fn cannot_open(path: &Path, what: &str) -> StoreError {
    let folder = path.parent().unwrap_or(path);
    let written = if path.exists() { path } else { folder };
    let closed = match path.try_exists() {
        Ok(is) => is && !allowed(path, AccessFlags::R_OK),
        Err(error) => error.kind() == ErrorKind::PermissionDenied,
    };
    if path.is_dir() {
        StoreError::Unusable(path.into(), "it is a folder".into())
    } else if closed {
        StoreError::NotReadable(path.into())
    } else if !allowed(written, AccessFlags::W_OK) || !allowed(folder, AccessFlags::W_OK) {
        StoreError::ReadOnly(path.into())
    } else {
        StoreError::Unusable(path.into(), what.into())
    }
}

/// A file of SQLite next to the database: `-wal`, `-journal`.
fn sibling(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(OsStr::new(suffix));
    name.into()
}

/// Whether a file next to the database has commits that the database lacks.
pub(crate) fn left_by_a_writer(path: &Path) -> bool {
    ["-wal", "-journal"]
        .iter()
        .any(|suffix| std::fs::metadata(sibling(path, suffix)).is_ok_and(|file| file.len() > 0))
}

/// SQLite URI with `immutable=1`: SQLite then creates no file next to the database, and no process may write to it.
pub(crate) fn immutable(path: &Path) -> String {
    let mut uri = String::from("file://");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => uri.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte)),
            byte => uri.push_str(&format!("%{byte:02x}")),
        }
    }
    uri + "?immutable=1"
}

/// Whether the file system is known to be local: the write-ahead log needs shared memory, and would damage the database
/// over a network.
pub(crate) fn takes_a_log(path: &Path) -> bool {
    // <linux/magic.h>, and the sources of file systems that are not in it
    const LOCAL: [u32; 8] = [
        0xef53,      // ext2, ext3, ext4
        0x5846_5342, // xfs
        0x9123_683e, // btrfs
        0xf2f5_2010, // f2fs
        0x2fc1_2fc1, // zfs
        0xca45_1a4e, // bcachefs
        0x0102_1994, // tmpfs
        0x794c_7630, // overlayfs
    ];
    magic(path.parent().unwrap_or(path)).is_some_and(|magic| LOCAL.contains(&magic))
}

/// The type is signed or unsigned, 32 or 64 bits, by architecture: the magic is in the low 32 bits.
fn magic(path: &Path) -> Option<u32> {
    let file_system = nix::sys::statfs::statfs(path).ok()?;
    Some(file_system.filesystem_type().0 as u32)
}

fn allowed(path: &Path, what: AccessFlags) -> bool {
    faccessat(AT_FDCWD, path, what, AtFlags::AT_EACCESS).is_ok()
}

/// Whether only this user and root can have written the file.
pub(crate) fn belongs_to(path: &Path, uid: u32) -> bool {
    std::fs::metadata(path).is_ok_and(|file| file.uid() == uid && file.mode() & 0o022 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_path_follows_xdg() {
        let home = Some("/home/ann/.local/share/gritstone/gritstone.db");
        let data = Some("/data/gritstone/gritstone.db");
        for (home_is, data_is, expected) in [
            (Some("/home/ann"), None, home),
            (Some("/home/ann"), Some("/data"), data),
            (None, Some("/data"), data),
            // a relative path counts as unset
            (Some("/home/ann"), Some(""), home),
            (Some("/home/ann"), Some("data"), home),
            (None, None, None),
            (Some(""), None, None),
            (Some("ann"), Some("x"), None),
        ] {
            let variable = |name: &str| match name {
                "HOME" => home_is.map(OsString::from),
                _ => data_is.map(OsString::from),
            };
            match (default_path(variable), expected) {
                (Ok(path), Some(expected)) => assert_eq!(path, Path::new(expected)),
                (Err(StoreError::NoHome), None) => {}
                (found, _) => panic!("{home_is:?} {data_is:?}: {found:?}"),
            }
        }
    }

    #[test]
    fn paths_become_uris() {
        let uri = immutable(Path::new("/a b/50%?x=1#ä/g.db"));
        assert_eq!(uri, "file:///a%20b/50%25%3fx%3d1%23%c3%a4/g.db?immutable=1");
    }
}
