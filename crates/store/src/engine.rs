//! The seam below which SQLite and PostgreSQL differ: statements with parameters, rows, transactions. All else is written once, and both run
//! the same statements.

use crate::error::Fault;
use crate::sql;
pub(crate) use rusqlite::types::{FromSql, Value};
use std::fmt::Debug;
use std::ops::ControlFlow;
use std::time::Duration;

/// The values of one row.
pub(crate) type Row = Vec<Value>;

/// Takes rows one by one, until it has enough.
pub(crate) type Take<'a> = dyn FnMut(Row) -> Result<ControlFlow<()>, Fault> + 'a;

/// What a transaction is for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose<'a> {
    /// One moment of everything, to read.
    Read,
    /// To write whatever; nobody else does meanwhile. It has the right to write from its first statement on: one that asks for it later,
    /// after it has read, is refused at once where another writer was faster.
    Write,
    /// To write launches of this run; others may write launches of other runs.
    Launch(&'a str),
    /// To cache results, which is worth no wait, neither for another process nor for the disk, and is tried by who only reads too.
    Cache,
}

/// What became of the free space of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shrunk {
    /// It was given back: so large is the file now, in bytes.
    To(u64),
    /// So many bytes are free in the file, too few to write it anew: what is stored next takes them.
    Little(u64),
    /// So many bytes are free in the file, which another process has open.
    InUse(u64),
    /// It is for the server to reuse.
    Server,
}

/// A database. Between two calls of [`crate::Store`] nothing of it is busy.
pub(crate) trait Engine: Debug {
    /// Executes what yields nothing.
    fn execute(&self, statement: &'static str, of: Row) -> Result<(), Fault>;

    /// Hands over the rows of a statement within a transaction, as they are read; others may be executed meanwhile.
    fn each(&self, statement: &'static str, of: Row, take: &mut Take) -> Result<(), Fault>;

    /// All rows of a statement.
    fn all(&self, statement: &'static str, of: Row) -> Result<Vec<Row>, Fault>;

    /// Begins a transaction.
    fn begin(&self, purpose: Purpose) -> Result<(), Fault>;

    /// Ends it, if it is still there: with all that was written, or nothing of it.
    fn end(&self, keep: bool) -> Result<(), Fault>;

    /// How long a transaction waits for others.
    fn wait_for(&self, patience: Duration) -> Result<(), Fault>;

    /// Whether commits reach the disk from now on; with one that does, all before it do.
    fn reach_disk(&self, disk: bool) -> Result<(), Fault>;

    /// The version of its schema.
    fn version(&self) -> Result<u32, Fault>;

    /// What its own checks find.
    fn check(&self) -> Result<Vec<Fault>, Fault>;

    /// Gives free space back to the system, where that is worth it and nobody else has the store open.
    fn shrink(&self) -> Result<Shrunk, Fault>;

    /// Whether nobody but this user and root can have written it.
    fn belongs_to(&self, uid: u32) -> bool;

    /// The connection, for tests of what SQLite does.
    #[cfg(test)]
    fn sqlite(&self) -> &rusqlite::Connection {
        unreachable!("a test of SQLite alone")
    }
}

/// Does something in a transaction: all of it is kept, or nothing.
pub(crate) fn whole<T>(
    engine: &dyn Engine,
    purpose: Purpose,
    act: impl FnOnce(&dyn Engine) -> Result<T, Fault>,
) -> Result<T, Fault> {
    engine.begin(purpose)?;
    let done = act(engine).and_then(|done| {
        engine.end(true)?;
        Ok(done)
    });
    if done.is_err() {
        // why it was not stored is what matters
        let _ = engine.end(false);
    }
    done
}

/// Reads one moment of everything.
pub(crate) fn snapshot<T>(
    engine: &dyn Engine,
    read: impl FnOnce(&dyn Engine) -> Result<T, Fault>,
) -> Result<T, Fault> {
    whole(engine, Purpose::Read, read)
}

/// The rows of a statement as tuples.
pub(crate) fn query<T: FromRow>(
    engine: &dyn Engine,
    statement: &'static str,
    of: Row,
) -> Result<Vec<T>, Fault> {
    let rows = engine.all(statement, of)?;
    rows.iter().map(|row| T::of(row)).collect()
}

/// The last seal of the ledger, and its number: nothing where it is empty.
pub(crate) fn last_entry(engine: &dyn Engine) -> Result<Option<(i64, String)>, Fault> {
    Ok(query(engine, sql::LAST_ENTRY, vec![])?.pop())
}

/// Inserts a row, whose values come after those of its key.
pub(crate) fn insert(
    engine: &dyn Engine,
    statement: &'static str,
    mut key: Row,
    row: Row,
) -> Result<(), Fault> {
    key.extend(row);
    engine.execute(statement, key)
}

/// A value of a row. One of another type is damage.
pub(crate) fn column<T: FromSql>(row: &[Value], at: usize) -> Result<T, Fault> {
    let value = row.get(at).unwrap_or(&Value::Null);
    let read = T::column_result(value.into());
    read.map_err(|error| Fault::Damaged(format!("column {at}: {error}")))
}

/// What a row is read as.
pub(crate) trait FromRow: Sized {
    fn of(row: &[Value]) -> Result<Self, Fault>;
}

macro_rules! tuples {
    ($($($type:ident $at:tt)+;)+) => {$(
        impl<$($type: FromSql),+> FromRow for ($($type,)+) {
            fn of(row: &[Value]) -> Result<Self, Fault> {
                Ok(($(column::<$type>(row, $at)?,)+))
            }
        }
    )+};
}

tuples! {
    A 0;
    A 0 B 1;
    A 0 B 1 C 2;
    A 0 B 1 C 2 D 3;
    A 0 B 1 C 2 D 3 E 4;
    A 0 B 1 C 2 D 3 E 4 F 5;
}
