//! What can go wrong with a store, in words that say which file, and what to do.

use crate::address::is_server;
use ::postgres::error::SqlState;
use rusqlite::ErrorCode;
use std::error::Error;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Why a store could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Neither variable that says where data belong is usable.
    #[error(
        "no place for the database: neither XDG_DATA_HOME nor HOME is an absolute path. \
         Set XDG_DATA_HOME to the directory that shall hold gritstone/gritstone.db"
    )]
    NoHome,
    /// Only reading was asked for, and there is nothing.
    #[error("no database at {}: nothing is stored yet. `gritstone run` creates one", .0.display())]
    Missing(PathBuf),
    /// This run was removed, and is sent again.
    #[error("run {0} was removed from this store: `gritstone import` there takes it again")]
    Removed(String),
    /// Another user could replace the file, or has it; with what is wrong.
    #[error("the store {path} is not written: {1}", path = .0.display())]
    Unsafe(PathBuf, String),
    /// The path, or a folder on the way to it, cannot be used; with what the system says.
    #[error("{path} cannot be used: {1}. Name another place with XDG_DATA_HOME", path = .0.display())]
    Unusable(PathBuf, String),
    /// No SQLite file at all.
    #[error(
        "{} is not a database. Move it away, and the next run begins a new one; \
         or name another place with XDG_DATA_HOME", .0.display()
    )]
    NotADatabase(PathBuf),
    /// An SQLite file of another program.
    #[error("{path} is a database of another program, and is left alone. {}", elsewhere(.0), path = .0.display())]
    Foreign(PathBuf),
    /// SQLite or a seal found that what is stored is not what was written; with the place, as far as it is known.
    #[error(
        "{path} is damaged: {1}. Runs that are whole can still be read: take each of them out with \
         'gritstone export RUN --out RUN.jsonl'. Then {aside}, and store them again with \
         'gritstone import *.jsonl'. 'gritstone doctor' lists what is damaged", path = .0.display(), aside = aside(.0)
    )]
    Damaged(PathBuf, String),
    /// Whole, but of a form that this version cannot read: the run, the version that stored it, and what is not understood.
    #[error(
        "run {0} was stored by Gritstone {1}, and this one ({version}) cannot read it: {2}. \
         Read it with that version or a newer one", version = env!("CARGO_PKG_VERSION")
    )]
    Unreadable(String, String, String),
    /// No space.
    #[error(
        "no space is left for {}: what was being stored is lost, everything before it is safe and can be read. \
         Make room ('df' says where), then go on with 'gritstone run --resume'", .0.display()
    )]
    Full(PathBuf),
    /// It cannot be written here.
    #[error(
        "{} cannot be written: {}. To measure, name a store of your own with --store or GRITSTONE_STORE", .0.display(), closed(.0)
    )]
    ReadOnly(PathBuf),
    /// Somebody else's, and closed to others.
    #[error(
        "{} cannot be read: its permissions do not allow it. Ask its owner for read permission, or name a store of your own with \
         --store or GRITSTONE_STORE", .0.display()
    )]
    NotReadable(PathBuf),
    /// A writer was cut off, and its last commits cannot be taken in without writing.
    #[error(
        "{path} cannot be read where it is: its last writer was killed, and its last changes are in {path}-wal or {path}-journal, which can only be recovered in a writable directory. Copy both to a directory of yours", path = .0.display()
    )]
    CutOff(PathBuf),
    /// Another process holds it, longer than a commit takes.
    #[error(
        "{path} is locked by another process. Wait until that has ended ({who} says which it is), \
         then try again", path = .0.display(), who = who(.0)
    )]
    Locked(PathBuf),
    /// Written by a newer Gritstone: its schema, and the newest that is known here.
    #[error(
        "{path} has schema {1}, and this Gritstone ({version}) knows none after {2}. Use the newer Gritstone that wrote \
         it, or another store. {elsewhere}", path = .0.display(), version = env!("CARGO_PKG_VERSION"), elsewhere = elsewhere(.0)
    )]
    Newer(PathBuf, u32, u32),
    /// Made before the present form of the store.
    #[error(
        "{path} was made by a Gritstone before this one ({}), which does not read it. Write its runs to files with the version that \
         made it ('gritstone export RUN --out RUN.jsonl' for each), move the database away, and store them again with \
         'gritstone import *.jsonl'", env!("CARGO_PKG_VERSION"), path = .0.display()
    )]
    Before(PathBuf),
    /// Its schema is not the one that Gritstone makes: type and name of what was added, changed or removed.
    #[error(
        "{path} is not as Gritstone made it: its schema differs in the {1}. If you changed it with sqlite3, undo that; if it came from \
         elsewhere, do not use it: 'gritstone import' reads runs of others", path = .0.display()
    )]
    Altered(PathBuf, String),
    /// The system failed to read or write, as SQLite says.
    #[error(
        "reading or writing {path} failed: {1}. Look at the disk and the quota (dmesg, df, quota), then try again",
        path = .0.display()
    )]
    Disk(PathBuf, String),
    /// Anything else that SQLite reports.
    #[error("{path}: {1}", path = .0.display())]
    Database(PathBuf, String),
    /// The URL of a server, without its password, or a file that it names, and what is wrong with it.
    #[error("{path} cannot be used as a store: {1}", path = .0.display())]
    Url(PathBuf, String),
    /// A server that cannot be reached, or was lost.
    #[error(
        "the server of {path} cannot be reached: {1}. 'pg_isready' says whether it runs and takes connections from here",
        path = .0.display()
    )]
    Away(PathBuf, String),
    /// A server that knows another password, or this user not at all.
    #[error(
        "{path} does not let this user in: {1}. The password is that of the URL, else of PGPASSWORD, else of ~/.pgpass; \
         pg_hba.conf of the server says who may connect", path = .0.display()
    )]
    Refused(PathBuf, String),
    /// A server without that database.
    #[error("{path}: {1}. Create it with 'createdb', as a user who may", path = .0.display())]
    NoDatabase(PathBuf, String),
    /// A server where this user may not do that.
    #[error(
        "{path}: {1}. The owner of the tables grants what is missing; docs/serve.md lists the privileges", path = .0.display()
    )]
    Denied(PathBuf, String),
    /// No run of that identifier.
    #[error("no run {0} in the store")]
    NoSuchRun(String),
    /// A run that came from elsewhere takes nothing more.
    #[error(
        "run {0} was imported: what comes from elsewhere is data, and nothing that it names is executed here, so it is not resumed. \
         Begin a new run"
    )]
    Imported(String),
    /// Another user began it, or another machine; with by whom, or where, it would have had to begin.
    #[error("run {0} was not begun {1}, so it is not resumed. Begin a new run")]
    NotYours(String, &'static str),
    /// A run of that identifier is already there.
    #[error("run {0} is in the store already")]
    Exists(String),
    /// The run has ended and takes nothing more.
    #[error("run {0} has ended: what is stored stays as it is. Begin a new run")]
    Ended(String),
    /// The raw samples of the run were pruned, and are needed; with when that was.
    #[error(
        "the raw samples of run {0} were pruned on {1}, and this needs them. Its results are kept: `gritstone show {0}`, and compare, \
         history, check, changes and report with it"
    )]
    Pruned(String, String),
    /// The raw samples of a run stay, and why.
    #[error("the raw samples of run {0} are not pruned: {1}")]
    NotPruned(String, &'static str),
    /// What was handed in cannot be stored so that it comes back the same.
    #[error("this cannot be stored: {0}")]
    Unfit(String),
}

