//! A store on a PostgreSQL server.
//!
//! One that writes to the ledger holds a lock until its end; one that stores launches holds it together with others of its kind, and one
//! of its run. Locks are advisory ones of the database, for which nobody needs a privilege.

mod tls;
mod url;
mod values;

use crate::engine::{Engine, Purpose, Row, Shrunk, Take, query, whole};
use crate::error::{Fault, StoreError};
use crate::schema;
use ::postgres::types::ToSql;
use ::postgres::{Client, Statement};
use sha2::{Digest, Sha256};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
pub(crate) use url::Url;
pub use url::trusted;
use values::Parameter;

/// Of all locks of ours: `GRS2`.
const LOCK: i64 = 0x4752_5332;
/// In order; the first has number 1. Those that were released stay as they are.
const MIGRATIONS: [&str; 5] = [
    include_str!("../../schema/postgres/0001.sql"),
    include_str!("../../schema/postgres/0002.sql"),
    include_str!("../../schema/postgres/0003.sql"),
    include_str!("../../schema/postgres/0004.sql"),
    include_str!("../../schema/postgres/0005.sql"),
];
/// Rows that are fetched at once of those that are read one by one.
const AT_ONCE: u32 = 200;
/// What is done between two statements takes milliseconds: a client that holds a lock for longer is gone.
const GONE: &str = "30s";
/// For how long a connection that nobody uses waits for the next who opens the same store.
const IDLE: Duration = Duration::from_secs(60);

/// A connection, and the statements that it knows.
struct Live {
    client: Client,
    known: HashMap<String, Statement>,
}

/// One that was left.
struct Left {
    url: Url,
    reads_only: bool,
    live: Live,
    since: Instant,
}

/// Connections that were left, for the next who opens the same: a page is made of a new one every time otherwise.
static LEFT: Mutex<Vec<Left>> = Mutex::new(vec![]);
/// So many are kept.
const MOST_LEFT: usize = 8;

/// A store on a server, as long as it can be reached.
pub(crate) struct Postgres {
    url: Url,
    reads_only: bool,
    live: RefCell<Option<Live>>,
    patience: Cell<Duration>,
    /// Whether a transaction is open.
    within: Cell<bool>,
    /// Rows that are being read one by one.
    cursors: Cell<u32>,
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Postgres({})", self.url.shown.display())
    }
}

impl Postgres {
    /// The store of a URL, without a connection yet.
    pub(crate) fn of(url: &str, reads_only: bool, patience: Duration) -> Result<Self, StoreError> {
        Ok(Self {
            url: Url::parse(url, |name| std::env::var_os(name))?,
            reads_only,
            live: RefCell::new(None),
            patience: Cell::new(patience),
            within: Cell::new(false),
            cursors: Cell::new(0),
        })
    }

    pub(crate) fn shown(&self) -> &Path {
        &self.url.shown
    }

    /// Whether it is connected, as far as is known.
    fn is_connected(&self) -> bool {
        self.live.borrow().is_some()
    }

    /// Connects, where it is not, and brings the schema up to date where this one writes.
    pub(crate) fn connect(&self) -> Result<(), StoreError> {
        if self.is_connected() {
            return Ok(());
        }
        let connected = self.take_left().map_or_else(|| self.connect_anew(), Ok);
        connected.map_err(|fault| {
            self.live.take();
            fault.at(&self.url.shown)
        })
    }

    /// The connection that was left, if it is of the same store and still there.
    fn take_left(&self) -> Option<()> {
        let mut all = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
        let fits =
            |left: &Left| left.url.whole == self.url.whole && left.reads_only == self.reads_only;
        let left = all.iter().rposition(fits).map(|at| all.swap_remove(at));
        drop(all);
        let left = left.filter(|left| left.since.elapsed() < IDLE)?;
        self.live.replace(Some(left.live));
        // it may be broken, or another may have brought the schema up to date
        let ready = self.ready();
        if ready.is_err() {
            self.live.take();
        }
        ready.ok()
    }

    fn connect_anew(&self) -> Result<(), Fault> {
        let client = match &self.url.trusted {
            None => self.url.config.connect(::postgres::NoTls),
            Some(file) => self.url.config.connect(tls::connector(file)?),
        };
        let live = Live {
            client: client.map_err(Fault::from)?,
            known: HashMap::new(),
        };
        self.live.replace(Some(live));
        self.batch(&format!(
            "SET idle_in_transaction_session_timeout = '{GONE}'; SET client_min_messages = warning; SET jit = off"
        ))?;
        if self.reads_only {
            self.batch("SET default_transaction_read_only = on")?;
        }
        self.ready()
    }

