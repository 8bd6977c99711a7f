//! Undo journal of a run: everything that it makes or changes outside its store, recorded beforehand.
//!
//! One file per run, one line per entry, each synced before the change that it describes; the device and inode of a new object follow once
//! it exists. The run holds a lock on its journal, and so does its watchdog through the same open file. A process that gets the lock knows
//! that both are dead, and undoes their changes (`recover`). The file is removed when everything is undone.

use crate::any_resource::AnyResource;
use crate::journal_file::{Entry, Owner, SUFFIX, append, is_at, remove_journal, running_journals};
use crate::owned_files::{Dir, Identity, StateDir};
use crate::recover::undo;
use crate::resource::{Held, Recorder, Resource, Unavailable};
use crate::settings::Setting;
use crate::undo_command::{Command, ShellError};
use crate::watchdog::Watchdog;
use crate::{owned_files, owner};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::unistd::geteuid;
use rustix::fs::OFlags;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::rc::Rc;
use thiserror::Error;

/// Attempts to find a free name. With 128 random bits, none is taken by chance.
const MAX_NAMES: u32 = 10;

#[derive(Clone, Debug)]
pub struct Registry {
    /// Absolute directory for journals, made if missing.
    pub state: StateDir,
    /// Root of the machine's settings: `/`, or a fake tree.
    pub root: PathBuf,
    /// Program and arguments that call [`crate::watch`]. Base and rest of the state directory and the name of the
    /// journal are appended.
    pub watchdog: Vec<OsString>,
    /// Called at the end for each change that could not be undone.
    pub report: fn(&str),
}

/// The undo journal of this process. On drop, everything is undone in reverse order.
#[derive(Debug)]
pub struct Journal {
    registry: Registry,
    state: Dir,
    name: OsString,
    pub(crate) writer: Writer,
    /// Undoes the journal as soon as the run is dead.
    watchdog: Option<Watchdog>,
}

impl Journal {
    /// Creates a locked journal, and starts its watchdog.
    pub fn begin(registry: Registry) -> io::Result<Self> {
        let owner = Owner {
            host: owner::host(),
            boot: owner::boot(),
            namespace: owner::namespace(),
            process: std::process::id(),
            start: owner::our_start(),
        };
        let state = registry.state.make()?;
        let (name, file) = create(&state)?;
        let writer =
            Writer { file: Rc::new(file), path: state.path().join(&name), entries: Rc::default() };
        let mut journal = Self { registry, state, name, writer, watchdog: None };
        journal.writer.record(Entry::Owner(owner))?;
        rustix::fs::fsync(&journal.state)?;
        let Registry { watchdog, state, .. } = &journal.registry;
        let watchdog = Watchdog::start(watchdog, state, &journal.name, &journal.writer.file);
        let why = |why: io::Error| io::Error::new(why.kind(), format!("no watchdog: {why}"));
        journal.watchdog = Some(watchdog.map_err(why)?);
        Ok(journal)
    }

    /// File name in the state directory.
    pub(crate) fn name(&self) -> &OsStr {
        &self.name
    }

    /// Call before anything of a run is measured: prevents others from resuming it meanwhile.
    pub fn measures(&self, run: &str) -> io::Result<()> {
        self.writer.record(Entry::Measures(run.to_owned()))
    }

    /// Call before settings are changed. Fails if another run of this user has changed settings: each would restore
    /// what the other needs.
    pub fn lock_settings(&self) -> Result<Settings<'_>, SettingError> {
        // our entry is written before those of others are read: of two concurrent runs, at least one sees the other
        let length = self.writer.file.metadata()?.len();
        self.writer.record(Entry::Tunes)?;
        let busy = |(_, entries): &(Owner, Vec<Entry>)| entries.contains(&Entry::Tunes);
        match running_journals(&self.state, Some(&self.name)).into_iter().find(busy) {
            Some((owner, _)) => {
                // or it would keep later runs from changing settings
                self.writer.file.set_len(length)?;
                self.writer.entries.borrow_mut().pop();
                Err(SettingError::Busy(owner.process))
            }
            None => Ok(Settings(self)),
        }
    }
}

/// Shares the file of its journal.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    file: Rc<Flock<File>>,
    path: PathBuf,
    entries: Rc<RefCell<Vec<Entry>>>,
}

impl Writer {
    /// Syncs an entry to disk, then adds it to those to be undone.
    fn record(&self, entry: Entry) -> io::Result<()> {
        append(&self.file, &entry).map_err(|why| {
            let what = format!("cannot write {}: {why}", self.path.display());
            io::Error::new(why.kind(), what)
        })?;
        self.entries.borrow_mut().push(entry);
        Ok(())
    }

    /// Makes or changes something until the end of the run, under another name if the first is taken.
    fn make<R: Resource + Clone + Into<AnyResource>>(
        &self,
        named: impl Fn() -> io::Result<R>,
    ) -> io::Result<(R, Option<Identity>)> {
        let mut tries = 0;
        loop {
            let resource = named()?;
            self.record(Entry::Makes(resource.clone().into()))?;
            match resource.make() {
                Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {
                    self.record(Entry::Taken)?;
                    tries += 1;
                    if tries == MAX_NAMES {
                        return Err(why);
                    }
                }
                identity => {
                    let identity = identity?;
                    if let Some(identity) = identity {
                        self.record(Entry::Made(identity))?;
                    }
                    return Ok((resource, identity));
                }
            }
        }
    }
}

