//! Undoes journals: that of this process at its end, those of dead ones at the next start.

use crate::journal::{By, ENDING, Entry, Journal};
use crate::owned_files::{self, Dir, Identity, State};
use crate::owner;
use crate::resource::{Back, Resource, Thing};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::sys::memfd::{MFdFlags, memfd_create};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{self, ExitStatus, Stdio};

/// Bytes of a command's error output that are passed on.
const MOST_SAID: u64 = 2000;
/// Bytes of a journal that are read: a run has some hundred lines.
const MOST_WRITTEN: u64 = 16 << 20;

/// Result of undoing a journal.
#[derive(Debug)]
pub(crate) struct Undone {
    /// Restored settings.
    pub put_back: usize,
    /// Messages for the user.
    pub said: Vec<String>,
    /// Nothing is left for another attempt.
    pub whole: bool,
}

/// Undoes entries in reverse order. Settings only in the same boot, since a restart resets them.
pub(crate) fn undo(entries: &[Entry], same_boot: bool) -> Undone {
    let mut undone = Undone {
        put_back: 0,
        said: vec![],
        whole: true,
    };
    for (thing, identity) in made(entries).into_iter().rev() {
        match thing {
            Thing::Setting(_) if !same_boot => {}
            Thing::Command(Command { command, .. }) if !same_boot => undone.said.push(format!(
                "the system was restarted before '{command}' could undo the changes of a run: check whether it is still needed"
            )),
            // they are gone since the restart: the same name is not ours
            Thing::Group(_) | Thing::Trace(_) | Thing::Load(_) if !same_boot => {}
            thing => undone.add(thing, identity),
        }
    }
    undone
}

/// Things made or changed, in order, with their identity if known.
fn made(entries: &[Entry]) -> Vec<(&Thing, Option<Identity>)> {
    let mut all = vec![];
    for entry in entries {
        match entry {
            Entry::Makes(thing) => all.push((thing, None)),
            Entry::Made(identity) => {
                if let Some((_, known)) = all.last_mut() {
                    *known = Some(*identity);
                }
            }
            Entry::Taken => drop(all.pop()),
            Entry::By(_) | Entry::Steadies | Entry::Measures(_) => {}
        }
    }
    all
}

impl Undone {
    fn add(&mut self, thing: &Thing, identity: Option<Identity>) {
        match thing.resource().undo(identity) {
            Ok(Back::Gone | Back::Unchanged) => {}
            Ok(Back::Restored) => self.put_back += 1,
            Ok(Back::Left(why)) => self.said.push(why),
            Err(why) => {
                // what is not ours will not be ours at the next attempt either
                self.whole &= owned_files::is_not_ours(&why);
                let (what, remedy) = thing.resource().remedy();
                self.said.push(format!("{what}: {why}{remedy}"));
            }
        }
    }
}

/// A user's command that undoes other commands, for the shell in a directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Command {
    pub command: String,
    pub directory: PathBuf,
}

impl Resource for Command {
    /// The user's commands make the change later.
    fn make(&self) -> io::Result<Option<Identity>> {
        Ok(None)
    }

    fn undo(&self, _: Option<Identity>) -> io::Result<Back> {
        shell(&self.command, &self.directory).map_err(io::Error::other)?;
        Ok(Back::Restored)
    }

    fn remedy(&self) -> (String, &'static str) {
        let Self { command, .. } = self;
        let what = format!("the command that undoes what the run has changed, '{command}', failed");
        (what, "; do it by hand")
    }
}

/// Runs a user's command in the shell; waits for it, not for its background processes. An error has its status and
/// output.
pub fn shell(command: &str, directory: &Path) -> Result<(), String> {
    let start = || -> io::Result<(ExitStatus, String)> {
        // not a pipe, which would end with its last holder
        let mut said = File::from(memfd_create("said", MFdFlags::MFD_CLOEXEC)?);
        let status = process::Command::new("/bin/sh")
            .args(["-c", command])
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(said.try_clone()?)
            .status()?;
        let mut bytes = vec![];
        said.rewind()?;
        said.take(MOST_SAID).read_to_end(&mut bytes)?;
        Ok((status, String::from_utf8_lossy(&bytes).trim().to_owned()))
    };
    let (status, said) = start().map_err(|why| why.to_string())?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{status}; it said: {said}")),
    }
}

/// Undoes the changes of this user's killed runs whose watchdogs are dead too. Returns messages for the user.
#[must_use]
pub fn recover(state: &State) -> Vec<String> {
    let dir = match state.open() {
        Ok(dir) => dir,
        Err(why) if why.kind() == io::ErrorKind::NotFound => return vec![],
        Err(why) => {
            return vec![format!("cannot look for leftovers of killed runs: {why}")];
        }
    };
    let mut said = vec![];
    for name in journals(&dir) {
        match look(&dir, &name) {
            Ok(Held::ByNobody(file)) => said.extend(settle(Some(&dir), &name, &file)),
            Ok(Held::ByTheLiving(..) | Held::Damaged) => {}
            Err(why) if why.kind() == io::ErrorKind::NotFound => {}
            Err(why) if owned_files::is_not_ours(&why) => {
                said.push(format!("a journal is not followed: {why}"));
            }
            Err(why) => said.push(format!(
                "cannot read {}: {why}; if the run that wrote it was killed, `gritstone doctor` as its user undoes what it changed",
                dir.path().join(&name).display()
            )),
        }
    }
    said
}

