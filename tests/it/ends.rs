//! Runs that are killed, cut off or interrupted, stores that are damaged: nothing that was finished is lost, nothing is left
//! behind. No test asserts an absolute time.

use crate::common::{Home, eventually, kept, processes, result, start, traces};
use serde_json::Value;
use std::time::Duration;

#[test]
fn a_killed_run_leaves_no_process_and_no_directory_and_loses_no_finished_launch() {
    let home = Home::new();
    let dir = home.path().to_str().unwrap();
    for moment in [300, 700, 1100] {
        let mut child = start(
            &home,
            &["run", "byte/*", "--budget", "60s", "--dir", dir],
            &[],
        );
        std::thread::sleep(Duration::from_millis(moment));
        eventually("a launch is kept", || kept(&home) > 0);
        child.kill().unwrap();
        child.wait().unwrap();
        // everything that it had started ends with it
        eventually("no process is left", || processes(&home) == 0);
        assert!(kept(&home) > 0);
        // by its watchdog, not by the next start
        assert!(traces(&home).is_empty(), "{:?}", traces(&home));
    }
}

#[test]
fn a_run_that_was_cut_off_goes_on() {
    let home = Home::new();
    let dir = home.path().to_str().unwrap();
    let rows = ["byte/loop", "byte/sieve"];
    let (code, _, error) = home.run(&["run", "--resume"]);
    assert!(
        code == 2 && error.contains("no run is stored yet"),
        "{error}"
    );

    let mut child = start(
        &home,
        &[
            "run",
            rows[0],
            rows[1],
            "--budget",
            "6s",
            "--precision",
            "10%",
            "--dir",
            dir,
        ],
        &[],
    );
    eventually("a launch is kept", || kept(&home) > 1);
    // while it goes on, nobody else does
    let (code, _, error) = home.run(&["run", "--resume=last"]);
    let process = format!("process {} is measuring it", child.id());
    assert!(code == 2 && error.contains(&process), "{error}");
    let (code, _, error) = home.run(&["run", "--resume"]);
    assert!(code == 2 && error.contains("was interrupted"), "{error}");
    child.kill().unwrap();
    child.wait().unwrap();
    let before = home.json(&["show", "--format", "json"]);
    assert!(before["elapsed_s"].is_null());
    let cut = launches_of(&home);

    let after = home.json(&["run", "--resume", "--format", "json"]);
    assert_eq!(after["id"], before["id"]);
    assert!(after["elapsed_s"].as_f64().unwrap() > 0.0);
    for id in rows {
        let launches = |run: &Value| result(run, id)["launches"].as_u64().unwrap();
        // ten, less those beside which another thread of the core was busy
        assert!(launches(&after) >= 6, "{id}");
    }
    // what was kept is still the beginning of what is there
    assert_eq!(launches_of(&home)[..cut.len()], cut[..]);
    let (code, _, error) = home.run(&["run", "--resume"]);
    assert!(
        code == 2 && error.contains("no run of this user on this system was interrupted"),
        "{error}"
    );
}

/// The launches of the last run, as they were stored.
fn launches_of(home: &Home) -> Vec<String> {
    let (code, bundle, error) = home.run(&["export", "--format", "jsonl"]);
    assert_eq!(code, 0, "{error}");
    let launches = bundle
        .lines()
        .filter(|line| line.starts_with("{\"launch\":"));
    launches.map(str::to_owned).collect()
}

#[test]
fn an_interrupt_keeps_and_shows_what_is_finished() {
    let home = Home::new();
    let dir = home.path().to_str().unwrap();
    let child = start(
        &home,
        &[
            "run",
            "byte/loop",
            "byte/sieve",
            "--budget",
            "60s",
            "--precision",
            "0.01%",
            "--dir",
            dir,
        ],
        &[],
    );
    eventually("a launch is kept", || kept(&home) > 1);
    let pid = nix_pid(child.id());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{error}");
    assert!(error.contains("finished launches are stored"), "{error}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("byte/loop"));
    assert!(traces(&home).is_empty() && processes(&home) == 0);
}

fn nix_pid(id: u32) -> nix::unistd::Pid {
    nix::unistd::Pid::from_raw(i32::try_from(id).unwrap())
}
