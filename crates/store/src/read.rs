//! Reads runs: each whole, with its seals compared and its launches counted.

use crate::error::{Fault, StoreError};
use crate::find::{self, Found};
use crate::rows::{self, Row, Wrong};
use crate::{seal, sql};
use gritstone_model::{Launch, RunData, RunInfo};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Params};

/// A whole run, as it was at one moment.
pub(crate) fn load(connection: &Connection, id: &str) -> Result<RunData, Fault> {
    // one snapshot for all statements; reading alone, it may as well be rolled back when it is dropped
    let snapshot = connection.unchecked_transaction()?;
    let found = find::run(&snapshot, id)?;
    let head = Head::read(&snapshot, id, &found)?;
    let mut data = head.data(id)?;
    let gritstone = data.info.gritstone.clone();
    let tip = launches(&snapshot, id, &found, &mut |number, row| {
        let launch: Launch = rows::read_launch(&row)
            .map_err(|what| unreadable(id, &gritstone, format!("launch {number}: {what}")))?;
        data.launches.push(launch);
        Ok(())
    })?;
    data.info.elapsed_s = end(&snapshot, id, &found, &tip)?;
    Ok(data)
}

/// Compares the seals of a whole run, and looks at nothing that they cover.
pub(crate) fn verify(connection: &Connection, id: &str) -> Result<(), Fault> {
    let snapshot = connection.unchecked_transaction()?;
    let found = find::run(&snapshot, id)?;
    Head::read(&snapshot, id, &found)?;
    let tip = launches(&snapshot, id, &found, &mut |_, _| Ok(()))?;
    end(&snapshot, id, &found, &tip).map(drop)
}

/// Compares the seals of the ledger.
pub(crate) fn verify_ledger(connection: &Connection) -> Result<(), Fault> {
    let mut before = String::new();
    for (at, row) in (1..).zip(all(connection, sql::SELECT_LEDGER, [])?) {
        let (sealed, row) = split(row)?;
        if row.first() != Some(&Value::Integer(at)) || sealed != seal::of_entry(&before, &row) {
            return Err(broken(format!("entry {at} of the ledger")));
        }
        before = sealed;
    }
    Ok(())
}

/// The head of a run, without its launches.
pub(crate) fn head(connection: &Connection, id: &str) -> Result<RunInfo, Fault> {
    let snapshot = connection.unchecked_transaction()?;
    let found = find::run(&snapshot, id)?;
    Head::read(&snapshot, id, &found)?.info(id)
}

/// The head of a run as it stands, its seal not compared: for a search, whose finds are loaded.
pub(crate) fn unsealed(connection: &Connection, id: &str, run: i64) -> Result<RunInfo, Fault> {
    let (_, head) = split(one(connection, sql::SELECT_RUN, run, || {
        missing("head", id)
    })?)?;
    rows::read_run(&head).map_err(|what| unreadable(id, &rows::stored_by(&head), what))
}

/// What a run begins with, as rows whose seal is right.
struct Head {
    head: Row,
    benchmarks: Vec<Row>,
    programs: Vec<Row>,
    skips: Vec<Row>,
}

impl Head {
    fn read(connection: &Connection, id: &str, found: &Found) -> Result<Self, Fault> {
        let run = found.number;
        let (sealed, head) = split(one(connection, sql::SELECT_RUN, run, || {
            missing("head", id)
        })?)?;
        let read = Self {
            head,
            benchmarks: all(connection, sql::SELECT_BENCHMARKS, [run])?,
            programs: all(connection, sql::SELECT_PROGRAMS, [run])?,
            skips: all(connection, sql::SELECT_SKIPS, [run])?,
        };
        let parts = (read.benchmarks.iter()).chain(&read.programs);
        let rows = [&read.head].into_iter().chain(parts).chain(&read.skips);
        let right = seal::of_run(rows);
        let entry = sealed_in_ledger(connection, run, "begin")?;
        if sealed != right || entry.as_ref() != Some(&right) {
            return Err(broken(format!("the head of run {id}")));
        }
        Ok(read)
    }

    fn info(&self, id: &str) -> Result<RunInfo, Fault> {
        rows::read_run(&self.head).map_err(|what| self.unreadable(id, what))
    }

    fn data(&self, id: &str) -> Result<RunData, Fault> {
        let read = || -> Result<RunData, Wrong> {
            Ok(RunData {
                info: rows::read_run(&self.head)?,
                benchmarks: each(&self.benchmarks, rows::read_benchmark)?,
                programs: each(&self.programs, rows::read_program)?,
                skips: each(&self.skips, rows::read_skip)?,
                launches: Vec::new(),
            })
        };
        read().map_err(|what| self.unreadable(id, what))
    }