/// Undoes the changes of a dead run whose journal is open, and locked by us as well.
pub(crate) fn outlive(state: &State, name: &OsStr, journal: &File) -> io::Result<Vec<String>> {
    owned_files::check_file(journal, &state.path().join(name))?;
    // the run wrote it, wherever the directory is now
    let dir = state.open().ok();
    Ok(settle(dir.as_ref(), name, journal))
}

/// Runs that other processes of this user are measuring, with their process.
#[must_use]
pub fn measuring(state: &State, own: Option<&Journal>) -> BTreeMap<String, u32> {
    let Ok(dir) = state.open() else {
        return BTreeMap::new();
    };
    let journals = living(&dir, own.map(Journal::name)).into_iter();
    let journals = journals.filter(|(by, _)| by.lives());
    let runs = journals.flat_map(|(by, entries)| {
        entries.into_iter().filter_map(move |entry| match entry {
            Entry::Measures(run) => Some((run, by.process)),
            _ => None,
        })
    });
    runs.collect()
}

/// Journals of running processes, except ours.
pub(crate) fn living(state: &Dir, own: Option<&OsStr>) -> Vec<(By, Vec<Entry>)> {
    let names = journals(state).into_iter();
    names
        .filter(|name| Some(name.as_os_str()) != own)
        .filter_map(|name| match look(state, &name) {
            Ok(Held::ByTheLiving(by, entries)) => Some((by, entries)),
            _ => None,
        })
        .collect()
}

/// True if the name still refers to this file.
pub(crate) fn is_at(state: &Dir, name: &OsStr, file: &File) -> bool {
    let there = Identity::at(state, name).ok();
    there.is_some() && there == Identity::of(file).ok()
}

pub(crate) fn forget(state: &Dir, name: &OsStr, file: &File) {
    if is_at(state, name, file) {
        let _ = state.unlink(name);
    }
}

/// A journal by the holder of its lock.
enum Held {
    /// A running run or its watchdog, and the entries so far.
    ByTheLiving(By, Vec<Entry>),
    /// Locked by us now.
    ByNobody(Flock<File>),
    /// Of a running process that has not written its identity.
    Damaged,
}

fn look(state: &Dir, name: &OsStr) -> io::Result<Held> {
    let file = state.file(name, OFlags::RDONLY)?;
    let text = written(&file)?;
    match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(file) if is_at(state, name, &file) => Ok(Held::ByNobody(file)),
        Ok(_) => Err(io::ErrorKind::NotFound.into()),
        Err((_, Errno::EWOULDBLOCK)) => Ok(match parse(&text) {
            (Some(by), entries, _) => Held::ByTheLiving(by, entries),
            (None, ..) => Held::Damaged,
        }),
        Err((_, errno)) => Err(errno.into()),
    }
}

/// By offset: others may share the open file.
fn written(file: &File) -> io::Result<String> {
    let length = file.metadata()?.len().min(MOST_WRITTEN);
    let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Undoes the changes of a dead run, and removes its journal if complete.
fn settle(state: Option<&Dir>, name: &OsStr, file: &File) -> Vec<String> {
    let shown = state.map_or(PathBuf::from(name), |state| state.path().join(name));
    let text = match written(file) {
        Ok(text) => text,
        Err(why) => return vec![format!("cannot read {}: {why}", shown.display())],
    };
    let (by, entries, damaged) = parse(&text);
    let mut said = vec![];
    if damaged {
        said.push(format!(
            "{} is damaged: what can be read of it is undone; look at the rest, then remove it",
            shown.display()
        ));
    }
    // a run that could not write its identity has done nothing
    let mut whole = true;
    if let Some(by) = by {
        let same_boot = by.boot == owner::boot();
        if !same_boot && by.host != owner::host() {
            return vec![]; // another machine's, in a home that machines share
        }
        let undone = undo(&entries, same_boot);
        if undone.put_back > 0 {
            said.push(format!(
                "process {} was killed while the system was tuned for it; restored: {}",
                by.process,
                match undone.put_back {
                    1 => "1 setting".to_owned(),
                    n => format!("{n} settings"),
                }
            ));
        }
        said.extend(undone.said);
        whole = undone.whole;
    }
    if let Some(state) = state.filter(|_| whole && !damaged) {
        forget(state, name, file);
    }
    said
}

/// Writer and entries, and true if a line is invalid. An unfinished last line is ignored: the run was killed while it
/// wrote it, so the change has not happened.
fn parse(text: &str) -> (Option<By>, Vec<Entry>, bool) {
    let lines = text
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'));
    let read: Vec<Option<Entry>> = lines.map(|line| serde_json::from_str(line).ok()).collect();
    let damaged = read.contains(&None);
    let entries: Vec<Entry> = read.into_iter().flatten().collect();
    let by = match entries.first() {
        Some(Entry::By(by)) => Some(by.clone()),
        _ => None,
    };
    (by, entries, damaged)
}

/// Sorted.
fn journals(state: &Dir) -> Vec<OsString> {
    let mut found = state.names().unwrap_or_default();
    found.retain(|name| name.as_bytes().ends_with(ENDING.as_bytes()));
    found.sort();
    found
}
