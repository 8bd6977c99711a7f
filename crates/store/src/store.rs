//! The store: one SQLite file, opened for writing or for reading.

use crate::error::{Fault, ResolveError, StoreError};
use crate::write::{self, Beginning};
use crate::{Resumable, RunHead, find, name, place, read, verify};
use gritstone_model::{Benchmark, Id, Launch, Origin, Owner, Program, RunData, RunInfo, Skip};
use rusqlite::Connection;
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A commit takes milliseconds: who holds the file longer is not one of us at work.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
/// How long a launch waits for the file where others wait already: a backup holds it for minutes, and the run goes on meanwhile.
const IMPATIENCE: Duration = Duration::from_millis(50);
/// For how long launches may follow one that reached the disk before the next does. To write each took a fifth of all that Gritstone did
/// for a launch of a tenth of a second. Linux leaves what was written alone for half a minute (`vm.dirty_expire_centisecs`).
const UNWRITTEN: Duration = Duration::from_secs(1);

/// An open store. Between two calls nothing of it is busy.
#[derive(Debug)]
pub struct Store {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
    /// Whether it has a write-ahead log, which a loss of power cuts off at the last launch that reached the disk.
    log: bool,
    /// Whether a commit reaches the disk.
    pub(crate) to_disk: bool,
    /// When a launch last did.
    reached: Option<Instant>,
    /// Launches that another process kept from being stored, with their runs, oldest first.
    waiting: VecDeque<(String, Launch)>,
}

/// What became of a launch that was handed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Kept {
    /// It is stored.
    Stored,
    /// Another process has locked the file: this launch and those before it that wait, so many, are in memory alone, and are
    /// stored with the next.
    Waiting(usize),
}

