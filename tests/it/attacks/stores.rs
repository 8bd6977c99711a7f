//! Stores of other users, and locked ones: locks, missing rows.

use crate::common::{self, Home, at_hour, binary, ended, output_texts, recorded, start};
use gritstone_store::Store;
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use std::time::Duration;

/// A missing run, end or launch is detected by every command that reads it.
#[test]
fn missing_rows_are_reported() {
    let run = recorded("copies");
    let id = run.benchmarks[0].id.to_string();
    let runs = [1, 2, 3].map(|hour| at_hour(&run, hour, &format!("hour-{hour}")));
    for gone in [
        "DELETE FROM run WHERE number = 2",
        "DELETE FROM run_end WHERE run = 2",
        "DELETE FROM launch WHERE run = 2 AND number = 3; DELETE FROM cached_run",
        "DELETE FROM launch WHERE run = 2 AND number = (SELECT max(number) FROM launch WHERE run = 2); DELETE FROM cached_run",
    ] {
        let home = Home::new();
        let mut store = Store::open(&home.store()).unwrap();
        runs.iter().for_each(|run| store.import(run).unwrap());
        drop(store);
        assert_eq!(home.run(&["history", &id]).0, 0);
        with_triggers_off(&home, gone);
        for command in [&*format!("history {id}"), "check hour-3", "runs verify"] {
            let (_, out, error) = home.run(command);
            let printed = out + &error;
            let mut words = ["is missing", "is not as it was written", "are found"].iter();
            assert!(words.any(|word| printed.contains(word)), "{gone}: {command}: {printed}");
        }
        let (code, _, error) = home.run("runs verify");
        assert_eq!(code, 1, "{gone}: {error}");
        // reads no launch
        let (_, out, _) = home.run("doctor -v");
        let ledger = out.contains("3 runs, ledger intact");
        assert_eq!(ledger, gone.starts_with("DELETE FROM launch"), "{out}");
        let (code, _, error) = home.run(&["export", &runs[0].info.id]);
        assert_eq!(code, 0, "what is whole can be taken out: {error}");
    }
}

/// Changes a store as its triggers would not let it.
fn with_triggers_off(home: &Home, change: &str) {
    let other = Connection::open(home.store()).unwrap();
    let off = other.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false);
    assert_eq!(off, Ok(false));
    other.pragma_update(None, "foreign_keys", false).unwrap();
    other.execute_batch(change).unwrap();
}

/// A backup locks the store for longer than the timeout of a commit, during a run.
#[test]
#[ignore = "measures: make test-full"]
fn locked_stores_end_no_run() {
    let home = Home::new();
    let dir = home.path().display();
    let line = format!("run byte/loop --dir {dir} --budget 14s --precision 1%");
    let child = start(&home, &line, &[]);
    common::eventually("a launch is kept", || common::stored_launches(&home) > 0);
    let other = Connection::open(home.store()).unwrap();
    other.busy_timeout(Duration::from_secs(60)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    // longer than the store waits for a launch
    std::thread::sleep(Duration::from_secs(7));
    other.execute_batch("ROLLBACK").unwrap();
    let (code, _, error) = output_texts(child.wait_with_output().unwrap());
    assert_eq!(code, 0, "{error}");
    assert!(error.contains("is locked by another process"), "{error}");
    let view = home.json("show");
    assert!(view["elapsed_s"].is_number(), "{view}");
}

#[test]
fn unreadable_stores_are_named() {
    let home = Home::with(&["copies"]);
    let store = home.store();
    // root reads everything, so it becomes nobody, who may not read 0600; other users may not read 0000
    let (reader, mode) = match nix::unistd::geteuid().is_root() {
        true => ("setpriv --reuid=65534 --regid=65534 --clear-groups", 0o600),
        false => ("", 0o000),
    };
    common::mode(&store, mode);
    for folder in store.ancestors().skip(1).take(3) {
        common::mode(folder, 0o755);
    }
    // the account may have no access to the path of the binary
    let script = format!("exec 9<\"$0\"; exec {reader} /proc/self/fd/9 \"$@\"");
    let output = std::process::Command::new("bash")
        .args(["-c", &script])
        .arg(binary())
        .args(["show", "--store"])
        .arg(&store)
        .current_dir("/")
        .env("XDG_CONFIG_HOME", home.path().join("data"))
        .output()
        .unwrap();
    let (code, _, error) = output_texts(output);
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("cannot be read: its permissions"), "{error}");
    assert!(!error.contains("written"), "{error}");
}

#[test]
fn empty_variables_name_no_store() {
    let home = Home::with(&["copies"]);
    let (code, out, error) = ended(home.gritstone("show copies").env("GRITSTONE_STORE", ""));
    assert_eq!(code, 0, "{error}");
    assert!(out.contains("byte/loop"), "{out}");
}
