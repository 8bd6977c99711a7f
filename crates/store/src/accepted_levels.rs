//! Benchmarks whose level in a run was accepted by name: ledger entries.

use crate::engine::{Purpose, query, transaction};
use crate::error::StoreError;
use crate::ledger::{self, ACCEPT, enter};
use crate::sql;
use crate::store::Store;
use gritstone_model::Id;

impl Store {
    /// Accepts the level of benchmarks in a run, permanently.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], and I/O errors of the store.
    pub fn accept(&mut self, run_id: &str, benchmarks: &[Id]) -> Result<(), StoreError> {
        self.at(transaction(self.engine(), Purpose::Write, |engine| {
            let run = ledger::run(engine, run_id)?.number;
            let mut ids = benchmarks.iter();
            ids.try_for_each(|id| enter(engine, run, ACCEPT, id.as_str()))
        }))
    }

    /// All accepted levels: run, benchmark.
    ///
    /// # Errors
    /// I/O errors of the store.
    pub fn accepted(&self) -> Result<Vec<(String, Id)>, StoreError> {
        let rows = query(self.engine(), sql::SELECT_ACCEPTED, vec![]);
        let rows: Vec<(String, String)> = self.at(rows)?;
        let known = rows.into_iter();
        Ok(known.filter_map(|(run, id)| Some((run, Id::parse(&id).ok()?))).collect())
    }
}
