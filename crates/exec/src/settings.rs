//! Settings of the machine: files with one short value below /sys and /proc, or below a fake root.

use crate::owned_files::Identity;
use crate::resource::{Resource, Undo};
use nix::unistd::{AccessFlags, access};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Setting {
    pub path: PathBuf,
    pub old: String,
    pub new: String,
}

impl Setting {
    /// `None` if the value is set already. Fails without permission, as far as that can be known without trying.
    pub(crate) fn change(root: &Path, path: &str, new: &str) -> io::Result<Option<Self>> {
        let path = root.join(path.trim_start_matches('/'));
        let old = read(&path)?;
        if old == new {
            return Ok(None);
        }
        access(&path, AccessFlags::W_OK)?;
        let new = new.to_owned();
        Ok(Some(Self { path, old, new }))
    }
}

impl Resource for Setting {
    fn make(&self) -> io::Result<Option<Identity>> {
        write(&self.path, &self.new)?;
        let now = read(&self.path)?;
        if now != self.new {
            // undo would take the value for one of another process
            let _ = write(&self.path, &self.old);
            let new = &self.new;
            return Err(io::Error::other(format!("the kernel stored '{now}' for '{new}'")));
        }
        Ok(None)
    }

    /// Restores the old value, if the current one is ours.
    fn undo(&self, _: Option<Identity>) -> io::Result<Undo> {
        let Self { path, old, new } = self;
        let now = read(path)?;
        if now == *old {
            return Ok(Undo::Unchanged);
        }
        // no setting is empty; a file outside the kernel is, if we were killed between truncating and writing it
        if now != *new && !now.is_empty() {
            return Ok(Undo::Left(format!(
                "{} is not restored: it was '{old}', the run set '{new}', and it has been changed to '{now}' since",
                path.display()
            )));
        }
        write(path, old)?;
        Ok(Undo::Restored)
    }

    fn remedy(&self) -> (String, &'static str) {
        let Self { path, old, .. } = self;
        let what = format!("{} cannot be restored to '{old}'", path.display());
        (what, "; do it by hand")
    }
}

fn read(path: &Path) -> io::Result<String> {
    Ok(fs::read_to_string(path)?.trim().to_owned())
}

/// Fails if the file does not exist.
fn write(path: &Path, value: &str) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).truncate(true).open(path)?;
    file.write_all(format!("{value}\n").as_bytes())
}
