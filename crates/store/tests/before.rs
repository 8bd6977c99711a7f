//! Stores from before the seventh migration, whose launches have their events in rows.

mod common;

use gritstone_model::{Event, RunData};
use gritstone_store::{Store, StoreError};
use rusqlite::Connection;

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
    common::old_store(&path);
    let other = Connection::open(&path).unwrap();
    other
        .execute_batch("DROP TRIGGER run_end_stays; DELETE FROM run_end")
        .unwrap();
    drop(other);
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
    assert_eq!(count("SELECT count(*) FROM event WHERE run = 1"), 41);
    assert_eq!(count("SELECT count(*) FROM event WHERE run = 2"), 41);
    // but for numbers that only JSON has without a sign
    let rows = |run| {
        format!(
            "SELECT launch, position, kind, n, wall_ns, pace_fs, user_ns, system_ns, cpu_ns, vcsw, icsw, minflt, majflt, \
             inblock, oublock, migrations, name, value, nullif(wide_fs, 0), got IS NULL, expected IS NULL \
             FROM event WHERE run = {run}"
        )
    };
    let (old, new) = (rows(1), rows(2));
    assert_eq!(
        count(&format!("SELECT count(*) FROM ({old} INTERSECT {new})")),
        41
    );
}

#[test]
fn a_number_that_changed_in_a_row_is_found() {
    for change in [
        "UPDATE event_row SET wall_ns = wall_ns + 1 WHERE launch = 1 AND position = 4",
        "DELETE FROM event_row WHERE launch = 1 AND position = 12",
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
        for read in [Store::load, Store::samples] {
            let error = read(&store, &old_run().info.id).unwrap_err();
            assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
            assert!(error.to_string().contains("launch 1 of run"), "{error}");
        }
    }
}
