//! Errors of the store: which file, what is wrong, what to do.

use crate::address::is_server;
use ::postgres::error::SqlState;
use rusqlite::ErrorCode;
use std::error::Error;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// XDG_DATA_HOME and HOME are both unusable.
    #[error(
        "no place for the database: neither XDG_DATA_HOME nor HOME is an absolute path. \
         Set XDG_DATA_HOME to the directory that shall hold gritstone/gritstone.db"
    )]
    NoHome,
    /// No store to read.
    #[error("no database at {}: `gritstone run` creates one", .0.display())]
    Missing(PathBuf),
    /// The run was removed and is now sent again.
    #[error("run {0} was removed from this store: `gritstone import` there takes it again")]
    Removed(String),
    /// Another user owns or can replace the file; with the reason.
    #[error("the store {path} is not written: {1}", path = .0.display())]
    Unsafe(PathBuf, String),
    /// The path or a directory above it cannot be used; with the error of the system.
    #[error("{path} cannot be used: {1}. Name another file with --store or GRITSTONE_STORE", path = .0.display())]
    Unusable(PathBuf, String),
    /// Not an SQLite file.
    #[error(
        "{} is not a database. Move it away, and the next run begins a new one; \
         or name another file with --store or GRITSTONE_STORE", .0.display()
    )]
    NotADatabase(PathBuf),
    /// An SQLite file of another program.
    #[error("{path} is a database of another program, and is left alone. {}", elsewhere(.0), path = .0.display())]
    Foreign(PathBuf),
    /// SQLite or a hash found damage; with its place, if known.
    #[error(
        "{path} is damaged: {1}. Runs that are whole can still be read: take each of them out with \
         'gritstone export RUN --output RUN.jsonl'. Then {aside}, and store them again with \
         'gritstone import *.jsonl'. 'gritstone doctor' lists what is damaged", path = .0.display(), aside = aside(.0)
    )]
    Damaged(PathBuf, String),
    /// Undamaged, but not understood: run, version that stored it, what is not understood.
    #[error(
        "run {0} was stored by Gritstone {1}, and this one ({version}) cannot read it: {2}. \
         Read it with that version or a newer one", version = env!("CARGO_PKG_VERSION")
    )]
    Unreadable(String, String, String),
    #[error(
        "no space is left for {}: what was being stored is lost, everything before it is safe and can be read. \
         Make room ('df' says where), then try again; 'gritstone run --resume' continues a run", .0.display()
    )]
    Full(PathBuf),
    #[error(
        "{} cannot be written: {}. To measure, name a store of your own with --store or GRITSTONE_STORE", .0.display(), closed(.0)
    )]
    ReadOnly(PathBuf),
    /// The file belongs to another user and is not readable.
    #[error(
        "{} cannot be read: its permissions do not allow it. Ask its owner for read permission, or name a store of your own with \
         --store or GRITSTONE_STORE", .0.display()
    )]
    NotReadable(PathBuf),
    /// A writer was killed, and its last commits cannot be recovered without writing.
    #[error(
        "{path} cannot be read where it is: its last writer was killed, and its last changes are in {path}-wal or {path}-journal, which can only be recovered in a writable directory. Copy both to a directory of yours", path = .0.display()
    )]
    CutOff(PathBuf),
    /// Another process has held the lock for longer than a commit takes.
    #[error(
        "{path} is locked by another process. Wait until that has ended ({who} says which it is), \
         then try again", path = .0.display(), who = lock_holder_command(.0)
    )]
    Locked(PathBuf),
    /// Written by a newer Gritstone: its schema version, and the newest known one.
    #[error(
        "{path} has schema {1}, and this Gritstone ({version}) knows none after {2}. Use the newer Gritstone that wrote \
         it, or another store. {elsewhere}", path = .0.display(), version = env!("CARGO_PKG_VERSION"), elsewhere = elsewhere(.0)
    )]
    Newer(PathBuf, u32, u32),
    /// Written by an older Gritstone with an incompatible format.
    #[error(
        "{path} was made by a Gritstone before this one ({}), which does not read it. Write its runs to files with the version that \
         made it ('gritstone export RUN --output RUN.jsonl' for each), move the database away, and store them again with \
         'gritstone import *.jsonl'", env!("CARGO_PKG_VERSION"), path = .0.display()
    )]
    Before(PathBuf),
    /// The schema differs from the migrations; with type and name of the first difference.
    #[error(
        "{path} is not as Gritstone made it: its schema differs in the {1}. If you changed it with sqlite3, undo that; if it came from \
         elsewhere, do not use it: 'gritstone import' reads runs of others", path = .0.display()
    )]
    Altered(PathBuf, String),
    /// I/O error reported by SQLite.
    #[error(
        "reading or writing {path} failed: {1}. Look at the disk and the quota (dmesg, df, quota), then try again",
        path = .0.display()
    )]
    Disk(PathBuf, String),
    /// Any other error of SQLite.
    #[error("{path}: {1}", path = .0.display())]
    Database(PathBuf, String),
    /// A server URL without its password, or a file that it names; with the reason.
    #[error("{path} cannot be used as a store: {1}", path = .0.display())]
    Url(PathBuf, String),
    /// The server cannot be reached, or the connection was lost.
    #[error(
        "the server of {path} cannot be reached: {1}. 'pg_isready' says whether it runs and takes connections from here",
        path = .0.display()
    )]
    Away(PathBuf, String),
    /// Authentication failed.
    #[error(
        "{path} does not let this user in: {1}. The password is that of the URL, else of PGPASSWORD, else of ~/.pgpass; \
         pg_hba.conf of the server says who may connect", path = .0.display()
    )]
    Refused(PathBuf, String),
    /// The server has no such database.
    #[error("{path}: {1}. Create it with 'createdb', as a user who may", path = .0.display())]
    NoDatabase(PathBuf, String),
    /// The server denies a privilege.
    #[error(
        "{path}: {1}. Ask the owner of the tables for the missing privileges, which docs/serve.md lists", path = .0.display()
    )]
    Denied(PathBuf, String),
    /// No run has this identifier.
    #[error("no run {0} in the store")]
    NoSuchRun(String),
    /// Imported runs take no launches.
    #[error(
        "run {0} was imported: what comes from elsewhere is data, and nothing that it names is executed here, so it is not resumed. \
         Begin a new run"
    )]
    Imported(String),
    /// Another user or machine began the run; with which one.
    #[error("run {0} was not started {1}, so it cannot be resumed. Start a new run")]
    NotYours(String, &'static str),
    /// A run with this identifier exists.
    #[error("run {0} is in the store already")]
    Exists(String),
    /// The run has ended and takes no launches.
    #[error("run {0} has ended and cannot be changed. Start a new run")]
    Ended(String),
    /// The raw samples are needed, and were pruned; with the date.
    #[error(
        "the raw samples of run {0} were pruned on {1}, and this needs them. Its results are kept: `gritstone show {0}`, and compare, \
         history, check, changes and report with it"
    )]
    Pruned(String, String),
    /// The raw samples cannot be pruned; with the reason.
    #[error("the raw samples of run {0} are not pruned: {1}")]
    NotPruned(String, &'static str),
    /// No valid token has this name.
    #[error("no valid token is called '{0}'; `gritstone token list` shows them")]
    NoToken(String),
    /// The data would not be read back identically.
    #[error("cannot be stored: {0}")]
    Unfit(String),
}

