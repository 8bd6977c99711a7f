//! The directories of a run: one to measure files in, and one to execute programs from; more of those where one has no room.
//!
//! They stand in the journal of the run before they are made. Their names carry the process that made them as well,
//! so that the next start in the same place finds those of the dead and removes them even where no journal could be kept. A name
//! alone is no proof: only a directory of our user, with mode 0700, is removed.

mod programs;

use crate::journal::Writer;
use crate::owned_files::{self, Dir, Identity, fresh_name};
use crate::owner::{namespace, start_of};
use crate::resource::{Directory, Held, Resource, Thing};
use crate::{ExecError, Journal, scratch_fs, swap};
use gritstone_kernels::Embedded;
use programs::Programs;
use std::cell::{Cell, RefCell};
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The directories; all go when this is dropped.
#[derive(Debug)]
pub struct Places {
    /// Where launches that measure no files begin: the first directory of programs.
    programs: PathBuf,
    unpacked: RefCell<Programs>,
    work: Held<Directory>,
    next: Cell<u64>,
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
        journal: Option<&Journal>,
    ) -> Result<Self, ExecError> {
        for place in candidates.iter().map(PathBuf::as_path).chain([dir]) {
            remove_dead(place);
        }
        let writer = journal.map(|journal| journal.writer.clone());
        let work =
            make_in(dir, "work", writer.as_ref()).map_err(|why| ExecError::NowhereToMeasure {
                dir: dir.to_path_buf(),
                why,
            })?;
        let unpacked = Programs::make(candidates.to_vec(), writer)?;
        Ok(Self {
            programs: unpacked.directory().to_owned(),
            unpacked: RefCell::new(unpacked),
            work,
            next: Cell::new(0),
        })
    }

    /// Where a program of ours is, unpacked if it was not yet.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn program(&self, program: &Embedded) -> Result<PathBuf, ExecError> {
        self.unpacked.borrow_mut().path(program)
    }

    /// The same by its name.
    ///
    /// # Errors
    /// As of [`Self::program`], or when there is none of that name.
    pub(crate) fn program_called(&self, name: &str) -> Result<PathBuf, ExecError> {
        let missing = || std::io::Error::other("build Gritstone again");
        let program = gritstone_kernels::find(name).ok_or_else(missing);
        self.program(program.map_err(ExecError::system(format!(
            "no program {name} in this binary"
        )))?)
    }

    /// An empty directory, as it is made, for one launch: where files are measured if it measures files, otherwise where programs
    /// can be executed, since a compiler's output may be.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn fresh(&self, measures_files: bool) -> Result<PathBuf, ExecError> {
        self.fresh_below(match measures_files {
            true => &self.work.0,
            false => &self.programs,
        })
    }

    /// The same in a directory that is given.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(crate) fn fresh_below(&self, parent: &Path) -> Result<PathBuf, ExecError> {
        self.next.update(|next| next + 1);
        // always as long: a longer path in the environment moves the stack
        let path = parent.join(format!("{:06}", self.next.get()));
        fs::DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .map_err(ExecError::system(format!("cannot make {}", path.display())))?;
        Ok(path)
    }
}

#[cfg(test)]
impl Places {
    /// Where files are measured, and where programs are executed from.
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
        Some(writer) => Ok(writer.acquire(Thing::Directory, named)?),
        None => {
            let resource = named()?;
            let made = resource.make()?;
            Ok(Held { resource, made })
        }
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
    let here = namespace();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some((its, pid, start)) = name.to_str().and_then(owned_files::maker) else {
            continue;
        };
        if its == here && start_of(pid) != Some(start) {
            let _ = remove_leavings(&entry.path());
        }
    }
}

/// Removes one of them, if it is ours whatever its name. It may be a swap file or a file system, which the system must let go of
/// first.
fn remove_leavings(path: &Path) -> std::io::Result<()> {
    let dir = Dir::open(path)?;
    if !dir.is_private()? {
        return Ok(());
    }
    swap::release(&dir)?;
    scratch_fs::release(&dir)?;
    owned_files::remove(path, Some(Identity::of(&dir)?))
}

#[cfg(test)]
mod tests;
