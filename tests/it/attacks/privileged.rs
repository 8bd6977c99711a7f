//! What a run of root does to the machine: only what is permitted, by the tools of root.

use crate::common::{
    DISC, Home, alone, binary, entries, make_program, messages, needs_root, result,
};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Rows that do something privileged, each another thing.
const PRIVILEGED: [&str; 7] = [
    "disk/write-nofsync",
    "vm/paging/random",
    "vm/paging/random@anonymous",
    "rt/driver-latency",
    "rt/semaphore",
    "ipc/system-v-queue/latency",
    "file/create/0k",
];

fn run(home: &Home, rows: &[&str], more: &[&str]) -> (i32, Value, String) {
    let dir = Path::new(DISC).to_str().unwrap();
    let fixed = ["--dir", dir, "--precision", "50%", "--format", "json"];
    let arguments = [&["run"], rows, &fixed[..], more].concat();
    let (code, out, error) = home.run(&arguments);
    let run = serde_json::from_str(&out).unwrap_or_default();
    (code, run, error)
}

#[test]
fn tools_on_a_path_that_others_write_to_are_not_executed_as_root() {
    needs_root();
    let _turn = alone();
    let home = Home::new();
    let (bin, marker) = (home.path().join("bin"), home.path().join("executed"));
    fs::create_dir(&bin).unwrap();
    for tool in [
        "losetup",
        "mkswap",
        "swapon",
        "swapoff",
        "mkfs.ext4",
        "mount",
        "ip",
    ] {
        let script = format!("#!/bin/sh\necho {tool} >> {}\nexit 1\n", marker.display());
        make_program(&bin.join(tool), script.as_bytes());
    }
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let rows = [
        "disk/write-nofsync",
        "vm/paging/random@anonymous",
        "rt/driver-latency@level-4",
    ];
    let mut command =
        home.gritstone(&[&["run"], &rows[..], &["--allow", "swap", "--budget", "10s"]].concat());
    command
        .args(["--dir", DISC, "--format", "json"])
        .env("PATH", path);
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        !marker.exists(),
        "{:?} {error}",
        fs::read_to_string(&marker)
    );
    // and the real ones were
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    let measured = messages(result(&run, "disk/write-nofsync"));
    assert!(!measured.contains("no new one was made"), "{measured}");
}

#[test]
fn nothing_privileged_is_done_without_privileges_as_root() {
    needs_root();
    let home = Home::new();
    let trace = home.path().join("trace");
    let calls = "trace=mount,umount2,fsopen,fsmount,move_mount,pivot_root,swapon,swapoff,unshare,setns,clone,clone3,\
        sched_setscheduler,sched_setattr,mlockall,mkdir,mkdirat,openat,openat2,ioctl,execve";
    let status = home
        .command("strace")
        .args([
            "-f",
            "-qq",
            "-s",
            "200",
            "-o",
            trace.to_str().unwrap(),
            "-e",
            calls,
        ])
        .arg(binary())
        .args(["run", "byte/loop", "--no-privileged", "--budget", "5s"])
        .args(PRIVILEGED)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&status.stderr);
    assert!(status.status.success(), "{error}");
    assert!(!error.contains("as root it uses"), "{error}");
    let text = fs::read_to_string(&trace).unwrap();
    assert!(text.lines().count() > 100, "strace saw nothing");
    let forbidden = [
        "mount(",
        "umount2(",
        "fsopen(",
        "pivot_root(",
        "swapon(",
        "swapoff(",
        "unshare(",
        "setns(",
        "CLONE_NEW",
        "sched_setscheduler(",
        "sched_setattr(",
        "mlockall(",
        "FS_IOC_SETFLAGS",
        "/dev/cpu_dma_latency",
        "losetup",
        "mkswap",
        "mkfs",
        "tracing/instances",
    ];
    for line in text.lines() {
        let found = forbidden.iter().find(|what| line.contains(**what));
        assert!(found.is_none(), "{line}");
        let group = line.contains("/sys/fs/cgroup");
        let writes = ["O_WRONLY", "O_RDWR", "mkdir"]
            .iter()
            .any(|word| line.contains(word));
        assert!(!(group && writes), "{line}");
    }
    let stored = home.json(&["show", "--format", "json"]);
    assert!(!result(&stored, "byte/loop")["estimate"].is_null());
    for row in PRIVILEGED {
        let row = result(&stored, row);
        assert_eq!(row["outcome"], "skipped");
        assert!(messages(row).contains("--no-privileged"), "{row}");
    }
}

#[test]
fn what_a_run_would_do_is_listed_and_announced_as_root() {
    needs_root();
    let home = Home::new();
    let (code, out, _) =
        home.run(&[&["run", "--dry-run", "--format", "json"], &PRIVILEGED[..]].concat());
    assert_eq!(code, 0);
    let dry: Value = serde_json::from_str(&out).unwrap();
    let actions: Vec<&str> = dry["actions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|action| action["action"].as_str().unwrap())
        .collect();
    let all = [
        "file-system",
        "trace",
        "memory-group",
        "real-time",
        "ipc-namespace",
        "directory-flag",
    ];
    assert_eq!(actions, all);
    let skipped = dry["skipped"].as_array().unwrap();
    assert_eq!(skipped.len(), 1);
    assert_eq!(skipped[0]["id"], "vm/paging/random@anonymous");
    assert!(skipped[0].to_string().contains("--allow swap"));
    assert!(!home.store().exists() && entries(&home.path().join(".local")).is_empty());
    let (_, _, error) = run(&home, &["file/create/0k"], &["--budget", "2s"]);
    assert!(
        error.contains("as root it uses a flag of the launch's directory;"),
        "{error}"
    );
    let (_, doctor, _) = home.run(&["doctor", "-v"]);
    assert!(
        doctor.contains("a swap file") && doctor.contains("--allow swap"),
        "{doctor}"
    );
}

#[test]
fn swap_is_made_only_where_it_is_allowed() {
    let _turn = alone();
    let home = Home::new();
    let row = "vm/paging/random@anonymous";
    // the areas alone: how much of them is used changes at any time
    let areas = || {
        let swaps = fs::read_to_string("/proc/swaps").unwrap();
        let area = |line: &str| line.split_whitespace().next().map(str::to_owned);
        swaps.lines().map(area).collect::<Vec<_>>()
    };
    let before = areas();
    let (code, run_of_it, error) = run(&home, &[row, "byte/loop"], &["--quick"]);
    assert_eq!(code, 0, "{error}");
    let skipped = result(&run_of_it, row);
    assert_eq!(skipped["outcome"], "skipped");
    assert!(messages(skipped).contains("--allow swap"), "{skipped}");
    assert_eq!(areas(), before);
    let (code, _, error) = run(&home, &[row], &["--allow", "swap", "--no-privileged"]);
    assert_eq!(code, 2, "{error}");
}
