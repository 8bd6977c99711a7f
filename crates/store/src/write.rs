//! Stores runs: every function is one transaction, so that what it stores is there whole or not at all.
//!
//! Must not know: files, how rows are read.

use crate::error::{Fault, StoreError};
use crate::rows::{self, Row};
use crate::seal::Seal;
use crate::{name, sql};
use gritstone_model::{Benchmark, Id, Launch, Program, RunData, RunInfo, Skip};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params_from_iter};
use std::collections::BTreeMap;

/// Everything about a run but its launches and its end.
pub(crate) struct Beginning<'a> {
    pub(crate) info: &'a RunInfo,
    pub(crate) benchmarks: &'a [Benchmark],
    pub(crate) programs: &'a BTreeMap<Id, Program>,
    pub(crate) skips: &'a [Skip],
}

/// Begins a run.
pub(crate) fn begin(connection: &mut Connection, beginning: &Beginning) -> Result<(), Fault> {
    if beginning.info.elapsed_s.is_some() {
        return Err(Fault::unfit("a run that begins cannot have ended"));
    }
    whole(connection, |connection| {
        insert_beginning(connection, beginning).map(drop)
    })
}

/// Stores a launch with its events.
pub(crate) fn append(connection: &mut Connection, id: &str, launch: &Launch) -> Result<(), Fault> {
    whole(connection, |connection| {
        let run = open_run(connection, id)?;
        insert_launch(connection, run, launch)
    })
}

/// Ends a run.
pub(crate) fn finish(connection: &mut Connection, id: &str, elapsed_s: f64) -> Result<(), Fault> {
    whole(connection, |connection| {
        let run = open_run(connection, id)?;
        insert_end(connection, run, elapsed_s)
    })
}

/// Stores a whole run.
pub(crate) fn import(connection: &mut Connection, data: &RunData) -> Result<(), Fault> {
    let beginning = Beginning {
        info: &data.info,
        benchmarks: &data.benchmarks,
        programs: &data.programs,
        skips: &data.skips,
    };
    whole(connection, |connection| {
        let run = insert_beginning(connection, &beginning)?;
        for launch in &data.launches {
            insert_launch(connection, run, launch)?;
        }
        match data.info.elapsed_s {
            Some(elapsed_s) => insert_end(connection, run, elapsed_s),
            None => Ok(()),
        }
    })
}

/// A transaction that has the right to write from its first statement on: one that asks for it later, after it has
/// read, is refused at once where another writer was faster. Its words are kept as statements, which those of the library are not:
/// to read them for each of thousands of launches was a fifth of the work.
fn whole(
    connection: &mut Connection,
    store: impl FnOnce(&Connection) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let say = |words| connection.prepare_cached(words)?.execute([]);
    say("BEGIN IMMEDIATE")?;
    let stored = store(connection).and_then(|()| Ok(say("COMMIT").map(drop)?));
    if stored.is_err() && !connection.is_autocommit() {
        // why it was not stored is what matters
        let _ = say("ROLLBACK");
    }
    stored
}

/// The number of a run that has not ended.
fn open_run(connection: &Connection, id: &str) -> Result<i64, Fault> {
    match find_run(connection, id)? {
        Some((number, false)) => Ok(number),
        Some((_, true)) => Err(StoreError::Ended { id: id.into() }.into()),
        None => Err(StoreError::NoSuchRun { id: id.into() }.into()),
    }
}

/// The number of a run, and whether it has ended.
pub(crate) fn find_run(connection: &Connection, id: &str) -> rusqlite::Result<Option<(i64, bool)>> {
    connection
        .prepare_cached(sql::FIND_RUN)?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}

fn insert_beginning(connection: &Connection, beginning: &Beginning) -> Result<i64, Fault> {
    let info = beginning.info;
    name::check(&info.id, info.label.as_deref(), &info.started)?;
    if find_run(connection, &info.id)?.is_some() {
        let id = info.id.clone();
        return Err(StoreError::Exists { id }.into());
    }
    let head = rows::run(info)?;
    let benchmarks = beginning.benchmarks.iter().enumerate();
    let benchmarks: Vec<Row> = benchmarks
        .map(|(position, benchmark)| rows::benchmark(position, benchmark))
        .collect::<Result<_, _>>()?;
    let programs = beginning.programs.iter();
    let programs: Vec<Row> = programs
        .map(|(id, program)| rows::program(id, program))
        .collect();
    let skips = beginning.skips.iter().enumerate();
    let skips: Vec<Row> = skips
        .map(|(position, skip)| rows::skip(position, skip))
        .collect::<Result<_, _>>()?;

    let number = next(connection, sql::NEXT_RUN, [])?;
    let mut seal = Seal::new();
    seal.row(&head);
    for row in benchmarks.iter().chain(&programs).chain(&skips) {
        seal.row(row);
    }
    let run = [Value::Integer(number)];
    insert(
        connection,
        sql::INSERT_RUN,
        [run[0].clone(), seal.value()],
        head,
    )?;
    for (statement, rows) in [
        (sql::INSERT_BENCHMARK, benchmarks),
        (sql::INSERT_PROGRAM, programs),
        (sql::INSERT_SKIP, skips),
    ] {
        for row in rows {
            insert(connection, statement, run.clone(), row)?;
        }
    }
    Ok(number)
}

fn insert_launch(connection: &Connection, run: i64, launch: &Launch) -> Result<(), Fault> {
    let number = next(connection, sql::NEXT_LAUNCH, [run])?;
    let row = rows::launch(number, launch)?;
    let mut seal = Seal::new();
    seal.row(&row);
    let key = [Value::Integer(run), seal.value()];
    Ok(insert(connection, sql::INSERT_LAUNCH, key, row)?)
}

fn insert_end(connection: &Connection, run: i64, elapsed_s: f64) -> Result<(), Fault> {
    if !(elapsed_s.is_finite() && elapsed_s >= 0.0) {
        return Err(Fault::unfit(format!("{elapsed_s} s is no length of a run")));
    }
    let launches = next(connection, sql::NEXT_LAUNCH, [run])?;
    let row = vec![Value::Real(elapsed_s), Value::Integer(launches)];
    let mut seal = Seal::new();
    seal.row(&row);
    insert(
        connection,
        sql::INSERT_END,
        [Value::Integer(run), seal.value()],
        row,
    )?;
    Ok(())
}

/// The number that comes next, which is also how many there are where they begin at 0.
pub(crate) fn next<P: rusqlite::Params>(
    connection: &Connection,
    statement: &str,
    of: P,
) -> rusqlite::Result<i64> {
    connection
        .prepare_cached(statement)?
        .query_row(of, |row| row.get(0))
}

fn insert<const N: usize>(
    connection: &Connection,
    statement: &str,
    key: [Value; N],
    row: Row,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(statement)?
        .execute(params_from_iter(key.into_iter().chain(row)))
        .map(drop)
}
