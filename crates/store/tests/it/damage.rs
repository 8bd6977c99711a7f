//! Damaged and foreign files: no crash, no wrong result, always advice.

use crate::common;
use crate::fuzz::{lists, with_cached};
use gritstone_store::{Store, StoreError};
use rusqlite::Connection;
use std::fs;
use std::path::Path;

/// Both ways of opening report this error on a file, and leave it alone.
fn refused(path: &Path, kind: &str, message: &str) {
    let before = fs::read(path).unwrap();
    for opened in [Store::open(path), Store::open_read_only(path)] {
        let error = opened.unwrap_err();
        assert!(format!("{error:?}").starts_with(kind), "{error:?}");
        let error = error.to_string();
        assert!(error.starts_with(&path.display().to_string()), "{error}");
        assert!(error.contains(message), "{error}");
    }
    assert_eq!(fs::read(path).unwrap(), before);
}

#[test]
fn foreign_files_are_refused() {
    let (_folder, path) = common::place();
    fs::write(&path, b"25,000 system calls: 12.5 s\n".repeat(300)).unwrap();
    refused(&path, "NotADatabase", "is not a database. Move it away");
    fs::remove_file(&path).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE run (id)").unwrap();
    drop(other);
    refused(&path, "Foreign", "another program");

    let (_folder, path, store) = common::with(&[common::run(1, 1)]);
    drop(store);
    let set = |pragma: &str, value: u32| {
        let other = Connection::open(&path).unwrap();
        other.pragma_update(None, pragma, value).unwrap();
    };
    set("user_version", 99);
    refused(&path, "Newer", "Use the newer Gritstone");
    set("application_id", 0x4752_4954);
    refused(&path, "Before", "gritstone export RUN --output");
}

/// A view instead of a table occupies its reader forever; triggers could act on writes.
#[test]
fn foreign_schemas_are_refused_unread() {
    for (change, object) in [
        (
            "DROP TABLE launch; CREATE VIEW launch AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT x FROM r",
            "view 'launch'",
        ),
        ("CREATE TABLE more (x)", "table 'more'"),
        ("CREATE TRIGGER act AFTER INSERT ON run BEGIN SELECT 1; END", "trigger 'act'"),
        ("DROP TRIGGER launch_is_not_removed", "trigger 'launch_is_not_removed'"),
        ("DROP INDEX run_in_time; CREATE INDEX run_in_time ON run (id)", "index 'run_in_time'"),
    ] {
        let (_folder, path, store) = common::with(&[]);
        drop(store);
        let other = Connection::open(&path).unwrap();
        other.execute_batch(change).unwrap();
        drop(other);
        refused(&path, "Altered", &format!("its schema differs in the {object}"));
    }
}

