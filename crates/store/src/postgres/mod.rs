//! A store on a PostgreSQL server.
//!
//! A transaction that writes runs holds an advisory lock, which needs no privilege.

mod tls;
mod url;
mod values;

use crate::engine::{Engine, Purpose, Row, Shrunk, Take, query, transaction};
use crate::error::{Fault, StoreError};
use crate::schema;
use ::postgres::types::ToSql;
use ::postgres::{Client, Statement};
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

/// Key of our advisory lock: `GRS2`.
const LOCK: i64 = 0x4752_5332;
/// Migrations in order; the first has number 1. Released migrations never change.
const MIGRATIONS: [&str; 7] = [
    include_str!("../../schema/postgres/0001.sql"),
    include_str!("../../schema/postgres/0002.sql"),
    include_str!("../../schema/postgres/0003.sql"),
    include_str!("../../schema/postgres/0004.sql"),
    include_str!("../../schema/postgres/0005.sql"),
    include_str!("../../schema/postgres/0006.sql"),
    include_str!("../../schema/postgres/0007.sql"),
];
/// Rows per fetch of a cursor.
const FETCH_SIZE: u32 = 200;
/// Timeout of idle transactions: they take milliseconds, so a client that holds a lock longer is lost.
const IDLE_IN_TRANSACTION_TIMEOUT: &str = "30s";
/// Idle connections are closed after this time.
const IDLE: Duration = Duration::from_secs(60);

/// A connection with its prepared statements.
struct Connection {
    client: Client,
    known: HashMap<String, Statement>,
}

struct IdleConnection {
    url: Url,
    reads_only: bool,
    connection: Connection,
    since: Instant,
}

/// Idle connections by store: each page of the server opens the store anew.
static IDLE_CONNECTIONS: Mutex<Vec<IdleConnection>> = Mutex::new(vec![]);
const MAX_IDLE_CONNECTIONS: usize = 8;

/// A store on a server, connected on demand.
pub(crate) struct Postgres {
    url: Url,
    reads_only: bool,
    connection: RefCell<Option<Connection>>,
    patience: Cell<Duration>,
    /// A transaction is open.
    within: Cell<bool>,
    /// Number of open cursors.
    cursors: Cell<u32>,
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Postgres({})", self.url.shown.display())
    }
}

impl Postgres {
    /// The store of a URL, not yet connected.
    pub(crate) fn new(url: &str, reads_only: bool, patience: Duration) -> Result<Self, StoreError> {
        Ok(Self {
            url: Url::parse(url, |name| std::env::var_os(name))?,
            reads_only,
            connection: RefCell::new(None),
            patience: Cell::new(patience),
            within: Cell::new(false),
            cursors: Cell::new(0),
        })
    }

    pub(crate) fn shown(&self) -> &Path {
        &self.url.shown
    }

    /// Connects if needed; a writer migrates the schema.
    pub(crate) fn connect(&self) -> Result<(), StoreError> {
        if self.connection.borrow().is_some() {
            return Ok(());
        }
        let connected = self.take_idle().map_or_else(|| self.connect_anew(), Ok);
        connected.map_err(|fault| {
            self.connection.take();
            fault.at(&self.url.shown)
        })
    }

    /// Takes an idle connection to the same store, if it still works.
    fn take_idle(&self) -> Option<()> {
        let mut all = IDLE_CONNECTIONS.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |idle: &IdleConnection| {
            idle.url.whole == self.url.whole && idle.reads_only == self.reads_only
        };
        let idle = all.iter().rposition(fits).map(|index| all.swap_remove(index));
        drop(all);
        let idle = idle.filter(|idle| idle.since.elapsed() < IDLE)?;
        self.connection.replace(Some(idle.connection));
        // the connection may be broken, and the schema may have been migrated
        let ready = self.ready();
        if ready.is_err() {
            self.connection.take();
        }
        ready.ok()
    }

    fn connect_anew(&self) -> Result<(), Fault> {
        let client = match &self.url.trusted {
            None => self.url.config.connect(::postgres::NoTls),
            Some(file) => self.url.config.connect(tls::connector(file)?),
        };
        let connection = Connection { client: client.map_err(Fault::from)?, known: HashMap::new() };
        self.connection.replace(Some(connection));
        self.batch(&format!(
            "SET idle_in_transaction_session_timeout = '{IDLE_IN_TRANSACTION_TIMEOUT}'; SET client_min_messages = warning; SET jit = off"
        ))?;
        if self.reads_only {
            self.batch("SET default_transaction_read_only = on")?;
        }
        self.ready()
    }

