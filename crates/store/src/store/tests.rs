//! What only shows from within: that nothing is busy between calls, and what happens when space or patience ends.

use super::*;
use crate::open::choose_journal;
use crate::rows::{self, row};
use crate::{find, seal, sql};

#[path = "../../tests/common/mod.rs"]
mod common;

/// No statement runs, no transaction is open, and no lock is held that keeps another from the whole file.
fn assert_idle(store: &Store, after: &str) {
    assert!(!store.connection.is_busy(), "{after}: a statement runs");
    assert!(
        store.connection.is_autocommit(),
        "{after}: a transaction is open"
    );
    let other = Connection::open(&store.path).unwrap();
    other.busy_timeout(Duration::ZERO).unwrap();
    let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
    let refused: i64 = other.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(refused, 0, "{after}: a snapshot is held");
    other
        .execute_batch("BEGIN IMMEDIATE; ROLLBACK")
        .expect(after);
}

#[test]
fn nothing_is_busy_between_calls() {
    let (_folder, path) = common::place();
    let mut store = Store::open(&path).unwrap();
    assert_idle(&store, "open");
    let run = common::run(1, 2);
    let id = run.info.id.clone();
    common::begin(&mut store, &run);
    assert_idle(&store, "begin");
    common::append(&mut store, &id, &run.launches[0]);
    assert_idle(&store, "append");
    assert_eq!(store.load(&id).unwrap().launches.len(), 1);
    assert_idle(&store, "load");
    assert_eq!(store.runs().unwrap().len(), 1);
    assert_idle(&store, "runs");
    store.resolve("last").unwrap();
    assert_idle(&store, "resolve");
    store.finish(&id, 1.0).unwrap();
    assert_idle(&store, "finish");
    store.append(&id, &run.launches[1]).unwrap_err();
    store.load("none").unwrap_err();
    assert_idle(&store, "errors");
    drop(store);
    let store = Store::open_read_only(&path).unwrap();
    store.load(&id).unwrap();
    assert_idle(&store, "open_read_only");
}

#[test]
fn every_connection_keeps_the_rules() {
    let (_folder, path) = common::place();
    let writing = Store::open(&path).unwrap();
    let reading = Store::open_read_only(&path).unwrap();
    for (rule, expected) in [
        ("foreign_keys", 1),
        ("synchronous", 2),
        ("cell_size_check", 1),
        ("trusted_schema", 0),
        ("busy_timeout", 5000),
    ] {
        for store in [&writing, &reading] {
            let kept = store
                .connection
                .pragma_query_value(None, rule, |row| row.get::<_, i64>(0));
            assert_eq!(kept.unwrap(), expected, "{rule}");
        }
    }
}

/// Launches that follow close on another are left to the system, for a second; never where there is no log, which would be torn.
#[test]
fn a_launch_reaches_the_disk_when_none_has_for_a_second() {
    let (_folder, path) = common::place();
    let mut store = Store::open(&path).unwrap();
    let run = common::run(1, 5);
    let id = run.info.id.clone();
    common::begin(&mut store, &run);
    let how = |store: &Store| {
        let how = store
            .connection
            .pragma_query_value(None, "synchronous", |row| row.get::<_, i64>(0));
        how.unwrap()
    };
    let (full, normal) = (2, 1);
    let append = |store: &mut Store, launch: usize, reached: Option<Instant>| {
        store.reached = reached;
        common::append(store, &id, &run.launches[launch]);
        how(store)
    };
    let now = Some(Instant::now() + 3600 * UNWRITTEN); // however slow this machine is
    store.log = true;
    assert_eq!(append(&mut store, 0, None), full);
    assert!(store.reached.is_some());
    assert_eq!(append(&mut store, 1, now), normal);
    assert_eq!(store.reached, now);
    assert_eq!(
        append(&mut store, 2, Instant::now().checked_sub(UNWRITTEN)),
        full
    );
    store.log = false;
    assert_eq!(append(&mut store, 3, now), full);
    store.log = true;
    assert_eq!(append(&mut store, 4, now), normal);
    assert_eq!(
        Store::open(&path)
            .unwrap()
            .load(&id)
            .unwrap()
            .launches
            .len(),
        5
    );
    store.finish(&id, 1.0).unwrap();
    assert_eq!(how(&store), full);
}

