//! Settings of the machine: files of one short value below /sys and /proc, or below a made-up root.
//!
//! Must not know: what a setting is for, who remembers its old value.

use nix::unistd::{AccessFlags, access};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

fn file(root: &Path, path: &str) -> PathBuf {
    root.join(path.trim_start_matches('/'))
}

/// The value, without the white space around it.
pub(crate) fn read(root: &Path, path: &str) -> io::Result<String> {
    Ok(fs::read_to_string(file(root, path))?.trim().to_owned())
}

/// Whether it may be changed, as far as that can be known without trying.
pub(crate) fn writable(root: &Path, path: &str) -> io::Result<()> {
    Ok(access(&file(root, path), AccessFlags::W_OK)?)
}

/// Changes it. A setting that is not there is not made.
pub(crate) fn write(root: &Path, path: &str, value: &str) -> io::Result<()> {
    let mut file = fs::OpenOptions::new()
        .write(true)
        .truncate(true)
        .open(file(root, path))?;
    file.write_all(format!("{value}\n").as_bytes())
}

/// What came of putting a setting back.
#[derive(Debug)]
pub(crate) enum Back {
    /// It was the new value, and is the old one again.
    Done,
    /// It was the old value: the change had not been made yet.
    Unchanged,
    /// Somebody else set it to this meanwhile, and it was left so.
    Foreign(String),
    /// It cannot be put back.
    Failed(io::Error),
}

/// Puts a setting back, if it is still as we set it.
pub(crate) fn put_back(root: &Path, path: &str, old: &str, new: &str) -> Back {
    match read(root, path) {
        Ok(now) if now == old => Back::Unchanged,
        Ok(now) if now != new => Back::Foreign(now),
        Ok(_) => match write(root, path, old) {
            Ok(()) => Back::Done,
            Err(why) => Back::Failed(why),
        },
        Err(why) => Back::Failed(why),
    }
}
