//! Files that are not what they should be: never a crash, never a wrong figure, always a word on what to do.

use crate::common;
use gritstone_model::RunData;
use gritstone_store::{Store, StoreError};
use rusqlite::Connection;
use std::fs;
use std::path::Path;

/// The bytes of a store with these runs, all in one file.
fn bytes_of(runs: &[RunData]) -> Vec<u8> {
    let (_folder, path) = common::place();
    let mut store = Store::open(&path).unwrap();
    runs.iter().for_each(|run| common::store(&mut store, run));
    drop(store);
    fs::read(&path).unwrap()
}

/// Opens what is at `path`, lists it, and reads these runs: one answer for each, or none when that fails already.
fn read_all(path: &Path, runs: &[RunData]) -> Result<Vec<Result<RunData, StoreError>>, StoreError> {
    let store = Store::open(path)?;
    store.runs()?;
    Ok(runs.iter().map(|run| store.load(&run.info.id)).collect())
}

/// Whether SQLite itself finds the file damaged, when it looks at all of it.
fn found_by_sqlite(path: &Path) -> bool {
    let other = Connection::open(path).unwrap();
    let check = |row: &rusqlite::Row| row.get::<_, String>(0);
    !matches!(other.query_row("PRAGMA integrity_check", [], check), Ok(word) if word == "ok")
}

/// Holds what could be read to what was stored, and every complaint to what a person needs. How many were read,
/// and how many were not.
fn judge(path: &Path, runs: &[RunData]) -> (usize, usize) {
    let answers = match read_all(path, runs) {
        Ok(answers) => answers,
        Err(error) => {
            assert_helpful(&error, path);
            return (0, runs.len());
        }
    };
    for (answer, run) in answers.iter().zip(runs) {
        match answer {
            Ok(read) => assert_eq!(read, run),
            // the identifier itself is damaged: who asks for the run by its old one is told that there is none
            Err(StoreError::NoSuchRun { .. }) => assert!(found_by_sqlite(path)),
            Err(error) => assert_helpful(error, path),
        }
    }
    let read = answers.iter().filter(|answer| answer.is_ok()).count();
    (read, runs.len() - read)
}

