//! Undoes journals: that of this process at its end, those of dead ones at the next start.

use crate::journal::{By, Entry, Journal, SUFFIX};
use crate::owned_files::{self, Dir, Identity, State};
use crate::owner;
use crate::resource::{Resource, Thing, Undo};
use gritstone_model::pluralize;
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
const MAX_OUTPUT: u64 = 2000;
/// Bytes of a journal that are read: a run has some hundred lines.
const MAX_JOURNAL: u64 = 16 << 20;

/// Result of undoing a journal.
#[derive(Debug)]
pub(crate) struct UndoReport {
    /// Restored settings.
    pub restored: usize,
    /// Messages for the user.
    pub messages: Vec<String>,
    /// Nothing is left for another attempt.
    pub whole: bool,
}

/// Undoes entries in reverse order. Settings only in the same boot, since a restart resets them.
pub(crate) fn undo(entries: &[Entry], same_boot: bool) -> UndoReport {
    let mut undone = UndoReport {
        restored: 0,
        messages: vec![],
        whole: true,
    };
    for (thing, identity) in recorded_things(entries).into_iter().rev() {
        match thing {
            Thing::Setting(_) if !same_boot => {}
            Thing::Command(Command { command, .. }) if !same_boot => undone.messages.push(format!(
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
fn recorded_things(entries: &[Entry]) -> Vec<(&Thing, Option<Identity>)> {
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

impl UndoReport {
    fn add(&mut self, thing: &Thing, identity: Option<Identity>) {
        match thing.resource().undo(identity) {
            Ok(Undo::Gone | Undo::Unchanged) => {}
            Ok(Undo::Restored) => self.restored += 1,
            Ok(Undo::Left(why)) => self.messages.push(why),
            Err(why) => {
                // what is not ours will not be ours at the next attempt either
                self.whole &= owned_files::is_not_ours(&why);
                let (what, remedy) = thing.resource().remedy();
                self.messages.push(format!("{what}: {why}{remedy}"));
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

    fn undo(&self, _: Option<Identity>) -> io::Result<Undo> {
        shell(&self.command, &self.directory).map_err(io::Error::other)?;
        Ok(Undo::Restored)
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
        let mut stderr = File::from(memfd_create("stderr", MFdFlags::MFD_CLOEXEC)?);
        let status = process::Command::new("/bin/sh")
            .args(["-c", command])
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(stderr.try_clone()?)
            .status()?;
        let mut bytes = vec![];
        stderr.rewind()?;
        stderr.take(MAX_OUTPUT).read_to_end(&mut bytes)?;
        Ok((status, String::from_utf8_lossy(&bytes).trim().to_owned()))
    };
    let (status, stderr) = start().map_err(|why| why.to_string())?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{status}; it said: {stderr}")),
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
    let mut messages = vec![];
    for name in journals(&dir) {
        match open_journal(&dir, &name) {
            Ok(Holder::Dead(file)) => messages.extend(undo_dead(Some(&dir), &name, &file)),
            Ok(Holder::Running(..) | Holder::Damaged) => {}
            Err(why) if why.kind() == io::ErrorKind::NotFound => {}
            Err(why) if owned_files::is_not_ours(&why) => {
                messages.push(format!("a journal is not followed: {why}"));
            }
            Err(why) => messages.push(format!(
                "cannot read {}: {why}; if the run that wrote it was killed, `gritstone doctor` as its user undoes what it changed",
                dir.path().join(&name).display()
            )),
        }
    }
    messages
}

/// Undoes the changes of a dead run whose journal is open, and locked by us as well.
pub(crate) fn undo_dead_run(
    state: &State,
    name: &OsStr,
    journal: &File,
) -> io::Result<Vec<String>> {
    owned_files::check_file(journal, &state.path().join(name))?;
    // the run wrote it, wherever the directory is now
    let dir = state.open().ok();
    Ok(undo_dead(dir.as_ref(), name, journal))
}

/// Runs that other processes of this user are measuring, with their process.
#[must_use]
pub fn measuring(state: &State, own: Option<&Journal>) -> BTreeMap<String, u32> {
    let Ok(dir) = state.open() else {
        return BTreeMap::new();
    };
    let journals = running_journals(&dir, own.map(Journal::name)).into_iter();
    let journals = journals.filter(|(by, _)| by.may_live());
    let runs = journals.flat_map(|(by, entries)| {
        entries.into_iter().filter_map(move |entry| match entry {
            Entry::Measures(run) => Some((run, by.process)),
            _ => None,
        })
    });
    runs.collect()
}

/// Journals of running processes, except ours.
pub(crate) fn running_journals(state: &Dir, own: Option<&OsStr>) -> Vec<(By, Vec<Entry>)> {
    let names = journals(state).into_iter();
    names
        .filter(|name| Some(name.as_os_str()) != own)
        .filter_map(|name| match open_journal(state, &name) {
            Ok(Holder::Running(by, entries)) => Some((by, entries)),
            _ => None,
        })
        .collect()
}

/// True if the name still refers to this file.
pub(crate) fn is_at(state: &Dir, name: &OsStr, file: &File) -> bool {
    let there = Identity::of_entry(state, name).ok();
    there.is_some() && there == Identity::of_file(file).ok()
}

pub(crate) fn remove_journal(state: &Dir, name: &OsStr, file: &File) {
    if is_at(state, name, file) {
        let _ = state.unlink(name);
    }
}

/// A journal by the holder of its lock.
enum Holder {
    /// A running run or its watchdog, and the entries so far.
    Running(By, Vec<Entry>),
    /// Locked by us now.
    Dead(Flock<File>),
    /// Of a running process that has not written its identity.
    Damaged,
}

fn open_journal(state: &Dir, name: &OsStr) -> io::Result<Holder> {
    let file = state.file(name, OFlags::RDONLY)?;
    let text = read_journal(&file)?;
    match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(file) if is_at(state, name, &file) => Ok(Holder::Dead(file)),
        Ok(_) => Err(io::ErrorKind::NotFound.into()),
        Err((_, Errno::EWOULDBLOCK)) => Ok(match parse(&text) {
            (Some(by), entries, _) => Holder::Running(by, entries),
            (None, ..) => Holder::Damaged,
        }),
        Err((_, errno)) => Err(errno.into()),
    }
}

/// By offset: others may share the open file.
fn read_journal(file: &File) -> io::Result<String> {
    let length = file.metadata()?.len().min(MAX_JOURNAL);
    let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Undoes the changes of a dead run, and removes its journal if complete.
fn undo_dead(state: Option<&Dir>, name: &OsStr, file: &File) -> Vec<String> {
    let shown = state.map_or(PathBuf::from(name), |state| state.path().join(name));
    let text = match read_journal(file) {
        Ok(text) => text,
        Err(why) => return vec![format!("cannot read {}: {why}", shown.display())],
    };
    let (by, entries, damaged) = parse(&text);
    let mut messages = vec![];
    if damaged {
        messages.push(format!(
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
        if undone.restored > 0 {
            messages.push(format!(
                "process {} was killed while the system was tuned for it; restored: {}",
                by.process,
                format_args!(
                    "{} {}",
                    undone.restored,
                    pluralize(undone.restored, "setting")
                )
            ));
        }
        messages.extend(undone.messages);
        whole = undone.whole;
    }
    if let Some(state) = state.filter(|_| whole && !damaged) {
        remove_journal(state, name, file);
    }
    messages
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
    found.retain(|name| name.as_bytes().ends_with(SUFFIX.as_bytes()));
    found.sort();
    found
}
