//! What a store promises while nothing goes wrong.

use crate::common;
use gritstone_model::{Id, Outcome, RunData, RunInfo, TrialSide};
use gritstone_store::{LaunchCounts, ResolveError, Store, StoreError};
use rusqlite::{Connection, OpenFlags};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Another connection to the same file, as sqlite3(1) would make it.
fn other(path: &Path) -> Connection {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
    connection
        .pragma_update(None, "foreign_keys", true)
        .unwrap();
    connection
}

#[test]
fn folders_are_made_for_their_owner_alone() {
    let (folder, _) = common::place();
    let path = folder.path().join("share/gritstone/gritstone.db");
    Store::open(&path).unwrap();
    for made in ["share", "share/gritstone"] {
        let mode = folder
            .path()
            .join(made)
            .metadata()
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o700, "{made}");
    }
}

#[test]
fn an_empty_store_says_so() {
    let (_folder, path) = common::place();
    let error = Store::open_read_only(&path).unwrap_err();
    assert!(matches!(error, StoreError::Missing { .. }), "{error:?}");
    assert!(!path.exists(), "reading creates nothing");
    let store = Store::open(&path).unwrap();
    assert_eq!(store.runs().unwrap(), []);
    assert!(matches!(store.resolve("last"), Err(ResolveError::NoneYet)));
    let error = store.load("20261121-093012-00000000").unwrap_err();
    assert!(matches!(error, StoreError::NoSuchRun { .. }), "{error:?}");
    let error = ResolveError::from(error).to_string();
    assert_eq!(
        error,
        "there is no run 20261121-093012-00000000 in the store"
    );
}

#[test]
fn a_listing_shows_the_newest_last_whenever_it_was_stored() {
    let (_folder, path) = common::place();
    let mut store = Store::open(&path).unwrap();
    let mut late = common::run(30, 3);
    late.info.label = Some("after".into());
    late.launches[1].outcome = Outcome::Failed("pipe: EMFILE".into());
    late.launches[2].outcome = Outcome::TimedOut("10 s".into());
    let mut early = common::run(7, 1);
    early.launches[0].outcome = Outcome::Skipped("no second CPU".into());
    early.info.elapsed_s = None;
    common::store(&mut store, &late);
    common::store(&mut store, &early);

    let heads = store.runs().unwrap();
    let ids: Vec<&str> = heads.iter().map(|head| head.id.as_str()).collect();
    assert_eq!(ids, [&early.info.id, &late.info.id]);
    assert_eq!(heads[1].label.as_deref(), Some("after"));
    assert_eq!(
        (heads[0].elapsed_s, heads[1].elapsed_s),
        (None, Some(12.25))
    );
    assert_eq!(
        (&*heads[0].machine, &*heads[0].system),
        ("quarry", "Linux 6.18")
    );
    assert_eq!(
        (&*heads[0].machine_id, &*heads[0].gritstone),
        ("m-0123", "0.1.0")
    );
    let counts = |measured, skipped, failed, timed_out| LaunchCounts {
        measured,
        skipped,
        failed,
        timed_out,
    };
    assert_eq!(heads[0].launches, counts(0, 1, 0, 0));
    assert_eq!(heads[1].launches, counts(1, 0, 1, 1));
    assert_eq!(heads[1].launches.total(), 3);
    assert_eq!(store.resolve("last").unwrap(), late.info.id);
    assert_eq!(store.resolve("last~1").unwrap(), early.info.id);
    assert_eq!(store.resolve("after").unwrap(), late.info.id);
}

#[test]
fn of_two_runs_in_one_second_the_one_stored_later_is_the_last() {
    let (_folder, path) = common::place();
    let mut store = Store::open(&path).unwrap();
    for (random, fraction) in [(9, ".75"), (3, ""), (5, ".5")] {
        let started = format!("2026-11-21T09:30:12{fraction}Z");
        let info = RunInfo {
            id: gritstone_store::new_id(started.parse().unwrap(), random),
            started,
            ..common::info(0)
        };
        store
            .begin(&common::owner(), &info, &[], &[].into(), &[])
            .unwrap();
        assert_eq!(store.resolve("last").unwrap(), info.id);
    }
}

