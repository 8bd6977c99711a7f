//! A wall clock that was ahead, or goes back: identifiers distinguish runs, and times are never negative. `scripts/boot` sets the clock of
//! a kernel during a run.

use crate::common::{Home, SHORT, at_hour, recorded};

/// The first hour of the year 2100.
const AHEAD: u32 = 1_139_592;

#[test]
fn clock_steps_hide_no_run() {
    let home = Home::new();
    home.import(&[at_hour(&recorded("copies"), AHEAD, "ahead")]);
    let dir = home.path().display();
    let run = home.json(&format!("run byte/loop --label now --dir {dir} {SHORT}"));
    assert_eq!(run["label"], "now");
    let elapsed = run["elapsed_s"].as_f64().unwrap();
    assert!(elapsed > 0.0 && elapsed < 3600.0, "{elapsed}");
    let shown = home.json("show now");
    assert_eq!(shown["results"], run["results"]);
    // the newest of this machine's own: the other was imported
    let last = home.json("show last");
    assert_eq!(last["label"], "now");
    home.json("compare ahead now");
}