    /// Brings the schema up to date, or says why not.
    fn ready(&self) -> Result<(), Fault> {
        match self.found()? {
            Some(found) if found > schema::KNOWN => {
                let path = self.url.shown.clone();
                Err(StoreError::Newer(path, found, schema::KNOWN).into())
            }
            Some(schema::KNOWN) => Ok(()),
            Some(_) if self.reads_only => Ok(()),
            None if self.reads_only => Err(StoreError::Missing(self.url.shown.clone()).into()),
            _ => self.migrate(),
        }
    }

    /// The version of the schema; `None` where there is none of ours.
    fn found(&self) -> Result<Option<u32>, Fault> {
        let tables = "SELECT to_regclass('gritstone_schema') IS NOT NULL, (SELECT count(*) FROM pg_class \
            WHERE relnamespace = current_schema()::regnamespace AND relname IN ('run', 'launch', 'ledger'))";
        match query::<(bool, i64)>(self, tables, vec![])?[..] {
            [(false, 0)] => Ok(None),
            [(true, _)] => {
                let version = "SELECT max(version) FROM gritstone_schema";
                let found: Vec<(u32,)> = query(self, version, vec![])?;
                Ok(found.first().map(|(version,)| *version))
            }
            _ => Err(StoreError::Foreign(self.url.shown.clone()).into()),
        }
    }

    /// Applies what is missing, all or nothing. Another process may do the same at the same time.
    fn migrate(&self) -> Result<(), Fault> {
        whole(self, Purpose::Write, |_| {
            let done = self.found()?.unwrap_or(0) as usize;
            // functions look for tables where these are made, and for none that a session makes for itself
            self.batch("SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true)")?;
            for (text, number) in MIGRATIONS.iter().zip(1..).skip(done) {
                self.batch(text)?;
                self.batch(&format!("INSERT INTO gritstone_schema VALUES ({number})"))?;
            }
            Ok(())
        })
    }

    fn with<T>(
        &self,
        act: impl FnOnce(&mut Live) -> Result<T, ::postgres::Error>,
    ) -> Result<T, Fault> {
        let mut live = self.live.borrow_mut();
        let Some(open) = live.as_mut() else {
            return Err(
                StoreError::Away(self.url.shown.clone(), "not connected".to_owned()).into(),
            );
        };
        let done = act(open).map_err(Fault::from);
        if let Err(fault) = &done
            && (fault.is_away() || open.client.is_closed())
        {
            live.take();
            self.within.set(false);
        }
        done
    }

    /// Statements without parameters, in one journey.
    fn batch(&self, statements: &str) -> Result<(), Fault> {
        self.with(|live| live.client.batch_execute(statements))
    }

    fn rows(&self, statement: &str, of: Row) -> Result<Vec<Row>, Fault> {
        self.with(|live| {
            let prepared = live.prepared(statement)?;
            let of: Vec<Parameter> = of.into_iter().map(Parameter).collect();
            let rows = live.client.query(&prepared, &references(&of))?;
            rows.iter().map(values::values).collect()
        })
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let Some(live) = self.live.take() else {
            return;
        };
        if self.within.get() || live.client.is_closed() {
            return;
        }
        let left = Left {
            url: self.url.clone(),
            reads_only: self.reads_only,
            live,
            since: Instant::now(),
        };
        let mut all = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(left);
        if all.len() > MOST_LEFT {
            all.remove(0);
        }
    }
}

impl Live {
    fn prepared(&mut self, statement: &str) -> Result<Statement, ::postgres::Error> {
        if let Some(known) = self.known.get(statement) {
            return Ok(known.clone());
        }
        let prepared = self.client.prepare(statement)?;
        self.known.insert(statement.to_owned(), prepared.clone());
        Ok(prepared)
    }
}

fn references(of: &[Parameter]) -> Vec<&(dyn ToSql + Sync)> {
    of.iter()
        .map(|value| value as &(dyn ToSql + Sync))
        .collect()
}

/// The lock of a run.
fn lock_of(run: &str) -> i64 {
    let hash = Sha256::digest(run);
    let first = hash.first_chunk().copied().unwrap_or_default();
    i64::from_le_bytes(first)
}

impl Engine for Postgres {
    fn execute(&self, statement: &'static str, of: Row) -> Result<(), Fault> {
        self.with(|live| {
            let prepared = live.prepared(statement)?;
            let of: Vec<Parameter> = of.into_iter().map(Parameter).collect();
            live.client.execute(&prepared, &references(&of))
        })?;
        Ok(())
    }