#[test]
fn a_run_takes_launches_until_it_ends_and_then_no_more() {
    let (_folder, path) = common::place();
    let mut store = Store::open(&path).unwrap();
    let run = common::run(1, 2);
    let id = run.info.id.clone();
    let no_such = |error| matches!(error, StoreError::NoSuchRun { .. });
    assert!(no_such(store.append(&id, &common::launch(0)).unwrap_err()));
    assert!(no_such(store.finish(&id, 1.0).unwrap_err()));
    common::store(&mut store, &run);

    let error = store.append(&id, &common::launch(2)).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("run {id} has ended: what is stored stays as it is. Begin a new run")
    );
    assert!(matches!(
        store.finish(&id, 13.0),
        Err(StoreError::Ended { .. })
    ));
    let error = store
        .begin(&common::owner(), &common::info(1), &[], &[].into(), &[])
        .unwrap_err();
    assert!(matches!(error, StoreError::Exists { .. }), "{error:?}");
    assert!(matches!(store.import(&run), Err(StoreError::Exists { .. })));
    assert_eq!(store.load(&id).unwrap(), run);
}

#[test]
fn a_run_that_was_cut_off_is_taken_up_again() {
    let (_folder, path) = common::place();
    let mut whole = common::run(1, 4);
    let mut store = Store::open(&path).unwrap();
    let launches = whole.launches.split_off(2);
    whole.info.elapsed_s = None;
    common::store(&mut store, &whole);
    drop(store);

    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.load(&whole.info.id).unwrap(), whole);
    for launch in &launches {
        common::append(&mut store, &whole.info.id, launch);
    }
    store.finish(&whole.info.id, 99.5).unwrap();
    whole.launches.extend(launches);
    whole.info.elapsed_s = Some(99.5);
    assert_eq!(store.load(&whole.info.id).unwrap(), whole);
}

#[test]
fn what_would_not_come_back_is_refused_and_leaves_nothing() {
    let (_folder, path) = common::place();
    let mut store = Store::open(&path).unwrap();
    let mut cases = vec![common::run(1, 1); 6];
    cases[0].info.settings.budget_s = f64::INFINITY;
    cases[1].benchmarks[1].amount_per_op = f64::NAN;
    cases[2].info.label = Some("last~1".into());
    cases[3].info.id = "x/../y".into();
    cases[4].info.started = "today".into();
    cases[5].info.elapsed_s = Some(-1.0);
    for (i, case) in cases.iter().enumerate() {
        let error = store.import(case).unwrap_err();
        assert!(matches!(error, StoreError::Unfit { .. }), "{i}: {error:?}");
    }
    let ended = common::run(1, 0).info;
    let error = store
        .begin(&common::owner(), &ended, &[], &[].into(), &[])
        .unwrap_err();
    assert!(matches!(error, StoreError::Unfit { .. }), "{error:?}");
    assert_eq!(store.runs().unwrap(), []);
    store.import(&common::run(1, 1)).unwrap();
}

