//! The ledger: a chained entry for the beginning, end, label, pruning and removal of each run.
//!
//! A removed run is replaced by the next one of its series: that takes over its accepted levels, and its identifier, by which events
//! are known.

use crate::engine::{Engine, IndexedTable, Row, Value, insert, last_entry, query};
use crate::error::{Fault, StoreError};
use crate::row_codec::{self, row};
use crate::{row_hash, sql};
use gritstone_model::{Origin, Peer, RunInfo, Settings};
use std::collections::BTreeSet;

/// Kind of the entry of a pruned run.
pub(crate) const PRUNE: &str = "prune";
/// Kind of the entry of an accepted level.
pub(crate) const ACCEPT: &str = "accept";
/// Kind of the entry of a run that stands for a removed one.
const REPLACE: &str = "replace";

/// A pruned run: when, and its changes since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pruned {
    /// RFC 3339, UTC.
    pub time: String,
    /// Analysis that computed its results.
    pub analysis: String,
    /// Current label.
    pub label: Option<String>,
}

/// A run without launches.
pub(crate) struct Found {
    pub(crate) number: i64,
    pub(crate) origin: Origin,
    /// Hash of its head.
    pub(crate) seal: String,
    pub(crate) ended: bool,
}

/// The run with an identifier.
pub(crate) fn run(engine: &dyn Engine, id: &str) -> Result<Found, Fault> {
    let found = query(engine, sql::FIND_RUN, row![id.to_owned()])?.pop();
    let Some((number, origin, uid, machine, seal, ended)) = found else {
        return Err(StoreError::NoSuchRun(id.into()).into());
    };
    Ok(Found { number, origin: self::origin(origin, uid, machine)?, seal, ended })
}

pub(crate) fn exists(engine: &dyn Engine, id: &str) -> Result<bool, Fault> {
    match run(engine, id) {
        Ok(_) => Ok(true),
        Err(Fault::Whole(StoreError::NoSuchRun(_))) => Ok(false),
        Err(fault) => Err(fault),
    }
}

/// An invalid value is damage, like a value of another type.
pub(crate) fn origin(
    word: String,
    uid: Option<u32>,
    machine: Option<String>,
) -> Result<Origin, Fault> {
    row_codec::read_origin(&word, uid, machine).map_err(Fault::Damaged)
}

/// Checks that an index returned all runs, at most `max`: the index may be damaged where the runs are not.
pub(crate) fn all_found(engine: &dyn Engine, found: u64, max: i64, by: &str) -> Result<(), Fault> {
    let (runs,) = query::<(i64,)>(engine, sql::COUNT_RUNS, vec![])?[0];
    if found == runs.min(max).unsigned_abs() {
        return Ok(());
    }
    Err(Fault::Damaged(format!("{found} of its {runs} runs are found by their {by}")))
}

