//! Results as they were computed from the launches, so that nothing is computed twice. What is cached is text that this crate does not
//! understand; it is used where its seals are right and it was computed by the same analysis from all that the run has measured by now.

use crate::error::{Fault, StoreError};
use crate::read::{all, query, split};
use crate::rows::row;
use crate::store::{PATIENCE, Store, synchronous};
use crate::write::{insert, whole};
use crate::{find, seal, sql};
use gritstone_model::Id;
use rusqlite::Connection;
use rusqlite::types::Value;
use std::time::Duration;

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
        self.at(read(&self.connection, run_id, analysis, None))
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
        self.at(read(&self.connection, run_id, analysis, Some(benchmark)))
    }

    /// The runs of which this analysis has not computed the results from all that they have measured, oldest first.
    ///
    /// # Errors
    /// What befalls the file.
    pub fn not_cached(&self, analysis: &str) -> Result<Vec<String>, StoreError> {
        let ids = query(&self.connection, sql::SELECT_NOT_CACHED, [analysis]);
        let ids: Vec<(String,)> = self.at(ids.map_err(Fault::from))?;
        Ok(ids.into_iter().map(|(id,)| id).collect())
    }

    /// Caches the results of a run that were computed from so many launches. Whether they are there now: they are not where nothing can
    /// be written, where another process writes at the moment, or where the run has gone on meanwhile.
    pub fn cache(&self, run_id: &str, analysis: &str, launches: usize, of: &Results) -> bool {
        let connection = &self.connection;
        let query_only = connection.pragma_query_value(None, "query_only", |row| row.get(0));
        let query_only: bool = query_only.unwrap_or(true);
        let set = |query_only: bool, patience, to_disk| -> Result<(), Fault> {
            connection.busy_timeout(patience)?;
            connection.pragma_update(None, "query_only", query_only)?;
            Ok(connection.pragma_update(None, "synchronous", synchronous(to_disk))?)
        };
        // a cache is worth no wait, neither for another process nor for the disk
        let done = set(false, Duration::ZERO, false).and_then(|()| {
            whole(connection, |connection| {
                write(connection, run_id, analysis, launches, of)
            })
        });
        let back = set(query_only, PATIENCE, self.to_disk);
        done.unwrap_or(false) && back.is_ok()
    }
}

fn write(
    connection: &Connection,
    run_id: &str,
    analysis: &str,
    launches: usize,
    of: &Results,
) -> Result<bool, Fault> {
    let run = find::run(connection, run_id)?.number;
    let tips: Vec<(String, i64)> = query(connection, sql::SELECT_TIP, [run])?;
    let Some((sealed, _)) = tips
        .into_iter()
        .find(|(_, found)| *found == launches as i64)
    else {
        return Ok(false);
    };
    connection.prepare_cached(sql::FORGET)?.execute([run])?;
    let row = row![
        run,
        analysis.to_owned(),
        sealed,
        of.results.len() as i64,
        of.view.clone(),
        of.past.clone(),
    ];
    let seal = seal::of("cached run", "", [&row]);
    insert(connection, sql::INSERT_CACHED_RUN, row![seal.clone()], row)?;
    for (position, (id, result)) in (0_i64..).zip(&of.results) {
        let row = row![position, id.to_string(), result.clone()];
        let key = row![run, seal::of("cached result", &seal, [&row])];
        insert(connection, sql::INSERT_CACHED_RESULT, key, row)?;
    }
    Ok(true)
}

/// What is cached of a run: with all results, or with that of `one` benchmark or none. `None` where anything is not as it was written.
fn read(
    connection: &Connection,
    run_id: &str,
    analysis: &str,
    one: Option<Option<&Id>>,
) -> Result<Option<Results>, Fault> {
    let Some(row) = all(connection, sql::SELECT_CACHED_RUN, (run_id, analysis))?.pop() else {
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
        None => (all(connection, sql::SELECT_CACHED_RESULTS, [run])?, count),
        Some(None) => (vec![], 0),
        Some(Some(id)) => {
            let key = (id.as_str(), run);
            (all(connection, sql::SELECT_CACHED_RESULT, key)?, 1)
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