#[test]
fn nothing_stored_can_be_changed_or_removed() {
    let (_folder, path) = common::place();
    common::store(&mut Store::open(&path).unwrap(), &common::run(2, 2));
    let runs = || {
        Store::open(&path)
            .unwrap()
            .load(&common::info(2).id)
            .unwrap()
    };
    let before = runs();
    let other = other(&path);
    let tables: Vec<(String, String)> = other
        .prepare(
            "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c \
             WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' AND m.name NOT LIKE 'cached%'",
        )
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert!(tables.len() > 40, "{tables:?}");
    for (table, column) in &tables {
        for statement in [
            format!("UPDATE {table} SET {column} = {column}"),
            format!("UPDATE OR REPLACE {table} SET {column} = 7"),
            format!("DELETE FROM {table}"),
            format!("REPLACE INTO {table} SELECT * FROM {table}"),
            format!(
                "INSERT INTO {table} SELECT * FROM {table} WHERE true ON CONFLICT DO UPDATE SET {column} = 7"
            ),
        ] {
            let error = other.execute(&statement, []).unwrap_err().to_string();
            assert!(error.starts_with("append-only: "), "{statement}: {error}");
        }
    }
    for statement in [
        "INSERT INTO launch SELECT run, number + 2, seal, benchmark, round, start_ns, cpus, outcome, why, wall_ns, \
         conditions, events FROM launch",
        "REPLACE INTO run SELECT number + 1, seal, id, origin, owner_uid, owner_machine, label, started, gritstone, machine_id, \
         machine_name, machine_system, settings, machine FROM run",
    ] {
        let error = other.execute(statement, []).unwrap_err().to_string();
        assert!(error.starts_with("append-only: "), "{statement}: {error}");
    }
    drop(other);
    assert_eq!(runs(), before);
}

#[test]
fn every_row_belongs_to_a_run() {
    let (_folder, path) = common::place();
    Store::open(&path).unwrap();
    let other = other(&path);
    for statement in [
        "INSERT INTO benchmark VALUES (7, 0, 'byte/pipe', '{}')",
        "INSERT INTO program VALUES (7, 'byte/pipe', '', '', '')",
        "INSERT INTO skip VALUES (7, 0, 'byte/pipe', '{}')",
        "INSERT INTO run_end VALUES (7, '', 1.0, 0)",
        "INSERT INTO launch VALUES (7, 0, '', 'byte/pipe', 0, 0, '[]', 'measured', NULL, 0, '{}', '[]')",
        "INSERT INTO cached_run VALUES (7, '', '', '', 0, '', '')",
        "INSERT INTO cached_result VALUES (7, 0, '', '', '')",
    ] {
        let error = other.execute(statement, []).unwrap_err().to_string();
        assert_eq!(error, "FOREIGN KEY constraint failed", "{statement}");
    }
}

#[test]
fn samples_can_be_asked_for_in_plain_sql() {
    let (_folder, path) = common::place();
    let mut run = common::run(1, 2);
    run.info.label = Some("before".into());
    common::store(&mut Store::open(&path).unwrap(), &run);
    // the example of the crate's documentation
    let text = include_str!("../../src/lib.rs");
    let (_, text) = text.split_once("```sql\n").unwrap();
    let (text, _) = text.split_once("//! ```").unwrap();
    let text = text.replace("//! ", "");
    let other = other(&path);
    let mut statement = other.prepare(&text).unwrap();
    let row = |row: &rusqlite::Row| Ok((row.get(0)?, row.get(1)?));
    let rows: Vec<(i64, f64)> = statement
        .query_map([], row)
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(rows.len(), 10);
    assert_eq!(rows[0], (0, 5000.0));
    assert_eq!(rows[5], (1, 5001.0));
}

#[test]
fn the_newest_runs_of_many_rows_are_named_once_each() {
    let (_folder, path) = common::place();
    let mut store = Store::open(&path).unwrap();
    let mut runs = [1, 2, 3, 4].map(|number| common::run(number, 1));
    let extra = common::id("own/extra");
    for at in [0, 2] {
        let mut row = runs[at].benchmarks[0].clone();
        row.id = extra.clone();
        runs[at].benchmarks.push(row);
    }
    for run in &runs {
        common::store(&mut store, run);
    }
    let every = runs[0].benchmarks[0].id.clone();
    let found = |ids: &[&Id], most| {
        let ids: Vec<Id> = ids.iter().map(|id| (*id).clone()).collect();
        store.newest(&ids, most, None).unwrap()
    };
    let of = |at: usize, ids: &[&Id]| {
        let ids: Vec<Id> = ids.iter().map(|id| (*id).clone()).collect();
        (runs[at].info.id.clone(), ids)
    };
    let newest = [of(0, &[&extra]), of(2, &[&every, &extra]), of(3, &[&every])];
    assert_eq!(found(&[&every, &extra], 2), newest);
    assert_eq!(found(&[&extra], 1), [of(2, &[&extra])]);
    assert!(found(&[&common::id("no/such")], 9).is_empty());
    // those that nobody wants take no place of others
    let first = |run: &RunInfo| run.id == runs[0].info.id;
    let older = store
        .newest(std::slice::from_ref(&every), 1, Some(&first))
        .unwrap();
    assert_eq!(older, [of(0, &[&every])]);
}

