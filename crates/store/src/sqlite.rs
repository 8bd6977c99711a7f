//! A store in one SQLite file.

use crate::engine::{Engine, IndexedTable, Purpose, Row, Shrunk, Take};
use crate::error::{Fault, StoreError};
use crate::file;
use crate::indices;
use crate::schema::{self, State};
use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, ErrorCode, OpenFlags, params_from_iter};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Reciprocal of the share of free pages from which a file is rewritten.
const MIN_FREE_RECIPROCAL: i64 = 10;

/// Prepared statements that a connection keeps at most; the default of 16 is fewer than there are.
const STATEMENTS: usize = 64;

#[derive(Debug)]
pub(crate) struct Sqlite {
    connection: Connection,
    path: PathBuf,
    reads_only: bool,
    patience: Cell<Duration>,
    /// Commits are synced to disk.
    to_disk: Cell<bool>,
    /// A caching transaction is open.
    caches: Cell<bool>,
    /// Tables with checked indices, at this version of the file and number of changes by this connection.
    checked: RefCell<([i64; 2], BTreeSet<IndexedTable>)>,
}

impl Sqlite {
    /// Opens a file for writing, creating it if missing. Also returns whether it has a write-ahead log.
    pub(crate) fn open(path: &Path, patience: Duration) -> Result<(Self, bool), StoreError> {
        let resolved = file::create_owned(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NOFOLLOW
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connect = || -> Result<(Connection, bool), Fault> {
            let mut connection = Connection::open_with_flags(&resolved, flags)?;
            set_up(&connection, patience)?;
            let state = schema::state(&connection, path)?;
            if connection.is_readonly("main")? {
                return Err(StoreError::ReadOnly(path.to_owned()).into());
            }
            let log = choose_journal(&connection, file::takes_a_log(path))?;
            if !matches!(state, State::Ours(schema::KNOWN)) {
                schema::migrate(&mut connection, path)?;
            }
            Ok((connection, log))
        };
        match connect() {
            Ok((connection, log)) => Ok((Self::new(connection, path, false, patience), log)),
            Err(fault) => Err(not_opened(fault, path)),
        }
    }

    /// A new database in memory, dropped with its connection.
    pub(crate) fn in_memory(path: &Path, patience: Duration) -> Result<Self, StoreError> {
        let connect = || -> Result<Connection, Fault> {
            let mut connection = Connection::open_in_memory()?;
            set_up(&connection, patience)?;
            schema::migrate(&mut connection, path)?;
            Ok(connection)
        };
        let connection = connect().map_err(|fault| fault.at(path))?;
        Ok(Self::new(connection, path, false, patience))
    }

    pub(crate) fn open_read_only(path: &Path, patience: Duration) -> Result<Self, StoreError> {
        let connect = |connection: rusqlite::Result<Connection>| -> Result<Connection, Fault> {
            let connection = connection?;
            set_up(&connection, patience)?;
            connection.pragma_update(None, "query_only", true)?;
            match schema::state(&connection, path)? {
                State::Ours(_) => Ok(connection),
                State::Empty => Err(StoreError::Missing(path.to_owned()).into()),
            }
        };
        if matches!(path.try_exists(), Ok(false)) {
            return Err(StoreError::Missing(path.to_owned()));
        }
        // open for writing where permitted, so that closing leaves no file next to the database
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut opened = connect(Connection::open_with_flags(path, flags));
        if opened.as_ref().is_err_and(needs_to_write) {
            if file::left_by_a_writer(path) {
                return Err(StoreError::CutOff(path.to_owned()));
            }
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
                | OpenFlags::SQLITE_OPEN_NO_MUTEX
                | OpenFlags::SQLITE_OPEN_URI;
            opened = connect(Connection::open_with_flags(file::immutable(path), flags));
        }
        match opened {
            Ok(connection) => Ok(Self::new(connection, path, true, patience)),
            Err(fault) => Err(not_opened(fault, path)),
        }
    }

    fn new(connection: Connection, path: &Path, reads_only: bool, patience: Duration) -> Self {
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        Self {
            connection,
            path: path.to_owned(),
            reads_only,
            patience: Cell::new(patience),
            to_disk: Cell::new(true),
            caches: Cell::new(false),
            checked: RefCell::default(),
        }
    }

    /// Executes a transaction statement. Unlike rusqlite's, these are cached: parsing them for thousands of launches
    /// took a fifth of the work.
    fn execute_cached(&self, words: &str) -> Result<(), Fault> {
        self.connection.prepare_cached(words)?.execute([])?;
        Ok(())
    }

    fn pragma(&self, name: &str) -> Result<i64, Fault> {
        let read = |row: &rusqlite::Row| row.get(0);
        Ok(self.connection.pragma_query_value(None, name, read)?)
    }

    /// Sets the durability of caching transactions, or the usual one.
    fn hurry(&self, hurries: bool) -> Result<(), Fault> {
        let (query_only, patience, to_disk) = match hurries {
            true => (false, Duration::ZERO, false),
            false => (self.reads_only, self.patience.get(), self.to_disk.get()),
        };
        self.caches.set(hurries);
        self.connection.busy_timeout(patience)?;
        self.connection.pragma_update(None, "query_only", query_only)?;
        Ok(self.connection.pragma_update(None, "synchronous", synchronous(to_disk))?)
    }
}

impl Engine for Sqlite {
    fn execute(&self, statement: &'static str, parameters: Row) -> Result<(), Fault> {
        let mut statement = self.connection.prepare_cached(statement)?;
        statement.execute(params_from_iter(parameters))?;
        Ok(())
    }

