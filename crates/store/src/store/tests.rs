//! Internals: nothing is open between calls; behavior without space or lock.

use super::*;
use crate::engine::insert;
use crate::row_codec::{self, row};
use crate::sqlite::choose_journal;
use crate::{ledger, row_hash, sql};
use rusqlite::Connection;

#[path = "../../tests/common/mod.rs"]
mod common;

/// An integer pragma.
fn pragma(store: &Store, name: &str) -> i64 {
    let found = store.engine().sqlite().pragma_query_value(None, name, |row| row.get(0));
    found.unwrap()
}

/// Another connection with the write lock.
fn locked(path: &Path) -> Connection {
    let other = Connection::open(path).unwrap();
    other.busy_timeout(Duration::ZERO).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    other
}

/// No statement, transaction or lock is open.
fn assert_idle(store: &Store, after: &str) {
    assert!(!store.engine().sqlite().is_busy(), "{after}: a statement runs");
    assert!(store.engine().sqlite().is_autocommit(), "{after}: a transaction is open");
    let other = locked(&store.path);
    other.execute_batch("ROLLBACK").unwrap();
    let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
    let refused: i64 = other.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(refused, 0, "{after}: a snapshot is held");
}

#[test]
fn nothing_is_busy_between_calls() {
    let (_folder, path, mut store) = common::with(&[]);
    let run = common::run(1, 2);
    let id = run.info.id.as_str();
    type Step<'a> = (&'a str, &'a dyn Fn(&mut Store));
    let steps: [Step; 8] = [
        ("open", &|_| {}),
        ("begin", &|store| common::begin(store, &run)),
        ("append", &|store| common::append(store, id, &run.launches[0])),
        ("load", &|store| drop(store.load(id).unwrap())),
        ("runs", &|store| drop(store.runs().unwrap())),
        ("resolve", &|store| drop(store.resolve("last", common::here).unwrap().id)),
        ("finish", &|store| store.finish(id, 1.0).unwrap()),
        ("errors", &|store| {
            store.append(id, &run.launches[1]).unwrap_err();
            store.load("none").unwrap_err();
        }),
    ];
    for (name, step) in steps {
        step(&mut store);
        assert_idle(&store, name);
    }
    drop(store);
    let store = Store::open_read_only(&path).unwrap();
    store.load(id).unwrap();
    assert_idle(&store, "open_read_only");
    let writing = Store::open(&path).unwrap();
    for (rule, expected) in [
        ("foreign_keys", 1),
        ("synchronous", 2),
        ("cell_size_check", 1),
        ("trusted_schema", 0),
        ("busy_timeout", 5000),
    ] {
        assert_eq!([&writing, &store].map(|store| pragma(store, rule)), [expected; 2], "{rule}");
    }
}

/// Launches within a second of a synced one are not synced; without a log all are, since a rollback journal could be
/// torn.
#[test]
fn launches_sync_once_per_second() {
    let (_folder, path, mut store) = common::with(&[]);
    let run = common::run(1, 5);
    let id = run.info.id.clone();
    common::begin(&mut store, &run);
    let now = Some(Instant::now() + 3600 * UNWRITTEN); // on however slow a machine
    let long_ago = Instant::now().checked_sub(UNWRITTEN);
    let (full, normal) = (2, 1);
    for (launch, log, reached, how) in [
        (0, true, None, full),
        (1, true, now, normal),
        (2, true, long_ago, full),
        (3, false, now, full),
        (4, true, now, normal),
    ] {
        (store.log, store.reached) = (log, reached);
        common::append(&mut store, &id, &run.launches[launch]);
        assert_eq!(pragma(&store, "synchronous"), how, "{launch}");
        assert_eq!(store.reached == reached, how == normal, "{launch}");
    }
    let other = Store::open(&path).unwrap();
    assert_eq!(other.load(&id).unwrap().launches.len(), 5);
    store.finish(&id, 1.0).unwrap();
    assert_eq!(pragma(&store, "synchronous"), full);
}

/// The file may have been created where a log is possible, and moved.
#[test]
fn rollback_journal_replaces_the_log() {
    let run = common::run(1, 2);
    let (_folder, path, store) = common::with(std::slice::from_ref(&run));
    assert!(!choose_journal(store.engine().sqlite(), false).unwrap());
    drop(store);
    let reader = Store::open_read_only(&path).unwrap();
    assert_eq!(reader.load(&run.info.id).unwrap(), run);
    reader.engine().sqlite().execute_batch("BEGIN; SELECT * FROM run").unwrap();
    let writer = Connection::open(&path).unwrap();
    writer.busy_timeout(Duration::ZERO).unwrap();
    // a log that cannot be set now is none
    assert!(!choose_journal(&writer, true).unwrap());
    reader.engine().sqlite().execute_batch("COMMIT").unwrap();
    assert!(choose_journal(&writer, true).unwrap());
}

