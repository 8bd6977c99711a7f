//! Stores runs: every function is one transaction, so that what it stores is there whole or not at all.

use crate::error::{Fault, StoreError};
use crate::rows::{self, Row};
use crate::{find, name, seal, sql};
use gritstone_model::{Benchmark, Id, Launch, Origin, Owner, Program, RunData, RunInfo, Skip};
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

/// Begins a run here.
pub(crate) fn begin(
    connection: &Connection,
    owner: &Owner,
    beginning: &Beginning,
) -> Result<(), Fault> {
    if beginning.info.elapsed_s.is_some() {
        return Err(Fault::unfit("a run that begins cannot have ended"));
    }
    whole(connection, |connection| {
        insert_beginning(connection, beginning, &Origin::Here(owner.clone())).map(drop)
    })
}

/// Stores a launch with its events.
pub(crate) fn append(connection: &Connection, id: &str, launch: &Launch) -> Result<(), Fault> {
    whole(connection, |connection| {
        let mut run = open_run(connection, id)?;
        insert_launch(connection, &mut run, launch)
    })
}

/// Ends a run.
pub(crate) fn finish(connection: &Connection, id: &str, elapsed_s: f64) -> Result<(), Fault> {
    whole(connection, |connection| {
        let run = open_run(connection, id)?;
        insert_end(connection, &run, elapsed_s)
    })
}

/// Stores a whole run that came from elsewhere.
pub(crate) fn import(connection: &Connection, data: &RunData) -> Result<(), Fault> {
    let beginning = Beginning {
        info: &data.info,
        benchmarks: &data.benchmarks,
        programs: &data.programs,
        skips: &data.skips,
    };
    whole(connection, |connection| {
        let mut run = insert_beginning(connection, &beginning, &Origin::Imported)?;
        for launch in &data.launches {
            insert_launch(connection, &mut run, launch)?;
        }
        match data.info.elapsed_s {
            Some(elapsed_s) => insert_end(connection, &run, elapsed_s),
            None => Ok(()),
        }
    })
}

/// A transaction that has the right to write from its first statement on: one that asks for it later, after it has
/// read, is refused at once where another writer was faster. Its words are kept as statements, which those of the library are not:
/// to read them for each of thousands of launches was a fifth of the work.
pub(crate) fn whole(
    connection: &Connection,
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

/// A run that takes launches, as far as it has come.
struct Open {
    number: i64,
    launches: i64,
    /// Of its last launch, or of its head where there is none.
    seal: String,
}

/// A run that began here and has not ended.
fn open_run(connection: &Connection, id: &str) -> Result<Open, Fault> {
    let found = find::run(connection, id)?;
    if found.origin == Origin::Imported {
        return Err(StoreError::Imported(id.into()).into());
    }
    if found.ended {
        return Err(StoreError::Ended(id.into()).into());
    }
    let last: Option<(i64, String)> = connection
        .prepare_cached(sql::LAST_LAUNCH)?
        .query_row([found.number], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let (launches, seal) = match last {
        Some((number, seal)) => (number + 1, seal),
        None => (0, found.seal),
    };
    Ok(Open {
        number: found.number,
        launches,
        seal,
    })
}

fn insert_beginning(
    connection: &Connection,
    beginning: &Beginning,
    origin: &Origin,
) -> Result<Open, Fault> {
    let info = beginning.info;
    name::check(&info.id, info.label.as_deref(), &info.started)?;
    if find::exists(connection, &info.id)? {
        let id = info.id.clone();
        return Err(StoreError::Exists(id).into());
    }
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

    let number: i64 = connection.query_row(sql::NEXT_RUN, [], |row| row.get(0))?;
    let head = rows::run(number, info, origin)?;
    let parts = benchmarks.iter().chain(&programs).chain(&skips);
    let seal = seal::of_run([&head].into_iter().chain(parts));
    insert(connection, sql::INSERT_RUN, [rows::text(&seal)], head)?;
    for (statement, rows) in [
        (sql::INSERT_BENCHMARK, benchmarks),
        (sql::INSERT_PROGRAM, programs),
        (sql::INSERT_SKIP, skips),
    ] {
        for row in rows {
            insert(connection, statement, [Value::Integer(number)], row)?;
        }
    }
    insert_entry(connection, number, "begin", &seal)?;
    Ok(Open {
        number,
        launches: 0,
        seal,
    })
}

fn insert_launch(connection: &Connection, run: &mut Open, launch: &Launch) -> Result<(), Fault> {
    let row = rows::launch(run.launches, launch)?;
    let seal = seal::of_launch(&run.seal, &row);
    let key = [Value::Integer(run.number), rows::text(&seal)];
    insert(connection, sql::INSERT_LAUNCH, key, row)?;
    run.launches += 1;
    run.seal = seal;
    Ok(())
}

fn insert_end(connection: &Connection, run: &Open, elapsed_s: f64) -> Result<(), Fault> {
    if !(elapsed_s.is_finite() && elapsed_s >= 0.0) {
        return Err(Fault::unfit(format!("{elapsed_s} s is no length of a run")));
    }
    let row = vec![
        Value::Integer(run.number),
        Value::Real(elapsed_s),
        Value::Integer(run.launches),
    ];
    let seal = seal::of_end(&run.seal, &row);
    insert(connection, sql::INSERT_END, [rows::text(&seal)], row)?;
    insert_entry(connection, run.number, "end", &seal)
}

fn insert_entry(connection: &Connection, run: i64, entry: &str, sealed: &str) -> Result<(), Fault> {
    let last: Option<(i64, String)> = connection
        .prepare_cached(sql::LAST_ENTRY)?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let (number, before) = last.map_or((1, String::new()), |(number, seal)| (number + 1, seal));
    let row = vec![
        Value::Integer(number),
        Value::Integer(run),
        rows::text(entry),
        rows::text(sealed),
    ];
    let seal = seal::of_entry(&before, &row);
    Ok(insert(
        connection,
        sql::INSERT_ENTRY,
        [rows::text(&seal)],
        row,
    )?)
}

pub(crate) fn insert<const N: usize>(
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
