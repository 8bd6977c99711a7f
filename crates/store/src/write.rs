//! Writes runs, within a transaction.

use crate::engine::{Engine, Purpose, Row, insert, query, transaction};
use crate::error::{Fault, StoreError};
use crate::ledger::{self, enter};
use crate::row_codec::{self, row};
use crate::{row_hash, run_name, sql};
use gritstone_model::{Launch, Origin, RunData};

/// Stores a run, ended or not.
pub(crate) fn store(engine: &dyn Engine, data: &RunData, origin: &Origin) -> Result<(), Fault> {
    let mut run = Open::begin(engine, data, origin)?;
    for launch in &data.launches {
        run.launch(launch)?;
    }
    data.info.elapsed_s.map_or(Ok(()), |s| run.end(s))
}

/// In a transaction of its own.
pub(crate) fn append(engine: &dyn Engine, id: &str, launch: &Launch) -> Result<(), Fault> {
    transaction(engine, Purpose::Write, |engine| Open::find(engine, id)?.launch(launch))
}

pub(crate) fn finish(engine: &dyn Engine, id: &str, elapsed_s: f64) -> Result<(), Fault> {
    Open::find(engine, id)?.end(elapsed_s)
}

/// A run that accepts launches.
struct Open<'a> {
    engine: &'a dyn Engine,
    number: i64,
    launches: i64,
    /// Hash of its last launch, else of its head.
    seal: String,
}

impl<'a> Open<'a> {
    fn begin(engine: &'a dyn Engine, data: &RunData, origin: &Origin) -> Result<Self, Fault> {
        let info = &data.info;
        run_name::check(&info.id, info.label.as_deref(), &info.started)?;
        if ledger::exists(engine, &info.id)? {
            return Err(StoreError::Exists(info.id.clone()).into());
        }
        let parts = parts(data)?;
        let number = query::<(i64,)>(engine, sql::NEXT_RUN, vec![])?[0].0;
        let head = row_codec::run(number, info, origin)?;
        let run = Self { engine, number, launches: 0, seal: seal(&head, &parts) };
        insert(engine, sql::INSERT_RUN, row![run.seal.clone()], head)?;
        for (statement, rows) in parts {
            for row in rows {
                insert(engine, statement, row![number], row)?;
            }
        }
        run.enter("begin")?;
        Ok(run)
    }

    /// A run that began here and has not ended.
    fn find(engine: &'a dyn Engine, id: &str) -> Result<Self, Fault> {
        let found = ledger::run(engine, id)?;
        if found.origin == Origin::Imported {
            return Err(StoreError::Imported(id.into()).into());
        }
        if found.ended {
            return Err(StoreError::Ended(id.into()).into());
        }
        let last: Option<(i64, String)> =
            query(engine, sql::LAST_LAUNCH, row![found.number])?.pop();
        let (launches, seal) = last.map_or((0, found.seal), |(last, seal)| (last + 1, seal));
        Ok(Self { engine, number: found.number, launches, seal })
    }

    fn launch(&mut self, launch: &Launch) -> Result<(), Fault> {
        let row = row_codec::launch(self.launches, launch)?;
        self.seal = row_hash::hash("launch", &self.seal, [&row]);
        let key = row![self.number, self.seal.clone()];
        insert(self.engine, sql::INSERT_LAUNCH, key, row)?;
        self.launches += 1;
        Ok(())
    }

    fn end(mut self, elapsed_s: f64) -> Result<(), Fault> {
        // SQLite stores -0.0 as 0.0, which has another hash
        if !(elapsed_s.is_finite() && elapsed_s.is_sign_positive()) {
            return Err(Fault::unfit(format!("{elapsed_s} s is not a duration of a run")));
        }
        let row = row![self.number, elapsed_s, self.launches];
        self.seal = row_hash::hash("end", &self.seal, [&row]);
        insert(self.engine, sql::INSERT_END, row![self.seal.clone()], row)?;
        self.enter("end")
    }

    /// Adds beginning or end to the ledger.
    fn enter(&self, entry: &str) -> Result<(), Fault> {
        enter(self.engine, self.number, entry, &self.seal)
    }
}

pub(crate) fn label(engine: &dyn Engine, id: &str, label: &str) -> Result<(), Fault> {
    gritstone_model::check_label(label).map_err(Fault::unfit)?;
    let run = ledger::run(engine, id)?.number;
    enter(engine, run, "label", label)?;
    // cached views contain the old label
    engine.execute(sql::FORGET, row![run])
}

/// Removes a whole run, with a ledger entry.
pub(crate) fn remove(engine: &dyn Engine, id: &str) -> Result<(), Fault> {
    let found = ledger::run(engine, id)?;
    let last_seal: Vec<(String, i64)> = query(engine, sql::SELECT_TIP, row![found.number])?;
    let last_seal = last_seal.into_iter().next().map_or(found.seal, |(seal, _)| seal);
    let removed = format!("{last_seal} {id}");
    enter(engine, found.number, "remove", &removed)?;
    ledger::replace(engine, found.number, id)?;
    for statement in [
        sql::FORGET,
        sql::REMOVE_KEPT,
        sql::REMOVE_LAUNCHES,
        sql::REMOVE_SKIPS,
        sql::REMOVE_PROGRAMS,
        sql::REMOVE_BENCHMARKS,
        sql::REMOVE_END,
        sql::REMOVE_RUN,
    ] {
        engine.execute(statement, row![found.number])?;
    }
    Ok(())
}

/// Rows sealed together with the head, by insert statement.
type Parts = [(&'static str, Vec<Row>); 3];

fn parts(data: &RunData) -> Result<Parts, StoreError> {
    let benchmarks = (0..).zip(&data.benchmarks);
    let benchmarks = benchmarks.map(|(position, entry)| row_codec::benchmark(position, entry));
    let programs = data.programs.iter();
    let skips = (0..).zip(&data.skips);
    let skips = skips.map(|(position, skip)| row_codec::skip(position, skip));
    Ok([
        (sql::INSERT_BENCHMARK, benchmarks.collect::<Result<_, _>>()?),
        (sql::INSERT_PROGRAM, programs.map(|(id, p)| row_codec::program(id, p)).collect()),
        (sql::INSERT_SKIP, skips.collect::<Result<_, _>>()?),
    ])
}

fn seal(head: &Row, parts: &Parts) -> String {
    let parts = parts.iter().flat_map(|(_, rows)| rows);
    row_hash::hash("run", "", [head].into_iter().chain(parts))
}

/// Whether this run was removed, by its identifier. Older entries have the hash of its head alone, of an imported run with its label at
/// that time.
pub(crate) fn was_removed(engine: &dyn Engine, data: &RunData) -> Result<bool, Fault> {
    if ledger::removed(engine)?.contains(&data.info.id) {
        return Ok(true);
    }
    let removed: Vec<(i64, String)> = query(engine, sql::SELECT_UNNAMED_REMOVED, vec![])?;
    if removed.is_empty() {
        return Ok(false);
    }
    let parts = parts(data)?;
    let mut info = data.info.clone();
    let labels = [None, info.label.take()];
    for (number, sealed) in removed {
        for label in &labels {
            info.label.clone_from(label);
            let head = row_codec::run(number, &info, &Origin::Imported)?;
            if seal(&head, &parts) == sealed {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
