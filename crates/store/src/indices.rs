//! Whether the indices of SQLite find all rows of their tables: damage of an index would hide runs without an error.
//!
//! The rows of `run` are few, and each is looked up. Of the other tables, whose rows are kilobytes, indices are compared with each other:
//! the numbers of their rows, and the least and the greatest row of each key with the table.

use crate::engine::IndexedTable;
use crate::error::Fault;
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// Rows of `run` that an index does not find.
const LOST_RUNS: &str = "SELECT number FROM run AS one NOT INDEXED WHERE \
    NOT EXISTS (SELECT 1 FROM run AS other INDEXED BY sqlite_autoindex_run_1 WHERE other.id = one.id AND other.rowid = one.rowid) \
    OR NOT EXISTS (SELECT 1 FROM run AS other INDEXED BY run_in_time WHERE substr(other.started, 1, 19) = substr(one.started, 1, 19) \
        AND other.number = one.number AND other.id = one.id AND other.label IS one.label) \
    OR NOT EXISTS (SELECT 1 FROM run AS other INDEXED BY run_of_machine WHERE other.machine_id = one.machine_id \
        AND substr(other.started, 1, 19) = substr(one.started, 1, 19) AND other.number = one.number AND other.id = one.id)";

/// Number of rows in `run`, and in each of its indices: without a condition, SQLite counts by the one that it prefers.
const RUN_COUNTS: &str = "SELECT (SELECT count(*) FROM run NOT INDEXED WHERE number >= 0), \
    (SELECT count(*) FROM run INDEXED BY sqlite_autoindex_run_1 WHERE id >= ''), \
    (SELECT count(*) FROM run INDEXED BY run_in_time WHERE substr(started, 1, 19) >= ''), \
    (SELECT count(*) FROM run INDEXED BY run_of_machine WHERE machine_id >= '')";

/// A table with a key of its own: number of rows and sums of their numbers and runs, the same by key, the key of a row.
struct Keyed {
    name: &'static str,
    sums: &'static str,
    keys: &'static str,
    key: &'static str,
}

const BENCHMARK: Keyed = Keyed {
    name: "benchmarks",
    sums: "SELECT count(*), sum(rowid), sum(run) FROM benchmark INDEXED BY sqlite_autoindex_benchmark_1",
    keys: "SELECT id, count(*), sum(rowid), sum(run), min(rowid), max(rowid) FROM benchmark INDEXED BY benchmark_of_runs GROUP BY id",
    key: "SELECT id FROM benchmark WHERE rowid = ?",
};

const CACHED_RESULT: Keyed = Keyed {
    name: "cached results",
    sums: "SELECT count(*), sum(rowid), sum(run) FROM cached_result INDEXED BY sqlite_autoindex_cached_result_1",
    keys: "SELECT benchmark, count(*), sum(rowid), sum(run), min(rowid), max(rowid) \
        FROM cached_result INDEXED BY cached_result_of_benchmark GROUP BY benchmark",
    key: "SELECT benchmark FROM cached_result WHERE rowid = ?",
};

/// Inode, size and time of change of a database and its log.
type Stamp = [Option<(u64, u64, SystemTime)>; 2];

/// Tables with checked indices by database of this process, as its files were then.
static CHECKED: Mutex<BTreeMap<PathBuf, (Stamp, BTreeSet<IndexedTable>)>> =
    Mutex::new(BTreeMap::new());

/// Files that changed later are checked again, since their next change may have the same time.
const SETTLED: Duration = Duration::from_secs(1);

/// The files as they are; `None` if they may change without another stamp.
fn stamp(path: &Path) -> Option<Stamp> {
    let log = PathBuf::from(format!("{}-wal", path.display()));
    let stamp = [path, &log].map(|file| {
        let found = fs::metadata(file).ok()?;
        Some((found.ino(), found.size(), found.modified().ok()?))
    });
    let is_settled = |changed: SystemTime| changed.elapsed().is_ok_and(|elapsed| elapsed > SETTLED);
    stamp[0]?;
    stamp.iter().flatten().all(|(_, _, changed)| is_settled(*changed)).then_some(stamp)
}

/// Checks the indices of a table, once until a file of the database changes.
pub(crate) fn check(
    connection: &Connection,
    path: &Path,
    table: IndexedTable,
) -> Result<(), Fault> {
    let stamp = stamp(path);
    let mut checked = CHECKED.lock().unwrap_or_else(PoisonError::into_inner);
    let known = checked.get(path).filter(|(then, _)| Some(then) == stamp.as_ref());
    if known.is_some_and(|(_, tables)| tables.contains(&table)) {
        return Ok(());
    }
    drop(checked);
    check_now(connection, table)?;
    if let Some(stamp) = stamp {
        checked = CHECKED.lock().unwrap_or_else(PoisonError::into_inner);
        let known = checked.entry(path.to_owned()).or_insert_with(|| (stamp, BTreeSet::new()));
        if known.0 != stamp {
            *known = (stamp, BTreeSet::new());
        }
        known.1.insert(table);
    }
    Ok(())
}

fn check_now(connection: &Connection, table: IndexedTable) -> Result<(), Fault> {
    match table {
        IndexedTable::Run => runs(connection),
        IndexedTable::Benchmark => BENCHMARK.check(connection),
        IndexedTable::CachedResult => CACHED_RESULT.check(connection),
    }
}

fn runs(connection: &Connection) -> Result<(), Fault> {
    let counts: [i64; 4] = connection.query_row(RUN_COUNTS, [], |row| {
        Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?])
    })?;
    if counts.iter().any(|count| *count != counts[0]) {
        let [all, by_id, by_time, by_machine] = counts;
        return Err(Fault::Damaged(format!(
            "of its {all} runs, {by_id} are found by their identifiers, {by_time} by their time, and {by_machine} by their machine"
        )));
    }
    let mut lost = connection.prepare(LOST_RUNS)?;
    if let Some(row) = lost.query([])?.next()? {
        let number: i64 = row.get(0)?;
        return Err(Fault::Damaged(format!("an index does not find run number {number}")));
    }
    Ok(())
}

impl Keyed {
    fn check(&self, connection: &Connection) -> Result<(), Fault> {
        let differ =
            || Fault::Damaged(format!("the indices of its {} differ from each other", self.name));
        let sums = connection.query_row(self.sums, [], |row| {
            Ok([row.get(0)?, row.get::<_, Option<i64>>(1)?, row.get::<_, Option<i64>>(2)?])
        })?;
        let mut by_key = [Some(0_i64); 3];
        let mut keys = connection.prepare(self.keys)?;
        let mut rows = keys.query([])?;
        while let Some(row) = rows.next()? {
            for (column, sum) in (1..).zip(&mut by_key) {
                *sum = sum.and_then(|sum| sum.checked_add(row.get(column).ok()?));
            }
            let key: String = row.get(0)?;
            for column in [4, 5] {
                let number: i64 = row.get(column)?;
                let right: String =
                    connection.prepare_cached(self.key)?.query_row([number], |row| row.get(0))?;
                if right != key {
                    return Err(differ());
                }
            }
        }
        match sums.map(|sum| sum.unwrap_or(0)) == by_key.map(|sum| sum.unwrap_or(-1)) {
            true => Ok(()),
            false => Err(differ()),
        }
    }
}
