//! Stores runs: every function is one transaction, so that what it stores is there whole or not at all.

use crate::error::{Fault, StoreError};
use crate::read::query;
use crate::rows::{self, Row, row};
use crate::{find, name, seal, sql};
use gritstone_model::{Launch, Origin, RunData};
use rusqlite::{Connection, params_from_iter};

/// Begins a run that has no end yet, or stores a whole one.
pub(crate) fn store(connection: &Connection, data: &RunData, origin: &Origin) -> Result<(), Fault> {
    whole(connection, |connection| store_in(connection, data, origin))
}

/// The same within a transaction.
pub(crate) fn store_in(
    connection: &Connection,
    data: &RunData,
    origin: &Origin,
) -> Result<(), Fault> {
    let mut run = Open::begin(connection, data, origin)?;
    for launch in &data.launches {
        run.launch(launch)?;
    }
    data.info.elapsed_s.map_or(Ok(()), |s| run.end(s))
}

/// Stores a launch with its events.
pub(crate) fn append(connection: &Connection, id: &str, launch: &Launch) -> Result<(), Fault> {
    whole(connection, |connection| {
        Open::find(connection, id)?.launch(launch)
    })
}

/// Ends a run.
pub(crate) fn finish(connection: &Connection, id: &str, elapsed_s: f64) -> Result<(), Fault> {
    whole(connection, |connection| {
        Open::find(connection, id)?.end(elapsed_s)
    })
}

/// A transaction that has the right to write from its first statement on: one that asks for it later, after it has
/// read, is refused at once where another writer was faster. Its words are kept as statements, which those of the library are not:
/// to read them for each of thousands of launches was a fifth of the work.
pub(crate) fn whole<T>(
    connection: &Connection,
    store: impl FnOnce(&Connection) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let say = |words| connection.prepare_cached(words)?.execute([]);
    say("BEGIN IMMEDIATE")?;
    let stored = store(connection).and_then(|done| {
        say("COMMIT")?;
        Ok(done)
    });
    if stored.is_err() && !connection.is_autocommit() {
        // why it was not stored is what matters
        let _ = say("ROLLBACK");
    }
    stored
}

/// A run that takes launches, as far as it has come.
struct Open<'a> {
    connection: &'a Connection,
    number: i64,
    launches: i64,
    /// Of its last launch, or of its head where there is none.
    seal: String,
}

impl<'a> Open<'a> {
    fn begin(connection: &'a Connection, data: &RunData, origin: &Origin) -> Result<Self, Fault> {
        let info = &data.info;
        name::check(&info.id, info.label.as_deref(), &info.started)?;
        if find::exists(connection, &info.id)? {
            return Err(StoreError::Exists(info.id.clone()).into());
        }
        let benchmarks = (0..).zip(&data.benchmarks);
        let benchmarks = benchmarks.map(|(position, entry)| rows::benchmark(position, entry));
        let programs = data.programs.iter();
        let skips = (0..).zip(&data.skips);
        let skips = skips.map(|(position, skip)| rows::skip(position, skip));
        let parts: [(&str, Vec<Row>); 3] = [
            (sql::INSERT_BENCHMARK, benchmarks.collect::<Result<_, _>>()?),
            (
                sql::INSERT_PROGRAM,
                programs.map(|(id, p)| rows::program(id, p)).collect(),
            ),
            (sql::INSERT_SKIP, skips.collect::<Result<_, _>>()?),
        ];
        let number = query::<(i64,)>(connection, sql::NEXT_RUN, [])?[0].0;
        let head = rows::run(number, info, origin)?;
        let all = [&head]
            .into_iter()
            .chain(parts.iter().flat_map(|(_, of)| of));
        let run = Self {
            connection,
            number,
            launches: 0,
            seal: seal::of("run", "", all),
        };
        insert(connection, sql::INSERT_RUN, row![run.seal.clone()], head)?;
        for (statement, rows) in parts {
            for row in rows {
                insert(connection, statement, row![number], row)?;
            }
        }
        run.enter("begin")?;
        Ok(run)
    }

