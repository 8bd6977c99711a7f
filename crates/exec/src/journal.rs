//! The journal of a run: everything that it makes or changes outside its store, written down before it is done.
//!
//! One file a run, one line an entry, each on the disk before what it speaks of happens; what was made is known from then on by its
//! device and inode, which follow. The run holds a lock on its journal while it lives, and so does its watchdog, which has the same
//! open file. Whoever else gets the lock knows that both are dead, and finishes their business (`recover`). The file goes when all
//! of it is undone.

use crate::owned_files::{Dir, Identity, State};
use crate::recover::{self, Command, living, undo};
use crate::resource::{Held, Resource, Thing, Unavailable};
use crate::settings::Setting;
use crate::watchdog::Watchdog;
use crate::{owned_files, owner};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::unistd::geteuid;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use thiserror::Error;

/// What the name of a journal ends in.
pub(crate) const ENDING: &str = ".journal";
/// Names that are tried: with 128 random bits, none is ever taken twice by chance.
const TRIES: u32 = 10;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Entry {
    /// The first: who writes, and on what.
    By(By),
    /// It means to change settings: no other run may while it lives.
    Steadies,
    /// It measures the run of this identifier.
    Measures(String),
    /// It is about to make or change this.
    Makes(Thing),
    /// The last that it was about to make is this now.
    Made(Identity),
    /// The last that it was about to make is somebody else's.
    Taken,
}

/// Who writes a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct By {
    pub host: String,
    pub boot: String,
    /// Of process numbers.
    pub namespace: u32,
    pub process: u32,
    /// Ticks since boot.
    pub start: u64,
}

impl By {
    /// Whether it may be at work, as far as can be seen from here: its watchdog may still undo what it had done.
    pub(crate) fn lives(&self) -> bool {
        self.namespace != owner::namespace() || owner::start_of(self.process) == Some(self.start)
    }
}

/// What a journal is begun with.
#[derive(Clone, Debug)]
pub struct Registry {
    /// Directory of the user's in which journals are kept, made if need be. Absolute.
    pub state: State,
    /// Below which the machine's settings lie: `/`, or a made-up tree.
    pub root: PathBuf,
    /// Program and arguments that call [`crate::watch`] with what is added to them: base and rest of the state directory, and the
    /// name of the journal in it.
    pub watchdog: Vec<OsString>,
    /// Who is told, at the end, what could not be undone.
    pub tell: fn(&str),
}

/// The journal of this process's run. When it is dropped, everything in it is undone, the last first.
#[derive(Debug)]
pub struct Journal {
    registry: Registry,
    state: Dir,
    name: OsString,
    pub(crate) writer: Writer,
    /// Undoes what the journal says as soon as the run is dead.
    watchdog: Option<Watchdog>,
}

impl Journal {
    /// Begins the journal of a run, with its watchdog.
    ///
    /// # Errors
    /// When it cannot be written or locked, the state directory is not ours alone, or nobody could watch over the run.
    pub fn begin(registry: Registry) -> io::Result<Self> {
        let by = By {
            host: owner::host(),
            boot: owner::boot(),
            namespace: owner::namespace(),
            process: std::process::id(),
            start: owner::start_of(std::process::id()).unwrap_or(0),
        };
        let state = registry.state.make()?;
        let (name, file) = create(&state)?;
        let writer = Writer {
            file: Rc::new(file),
            path: state.path().join(&name),
            entries: Rc::default(),
        };
        let mut journal = Self {
            registry,
            state,
            name,
            writer,
            watchdog: None,
        };
        journal.writer.record(Entry::By(by))?;
        rustix::fs::fsync(&journal.state)?;
        let Registry {
            watchdog, state, ..
        } = &journal.registry;
        let watchdog = Watchdog::start(watchdog, state, &journal.name, &journal.writer.file);
        let why = |why: io::Error| io::Error::new(why.kind(), format!("no watchdog: {why}"));
        journal.watchdog = Some(watchdog.map_err(why)?);
        Ok(journal)
    }

    /// What it is called in the state directory.
    pub(crate) fn name(&self) -> &OsStr {
        &self.name
    }

    /// Makes something, with all that is in it, until the result is dropped.
    pub(crate) fn acquire<R: Resource + Clone>(
        &self,
        thing: fn(R) -> Thing,
        named: impl Fn() -> io::Result<R>,
    ) -> Result<Held<R>, Unavailable> {
        self.writer.acquire(thing, named)
    }

    /// Before anything of a run is measured: nobody else goes on with it meanwhile.
    ///
    /// # Errors
    /// When it cannot be written down.
    pub fn measures(&self, run: &str) -> io::Result<()> {
        self.writer.record(Entry::Measures(run.to_owned()))
    }

    /// Before settings are changed: one run at a time, or each would put back what the other needs.
    ///
    /// # Errors
    /// When another run of this user has steadied the machine.
    pub fn steadies(&self) -> Result<Settings<'_>, SettingError> {
        // ours is written before the others are read: of two at once, at least one sees the other
        self.writer.record(Entry::Steadies)?;
        let busy = |(_, entries): &(By, Vec<Entry>)| entries.contains(&Entry::Steadies);
        match living(&self.state, Some(&self.name)).into_iter().find(busy) {
            Some((by, _)) => Err(SettingError::Busy(by.process)),
            None => Ok(Settings(self)),
        }
    }
}