/// The first queries of every command read indexes, not heads of kilobytes; listings read no launch, and neither they
/// nor histories sort runs.
#[test]
fn common_queries_read_indexes_only() {
    let (_folder, _, store) = common::with(&[]);
    let plan = |statement: &str, parameters: &[&str]| -> Vec<String> {
        let explain = format!("EXPLAIN QUERY PLAN {statement}");
        let mut statement = store.engine().sqlite().prepare(&explain).unwrap();
        let parameters = rusqlite::params_from_iter(parameters);
        let steps = statement.query_map(parameters, |row| row.get(3)).unwrap();
        steps.collect::<Result<_, _>>().unwrap()
    };
    let names = plan(sql::SELECT_NAMES, &[]);
    assert_eq!(
        names,
        [
            "SCAN run USING COVERING INDEX run_in_time",
            "SEARCH one USING INDEX ledger_of_run (run=? AND entry=?) LEFT-JOIN",
            "CORRELATED SCALAR SUBQUERY 1",
            "SEARCH newer USING COVERING INDEX ledger_of_run (run=? AND entry=? AND rowid>?)",
        ]
    );
    let of_machine = plan(sql::SELECT_RUNS_OF, &["m", "2026"]);
    assert!(of_machine[0].contains("USING COVERING INDEX run_of_machine"));
    let with = plan(sql::SELECT_RUNS_WITH, &["byte/pipe"]);
    assert!(with[0].contains("run_in_time"), "{with:#?}");
    let heads = plan(sql::SELECT_HEADS, &["50"]);
    assert!(heads[0].contains("run_in_time"), "{heads:#?}");
    let heads_of = plan(sql::SELECT_HEADS_OF, &["m", "50"]);
    assert!(heads_of[0].contains("run_of_machine"), "{heads_of:#?}");
    let systems = plan(sql::SELECT_SYSTEMS, &[]).concat();
    assert!(systems.contains("SCAN run USING COVERING INDEX run_of_machine"));
    assert!(!systems.contains("launch"), "{systems}");
    for steps in [of_machine, with, heads, heads_of] {
        let steps = steps.concat();
        assert!(!steps.contains("B-TREE") && !steps.contains("launch"), "{steps}");
    }
}

#[test]
fn full_disk_loses_no_launch() {
    let mut run = common::cut_off(1, 3);
    let (_folder, path, mut store) = common::with(std::slice::from_ref(&run));
    let limit = pragma(&store, "page_count") + 2;
    let set =
        store.engine().sqlite().pragma_update_and_check(None, "max_page_count", limit, |_| Ok(()));
    set.unwrap();
    let error = loop {
        let launch = common::launch(run.launches.len() as u64);
        match store.append(&run.info.id, &launch) {
            Ok(_) => run.launches.push(launch),
            Err(error) => break error,
        }
        assert!(run.launches.len() < 1000, "two pages hold no thousand");
    };
    assert!(matches!(error, StoreError::Full(_)), "{error:?}");
    assert_idle(&store, "a full disk");
    assert_eq!(store.load(&run.info.id).unwrap(), run);
    drop(store);
    let mut store = Store::open(&path).unwrap();
    let launch = common::launch(run.launches.len() as u64);
    common::append(&mut store, &run.info.id, &launch);
    run.launches.push(launch);
    assert_eq!(store.load(&run.info.id).unwrap(), run);
}

#[test]
fn locked_file_delays_launches() {
    let (_folder, path, mut store) = common::with(&[]);
    let run = common::run(1, 4);
    let id = &run.info.id;
    common::begin(&mut store, &run);
    common::append(&mut store, id, &run.launches[0]);
    let other = locked(&path);
    for (index, launch) in run.launches[1..3].iter().enumerate() {
        assert_eq!(store.append(id, launch).unwrap(), Appended::Waiting(index + 1));
    }
    common::fails(store.finish(id, 12.25), "Locked");
    // readers are not locked out
    assert_eq!(store.load(id).unwrap().launches.len(), 1);
    assert_eq!(store.waiting(), 2);
    store.wait_for(Duration::ZERO).unwrap();
    common::fails(store.import(&common::run(2, 0)), "Locked");
    other.execute_batch("ROLLBACK").unwrap();
    common::append(&mut store, id, &run.launches[3]);
    assert_eq!(store.waiting(), 0);
    assert_idle(&store, "a store that was locked");
    store.finish(id, 12.25).unwrap();
    assert_eq!(store.load(id).unwrap(), run);
}

/// A launch with unknown events, and the right hash.
#[test]
fn unknown_events_name_their_version() {
    for (events, what) in [
        (r#"[{"future":[1]}]"#, "unknown variant `future`"),
        (r#"[{"hello":[4294967296,"x"]}]"#, "integer `4294967296`"),
        (r#"[{"sample":[1]}]"#, "invalid length 1"),
    ] {
        let mut run = common::cut_off(1, 0);
        run.info.gritstone = "9.1.0".into();
        let (_folder, _, store) = common::with(std::slice::from_ref(&run));
        let id = &run.info.id;
        let mut launch = row_codec::launch(0, &common::launch(0)).unwrap();
        *launch.last_mut().unwrap() = events.to_owned().into();
        let head = ledger::run(store.engine(), id).unwrap().seal;
        let key = row![1, row_hash::hash("launch", &head, [&launch])];
        insert(store.engine(), sql::INSERT_LAUNCH, key, launch).unwrap();
        match store.load(id).unwrap_err() {
            StoreError::Unreadable(_, version, why) => {
                assert_eq!(version, "9.1.0");
                assert!(why.starts_with("launch 0: events: ") && why.contains(what), "{why}");
            }
            error => panic!("{error:?}"),
        }
        assert_eq!(store.runs().unwrap().len(), 1);
    }
}