/// Why a name does not stand for one run.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// The store is empty.
    #[error("no run is stored yet")]
    NoneYet,
    /// None of this machine has results; with the newest of the others.
    #[error(
        "no run of this system has results; name another, such as {0}, the newest (`gritstone runs`)"
    )]
    NoneHere(String),
    /// `last~N` goes back further than there are runs.
    #[error("'{0}' goes back too far: the first run is last~{first}", first = .1 - 1)]
    TooFar(String, usize),
    /// Nothing has that name; with the nearest identifier or label, when there is one near enough.
    #[error("no run is called '{0}'{near}", near = .1.as_ref().map(|n| format!("; did you mean '{n}'?")).unwrap_or_default())]
    Unknown(String, Option<String>),
    /// Several identifiers have that part, the newest last.
    #[error("'{0}' may be any of {all}", all = some(.1))]
    Ambiguous(String, Vec<String>),
    /// The store itself failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The newest five of these names, and how many more there are.
fn some(names: &[String]) -> String {
    let newest = &names[names.len().saturating_sub(5)..];
    match names.len() - newest.len() {
        0 => newest.join(", "),
        more => format!("{} and {more} more", newest.join(", ")),
    }
}

/// What to do about a place that is not ours.
fn elsewhere(path: &Path) -> &'static str {
    match is_server(path) {
        true => "Name another database in the URL",
        false => "Name another place with XDG_DATA_HOME",
    }
}

