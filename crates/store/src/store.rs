//! An open store, for writing or reading.

use crate::engine::{Engine, Purpose, transaction};
use crate::error::{Fault, StoreError};
use crate::{ledger, write};
use gritstone_model::{Benchmark, Id, Launch, Origin, Owner, Program, RunData, RunInfo, Skip};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Lock timeout: a commit takes milliseconds, so no process of ours holds the lock for longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
/// Lock timeout when launches are already waiting: a backup holds the lock for minutes while the run continues.
const IMPATIENCE: Duration = Duration::from_millis(50);
/// Maximum time between synced launches. Syncing each one took a fifth of all work for a launch of a tenth of a second.
/// Linux leaves dirty pages alone for half a minute (`vm.dirty_expire_centisecs`).
const UNWRITTEN: Duration = Duration::from_secs(1);

/// Path of stores in memory; those of files are absolute.
pub(crate) const IN_MEMORY: &str = ":memory:";

/// An open store; no statement or transaction is open between two calls.
#[derive(Debug)]
pub struct Store {
    engine: Rc<dyn Engine>,
    /// Path, or URL without password.
    pub(crate) path: PathBuf,
    /// Has a write-ahead log, which a power failure truncates at the last synced launch.
    log: bool,
    /// Time of the last synced launch.
    reached: Option<Instant>,
    /// Launches with their runs that wait for the lock, oldest first.
    waiting: VecDeque<(String, Launch)>,
}

/// Result of storing a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Appended {
    Stored,
    /// Another process holds the lock: this number of launches waits in memory, and is stored with the next one.
    Waiting(usize),
}

impl Store {
    pub(crate) fn new(engine: Rc<dyn Engine>, path: PathBuf, log: bool) -> Self {
        Self { engine, path, log, reached: None, waiting: VecDeque::new() }
    }

    pub(crate) fn engine(&self) -> &dyn Engine {
        &*self.engine
    }

    /// Path, or URL without password.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn is_in_memory(&self) -> bool {
        self.path == Path::new(IN_MEMORY)
    }

    /// Begins a run: head, current catalog entries, programs, skips.
    ///
    /// # Errors
    /// [`StoreError::Exists`], [`StoreError::Unfit`] when identifier, label, start or a number cannot be stored, and
    /// I/O errors of the store.
    pub fn begin(
        &mut self,
        owner: &Owner,
        info: &RunInfo,
        benchmarks: &[Benchmark],
        programs: &BTreeMap<Id, Program>,
        skips: &[Skip],
    ) -> Result<(), StoreError> {
        if info.elapsed_s.is_some() {
            let why = "a new run cannot have ended".to_owned();
            return Err(StoreError::Unfit(why));
        }
        let data = RunData {
            info: info.clone(),
            benchmarks: benchmarks.to_vec(),
            programs: programs.clone(),
            skips: skips.to_vec(),
            launches: vec![],
        };
        self.store(&data, &Origin::Here(owner.clone()))
    }

    /// Stores a launch with all its events. After [`Appended::Stored`] it survives the death of this process. It is synced to disk if none
    /// was within the last second: a power failure loses unsynced launches.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], [`StoreError::Ended`], [`StoreError::Imported`], and I/O errors of the store; then
    /// nothing of the launch is stored, and earlier launches remain.
    pub fn append(&mut self, run_id: &str, launch: &Launch) -> Result<Appended, StoreError> {
        let patience = match self.waiting.is_empty() {
            true => PATIENCE,
            false => IMPATIENCE,
        };
        self.waiting.push_back((run_id.to_owned(), launch.clone()));
        match self.store_waiting(patience) {
            Err(StoreError::Locked(_)) => Ok(Appended::Waiting(self.waiting.len())),
            stored => stored.map(|()| Appended::Stored),
        }
    }

    /// Stores waiting launches; drops one that fails for another reason than the lock.
    fn store_waiting(&mut self, patience: Duration) -> Result<(), StoreError> {
        self.wait_for(patience)?;
        let mut stored = Ok(());
        while stored.is_ok()
            && let Some((run, launch)) = self.waiting.pop_front()
        {
            let recently = |then: Instant| then.elapsed() < UNWRITTEN;
            let must_sync = !(self.log && self.reached.is_some_and(recently));
            stored = self
                .reach_disk(must_sync)
                .and_then(|()| self.at(write::append(&*self.engine, &run, &launch)));
            match stored {
                Ok(()) if must_sync => self.reached = Some(Instant::now()),
                Err(StoreError::Locked(_)) => self.waiting.push_front((run, launch)),
                _ => {}
            }
        }
        stored.and(self.wait_for(PATIENCE))
    }

    /// Number of waiting launches.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Stores waiting launches before a run is left.
    ///
    /// # Errors
    /// As [`Store::append`]; [`StoreError::Locked`] when another process still holds the lock: they wait on.
    pub fn flush(&mut self) -> Result<(), StoreError> {
        self.store_waiting(PATIENCE)
    }

    /// Ends a run `elapsed_s` seconds after its start, synced to disk. It accepts no further launches.
    ///
    /// # Errors
    /// As [`Store::flush`]; [`StoreError::Unfit`] when the length is not a number of at least 0.
    pub fn finish(&mut self, run_id: &str, elapsed_s: f64) -> Result<(), StoreError> {
        self.flush()?;
        self.write(|engine| write::finish(engine, run_id, elapsed_s))
    }

    /// Stores a run of another store atomically, marked as imported: see [`Origin`].
    ///
    /// # Errors
    /// As [`Store::begin`].
    pub fn import(&mut self, data: &RunData) -> Result<(), StoreError> {
        self.store(data, &Origin::Imported)
    }

    /// Changes the label of a run.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], [`StoreError::Unfit`], and I/O errors of the store.
    pub fn label(&mut self, run_id: &str, label: &str) -> Result<(), StoreError> {
        self.write(|engine| write::label(engine, run_id, label))
    }

    /// Removes a whole run; the ledger records it.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], and I/O errors of the store.
    pub fn remove(&mut self, run_id: &str) -> Result<(), StoreError> {
        self.write(|engine| write::remove(engine, run_id))
    }

    /// Identifiers of runs that were removed and are not stored again.
    ///
    /// # Errors
    /// I/O errors of the store.
    pub fn removed(&self) -> Result<BTreeSet<String>, StoreError> {
        let mut removed = self.at(ledger::removed(self.engine()))?;
        for run in self.runs()? {
            removed.remove(&run.id);
        }
        Ok(removed)
    }

    fn store(&mut self, data: &RunData, origin: &Origin) -> Result<(), StoreError> {
        self.write(|engine| write::store(engine, data, origin))
    }

    /// Writes in one transaction, synced to disk.
    pub(crate) fn write<T>(
        &mut self,
        act: impl FnOnce(&dyn Engine) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.reach_disk(true)?;
        self.at(transaction(self.engine(), Purpose::Write, act))
    }

    /// Sets whether commits are synced to disk; a synced commit includes all earlier ones.
    fn reach_disk(&mut self, disk: bool) -> Result<(), StoreError> {
        self.at(self.engine.reach_disk(disk))
    }

    fn wait_for(&self, patience: Duration) -> Result<(), StoreError> {
        self.at(self.engine.wait_for(patience))
    }

    /// Adds the path to an error.
    pub(crate) fn at<T>(&self, done: Result<T, Fault>) -> Result<T, StoreError> {
        done.map_err(|fault| fault.at(&self.path))
    }
}

#[cfg(test)]
mod tests;
