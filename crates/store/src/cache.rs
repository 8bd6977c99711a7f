//! Cache of computed results.
//!
//! Results are opaque text to this crate. A cached result is valid if its hashes match and the same analysis computed
//! it from all current launches. The results of a pruned run are the ones stored by pruning.

use crate::engine::{Engine, Purpose, Row, Value, column, query, snapshot, transaction};
use crate::error::{Fault, StoreError};
use crate::ledger;
use crate::result_tables::{CACHED, Results, Which, pruned_results};
use crate::row_codec::row;
use crate::sql;
use crate::store::Store;
use gritstone_model::Id;
use std::collections::BTreeMap;

impl Store {
    /// The results of a run: cached by this analysis from all current launches, or stored by pruning.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when the results stored by pruning were changed, and I/O errors of the store.
    pub fn results(&self, run_id: &str, analysis: &str) -> Result<Option<Results>, StoreError> {
        self.read(&[run_id], analysis, None)?.remove(0)
    }

    /// The [`Results`] of a run with the result of one benchmark, or of none.
    ///
    /// # Errors
    /// As [`Store::results`].
    pub fn result(
        &self,
        run_id: &str,
        analysis: &str,
        benchmark: Option<&Id>,
    ) -> Result<Option<Results>, StoreError> {
        self.read(&[run_id], analysis, Some(benchmark))?.remove(0)
    }

    /// Results of several runs, each named once. A server returns [`RUNS_PER_QUERY`](crate::RUNS_PER_QUERY) runs per round trip.
    /// The error of a damaged run is returned in its place.
    ///
    /// # Errors
    /// I/O errors of the store or the server.
    pub fn results_of_each(
        &self,
        runs: &[&str],
        analysis: &str,
        benchmark: Option<&Id>,
    ) -> Result<Vec<Result<Option<Results>, StoreError>>, StoreError> {
        let mut all = vec![];
        for runs in runs.chunks(sql::RUNS_PER_QUERY) {
            all.extend(self.read(runs, analysis, Some(benchmark))?);
        }
        Ok(all)
    }

    /// Reads the results of at most [`sql::RUNS_PER_QUERY`] runs.
    fn read(
        &self,
        runs: &[&str],
        analysis: &str,
        which: Which,
    ) -> Result<Vec<Result<Option<Results>, StoreError>>, StoreError> {
        let read = read(self.engine(), runs, analysis, which);
        match (self.at(read), runs) {
            (Ok(found), _) => {
                let checked = |result| match self.at(result) {
                    Err(error) if !matches!(error, StoreError::Damaged(..)) => Err(error),
                    result => Ok(result),
                };
                found.into_iter().map(checked).collect()
            }
            (Err(damaged @ StoreError::Damaged(..)), [_]) => Ok(vec![Err(damaged)]),
            // some of the runs may be undamaged
            (Err(StoreError::Damaged(..)), several) => {
                let mut all = vec![];
                for run in several {
                    all.extend(self.read(&[*run], analysis, which)?);
                }
                Ok(all)
            }
            (Err(error), _) => Err(error),
        }
    }

    /// Runs without current results of this analysis, oldest first; pruned runs have none to compute.
    ///
    /// # Errors
    /// I/O errors of the store.
    pub fn not_cached(&self, analysis: &str) -> Result<Vec<String>, StoreError> {
        let parameters = row![analysis.to_owned()];
        let ids = query(self.engine(), sql::SELECT_NOT_CACHED, parameters);
        let ids: Vec<(String,)> = self.at(ids)?;
        Ok(ids.into_iter().map(|(id,)| id).collect())
    }

    /// Hashes of the results that this analysis cached, by run; a hash changes with the results.
    ///
    /// # Errors
    /// I/O errors of the store.
    pub fn cached_seals(&self, analysis: &str) -> Result<BTreeMap<String, String>, StoreError> {
        let parameters = row![analysis.to_owned()];
        let seals = query(self.engine(), sql::SELECT_CACHED_SEALS, parameters);
        let seals: Vec<(String, String)> = self.at(seals)?;
        Ok(seals.into_iter().collect())
    }

    /// Caches results of a run that were computed from this number of launches. Returns whether they were stored: not
    /// on a read-only store, while another process writes, or if the run has more launches by now.
    pub fn cache(&self, run_id: &str, analysis: &str, launches: usize, results: &Results) -> bool {
        let engine = self.engine();
        let write = |engine: &dyn Engine| write(engine, run_id, analysis, launches, results);
        transaction(engine, Purpose::Cache, write).unwrap_or(false)
    }
}

fn write(
    engine: &dyn Engine,
    run_id: &str,
    analysis: &str,
    launches: usize,
    results: &Results,
) -> Result<bool, Fault> {
    let run = ledger::run(engine, run_id)?.number;
    // results stored by pruning are not recomputed
    if ledger::entry(engine, run)?.is_some() {
        return Ok(false);
    }
    let tips: Vec<(String, i64)> = query(engine, sql::SELECT_TIP, row![run])?;
    let Some((sealed, _)) = tips.into_iter().find(|(_, found)| *found == launches as i64) else {
        return Ok(false);
    };
    engine.execute(sql::FORGET, row![run])?;
    CACHED.store(engine, run, [analysis, &sealed, ""], results)?;
    Ok(true)
}

/// Cached or pruned results of several runs; `None` where there are none, or where a cached result fails its hash.
fn read(
    engine: &dyn Engine,
    runs: &[&str],
    analysis: &str,
    which: Which,
) -> Result<Vec<Result<Option<Results>, Fault>>, Fault> {
    let ids = runs.iter().map(|run| (*run).to_owned());
    let key = batch_parameters(analysis.to_owned(), ids, String::new());
    let mut heads = BTreeMap::new();
    for mut row in engine.all(sql::SELECT_CACHED_RUNS, key)? {
        let rest = row.split_off(1);
        heads.insert(column::<String>(&row, 0)?, CACHED.head(rest, ""));
    }
    let mut results: BTreeMap<i64, Vec<Row>> = BTreeMap::new();
    let numbers = heads.values().flatten().map(|(run, _)| *run);
    match which {
        Some(None) => {}
        Some(Some(benchmark)) => {
            let key = batch_parameters(benchmark.to_string(), numbers, -1);
            for mut row in engine.all(sql::SELECT_CACHED_OF, key)? {
                let rest = row.split_off(1);
                results.entry(column(&row, 0)?).or_default().push(rest);
            }
        }
        None => {
            for run in numbers {
                results.insert(run, engine.all(sql::SELECT_CACHED_RESULTS, row![run])?);
            }
        }
    }
    let mut load = |run: &&str| match heads.remove(*run) {
        Some(head) => Ok(head.and_then(|(run, head)| {
            let rows = results.remove(&run).unwrap_or_default();
            Some(Results { results: CACHED.results(&head, rows, which)?, ..head.results })
        })),
        None => snapshot(engine, |engine| pruned_results(engine, run, which)),
    };
    Ok(runs.iter().map(&mut load).collect())
}

/// Parameters of a statement about several runs; unused parameters match no run.
fn batch_parameters<T: Clone + Into<Value>>(
    first: String,
    runs: impl Iterator<Item = T>,
    none: T,
) -> Row {
    let runs = runs.chain(std::iter::repeat(none)).take(sql::RUNS_PER_QUERY);
    std::iter::once(first.into()).chain(runs.map(Into::into)).collect()
}
