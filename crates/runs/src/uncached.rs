//! Results of runs that are not in the cache.

use anyhow::Result;
use gritstone_model::Id;
use gritstone_store::{Results, StoreError};
use std::collections::{BTreeMap, BTreeSet};

/// Runs without cached results.
#[derive(Default)]
pub struct Uncached {
    /// Results that cannot be cached now: on a read-only store, or while another process writes.
    pub(crate) results: BTreeMap<String, Results>,
    pub(crate) unreadable: BTreeSet<String>,
    /// Reference frequency of each machine in these results, GHz.
    pub(crate) reference_ghz: BTreeMap<String, f64>,
}

impl Uncached {
    /// Leaves out unreadable runs.
    pub(crate) fn readable(&self, mut runs: Vec<String>) -> Vec<String> {
        runs.retain(|run| !self.unreadable.contains(run));
        runs
    }

    /// The results of a run with that of one benchmark, or of none.
    pub(crate) fn result(&self, run: &str, benchmark: Option<&Id>) -> Option<Results> {
        let all = self.results.get(run)?;
        let results = all.results.iter().filter(|(id, _)| Some(id) == benchmark);
        Some(Results {
            view: all.view.clone(),
            past: all.past.clone(),
            results: results.cloned().collect(),
            pruned: None,
        })
    }
}

/// The readable value of a run; `None`, with a warning, if it is damaged.
///
/// # Errors
/// When other runs cannot be read either.
pub fn or_warning<T>(run: &str, read: Result<T>) -> Result<Option<T>> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(why) if why.downcast_ref().is_none_or(StoreError::is_of_one_run) => {
            log::warn!("run {run} is left out: {why:#}");
            Ok(None)
        }
        Err(why) => Err(why),
    }
}

#[cfg(test)]
mod tests {
    use crate::changes::recurring;
    use crate::context::Context;
    use crate::earlier_runs::MAX_RUNS;
    use crate::history::Extent;
    use gritstone_model::HistoryView;
    use gritstone_store::Store;
    use rusqlite::Connection;
    use rusqlite::config::DbConfig;
    use std::path::{Path, PathBuf};
    use tempfile::TempDir;

    /// A store of this many runs, without cached results.
    fn stored(count: usize) -> (TempDir, PathBuf) {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/run.jsonl");
        let text = std::fs::read_to_string(path).unwrap();
        let run = gritstone_exchange::read_bundle(text.as_bytes()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let mut store = Store::open(&path).unwrap();
        for number in 0..count {
            let mut run = run.clone();
            run.info.id = format!("{}-{number}", run.info.id);
            store.import(&run).unwrap();
        }
        (folder, path)
    }

    fn all(path: &Path) -> Vec<HistoryView> {
        let context = Context::new(Some(path.to_owned()));
        let store = context.reader().unwrap().unwrap();
        recurring(&context, &store, Extent { runs: MAX_RUNS, branch: None, same: &[] }).unwrap()
    }

    #[test]
    fn locked_stores_have_whole_histories() {
        let (_folder, path) = stored(2);
        let writer = Connection::open(&path).unwrap();
        writer.execute_batch("BEGIN IMMEDIATE").unwrap();
        let computed = all(&path);
        writer.execute_batch("ROLLBACK").unwrap();
        assert!(computed.iter().any(|view| view.series[0].points.len() == 2));
        assert_eq!(computed, all(&path));
        assert_eq!(computed, all(&path), "from the cache");
    }

    #[test]
    fn damaged_runs_are_left_out() {
        let [(_whole, whole), (_damaged, damaged)] = [2, 3].map(stored);
        let file = Connection::open(&damaged).unwrap();
        file.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false).unwrap();
        file.execute("UPDATE launch SET start_ns = start_ns + 1 WHERE run = 3", []).unwrap();
        drop(file);
        let histories = all(&damaged);
        assert!(!histories.is_empty());
        assert_eq!(histories, all(&whole));
    }
}
