//! Stores from before the seventh migration, whose launches have their events in rows.

mod common;

use gritstone_model::{Event, RunData, Sample, Usage};
use gritstone_store::{Store, StoreError};
use rusqlite::Connection;
use std::path::Path;

/// The run that is in [`common::old_store`].
fn old_run() -> RunData {
    let mut run = common::run(1, 3);
    run.launches[1].events.push(Event::Skip {
        why: "it's \"quoted\"".into(),
    });
    run.launches[2].events.push(Event::Fail {
        errno: 13,
        call: "open".into(),
        why: "EACCES".into(),
    });
    let Event::Sample(sample) = &mut run.launches[2].events[3] else {
        panic!("no sample");
    };
    sample.wide = 111_111;
    run
}

/// The same store, whose run has no end.
fn cut_off(path: &Path) -> Connection {
    common::old_store(path);
    let other = Connection::open(path).unwrap();
    other
        .execute_batch("DROP TRIGGER run_end_stays; DELETE FROM run_end")
        .unwrap();
    other
}

#[test]
fn a_run_from_before_is_read_to_the_last_bit_beside_new_ones() {
    let (_folder, path) = common::place();
    common::old_store(&path);
    let old = old_run();
    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.load(&old.info.id).unwrap(), old);
    let mut new = old.clone();
    new.info.id = common::info(2).id;
    store.import(&new).unwrap();
    assert_eq!(store.load(&new.info.id).unwrap(), new);
    assert_eq!(store.load(&old.info.id).unwrap(), old);
    let launches_of = |run: &RunData| store.samples(&run.info.id).unwrap().launches;
    assert_eq!(launches_of(&old), launches_of(&new));
    let mut series = vec![];
    let benchmark = common::id("byte/pipe");
    let mut take = |run: RunData| series.push(run.launches);
    store.series(&benchmark, 9, &mut take).unwrap();
    assert_eq!(series, [old.launches, new.launches]);
}

#[test]
fn a_run_that_was_cut_off_before_goes_on() {
    let (_folder, path) = common::place();
    cut_off(&path);
    let mut run = old_run();
    let mut store = Store::open(&path).unwrap();
    store.append(&run.info.id, &common::launch(3)).unwrap();
    store.finish(&run.info.id, 20.0).unwrap();
    run.launches.push(common::launch(3));
    run.info.elapsed_s = Some(20.0);
    assert_eq!(store.load(&run.info.id).unwrap(), run);
}

#[test]
fn both_are_asked_in_the_same_sql() {
    let (_folder, path) = common::place();
    common::old_store(&path);
    let mut new = old_run();
    new.info.id = common::info(2).id;
    Store::open(&path).unwrap().import(&new).unwrap();
    let other = Connection::open(&path).unwrap();
    let count = |sql: &str| {
        other
            .query_row(sql, [], |row| row.get::<_, i64>(0))
            .unwrap()
    };
    assert_eq!(count("SELECT count(*) FROM line WHERE run = 1"), 41);
    assert_eq!(count("SELECT count(*) FROM line WHERE run = 2"), 41);
    // but for numbers that only JSON has without a sign
    let rows = |run| {
        format!(
            "SELECT launch, position, kind, n, wall_ns, pace_fs, user_ns, system_ns, cpu_ns, vcsw, icsw, minflt, majflt, \
             inblock, oublock, migrations, name, value, nullif(wide_fs, 0), got IS NULL, expected IS NULL \
             FROM line WHERE run = {run}"
        )
    };
    let (old, new) = (rows(1), rows(2));
    assert_eq!(
        count(&format!("SELECT count(*) FROM ({old} INTERSECT {new})")),
        41
    );
}

