//! Files that are not what they should be: never a crash, never a wrong figure, always a word on what to do.

mod common;

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
                told.contains("take each of them out with 'gritstone show RUN --format json'"),
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
fn a_newer_schema_is_refused_by_name_and_an_older_one_where_it_cannot_be_changed() {
    let (_folder, path) = common::place();
    common::store(&mut Store::open(&path).unwrap(), &common::run(1, 1));
    let set = |version: u32| {
        let other = Connection::open(&path).unwrap();
        other.pragma_update(None, "user_version", version).unwrap();
    };
    set(8);
    for opened in [Store::open(&path), Store::open_read_only(&path)] {
        let error = opened.unwrap_err();
        let expected = matches!(
            error,
            StoreError::Newer {
                found: 8,
                known: 7,
                ..
            }
        );
        assert!(expected, "{error:?}");
        assert!(
            error
                .to_string()
                .contains("has schema 8, and this Gritstone"),
            "{error}"
        );
    }
    set(1);
    let error = Store::open_read_only(&path).unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::Older {
                found: 1,
                known: 7,
                ..
            }
        ),
        "{error:?}"
    );
    set(7);
    assert_eq!(judge(&path, &[common::run(1, 1)]), (1, 0));
}

#[test]
fn a_store_from_before_the_triggers_is_brought_up_to_date() {
    let (_folder, path) = common::place();
    let old = Connection::open(&path).unwrap();
    old.execute_batch(include_str!("../migrations/0001_runs.sql"))
        .unwrap();
    old.execute_batch(
        "INSERT INTO migration VALUES (1, 'runs', '0.0.1');
         PRAGMA application_id = 0x47524954; PRAGMA user_version = 1",
    )
    .unwrap();
    drop(old);
    common::store(&mut Store::open(&path).unwrap(), &common::run(1, 1));
    let new = Connection::open(&path).unwrap();
    let sql = "SELECT group_concat(gritstone, ' ') FROM migration";
    let done: String = new.query_row(sql, [], |row| row.get(0)).unwrap();
    let by = env!("CARGO_PKG_VERSION");
    assert_eq!(done, format!("0.0.1 {by} {by} {by} {by} {by} {by}"));
    new.execute("DELETE FROM launch", []).unwrap_err();
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