impl StoreError {
    /// Whether other runs can be used.
    pub fn is_of_one_run(&self) -> bool {
        matches!(
            self,
            Self::NoSuchRun(_)
                | Self::Damaged(..)
                | Self::Unreadable(..)
                | Self::Pruned(..)
                | Self::Unfit(_)
        )
    }
}

/// Why a name does not resolve to one run.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    #[error("no run is stored yet")]
    NoneYet,
    #[error("the name of a run is empty")]
    Empty,
    /// No run of this machine has results; with the newest run of others.
    #[error(
        "no run of this system has results; name another, such as {0}, the newest (`gritstone runs`)"
    )]
    NoneHere(String),
    /// This machine has only sides of trials; with the newest.
    #[error(
        "no run of this system is stored, only tests of `bench`, `ab` and `pr`: `gritstone show {0}` shows the newest"
    )]
    OnlyTrials(String),
    /// `last~N` exceeds the number of runs.
    #[error("'{0}' goes back too far: the first run is last~{first}", first = .1 - 1)]
    TooFar(String, usize),
    /// A run has the label of the first side of a trial with the name.
    #[error(
        "no run is called '{0}'; if it is a test of `bench` or `ab`, `gritstone ab --of {0}` shows it"
    )]
    Trial(String),
    /// No run has the name; with the nearest identifier or label, if one is similar.
    #[error("no run is called '{0}'{near}", near = .1.as_ref().map_or("; `gritstone runs` lists them".to_owned(), |n| format!("; did you mean '{n}'?")))]
    Unknown(String, Option<String>),
    /// Several identifiers match, the newest last.
    #[error("'{0}' may be any of {all}", all = some(.1))]
    Ambiguous(String, Vec<String>),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The newest five names, and the number of others.
fn some(names: &[String]) -> String {
    let newest = &names[names.len().saturating_sub(5)..];
    match names.len() - newest.len() {
        0 => newest.join(", "),
        more => format!("{} and {more} more", newest.join(", ")),
    }
}

/// Advice for choosing another path.
fn elsewhere(path: &Path) -> &'static str {
    match is_server(path) {
        true => "Name another database in the URL",
        false => "Name another file with --store or GRITSTONE_STORE",
    }
}

/// Advice for moving a damaged store away.
fn aside(path: &Path) -> String {
    match is_server(path) {
        true => "name another database in the URL".to_owned(),
        false => {
            format!("move the file away, with {path}-wal if there is one", path = path.display())
        }
    }
}

/// Why a store is not writable.
fn closed(path: &Path) -> &'static str {
    match is_server(path) {
        true => "the server is read-only",
        false => {
            "the file or its directory belongs to another user, or the file system is read-only"
        }
    }
}

