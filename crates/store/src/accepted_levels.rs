//! Accepted levels: by name, which are ledger entries, or as expected changes.

use crate::change_log::{ChangeEntry, EntryContent};
use crate::engine::query;
use crate::error::StoreError;
use crate::ledger::{self, ACCEPT, enter};
use crate::sql;
use crate::store::Store;
use gritstone_model::{ChangeState, Id, TriageEntry};
use std::collections::BTreeMap;

impl Store {
    /// Accepts the level of benchmarks in a run, permanently.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], and I/O errors of the store.
    pub fn accept(&mut self, run_id: &str, benchmarks: &[Id]) -> Result<(), StoreError> {
        self.write(|engine| {
            let run = ledger::run(engine, run_id)?.number;
            let mut ids = benchmarks.iter();
            ids.try_for_each(|id| enter(engine, run, ACCEPT, id.as_str()))
        })
    }

    /// Levels that were accepted by name: run, benchmark.
    ///
    /// # Errors
    /// I/O errors of the store.
    pub fn accepted(&self) -> Result<Vec<(String, Id)>, StoreError> {
        let rows = query(self.engine(), sql::SELECT_ACCEPTED, vec![]);
        let rows: Vec<(String, String)> = self.at(rows)?;
        let known = rows.into_iter();
        Ok(known.filter_map(|(run, id)| Some((run, Id::parse(&id).ok()?))).collect())
    }

    /// Benchmarks of changes for the worse that are expected, with the runs by which these are known.
    ///
    /// # Errors
    /// I/O errors of the store.
    pub fn expected(&self) -> Result<Vec<(String, Id)>, StoreError> {
        let mut last: BTreeMap<String, TriageEntry> = BTreeMap::new();
        for ChangeEntry { event, content } in self.change_entries()? {
            if let EntryContent::Triage(entry) = content {
                last.insert(event, entry);
            }
        }
        let replaced = self.replaced()?;
        let mut expected = vec![];
        for (event, entry) in last {
            let Some(first) = event.strip_suffix("-worse") else { continue };
            if entry.state == ChangeState::Expected {
                let next = replaced.iter().filter(|(_, gone)| gone == first).map(|(run, _)| run);
                for run in next.cloned().chain([first.to_owned()]) {
                    expected.extend(entry.benchmarks.iter().map(|id| (run.clone(), id.clone())));
                }
            }
        }
        Ok(expected)
    }
}
