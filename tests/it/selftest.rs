//! `gritstone noise`, and what comparisons learn from the runs in the store.
//!
//! Two short runs are measured; the others are copies of one of them with times of their own.

use crate::common::{Home, ended, eventually, result, start, words};
use gritstone_model::{Conditions, Event, Launch, RunData};
use gritstone_store::Store;
use serde_json::Value;

/// A home with two short runs that a self-test has measured, and what it said.
fn measured() -> (Home, Value, i32) {
    let home = Home::new();
    let (code, out, err) = home.run(&words(
        "selftest byte/syscall byte/object-size --runs 2 --budget 3s --format json",
    ));
    assert!(code == 0 || code == 1, "{code} {err}");
    (home, serde_json::from_str(&out).unwrap(), code)
}

/// A copy of a run in which an operation takes so many nanoseconds, a little more or less from launch to launch, on a core
/// that others leave alone. It has nine launches of its row, however many there was time for.
fn copy(run: &RunData, at: usize, ns: f64) -> RunData {
    let mut run = run.clone();
    let is_row = |launch: &&Launch| launch.id.as_str() == "byte/syscall";
    let measured: Vec<Launch> = run.launches.iter().filter(is_row).cloned().collect();
    run.launches = (0..9)
        .zip(measured.iter().cycle())
        .map(|(round, launch)| Launch {
            round,
            ..launch.clone()
        })
        .collect();
    run.info.id = format!("20250101-00000{at}-00000000");
    run.info.started = format!("2025-01-01T00:00:0{at}Z");
    run.info.label = Some(format!("copies-{at}"));
    for (number, launch) in run.launches.iter_mut().enumerate() {
        let ns = ns * (1.0 + 0.001 * (number % 3) as f64);
        launch.conditions = Conditions {
            wall: launch.conditions.wall,
            ..Conditions::default()
        };
        for event in &mut launch.events {
            match event {
                Event::Sample(sample) => {
                    sample.wall = (sample.n as f64 * ns) as u64;
                    sample.pace = 250_000;
                    sample.wide = 62_500;
                }
                Event::Batch(batch) => (batch.pace, batch.wide) = (250_000, 62_500),
                Event::Warm { n, wall } => *wall = (*n as f64 * ns) as u64,
                _ => {}
            }
        }
    }
    run
}

/// What scripts/drift-table makes of the output of a self-test.
fn table(said: &str) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/drift-table");
    let (code, out, err) = ended(assert_cmd::Command::new(script).write_stdin(said));
    assert_eq!(code, 0, "{err}");
    out
}

