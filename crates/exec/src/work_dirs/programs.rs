//! Directories of programs. Each program is unpacked on first use into the first directory with room.

use super::make_in;
use crate::journal::Writer;
use crate::process::{nothing, spawn};
use crate::resource::{Directory, Held};
use crate::{ExecError, Shortage};
use gritstone_kernels::{Embedded, SUPERVISOR};
use nix::sys::statvfs::statvfs;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Removed on drop.
#[derive(Debug)]
pub(super) struct Programs {
    /// In order. Programs can be executed in each; the first has the supervisor.
    directories: Vec<Held<Directory>>,
    /// For further directories when these are full, best first.
    candidates: std::vec::IntoIter<PathBuf>,
    writer: Option<Writer>,
    /// Not checked again: a program that is removed fails the benchmarks that need it.
    unpacked: BTreeMap<String, PathBuf>,
}

impl Programs {
    /// Fails if no candidate permits execution.
    pub(super) fn make(
        candidates: Vec<PathBuf>,
        writer: Option<Writer>,
    ) -> Result<Self, ExecError> {
        let mut programs = Self {
            directories: vec![],
            candidates: candidates.into_iter(),
            writer,
            unpacked: BTreeMap::new(),
        };
        let mut tried = vec![];
        let Some(dir) = programs.another(&mut tried)? else {
            return Err(ExecError::NowhereToExecute { tried: tried.join(", ") });
        };
        // executing the supervisor there has succeeded
        let supervisor = dir.join(file_name(SUPERVISOR));
        programs.unpacked.insert(SUPERVISOR.to_owned(), supervisor);
        Ok(programs)
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directories[0].0
    }

    pub(super) fn path(&mut self, program: &Embedded) -> Result<PathBuf, ExecError> {
        if let Some(path) = self.unpacked.get(program.name) {
            return Ok(path.clone());
        }
        let mut full = vec![];
        let mut next = 0;
        let path = loop {
            let dir = match self.directories.get(next) {
                Some(dir) => dir.0.clone(),
                None => match self.another(&mut full)? {
                    Some(dir) => dir,
                    None => return Err(no_room(program, &full)),
                },
            };
            next += 1;
            let path = dir.join(file_name(program.name));
            match unpack(program, &path) {
                Ok(()) => break path,
                Err(why) if is_full(&why) => {
                    let place = dir.parent().unwrap_or(&dir);
                    full.push(format!("{} ({})", place.display(), free(place)));
                }
                Err(why) => {
                    let what = format!("cannot unpack {} to {}", program.name, path.display());
                    return Err(ExecError::system(what)(why));
                }
            }
        };
        self.unpacked.insert(program.name.to_owned(), path.clone());
        Ok(path)
    }

    /// Makes a directory in the next usable candidate; records unusable ones in `tried`. Fails for shortages that all
    /// candidates share.
    fn another(&mut self, tried: &mut Vec<String>) -> Result<Option<PathBuf>, ExecError> {
        for candidate in self.candidates.by_ref() {
            match usable(&candidate, self.writer.as_ref()) {
                Ok(dir) => {
                    let path = dir.0.clone();
                    self.directories.push(dir);
                    return Ok(Some(path));
                }
                Err(why) if Shortage::from_error(&why).is_none() || is_full(&why) => {
                    tried.push(format!("{} ({why})", candidate.display()));
                }
                Err(why) => {
                    let what = format!("cannot execute a program in {}", candidate.display());
                    return Err(ExecError::system(what)(why));
                }
            }
        }
        Ok(None)
    }
}

fn no_room(program: &Embedded, full: &[String]) -> ExecError {
    let what = format!(
        "{} takes {} KB, and no directory has room for it: {}; set TMPDIR to one that has",
        program.name,
        program.size().div_ceil(1024),
        full.join(", ")
    );
    ExecError::NoRoom { what }
}

fn is_full(why: &io::Error) -> bool {
    matches!(Shortage::from_error(why), Some(Shortage::Space | Shortage::Quota))
}

fn free(dir: &Path) -> String {
    match statvfs(dir) {
        Ok(fs) => {
            let bytes = fs.blocks_available().saturating_mul(fs.fragment_size());
            format!("{} KB are free", bytes / 1024)
        }
        Err(errno) => errno.desc().to_owned(),
    }
}

fn file_name(program: &str) -> String {
    program.replace('/', "_")
}

fn unpack(program: &Embedded, path: &Path) -> io::Result<()> {
    let bytes = program.bytes()?;
    let part = path.with_extension("part");
    let mut file =
        fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o700).open(&part)?;
    let written = file.write_all(&bytes);
    drop(file);
    let unpacked = written.and_then(|()| fs::rename(&part, path));
    if unpacked.is_err() {
        // half a program would take the room that a smaller one needs
        let _ = fs::remove_file(&part);
    }
    unpacked
}

/// Makes our directory in `candidate`, and executes a program in it: only trying detects `noexec` mounts and security
/// modules.
fn usable(candidate: &Path, writer: Option<&Writer>) -> io::Result<Held<Directory>> {
    let dir = make_in(candidate, "programs", writer)?;
    execute_in(&dir.0)?;
    Ok(dir)
}

fn execute_in(dir: &Path) -> io::Result<()> {
    let missing = || io::Error::other("the supervisor is not in this binary");
    let supervisor = gritstone_kernels::find(SUPERVISOR).ok_or_else(missing)?;
    let path = dir.join(file_name(SUPERVISOR));
    unpack(supervisor, &path)?;
    let mut command = Command::new(&path);
    command.stdin(nothing()?).stdout(nothing()?).stderr(nothing()?);
    let status = spawn(&mut command)?.wait()?;
    // without arguments it prints its usage, and exits with 2
    match status.code() {
        Some(2) => Ok(()),
        _ => Err(io::Error::other(format!("a program there ends with {status}"))),
    }
}