#[test]
fn sides_of_a_trial_are_in_no_history_and_take_no_place_in_one() {
    let (_folder, path) = common::place();
    let mut store = Store::open(&path).unwrap();
    let mut runs = [1, 2, 3, 4].map(|number| common::run(number, 1));
    for at in [1, 3] {
        runs[at].info.settings.trial = Some(TrialSide {
            trial: "x".into(),
            side: "a".into(),
            ..TrialSide::default()
        });
    }
    // a variable of that name is no trial
    let variables = &mut runs[2].info.settings.environment;
    variables.insert("trial".into(), "a".into());
    for run in &runs {
        common::store(&mut store, run);
    }
    let id = runs[0].benchmarks[0].id.clone();
    let ordinary = [&runs[0].info.id, &runs[2].info.id];
    let newest = store.newest(&[id], 2, None).unwrap();
    let ids: Vec<&String> = newest.iter().map(|(run, _)| run).collect();
    assert_eq!(ids, ordinary);
}

#[test]
fn runs_of_a_machine_are_listed_up_to_a_second_newest_first() {
    let (_folder, path) = common::place();
    let mut store = Store::open(&path).unwrap();
    let mut runs = [1, 2, 3, 4].map(|number| common::run(number, 1));
    runs[1].info.machine.id = "another".to_owned();
    for run in &runs {
        common::store(&mut store, run);
    }
    let all = |machine: &str, started: &str| store.runs_of(machine, started, 9, &|_| true).unwrap();
    let of = |machine: &str, run: &RunData| all(machine, &run.info.started);
    let machine = runs[0].info.machine.id.clone();
    let ids = |numbers: &[usize]| -> Vec<String> {
        numbers.iter().map(|n| runs[*n].info.id.clone()).collect()
    };
    assert_eq!(of(&machine, &runs[3]), ids(&[3, 2, 0]));
    assert_eq!(of(&machine, &runs[2]), ids(&[2, 0]));
    assert_eq!(of("another", &runs[3]), ids(&[1]));
    assert!(of("nobody", &runs[3]).is_empty());
    assert!(all(&machine, "").is_empty());
    let last = &runs[3].info.started;
    let not_the_last = |run: &RunInfo| run.id != runs[3].info.id;
    let one = store.runs_of(&machine, last, 1, &not_the_last).unwrap();
    assert_eq!(
        one,
        ids(&[2]),
        "those that nobody wants take no place of others"
    );
}

#[test]
fn nothing_is_left_beside_the_database() {
    let (folder, path) = common::place();
    common::store(&mut Store::open(&path).unwrap(), &common::run(1, 2));
    Store::open_read_only(&path)
        .unwrap()
        .load(&common::info(1).id)
        .unwrap();
    let files: Vec<_> = folder
        .path()
        .read_dir()
        .unwrap()
        .map(|f| f.unwrap().file_name())
        .collect();
    assert_eq!(files, ["gritstone.db"]);
}

#[test]
fn a_name_that_sqlite_gives_a_meaning_is_a_file_like_any_other() {
    let (folder, _) = common::place();
    for name in [":memory:", "file:x?mode=memory", "a%20b?c#d ä.db"] {
        let path = folder.path().join(name);
        common::store(&mut Store::open(&path).unwrap(), &common::run(1, 1));
        assert!(path.is_file(), "{name}");
        assert_eq!(
            Store::open_read_only(&path).unwrap().runs().unwrap().len(),
            1
        );
    }
    assert!(matches!(
        Store::open(Path::new("")),
        Err(StoreError::Unusable { .. })
    ));
}