#[test]
fn a_journal_that_cannot_be_chosen_now_is_no_log() {
    let (_folder, path) = common::place();
    let writer = Connection::open(&path).unwrap();
    assert!(!choose_journal(&writer, false).unwrap());
    writer.execute_batch("CREATE TABLE t (x)").unwrap();
    let reader = Connection::open(&path).unwrap();
    reader.execute_batch("BEGIN; SELECT * FROM t").unwrap();
    writer.busy_timeout(Duration::ZERO).unwrap();
    assert!(!choose_journal(&writer, true).unwrap());
    reader.execute_batch("COMMIT").unwrap();
    assert!(choose_journal(&writer, true).unwrap());
}

/// What SQLite does for a statement, step by step.
fn plan(statement: &str, of: impl rusqlite::Params) -> Vec<String> {
    let (_folder, path) = common::place();
    let store = Store::open(&path).unwrap();
    let explain = format!("EXPLAIN QUERY PLAN {statement}");
    let mut statement = store.connection.prepare(&explain).unwrap();
    let steps = statement
        .query_map(of, |row| row.get::<_, String>(3))
        .unwrap();
    steps.collect::<Result<_, _>>().unwrap()
}

/// What every command asks for first reads the indexes and not the heads, which are kilobytes each; a listing reads no launch that
/// was measured, and a history sorts no runs.
#[test]
fn what_many_runs_are_asked_for_reads_indexes_alone() {
    let names = plan(sql::SELECT_NAMES, []);
    assert_eq!(names, ["SCAN run USING COVERING INDEX run_in_time"]);
    let of_machine = plan(sql::SELECT_RUNS_OF, ["m", "2026"]);
    assert!(of_machine[0].contains("USING COVERING INDEX run_of_machine"));
    let with = plan(sql::SELECT_RUNS_WITH, ["byte/pipe"]);
    assert!(with[0].contains("run_in_time"), "{with:#?}");
    for steps in [of_machine, with] {
        assert!(!steps.concat().contains("B-TREE"), "{steps:#?}");
    }
    let heads = plan(sql::SELECT_HEADS, []);
    let of_runs = |step: &str| step == "SCAN run" || step.starts_with("SCAN run USING");
    let mut scans = heads.iter().filter(|step| step.starts_with("SCAN"));
    assert!(scans.all(|step| of_runs(step)), "{heads:#?}");
    let counts = |step: &&String| step.contains("INDEX launch_not_measured (run=? AND outcome=?)");
    assert_eq!(heads.iter().filter(counts).count(), 3, "{heads:#?}");
}

#[test]
fn when_no_page_is_left_what_was_saved_can_be_read_and_the_run_goes_on_later() {
    let (_folder, path) = common::place();
    let mut store = Store::open(&path).unwrap();
    let mut run = common::run(1, 3);
    run.info.elapsed_s = None;
    common::store(&mut store, &run);
    let pages = |store: &Store, of: &str| {
        let count = store
            .connection
            .pragma_query_value(None, of, |row| row.get::<_, i64>(0));
        count.unwrap()
    };
    let limit = pages(&store, "page_count") + 2;
    store
        .connection
        .pragma_update_and_check(None, "max_page_count", limit, |_| Ok(()))
        .unwrap();

    let error = loop {
        let launch = common::launch(run.launches.len() as u64);
        match store.append(&run.info.id, &launch) {
            Ok(_) => run.launches.push(launch),
            Err(error) => break error,
        }
        assert!(
            run.launches.len() < 1000,
            "two pages hold no thousand launches"
        );
    };
    assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
    let told = error.to_string();
    assert!(
        told.contains("everything before it is safe") && told.contains("Make room"),
        "{told}"
    );
    assert_idle(&store, "a full disk");
    assert_eq!(store.load(&run.info.id).unwrap(), run);
    assert_eq!(
        store.runs().unwrap()[0].launches.total(),
        run.launches.len() as u64
    );

    drop(store);
    let mut store = Store::open(&path).unwrap();
    let launch = common::launch(run.launches.len() as u64);
    common::append(&mut store, &run.info.id, &launch);
    run.launches.push(launch);
    assert_eq!(store.load(&run.info.id).unwrap(), run);
}

