//! Contention on a live machine: results have its note. Each test only requires that the expected note is among those found; tests with
//! simulated launches require that it is the only one.

use crate::common::{self, Home, Killed, alone, binary, flagged, messages, output_texts, result};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

fn spinner(_: usize) -> Killed {
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", "while :; do :; done"])
        .stdin(Stdio::null());
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

/// A control group with a fifth of a CPU, less than any neighbor leaves, version 1 or 2; `None` where this process may not make one.
struct Quota(std::path::PathBuf);

impl Quota {
    fn fifth() -> Option<Self> {
        let name = format!("gritstone-test-{}", std::process::id());
        for (parent, file, text) in [
            ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "20000"),
            ("/sys/fs/cgroup", "cpu.max", "20000 100000"),
        ] {
            let group = Path::new(parent).join(&name);
            if fs::create_dir(&group).is_err() {
                continue;
            }
            let quota = Self(group);
            if fs::write(quota.0.join(file), text).is_ok() {
                return Some(quota);
            }
        }
        None
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
#[ignore = "measures: make test-full"]
fn a_quota_is_seen_as_root() {
    let _turn = alone();
    common::needs_root();
    let quota =
        Quota::fifth().expect("a control group with a CPU quota: it takes a cpu controller");
    let home = Home::new();
    let script = format!(
        "echo $$ >{}/cgroup.procs && exec {} run byte/sieve --quick --format json",
        quota.0.display(),
        binary().display()
    );
    let mut shell = home.command("/bin/sh");
    shell.args(["-c", &script]).stdin(Stdio::null());
    let (code, out, error) = output_texts(shell.output().unwrap());
    assert_eq!(code, 0, "{error}");
    let run: Value = serde_json::from_str(&out).unwrap();
    let row = result(&run, "byte/sieve");
    assert!(flagged(row, "interference"), "{row}");
    let why = messages(row);
    assert!(why.contains("throttled") || why.contains("quota"), "{why}");
}
