//! Pruning: deletes the launches of a run, stores its results permanently, and records the hashes on both sides of the
//! gap in the ledger.

use crate::engine::{Engine, Shrunk, query, snapshot};
use crate::error::{Fault, StoreError};
use crate::ledger::{self, Entry, PRUNE, enter};
use crate::result_tables::{PRUNED, Results};
use crate::row_codec::row;
use crate::store::Store;
use crate::{read, sql};
use gritstone_model::RunData;

/// Size of the raw samples of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    pub launches: u64,
    /// Launches with outcome `measured`.
    pub measured: u64,
    /// Events and conditions, bytes of text.
    pub bytes: u64,
}

impl Store {
    /// Deletes the launches of an ended run; stores the results that this analysis computed from this number of
    /// launches. Atomic.
    ///
    /// # Errors
    /// [`StoreError::NotPruned`], [`StoreError::Pruned`] if already pruned, and I/O errors of the store.
    pub fn prune(
        &mut self,
        run_id: &str,
        analysis: &str,
        launches: usize,
        results: &Results,
        now: &str,
    ) -> Result<(), StoreError> {
        self.write(|engine| prune(engine, run_id, analysis, launches, results, now))
    }

    /// Size of the raw samples of a run.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], and I/O errors of the store.
    pub fn samples(&self, run_id: &str) -> Result<Samples, StoreError> {
        let read = || -> Result<Samples, Fault> {
            let run = ledger::run(self.engine(), run_id)?.number;
            let sums: Vec<(i64, i64, i64)> = query(self.engine(), sql::SELECT_SAMPLES, row![run])?;
            let (launches, measured, bytes) = sums.first().copied().unwrap_or_default();
            Ok(Samples {
                launches: launches.unsigned_abs(),
                measured: measured.unsigned_abs(),
                bytes: bytes.unsigned_abs(),
            })
        };
        self.at(read())
    }

    /// Returns free space to the system, if it is at least a tenth of the file and no other process has the file open.
    ///
    /// # Errors
    /// I/O errors of the store; the file is unchanged.
    pub fn shrink(&mut self) -> Result<Shrunk, StoreError> {
        self.at(self.engine().shrink())
    }

    /// Whether an identical run is stored, labels aside; a pruned run is compared by its hashes.
    pub(crate) fn has(&self, data: &RunData) -> Result<bool, StoreError> {
        match self.load(&data.info.id) {
            Ok(mut known) => {
                known.info.label.clone_from(&data.info.label);
                Ok(known == *data)
            }
            Err(StoreError::Pruned(..)) => {
                self.at(snapshot(self.engine(), |engine| read::had(engine, data)))
            }
            Err(error) => Err(error),
        }
    }
}

fn prune(
    engine: &dyn Engine,
    id: &str,
    analysis: &str,
    launches: usize,
    results: &Results,
    now: &str,
) -> Result<(), Fault> {
    let found = ledger::run(engine, id)?;
    if let Some(known) = ledger::entry(engine, found.number)? {
        return Err(StoreError::Pruned(id.to_owned(), known.time).into());
    }
    let not = |why| Err(StoreError::NotPruned(id.to_owned(), why).into());
    if !found.ended {
        return not("it has not ended");
    }
    let last: Option<(i64, String)> = query(engine, sql::LAST_LAUNCH, row![found.number])?.pop();
    let Some((_, tip)) = last.filter(|(last, _)| last + 1 == launches as i64) else {
        return not("its results do not match its launches");
    };
    let seal = PRUNED.store(engine, found.number, [analysis, &tip, &tip], results)?;
    let entry = Entry { tip, seal, time: now.to_owned() };
    enter(engine, found.number, PRUNE, &entry.text())?;
    engine.execute(sql::FORGET, row![found.number])?;
    engine.execute(sql::REMOVE_LAUNCHES, row![found.number])
}
