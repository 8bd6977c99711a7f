//! Results as they were computed from the launches, so that nothing is computed twice. What is cached is text that this crate does not
//! understand; it is used where its seals are right and it was computed by the same analysis from all that the run has measured by now.
//! Of a run whose launches were pruned, the results are those that were kept.

use crate::engine::{Engine, Purpose, Row, Value, column, query, snapshot, whole};
use crate::error::{Fault, StoreError};
use crate::ledger;
use crate::result_tables::{CACHED, Results, Which, kept};
use crate::row_codec::row;
use crate::sql;
use crate::store::Store;
use gritstone_model::Id;
use std::collections::BTreeMap;

impl Store {
    /// The results of a run, if this analysis computed them from what it has measured by now, or if they were kept when its launches were pruned.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when what was kept is not as it was written, and what befalls the file.
    pub fn results(&self, run_id: &str, analysis: &str) -> Result<Option<Results>, StoreError> {
        self.read(&[run_id], analysis, None)?.remove(0)
    }

    /// What [`Results`] says of a run, with the result of one benchmark or none.
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

    /// The same of several runs, each named once: a server is asked for [`TOGETHER`](crate::TOGETHER) of them in a round trip. Of a run that
    /// is damaged the error stands in its place.
    ///
    /// # Errors
    /// What befalls the file or the server.
    pub fn results_of_each(
        &self,
        runs: &[&str],
        analysis: &str,
        benchmark: Option<&Id>,
    ) -> Result<Vec<Result<Option<Results>, StoreError>>, StoreError> {
        let mut all = vec![];
        for runs in runs.chunks(sql::TOGETHER) {
            all.extend(self.read(runs, analysis, Some(benchmark))?);
        }
        Ok(all)
    }

    /// What is known of runs that are in one place, [`sql::TOGETHER`] at most.
    fn read(
        &self,
        runs: &[&str],
        analysis: &str,
        which: Which,
    ) -> Result<Vec<Result<Option<Results>, StoreError>>, StoreError> {
        let read = read(self.engine(), runs, analysis, which);
        match (self.at(read), runs) {
            (Ok(found), _) => {
                let of = |of| match self.at(of) {
                    Err(error) if !matches!(error, StoreError::Damaged(..)) => Err(error),
                    of => Ok(of),
                };
                found.into_iter().map(of).collect()
            }
            (Err(damaged @ StoreError::Damaged(..)), [_]) => Ok(vec![Err(damaged)]),
            // it need not be all of them
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

    /// The runs of which this analysis has not computed the results from all that they have measured, oldest first. Of those whose launches were
    /// pruned there is nothing to compute.
    ///
    /// # Errors
    /// What befalls the file.
    pub fn not_cached(&self, analysis: &str) -> Result<Vec<String>, StoreError> {
        let of = row![analysis.to_owned()];
        let ids = query(self.engine(), sql::SELECT_NOT_CACHED, of);
        let ids: Vec<(String,)> = self.at(ids)?;
        Ok(ids.into_iter().map(|(id,)| id).collect())
    }

    /// Caches the results of a run that were computed from so many launches. Whether they are there now: they are not where nothing can
    /// be written, where another process writes at the moment, or where the run has gone on meanwhile.
    pub fn cache(&self, run_id: &str, analysis: &str, launches: usize, of: &Results) -> bool {
        let engine = self.engine();
        let write = |engine: &dyn Engine| write(engine, run_id, analysis, launches, of);
        whole(engine, Purpose::Cache, write).unwrap_or(false)
    }
}

fn write(
    engine: &dyn Engine,
    run_id: &str,
    analysis: &str,
    launches: usize,
    of: &Results,
) -> Result<bool, Fault> {
    let run = ledger::run(engine, run_id)?.number;
    // results that were kept are not computed again
    if ledger::entry(engine, run)?.is_some() {
        return Ok(false);
    }
    let tips: Vec<(String, i64)> = query(engine, sql::SELECT_TIP, row![run])?;
    let Some((sealed, _)) = tips
        .into_iter()
        .find(|(_, found)| *found == launches as i64)
    else {
        return Ok(false);
    };
    engine.execute(sql::FORGET, row![run])?;
    CACHED.store(engine, run, [analysis, &sealed, ""], of)?;
    Ok(true)
}

/// What is cached or kept of each of some runs. `None` where nothing is, or where what is cached is not as it was written.
fn read(
    engine: &dyn Engine,
    runs: &[&str],
    analysis: &str,
    which: Which,
) -> Result<Vec<Result<Option<Results>, Fault>>, Fault> {
    let ids = runs.iter().map(|run| (*run).to_owned());
    let key = together(analysis.to_owned(), ids, String::new());
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
            let key = together(benchmark.to_string(), numbers, -1);
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
    let mut of = |run: &&str| match heads.remove(*run) {
        Some(head) => Ok(head.and_then(|(run, head)| {
            let rows = results.remove(&run).unwrap_or_default();
            Some(Results {
                results: CACHED.results(&head, rows, which)?,
                ..head.results
            })
        })),
        None => snapshot(engine, |engine| kept(engine, run, which)),
    };
    Ok(runs.iter().map(&mut of).collect())
}

/// The parameters of a statement about several runs, of which those that are left over find none.
fn together<T: Clone + Into<Value>>(first: String, runs: impl Iterator<Item = T>, none: T) -> Row {
    let runs = runs.chain(std::iter::repeat(none)).take(sql::TOGETHER);
    std::iter::once(first.into())
        .chain(runs.map(Into::into))
        .collect()
}
