//! `gritstone noise`, and what comparisons learn from the runs in the store.
//!
//! Two short runs are measured; the others are copies of one of them with times of their own.

use crate::common::{Home, end, ended, eventually, list, result, said, start};
use gritstone_model::{Conditions, Event, Launch, RunData};
use gritstone_store::Store;
use nix::sys::signal::Signal;
use serde_json::Value;

/// A home with two short runs that a self-test has measured, and what it said.
fn measured() -> (Home, Value, i32) {
    let home = Home::new();
    let line = "selftest byte/syscall byte/object-size --runs 2 --budget 8s --format json";
    let (code, out, err) = home.run(line);
    assert!(code == 0 || code == 1, "{code} {err}");
    (home, serde_json::from_str(&out).unwrap(), code)
}

/// A copy of a run in which an operation takes so many nanoseconds, a little more or less from launch to launch, on a core
/// that others leave alone. It has nine launches of its row, however many there was time for.
fn copy(run: &RunData, at: usize, ns: f64) -> RunData {
    let mut run = run.clone();
    let is_row = |launch: &&Launch| launch.id.as_str() == "byte/syscall";
    let measured: Vec<Launch> = run.launches.iter().filter(is_row).cloned().collect();
    run.launches = measured.into_iter().cycle().take(9).collect();
    run.info.id = format!("20250101-00000{at}-00000000");
    run.info.started = format!("2025-01-01T00:00:0{at}Z");
    run.info.label = Some(format!("copies-{at}"));
    for (number, launch) in (0..).zip(&mut run.launches) {
        let ns = ns * (1.0 + 0.001 * f64::from(number % 3));
        launch.round = number;
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
#[ignore = "measures: make test-full"]
fn runs_are_measured_kept_compared_and_learned_from() {
    let (home, said, code) = measured();
    assert_eq!(said["schema"], "gritstone/selftest/2");
    assert_eq!(said["passed"], code == 0);
    let rows = list(&said["rows"]);
    assert_eq!(rows.len(), 1, "a size does not vary: {said}");
    assert_eq!(rows[0]["id"], "byte/syscall");
    assert_eq!(rows[0]["counted"], "cycles");
    assert!(rows[0]["raw"]["between"].as_f64().unwrap() > 0.0);
    // what others disturbed is told from a change by nothing, and so not compared
    let compared = i32::from(rows[0]["disturbed"] == 0);
    assert_eq!(
        [&rows[0]["pairs"], &said["pairs"]["compared"]],
        [compared; 2]
    );

    // they are runs like all others
    let runs = list(&said["runs"]);
    let label = runs[0]["label"].as_str().unwrap();
    let stem = label.strip_suffix("-1").unwrap();
    assert!(stem.starts_with("noise-"), "{label}");
    let run = home.json(&["show", label]);
    assert!(result(&run, "byte/syscall")["estimate"].is_number());
    let (again, out, _) = home.run(&["selftest", "--of", stem, "--format", "json"]);
    assert_eq!(again, code);
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap(), said);
    let (_, text, _) = home.run(&["selftest", "--of", stem]);
    assert!(text.contains("A/A test on"), "{text}");

    let other = runs[1]["label"].as_str().unwrap();
    let told = |key: &str| home.json(&["compare", label, other])["between_run"][key].clone();
    assert_eq!([told("rows"), told("default")], [1, 1]);
    let mut store = Store::open(&home.store()).unwrap();
    let data = store.load(runs[0]["id"].as_str().unwrap()).unwrap();
    for at in 0..6 {
        let ns = 100.0 + 0.1 * at as f64;
        store.import(&copy(&data, at, ns)).unwrap();
    }
    drop(store);
    assert_eq!(
        [told("default"), told("runs")],
        [0.into(), serde_json::json!([6, 6])]
    );

    // the copies scatter by 0.19%, well within every limit
    let out = home.ok("selftest --of copies --format json");
    let said: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(said["pairs"]["compared"], 15);
    let sd = said["rows"][0]["raw"]["between"].as_f64().unwrap();
    assert!((sd - 0.001_87).abs() < 2e-5, "{sd}");

    let table = table(&out);
    for line in [
        "\n| byte/syscall | 0.19% (0.12 to 0.46) | 0.19% (",
        "Called different: 0 of 15 pairs (p = 1): passed.",
    ] {
        assert!(table.contains(line), "{table}");
    }

    // one that is another is found, and fails the trial
    let mut store = Store::open(&home.store()).unwrap();
    store.import(&copy(&data, 7, 150.0)).unwrap();
    drop(store);
    let (code, out, err) = home.run("selftest --of copies --format json");
    assert_eq!(code, 1, "{err}");
    let too_often = "too often the same is called different";
    assert!(err.contains(too_often), "{err}");
    let said: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(said["pairs"]["different"], 6);
}

#[test]
fn what_cannot_be_compared_is_said() {
    let home = Home::new();
    home.refuses("selftest --of nothing", "no run is stored yet");
    home.refuses("selftest --runs 1", "1");
    home.refuses("selftest byte/* --of last", "--of");

    let one = "run byte/object-size --label a --quick";
    home.ok(one);
    home.refuses("selftest --of a", "with itself");
    home.refuses("selftest --of a nobody", "nobody");
    home.ok(one);
    // both of that name, which have nothing that could vary
    home.fails(3, "selftest --of a", "no benchmark is in all runs");
}

#[test]
fn the_second_run_can_be_stopped_as_the_first_can() {
    let home = Home::new();
    let child = start(&home, "selftest byte/syscall --budget 4s --runs 50", &[]);
    let runs = || {
        let store = Store::open_read_only(&home.store());
        store.map_or(0, |store| store.runs().unwrap().len())
    };
    eventually("a second run", || runs() > 1);
    end(&child, Signal::SIGTERM);
    let (code, _, error) = said(child.wait_with_output().unwrap());
    assert_eq!(code, 130, "{error}");
    assert!(runs() < 50, "{error}");
}
