//! Contention on a live machine: results have its note. Each test only requires that the expected note is among those found; tests with
//! simulated launches require that it is the only one.

use crate::common::{self, Home, Killed, alone, binary, flagged, messages, output_texts, result};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

fn spinner(_: usize) -> Killed {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "while :; do :; done"]).stdin(Stdio::null());
    Killed(shell.spawn().unwrap())
}

#[test]
#[ignore = "measures: make test-full"]
fn interference_is_flagged() {
    let _turn = alone();
    let home = Home::new();
    // one for each CPU, wherever the measured one is
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let _others: Vec<Killed> = (0..cpus).map(spinner).collect();
    let run = home.json("run byte/sieve --quick");
    let row = result(&run, "byte/sieve");
    assert!(flagged(row, "interference"), "{row}");
    // and the figure is still one of work that was done
    assert!(!flagged(row, "invalid"), "{row}");
}

/// A fifth of a CPU, less than any neighbor leaves.
const FIFTH: [[&str; 3]; 2] = [
    ["/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "20000"],
    ["/sys/fs/cgroup", "cpu.max", "20000 100000"],
];
const MEMORY: [[&str; 3]; 2] = [
    ["/sys/fs/cgroup/memory", "memory.limit_in_bytes", "120M"],
    ["/sys/fs/cgroup", "memory.max", "120M"],
];

/// A control group with a limit, version 1 or 2.
struct Group(std::path::PathBuf);

impl Group {
    fn new(limits: [[&str; 3]; 2]) -> Self {
        let name = format!("gritstone-test-{}", std::process::id());
        let group = limits.into_iter().find_map(|[parent, file, text]| {
            let group = Path::new(parent).join(&name);
            fs::create_dir(&group).ok()?;
            let group = Self(group);
            fs::write(group.0.join(file), text).ok()?;
            Some(group)
        });
        group.expect("a control group with a limit: it takes controllers")
    }

    /// Exit code and output of a run in the group.
    fn run(&self, home: &Home, arguments: &str) -> (i32, String, String) {
        let script = format!(
            "echo $$ >{}/cgroup.procs && exec {} run {arguments}",
            self.0.display(),
            binary().display()
        );
        let mut shell = home.command("/bin/sh");
        shell.args(["-c", &script]).stdin(Stdio::null());
        output_texts(shell.output().unwrap())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
#[ignore = "measures: make test-full"]
fn a_quota_is_seen_as_root() {
    let _turn = alone();
    common::needs_root();
    let home = Home::new();
    let group = Group::new(FIFTH);
    let (code, out, error) = group.run(&home, "byte/sieve --quick --format json");
    assert_eq!(code, 0, "{error}");
    let run: Value = serde_json::from_str(&out).unwrap();
    let row = result(&run, "byte/sieve");
    assert!(flagged(row, "interference"), "{row}");
    let why = messages(row);
    assert!(why.contains("throttled") || why.contains("quota"), "{why}");
}

#[test]
#[ignore = "measures: make test-full"]
fn groups_limit_working_sets_as_root() {
    common::needs_root();
    let home = Home::new();
    let group = Group::new(MEMORY);
    let (code, _, error) = group.run(&home, "memory/latency/beyond --quick");
    // caches of less than 15 MB fit
    let is_skipped = error.contains("is more than half of the free memory");
    assert!(code == 0 || code == 3 && is_skipped, "{error}");
}
