//! Looks runs up: all of them, those of a machine, the newest that have a benchmark.

use crate::error::{Fault, StoreError};
use crate::{LaunchCounts, RunHead, read, rows, sql};
use gritstone_model::{Id, Origin, RunInfo};
use rusqlite::{Connection, OptionalExtension, Row};
use std::collections::BTreeMap;

/// A run, without what it measured.
pub(crate) struct Found {
    pub(crate) number: i64,
    pub(crate) origin: Origin,
    /// Of its head.
    pub(crate) seal: String,
    pub(crate) ended: bool,
}

/// The run of an identifier.
pub(crate) fn run(connection: &Connection, id: &str) -> Result<Found, Fault> {
    let found = connection
        .prepare_cached(sql::FIND_RUN)?
        .query_row([id], |row| {
            Ok(Found {
                number: row.get(0)?,
                origin: origin(row, 1)?,
                seal: row.get(4)?,
                ended: row.get(5)?,
            })
        });
    let missing = || StoreError::NoSuchRun(id.into()).into();
    found.optional()?.ok_or_else(missing)
}

/// Whether there is a run of that identifier.
pub(crate) fn exists(connection: &Connection, id: &str) -> Result<bool, Fault> {
    match run(connection, id) {
        Ok(_) => Ok(true),
        Err(Fault::Whole(StoreError::NoSuchRun { .. })) => Ok(false),
        Err(fault) => Err(fault),
    }
}

/// The three columns that say where a run comes from.
fn origin(row: &Row, at: usize) -> rusqlite::Result<Origin> {
    let (word, uid, machine): (String, _, _) = (row.get(at)?, row.get(at + 1)?, row.get(at + 2)?);
    let wrong = |_| rusqlite::Error::InvalidQuery; // as any value of another type: damage
    rows::read_origin(&word, uid, machine).map_err(wrong)
}

/// That no run and no end is gone, as the ledger counts them: who reads many runs would not miss one.
pub(crate) fn complete(connection: &Connection) -> Result<(), Fault> {
    let counts = |row: &Row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
    let (rows, entries) = connection
        .prepare_cached(sql::SELECT_COUNTS)?
        .query_row([], counts)?;
    if rows == entries {
        return Ok(());
    }
    let one = |statement| {
        connection
            .prepare(statement)?
            .query_row([], |row| row.get(0))
            .optional()
    };
    let lost_end: Option<String> = one(sql::SELECT_LOST_ENDS)?;
    let lost_run = connection
        .prepare(sql::SELECT_LOST_RUNS)?
        .query_row([], |row| row.get::<_, i64>(0))
        .optional()?;
    Err(Fault::Damaged(match (lost_run, lost_end) {
        (Some(number), _) => format!("run number {number} is missing"),
        (_, Some(id)) => format!("the end of run {id} is missing"),
        _ => format!(
            "its ledger has {entries} entries, and there are {rows} beginnings and ends of runs"
        ),
    }))
}

/// The heads of all runs, newest last.
pub(crate) fn heads(connection: &Connection) -> Result<Vec<RunHead>, Fault> {
    let snapshot = connection.unchecked_transaction()?;
    complete(&snapshot)?;
    let mut statement = connection.prepare_cached(sql::SELECT_HEADS)?;
    let heads = statement.query_map([], |row| {
        let count = |column: usize| {
            let number: i64 = row.get(column)?;
            let out_of_range = |_| rusqlite::Error::IntegralValueOutOfRange(column, number);
            u64::try_from(number).map_err(out_of_range)
        };
        let launches = count(8)?;
        let (skipped, failed, timed_out) = (count(9)?, count(10)?, count(11)?);
        Ok(RunHead {
            id: row.get(0)?,
            label: row.get(1)?,
            started: row.get(2)?,
            elapsed_s: row.get(3)?,
            gritstone: row.get(4)?,
            machine_id: row.get(5)?,
            machine: row.get(6)?,
            system: row.get(7)?,
            launches: LaunchCounts {
                measured: launches.saturating_sub(skipped + failed + timed_out),
                skipped,
                failed,
                timed_out,
            },
            origin: origin(row, 12)?,
        })
    })?;
    Ok(heads.collect::<Result<_, _>>()?)
}

