//! Work directories of a run: one for measured files, one for programs, and more of these when one is full.
//!
//! They are recorded in the journal before they are made. Their names also name the process that made them, so that the next start
//! in the same place removes those of dead runs of this boot even without a journal. Only a directory of our user
//! with mode 0700 is removed, since others can choose such a name.

mod programs;

use crate::journal::Writer;
use crate::owned_files::{self, Dir, Identity, fresh_name};
use crate::owner::{may_run, namespace};
use crate::resource::{Directory, Held, Recorder, Resource};
use crate::{ExecError, Journal, scratch_fs, swap};
use programs::Programs;
use std::cell::{Cell, RefCell};
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Removed on drop.
#[derive(Debug)]
pub struct WorkDirs {
    /// Working directory of launches without files: the first directory of programs.
    programs: PathBuf,
    unpacked: RefCell<Programs>,
    work: Held<Directory>,
    next: Cell<u64>,
}

impl WorkDirs {
    /// Makes a directory in the first of `candidates` from which a program can be executed, and one below `dir`.
    /// First removes leftovers of this user's dead processes there.
    pub fn make(
        candidates: &[PathBuf],
        dir: &Path,
        journal: Option<&Journal>,
    ) -> Result<Self, ExecError> {
        for place in candidates.iter().map(PathBuf::as_path).chain([dir]) {
            remove_dead(place);
        }
        let writer = journal.map(|journal| journal.writer.clone());
        let work = make_in(dir, "work", writer.as_ref())
            .map_err(|why| ExecError::NowhereToMeasure { dir: dir.to_path_buf(), why })?;
        let unpacked = Programs::make(candidates.to_vec(), writer)?;
        Ok(Self {
            programs: unpacked.directory().to_owned(),
            unpacked: RefCell::new(unpacked),
            work,
            next: Cell::new(0),
        })
    }

    /// The program that counts the instructions of another program.
    ///
    /// # Errors
    /// When it cannot be unpacked.
    pub fn counter(&self) -> Result<PathBuf, ExecError> {
        self.embedded_program(gritstone_kernels::COUNT)
    }

    /// Path of the program, unpacked if needed.
    pub(crate) fn embedded_program(&self, name: &str) -> Result<PathBuf, ExecError> {
        let missing = || std::io::Error::other("build Gritstone again");
        let program = gritstone_kernels::find(name).ok_or_else(missing);
        let program =
            program.map_err(ExecError::system(format!("no program {name} in this binary")))?;
        self.unpacked.borrow_mut().path(program)
    }

    /// An empty directory for one launch: in the directory for files if it measures them, else where programs can be
    /// executed, as compiled ones must be.
    pub fn fresh(&self, measures_files: bool) -> Result<PathBuf, ExecError> {
        self.fresh_below(match measures_files {
            true => &self.work.0,
            false => &self.programs,
        })
    }

    pub(crate) fn fresh_below(&self, parent: &Path) -> Result<PathBuf, ExecError> {
        self.next.update(|next| next + 1);
        // of constant length: a longer path in the environment would move the stack
        let path = parent.join(format!("{:06}", self.next.get()));
        fs::DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .map_err(ExecError::system(format!("cannot make {}", path.display())))?;
        Ok(path)
    }
}

#[cfg(test)]
impl WorkDirs {
    /// Directory for files, and directory for programs.
    pub(crate) fn directories(&self) -> (&Path, &Path) {
        (&self.work.0, &self.programs)
    }
}

fn make_in(
    parent: &Path,
    purpose: &str,
    writer: Option<&Writer>,
) -> std::io::Result<Held<Directory>> {
    owned_files::safe_parent(parent)?;
    let named = || Ok(Directory(parent.join(fresh_name(purpose)?)));
    match writer {
        Some(writer) => Ok(writer.acquire(named)?),
        None => {
            let resource = named()?;
            let identity = resource.make()?;
            Ok(Held { resource, identity })
        }
    }
}

/// Removes our directories of dead processes.
fn remove_dead(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    let here = namespace();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some((its, pid, start)) = name.to_str().and_then(owned_files::creator) else {
            continue;
        };
        if its == here && !may_run(pid, start) {
            let _ = remove_leavings(&entry.path());
        }
    }
}

/// Removes a directory of ours of any name, after detaching swap or a file system in it.
fn remove_leavings(path: &Path) -> std::io::Result<()> {
    let dir = Dir::open(path)?;
    if !dir.is_private()? {
        return Ok(());
    }
    swap::release(&dir)?;
    scratch_fs::release(&dir)?;
    owned_files::remove(path, Some(Identity::of_file(&dir)?))
}

#[cfg(test)]
mod tests;
