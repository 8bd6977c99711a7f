//! Response to events: every benchmark has a result or a reason, and refused privileges are reported, not replaced.

use crate::common::{
    self, DISC, Home, SHORT, UNPRIVILEGED, alone, binary, flagged, list, messages, needs_root,
    output_texts, result,
};
use nix::unistd::geteuid;
use serde_json::Value;
use std::os::unix::process::CommandExt;

/// Benchmarks without privilege or disk.
const ANYBODYS: [&str; 7] = [
    "rt/clock-overhead",
    "rt/clock-tick",
    "rt/turnaround-driver/hpib",
    "rt/turnaround-driver/pic",
    "rt/turnaround-user/hpib-80",
    "rt/turnaround-user/pic-1",
    "rt/user-latency@time-shared",
];

/// Why a benchmark has no result.
fn reason(row: &Value) -> String {
    let why = common::reason(row);
    assert!(!why.is_empty(), "no result and no reason: {row}");
    why
}

/// Whether a benchmark has a result of ordered events.
fn is_measured(row: &Value) -> bool {
    let trivialised = flagged(row, "invalid");
    assert!(!trivialised, "{row}");
    if row["estimate"].is_null() {
        return false;
    }
    let statistic = |name: &str| row["statistics"][name].as_f64().unwrap();
    let order = ["min", "median", "mean", "max"].map(statistic);
    assert!(order[0] > 0.0 && order[0] <= order[1] && order[1] <= order[3], "{row}");
    assert!(order[0] <= order[2] && order[2] <= order[3], "{row}");
    if row["id"] != "rt/clock-overhead" {
        // fewer than 29 events, which a slow disk may do, have none; where a launch has fewer, it is one of all events together, and
        // the median is that of launches still
        let percentiles = &row["statistics"]["percentiles"];
        let p90 = percentiles["p90"].as_f64().unwrap_or(order[3]);
        assert!(order[0] <= p90 && p90 <= order[3], "{row}");
    }
    true
}

#[test]
#[ignore = "measures: make test-full"]
fn real_time_results_or_remedies_as_root() {
    needs_root();
    let _turn = alone();
    let home = Home::new();
    let benchmarks = "rt/* rt/user-latency@time-shared";
    let line = format!("run {benchmarks} {SHORT} --dir {DISC}");
    let run = home.json(&line);
    let results = list(&run["results"]);
    let with = |row: &&Value| row["kind"] == "kernel";
    for row in results.iter().filter(with) {
        if !is_measured(row) {
            let why = reason(row);
            let mends = ["it takes", "--dir"];
            assert!(mends.iter().any(|by| why.contains(by)), "{why}");
        }
    }
    for id in ANYBODYS {
        assert!(is_measured(result(&run, id)), "{id}");
    }
    let stand_in = |id| flagged(result(&run, id), "not-comparable");
    for id in "rt/turnaround-user/pic-1 rt/turnaround-driver/disk rt/raw-disk/8k".split(' ') {
        assert!(stand_in(id), "{id}");
    }
    assert!(!stand_in("rt/semaphore"));
}

/// The same binary as an unprivileged user, if the tests run as root.
fn unprivileged(home: &Home, line: &str) -> (i32, String, String) {
    let mut command = home.command(binary());
    command.args(line.split(' '));
    if geteuid().is_root() {
        std::os::unix::fs::chown(home.path(), Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
        command.uid(UNPRIVILEGED).gid(UNPRIVILEGED);
    }
    output_texts(command.output().unwrap())
}

#[test]
#[ignore = "measures: make test-full"]
fn unprivileged_skips_name_permissions() {
    let _turn = alone();
    let home = Home::new();
    let benchmarks =
        "rt/driver-latency rt/user-latency rt/semaphore rt/message/80 rt/turnaround-driver/disk";
    let line = format!("run {benchmarks} {} {SHORT} --format json", ANYBODYS.join(" "));
    let (code, out, error) = unprivileged(&home, &line);
    assert_eq!(code, 0, "{error}");
    let run: Value = serde_json::from_str(&out).unwrap();
    for id in ["rt/driver-latency", "rt/turnaround-driver/disk"] {
        let why = reason(result(&run, id));
        // it lacks both the trace and real-time priority, and says one of them
        let named = why.contains("trace") || why.contains("SCHED_FIFO");
        assert!(named && why.contains("root"), "{why}");
    }
    for id in ANYBODYS {
        assert!(is_measured(result(&run, id)), "{id}");
    }
    let text = messages(result(&run, "rt/user-latency@time-shared"));
    assert!(text.contains("is unknown"), "{text}");
    for id in ["rt/user-latency", "rt/semaphore", "rt/message/80"] {
        let row = result(&run, id);
        // a user may be allowed real-time priority
        if !is_measured(row) {
            let why = reason(row);
            let named = why.contains("SCHED_FIFO") && why.contains("ulimit -r 80");
            assert!(named || why.contains("IPC namespace"), "{why}");
        }
    }
}
