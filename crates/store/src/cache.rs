//! Results as they were computed from the launches, so that nothing is computed twice. What is cached is text that this crate does not
//! understand; it is used where its seals are right and it was computed by the same analysis from all that the run has measured by now.

use crate::error::{Fault, StoreError};
use crate::read::{all, split};
use crate::rows::{self, Row};
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
        self.cached(run_id, analysis, |cached| {
            let rows = all(&self.connection, sql::SELECT_CACHED_RESULTS, [cached.run])?;
            Ok((rows, cached.count))
        })
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
        self.cached(run_id, analysis, |cached| match benchmark {
            None => Ok((vec![], 0)),
            Some(id) => {
                let key = (id.as_str(), cached.run);
                let rows = all(&self.connection, sql::SELECT_CACHED_RESULT, key)?;
                Ok((rows, 1))
            }
        })
    }

    /// What is cached of a run, with the rows of results that `rows` finds, as many as it says; `None` where one of them is not right.
    fn cached(
        &self,
        run_id: &str,
        analysis: &str,
        rows: impl Fn(&Cached) -> rusqlite::Result<(Vec<Row>, i64)>,
    ) -> Result<Option<Results>, StoreError> {
        let read = || -> Result<Option<Results>, Fault> {
            let Some(cached) = Cached::of(&self.connection, run_id, analysis)? else {
                return Ok(None);
            };
            let (rows, count) = rows(&cached)?;
            let results = rows.into_iter().map(|row| cached.result(row));
            let results: Option<Vec<(Id, String)>> = results.collect();
            let whole = results.filter(|results| results.len() as i64 == count);
            Ok(whole.map(|results| Results {
                view: cached.view,
                past: cached.past,
                results,
            }))
        };
        read().map_err(|fault| fault.at(&self.path))
    }

    /// The runs of which this analysis has not computed the results from all that they have measured, oldest first.
    ///
    /// # Errors
    /// What befalls the file.
    pub fn not_cached(&self, analysis: &str) -> Result<Vec<String>, StoreError> {
        let read = || -> rusqlite::Result<Vec<String>> {
            let mut statement = self.connection.prepare_cached(sql::SELECT_NOT_CACHED)?;
            let ids = statement.query_map([analysis], |row| row.get(0))?;
            ids.collect()
        };
        read().map_err(|error| Fault::from(error).at(&self.path))
    }

    /// Caches the results of a run that were computed from so many launches. Whether they are there now: they are not where nothing can
    /// be written, where another process writes at the moment, or where the run has gone on meanwhile.
    pub fn cache(&self, run_id: &str, analysis: &str, launches: usize, of: &Results) -> bool {
        let connection = &self.connection;
        let write = || -> Result<bool, Fault> {
            let mut done = false;
            whole(connection, |connection| {
                done = write(connection, run_id, analysis, launches, of)?;
                Ok(())
            })?;
            Ok(done)
        };
        let set = |pragma: &str, value: bool| connection.pragma_update(None, pragma, value);
        let query_only = connection.pragma_query_value(None, "query_only", |row| row.get(0));
        let query_only: bool = query_only.unwrap_or(true);
        // a cache is worth no wait, neither for another process nor for the disk
        let ready = set("query_only", false)
            .and_then(|()| connection.busy_timeout(Duration::ZERO))
            .and_then(|()| connection.pragma_update(None, "synchronous", synchronous(false)));
        let done = ready.map_err(Fault::from).and_then(|()| write());
        let back = connection
            .busy_timeout(PATIENCE)
            .and_then(|()| set("query_only", query_only))
            .and_then(|()| {
                connection.pragma_update(None, "synchronous", synchronous(self.to_disk))
            });
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
    let (sealed, found): (String, i64) = connection
        .prepare_cached(sql::SELECT_TIP)?
        .query_row([run], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if usize::try_from(found) != Ok(launches) {
        return Ok(false);
    }
    connection.prepare_cached(sql::FORGET)?.execute([run])?;
    let row = vec![
        Value::Integer(run),
        rows::text(analysis),
        rows::text(&sealed),
        rows::count(of.results.len()),
        rows::text(&of.view),
        rows::text(&of.past),
    ];
    let seal = seal::of_cached_run(&row);
    insert(connection, sql::INSERT_CACHED_RUN, [rows::text(&seal)], row)?;
    for (position, (id, result)) in of.results.iter().enumerate() {
        let row = vec![
            rows::count(position),
            rows::text(id.as_str()),
            rows::text(result),
        ];
        let key = [
            Value::Integer(run),
            rows::text(&seal::of_cached_result(&seal, &row)),
        ];
        insert(connection, sql::INSERT_CACHED_RESULT, key, row)?;
    }
    Ok(true)
}

/// What holds the cached results of a run together, its seal being right.
struct Cached {
    run: i64,
    seal: String,
    count: i64,
    view: String,
    past: String,
}

impl Cached {
    fn of(connection: &Connection, run_id: &str, analysis: &str) -> Result<Option<Self>, Fault> {
        let row = all(connection, sql::SELECT_CACHED_RUN, (run_id, analysis))?.pop();
        let Some((seal, mut row)) = row.and_then(|row| split(row).ok()) else {
            return Ok(None);
        };
        if seal != seal::of_cached_run(&row) {
            return Ok(None);
        }
        let run = row.first().cloned();
        Ok(match (run, row.pop(), row.pop(), row.pop()) {
            (
                Some(Value::Integer(run)),
                Some(Value::Text(past)),
                Some(Value::Text(view)),
                Some(Value::Integer(count)),
            ) => Some(Self {
                run,
                seal,
                count,
                view,
                past,
            }),
            _ => None,
        })
    }

    /// A result, if its seal is right.
    fn result(&self, row: Row) -> Option<(Id, String)> {
        let (seal, mut row) = split(row).ok()?;
        if seal != seal::of_cached_result(&self.seal, &row) {
            return None;
        }
        match (row.pop(), row.pop()) {
            (Some(Value::Text(result)), Some(Value::Text(id))) => {
                Some((Id::parse(&id).ok()?, result))
            }
            _ => None,
        }
    }
}
