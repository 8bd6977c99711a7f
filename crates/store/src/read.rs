//! Reads runs: each whole, with its seals compared and its launches counted.

use crate::error::{Fault, StoreError};
use crate::find::{self, Found};
use crate::rows::{self, Row, Wrong};
use crate::{Resumable, RunHead, Store, place, seal, sql};
use gritstone_model::{Origin, Owner, RunData, RunInfo};
use rusqlite::types::Value;
use rusqlite::{Connection, Params};
use std::path::Path;

impl Store {
    /// A run as it was handed in, to the last bit.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`]; [`StoreError::Damaged`] when anything of it is not as it was written;
    /// [`StoreError::Unreadable`] when it is, but this version does not understand it.
    pub fn load(&self, run_id: &str) -> Result<RunData, StoreError> {
        self.at(load(&self.connection, run_id))
    }

    /// The head of a run: what it was measured on, and what was asked for. Quick, since no launch is read.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn info(&self, run_id: &str) -> Result<RunInfo, StoreError> {
        let read = || -> Result<RunInfo, Fault> {
            let snapshot = self.connection.unchecked_transaction()?;
            let run = Run::begin(&snapshot, run_id)?;
            run.readable(rows::read_run(&run.head))
        };
        self.at(read())
    }

    /// The heads of the runs that their user may go on with, newest last: begun here by this user on this system, and not ended.
    ///
    /// # Errors
    /// What befalls the file.
    pub fn resumable(&self, owner: &Owner) -> Result<Vec<RunHead>, StoreError> {
        let mut runs = self.runs()?;
        let theirs = Origin::Here(owner.clone());
        runs.retain(|run| run.elapsed_s.is_none() && run.origin == theirs);
        Ok(runs)
    }

    /// A run that its user may go on with.
    ///
    /// # Errors
    /// [`StoreError::Imported`], [`StoreError::NotYours`] and [`StoreError::Ended`] say why it is none; else as [`Store::load`].
    pub fn resume(&self, run_id: &str, owner: &Owner) -> Result<Resumable, StoreError> {
        let found = self.at(find::run(&self.connection, run_id))?;
        let id = || run_id.to_owned();
        let not = |whose| Err(StoreError::NotYours(id(), whose));
        match &found.origin {
            Origin::Imported => return Err(StoreError::Imported(id())),
            Origin::Here(by) if by.uid != owner.uid => return not("by this user"),
            Origin::Here(by) if by.machine != owner.machine => return not("on this system"),
            Origin::Here(_) => {}
        }
        // what another user can write is another user's word
        if !place::belongs_to(&self.path, owner.uid) {
            return not("in a store of this user's own");
        }
        let data = self.load(run_id)?;
        match data.info.elapsed_s {
            Some(_) => Err(StoreError::Ended(id())),
            None => Ok(Resumable(data)),
        }
    }

    /// Looks at everything: the pages of the file by SQLite's own check, what belongs to what, and every seal. What is wrong, a line
    /// each; nothing where all is well.
    ///
    /// # Errors
    /// When it cannot look.
    pub fn verify(&self) -> Result<Vec<String>, StoreError> {
        self.at(verify(&self.connection))
    }
}

fn load(connection: &Connection, id: &str) -> Result<RunData, Fault> {
    // one snapshot for all statements; reading alone, it may as well be rolled back when it is dropped
    let snapshot = connection.unchecked_transaction()?;
    let run = Run::begin(&snapshot, id)?;
    let [benchmarks, programs, skips] = &run.parts;
    let head = || -> Result<RunData, Wrong> {
        Ok(RunData {
            info: rows::read_run(&run.head)?,
            benchmarks: each(benchmarks, rows::read_benchmark)?,
            programs: each(programs, rows::read_program)?,
            skips: each(skips, rows::read_skip)?,
            launches: vec![],
        })
    };
    let mut data = run.readable(head())?;
    relabel(&snapshot, run.found.number, &mut data.info)?;
    data.info.elapsed_s = run.rest(&mut |number, row| {
        let launch = rows::read_launch(&row).map_err(|what| format!("launch {number}: {what}"));
        data.launches.push(run.readable(launch)?);
        Ok(())
    })?;
    Ok(data)
}

