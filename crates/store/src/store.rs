//! The store: one SQLite file, opened for writing or for reading.
//!
//! Must not know: how runs are laid out in rows.

use crate::error::{Fault, ResolveError, StoreError};
use crate::schema::{self, State};
use crate::write::{self, Beginning};
use crate::{find, name, place, read};
use gritstone_model::{Benchmark, Id, Launch, Program, RunData, RunInfo, Skip};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A commit takes milliseconds: who holds the file longer is not one of us at work.
const PATIENCE: Duration = Duration::from_secs(5);
/// For how long launches may follow one that reached the disc before the next does. To write each took a fifth of all that Gritstone did
/// for a launch of a tenth of a second. Linux leaves what was written alone for half a minute (`vm.dirty_expire_centisecs`).
const UNWRITTEN: Duration = Duration::from_secs(1);

/// An open store. Between two calls nothing of it is busy.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    /// Whether it has a write-ahead log, which a loss of power cuts off at the last launch that reached the disc.
    log: bool,
    /// Whether a commit reaches the disc.
    to_disc: bool,
    /// When a launch last did.
    reached: Option<Instant>,
}

/// What a listing says about a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunHead {
    /// Identifier.
    pub id: String,
    /// The name that the user gave.
    pub label: Option<String>,
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// Seconds from start to end; `None` for a run that was cut off, or that still goes on.
    pub elapsed_s: Option<f64>,
    /// Version of Gritstone that measured.
    pub gritstone: String,
    /// Short name of the machine, the same for all its runs.
    pub machine_id: String,
    /// What a person calls the machine.
    pub machine: String,
    /// Operating system and version.
    pub system: String,
    /// How its launches ended.
    pub launches: LaunchCounts,
}

/// How many launches ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchCounts {
    /// It said `bye`.
    pub measured: u64,
    /// It cannot run here.
    pub skipped: u64,
    /// A call failed.
    pub failed: u64,
    /// It was stopped at its deadline.
    pub timed_out: u64,
}

impl LaunchCounts {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.measured + self.skipped + self.failed + self.timed_out
    }
}

