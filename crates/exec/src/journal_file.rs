//! Journals as files: entries, and the holders of their locks.

use crate::any_resource::AnyResource;
use crate::owned_files::{Dir, Identity};
use crate::owner;
use crate::undo_command::Command;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;

pub(crate) const SUFFIX: &str = ".journal";
/// Bytes of a journal that are read: a run has some hundred lines.
const MAX_JOURNAL: u64 = 16 << 20;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Entry {
    /// First entry: the process that writes the journal, and its host.
    #[serde(rename = "by")]
    Owner(Owner),
    /// The run will change settings: no other run may while it lives.
    #[serde(rename = "steadies")]
    Tunes,
    /// Id of the run that is measured.
    Measures(String),
    /// About to make or change this.
    Makes(AnyResource),
    /// Identity of the last resource made.
    Made(Identity),
    /// The last resource was not made: its name was taken, or all of it failed.
    Taken,
    /// About to execute this undo command, which is never repeated.
    Undoes(Command),
    /// The failure to undo was reported to the user.
    Reported,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Owner {
    pub host: String,
    pub boot: String,
    /// Namespace of process ids.
    pub namespace: u32,
    pub process: u32,
    /// Ticks since boot.
    pub start: u64,
}

impl Owner {
    /// True if the writer may be running, as far as this namespace can see. A dead writer's watchdog may still be
    /// undoing.
    pub(crate) fn may_live(&self) -> bool {
        self.namespace != owner::namespace() || owner::may_run(self.process, self.start)
    }
}

/// Journals of running processes, except ours.
pub(crate) fn running_journals(state: &Dir, except: Option<&OsStr>) -> Vec<(Owner, Vec<Entry>)> {
    let names = journals(state).into_iter();
    names
        .filter(|name| Some(name.as_os_str()) != except)
        .filter_map(|name| match open_journal(state, &name) {
            Ok(Holder::Running(owner, entries)) => Some((owner, entries)),
            _ => None,
        })
        .collect()
}

/// True if the name still refers to this file.
pub(crate) fn is_at(state: &Dir, name: &OsStr, file: &File) -> bool {
    let current = Identity::of_entry(state, name).ok();
    current.is_some() && current == Identity::of_file(file).ok()
}

pub(crate) fn remove_journal(state: &Dir, name: &OsStr, file: &File) {
    if is_at(state, name, file) {
        let _ = state.unlink(name);
    }
}

/// A journal by the holder of its lock.
pub(crate) enum Holder {
    /// A running run or its watchdog, and the entries so far.
    Running(Owner, Vec<Entry>),
    /// Locked by us now.
    Dead(Flock<File>),
    /// A running process that has not written its identity.
    Damaged,
}

pub(crate) fn open_journal(state: &Dir, name: &OsStr) -> io::Result<Holder> {
    let file = state.file(name, OFlags::RDWR | OFlags::APPEND)?;
    let text = read_journal(&file)?;
    match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(file) if is_at(state, name, &file) => Ok(Holder::Dead(file)),
        Ok(_) => Err(io::ErrorKind::NotFound.into()),
        Err((_, Errno::EWOULDBLOCK)) => Ok(match parse(&text) {
            (Some(owner), entries, _) => Holder::Running(owner, entries),
            (None, ..) => Holder::Damaged,
        }),
        Err((_, errno)) => Err(errno.into()),
    }
}

/// Adds an entry, and syncs it to disk.
pub(crate) fn append(mut file: &File, entry: &Entry) -> io::Result<()> {
    let mut line = serde_json::to_vec(entry)?;
    line.push(b'\n');
    let before = file.metadata()?.len();
    let written = file.write_all(&line).and_then(|()| file.sync_data());
    if written.is_err() {
        // half a line would corrupt the next
        let _ = file.set_len(before);
    }
    written
}

/// Reads at offsets, without moving the position that other holders of the open file share.
pub(crate) fn read_journal(file: &File) -> io::Result<String> {
    let length = file.metadata()?.len().min(MAX_JOURNAL);
    let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Writer and entries, and true if a line is invalid. An unfinished last line is ignored: the run was killed while it
/// wrote it, so the change has not happened.
pub(crate) fn parse(text: &str) -> (Option<Owner>, Vec<Entry>, bool) {
    let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let read: Vec<Option<Entry>> = lines.map(|line| serde_json::from_str(line).ok()).collect();
    let damaged = read.contains(&None);
    let entries: Vec<Entry> = read.into_iter().flatten().collect();
    let owner = match entries.first() {
        Some(Entry::Owner(owner)) => Some(owner.clone()),
        _ => None,
    };
    (owner, entries, damaged)
}

/// Names of all journals, sorted.
pub(crate) fn journals(state: &Dir) -> Vec<OsString> {
    let mut found = state.names().unwrap_or_default();
    found.retain(|name| name.as_bytes().ends_with(SUFFIX.as_bytes()));
    found.sort();
    found
}
