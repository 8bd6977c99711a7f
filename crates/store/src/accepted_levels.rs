//! Benchmarks whose level in a run someone accepted by name: entries of the ledger.

use crate::engine::{Purpose, query, whole};
use crate::error::StoreError;
use crate::ledger::{self, enter};
use crate::sql;
use crate::store::Store;
use gritstone_model::Id;

impl Store {
    /// Accepts the level of benchmarks in a run, for good.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], and what befalls the file.
    pub fn accept(&mut self, run_id: &str, benchmarks: &[Id]) -> Result<(), StoreError> {
        self.at(whole(self.engine(), Purpose::Write, |engine| {
            let run = ledger::run(engine, run_id)?.number;
            let mut ids = benchmarks.iter();
            ids.try_for_each(|id| enter(engine, run, "accept", id.as_str()))
        }))
    }

    /// All that was accepted: the run, and the benchmark.
    ///
    /// # Errors
    /// What befalls the file.
    pub fn accepted(&self) -> Result<Vec<(String, Id)>, StoreError> {
        let rows = query(self.engine(), sql::SELECT_ACCEPTED, vec![]);
        let rows: Vec<(String, String)> = self.at(rows)?;
        let known = rows.into_iter();
        Ok(known
            .filter_map(|(run, id)| Some((run, Id::parse(&id).ok()?)))
            .collect())
    }
}