impl Store {
    /// Opens the store at `path` for writing. Creates its folder (for the owner alone) and the file where they are
    /// missing, and brings an older schema up to date.
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
                return Err(StoreError::ReadOnly { path }.into());
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
                State::Ours(schema::KNOWN) => Ok(connection),
                State::Empty => Err(StoreError::Missing { path }.into()),
                State::Ours(found) => Err(Fault::Whole(StoreError::Older {
                    path,
                    found,
                    known: schema::KNOWN,
                })),
            }
        };
        if matches!(path.try_exists(), Ok(false)) {
            return Err(StoreError::Missing { path });
        }
        // with the right to write where there is one, so that nothing is left beside the file on closing it
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut opened = connect(Connection::open_with_flags(&path, flags));
        if opened.as_ref().is_err_and(needs_to_write) {
            if place::left_by_a_writer(&path) {
                return Err(StoreError::CutOff { path });
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

    fn of(connection: Connection, path: PathBuf, log: bool) -> Self {
        Self {
            connection,
            path,
            log,
            to_disc: true,
            reached: None,
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Begins a run: its head, the entries as they are now, the programs, and what cannot run. A label is given
    /// here or never.
    ///
    /// # Errors
    /// [`StoreError::Exists`], [`StoreError::Unfit`] when the identifier, the label, the start or a number cannot be
    /// stored, and what befalls the file.
    pub fn begin(
        &mut self,
        info: &RunInfo,
        benchmarks: &[Benchmark],
        programs: &BTreeMap<Id, Program>,
        skips: &[Skip],
    ) -> Result<(), StoreError> {
        let beginning = Beginning {
            info,
            benchmarks,
            programs,
            skips,
        };
        self.reach(true)?;
        write::begin(&mut self.connection, &beginning).map_err(|fault| fault.at(&self.path))
    }

    /// Stores a launch with all its events. When this returns, whatever becomes of this process they are there. They have reached the
    /// disc, where a launch before them has not within the last second: a loss of power takes what came after that one, and no more.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], [`StoreError::Ended`], and what befalls the file; then nothing of the launch is
    /// stored, and everything before it still is.
    pub fn append(&mut self, run_id: &str, launch: &Launch) -> Result<(), StoreError> {
        let recently = |then: Instant| then.elapsed() < UNWRITTEN;
        let due = !(self.log && self.reached.is_some_and(recently));
        self.reach(due)?;
        write::append(&mut self.connection, run_id, launch)
            .map_err(|fault| fault.at(&self.path))?;
        if due {
            self.reached = Some(Instant::now());
        }
        Ok(())
    }

    /// Whether commits reach the disc from now on; with one that does, all before it do.
    fn reach(&mut self, disc: bool) -> Result<(), StoreError> {
        if self.to_disc != disc {
            let how = if disc { "FULL" } else { "NORMAL" };
            let set = self.connection.pragma_update(None, "synchronous", how);
            set.map_err(|error| Fault::from(error).at(&self.path))?;
            self.to_disc = disc;
        }
        Ok(())
    }

    /// Ends a run `elapsed_s` seconds after its start. It takes nothing more, and has reached the disc.
    ///
    /// # Errors
    /// As [`Store::append`]; [`StoreError::Unfit`] when the length is not a number of at least 0.
    pub fn finish(&mut self, run_id: &str, elapsed_s: f64) -> Result<(), StoreError> {
        self.reach(true)?;
        write::finish(&mut self.connection, run_id, elapsed_s).map_err(|fault| fault.at(&self.path))
    }

    /// Stores a run that was measured elsewhere, whole or not at all.
    ///
    /// # Errors
    /// As [`Store::begin`].
    pub fn import(&mut self, data: &RunData) -> Result<(), StoreError> {
        self.reach(true)?;
        write::import(&mut self.connection, data).map_err(|fault| fault.at(&self.path))
    }

    /// The heads of all runs, newest last.
    ///
    /// # Errors
    /// What befalls the file.
    pub fn runs(&self) -> Result<Vec<RunHead>, StoreError> {
        find::heads(&self.connection).map_err(|fault| fault.at(&self.path))
    }

    /// The identifiers of the runs of a machine that began no later than the second of `started` and are wanted, newest first, `most`
    /// at most. A run whose head cannot be read is wanted: [`Store::load`] says what is wrong with it.
    ///
    /// # Errors
    /// What befalls the file.
    pub fn runs_of(
        &self,
        machine: &str,
        started: &str,
        most: usize,
        wanted: &dyn Fn(&RunInfo) -> bool,
    ) -> Result<Vec<String>, StoreError> {
        let runs = find::runs_of(&self.connection, machine, started, most, wanted);
        runs.map_err(|fault| fault.at(&self.path))
    }

    /// A run as it was handed in, to the last bit.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`]; [`StoreError::Damaged`] when anything of it is not as it was written;
    /// [`StoreError::Unreadable`] when it is, but this version does not understand it.
    pub fn load(&self, run_id: &str) -> Result<RunData, StoreError> {
        read::load(&self.connection, run_id).map_err(|fault| fault.at(&self.path))
    }

    /// A run with nothing of its launches but their samples and latencies, for whoever needs many runs at once.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn samples(&self, run_id: &str) -> Result<RunData, StoreError> {
        read::samples(&self.connection, run_id).map_err(|fault| fault.at(&self.path))
    }

    /// Hands over the newest runs that have a benchmark, `most` at most, one by one, oldest first: what a history is made of. Each has
    /// nothing but the benchmark and the rows that its figure is made of, by the entry that it was measured with; of the launches of
    /// others there is what was around them and their samples. Sides of a trial are not among the runs.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn series(
        &self,
        benchmark: &Id,
        most: usize,
        take: &mut dyn FnMut(RunData),
    ) -> Result<(), StoreError> {
        let read = read::series(&self.connection, benchmark, most, take);
        read.map_err(|fault| fault.at(&self.path))
    }

    /// The newest runs that are wanted and have any of these benchmarks, `most` at most for each, oldest first; each with the
    /// benchmarks that it is among the newest for: what many histories are made of. Sides of a trial are not among them.
    ///
    /// # Errors
    /// What befalls the file.
    pub fn newest(
        &self,
        benchmarks: &[Id],
        most: usize,
        wanted: &dyn Fn(&RunInfo) -> bool,
    ) -> Result<Vec<(String, Vec<Id>)>, StoreError> {
        let runs = find::newest(&self.connection, benchmarks, most, wanted);
        runs.map_err(|fault| fault.at(&self.path))
    }

    /// The head of a run: what it was measured on, and what was asked for. Quick, since no launch is read.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn info(&self, run_id: &str) -> Result<RunInfo, StoreError> {
        read::head(&self.connection, run_id).map_err(|fault| fault.at(&self.path))
    }

    /// The identifier of the run that `name` stands for: `last`, `last~2`, an identifier, a label (the newest run
    /// that has it), or the beginning of one identifier, in this order.
    ///
    /// # Errors
    /// [`ResolveError`] says why it is none, with the nearest name or all candidates.
    pub fn resolve(&self, name: &str) -> Result<String, ResolveError> {
        let runs = find::names(&self.connection).map_err(|fault| fault.at(&self.path))?;
        name::pick(name, &runs)
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
    // to the disc with every commit, but for launches that follow close on another: what is left to the system to write later, it
    // writes during a sample
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(())
}

/// A write-ahead log, so that a run can be looked at while it goes on, or the plain journal.
/// Whether it is a log now.
fn choose_journal(connection: &Connection, log: bool) -> Result<bool, Fault> {
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
            StoreError::Disc { what, .. } if path.is_dir() => place::cannot_open(path, &what),
            error => error,
        },
    }
}

#[cfg(test)]
mod tests;
