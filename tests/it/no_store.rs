//! Runs that are measured, shown and exported, and not stored.

use crate::beside::{hold_slot, warning};
use crate::common::{
    Arguments, Home, SHORT, end, end_at_once, ended, entries, eventually, list, result, start,
};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Files in a home, by their paths there.
fn files(home: &Home) -> Vec<PathBuf> {
    fn below(folder: &Path) -> Vec<PathBuf> {
        let files = |path: PathBuf| match path.is_dir() {
            true => below(&path),
            false => vec![path],
        };
        entries(folder).into_iter().flat_map(files).collect()
    }
    let within = |path: PathBuf| path.strip_prefix(home.path()).unwrap().to_owned();
    let mut files: Vec<PathBuf> = below(home.path()).into_iter().map(within).collect();
    files.sort();
    files
}

/// Paths of all keys in an object, `[]` for elements of lists.
fn keys(value: &Value) -> BTreeSet<String> {
    let below = |name: &str, value: &Value| {
        let inner = keys(value).into_iter().map(|key| format!("{name}.{key}"));
        inner.chain([name.to_owned()]).collect::<Vec<_>>()
    };
    match value {
        Value::Object(all) => all.iter().flat_map(|(name, one)| below(name, one)).collect(),
        Value::Array(all) => all.iter().flat_map(|one| below("[]", one)).collect(),
        _ => BTreeSet::new(),
    }
}

#[test]
fn commands_leave_only_exports() {
    let home = Home::new();
    let bench = "bench --no-store -r3 --export-json t.json true";
    let out = home.ok(bench);
    assert!(out.contains("3 runs"), "{out}");
    let (code, out, error) = home.run("ab --no-store --budget 2s -- true -- true");
    assert!([0, 4].contains(&code) && out.contains("b against a"), "{out}{error}");
    // names by which nothing is found
    assert!(!out.contains("(run ") && !error.contains("ab-2"), "{out}{error}");
    let ab = home.json("bench --no-store -r2 true true");
    assert!(list(&ab["sides"]).iter().all(|side| side["label"].is_null()), "{ab}");
    let (code, out, error) = home.run(&format!("run --no-store {SHORT} byte/syscall"));
    assert!(code == 0 && out.contains("byte/syscall"), "{error}{out}");
    assert!(!error.contains("next:") && !error.contains("stored"), "{error}");
    assert_eq!(files(&home), [Path::new("t.json")]);
    home.fails(2, "show last", "no run is stored yet");
}

#[test]
fn no_store_needs_no_home() {
    let home = Home::new();
    let run = format!("run --no-store {SHORT} byte/syscall");
    for line in ["systems", run.as_str()] {
        let mut command = home.gritstone(line);
        let (code, _, error) = ended(command.env_remove("HOME").env_remove("XDG_DATA_HOME"));
        assert_eq!(code, 0, "{line}: {error}");
    }
}

#[test]
fn json_has_the_same_keys() {
    let home = Home::new();
    let mut exports = vec![];
    for option in [&["--no-store"][..], &[]] {
        let bench = ["bench", "-r3", "--export-json", "t.json", "true", "sleep 0.002"];
        let run = ["run", "--quick", "--precision=50%", "byte/syscall"];
        let [mut trial, mut run] =
            [&bench[..], &run].map(|command| keys(&home.json(&[command, option].concat())));
        let text = fs::read_to_string(home.path().join("t.json")).unwrap();
        // in lists are findings that only some runs have
        for view in [&mut trial, &mut run] {
            view.retain(|key| !key.contains("[]") && !key.contains("smt_floors"));
        }
        exports.push([trial, run, keys(&serde_json::from_str(&text).unwrap())]);
    }
    assert_eq!(exports[0], exports[1]);
    assert_eq!(list(&home.json("runs --all")["runs"]).len(), 3);
}

#[test]
fn stored_runs_are_read_only() {
    let home = Home::with(&["run"]);
    let before = fs::read(home.store()).unwrap();
    let (code, out, error) =
        home.run(&format!("run --no-store {SHORT} byte/syscall --against run"));
    // inconclusive with interference; names are those of systems where these differ
    assert!(matches!(code, 0 | 4) && out.contains(" against "), "{error}{out}");
    assert_eq!(fs::read(home.store()).unwrap(), before);
    let run = home.json(&format!("run --no-store --seed 7 {SHORT} byte/syscall"));
    assert!(result(&run, "byte/syscall")["estimate"].is_number(), "{run}");
    assert_eq!(fs::read(home.store()).unwrap(), before);
}

#[test]
fn options_that_store_are_refused() {
    let home = Home::new();
    for command in [
        "run --no-store --resume",
        "bench --no-store --label x true",
        "ab --no-store --label x -- true -- true",
        "ab --no-store --of x",
    ] {
        home.refuses(command, "cannot be used with");
    }
    // a label of a configuration file does not conflict
    fs::write(home.path().join("gritstone.toml"), "[bench]\nlabel = 'x'\n").unwrap();
    home.ok("bench --no-store -r2 true");
}

#[test]
fn interrupted_trials_show_their_launches() {
    let home = Home::new();
    let log = home.path().join("log");
    let commands = ["--", "echo >> log; sleep 0.01", "--", "echo >> log; sleep 0.01"];
    let options = "ab --no-store --format json --budget 60s --margin 0.001%".words();
    let executed = || fs::read(&log).map_or(0, |log| log.len());
    let trial = start(&home, &[&options, &commands[..]].concat(), &[]);
    eventually("enough executions", || executed() > 200);
    end(&trial, Signal::SIGTERM);
    let output = trial.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let view: Value = serde_json::from_slice(&output.stdout).unwrap();
    let sides = list(&view["rows"][0]["figures"]);
    assert!(sides.iter().all(|side| side["launches"].as_u64() > Some(1)), "{view}");
    assert_eq!(files(&home), [Path::new("log")]);
}

#[test]
fn killed_runs_leave_nothing() {
    let home = Home::new();
    let mut run = start(&home, "bench --no-store -r1000 'sleep 0.1'", &[]);
    eventually("a launch", || !crate::common::traces(&home).is_empty());
    end_at_once(&mut run);
    // its watchdog
    eventually("nothing is left", || files(&home).is_empty());
}

#[test]
fn runs_without_store_see_others() {
    let home = Home::new();
    let _slot = hold_slot();
    let (code, _, error) = ended(&mut home.gritstone("bench --no-store -r2 true"));
    assert!(code == 0 && error.contains(&warning()), "{error}");
}