    /// A run that began here and has not ended.
    fn find(connection: &'a Connection, id: &str) -> Result<Self, Fault> {
        let found = find::run(connection, id)?;
        if found.origin == Origin::Imported {
            return Err(StoreError::Imported(id.into()).into());
        }
        if found.ended {
            return Err(StoreError::Ended(id.into()).into());
        }
        let last: Option<(i64, String)> =
            query(connection, sql::LAST_LAUNCH, [found.number])?.pop();
        let (launches, seal) = last.map_or((0, found.seal), |(last, seal)| (last + 1, seal));
        Ok(Self {
            connection,
            number: found.number,
            launches,
            seal,
        })
    }

    fn launch(&mut self, launch: &Launch) -> Result<(), Fault> {
        let row = rows::launch(self.launches, launch)?;
        self.seal = seal::of("launch", &self.seal, [&row]);
        let key = row![self.number, self.seal.clone()];
        insert(self.connection, sql::INSERT_LAUNCH, key, row)?;
        self.launches += 1;
        Ok(())
    }

    fn end(mut self, elapsed_s: f64) -> Result<(), Fault> {
        if !(elapsed_s.is_finite() && elapsed_s >= 0.0) {
            return Err(Fault::unfit(format!(
                "{elapsed_s} s is not a duration of a run"
            )));
        }
        let row = row![self.number, elapsed_s, self.launches];
        self.seal = seal::of("end", &self.seal, [&row]);
        insert(
            self.connection,
            sql::INSERT_END,
            row![self.seal.clone()],
            row,
        )?;
        self.enter("end")
    }

    /// Enters its beginning or its end into the ledger.
    fn enter(&self, entry: &str) -> Result<(), Fault> {
        enter(self.connection, self.number, entry, &self.seal)
    }
}

/// Enters into the ledger what becomes of a run.
pub(crate) fn enter(
    connection: &Connection,
    run: i64,
    entry: &str,
    sealed: &str,
) -> Result<(), Fault> {
    let last: Option<(i64, String)> = query(connection, sql::LAST_ENTRY, [])?.pop();
    let (last, before) = last.unwrap_or_default();
    let row = row![last + 1, run, entry.to_owned(), sealed.to_owned()];
    let key = row![seal::of("entry", &before, [&row])];
    Ok(insert(connection, sql::INSERT_ENTRY, key, row)?)
}

/// Labels a run from now on.
pub(crate) fn label(connection: &Connection, id: &str, label: &str) -> Result<(), Fault> {
    name::check_label(label)?;
    whole(connection, |connection| {
        let run = find::run(connection, id)?.number;
        enter(connection, run, "label", label)?;
        // what is said of it there has the label that it had
        connection.prepare_cached(sql::FORGET)?.execute([run])?;
        Ok(())
    })
}

/// Removes a run whole, with an entry in the ledger that says so.
pub(crate) fn remove(connection: &Connection, id: &str) -> Result<(), Fault> {
    whole(connection, |connection| remove_in(connection, id))
}

/// The same within a transaction.
pub(crate) fn remove_in(connection: &Connection, id: &str) -> Result<(), Fault> {
    let found = find::run(connection, id)?;
    let tip: Vec<(String, i64)> = query(connection, sql::SELECT_TIP, [found.number])?;
    let tip = tip.into_iter().next().map_or(found.seal, |(seal, _)| seal);
    enter(connection, found.number, "remove", &tip)?;
    for statement in [
        sql::FORGET,
        sql::REMOVE_LAUNCHES,
        sql::REMOVE_SKIPS,
        sql::REMOVE_PROGRAMS,
        sql::REMOVE_BENCHMARKS,
        sql::REMOVE_END,
        sql::REMOVE_RUN,
    ] {
        connection
            .prepare_cached(statement)?
            .execute([found.number])?;
    }
    Ok(())
}

pub(crate) fn insert(
    connection: &Connection,
    statement: &str,
    key: Row,
    row: Row,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(statement)?
        .execute(params_from_iter(key.into_iter().chain(row)))
        .map(drop)
}
