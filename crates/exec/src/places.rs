//! The directories of a run: one to measure files in, and one to execute programs from; more of those where one has no room.
//!
//! They stand in the journal of the run before they are made. Their names carry the process that made them as well,
//! `gritstone.<namespace>.<pid>.<start>`, so that the next start in the same place can tell those of the dead and
//! remove them even where no journal could be kept.
//!
//! Must not know: what is put there.

mod programs;

use crate::journal::Pen;
use crate::owner::{namespace, start_of};
use crate::{ExecError, Journal, swap, volume};
use gritstone_kernels::Embedded;
use programs::Programs;
use std::cell::RefCell;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

const PREFIX: &str = "gritstone.";

/// The directories; all go when this is dropped.
#[derive(Debug)]
pub struct Places {
    /// Where launches that measure no files begin: the first directory of programs.
    programs: PathBuf,
    unpacked: RefCell<Programs>,
    work: PathBuf,
    next: u64,
    /// The directory of a launch, below that of the programs, which is as it was made.
    spare: Option<PathBuf>,
}

impl Places {
    /// Makes both directories: the first of `candidates` from which a program can be executed, and one below `dir`.
    /// First removes what dead processes of this user left there.
    ///
    /// # Errors
    /// When no candidate will do, or `dir` or the journal cannot be written.
    pub fn make(
        candidates: &[PathBuf],
        dir: &Path,
        journal: Option<&mut Journal>,
    ) -> Result<Self, ExecError> {
        for place in candidates.iter().map(PathBuf::as_path).chain([dir]) {
            remove_dead(place);
        }
        let failed = ExecError::system("cannot write the journal of this run");
        let pen = journal
            .map(|journal| journal.pen())
            .transpose()
            .map_err(failed)?;
        let work =
            make_in(dir, "work", pen.as_ref()).map_err(|why| ExecError::NowhereToMeasure {
                dir: dir.to_path_buf(),
                why,
            })?;
        let unpacked = Programs::make(candidates.to_vec(), pen).inspect_err(|_| {
            let _ = remove(&work);
        })?;
        Ok(Self {
            programs: unpacked.directory().to_owned(),
            unpacked: RefCell::new(unpacked),
            work,
            next: 0,
            spare: None,
        })
    }

    /// Where a program of ours is, unpacked if it was not yet.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn program(&self, program: &Embedded) -> Result<PathBuf, ExecError> {
        self.unpacked.borrow_mut().path(program)
    }

    /// An empty directory, as it is made, for one launch: where files are measured if it measures files, otherwise where programs
    /// can be executed, since a compiler's output may be.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn fresh(&mut self, measures_files: bool) -> Result<PathBuf, ExecError> {
        let parent = if measures_files {
            self.work.clone()
        } else {
            self.programs.clone()
        };
        self.fresh_below(&parent)
    }

    /// The same in a directory that is given.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(crate) fn fresh_below(&mut self, parent: &Path) -> Result<PathBuf, ExecError> {
        if parent == self.programs
            && let Some(spare) = self.spare.take()
        {
            return Ok(spare);
        }
        self.next += 1;
        // always as long: a longer path in the environment moves the stack
        let path = parent.join(format!("{:06}", self.next));
        fs::DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .map_err(ExecError::system(format!("cannot make {}", path.display())))?;
        Ok(path)
    }

    /// Takes the directory of a launch back, with all that is in it. One that a launch left alone is good for the next, but where
    /// files are measured: there it may have grown and shrunk.
    pub(crate) fn take_back(&mut self, directory: PathBuf) {
        let ours = directory.parent() == Some(&self.programs);
        if ours && self.spare.is_none() && is_as_made(&directory) {
            self.spare = Some(directory);
        } else {
            let _ = remove(&directory);
        }
    }
}

#[cfg(test)]
impl Places {
    /// Where files are measured, and where programs are executed from.
    pub(crate) fn directories(&self) -> (&Path, &Path) {
        (&self.work, &self.programs)
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        let _ = remove(&self.work);
    }
}

fn make_in(parent: &Path, purpose: &str, pen: Option<&Pen>) -> std::io::Result<PathBuf> {
    let path = parent.join(fresh_name(purpose));
    if let Some(pen) = pen {
        pen.makes(&path)?;
    }
    fs::DirBuilder::new().mode(0o700).create(&path)?;
    Ok(path)
}

/// A name that tells whose it is, always as long, see `fresh`.
pub(crate) fn fresh_name(purpose: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let pid = std::process::id();
    format!(
        "{PREFIX}{:020}.{pid:08}.{:014}.{purpose}{:04}",
        namespace(),
        start_of(pid).unwrap_or(0),
        NEXT.fetch_add(1, Ordering::Relaxed)
    )
}

/// That a name is one of ours: nothing else is ever taken down.
pub(crate) fn must_be_ours(path: &Path) -> std::io::Result<()> {
    let name = path.file_name().and_then(|name| name.to_str());
    match name.and_then(owner) {
        Some(_) => Ok(()),
        None => Err(std::io::Error::other(
            "its name is none that Gritstone gives",
        )),
    }
}

/// Removes directories of ours whose process is no more.
fn remove_dead(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    // without a /proc the dead cannot be told from the living
    if start_of(std::process::id()).is_none() {
        return;
    }
    let (me, here) = (nix::unistd::geteuid().as_raw(), namespace());
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some((its, pid, start)) = name.to_str().and_then(owner) else {
            continue;
        };
        let ours = entry
            .metadata()
            .is_ok_and(|meta| meta.is_dir() && meta.uid() == me);
        if ours && its == here && start_of(pid) != Some(start) {
            // one of them may be a swap file or a file system, which the system must let go of first
            let path = entry.path();
            let _ = swap::release(&path).and_then(|()| volume::remove(&path));
        }
    }
}

/// Whether a directory of ours is empty, and open to us alone.
fn is_as_made(directory: &Path) -> bool {
    let mode = fs::symlink_metadata(directory).map(|meta| meta.mode());
    let empty = fs::read_dir(directory).map(|mut entries| entries.next().is_none());
    matches!((mode, empty), (Ok(mode), Ok(true)) if mode & 0o177_777 == 0o040_700)
}

/// Removes one of our directories with all that is in it, if it is there. Most launches leave theirs empty.
pub(crate) fn remove(dir: &Path) -> std::io::Result<()> {
    let all = fs::remove_dir(dir).or_else(|_| fs::remove_dir_all(dir));
    let removed = all.or_else(|why| {
        if why.kind() != ErrorKind::PermissionDenied {
            return Err(why);
        }
        open_up(dir)?;
        fs::remove_dir_all(dir)
    });
    match removed {
        Err(why) if why.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// A program may have been killed while a directory of its was not writable.
fn open_up(dir: &Path) -> std::io::Result<()> {
    fs::set_permissions(dir, fs::Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(dir)?.flatten() {
        if entry.file_type()?.is_dir() {
            open_up(&entry.path())?;
        }
    }
    Ok(())
}

/// Namespace, process and its start, from the name of a directory.
fn owner(name: &str) -> Option<(u64, u32, u64)> {
    let mut parts = name.strip_prefix(PREFIX)?.split('.');
    let mut number = || parts.next()?.parse::<u64>().ok();
    let (namespace, pid, start) = (number()?, number()?, number()?);
    Some((namespace, u32::try_from(pid).ok()?, start))
}

#[cfg(test)]
mod tests;
