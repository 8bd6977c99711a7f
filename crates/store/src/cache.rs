//! Results as they were computed from the launches, so that nothing is computed twice. What is cached is text that this crate does not
//! understand; it is used where its seals are right and it was computed by the same analysis from all that the run has measured by now.
//! Of a run whose launches were pruned, the results are those that were kept.

use crate::engine::{Engine, Purpose, Row, Value, insert, query, snapshot, whole};
use crate::error::{Fault, StoreError};
use crate::kept::{self, Pruned};
use crate::read::split;
use crate::rows::row;
use crate::store::Store;
use crate::{find, seal, sql};
use gritstone_model::Id;

/// The results of a run, as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// What is said of the run, without its results.
    pub view: String,
    /// What comparisons of later runs need of it.
    pub past: String,
    /// Each result, in the order in which they are shown.
    pub results: Vec<(Id, String)>,
    /// Of a run whose launches were pruned: since when, and what has become of it since.
    pub pruned: Option<Pruned>,
}

impl Store {
    /// The results of a run, if this analysis computed them from what it has measured by now, or if they were kept when its launches were pruned.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when what was kept is not as it was written, and what befalls the file.
    pub fn results(&self, run_id: &str, analysis: &str) -> Result<Option<Results>, StoreError> {
        self.at(read(self.holder(run_id), run_id, analysis, None))
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
        self.at(read(self.holder(run_id), run_id, analysis, Some(benchmark)))
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
        let engine = self.holder(run_id);
        let write = |engine: &dyn Engine| write(engine, run_id, analysis, launches, of);
        whole(engine, Purpose::Cache, write).unwrap_or(false)
    }
}

/// Tables of results, and what their seals are of.
pub(crate) struct Tables {
    kinds: [&'static str; 2],
    insert: [&'static str; 2],
    all: &'static str,
    one: &'static str,
}

const CACHED: Tables = Tables {
    kinds: ["cached run", "cached result"],
    insert: [sql::INSERT_CACHED_RUN, sql::INSERT_CACHED_RESULT],
    all: sql::SELECT_CACHED_RESULTS,
    one: sql::SELECT_CACHED_RESULT,
};

pub(crate) const KEPT: Tables = Tables {
    kinds: ["kept run", "kept result"],
    insert: [sql::INSERT_KEPT_RUN, sql::INSERT_KEPT_RESULT],
    all: sql::SELECT_KEPT_RESULTS,
    one: sql::SELECT_KEPT_RESULT,
};

/// Which results are read: all, that of one benchmark, or none.
pub(crate) type Which<'a> = Option<Option<&'a Id>>;

impl Tables {
    /// Stores the results of a run by an analysis, computed up to a seal and chained to the one `before`. Their own seal.
    pub(crate) fn store(
        &self,
        engine: &dyn Engine,
        run: i64,
        [analysis, sealed, before]: [&str; 3],
        of: &Results,
    ) -> Result<String, Fault> {
        let row = row![
            run,
            analysis.to_owned(),
            sealed.to_owned(),
            of.results.len() as i64,
            of.view.clone(),
            of.past.clone(),
        ];
        let seal = seal::of(self.kinds[0], before, [&row]);
        insert(engine, self.insert[0], row![seal.clone()], row)?;
        for (position, (id, result)) in (0_i64..).zip(&of.results) {
            let row = row![position, id.to_string(), result.clone()];
            let key = row![run, seal::of(self.kinds[1], &seal, [&row])];
            insert(engine, self.insert[1], key, row)?;
        }
        Ok(seal)
    }

    /// What a row says with its results; `None` where anything is not as it was written.
    pub(crate) fn read(
        &self,
        engine: &dyn Engine,
        row: Row,
        before: &str,
        which: Which,
    ) -> Result<Option<Read>, Fault> {
        let right = |row, kind, before: &str| {
            let sealed = split(row).ok();
            sealed.filter(|(sealed, row)| *sealed == seal::of(kind, before, [row]))
        };
        let Some((seal, row)) = right(row, self.kinds[0], before) else {
            return Ok(None);
        };
        let Ok(
            [
                Value::Integer(run),
                Value::Text(analysis),
                Value::Text(sealed),
                Value::Integer(count),
                Value::Text(view),
                Value::Text(past),
            ],
        ) = <[Value; 6]>::try_from(row)
        else {
            return Ok(None);
        };
        let (rows, count) = match which {
            None => (engine.all(self.all, row![run])?, count),
            Some(None) => (vec![], 0),
            Some(Some(id)) => (engine.all(self.one, row![id.to_string(), run])?, 1),
        };
        let result = |row| match <[Value; 3]>::try_from(right(row, self.kinds[1], &seal)?.1) {
            Ok([_, Value::Text(id), Value::Text(result)]) => Some((Id::parse(&id).ok()?, result)),
            _ => None,
        };
        let results: Option<Vec<(Id, String)>> = rows.into_iter().map(result).collect();
        let results = results.filter(|results| results.len() as i64 == count);
        Ok(results.map(|results| Read {
            seal,
            sealed,
            analysis,
            results: Results {
                view,
                past,
                results,
                pruned: None,
            },
        }))
    }
}

/// Results as they were read.
pub(crate) struct Read {
    pub(crate) seal: String,
    pub(crate) sealed: String,
    pub(crate) analysis: String,
    pub(crate) results: Results,
}

fn write(
    engine: &dyn Engine,
    run_id: &str,
    analysis: &str,
    launches: usize,
    of: &Results,
) -> Result<bool, Fault> {
    let run = find::run(engine, run_id)?.number;
    // results that were kept are not computed again
    if kept::entry(engine, run)?.is_some() {
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

/// What is cached or kept of a run. `None` where nothing is, or where what is cached is not as it was written.
fn read(
    engine: &dyn Engine,
    run_id: &str,
    analysis: &str,
    which: Which,
) -> Result<Option<Results>, Fault> {
    let key = row![run_id.to_owned(), analysis.to_owned()];
    match engine.all(sql::SELECT_CACHED_RUN, key)?.pop() {
        Some(row) => Ok(CACHED
            .read(engine, row, "", which)?
            .map(|read| read.results)),
        None => snapshot(engine, |engine| kept::read(engine, run_id, which)),
    }
}
