//! The journal of a run: everything that it makes or changes outside its store, written down before it is done.
//!
//! One file a run, one line an entry, each on the disc before what it speaks of happens. The run holds a lock on its
//! journal while it lives, so that whoever gets the lock knows that the run is dead, and finishes its business: the
//! watchdog at once, otherwise the next start (`recover`). The file goes when all of it is undone.
//!
//! Must not know: what the directories and settings are for, a terminal.

use crate::recover::{is_at, living, undo};
use crate::watchdog::Watchdog;
use crate::{owner, settings};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::unistd::geteuid;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// What the name of a journal ends in.
pub(crate) const ENDING: &str = "journal";

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
    /// It makes a directory.
    Makes(PathBuf),
    /// It makes a control group.
    Confines(PathBuf),
    /// It starts a load; all processes of it have this mark.
    Starts(String),
    /// It makes an instance of tracefs, of this name.
    Traces(String),
    /// It makes a file system on a loop device, all of it in this directory.
    Mounts(PathBuf),
    /// It makes a swap file, in this directory.
    Swaps(PathBuf),
    /// It changes a setting; the path is that of the machine, below the root.
    Sets {
        path: String,
        old: String,
        new: String,
    },
    /// It starts commands of the user's that change the machine; this one puts it back.
    Undo { command: String, directory: PathBuf },
}

/// Who writes a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct By {
    pub host: String,
    pub boot: String,
    /// Below which the settings lie.
    pub root: PathBuf,
    pub process: u32,
    /// Ticks since boot.
    pub start: u64,
}

/// What a journal is begun with.
#[derive(Clone, Debug)]
pub struct Registry {
    /// Directory of the user's in which journals are kept, made if need be. Absolute.
    pub state: PathBuf,
    /// Below which the machine's settings lie: `/`, or a made-up tree.
    pub root: PathBuf,
    /// Program and arguments that call [`crate::watch`] with the path that is added to them.
    pub watchdog: Vec<OsString>,
    /// Who is told, at the end, what could not be undone.
    pub tell: fn(&str),
}

/// The journal of this process's run. When it is dropped, everything in it is undone, the last first.
#[derive(Debug)]
pub struct Journal {
    registry: Registry,
    path: PathBuf,
    file: Flock<File>,
    entries: Rc<RefCell<Vec<Entry>>>,
    watchdog: Option<Watchdog>,
}

impl Journal {
    /// Begins the journal of a run.
    ///
    /// # Errors
    /// When it cannot be written or locked.
    pub fn begin(registry: Registry) -> io::Result<Self> {
        let by = By {
            host: owner::host(),
            boot: owner::boot(),
            root: registry.root.clone(),
            process: std::process::id(),
            start: owner::start_of(std::process::id()).unwrap_or(0),
        };
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&registry.state)?;
        let (path, file) = create(&registry.state, &by)?;
        let journal = Self {
            registry,
            path,
            file,
            entries: Rc::default(),
            watchdog: None,
        };
        journal.note(Entry::By(by))?;
        File::open(&journal.registry.state)?.sync_all()?;
        Ok(journal)
    }

    /// Where it lies.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Puts an entry on the disc.
    fn note(&self, entry: Entry) -> io::Result<()> {
        write(&self.file, &self.path, &self.entries, entry)
    }

    /// A hand that writes into this journal for a part of the run that makes directories later.
    pub(crate) fn pen(&self) -> io::Result<Pen> {
        Ok(Pen {
            file: self.file.try_clone()?,
            path: self.path.clone(),
            entries: Rc::clone(&self.entries),
        })
    }

    /// Before a control group is made.
    pub(crate) fn confines(&mut self, group: &Path) -> io::Result<()> {
        self.note(Entry::Confines(group.to_owned()))
    }

    /// Before a load is started, whose processes have this mark, with a watchdog.
    pub(crate) fn starts(&mut self, mark: &str) -> io::Result<()> {
        self.watched()?;
        self.note(Entry::Starts(mark.to_owned()))
    }

    /// Before an instance of tracefs is made, with a watchdog: what is traced costs everyone.
    pub(crate) fn traces(&mut self, name: &str) -> io::Result<()> {
        self.watched()?;
        self.note(Entry::Traces(name.to_owned()))
    }

    /// Before a file system is made in a directory, with a watchdog: a mount must not wait for the next start.
    pub(crate) fn mounts(&mut self, directory: &Path) -> io::Result<()> {
        self.watched()?;
        self.note(Entry::Mounts(directory.to_owned()))
    }

    /// Before a swap file is made in a directory, with a watchdog likewise.
    pub(crate) fn swaps(&mut self, directory: &Path) -> io::Result<()> {
        self.watched()?;
        self.note(Entry::Swaps(directory.to_owned()))
    }

    /// From now on, somebody undoes what this journal says as soon as the run is dead.
    fn watched(&mut self) -> io::Result<()> {
        if self.watchdog.is_none() {
            let watchdog = Watchdog::start(&self.registry.watchdog, &self.path);
            let why =
                |why: io::Error| io::Error::new(why.kind(), format!("there is no watchdog: {why}"));
            self.watchdog = Some(watchdog.map_err(why)?);
        }
        Ok(())
    }

    /// Before anything of a run is measured: nobody else goes on with it meanwhile.
    ///
    /// # Errors
    /// When it cannot be written down.
    pub fn measures(&mut self, run: &str) -> io::Result<()> {
        self.note(Entry::Measures(run.to_owned()))
    }

    /// Before settings are changed: one run at a time, or each would put back what the other needs.
    ///
    /// # Errors
    /// When another run of this user has steadied the machine, or nobody could watch over this one.
    pub fn steadies(&mut self) -> Result<Settings<'_>, String> {
        // ours is written before the others are read: of two at once, at least one sees the other
        self.note(Entry::Steadies).map_err(|why| why.to_string())?;
        for (by, entries) in living(&self.registry.state, &self.path) {
            if entries.contains(&Entry::Steadies) {
                return Err(format!(
                    "process {} has steadied the machine and is at work; wait until it has ended",
                    by.process
                ));
            }
        }
        self.watched().map_err(|why| why.to_string())?;
        Ok(Settings(self))
    }
}