    fn each(&self, statement: &'static str, parameters: Row, take: &mut Take) -> Result<(), Fault> {
        let mut statement = self.connection.prepare_cached(statement)?;
        let columns = statement.column_count();
        let mut rows = statement.query(params_from_iter(parameters))?;
        while let Some(row) = rows.next()? {
            let values = (0..columns).map(|column| row.get(column));
            if take(values.collect::<Result<_, _>>()?)? == ControlFlow::Break(()) {
                break;
            }
        }
        Ok(())
    }

    fn all(&self, statement: &'static str, parameters: Row) -> Result<Vec<Row>, Fault> {
        let mut all = vec![];
        self.each(statement, parameters, &mut |row| {
            all.push(row);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(all)
    }

    fn begin(&self, purpose: Purpose) -> Result<(), Fault> {
        match purpose {
            Purpose::Read => self.execute_cached("BEGIN"),
            Purpose::Write => self.execute_cached("BEGIN IMMEDIATE"),
            Purpose::Cache => {
                let begun = self.hurry(true).and_then(|()| self.execute_cached("BEGIN IMMEDIATE"));
                if begun.is_err() {
                    self.hurry(false)?;
                }
                begun
            }
        }
    }

    fn end(&self, keep: bool) -> Result<(), Fault> {
        let ended = match (keep, self.connection.is_autocommit()) {
            (true, _) => self.execute_cached("COMMIT"),
            (false, false) => self.execute_cached("ROLLBACK"),
            (false, true) => Ok(()),
        };
        // the failed transaction is still open, and rolled back next
        if self.caches.get() && self.connection.is_autocommit() {
            self.hurry(false)?;
        }
        ended
    }

    fn wait_for(&self, patience: Duration) -> Result<(), Fault> {
        self.patience.set(patience);
        Ok(self.connection.busy_timeout(patience)?)
    }

    fn reach_disk(&self, disk: bool) -> Result<(), Fault> {
        if self.to_disk.get() != disk {
            let how = synchronous(disk);
            self.connection.pragma_update(None, "synchronous", how)?;
            self.to_disk.set(disk);
        }
        Ok(())
    }

    fn last_launch(&self) -> Result<i64, Fault> {
        let mut last =
            self.connection.prepare_cached("SELECT coalesce(max(rowid), 0) FROM launch")?;
        Ok(last.query_row([], |row| row.get(0))?)
    }

    fn version(&self) -> Result<u32, Fault> {
        let version = self.pragma("user_version")?;
        u32::try_from(version).map_err(|_| Fault::Damaged(format!("schema {version}")))
    }

    /// Each table once until the file changes.
    fn check_indices(&self, tables: &[IndexedTable]) -> Result<(), Fault> {
        let changes = self.connection.query_row("SELECT total_changes()", [], |row| row.get(0))?;
        let version = [self.pragma("data_version")?, changes];
        let mut checked = self.checked.borrow_mut();
        if checked.0 != version {
            *checked = (version, BTreeSet::new());
        }
        for table in tables {
            if !checked.1.contains(table) {
                indices::check(&self.connection, &self.path, *table)?;
                checked.1.insert(*table);
            }
        }
        Ok(())
    }

    /// Checks pages and references.
    fn check(&self) -> Result<Vec<Fault>, Fault> {
        let mut wrong = vec![];
        for (check, fine) in [("integrity_check", "ok"), ("foreign_key_check", "")] {
            let mut check = self.connection.prepare(&format!("PRAGMA {check}"))?;
            for line in check.query_map([], |row| row.get::<_, String>(0))? {
                match line {
                    Ok(line) if line == fine => {}
                    Ok(table) if fine.is_empty() => {
                        wrong.push(Fault::Damaged(format!("a {table} without its run")));
                    }
                    Ok(line) => wrong.push(Fault::Damaged(format!("SQLite: {line}"))),
                    Err(error) => wrong.push(error.into()),
                }
            }
        }
        Ok(wrong)
    }

    /// By VACUUM, which rewrites the file: incremental vacuum needs files created for it. A sole user can give up the
    /// log while others wait; if another process measures, this one gives way.
    fn shrink(&self) -> Result<Shrunk, Fault> {
        let (free, all) = (self.pragma("freelist_count")?, self.pragma("page_count")?);
        let bytes = |pages: i64| Ok::<_, Fault>((pages * self.pragma("page_size")?).unsigned_abs());
        if free < all / MIN_FREE_RECIPROCAL {
            return Ok(Shrunk::Little(bytes(free)?));
        }
        let alone = || -> Result<(), Fault> {
            choose_journal(&self.connection, false)?;
            Ok(self.connection.execute_batch("VACUUM")?)
        };
        let done = alone();
        choose_journal(&self.connection, file::takes_a_log(&self.path))?;
        match done {
            Ok(()) => Ok(Shrunk::To(bytes(self.pragma("page_count")?)?)),
            Err(fault) if fault.is(ErrorCode::DatabaseBusy) => Ok(Shrunk::InUse(bytes(free)?)),
            Err(fault) => Err(fault),
        }
    }

    fn belongs_to(&self, uid: u32) -> bool {
        file::belongs_to(&self.path, uid)
    }

    #[cfg(test)]
    fn sqlite(&self) -> &Connection {
        &self.connection
    }
}

/// Replaces SQLite's function, which folds ASCII alone.
fn fold_unicode(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("lower", 1, flags, |context| {
        let text: Option<String> = context.get(0)?;
        Ok(text.map(|text| text.to_lowercase()))
    })
}

/// Settings of every connection, without file access.
fn set_up(connection: &Connection, patience: Duration) -> Result<(), Fault> {
    fold_unicode(connection)?;
    connection.busy_timeout(patience)?;
    // the file is untrusted: call no function and trust no page because the file says so
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // otherwise statements with new parameters are planned again
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // commits are synced, except launches shortly after another: the system would write them later, during a sample
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(())
}

/// Sets write-ahead log, which allows readers during a run, or rollback journal. Returns whether it is a log now.
pub(crate) fn choose_journal(connection: &Connection, log: bool) -> Result<bool, Fault> {
    let mode = if log { "WAL" } else { "DELETE" };
    let set = connection
        .pragma_update_and_check(None, "journal_mode", mode, |row| row.get::<_, String>(0));
    match set.map_err(Fault::from) {
        Ok(mode) => Ok(mode == "wal"),
        // another process is choosing, most likely the same: the next transaction waits long enough
        Err(fault) if log && fault.is(ErrorCode::DatabaseBusy) => Ok(false),
        Err(fault) => Err(fault),
    }
}

/// Whether a read failed because SQLite wanted to create a file next to the database.
fn needs_to_write(fault: &Fault) -> bool {
    // a full file system has no room for the shared memory of the log
    let full = |error: &rusqlite::ffi::Error| {
        matches!(
            error.extended_code,
            rusqlite::ffi::SQLITE_IOERR_SHMSIZE | rusqlite::ffi::SQLITE_FULL
        )
    };
    fault.is(ErrorCode::CannotOpen)
        || fault.is(ErrorCode::ReadOnly)
        || matches!(fault, Fault::Sqlite(error) if error.sqlite_error().is_some_and(full))
}

fn not_opened(fault: Fault, path: &Path) -> StoreError {
    match fault {
        Fault::Sqlite(error) if error.sqlite_error_code() == Some(ErrorCode::CannotOpen) => {
            // the text of SQLite has the URI
            file::cannot_open(path, "SQLite cannot open it")
        }
        fault => match fault.at(path) {
            // a directory can be opened, but not read like a file
            StoreError::Disk(_, what) if path.is_dir() => file::cannot_open(path, &what),
            error => error,
        },
    }
}

/// Name of the setting in SQLite.
fn synchronous(disk: bool) -> &'static str {
    if disk { "FULL" } else { "NORMAL" }
}