/// Command that shows which process holds the lock.
fn lock_holder_command(path: &Path) -> String {
    match is_server(path) {
        true => "pg_stat_activity".to_owned(),
        false => format!("'fuser {}'", path.display()),
    }
}

/// An error before the path of the store is added.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// Error of PostgreSQL or of its connection.
    #[error(transparent)]
    Postgres(#[from] ::postgres::Error),
    /// Stored data were changed.
    #[error("{0}")]
    Damaged(String),
    /// An error that has its path.
    #[error(transparent)]
    Whole(#[from] StoreError),
}

impl Fault {
    /// Data that cannot be stored.
    pub(crate) fn unfit(why: impl Into<String>) -> Self {
        Self::Whole(StoreError::Unfit(why.into()))
    }

    /// Whether SQLite reported `code`.
    pub(crate) fn is(&self, code: ErrorCode) -> bool {
        matches!(self, Self::Sqlite(error) if error.sqlite_error_code() == Some(code))
    }

    /// Whether the connection to the server was lost.
    pub(crate) fn is_away(&self) -> bool {
        match self {
            Self::Postgres(error) => is_away(error),
            Self::Whole(StoreError::Away(..)) => true,
            _ => false,
        }
    }

    /// Adds the path of the store.
    pub(crate) fn at(self, path: &Path) -> StoreError {
        let path = path.to_owned();
        match self {
            Self::Whole(error) => error,
            Self::Damaged(what) => StoreError::Damaged(path, what),
            Self::Sqlite(error) => sqlite_error(&error, path),
            Self::Postgres(error) => postgres_error(&error, path),
        }
    }
}

fn sqlite_error(error: &rusqlite::Error, path: PathBuf) -> StoreError {
    let what = error.to_string();
    let Some(code) = error.sqlite_error_code() else {
        // a value of another type, or text that is not UTF-8: damage
        return StoreError::Damaged(path, what);
    };
    match code {
        ErrorCode::NotADatabase => StoreError::NotADatabase(path),
        // all statements are tested against our schema: on an error the schema has been changed
        ErrorCode::DatabaseCorrupt | ErrorCode::Unknown | ErrorCode::TypeMismatch => {
            StoreError::Damaged(path, what)
        }
        ErrorCode::DiskFull => StoreError::Full(path),
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen => {
            StoreError::ReadOnly(path)
        }
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreError::Locked(path),
        ErrorCode::SystemIoFailure => StoreError::Disk(path, what),
        _ => StoreError::Database(path, what),
    }
}

/// Whether an error of a server is temporary: connection lost, shutting down, starting.
fn is_away(error: &::postgres::Error) -> bool {
    match error.code() {
        // connection errors, shutdown and startup
        Some(code) => {
            code.code().starts_with("08")
                || [
                    SqlState::ADMIN_SHUTDOWN,
                    SqlState::CRASH_SHUTDOWN,
                    SqlState::CANNOT_CONNECT_NOW,
                    SqlState::TOO_MANY_CONNECTIONS,
                    SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
                ]
                .contains(code)
        }
        None => {
            let mut cause = error.source();
            while let Some(why) = cause {
                if let Some(why) = why.downcast_ref::<std::io::Error>() {
                    // a server that answers nonsense is not temporarily unreachable
                    return why.kind() != ErrorKind::InvalidData;
                }
                cause = why.source();
            }
            error.is_closed()
        }
    }
}

fn postgres_error(error: &::postgres::Error, path: PathBuf) -> StoreError {
    let mut what = error.to_string();
    let mut cause = error.source();
    while let Some(why) = cause {
        if !what.contains(&why.to_string()) {
            what = format!("{what}: {why}");
        }
        cause = why.source();
    }
    if is_away(error) {
        return StoreError::Away(path, what);
    }
    let Some(code) = error.code() else {
        return match what.contains("password missing") {
            true => StoreError::Refused(path, "it asks for a password, and there is none".into()),
            false => StoreError::Database(path, what),
        };
    };
    match *code {
        SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
            StoreError::Refused(path, what)
        }
        SqlState::INVALID_CATALOG_NAME => StoreError::NoDatabase(path, what),
        SqlState::INSUFFICIENT_PRIVILEGE | SqlState::INVALID_SCHEMA_NAME => {
            StoreError::Denied(path, what)
        }
        SqlState::LOCK_NOT_AVAILABLE
        | SqlState::T_R_SERIALIZATION_FAILURE
        | SqlState::T_R_DEADLOCK_DETECTED => StoreError::Locked(path),
        SqlState::DISK_FULL => StoreError::Full(path),
        SqlState::READ_ONLY_SQL_TRANSACTION => StoreError::ReadOnly(path),
        SqlState::IO_ERROR => StoreError::Disk(path, what),
        SqlState::DATA_CORRUPTED
        | SqlState::INDEX_CORRUPTED
        | SqlState::UNDEFINED_TABLE
        | SqlState::UNDEFINED_COLUMN => StoreError::Damaged(path, what),
        _ => StoreError::Database(path, what),
    }
}
