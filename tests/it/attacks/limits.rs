//! Limits of the shell (`ulimit`): too low ones are named with exit 3 or leave benchmarks out, and nothing is left behind.

use crate::common::{
    Home, UNPRIVILEGED, binary, fixture, list, output_texts, processes, reason, result, traces,
};
use serde_json::Value;
use std::os::unix::fs::chown;

/// `gritstone` under limits; with `nobody`, root becomes that account, since root is exempt from process limits. The home of such a run
/// belongs to that account.
fn under(home: &Home, limits: &str, nobody: bool, line: &str) -> (i32, String, String) {
    let mut become_nobody = "";
    if nobody && nix::unistd::geteuid().is_root() {
        become_nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups";
        chown(home.path(), Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
    }
    // the account may have no access to the path of the binary
    let script = format!(
        "exec 9<\"$0\"; exec {become_nobody} bash -c 'ulimit {limits} && exec /proc/self/fd/9 \"$@\"' bash \"$@\""
    );
    let mut bash = home.command("bash");
    bash.args(["-c", &script]).arg(binary()).args(line.split(' '));
    output_texts(bash.output().unwrap())
}

fn nothing_is_left(home: &Home, limits: &str) {
    assert!(traces(home).is_empty(), "{limits}: {:?}", traces(home));
    assert_eq!(processes(home), 0, "{limits}");
    let journals = home.journals();
    assert!(journals.is_empty(), "{limits}: {journals:?}");
}

/// A run of one quick benchmark.
fn run(home: &Home) -> String {
    format!("run byte/loop --quick --dir {}", home.path().display())
}

#[test]
fn low_limits_are_named() {
    for (limits, nobody) in [
        ("-s 100", false),
        ("-v 100000", false),
        ("-n 20", false),
        ("-f 1", false),
        ("-f 100", false),
        ("-u 1", true),
        ("-u 2", true),
        ("-u 3", true),
    ] {
        let home = Home::new();
        let (code, _, error) = under(&home, limits, nobody, &run(&home));
        let option = format!("ulimit {}", &limits[..2]);
        assert_eq!(code, 3, "{limits}: {error}");
        assert!(error.contains(&option), "{limits}: {error}");
        nothing_is_left(&home, limits);
    }
}

#[test]
fn documented_limits_suffice() {
    let home = Home::new();
    let documented = "-s 1024 -v 262144 -n 64";
    let (code, _, error) = under(&home, documented, false, &run(&home));
    assert_eq!(code, 0, "{error}");
    nothing_is_left(&home, documented);
}

#[test]
fn process_limits_fail_one_benchmark() {
    let home = Home::new();
    let run = run(&home) + " sched/messaging* --format json";
    let (code, out, error) = under(&home, "-u 20", true, &run);
    assert_eq!(code, 0, "{error}");
    let run: Value = serde_json::from_str(&out).unwrap();
    assert!(result(&run, "byte/loop")["estimate"].is_number(), "{error}");
    let others = list(&run["results"]).iter();
    let failed = others.filter(|row| row["outcome"] == "failed").count();
    assert!(failed > 0 && error.contains("ulimit -u"), "{error}");
    nothing_is_left(&home, "-u 20");
}

#[test]
fn file_limits_fail_one_benchmark() {
    let home = Home::new();
    // programs have a megabyte, and the file four
    let run = run(&home) + " disk/write-nofsync --format json";
    let (code, out, error) = under(&home, "-f 2000", false, &run);
    assert_eq!(code, 0, "{error}");
    let run: Value = serde_json::from_str(&out).unwrap();
    assert!(result(&run, "byte/loop")["estimate"].is_number(), "{error}");
    let disk = result(&run, "disk/write-nofsync");
    assert_eq!(disk["outcome"], "failed", "{disk}");
    // what is started has the usual effect of the signal, which we have not
    assert!(reason(disk).contains("SIGXFSZ"), "{disk}");
    assert!(reason(disk).contains("ulimit -f"), "{disk}");
    nothing_is_left(&home, "-f 2000");
}

#[test]
fn file_limits_are_errors() {
    let home = Home::new();
    let bundle = fixture("run");
    let import = format!("import {}", bundle.display());
    // the store
    let (code, _, error) = under(&home, "-f 300", false, &import);
    assert!(code == 3 && error.contains("ulimit -f"), "{code}: {error}");
    home.ok(&import);
    // what is exported
    let export = "export run --format jsonl --output run.jsonl";
    let (code, _, error) = under(&home, "-f 10", false, export);
    assert!(code == 3 && error.contains("ulimit -f"), "{code}: {error}");
    assert!(!home.path().join("run.jsonl").exists());
}