impl Store {
    pub(crate) fn of(connection: Connection, path: PathBuf, log: bool) -> Self {
        Self {
            connection,
            path,
            log,
            to_disk: true,
            reached: None,
            waiting: VecDeque::new(),
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Begins a run here: its head, the entries as they are now, the programs, and what cannot run. A label is given
    /// now or never.
    ///
    /// # Errors
    /// [`StoreError::Exists`], [`StoreError::Unfit`] when the identifier, the label, the start or a number cannot be
    /// stored, and what befalls the file.
    pub fn begin(
        &mut self,
        owner: &Owner,
        info: &RunInfo,
        benchmarks: &[Benchmark],
        programs: &BTreeMap<Id, Program>,
        skips: &[Skip],
    ) -> Result<(), StoreError> {
        let beginning = Beginning {
            info,
            benchmarks,
            programs,
            skips,
        };
        self.reach_disk()?;
        write::begin(&self.connection, owner, &beginning).map_err(|fault| fault.at(&self.path))
    }

    /// Stores a launch with all its events. When this returns [`Kept::Stored`], whatever becomes of this process they are there. They
    /// have reached the disk, where a launch before them has not within the last second: a loss of power takes what came after that one.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], [`StoreError::Ended`], [`StoreError::Imported`], and what befalls the file; then nothing of the
    /// launch is stored, and everything before it still is.
    pub fn append(&mut self, run_id: &str, launch: &Launch) -> Result<Kept, StoreError> {
        let patience = match self.waiting.is_empty() {
            true => PATIENCE,
            false => IMPATIENCE,
        };
        self.waiting.push_back((run_id.to_owned(), launch.clone()));
        match self.store_waiting(patience) {
            Err(StoreError::Locked { .. }) => Ok(Kept::Waiting(self.waiting.len())),
            stored => stored.map(|()| Kept::Stored),
        }
    }

    /// Stores what waits. One that cannot be stored for another reason than that the file is locked waits no longer.
    fn store_waiting(&mut self, patience: Duration) -> Result<(), StoreError> {
        let set = self.connection.busy_timeout(patience);
        set.map_err(|error| Fault::from(error).at(&self.path))?;
        let mut stored = Ok(());
        while let (Ok(()), Some((run, launch))) = (&stored, self.waiting.front()) {
            let recently = |then: Instant| then.elapsed() < UNWRITTEN;
            let due = !(self.log && self.reached.is_some_and(recently));
            stored = reach(&self.connection, &mut self.to_disk, due)
                .and_then(|()| write::append(&self.connection, run, launch))
                .map_err(|fault| fault.at(&self.path));
            if stored.is_ok() && due {
                self.reached = Some(Instant::now());
            }
            if !matches!(stored, Err(StoreError::Locked { .. })) {
                self.waiting.pop_front();
            }
        }
        let set = self.connection.busy_timeout(PATIENCE);
        stored.and(set.map_err(|error| Fault::from(error).at(&self.path)))
    }

    /// How many launches wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Stores the launches that wait, before a run is left.
    ///
    /// # Errors
    /// As [`Store::append`]; [`StoreError::Locked`] when another process still holds the file: they wait on.
    pub fn flush(&mut self) -> Result<(), StoreError> {
        self.store_waiting(PATIENCE)
    }

    /// Has commits reach the disk from now on, and all before them.
    fn reach_disk(&mut self) -> Result<(), StoreError> {
        reach(&self.connection, &mut self.to_disk, true).map_err(|fault| fault.at(&self.path))
    }

    /// Ends a run `elapsed_s` seconds after its start. It takes nothing more, and has reached the disk.
    ///
    /// # Errors
    /// As [`Store::flush`], of which it begins with one; [`StoreError::Unfit`] when the length is not a number of at least 0.
    pub fn finish(&mut self, run_id: &str, elapsed_s: f64) -> Result<(), StoreError> {
        self.flush()?;
        self.reach_disk()?;
        write::finish(&self.connection, run_id, elapsed_s).map_err(|fault| fault.at(&self.path))
    }

    /// Stores a run that comes from elsewhere, whole or not at all. It is marked so for good: see [`Origin`].
    ///
    /// # Errors
    /// As [`Store::begin`].
    pub fn import(&mut self, data: &RunData) -> Result<(), StoreError> {
        self.reach_disk()?;
        write::import(&self.connection, data).map_err(|fault| fault.at(&self.path))
    }

    /// The heads of all runs, newest last.
    ///
    /// # Errors
    /// What befalls the file.
    pub fn runs(&self) -> Result<Vec<RunHead>, StoreError> {
        find::heads(&self.connection).map_err(|fault| fault.at(&self.path))
    }

    /// The identifiers of the runs of a machine that began no later than the second of `started` and are wanted, newest first, `most`
    /// at most. A run whose head cannot be read is wanted: [`Store::load`] says what is wrong with it.
    ///
    /// # Errors
    /// What befalls the file.
    pub fn runs_of(
        &self,
        machine: &str,
        started: &str,
        most: usize,
        wanted: &dyn Fn(&RunInfo) -> bool,
    ) -> Result<Vec<String>, StoreError> {
        let runs = find::runs_of(&self.connection, machine, started, most, wanted);
        runs.map_err(|fault| fault.at(&self.path))
    }

    /// A run as it was handed in, to the last bit.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`]; [`StoreError::Damaged`] when anything of it is not as it was written;
    /// [`StoreError::Unreadable`] when it is, but this version does not understand it.
    pub fn load(&self, run_id: &str) -> Result<RunData, StoreError> {
        read::load(&self.connection, run_id).map_err(|fault| fault.at(&self.path))
    }

    /// The heads of the runs that their user may go on with, newest last: begun here by this user on this machine, and not ended.
    ///
    /// # Errors
    /// What befalls the file.
    pub fn resumable(&self, owner: &Owner) -> Result<Vec<RunHead>, StoreError> {
        let mut runs = self.runs()?;
        let theirs = Origin::Here(owner.clone());
        runs.retain(|run| run.elapsed_s.is_none() && run.origin == theirs);
        Ok(runs)
    }

    /// A run that its user may go on with.
    ///
    /// # Errors
    /// [`StoreError::Imported`], [`StoreError::NotYours`] and [`StoreError::Ended`] say why it is none; else as [`Store::load`].
    pub fn resume(&self, run_id: &str, owner: &Owner) -> Result<Resumable, StoreError> {
        let found = find::run(&self.connection, run_id).map_err(|fault| fault.at(&self.path))?;
        let id = || run_id.to_owned();
        let not = |whose| StoreError::NotYours { id: id(), whose };
        match &found.origin {
            Origin::Imported => return Err(StoreError::Imported(id())),
            Origin::Here(by) if by.uid != owner.uid => return Err(not("by this user")),
            Origin::Here(by) if by.machine != owner.machine => return Err(not("on this machine")),
            Origin::Here(_) => {}
        }
        // what another user can write is another user's word
        if !place::belongs_to(&self.path, owner.uid) {
            return Err(not("in a store of this user's own"));
        }
        let data = self.load(run_id)?;
        match data.info.elapsed_s {
            Some(_) => Err(StoreError::Ended(id())),
            None => Ok(Resumable(data)),
        }
    }

    /// The newest runs that are wanted and have any of these benchmarks, `most` at most for each, oldest first; each with the
    /// benchmarks that it is among the newest for: what many histories are made of. Sides of a trial are not among them.
    ///
    /// # Errors
    /// What befalls the file.
    pub fn newest(
        &self,
        benchmarks: &[Id],
        most: usize,
        wanted: &dyn Fn(&RunInfo) -> bool,
    ) -> Result<Vec<(String, Vec<Id>)>, StoreError> {
        let runs = find::newest(&self.connection, benchmarks, most, wanted);
        runs.map_err(|fault| fault.at(&self.path))
    }

    /// The head of a run: what it was measured on, and what was asked for. Quick, since no launch is read.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn info(&self, run_id: &str) -> Result<RunInfo, StoreError> {
        read::head(&self.connection, run_id).map_err(|fault| fault.at(&self.path))
    }

    /// The identifier of the run that `name` stands for: `last`, `last~2`, an identifier, a label (the newest run
    /// that has it), or the beginning of one identifier, in this order.
    ///
    /// # Errors
    /// [`ResolveError`] says why it is none, with the nearest name or all candidates.
    pub fn resolve(&self, name: &str) -> Result<String, ResolveError> {
        // a whole identifier is found however damaged the rest is
        if find::exists(&self.connection, name).map_err(|fault| fault.at(&self.path))? {
            return Ok(name.to_owned());
        }
        let runs = find::names(&self.connection).map_err(|fault| fault.at(&self.path))?;
        name::pick(name, &runs)
    }

    /// Looks at everything: the pages of the file by SQLite's own check, what belongs to what, and every seal. What is wrong, a line
    /// each; nothing where all is well.
    ///
    /// # Errors
    /// When it cannot look.
    pub fn verify(&self) -> Result<Vec<String>, StoreError> {
        verify::all(&self.connection).map_err(|fault| fault.at(&self.path))
    }
}

/// What SQLite calls it.
pub(crate) fn synchronous(disk: bool) -> &'static str {
    if disk { "FULL" } else { "NORMAL" }
}

/// Whether commits reach the disk from now on; with one that does, all before it do.
fn reach(connection: &Connection, to_disk: &mut bool, disk: bool) -> Result<(), Fault> {
    if *to_disk != disk {
        connection.pragma_update(None, "synchronous", synchronous(disk))?;
        *to_disk = disk;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