/// What writes into a journal; all of one journal write into the same file.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    file: Rc<Flock<File>>,
    path: PathBuf,
    entries: Rc<RefCell<Vec<Entry>>>,
}

impl Writer {
    /// Puts an entry on the disk, and then among those that are to be undone.
    fn record(&self, entry: Entry) -> io::Result<()> {
        let mut file: &File = &self.file;
        let mut line = serde_json::to_vec(&entry)?;
        line.push(b'\n');
        let before = file.metadata()?.len();
        let written = file.write_all(&line).and_then(|()| file.sync_data());
        if written.is_err() {
            // half a line would spoil the next one
            let _ = file.set_len(before);
        } else {
            self.entries.borrow_mut().push(entry);
        }
        written.map_err(|why| {
            let what = format!("cannot write {}: {why}", self.path.display());
            io::Error::new(why.kind(), what)
        })
    }

    /// Makes or changes something until the end of the run; under another name where there is something of that name already.
    fn make<R: Resource + Clone>(
        &self,
        thing: fn(R) -> Thing,
        named: impl Fn() -> io::Result<R>,
    ) -> io::Result<(R, Option<Identity>)> {
        let mut tries = 0;
        loop {
            let resource = named()?;
            self.record(Entry::Makes(thing(resource.clone())))?;
            match resource.make() {
                Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {
                    self.record(Entry::Taken)?;
                    tries += 1;
                    if tries == TRIES {
                        return Err(why);
                    }
                }
                made => {
                    let made = made?;
                    if let Some(made) = made {
                        self.record(Entry::Made(made))?;
                    }
                    return Ok((resource, made));
                }
            }
        }
    }

    /// Makes something, with all that is in it, until the result is dropped.
    pub(crate) fn acquire<R: Resource + Clone>(
        &self,
        thing: fn(R) -> Thing,
        named: impl Fn() -> io::Result<R>,
    ) -> Result<Held<R>, Unavailable> {
        let (resource, made) = self.make(thing, named)?;
        let held = Held { resource, made };
        held.set_up()?;
        Ok(held)
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        let undone = undo(&self.writer.entries.borrow(), true);
        if undone.whole {
            recover::forget(&self.state, &self.name, &self.writer.file);
        }
        if let Some(watchdog) = &mut self.watchdog {
            watchdog.dismiss();
        }
        for line in &undone.said {
            (self.registry.tell)(line);
        }
    }
}

/// Why a setting of the machine was not changed.
#[derive(Debug, Error)]
pub enum SettingError {
    /// Another run has changed some.
    #[error("process {0} has tuned the system and is measuring; wait until it has ended")]
    Busy(u32),
    /// Only root may.
    #[error("{0}: it takes root")]
    NeedsRoot(io::Error),
    /// The system refused.
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

/// The settings of the machine, in the hands of a run that may change them.
#[derive(Debug)]
pub struct Settings<'a>(&'a Journal);

impl Settings<'_> {
    /// Before commands of the user's change the machine: `command` is given to the shell in `directory` at the end of the run,
    /// however it ends.
    ///
    /// # Errors
    /// When it cannot be written down; nothing may be changed then.
    pub fn undo_by(&self, command: &str, directory: &Path) -> Result<(), SettingError> {
        let undo = || {
            Ok(Command {
                command: command.to_owned(),
                directory: directory.to_owned(),
            })
        };
        self.0.writer.make(Thing::Command, undo)?;
        Ok(())
    }

    /// Changes a setting until the end of the run; `Ok` too where it is so already.
    ///
    /// # Errors
    /// With the reason, when the setting is as it was.
    pub fn set(&self, path: &str, new: &str) -> Result<(), SettingError> {
        let Self(journal) = self;
        if let Some(change) = Setting::change(&journal.registry.root, path, new)? {
            journal.writer.make(Thing::Setting, || Ok(change.clone()))?;
        }
        Ok(())
    }
}

/// A fresh, locked journal.
fn create(state: &Dir) -> io::Result<(OsString, Flock<File>)> {
    for _ in 0..TRIES {
        let name = OsString::from(format!("{}{ENDING}", owned_files::fresh_name("run")?));
        let how = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL;
        let file = match state.file(&name, how) {
            Err(why) if why.kind() == io::ErrorKind::AlreadyExists => continue,
            made => made?,
        };
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(file) if recover::is_at(state, &name, &file) => return Ok((name, file)),
            // another start took it for that of a dead run before it was locked
            Ok(_) | Err((_, Errno::EWOULDBLOCK)) => {}
            Err((_, errno)) => {
                let _ = state.unlink(&name);
                return Err(errno.into());
            }
        }
    }
    Err(io::Error::other(
        "something removes our journals as soon as they are created",
    ))
}

#[cfg(test)]
mod tests;