/// Writes into the journal of a run that somebody else holds.
#[derive(Debug)]
pub(crate) struct Pen {
    file: File,
    path: PathBuf,
    entries: Rc<RefCell<Vec<Entry>>>,
}

impl Pen {
    /// Before a directory is made.
    pub(crate) fn makes(&self, directory: &Path) -> io::Result<()> {
        let entry = Entry::Makes(directory.to_owned());
        write(&self.file, &self.path, &self.entries, entry)
    }
}

/// Puts an entry on the disc, and then among those that are to be undone.
fn write(
    mut file: &File,
    path: &Path,
    entries: &RefCell<Vec<Entry>>,
    entry: Entry,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(&entry)?;
    line.push(b'\n');
    let before = file.metadata()?.len();
    let written = file.write_all(&line).and_then(|()| file.sync_data());
    if written.is_err() {
        // half a line would spoil the next one
        let _ = file.set_len(before);
    } else {
        entries.borrow_mut().push(entry);
    }
    written.map_err(|why| {
        let what = format!("cannot write {}: {why}", path.display());
        io::Error::new(why.kind(), what)
    })
}

impl Drop for Journal {
    fn drop(&mut self) {
        let undone = undo(&self.entries.borrow(), &self.registry.root, true);
        if undone.whole {
            let _ = fs::remove_file(&self.path);
        }
        if let Some(watchdog) = &mut self.watchdog {
            watchdog.dismiss();
        }
        for line in &undone.said {
            (self.registry.tell)(line);
        }
    }
}

impl Settings<'_> {
    /// Before commands of the user's change the machine: `command` is given to the shell in `directory` at the end of the run,
    /// however it ends.
    ///
    /// # Errors
    /// With the reason, when it cannot be written down; nothing may be changed then.
    pub fn undo_by(&mut self, command: &str, directory: &Path) -> Result<(), String> {
        let entry = Entry::Undo {
            command: command.to_owned(),
            directory: directory.to_owned(),
        };
        self.0.note(entry).map_err(|why| why.to_string())
    }
}

/// The settings of the machine, in the hands of a run that may change them.
#[derive(Debug)]
pub struct Settings<'a>(&'a mut Journal);

impl Settings<'_> {
    /// Changes a setting until the end of the run; `Ok` too where it is so already.
    ///
    /// # Errors
    /// With the reason, when the setting is as it was.
    pub fn set(&mut self, path: &str, new: &str) -> Result<(), String> {
        let Self(journal) = self;
        let root = journal.registry.root.clone();
        let reason = |why: io::Error| match why.kind() {
            io::ErrorKind::PermissionDenied if !geteuid().is_root() => {
                format!("{why}: it takes root")
            }
            _ => why.to_string(),
        };
        let old = settings::read(&root, path).map_err(reason)?;
        if old == new {
            return Ok(());
        }
        settings::writable(&root, path).map_err(reason)?;
        journal
            .note(Entry::Sets {
                path: path.to_owned(),
                old: old.clone(),
                new: new.to_owned(),
            })
            .map_err(|why| why.to_string())?;
        settings::write(&root, path, new).map_err(reason)?;
        let now = settings::read(&root, path).map_err(reason)?;
        if now != new {
            // an undo would take it for a change by somebody else
            let _ = settings::write(&root, path, &old);
            return Err(format!("the kernel makes '{now}' of '{new}'"));
        }
        Ok(())
    }
}

/// Makes what has to stand in the journal of a run before it is there: nothing, where there is no journal.
pub(crate) fn written_down<T>(
    journal: Option<&mut Journal>,
    make: impl FnOnce(&mut Journal) -> Result<T, String>,
) -> Result<T, String> {
    let journal = journal.ok_or("there is no journal to write it down in")?;
    make(journal)
}

/// A fresh, locked journal.
fn create(state: &Path, by: &By) -> io::Result<(PathBuf, Flock<File>)> {
    let namespace = owner::namespace();
    for attempt in 0..100 {
        let name = format!(
            "{namespace:016x}.{}.{}.{attempt}.{ENDING}",
            by.process, by.start
        );
        let path = state.join(name);
        let made = OpenOptions::new()
            .append(true)
            .create_new(true)
            .mode(0o600)
            .open(&path);
        let file = match made {
            Err(why) if why.kind() == io::ErrorKind::AlreadyExists => continue,
            made => made?,
        };
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(file) if is_at(&file, &path) => return Ok((path, file)),
            // another start took it for that of a dead run before it was locked
            Ok(_) | Err((_, Errno::EWOULDBLOCK)) => {}
            Err((_, errno)) => {
                let _ = fs::remove_file(&path);
                return Err(errno.into());
            }
        }
    }
    Err(io::Error::other(
        "a hundred journals of ours are there already",
    ))
}