/// Checks by the ledger that no run and no end is missing: readers of many runs would not notice.
pub(crate) fn complete(engine: &dyn Engine) -> Result<(), Fault> {
    engine.check_indices(&[IndexedTable::Run])?;
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

/// Ledger entry of a pruned run.
pub(crate) struct Entry {
    /// Hash of the last launch.
    pub(crate) tip: String,
    /// Hash of the results stored by pruning.
    pub(crate) seal: String,
    pub(crate) time: String,
}

impl Entry {
    pub(crate) fn text(&self) -> String {
        format!("{} {} {}", self.tip, self.seal, self.time)
    }

    pub(crate) fn parse(text: &str) -> Result<Self, Fault> {
        match text.split(' ').collect::<Vec<_>>()[..] {
            [tip, seal, time] => {
                Ok(Self { tip: tip.to_owned(), seal: seal.to_owned(), time: time.to_owned() })
            }
            _ => Err(Fault::Damaged(format!("'{text}' is not an entry about pruned launches"))),
        }
    }
}

/// The entry of a run, if it was pruned.
pub(crate) fn entry(engine: &dyn Engine, run: i64) -> Result<Option<Entry>, Fault> {
    let found: Vec<(String,)> = query(engine, sql::SELECT_SEALED, row![run, PRUNE.to_owned()])?;
    let found = found.first().map(|(sealed,)| Entry::parse(sealed));
    found.transpose()
}

/// Appends an entry.
pub(crate) fn enter(engine: &dyn Engine, run: i64, entry: &str, sealed: &str) -> Result<(), Fault> {
    let (last, before) = last_entry(engine)?.unwrap_or_default();
    let row = row![last + 1, run, entry.to_owned(), sealed.to_owned()];
    let key = row![row_hash::hash("entry", &before, [&row])];
    insert(engine, sql::INSERT_ENTRY, key, row)
}

/// Enters what later runs of the series take over from one that is removed: the next with the benchmark an accepted level, the next with a
/// benchmark of its events its identifier.
pub(crate) fn replace(engine: &dyn Engine, run: i64, id: &str) -> Result<(), Fault> {
    let entries = |kind: &str| -> Result<Vec<(String,)>, Fault> {
        query(engine, sql::SELECT_SEALED, row![run, kind.to_owned()])
    };
    for (benchmark,) in entries(ACCEPT)? {
        if let Some(next) = next_of_series(engine, run, &benchmark)? {
            enter(engine, next, ACCEPT, &benchmark)?;
        }
    }
    for (id,) in [(id.to_owned(),)].into_iter().chain(entries(REPLACE)?) {
        let benchmarks: Vec<(String,)> =
            query(engine, sql::SELECT_EVENT_BENCHMARKS, row![id.clone()])?;
        let benchmarks: Vec<String> = benchmarks.into_iter().map(|(ids,)| ids).collect();
        if let Some(next) = next_of_series(engine, run, &benchmarks.join(" "))? {
            enter(engine, next, REPLACE, &id)?;
        }
    }
    Ok(())
}

/// The next run with one of these benchmarks, else the next run at all, of those with the directory, tuning, parameters and peer of a run.
fn next_of_series(engine: &dyn Engine, run: i64, benchmarks: &str) -> Result<Option<i64>, Fault> {
    let later: Vec<(i64, String, String)> =
        query(engine, sql::SELECT_NEXT, row![run, benchmarks.to_owned()])?;
    let series = |settings: &str| {
        let settings: Settings = serde_json::from_str(settings).unwrap_or_default();
        let peer = settings.peer.as_ref().map(Peer::path);
        (settings.dir, settings.tuned, settings.params, peer)
    };
    let next = later.iter().find(|(_, settings, gone)| series(settings) == series(gone));
    Ok(next.map(|(number, ..)| *number))
}

/// Identifiers of removed runs, also of those that were stored again.
pub(crate) fn removed(engine: &dyn Engine) -> Result<BTreeSet<String>, Fault> {
    let entries: Vec<(String,)> = query(engine, sql::SELECT_REMOVED_IDS, vec![])?;
    let id = |(sealed,): (String,)| match sealed.split_once(' ') {
        Some((_, id)) => id.to_owned(),
        None => sealed,
    };
    Ok(entries.into_iter().map(id).collect())
}

/// Sets the current label of a run.
pub(crate) fn relabel(engine: &dyn Engine, run: i64, info: &mut RunInfo) -> Result<(), Fault> {
    if let Some((label,)) = query(engine, sql::SELECT_LABEL, row![run])?.pop() {
        info.label = Some(label);
    }
    Ok(())
}

/// Splits a stored row into its hash and its values.
pub(crate) fn split(mut row: Row) -> Result<(String, Row), Fault> {
    let rest = row.split_off(1);
    match row.pop() {
        Some(Value::Text(seal)) => Ok((seal, rest)),
        other => Err(Fault::Damaged(format!("{other:?} is not a seal"))),
    }
}