fn verify(connection: &Connection) -> Result<Vec<String>, Fault> {
    let mut wrong = vec![];
    let mut note = |fault: Fault| match fault {
        Fault::Damaged(what) => wrong.push(what),
        fault => wrong.push(fault.at(Path::new("the store")).to_string()),
    };
    for (check, fine) in [("integrity_check", "ok"), ("foreign_key_check", "")] {
        let mut check = connection.prepare(&format!("PRAGMA {check}"))?;
        for line in check.query_map([], |row| row.get::<_, String>(0))? {
            match line {
                Ok(line) if line == fine => {}
                Ok(table) if fine.is_empty() => {
                    note(Fault::Damaged(format!("a {table} without its run")));
                }
                Ok(line) => note(Fault::Damaged(format!("SQLite: {line}"))),
                Err(error) => note(error.into()),
            }
        }
    }
    for looked in [find::complete(connection), verify_ledger(connection)] {
        looked.unwrap_or_else(&mut note);
    }
    let whole = |id: &str| -> Result<(), Fault> {
        let snapshot = connection.unchecked_transaction()?;
        Run::begin(&snapshot, id)?
            .rest(&mut |_, _| Ok(()))
            .map(drop)
    };
    for (id, _) in query::<(String, Option<String>)>(connection, sql::SELECT_NAMES, [])? {
        whole(&id).unwrap_or_else(&mut note);
    }
    wrong.dedup();
    Ok(wrong)
}

/// Compares the seals of the ledger.
fn verify_ledger(connection: &Connection) -> Result<(), Fault> {
    let mut before = String::new();
    for (at, row) in (1..).zip(all(connection, sql::SELECT_LEDGER, [])?) {
        let (sealed, row) = split(row)?;
        if row[0] != Value::Integer(at) || sealed != seal::of("entry", &before, [&row]) {
            return Err(broken(format!("entry {at} of the ledger")));
        }
        before = sealed;
    }
    Ok(())
}

/// The head of a run as it stands, its seal not compared: for a search, whose finds are loaded.
pub(crate) fn unsealed(connection: &Connection, id: &str, run: i64) -> Result<RunInfo, Fault> {
    let (_, head) = one(connection, sql::SELECT_RUN, run, "head", id)?;
    let mut info = rows::read_run(&head).map_err(|what| unreadable(id, &head, what))?;
    relabel(connection, run, &mut info)?;
    Ok(info)
}

/// Gives a run the label that it was given after its beginning, if it was.
fn relabel(connection: &Connection, run: i64, info: &mut RunInfo) -> rusqlite::Result<()> {
    if let Some((label,)) = query(connection, sql::SELECT_LABEL, [run])?.pop() {
        info.label = Some(label);
    }
    Ok(())
}

/// A run whose head is as it was written.
struct Run<'a> {
    connection: &'a Connection,
    id: &'a str,
    found: Found,
    head: Row,
    /// Its benchmarks, programs and skips.
    parts: [Vec<Row>; 3],
}

impl<'a> Run<'a> {
    fn begin(connection: &'a Connection, id: &'a str) -> Result<Self, Fault> {
        let found = find::run(connection, id)?;
        let (sealed, head) = one(connection, sql::SELECT_RUN, found.number, "head", id)?;
        let part = |statement| all(connection, statement, [found.number]);
        let parts = [
            part(sql::SELECT_BENCHMARKS)?,
            part(sql::SELECT_PROGRAMS)?,
            part(sql::SELECT_SKIPS)?,
        ];
        let right = seal::of("run", "", [&head].into_iter().chain(parts.iter().flatten()));
        let run = Self {
            connection,
            id,
            found,
            head,
            parts,
        };
        if sealed != right || run.in_ledger("begin")? != Some(right) {
            return Err(broken(format!("the head of run {id}")));
        }
        Ok(run)
    }

