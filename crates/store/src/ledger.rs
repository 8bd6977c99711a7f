//! Runs by identifier, and the ledger: entries for what becomes of each run, chained.

use crate::engine::{Engine, Row, Value, insert, last_entry, query};
use crate::error::{Fault, StoreError};
use crate::row_codec::{self, row};
use crate::{row_hash, sql};
use gritstone_model::{Origin, RunInfo};

/// The entry of the ledger.
pub(crate) const PRUNE: &str = "prune";

/// Since when a run has no launches any more, and what has become of it since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pruned {
    /// When they were pruned, RFC 3339, UTC.
    pub at: String,
    /// By what its results were computed.
    pub analysis: String,
    /// The label that it was given, perhaps since.
    pub label: Option<String>,
}

/// A run, without what it measured.
pub(crate) struct Found {
    pub(crate) number: i64,
    pub(crate) origin: Origin,
    /// Of its head.
    pub(crate) seal: String,
    pub(crate) ended: bool,
}

/// The run of an identifier.
pub(crate) fn run(engine: &dyn Engine, id: &str) -> Result<Found, Fault> {
    let found = query(engine, sql::FIND_RUN, row![id.to_owned()])?.pop();
    let Some((number, origin, uid, machine, seal, ended)) = found else {
        return Err(StoreError::NoSuchRun(id.into()).into());
    };
    Ok(Found {
        number,
        origin: self::origin(origin, uid, machine)?,
        seal,
        ended,
    })
}

/// Whether there is a run of that identifier.
pub(crate) fn exists(engine: &dyn Engine, id: &str) -> Result<bool, Fault> {
    match run(engine, id) {
        Ok(_) => Ok(true),
        Err(Fault::Whole(StoreError::NoSuchRun(_))) => Ok(false),
        Err(fault) => Err(fault),
    }
}

/// What is none is damage, as any value of another type.
pub(crate) fn origin(
    word: String,
    uid: Option<u32>,
    machine: Option<String>,
) -> Result<Origin, Fault> {
    row_codec::read_origin(&word, uid, machine).map_err(Fault::Damaged)
}

/// That all runs, `most` at most, were found by an index, which may be damaged where the runs are not.
pub(crate) fn all_found(engine: &dyn Engine, found: u64, most: i64, by: &str) -> Result<(), Fault> {
    let (runs,) = query::<(i64,)>(engine, sql::COUNT_RUNS, vec![])?[0];
    if found == runs.min(most).unsigned_abs() {
        return Ok(());
    }
    Err(Fault::Damaged(format!(
        "{found} of its {runs} runs are found by their {by}"
    )))
}

/// That no run and no end is gone, as the ledger counts them: who reads many runs would not miss one.
pub(crate) fn complete(engine: &dyn Engine) -> Result<(), Fault> {
    let counts: Vec<(i64, i64)> = query(engine, sql::SELECT_COUNTS, vec![])?;
    let (rows, entries) = counts[0];
    if rows == entries {
        return Ok(());
    }
    let lost_run = query::<(i64,)>(engine, sql::SELECT_LOST_RUNS, vec![])?;
    let lost_end = query::<(String,)>(engine, sql::SELECT_LOST_ENDS, vec![])?;
    Err(Fault::Damaged(match (lost_run.first(), lost_end.first()) {
        (Some((number,)), _) => format!("run number {number} is missing"),
        (_, Some((id,))) => format!("the end of run {id} is missing"),
        _ => format!("its ledger has {entries} entries for {rows} starts and ends of runs"),
    }))
}

/// What the ledger has of a run whose launches were pruned.
pub(crate) struct Entry {
    /// The seal of the last launch.
    pub(crate) tip: String,
    /// That of the results that were kept.
    pub(crate) seal: String,
    pub(crate) at: String,
}

impl Entry {
    pub(crate) fn text(&self) -> String {
        format!("{} {} {}", self.tip, self.seal, self.at)
    }

    pub(crate) fn parse(text: &str) -> Result<Self, Fault> {
        match text.split(' ').collect::<Vec<_>>()[..] {
            [tip, seal, at] => Ok(Self {
                tip: tip.to_owned(),
                seal: seal.to_owned(),
                at: at.to_owned(),
            }),
            _ => Err(Fault::Damaged(format!(
                "'{text}' is no entry of pruned launches"
            ))),
        }
    }
}

/// The entry of a run, if its launches were pruned.
pub(crate) fn entry(engine: &dyn Engine, run: i64) -> Result<Option<Entry>, Fault> {
    let found: Vec<(String,)> = query(engine, sql::SELECT_SEALED, row![run, PRUNE.to_owned()])?;
    let found = found.first().map(|(sealed,)| Entry::parse(sealed));
    found.transpose()
}

/// Enters into the ledger what becomes of a run.
pub(crate) fn enter(engine: &dyn Engine, run: i64, entry: &str, sealed: &str) -> Result<(), Fault> {
    let (last, before) = last_entry(engine)?.unwrap_or_default();
    let row = row![last + 1, run, entry.to_owned(), sealed.to_owned()];
    let key = row![row_hash::of("entry", &before, [&row])];
    insert(engine, sql::INSERT_ENTRY, key, row)
}

/// Gives a run the label that it was given after its beginning, if it was.
pub(crate) fn relabel(engine: &dyn Engine, run: i64, info: &mut RunInfo) -> Result<(), Fault> {
    if let Some((label,)) = query(engine, sql::SELECT_LABEL, row![run])?.pop() {
        info.label = Some(label);
    }
    Ok(())
}

/// A stored row as the seal at its beginning, and the rest.
pub(crate) fn split(mut row: Row) -> Result<(String, Row), Fault> {
    let rest = row.split_off(1);
    match row.pop() {
        Some(Value::Text(seal)) => Ok((seal, rest)),
        other => Err(Fault::Damaged(format!(
            "{other:?} stands where a seal belongs"
        ))),
    }
}