    fn unreadable(&self, id: &str, what: Wrong) -> Fault {
        unreadable(id, &rows::stored_by(&self.head), what)
    }
}

/// How far a run has come.
struct Tip {
    launches: i64,
    /// Of the last launch, or of the head where there is none.
    seal: String,
}

/// Hands over the launches of a run one by one, each with its number: as rows they are larger than as events.
fn launches(
    connection: &Connection,
    id: &str,
    found: &Found,
    take: &mut dyn FnMut(i64, Row) -> Result<(), Fault>,
) -> Result<Tip, Fault> {
    let mut statement = connection.prepare_cached(sql::SELECT_LAUNCHES)?;
    let columns = statement.column_count();
    let mut rows = statement.query([found.number])?;
    let mut tip = Tip {
        launches: 0,
        seal: found.seal.clone(),
    };
    while let Some(row) = rows.next()? {
        let number = tip.launches;
        let broken = || broken(format!("launch {number} of run {id}"));
        let values: Result<Row, _> = (0..columns).map(|column| row.get(column)).collect();
        let (sealed, row) = split(values.map_err(|_| broken())?)?;
        // a gap is a launch that was lost
        if row.first() != Some(&Value::Integer(number))
            || sealed != seal::of_launch(&tip.seal, &row)
        {
            return Err(broken());
        }
        take(number, row)?;
        tip = Tip {
            launches: number + 1,
            seal: sealed,
        };
    }
    Ok(tip)
}

/// The length of a run; `None` where it has not ended.
fn end(connection: &Connection, id: &str, found: &Found, tip: &Tip) -> Result<Option<f64>, Fault> {
    let entry = sealed_in_ledger(connection, found.number, "end")?;
    if !found.ended && entry.is_none() {
        return Ok(None);
    }
    let row = one(connection, sql::SELECT_END, found.number, || {
        missing("end", id)
    })?;
    let (sealed, row) = split(row)?;
    let [_, Value::Real(elapsed_s), Value::Integer(launches)] = row[..] else {
        return Err(broken(format!("the end of run {id}")));
    };
    if launches != tip.launches {
        let found = tip.launches;
        let what = format!("run {id} has {launches} launches, of which {found} are found");
        return Err(Fault::Damaged(what));
    }
    if sealed != seal::of_end(&tip.seal, &row) || entry.as_ref() != Some(&sealed) {
        return Err(broken(format!("the end of run {id}")));
    }
    Ok(Some(elapsed_s))
}

/// The seal that the ledger has of the beginning or the end of a run.
fn sealed_in_ledger(
    connection: &Connection,
    run: i64,
    entry: &str,
) -> rusqlite::Result<Option<String>> {
    connection
        .prepare_cached(sql::SELECT_SEALED)?
        .query_row((run, entry), |row| row.get(0))
        .optional()
}

/// The row that a statement yields for a run.
fn one(
    connection: &Connection,
    statement: &str,
    run: i64,
    missing: impl FnOnce() -> Fault,
) -> Result<Row, Fault> {
    all(connection, statement, [run])?.pop().ok_or_else(missing)
}

/// All rows that a statement yields.
pub(crate) fn all(
    connection: &Connection,
    statement: &str,
    of: impl Params,
) -> Result<Vec<Row>, rusqlite::Error> {
    let mut statement = connection.prepare_cached(statement)?;
    let columns = statement.column_count();
    let rows = statement.query_map(of, |row| (0..columns).map(|i| row.get(i)).collect())?;
    rows.collect()
}

/// A stored row as the seal at its beginning, and the rest.
pub(crate) fn split(mut row: Row) -> Result<(String, Row), Fault> {
    let rest = row.split_off(1);
    match row.pop() {
        Some(Value::Text(seal)) => Ok((seal, rest)),
        other => Err(Fault::Damaged(format!(
            "{other:?} stands where a seal belongs"
        ))),
    }
}

/// What these rows say.
fn each<T, C: FromIterator<T>>(
    rows: &[Row],
    read: fn(&Row) -> Result<T, Wrong>,
) -> Result<C, Wrong> {
    rows.iter().map(read).collect()
}

fn missing(what: &str, id: &str) -> Fault {
    Fault::Damaged(format!("the {what} of run {id} is missing"))
}

fn broken(what: String) -> Fault {
    Fault::Damaged(format!("{what} is not as it was written"))
}

fn unreadable(id: &str, gritstone: &str, what: Wrong) -> Fault {
    Fault::Whole(StoreError::Unreadable {
        run: id.to_owned(),
        gritstone: gritstone.to_owned(),
        what,
    })
}
