//! The store, opened for writing or for reading.

use crate::engine::Engine;
use crate::error::{Fault, StoreError};
use crate::write;
use gritstone_model::{Benchmark, Id, Launch, Origin, Owner, Program, RunData, RunInfo, Skip};
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::rc::Rc;
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
    engine: Rc<dyn Engine>,
    /// Where it is; of a server the URL without its password.
    pub(crate) path: PathBuf,
    /// Whether it has a write-ahead log, which a loss of power cuts off at the last launch that reached the disk.
    log: bool,
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
    pub(crate) fn of(engine: Rc<dyn Engine>, path: PathBuf, log: bool) -> Self {
        Self {
            engine,
            path,
            log,
            reached: None,
            waiting: VecDeque::new(),
        }
    }

    pub(crate) fn engine(&self) -> &dyn Engine {
        &*self.engine
    }

    /// Where it is; of a server the URL without its password.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Begins a run here: its head, the entries as they are now, the programs, and what cannot run.
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
        if info.elapsed_s.is_some() {
            let why = "a run that begins cannot have ended".to_owned();
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
            Err(StoreError::Locked(_)) => Ok(Kept::Waiting(self.waiting.len())),
            stored => stored.map(|()| Kept::Stored),
        }
    }

    /// Stores what waits. One that cannot be stored for another reason than that the file is locked waits no longer.
    fn store_waiting(&mut self, patience: Duration) -> Result<(), StoreError> {
        self.wait_for(patience)?;
        let mut stored = Ok(());
        while stored.is_ok()
            && let Some((run, launch)) = self.waiting.pop_front()
        {
            let recently = |then: Instant| then.elapsed() < UNWRITTEN;
            let due = !(self.log && self.reached.is_some_and(recently));
            stored = self
                .reach_disk(due)
                .and_then(|()| self.at(write::append(&*self.engine, &run, &launch)));
            match stored {
                Ok(()) if due => self.reached = Some(Instant::now()),
                Err(StoreError::Locked(_)) => self.waiting.push_front((run, launch)),
                _ => {}
            }
        }
        stored.and(self.wait_for(PATIENCE))
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

    /// Ends a run `elapsed_s` seconds after its start. It takes nothing more, and has reached the disk.
    ///
    /// # Errors
    /// As [`Store::flush`], of which it begins with one; [`StoreError::Unfit`] when the length is not a number of at least 0.
    pub fn finish(&mut self, run_id: &str, elapsed_s: f64) -> Result<(), StoreError> {
        self.flush()?;
        self.reach_disk(true)?;
        self.at(write::finish(self.engine(), run_id, elapsed_s))
    }

    /// Stores a run that comes from elsewhere, whole or not at all. It is marked so for good: see [`Origin`].
    ///
    /// # Errors
    /// As [`Store::begin`].
    pub fn import(&mut self, data: &RunData) -> Result<(), StoreError> {
        self.store(data, &Origin::Imported)
    }

    /// Labels a run from now on.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], [`StoreError::Unfit`], and what befalls the file.
    pub fn label(&mut self, run_id: &str, label: &str) -> Result<(), StoreError> {
        self.reach_disk(true)?;
        self.at(write::label(self.engine(), run_id, label))
    }

    /// Removes a run whole. The ledger keeps that it was there; what other runs measured stays as it is.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], and what befalls the file.
    pub fn remove(&mut self, run_id: &str) -> Result<(), StoreError> {
        self.reach_disk(true)?;
        self.at(write::remove(self.engine(), run_id))
    }

    fn store(&mut self, data: &RunData, origin: &Origin) -> Result<(), StoreError> {
        self.reach_disk(true)?;
        self.at(write::store(self.engine(), data, origin))
    }

    /// Whether commits reach the disk from now on; with one that does, all before it do.
    pub(crate) fn reach_disk(&mut self, disk: bool) -> Result<(), StoreError> {
        self.at(self.engine.reach_disk(disk))
    }

    fn wait_for(&self, patience: Duration) -> Result<(), StoreError> {
        self.at(self.engine.wait_for(patience))
    }

    /// What was done with this file.
    pub(crate) fn at<T>(&self, done: Result<T, Fault>) -> Result<T, StoreError> {
        done.map_err(|fault| fault.at(&self.path))
    }
}

#[cfg(test)]
mod tests;
