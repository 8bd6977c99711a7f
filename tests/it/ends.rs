//! Interrupted runs: no finished launch is lost, and no file is left behind. Kills are in attacks/kills.rs. No test asserts an absolute
//! time.

use crate::common::{
    Home, end, end_at_once, eventually, output_texts, processes, start, stored_launches, traces,
};
use nix::sys::signal::Signal;

#[test]
fn interrupted_runs_resume() {
    let home = Home::new();
    home.refuses("run --resume", "no run is stored yet");
    let dir = home.path().display();
    let line = format!("run byte/loop byte/sieve --precision 10% --dir {dir}");
    let mut child = start(&home, &line, &[]);
    eventually("a launch is kept", || stored_launches(&home) > 1);
    // no other process may measure meanwhile
    let process = format!("process {} is measuring it", child.id());
    home.refuses("run --resume=last", &process);
    home.refuses("run --resume", "was interrupted");
    assert_eq!(home.json("runs")["runs"][0]["measuring"], true);
    assert!(home.ok("runs").contains("run, measuring"));
    end_at_once(&mut child);
    assert!(home.ok("runs").contains("run, interrupted"));
    let before = home.json("show");
    assert!(before["elapsed_s"].is_null());
    let cut = launches_of(&home);

    let after = home.json("run --resume");
    assert_eq!(after["id"], before["id"]);
    assert!(after["elapsed_s"].as_f64().unwrap() > 0.0);
    let stored = launches_of(&home);
    for id in ["byte/loop", "byte/sieve"] {
        let matching = |launch: &&String| launch.contains(&format!("\"id\":\"{id}\""));
        assert!(stored.iter().filter(matching).count() >= 10, "{id}: {stored:?}");
    }
    // what was kept is still the beginning of what is there
    assert_eq!(stored[..cut.len()], cut[..]);
    let none = "no run of this user on this system was interrupted";
    home.refuses("run --resume", none);
}

/// The launches of the last run, as they were stored.
fn launches_of(home: &Home) -> Vec<String> {
    let bundle = home.ok("export");
    let launch = |line: &&str| line.starts_with("{\"launch\":");
    bundle.lines().filter(launch).map(str::to_owned).collect()
}

#[test]
fn interrupts_show_finished_results() {
    let home = Home::new();
    let dir = home.path().display();
    let line = format!("run byte/loop byte/sieve --budget 60s --precision 0.01% --dir {dir}");
    let child = start(&home, &line, &[]);
    eventually("a launch is kept", || stored_launches(&home) > 1);
    end(&child, Signal::SIGINT);
    let (code, out, error) = output_texts(child.wait_with_output().unwrap());
    assert_eq!(code, 130, "{error}");
    assert!(error.contains("finished launches are stored"), "{error}");
    assert!(out.contains("byte/loop"), "{out}");
    assert!(error.contains("next: gritstone run --resume"), "{error}");
    assert!(traces(&home).is_empty() && processes(&home) == 0);
}
