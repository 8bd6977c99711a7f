//! Opens a store for writing or for reading.

use crate::error::{Fault, StoreError};
use crate::place;
use crate::schema::{self, State};
use crate::store::{PATIENCE, Store};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::path::Path;

impl Store {
    /// Opens the store at `path` for writing. Creates its folder (for the owner alone) and the file where they are
    /// missing.
    ///
    /// # Errors
    /// Says what is wrong with the file or its place, and what to do; see [`StoreError`].
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let path = place::absolute(path)?;
        place::create_folder(&path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connect = || -> Result<(Connection, bool), Fault> {
            let mut connection = Connection::open_with_flags(&path, flags)?;
            set_up(&connection)?;
            let state = schema::state(&connection, &path)?;
            if connection.is_readonly("main")? {
                let path = path.clone();
                return Err(StoreError::ReadOnly(path).into());
            }
            let log = choose_journal(&connection, place::takes_a_log(&path))?;
            if !matches!(state, State::Ours(schema::KNOWN)) {
                schema::migrate(&mut connection, &path)?;
            }
            Ok((connection, log))
        };
        match connect() {
            Ok((connection, log)) => Ok(Self::of(connection, path, log)),
            Err(fault) => Err(not_opened(fault, &path)),
        }
    }

    /// Opens the store at `path` for reading, also where nothing can be written.
    ///
    /// Where no file can be put beside it, SQLite takes the promise that nobody writes meanwhile: hold such a store
    /// no longer than it takes to read.
    ///
    /// # Errors
    /// [`StoreError::Missing`] when there is none, else as [`Store::open`].
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        let path = place::absolute(path)?;
        let connect = |connection: rusqlite::Result<Connection>| -> Result<Connection, Fault> {
            let connection = connection?;
            set_up(&connection)?;
            connection.pragma_update(None, "query_only", true)?;
            let path = path.clone();
            match schema::state(&connection, &path)? {
                State::Ours(_) => Ok(connection),
                State::Empty => Err(StoreError::Missing(path).into()),
            }
        };
        if matches!(path.try_exists(), Ok(false)) {
            return Err(StoreError::Missing(path));
        }
        // with the right to write where there is one, so that nothing is left beside the file on closing it
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut opened = connect(Connection::open_with_flags(&path, flags));
        if opened.as_ref().is_err_and(needs_to_write) {
            if place::left_by_a_writer(&path) {
                return Err(StoreError::CutOff(path));
            }
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
                | OpenFlags::SQLITE_OPEN_NO_MUTEX
                | OpenFlags::SQLITE_OPEN_URI;
            opened = connect(Connection::open_with_flags(place::immutable(&path), flags));
        }
        match opened {
            Ok(connection) => Ok(Self::of(connection, path, false)),
            Err(fault) => Err(not_opened(fault, &path)),
        }
    }
}

/// What every connection needs, and nothing that touches the file.
fn set_up(connection: &Connection) -> Result<(), Fault> {
    connection.busy_timeout(PATIENCE)?;
    // the file may come from anyone: no function is called and no page believed because the file says so
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // or a statement that is bound anew is planned anew
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // to the disk with every commit, but for launches that follow close on another: what is left to the system to write later, it
    // writes during a sample
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(())
}

/// A write-ahead log, so that a run can be looked at while it goes on, or the plain journal.
/// Whether it is a log now.
pub(crate) fn choose_journal(connection: &Connection, log: bool) -> Result<bool, Fault> {
    let mode = if log { "WAL" } else { "DELETE" };
    let set = connection
        .pragma_update_and_check(None, "journal_mode", mode, |row| row.get::<_, String>(0));
    match set.map_err(Fault::from) {
        Ok(mode) => Ok(mode == "wal"),
        // another process is at it: it chose the same, most likely, and who waits for the next transaction waits long enough
        Err(fault) if log && fault.is(ErrorCode::DatabaseBusy) => Ok(false),
        Err(fault) => Err(fault),
    }
}

/// Whether reading failed because SQLite wanted to put a file beside the database.
fn needs_to_write(fault: &Fault) -> bool {
    fault.is(ErrorCode::CannotOpen) || fault.is(ErrorCode::ReadOnly)
}

fn not_opened(fault: Fault, path: &Path) -> StoreError {
    match fault {
        Fault::Sql(error) if error.sqlite_error_code() == Some(ErrorCode::CannotOpen) => {
            place::cannot_open(path, &error.to_string())
        }
        fault => match fault.at(path) {
            // a folder can be opened, but not read like a file
            StoreError::Disk(_, what) if path.is_dir() => place::cannot_open(path, &what),
            error => error,
        },
    }
}