/// Identifiers, newest last.
pub(crate) fn ids(connection: &Connection) -> Result<Vec<String>, Fault> {
    let mut statement = connection.prepare_cached(sql::SELECT_NAMES)?;
    let ids = statement.query_map([], |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// Identifiers and labels, newest last.
pub(crate) fn names(connection: &Connection) -> Result<Vec<(String, Option<String>)>, Fault> {
    let snapshot = connection.unchecked_transaction()?;
    complete(&snapshot)?;
    let mut statement = connection.prepare_cached(sql::SELECT_NAMES)?;
    let names = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(names.collect::<Result<_, _>>()?)
}

/// The newest runs of a machine that began no later than the second of this time and are wanted, so many at most, newest first. One
/// whose head cannot be read is among them: whoever reads it says so.
pub(crate) fn runs_of(
    connection: &Connection,
    machine: &str,
    started: &str,
    most: usize,
    wanted: &dyn Fn(&RunInfo) -> bool,
) -> Result<Vec<String>, Fault> {
    let snapshot = connection.unchecked_transaction()?;
    complete(&snapshot)?;
    let second = started.get(..19).unwrap_or(started);
    let mut statement = connection.prepare_cached(sql::SELECT_RUNS_OF)?;
    let mut runs = statement.query((machine, second))?;
    let mut found: Vec<String> = vec![];
    while found.len() < most
        && let Some(row) = runs.next()?
    {
        let (id, run): (String, i64) = (row.get(0)?, row.get(1)?);
        if read::unsealed(connection, &id, run).map_or(true, |info| wanted(&info)) {
            found.push(id);
        }
    }
    Ok(found)
}

/// The newest runs that are wanted and have any of these benchmarks, so many for each of them at most, oldest first; each with the
/// benchmarks that it is among the newest for.
pub(crate) fn newest(
    connection: &Connection,
    benchmarks: &[Id],
    most: usize,
    wanted: &dyn Fn(&RunInfo) -> bool,
) -> Result<Vec<(String, Vec<Id>)>, Fault> {
    let snapshot = connection.unchecked_transaction()?;
    let mut judged: BTreeMap<i64, bool> = BTreeMap::new();
    let mut judge = |having: &Having| -> Result<bool, Fault> {
        if let Some(known) = judged.get(&having.run) {
            return Ok(*known);
        }
        let found = wanted(&read::unsealed(&snapshot, &having.id, having.run)?);
        judged.insert(having.run, found);
        Ok(found)
    };
    let mut runs: BTreeMap<(String, i64), (String, Vec<Id>)> = BTreeMap::new();
    for benchmark in benchmarks {
        for Having { id, run, second } in having(&snapshot, benchmark, most, &mut judge)? {
            let (_, of) = runs.entry((second, run)).or_insert((id, vec![]));
            of.push(benchmark.clone());
        }
    }
    Ok(runs.into_values().collect())
}

/// A run that has a benchmark.
pub(crate) struct Having {
    pub(crate) id: String,
    pub(crate) run: i64,
    /// Date and second of its start.
    second: String,
}

/// The newest runs that have a benchmark and are wanted, newest first. One that is a side of a trial is none of them: what sets the
/// side apart is in nothing that runs are told apart by.
pub(crate) fn having(
    connection: &Connection,
    benchmark: &Id,
    most: usize,
    mut wanted: impl FnMut(&Having) -> Result<bool, Fault>,
) -> Result<Vec<Having>, Fault> {
    complete(connection)?;
    let mut statement = connection.prepare_cached(sql::SELECT_RUNS_WITH)?;
    let mut runs = statement.query([benchmark.as_str()])?;
    let mut found = vec![];
    while found.len() < most
        && let Some(row) = runs.next()?
    {
        let having = Having {
            id: row.get(0)?,
            run: row.get(1)?,
            second: row.get(2)?,
        };
        let settings = row.get_ref(3)?.as_str().unwrap_or_default();
        if !rows::of_a_trial(settings) && wanted(&having)? {
            found.push(having);
        }
    }
    Ok(found)
}