    /// Hands over the launches one by one, each with its number: as rows they are larger than as events. The length of the run, once it
    /// has ended.
    fn rest(
        &self,
        take: &mut dyn FnMut(i64, Row) -> Result<(), Fault>,
    ) -> Result<Option<f64>, Fault> {
        let Self { id, found, .. } = self;
        let mut statement = self.connection.prepare_cached(sql::SELECT_LAUNCHES)?;
        let columns = statement.column_count();
        let mut rows = statement.query([found.number])?;
        let (mut number, mut tip) = (0, found.seal.clone());
        while let Some(row) = rows.next()? {
            let broken = || broken(format!("launch {number} of run {id}"));
            let (sealed, row) = split(values(row, columns).map_err(|_| broken())?)?;
            // a gap is a launch that was lost
            if row[0] != Value::Integer(number) || sealed != seal::of("launch", &tip, [&row]) {
                return Err(broken());
            }
            take(number, row)?;
            (number, tip) = (number + 1, sealed);
        }
        let entry = self.in_ledger("end")?;
        if !found.ended && entry.is_none() {
            return Ok(None);
        }
        let (sealed, row) = one(self.connection, sql::SELECT_END, found.number, "end", id)?;
        match row[..] {
            [_, Value::Real(_), Value::Integer(launches)] if launches != number => {
                Err(Fault::Damaged(format!(
                    "run {id} has {launches} launches, of which {number} are found"
                )))
            }
            [_, Value::Real(elapsed_s), Value::Integer(_)]
                if sealed == seal::of("end", &tip, [&row]) && entry == Some(sealed) =>
            {
                Ok(Some(elapsed_s))
            }
            _ => Err(broken(format!("the end of run {id}"))),
        }
    }

    /// The seal that the ledger has of its beginning or its end.
    fn in_ledger(&self, entry: &str) -> rusqlite::Result<Option<String>> {
        let key = (self.found.number, entry);
        let found: Vec<(String,)> = query(self.connection, sql::SELECT_SEALED, key)?;
        Ok(found.into_iter().next().map(|(sealed,)| sealed))
    }

    fn readable<T>(&self, read: Result<T, Wrong>) -> Result<T, Fault> {
        read.map_err(|what| unreadable(self.id, &self.head, what))
    }
}

/// The row that a statement yields for a run, without its seal.
fn one(
    connection: &Connection,
    statement: &str,
    run: i64,
    what: &str,
    id: &str,
) -> Result<(String, Row), Fault> {
    match all(connection, statement, [run])?.pop() {
        Some(row) => split(row),
        None => Err(Fault::Damaged(format!("the {what} of run {id} is missing"))),
    }
}

/// All rows that a statement yields.
pub(crate) fn all(
    connection: &Connection,
    statement: &str,
    of: impl Params,
) -> rusqlite::Result<Vec<Row>> {
    let mut statement = connection.prepare_cached(statement)?;
    let columns = statement.column_count();
    let rows = statement.query_map(of, |row| values(row, columns))?;
    rows.collect()
}

fn values(row: &rusqlite::Row, columns: usize) -> rusqlite::Result<Row> {
    (0..columns).map(|column| row.get(column)).collect()
}

/// The same as tuples.
pub(crate) fn query<T>(
    connection: &Connection,
    statement: &str,
    of: impl Params,
) -> rusqlite::Result<Vec<T>>
where
    T: for<'a> TryFrom<&'a rusqlite::Row<'a>, Error = rusqlite::Error>,
{
    let mut statement = connection.prepare_cached(statement)?;
    let rows = statement.query_map(of, |row| row.try_into())?;
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

fn broken(what: String) -> Fault {
    Fault::Damaged(format!("{what} is not as it was written"))
}

fn unreadable(id: &str, head: &Row, what: Wrong) -> Fault {
    let gritstone = rows::stored_by(head).to_owned();
    StoreError::Unreadable(id.to_owned(), gritstone, what).into()
}