    /// Migrates the schema, or says why that is impossible.
    fn ready(&self) -> Result<(), Fault> {
        match self.schema_version()? {
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

    /// Schema version; `None` without our schema.
    fn schema_version(&self) -> Result<Option<u32>, Fault> {
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

    /// Applies missing migrations in one transaction, possibly concurrently with another process.
    fn migrate(&self) -> Result<(), Fault> {
        transaction(self, Purpose::Write, |_| {
            let done = self.schema_version()?.unwrap_or(0) as usize;
            // functions resolve tables in the schema in which they were created, not in temporary ones
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
        act: impl FnOnce(&mut Connection) -> Result<T, ::postgres::Error>,
    ) -> Result<T, Fault> {
        let mut connection = self.connection.borrow_mut();
        let Some(open) = connection.as_mut() else {
            return Err(StoreError::Away(self.url.shown.clone(), "not connected".to_owned()).into());
        };
        let done = act(open).map_err(Fault::from);
        if let Err(fault) = &done
            && (fault.is_away() || open.client.is_closed())
        {
            connection.take();
            self.within.set(false);
        }
        done
    }

    /// Statements without parameters, in one round trip.
    fn batch(&self, statements: &str) -> Result<(), Fault> {
        self.with(|connection| connection.client.batch_execute(statements))
    }

    fn rows(&self, statement: &str, parameters: Row) -> Result<Vec<Row>, Fault> {
        self.with(|connection| {
            let prepared = connection.prepared(statement)?;
            let parameters: Vec<Parameter> = parameters.into_iter().map(Parameter).collect();
            let parameters: Vec<&(dyn ToSql + Sync)> =
                parameters.iter().map(|value| value as &(dyn ToSql + Sync)).collect();
            let rows = connection.client.query(&prepared, &parameters)?;
            rows.iter().map(values::values).collect()
        })
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else {
            return;
        };
        if self.within.get() || connection.client.is_closed() {
            return;
        }
        let idle = IdleConnection {
            url: self.url.clone(),
            reads_only: self.reads_only,
            connection,
            since: Instant::now(),
        };
        let mut all = IDLE_CONNECTIONS.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(idle);
        if all.len() > MAX_IDLE_CONNECTIONS {
            all.remove(0);
        }
    }
}

impl Connection {
    fn prepared(&mut self, statement: &str) -> Result<Statement, ::postgres::Error> {
        if let Some(known) = self.known.get(statement) {
            return Ok(known.clone());
        }
        let prepared = self.client.prepare(statement)?;
        self.known.insert(statement.to_owned(), prepared.clone());
        Ok(prepared)
    }
}

impl Engine for Postgres {
    fn execute(&self, statement: &'static str, parameters: Row) -> Result<(), Fault> {
        self.rows(statement, parameters).map(drop)
    }

    fn each(&self, statement: &'static str, parameters: Row, take: &mut Take) -> Result<(), Fault> {
        // a cursor is prepared with its columns
        let mut hasher = DefaultHasher::new();
        statement.hash(&mut hasher);
        let name = format!("rows{}_{:x}", self.cursors.get(), hasher.finish());
        self.cursors.set(self.cursors.get() + 1);
        let read = || -> Result<(), Fault> {
            self.rows(&format!("DECLARE {name} NO SCROLL CURSOR FOR {statement}"), parameters)?;
            loop {
                let rows = self.rows(&format!("FETCH {FETCH_SIZE} FROM {name}"), vec![])?;
                let last = rows.len() < FETCH_SIZE as usize;
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

    fn all(&self, statement: &'static str, parameters: Row) -> Result<Vec<Row>, Fault> {
        self.rows(statement, parameters)
    }

    fn begin(&self, purpose: Purpose) -> Result<(), Fault> {
        let patience = self.patience.get().as_millis().max(1);
        let write = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";
        let words = match purpose {
            Purpose::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY".to_owned(),
            Purpose::Write | Purpose::Cache if self.reads_only => {
                return Err(StoreError::ReadOnly(self.url.shown.clone()).into());
            }
            Purpose::Write => format!(
                "{write}; SET LOCAL lock_timeout = {patience}; SELECT pg_advisory_xact_lock({LOCK})"
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

    /// The server's disk is not ours, and its writes disturb no sample.
    fn reach_disk(&self, _: bool) -> Result<(), Fault> {
        Ok(())
    }

    fn last_launch(&self) -> Result<i64, Fault> {
        Ok(0)
    }

    fn version(&self) -> Result<u32, Fault> {
        Ok(self.schema_version()?.unwrap_or(0))
    }

    /// Checks the triggers that make stored rows immutable.
    fn check(&self) -> Result<Vec<Fault>, Fault> {
        let statement = "SELECT tgname::text FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid \
            WHERE relnamespace = current_schema()::regnamespace AND NOT tgisinternal AND tgenabled IN ('O', 'A')";
        let found: Vec<(String,)> = query(self, statement, vec![])?;
        let version = self.version()? as usize;
        let lost = triggers(&MIGRATIONS[..version.min(MIGRATIONS.len())])
            .into_iter()
            .filter(|name| !found.iter().any(|(known,)| known == name));
        Ok(lost.map(|name| Fault::Damaged(format!("trigger {name} is missing or off"))).collect())
    }

    fn shrink(&self) -> Result<Shrunk, Fault> {
        Ok(Shrunk::Server)
    }

    /// Other writers of a server are unknown.
    fn belongs_to(&self, _: u32) -> bool {
        false
    }
}

/// Names of the triggers that the migrations leave.
fn triggers(migrations: &[&'static str]) -> Vec<&'static str> {
    let mut names: Vec<&str> = vec![];
    for line in migrations.iter().flat_map(|text| text.lines()) {
        let name = |statement| line.strip_prefix(statement)?.split([' ', '(']).next();
        // dropping a function drops its triggers
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