/// Damage that rows alone do not show: each change with the results that can still be read, of two runs of three launches and an end, and
/// of the list of runs.
#[test]
fn row_damage_is_detected() {
    let runs = [common::run(1, 3), common::run(2, 3)];
    for (whole, change) in [
        (
            "list",
            "CREATE TEMP TABLE two AS SELECT * FROM launch WHERE number = 1; UPDATE two SET run = 3 - run; \
             DELETE FROM launch WHERE number = 1; INSERT INTO launch SELECT * FROM two",
        ),
        ("second list", "DELETE FROM launch WHERE run = 1 AND number = 2"),
        ("second list", "DELETE FROM launch WHERE run = 1 AND number = 1"),
        (
            "second list",
            "INSERT INTO launch SELECT run, 3, seal, benchmark, round, start_ns, cpus, outcome, why, wall_ns, conditions, events \
             FROM launch WHERE run = 1 AND number = 2",
        ),
        (
            "second list",
            "DELETE FROM launch WHERE run = 1; UPDATE run_end SET launches = 0 WHERE run = 1",
        ),
        ("second", "DELETE FROM run_end WHERE run = 1"),
        (
            "second",
            "DELETE FROM run_end WHERE run = 1; DELETE FROM launch WHERE run = 1 AND number = 2",
        ),
        ("second list", "UPDATE run_end SET run = 7 - run WHERE run = 1"),
        ("first list", "UPDATE run_end SET elapsed_s = 1.0 WHERE run = 2"),
        ("second list", "UPDATE benchmark SET id = 'byte/other' WHERE run = 1 AND position = 0"),
        (
            "second list",
            "UPDATE run SET origin = 'imported', owner_uid = NULL, owner_machine = NULL WHERE number = 1",
        ),
        ("first list", "UPDATE run SET owner_uid = 77 WHERE number = 2"),
        ("second", "DELETE FROM run WHERE number = 1"),
        ("first", "DELETE FROM run WHERE number = 2"),
        (
            "second",
            "DELETE FROM run WHERE number = 1; DELETE FROM run_end WHERE run = 1; DELETE FROM launch WHERE run = 1",
        ),
        ("first", "DELETE FROM ledger WHERE number = 4"),
        ("list", "UPDATE ledger SET run = 3 - run"),
    ] {
        let (_folder, path, store) = common::with(&runs);
        assert_eq!(store.verify().unwrap(), [""; 0]);
        drop(store);
        common::force(&path, change);
        let store = Store::open(&path).unwrap();
        for (run, name) in runs.iter().zip(["first", "second"]) {
            match store.load(&run.info.id) {
                Ok(read) => assert!(whole.contains(name) && read == *run, "{change}"),
                Err(error @ (StoreError::Damaged(..) | StoreError::NoSuchRun(_))) => {
                    assert!(!whole.contains(name), "{change}: {error}");
                }
                Err(other) => panic!("{change}: {other:?}"),
            }
        }
        let pipe = common::id("byte/pipe");
        for (what, found) in [
            ("runs", store.runs().is_ok()),
            ("last", store.resolve("last", common::here).is_ok()),
            ("newest", store.newest(std::slice::from_ref(&pipe), 9, None).is_ok()),
            ("runs_of", store.runs_of("0123", "2027", 9, &|_| true).is_ok()),
        ] {
            assert_eq!(found, whole.contains("list"), "{what} after {change}");
        }
        assert!(!store.verify().unwrap().is_empty(), "{change}");
    }
}

/// Queries of many runs find by indices, and an index that lost its last entry would hide a run.
#[test]
fn lost_index_entries_are_detected() {
    let runs = [common::run(1, 3), common::run(2, 3)];
    for (index, is_of_runs) in [
        ("sqlite_autoindex_run_1", true),
        ("run_in_time", true),
        ("run_of_machine", true),
        ("sqlite_autoindex_benchmark_1", false),
        ("benchmark_of_runs", false),
        ("cached_result_of_benchmark", false),
    ] {
        let (_folder, path, store, _) = with_cached(&runs);
        drop(store);
        lose_entry(&path, index);
        let store = Store::open_read_only(&path).unwrap();
        let [listed, newest, of_machine] = lists(&store, &runs);
        assert!(newest.is_err(), "{index}: {newest:?}");
        if is_of_runs {
            assert!(listed.is_err() && of_machine.is_err(), "{index}: {listed:?} {of_machine:?}");
        }
        for head in store.runs().into_iter().flatten() {
            assert_eq!(head.benchmarks, runs[0].benchmarks.len() as u64, "{index}: {head:?}");
        }
        assert!(!store.verify().unwrap().is_empty(), "{index}");
    }
}

/// Decrements the number of entries in the root page of an index.
fn lose_entry(path: &Path, index: &str) {
    let file = Connection::open(path).unwrap();
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?";
    let root: u32 = file.query_row(sql, [index], |row| row.get(0)).unwrap();
    drop(file);
    let mut bytes = fs::read(path).unwrap();
    let entries = (root as usize - 1) * 4096 + 4;
    assert_eq!(bytes[entries - 4], 10, "{index} is one leaf");
    bytes[entries] -= 1;
    fs::write(path, bytes).unwrap();
}

/// No run was measured without benchmarks but one that is stored so.
#[test]
fn lost_benchmarks_are_not_none() {
    let runs = [common::run(1, 1), common::run(2, 1)];
    let (_folder, path, store) = common::with(&runs);
    drop(store);
    common::force(&path, "DELETE FROM benchmark WHERE run = 1");
    let store = Store::open(&path).unwrap();
    assert!(matches!(store.runs(), Err(StoreError::Damaged(..))));
    assert!(matches!(store.head(&runs[0].info.id), Err(StoreError::Damaged(..))));
    assert_eq!(store.head(&runs[1].info.id).unwrap().benchmarks, runs[1].benchmarks.len() as u64);
}