/// How a damaged store is put away.
fn aside(path: &Path) -> String {
    match is_server(path) {
        true => "name another database in the URL".to_owned(),
        false => format!(
            "move the file away, with {path}-wal if there is one",
            path = path.display()
        ),
    }
}

/// Why a store cannot be written.
fn closed(path: &Path) -> &'static str {
    match is_server(path) {
        true => "the server is one that only reads",
        false => {
            "the file or its directory belongs to another user, or the file system is read-only"
        }
    }
}

/// What says who has a store locked.
fn who(path: &Path) -> String {
    match is_server(path) {
        true => "pg_stat_activity".to_owned(),
        false => format!("'fuser {}'", path.display()),
    }
}

/// What went wrong inside, before it is known which store it was.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// SQLite said so.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// PostgreSQL said so, or its connection.
    #[error(transparent)]
    Postgres(#[from] ::postgres::Error),
    /// What is stored is not what was written.
    #[error("{0}")]
    Damaged(String),
    /// Complete as it is.
    #[error(transparent)]
    Whole(#[from] StoreError),
}

impl Fault {
    /// Something handed in that cannot be stored.
    pub(crate) fn unfit(why: impl Into<String>) -> Self {
        Self::Whole(StoreError::Unfit(why.into()))
    }

    /// Whether SQLite reported `code`.
    pub(crate) fn is(&self, code: ErrorCode) -> bool {
        matches!(self, Self::Sqlite(error) if error.sqlite_error_code() == Some(code))
    }

    /// Whether a server is not there any more.
    pub(crate) fn is_away(&self) -> bool {
        match self {
            Self::Postgres(error) => is_away(error),
            Self::Whole(StoreError::Away(..)) => true,
            _ => false,
        }
    }

    /// In words, for the store that it happened to.
    pub(crate) fn at(self, path: &Path) -> StoreError {
        let path = path.to_owned();
        match self {
            Self::Whole(error) => error,
            Self::Damaged(what) => StoreError::Damaged(path, what),
            Self::Sqlite(error) => of_sqlite(&error, path),
            Self::Postgres(error) => of_postgres(&error, path),
        }
    }
}

fn of_sqlite(error: &rusqlite::Error, path: PathBuf) -> StoreError {
    let what = error.to_string();
    let Some(code) = error.sqlite_error_code() else {
        // a value of another type, or text that is not UTF-8: only damage brings it there
        return StoreError::Damaged(path, what);
    };
    match code {
        ErrorCode::NotADatabase => StoreError::NotADatabase(path),
        // every statement is tested against our own schema: when one does not fit, the schema is not ours any more
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

/// Whether what a server said, or that it said nothing, means that it is not there: it may be soon.
fn is_away(error: &::postgres::Error) -> bool {
    match error.code() {
        // connections, and shutting down or starting
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
                    // what is there and cannot be believed or understood is not away
                    return why.kind() != ErrorKind::InvalidData;
                }
                cause = why.source();
            }
            error.is_closed()
        }
    }
}

fn of_postgres(error: &::postgres::Error, path: PathBuf) -> StoreError {
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
