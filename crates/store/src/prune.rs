//! Runs whose launches were pruned: their results are kept for good, and an entry of the ledger has the seals on both sides of what is gone.

use crate::engine::{Engine, Purpose, Shrunk, query, snapshot, whole};
use crate::error::{Fault, StoreError};
use crate::ledger::{self, Entry, PRUNE, enter};
use crate::result_tables::{KEPT, Results};
use crate::row_codec::row;
use crate::store::Store;
use crate::{read, sql};
use gritstone_model::RunData;

/// The raw samples of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// Its launches.
    pub launches: u64,
    /// Those of them that were measured.
    pub measured: u64,
    /// What they said and under which conditions, in bytes of text.
    pub bytes: u64,
}

impl Store {
    /// Prunes the launches of a run that has ended: `of` is kept in their place, as this analysis computed it from so many launches. All of it
    /// happens, or nothing.
    ///
    /// # Errors
    /// [`StoreError::NotPruned`], [`StoreError::Pruned`] where it was done before, and what befalls the file.
    pub fn prune(
        &mut self,
        run_id: &str,
        analysis: &str,
        launches: usize,
        of: &Results,
        now: &str,
    ) -> Result<(), StoreError> {
        self.reach_disk(true)?;
        self.at(whole(self.engine(), Purpose::Write, |engine| {
            prune(engine, run_id, analysis, launches, of, now)
        }))
    }

    /// How much the raw samples of a run are.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], and what befalls the file.
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

    /// Gives free space in the file back to the system, where it is a tenth of it or more and nobody else has the file open.
    ///
    /// # Errors
    /// What befalls the file; it is as it was then.
    pub fn shrink(&mut self) -> Result<Shrunk, StoreError> {
        self.at(self.engine().shrink())
    }

    /// Whether a run is stored as it is here, but for its label, which it may have been given later. One whose launches were pruned is
    /// known by their seals.
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
    of: &Results,
    now: &str,
) -> Result<(), Fault> {
    let found = ledger::run(engine, id)?;
    if let Some(known) = ledger::entry(engine, found.number)? {
        return Err(StoreError::Pruned(id.to_owned(), known.at).into());
    }
    let not = |why| Err(StoreError::NotPruned(id.to_owned(), why).into());
    if !found.ended {
        return not("it has not ended");
    }
    let last: Option<(i64, String)> = query(engine, sql::LAST_LAUNCH, row![found.number])?.pop();
    let Some((_, tip)) = last.filter(|(last, _)| last + 1 == launches as i64) else {
        return not("its results are not of the launches that it has");
    };
    let seal = KEPT.store(engine, found.number, [analysis, &tip, &tip], of)?;
    let entry = Entry {
        tip,
        seal,
        at: now.to_owned(),
    };
    enter(engine, found.number, PRUNE, &entry.text())?;
    engine.execute(sql::FORGET, row![found.number])?;
    engine.execute(sql::REMOVE_LAUNCHES, row![found.number])
}