#[test]
fn every_number_of_a_sample_has_its_column() {
    let (_folder, path) = common::place();
    let mut run = common::run(1, 1);
    let sample = Sample {
        n: 1,
        wall: 2,
        pace: 3,
        wide: 14,
        usage: Usage {
            user: 4,
            system: 5,
            cpu: 6,
            vcsw: 7,
            icsw: 8,
            minflt: 9,
            majflt: 10,
            inblock: 11,
            oublock: 12,
            migrations: 13,
        },
    };
    run.launches[0].events = vec![
        Event::Sample(Box::new(sample)),
        Event::Process(Box::new(sample)),
    ];
    Store::open(&path).unwrap().import(&run).unwrap();
    let other = Connection::open(&path).unwrap();
    let sql = "SELECT kind || ' ' || concat_ws(' ', n, wall_ns, pace_fs, user_ns, system_ns, cpu_ns, vcsw, icsw, minflt, majflt, \
               inblock, oublock, migrations, wide_fs) FROM line ORDER BY position";
    let mut statement = other.prepare(sql).unwrap();
    let lines = statement.query_map([], |row| row.get::<_, String>(0));
    let lines: Vec<String> = lines.unwrap().collect::<Result<_, _>>().unwrap();
    let numbers = "1 2 3 4 5 6 7 8 9 10 11 12 13 14";
    assert_eq!(
        lines,
        ["sample", "process"].map(|kind| format!("{kind} {numbers}"))
    );
}

/// A run that was begun before the file was brought up to date goes on: what wrote it knows nothing of that.
#[test]
fn an_earlier_version_writes_on() {
    let (_folder, path) = common::place();
    let other = cut_off(&path);
    let third = "SELECT run, 3, benchmark, round, start_ns, cpus, outcome, why, wall_ns, conditions, seal FROM launch WHERE number = 2";
    let columns =
        "run, number, benchmark, round, start_ns, cpus, outcome, why, wall_ns, conditions, seal";
    Store::open(&path).unwrap();
    other
        .execute(&format!("INSERT INTO launch ({columns}) {third}"), [])
        .unwrap();
    let line = "INSERT INTO event (run, launch, position, kind) VALUES (1, 3, 0, 'bye')";
    assert_eq!(other.execute(line, []).unwrap(), 1);
    // but not into a launch that has its events in its row
    Store::open(&path)
        .unwrap()
        .append(&old_run().info.id, &common::launch(4))
        .unwrap();
    let line = "INSERT INTO event (run, launch, position, kind) VALUES (1, 4, 99, 'bye')";
    let error = other.execute(line, []).unwrap_err().to_string();
    assert!(error.starts_with("append-only: "), "{error}");
}

#[test]
fn a_text_that_is_broken_hides_no_other_launch_from_who_asks() {
    let (_folder, path) = common::place();
    let run = common::run(1, 2);
    common::store(&mut Store::open(&path).unwrap(), &run);
    let other = Connection::open(&path).unwrap();
    other
        .execute_batch(
            "DROP TRIGGER launch_stays_as_it_is; UPDATE launch SET events = substr(events, 2) WHERE number = 0",
        )
        .unwrap();
    let sql = "SELECT count(*), min(launch) FROM line";
    let found = other.query_row(sql, [], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
    });
    assert_eq!(found.unwrap(), (run.launches[1].events.len() as i64, 1));
    let error = Store::open(&path).unwrap().load(&run.info.id).unwrap_err();
    assert!(error.to_string().contains("launch 0 of run"), "{error}");
}

#[test]
fn a_number_that_changed_in_a_row_is_found() {
    for change in [
        "UPDATE event SET wall_ns = wall_ns + 1 WHERE launch = 1 AND position = 4",
        "DELETE FROM event WHERE launch = 1 AND position = 12",
        "UPDATE launch SET events = '[]' WHERE number = 1",
        "UPDATE launch SET seal = seal + 1 WHERE number = 1",
    ] {
        let (_folder, path) = common::place();
        common::old_store(&path);
        drop(Store::open(&path).unwrap());
        let other = Connection::open(&path).unwrap();
        other
            .execute_batch(
                "DROP TRIGGER event_stays; DROP TRIGGER event_stays_as_it_is; DROP TRIGGER launch_stays_as_it_is",
            )
            .unwrap();
        assert_eq!(other.execute(change, []).unwrap(), 1, "{change}");
        let store = Store::open(&path).unwrap();
        let id = old_run().info.id;
        // a history of another row goes by it too
        let history = store.series(&common::id("byte/pipe@cross"), 9, &mut |_| ());
        for read in [
            store.load(&id).map(drop),
            store.samples(&id).map(drop),
            history,
        ] {
            let error = read.unwrap_err();
            assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
            assert!(error.to_string().contains("launch 1 of run"), "{error}");
        }
    }
}