#[test]
fn runs_are_measured_kept_compared_and_learned_from() {
    let (home, said, code) = measured();
    assert_eq!(said["schema"], "gritstone/selftest/2");
    assert_eq!(said["passed"], code == 0);
    let rows = said["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "a size does not vary: {said}");
    assert_eq!(rows[0]["id"], "byte/syscall");
    assert_eq!(rows[0]["counted"], "cycles");
    assert!(rows[0]["raw"]["between"].as_f64().unwrap() > 0.0);
    // what others disturbed is told from a change by nothing, and so not compared
    let compared = i32::from(rows[0]["disturbed"] == 0);
    assert_eq!(
        (&rows[0]["pairs"], &said["pairs"]["compared"]),
        (&compared.into(), &compared.into())
    );

    // they are runs like all others
    let runs = said["runs"].as_array().unwrap();
    let label = runs[0]["label"].as_str().unwrap();
    let stem = label.strip_suffix("-1").unwrap();
    assert!(stem.starts_with("noise-"), "{label}");
    let run = home.json(&["show", label, "--format", "json"]);
    assert!(result(&run, "byte/syscall")["estimate"].is_number());
    let (again, out, _) = home.run(&["selftest", "--of", stem, "--format", "json"]);
    assert_eq!(again, code);
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap(), said);
    let (_, text, _) = home.run(&["selftest", "--of", stem]);
    assert!(text.contains("A/A test on"), "{text}");

    let other = runs[1]["label"].as_str().unwrap();
    let compare = ["compare", label, other, "--format", "json"];
    let told = |home: &Home| home.json(&compare)["between_run"].clone();
    assert_eq!(
        (&told(&home)["rows"], &told(&home)["default"]),
        (&1.into(), &1.into())
    );
    let mut store = Store::open(&home.store()).unwrap();
    let data = store.load(runs[0]["id"].as_str().unwrap()).unwrap();
    for at in 0..6 {
        store
            .import(&copy(&data, at, 100.0 + 0.1 * at as f64))
            .unwrap();
    }
    drop(store);
    assert_eq!(
        (&told(&home)["default"], &told(&home)["runs"]),
        (&0.into(), &serde_json::json!([6, 6]))
    );

    // the copies scatter by 0.19 %, well within every limit
    let (code, out, err) = home.run(&["selftest", "--of", "copies", "--format", "json"]);
    assert_eq!(code, 0, "{err}");
    let said: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(said["pairs"]["compared"], 15);
    let sd = said["rows"][0]["raw"]["between"].as_f64().unwrap();
    assert!((sd - 0.001_87).abs() < 2e-5, "{sd}");

    let table = table(&out);
    assert!(
        table.contains("\n| byte/syscall | 0.19 % (0.12 to 0.46) | 0.19 % ("),
        "{table}"
    );
    assert!(
        table.contains("Called different: 0 of 15 pairs (p = 1): passed."),
        "{table}"
    );

    // one that is another is found, and fails the trial
    let mut store = Store::open(&home.store()).unwrap();
    store.import(&copy(&data, 7, 150.0)).unwrap();
    drop(store);
    let (code, out, err) = home.run(&["selftest", "--of", "copies", "--format", "json"]);
    assert_eq!(code, 1, "{err}");
    assert!(
        err.contains("too often the same is called different"),
        "{err}"
    );
    let said: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(said["pairs"]["different"], 6);
}

#[test]
fn what_cannot_be_compared_is_said() {
    let home = Home::new();
    let (code, _, err) = home.run(&["selftest", "--of", "nothing"]);
    assert!(
        code == 2 && err.contains("no run is stored yet"),
        "{code} {err}"
    );
    let (code, _, err) = home.run(&["selftest", "--runs", "1"]);
    assert!(code == 2 && err.contains("1"), "{code} {err}");
    let (code, _, err) = home.run(&["selftest", "byte/*", "--of", "last"]);
    assert!(code == 2 && err.contains("--of"), "{code} {err}");

    let one = [
        "run",
        "byte/object-size",
        "--label",
        "a",
        "--quick",
        "--format",
        "json",
    ];
    home.json(&one);
    let (code, _, err) = home.run(&["selftest", "--of", "a"]);
    assert!(code == 2 && err.contains("with itself"), "{code} {err}");
    let (code, _, err) = home.run(&["selftest", "--of", "a", "nobody"]);
    assert!(code == 2 && err.contains("nobody"), "{code} {err}");
    home.json(&one);
    // both of that name, which have nothing that could vary
    let (code, _, err) = home.run(&["selftest", "--of", "a"]);
    assert!(
        code == 3 && err.contains("no benchmark is in all runs"),
        "{code} {err}"
    );
}

#[test]
fn the_second_run_can_be_stopped_as_the_first_can() {
    let home = Home::new();
    let rows = ["selftest", "byte/syscall", "--budget", "4s", "--runs", "50"];
    let child = start(&home, &rows, &[]);
    let runs = || {
        let store = Store::open_read_only(&home.store());
        store.map_or(0, |store| store.runs().unwrap().len())
    };
    eventually("a second run", || runs() > 1);
    let pid = nix::unistd::Pid::from_raw(child.id().cast_signed());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(runs() < 50, "{said}");
}