    fn each(&self, statement: &'static str, of: Row, take: &mut Take) -> Result<(), Fault> {
        // a statement that fetches is known with its columns
        let mut hasher = DefaultHasher::new();
        statement.hash(&mut hasher);
        let name = format!("rows{}_{:x}", self.cursors.get(), hasher.finish());
        self.cursors.set(self.cursors.get() + 1);
        let read = || -> Result<(), Fault> {
            self.rows(
                &format!("DECLARE {name} NO SCROLL CURSOR FOR {statement}"),
                of,
            )?;
            loop {
                let rows = self.rows(&format!("FETCH {AT_ONCE} FROM {name}"), vec![])?;
                let last = rows.len() < AT_ONCE as usize;
                for row in rows {
                    if take(row)? == ControlFlow::Break(()) {
                        return Ok(());
                    }
                }
                if last {
                    return Ok(());
                }
            }
        };
        let done = read();
        self.cursors.set(self.cursors.get() - 1);
        done.and_then(|()| self.batch(&format!("CLOSE {name}")))
    }

    fn all(&self, statement: &'static str, of: Row) -> Result<Vec<Row>, Fault> {
        self.rows(statement, of)
    }

    fn begin(&self, purpose: Purpose) -> Result<(), Fault> {
        let patience = self.patience.get().as_millis().max(1);
        let write = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";
        let words = match purpose {
            Purpose::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY".to_owned(),
            Purpose::Write | Purpose::Launch(_) | Purpose::Cache if self.reads_only => {
                return Err(StoreError::ReadOnly(self.url.shown.clone()).into());
            }
            Purpose::Write => format!(
                "{write}; SET LOCAL lock_timeout = {patience}; SELECT pg_advisory_xact_lock({LOCK})"
            ),
            Purpose::Launch(run) => format!(
                "{write}; SET LOCAL lock_timeout = {patience}; SELECT pg_advisory_xact_lock_shared({LOCK}); \
                 SELECT pg_advisory_xact_lock({})",
                lock_of(run)
            ),
            Purpose::Cache => {
                format!("{write}; SET LOCAL lock_timeout = 50; SET LOCAL synchronous_commit = off")
            }
        };
        self.within.set(true);
        let begun = self.batch(&words);
        if begun.is_err() {
            let _ = self.end(false);
        }
        begun
    }

    fn end(&self, keep: bool) -> Result<(), Fault> {
        if !self.within.get() {
            return Ok(());
        }
        let ended = self.batch(if keep { "COMMIT" } else { "ROLLBACK" });
        if ended.is_ok() {
            self.within.set(false);
        }
        ended
    }

    fn wait_for(&self, patience: Duration) -> Result<(), Fault> {
        self.patience.set(patience);
        Ok(())
    }

    /// The disk is the server's, and what it writes disturbs no sample.
    fn reach_disk(&self, _: bool) -> Result<(), Fault> {
        Ok(())
    }

    fn version(&self) -> Result<u32, Fault> {
        Ok(self.found()?.unwrap_or(0))
    }

    /// The triggers that keep what is stored as it is.
    fn check(&self) -> Result<Vec<Fault>, Fault> {
        let statement = "SELECT tgname::text FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid \
            WHERE relnamespace = current_schema()::regnamespace AND NOT tgisinternal AND tgenabled IN ('O', 'A')";
        let found: Vec<(String,)> = query(self, statement, vec![])?;
        let version = self.version()? as usize;
        let lost = triggers(&MIGRATIONS[..version.min(MIGRATIONS.len())])
            .into_iter()
            .filter(|name| !found.iter().any(|(known,)| known == name));
        Ok(lost
            .map(|name| Fault::Damaged(format!("trigger {name} is missing or off")))
            .collect())
    }

    fn shrink(&self) -> Result<Shrunk, Fault> {
        Ok(Shrunk::Server)
    }

    /// Who else can write to a server is not known.
    fn belongs_to(&self, _: u32) -> bool {
        false
    }
}

/// The names of the triggers that migrations make and keep.
fn triggers(migrations: &[&'static str]) -> Vec<&'static str> {
    let mut names: Vec<&str> = vec![];
    for line in migrations.iter().flat_map(|text| text.lines()) {
        let name = |statement| line.strip_prefix(statement)?.split([' ', '(']).next();
        // a trigger goes with its function
        if let Some(dropped) = name("DROP FUNCTION ") {
            names.retain(|known| *known != dropped);
        }
        names.extend(name("CREATE TRIGGER "));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_triggers_are_not_checked() {
        let triggers = triggers(&MIGRATIONS);
        let times = |name| triggers.iter().filter(|known| **known == name).count();
        assert_eq!(times("run_is_not_removed"), 1);
        assert_eq!(times("launch_is_not_emptied"), 1);
        assert_eq!(MIGRATIONS.len(), schema::MIGRATIONS.len());
    }
}