/// What a person is told about a damaged file.
fn assert_helpful(error: &StoreError, path: &Path) {
    let told = error.to_string();
    let path = path.display().to_string();
    match error {
        StoreError::Damaged { .. } => {
            assert!(told.contains(&format!("{path} is damaged: ")), "{told}");
            assert!(
                told.contains("take each of them out with 'gritstone export RUN --out RUN.jsonl'"),
                "{told}"
            );
            assert!(told.contains("Then move the file away"), "{told}");
        }
        StoreError::NotADatabase { .. } => {
            assert!(
                told.starts_with(&format!("{path} is not a database. Move it away")),
                "{told}"
            );
        }
        StoreError::Altered { .. } => assert!(told.contains("its schema differs"), "{told}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn garbage_is_not_a_database_and_is_left_alone() {
    let (_folder, path) = common::place();
    let garbage = b"Real time for 25,000 system calls: 12.5 s\n".repeat(300);
    fs::write(&path, &garbage).unwrap();
    for opened in [Store::open(&path), Store::open_read_only(&path)] {
        let error = opened.unwrap_err();
        assert!(
            matches!(error, StoreError::NotADatabase { .. }),
            "{error:?}"
        );
        assert_helpful(&error, &path);
    }
    assert_eq!(fs::read(&path).unwrap(), garbage);
}

#[test]
fn the_database_of_another_program_is_left_alone() {
    let (_folder, path) = common::place();
    let other = Connection::open(&path).unwrap();
    other
        .execute_batch("CREATE TABLE run (id); INSERT INTO run VALUES (1)")
        .unwrap();
    drop(other);
    let before = fs::read(&path).unwrap();
    for opened in [Store::open(&path), Store::open_read_only(&path)] {
        let error = opened.unwrap_err();
        assert!(matches!(error, StoreError::Foreign { .. }), "{error:?}");
        assert!(error.to_string().contains("another program"), "{error}");
    }
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_newer_schema_is_refused_by_name_and_a_store_from_before_with_the_way_out() {
    let (_folder, path) = common::place();
    common::store(&mut Store::open(&path).unwrap(), &common::run(1, 1));
    let set = |pragma: &str, value: u32| {
        let other = Connection::open(&path).unwrap();
        other.pragma_update(None, pragma, value).unwrap();
    };
    set("user_version", 2);
    for opened in [Store::open(&path), Store::open_read_only(&path)] {
        let error = opened.unwrap_err();
        let (found, known) = (2, 1);
        assert!(
            matches!(error, StoreError::Newer(_, f, k) if (f, k) == (found, known)),
            "{error:?}"
        );
    }
    set("user_version", 1);
    assert_eq!(judge(&path, &[common::run(1, 1)]), (1, 0));
    set("user_version", 7);
    set("application_id", 0x4752_4954);
    let before = fs::read(&path).unwrap();
    for opened in [Store::open(&path), Store::open_read_only(&path)] {
        let error = opened.unwrap_err();
        assert!(matches!(error, StoreError::Before { .. }), "{error:?}");
        assert!(
            error.to_string().contains("gritstone export RUN --out"),
            "{error}"
        );
    }
    assert_eq!(fs::read(&path).unwrap(), before);
}

/// A view in the place of a table keeps whoever reads it busy for ever; other things could act when something is stored.
#[test]
fn a_schema_that_is_not_ours_is_refused_before_anything_in_it_is_read() {
    for (change, object) in [
        (
            "DROP TABLE launch; CREATE VIEW launch AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT x FROM r",
            "view 'launch'",
        ),
        ("CREATE TABLE more (x)", "table 'more'"),
        (
            "CREATE TRIGGER act AFTER INSERT ON run BEGIN SELECT 1; END",
            "trigger 'act'",
        ),
        (
            "DROP TRIGGER launch_is_not_removed",
            "trigger 'launch_is_not_removed'",
        ),
        (
            "DROP INDEX run_in_time; CREATE INDEX run_in_time ON run (id)",
            "index 'run_in_time'",
        ),
    ] {
        let (_folder, path) = common::place();
        Store::open(&path).unwrap();
        Connection::open(&path)
            .unwrap()
            .execute_batch(change)
            .unwrap();
        for opened in [Store::open(&path), Store::open_read_only(&path)] {
            let error = opened.unwrap_err();
            let named = matches!(&error, StoreError::Altered(_, found) if found == object);
            assert!(named, "{change}: {error:?}");
        }
    }
}

/// Changes a store as its triggers would not let it, and leaves them as they were.
fn with_triggers_off(path: &Path, change: &str) {
    let other = Connection::open(path).unwrap();
    let triggers: Vec<(String, String)> = other
        .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    other.pragma_update(None, "foreign_keys", false).unwrap();
    for (name, _) in &triggers {
        other
            .execute_batch(&format!("DROP TRIGGER {name}"))
            .unwrap();
    }
    other.execute_batch(change).unwrap();
    for (_, sql) in &triggers {
        other.execute_batch(sql).unwrap();
    }
}

/// Two rows of one table exchanged but for their keys.
const EXCHANGED: &str = "
    CREATE TEMP TABLE two AS SELECT * FROM launch WHERE number = 1;
    UPDATE two SET run = 3 - run;
    DELETE FROM launch WHERE number = 1;
    INSERT INTO launch SELECT * FROM two;";

/// What is whole row by row, and not as a whole: each change with what can still be read, of two runs of three launches and an end,
/// and of the list of runs.
#[test]
fn rows_that_are_exchanged_lost_or_repeated_are_missed() {
    let runs = [common::run(1, 3), common::run(2, 3)];
    for (change, whole) in [
        (EXCHANGED, "list"),
        (
            "DELETE FROM launch WHERE run = 1 AND number = 2",
            "second list",
        ),
        (
            "DELETE FROM launch WHERE run = 1 AND number = 1",
            "second list",
        ),
        (
            "INSERT INTO launch SELECT run, 3, seal, benchmark, round, start_ns, cpus, outcome, why, wall_ns, conditions, events \
             FROM launch WHERE run = 1 AND number = 2",
            "second list",
        ),
        (
            "DELETE FROM launch WHERE run = 1; UPDATE run_end SET launches = 0 WHERE run = 1",
            "second list",
        ),
        ("DELETE FROM run_end WHERE run = 1", "second"),
        (
            "DELETE FROM run_end WHERE run = 1; DELETE FROM launch WHERE run = 1 AND number = 2",
            "second",
        ),
        (
            "UPDATE run_end SET run = 7 - run WHERE run = 1",
            "second list",
        ),
        (
            "UPDATE run_end SET elapsed_s = 1.0 WHERE run = 2",
            "first list",
        ),
        (
            "UPDATE benchmark SET id = 'byte/other' WHERE run = 1 AND position = 0",
            "second list",
        ),
        (
            "UPDATE run SET origin = 'imported', owner_uid = NULL, owner_machine = NULL WHERE number = 1",
            "second list",
        ),
        (
            "UPDATE run SET owner_uid = 77 WHERE number = 2",
            "first list",
        ),
        ("DELETE FROM run WHERE number = 1", "second"),
        ("DELETE FROM run WHERE number = 2", "first"),
        (
            "DELETE FROM run WHERE number = 1; DELETE FROM run_end WHERE run = 1; DELETE FROM launch WHERE run = 1",
            "second",
        ),
        ("DELETE FROM ledger WHERE number = 4", "first"),
        ("UPDATE ledger SET run = 3 - run", "list"),
    ] {
        let (_folder, path) = common::place();
        let mut store = Store::open(&path).unwrap();
        runs.iter().for_each(|run| common::store(&mut store, run));
        assert_eq!(store.verify().unwrap(), [""; 0]);
        drop(store);
        with_triggers_off(&path, change);
        let store = Store::open(&path).unwrap();
        for (run, name) in runs.iter().zip(["first", "second"]) {
            match store.load(&run.info.id) {
                Ok(read) => assert!(whole.contains(name) && read == *run, "{change}"),
                Err(error) => assert!(!whole.contains(name), "{change}: {error}"),
            }
        }
        let names: [(&str, bool); 4] = [
            ("runs", store.runs().is_ok()),
            ("last", store.resolve("last").is_ok()),
            (
                "newest",
                store.newest(&[common::id("byte/pipe")], 9, None).is_ok(),
            ),
            (
                "runs_of",
                store.runs_of("m-0123", "2027", 9, &|_| true).is_ok(),
            ),
        ];
        for (what, found) in names {
            assert_eq!(found, whole.contains("list"), "{what} after {change}");
        }
        let wrong = store.verify().unwrap();
        assert!(!wrong.is_empty(), "{change}");
    }
}

#[test]
fn a_truncated_file_says_that_it_is_damaged() {
    let runs = [common::run(1, 6), common::run(2, 6)];
    let whole = bytes_of(&runs);
    assert!(whole.len() > 40_000, "{}", whole.len());
    // (SQLite takes a file of one byte for an empty one)
    for length in (2..whole.len()).step_by(whole.len() / 61) {
        let (_folder, path) = common::place();
        fs::write(&path, &whole[..length]).unwrap();
        let (_, not) = judge(&path, &runs);
        assert!(not > 0, "{length} bytes of {} are not all", whole.len());
    }
}

#[test]
fn a_flipped_byte_never_becomes_a_figure() {
    let runs = [common::run(1, 20), common::run(2, 20)];
    let whole = bytes_of(&runs);
    let (_folder, path) = common::place();
    let (mut noticed, mut salvaged) = (0, 0);
    for position in (100..whole.len()).step_by(whole.len() / 307) {
        let mut bytes = whole.clone();
        bytes[position] ^= 0x10;
        fs::write(&path, &bytes).unwrap();
        let (read, not) = judge(&path, &runs);
        noticed += usize::from(not > 0);
        salvaged += usize::from(not > 0 && read > 0);
    }
    // the rest of the flips hit empty places, and hurt nobody
    assert!(noticed > 80, "{noticed} of 307 flips were noticed");
    assert!(
        salvaged > 50,
        "in {salvaged} cases one run could be read while the other was damaged"
    );
}