#[test]
fn a_writer_that_does_not_let_go_is_named() {
    let (_folder, path) = common::place();
    let mut store = Store::open(&path).unwrap();
    let run = common::run(1, 1);
    common::store(&mut store, &run);
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    store
        .connection
        .busy_timeout(Duration::from_millis(20))
        .unwrap();
    let error = store
        .begin(&common::owner(), &common::info(2), &[], &[].into(), &[])
        .unwrap_err();
    assert!(matches!(error, StoreError::Locked { .. }), "{error:?}");
    assert!(error.to_string().contains("fuser"), "{error}");
    // what is stored can be read all the while
    assert_eq!(store.load(&run.info.id).unwrap(), run);
    other.execute_batch("ROLLBACK").unwrap();
    let info = common::info(2);
    store
        .begin(&common::owner(), &info, &[], &[].into(), &[])
        .unwrap();
}

#[test]
fn launches_wait_in_memory_while_the_file_is_locked_and_are_stored_in_order() {
    let (_folder, path) = common::place();
    let mut store = Store::open(&path).unwrap();
    let run = common::run(1, 4);
    let id = &run.info.id;
    common::begin(&mut store, &run);
    common::append(&mut store, id, &run.launches[0]);
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    for (at, launch) in run.launches[1..3].iter().enumerate() {
        assert_eq!(store.append(id, launch).unwrap(), Kept::Waiting(at + 1));
    }
    let error = store.finish(id, 12.25).unwrap_err();
    assert!(matches!(error, StoreError::Locked { .. }), "{error:?}");
    assert_eq!(
        (store.waiting(), store.load(id).unwrap().launches.len()),
        (2, 1)
    );
    other.execute_batch("ROLLBACK").unwrap();
    common::append(&mut store, id, &run.launches[3]);
    assert_eq!(store.waiting(), 0);
    assert_idle(&store, "a store that was locked");
    store.finish(id, 12.25).unwrap();
    assert_eq!(store.load(id).unwrap(), run);
}

#[test]
fn where_no_log_can_be_kept_the_plain_journal_does() {
    let (_folder, path) = common::place();
    let mode = |path: &Path| {
        let connection = Connection::open(path).unwrap();
        connection
            .pragma_query_value(None, "journal_mode", |row| row.get::<_, String>(0))
            .unwrap()
    };
    let run = common::run(1, 2);
    common::store(&mut Store::open(&path).unwrap(), &run);
    // the file may have been made where a log could be kept, and have been moved since
    let store = Store::open(&path).unwrap();
    choose_journal(&store.connection, false).unwrap();
    drop(store);
    assert_eq!(mode(&path), "delete");
    assert_eq!(
        Store::open_read_only(&path)
            .unwrap()
            .load(&run.info.id)
            .unwrap(),
        run
    );
    let store = Store::open(&path).unwrap();
    choose_journal(&store.connection, true).unwrap();
    drop(store);
    assert_eq!(mode(&path), "wal");
}

/// Stores a launch with events that no version of ours has written, but whose seal is right.
fn insert_strange(store: &Store, run: &str, events: &str) {
    let mut launch = rows::launch(0, &common::launch(0)).unwrap();
    *launch.last_mut().unwrap() = events.to_owned().into();
    let head = find::run(&store.connection, run).unwrap().seal;
    let key = row![1, seal::of("launch", &head, [&launch])];
    write::insert(&store.connection, sql::INSERT_LAUNCH, key, launch).unwrap();
}

#[test]
fn what_only_a_newer_version_understands_names_that_version() {
    for (events, what) in [
        (r#"[{"future":[1]}]"#, "unknown variant `future`"),
        (r#"[{"hello":[4294967296,"x"]}]"#, "integer `4294967296`"),
        (r#"[{"sample":[1]}]"#, "invalid length 1"),
    ] {
        let (_folder, path) = common::place();
        let mut store = Store::open(&path).unwrap();
        let info = RunInfo {
            gritstone: "9.1.0".into(),
            ..common::info(1)
        };
        store
            .begin(&common::owner(), &info, &[], &[].into(), &[])
            .unwrap();
        insert_strange(&store, &info.id, events);
        let error = store.load(&info.id).unwrap_err();
        assert!(matches!(error, StoreError::Unreadable { .. }), "{error:?}");
        let told = error.to_string();
        assert!(
            told.contains("launch 0: events: ")
                && told.contains(what)
                && told.contains("stored by Gritstone 9.1.0"),
            "{told}"
        );
        assert_eq!(store.runs().unwrap().len(), 1);
    }
}
