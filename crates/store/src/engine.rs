//! Interface to SQLite and PostgreSQL: statements with parameters, rows, transactions. Both execute the same
//! statements.

use crate::error::Fault;
use crate::sql;
pub(crate) use rusqlite::types::{FromSql, Value};
use std::fmt::Debug;
use std::ops::ControlFlow;
use std::time::Duration;

pub(crate) type Row = Vec<Value>;

/// Receives rows one by one, until it breaks.
pub(crate) type Take<'a> = dyn FnMut(Row) -> Result<ControlFlow<()>, Fault> + 'a;

/// Purpose of a transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    /// A consistent snapshot, read-only.
    Read,
    /// Exclusive write transaction. It takes the write lock at its first statement: an upgrade after a read fails at
    /// once if another writer was faster.
    Write,
    /// Caches results: waits for neither other processes nor the disk. Readers try it too.
    Cache,
}

/// Result of reclaiming free space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shrunk {
    /// Reclaimed; the size of the file now, bytes.
    To(u64),
    /// Free bytes, too few for a rewrite of the file; later rows will use them.
    Little(u64),
    /// Free bytes, in a file that another process has open.
    InUse(u64),
    /// The server reuses its free space.
    Server,
}

/// A table whose indices name runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum IndexedTable {
    Run,
    Benchmark,
    CachedResult,
}

/// A database. No statement or transaction is open between two calls of [`crate::Store`].
pub(crate) trait Engine: Debug {
    /// Executes a statement without rows.
    fn execute(&self, statement: &'static str, parameters: Row) -> Result<(), Fault>;

    /// Passes the rows of a statement within a transaction to `take` as they arrive; other statements may run
    /// meanwhile.
    fn each(&self, statement: &'static str, parameters: Row, take: &mut Take) -> Result<(), Fault>;

    fn all(&self, statement: &'static str, parameters: Row) -> Result<Vec<Row>, Fault>;

    fn begin(&self, purpose: Purpose) -> Result<(), Fault>;

    /// Ends the open transaction, if any: commits, or rolls back.
    fn end(&self, keep: bool) -> Result<(), Fault>;

    /// Sets how long a transaction waits for locks.
    fn wait_for(&self, patience: Duration) -> Result<(), Fault>;

    /// Sets whether commits are synced to disk; a synced commit includes all earlier ones.
    fn reach_disk(&self, disk: bool) -> Result<(), Fault>;

    /// Differs after a launch of an unfinished run was stored. Zero in a database, which receives only complete runs.
    fn last_launch(&self) -> Result<i64, Fault>;

    /// Schema version.
    fn version(&self) -> Result<u32, Fault>;

    /// Checks that the indices of tables find all of their rows, which queries of many runs trust. A server has checks of its own.
    fn check_indices(&self, _: &[IndexedTable]) -> Result<(), Fault> {
        Ok(())
    }

    /// Integrity check of the database itself.
    fn check(&self) -> Result<Vec<Fault>, Fault>;

    /// Returns free space to the system, if it is worth it and no other process has the store open.
    fn shrink(&self) -> Result<Shrunk, Fault>;

    /// Whether only this user and root can have written the database.
    fn belongs_to(&self, uid: u32) -> bool;

    /// The connection, for tests of SQLite's behavior.
    #[cfg(test)]
    fn sqlite(&self) -> &rusqlite::Connection {
        unreachable!("a test of SQLite alone")
    }
}

/// Runs `act` in a transaction: commits, or rolls back on an error.
pub(crate) fn transaction<T>(
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
        // report the first error, not that of the rollback
        let _ = engine.end(false);
    }
    done
}

/// Reads within one snapshot.
pub(crate) fn snapshot<T>(
    engine: &dyn Engine,
    read: impl FnOnce(&dyn Engine) -> Result<T, Fault>,
) -> Result<T, Fault> {
    transaction(engine, Purpose::Read, read)
}

/// The rows of a statement as tuples.
pub(crate) fn query<T: FromRow>(
    engine: &dyn Engine,
    statement: &'static str,
    parameters: Row,
) -> Result<Vec<T>, Fault> {
    let rows = engine.all(statement, parameters)?;
    rows.iter().map(|row| T::from_row(row)).collect()
}

/// Number and hash of the last ledger entry; `None` if the ledger is empty.
pub(crate) fn last_entry(engine: &dyn Engine) -> Result<Option<(i64, String)>, Fault> {
    Ok(query(engine, sql::LAST_ENTRY, vec![])?.pop())
}

/// Inserts a row: key values first.
pub(crate) fn insert(
    engine: &dyn Engine,
    statement: &'static str,
    mut key: Row,
    row: Row,
) -> Result<(), Fault> {
    key.extend(row);
    engine.execute(statement, key)
}

/// A value of a row; a wrong type is damage.
pub(crate) fn column<T: FromSql>(row: &[Value], index: usize) -> Result<T, Fault> {
    let value = row.get(index).unwrap_or(&Value::Null);
    let read = T::column_result(value.into());
    read.map_err(|error| Fault::Damaged(format!("column {index}: {error}")))
}

pub(crate) trait FromRow: Sized {
    fn from_row(row: &[Value]) -> Result<Self, Fault>;
}

macro_rules! tuples {
    ($($($type:ident $index:tt)+;)+) => {$(
        impl<$($type: FromSql),+> FromRow for ($($type,)+) {
            fn from_row(row: &[Value]) -> Result<Self, Fault> {
                Ok(($(column::<$type>(row, $index)?,)+))
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
    A 0 B 1 C 2 D 3 E 4 F 5 G 6;
}
