//! Results as they were computed from the launches, so that nothing is computed twice. What is cached is text that this crate does not
//! understand; it is used where its seals are right and it was computed by the same analysis from all that the run has measured by now.

use crate::engine::{Engine, Purpose, Value, insert, query, whole};
use crate::error::{Fault, StoreError};
use crate::read::split;
use crate::rows::row;
use crate::store::Store;
use crate::{find, seal, sql};
use gritstone_model::Id;

/// The results of a run, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Results {
    /// What is said of the run, without its results.
    pub view: String,
    /// What comparisons of later runs need of it.
    pub past: String,
    /// Each result, in the order in which they are shown.
    pub results: Vec<(Id, String)>,
}

impl Store {
    /// The results of a run, if this analysis computed them from what it has measured by now.
    ///
    /// # Errors
    /// What befalls the file.
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

    /// The runs of which this analysis has not computed the results from all that they have measured, oldest first.
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

fn write(
    engine: &dyn Engine,
    run_id: &str,
    analysis: &str,
    launches: usize,
    of: &Results,
) -> Result<bool, Fault> {
    let run = find::run(engine, run_id)?.number;
    let tips: Vec<(String, i64)> = query(engine, sql::SELECT_TIP, row![run])?;
    let Some((sealed, _)) = tips
        .into_iter()
        .find(|(_, found)| *found == launches as i64)
    else {
        return Ok(false);
    };
    engine.execute(sql::FORGET, row![run])?;
    let row = row![
        run,
        analysis.to_owned(),
        sealed,
        of.results.len() as i64,
        of.view.clone(),
        of.past.clone(),
    ];
    let seal = seal::of("cached run", "", [&row]);
    insert(engine, sql::INSERT_CACHED_RUN, row![seal.clone()], row)?;
    for (position, (id, result)) in (0_i64..).zip(&of.results) {
        let row = row![position, id.to_string(), result.clone()];
        let key = row![run, seal::of("cached result", &seal, [&row])];
        insert(engine, sql::INSERT_CACHED_RESULT, key, row)?;
    }
    Ok(true)
}

/// What is cached of a run: with all results, or with that of `one` benchmark or none. `None` where anything is not as it was written.
fn read(
    engine: &dyn Engine,
    run_id: &str,
    analysis: &str,
    one: Option<Option<&Id>>,
) -> Result<Option<Results>, Fault> {
    let Some(row) = engine
        .all(
            sql::SELECT_CACHED_RUN,
            row![run_id.to_owned(), analysis.to_owned()],
        )?
        .pop()
    else {
        return Ok(None);
    };
    let right = |row, kind, before: &str| {
        let sealed = split(row).ok();
        sealed.filter(|(sealed, row)| *sealed == seal::of(kind, before, [row]))
    };
    let Some((sealed, row)) = right(row, "cached run", "") else {
        return Ok(None);
    };
    let Ok(
        [
            Value::Integer(run),
            _,
            _,
            Value::Integer(count),
            Value::Text(view),
            Value::Text(past),
        ],
    ) = <[Value; 6]>::try_from(row)
    else {
        return Ok(None);
    };
    let (rows, count) = match one {
        None => (engine.all(sql::SELECT_CACHED_RESULTS, row![run])?, count),
        Some(None) => (vec![], 0),
        Some(Some(id)) => {
            let key = row![id.to_string(), run];
            (engine.all(sql::SELECT_CACHED_RESULT, key)?, 1)
        }
    };
    let result = |row| match <[Value; 3]>::try_from(right(row, "cached result", &sealed)?.1) {
        Ok([_, Value::Text(id), Value::Text(result)]) => Some((Id::parse(&id).ok()?, result)),
        _ => None,
    };
    let results: Option<Vec<(Id, String)>> = rows.into_iter().map(result).collect();
    Ok(results
        .filter(|results| results.len() as i64 == count)
        .map(|results| Results {
            view,
            past,
            results,
        }))
}