impl<R: Resource + Clone + Into<AnyResource>> Recorder<R> for Writer {
    fn acquire(&self, named: impl Fn() -> io::Result<R>) -> Result<Held<R>, Unavailable> {
        let (resource, identity) = self.make(named)?;
        let held = Held { resource, identity };
        held.set_up()?;
        Ok(held)
    }
}

impl<R: Resource + Clone + Into<AnyResource>> Recorder<R> for Journal {
    fn acquire(&self, named: impl Fn() -> io::Result<R>) -> Result<Held<R>, Unavailable> {
        self.writer.acquire(named)
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        let entries = self.writer.entries.take();
        let mut undone = undo(&entries, true, &self.writer.file);
        if undone.complete {
            remove_journal(&self.state, &self.name, &self.writer.file);
        } else {
            undone.note_retries(&self.writer.path, &self.writer.file);
        }
        if let Some(watchdog) = &mut self.watchdog {
            watchdog.dismiss();
        }
        for line in &undone.messages {
            (self.registry.report)(line);
        }
    }
}

#[derive(Debug, Error)]
pub enum SettingError {
    /// Another run's process, which has changed settings.
    #[error("process {0} has tuned the system and is measuring; wait for its end")]
    Busy(u32),
    #[error("{0}: it takes root")]
    NeedsRoot(io::Error),
    #[error(transparent)]
    System(io::Error),
}

impl From<io::Error> for SettingError {
    fn from(why: io::Error) -> Self {
        match why.kind() {
            io::ErrorKind::PermissionDenied if !geteuid().is_root() => Self::NeedsRoot(why),
            _ => Self::System(why),
        }
    }
}

/// Permission to change settings of the machine.
#[derive(Debug)]
pub struct Settings<'a>(&'a Journal);

impl Settings<'_> {
    /// A shell command, run in `directory` at the end of the run, however it ends, if a change was made.
    ///
    /// # Errors
    /// When no descriptor is left.
    pub fn undo_by(&self, command: &str, directory: &Path) -> io::Result<UndoBy> {
        let watchdog = self.0.watchdog.as_ref();
        Ok(UndoBy {
            writer: self.0.writer.clone(),
            command: Command { command: command.to_owned(), directory: directory.to_owned() },
            is_recorded: Cell::new(false),
            stdin: watchdog.ok_or(io::ErrorKind::NotConnected)?.hold()?,
        })
    }

    /// Changes a setting until the end of the run; on error it is unchanged. A setting that has the value already is
    /// left alone.
    pub fn set(&self, path: &str, new: &str) -> Result<(), SettingError> {
        let Self(journal) = self;
        if let Some(change) = Setting::change(&journal.registry.root, path, new)? {
            journal.writer.make(|| Ok(change.clone()))?;
        }
        Ok(())
    }
}

/// Changes made by the user's commands, all undone by one other command.
#[derive(Debug)]
pub struct UndoBy {
    writer: Writer,
    command: Command,
    is_recorded: Cell<bool>,
    /// Standard input of the commands that make changes.
    stdin: OwnedFd,
}

impl UndoBy {
    /// Makes a change by a command with this standard input, after recording the undo command. If the first change fails and was not killed,
    /// nothing has to be undone.
    ///
    /// # Errors
    /// When nothing can be recorded, so that nothing was changed, or when the change fails.
    pub fn change(
        &self,
        make: impl FnOnce(Stdio) -> Result<(), ShellError>,
    ) -> Result<(), ShellError> {
        let stdin = self.stdin.try_clone()?.into();
        if self.is_recorded.get() {
            return make(stdin);
        }
        self.writer.record(Entry::Makes(self.command.clone().into()))?;
        let changed = make(stdin);
        match &changed {
            Err(why) if !why.is_killed() => self.writer.record(Entry::Taken)?,
            Ok(()) | Err(_) => self.is_recorded.set(true),
        }
        changed
    }
}

/// Runs that processes of this user are measuring, with their process ids, without the run of `except`.
pub fn measuring(state: &StateDir, except: Option<&Journal>) -> BTreeMap<String, u32> {
    let Ok(dir) = state.open() else {
        return BTreeMap::new();
    };
    let journals = running_journals(&dir, except.map(Journal::name)).into_iter();
    let journals = journals.filter(|(owner, _)| owner.may_live());
    let runs = journals.flat_map(|(owner, entries)| {
        entries.into_iter().filter_map(move |entry| match entry {
            Entry::Measures(run) => Some((run, owner.process)),
            _ => None,
        })
    });
    runs.collect()
}

fn create(state: &Dir) -> io::Result<(OsString, Flock<File>)> {
    for _ in 0..MAX_NAMES {
        let name = OsString::from(format!("{}{SUFFIX}", owned_files::fresh_name("run")?));
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL;
        let file = match state.file(&name, flags) {
            Err(why) if why.kind() == io::ErrorKind::AlreadyExists => continue,
            opened => opened?,
        };
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(file) if is_at(state, &name, &file) => return Ok((name, file)),
            // another process took it for a dead run's journal before it was locked
            Ok(_) | Err((_, Errno::EWOULDBLOCK)) => {}
            Err((_, errno)) => {
                let _ = state.unlink(&name);
                return Err(errno.into());
            }
        }
    }
    Err(io::Error::other("another process removes the undo journals as soon as they are created"))
}

#[cfg(test)]
mod tests;
