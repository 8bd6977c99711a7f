//! What a run of root does to the machine: only what is permitted, by the tools of root.

use crate::common::{
    DISC, Home, alone, binary, ended, entries, list, make_script, messages, needs_root,
    output_texts, result,
};
use serde_json::Value;
use std::fs;

/// Benchmarks that do something privileged, each another thing.
const PRIVILEGED: &str = "disk/write-nofsync vm/paging/random@file vm/paging/random \
    rt/driver-latency rt/semaphore ipc/system-v-queue/latency file/create/0k";

fn run(home: &Home, rows_and_more: &str) -> (i32, Value, String) {
    let fixed = format!("--dir {DISC} --precision 50% --format json");
    let (code, out, error) = home.run(&format!("run {rows_and_more} {fixed}"));
    let run = serde_json::from_str(&out).unwrap_or_default();
    (code, run, error)
}

#[test]
#[ignore = "measures: make test-full"]
fn writable_paths_execute_nothing_as_root() {
    needs_root();
    let _turn = alone();
    let home = Home::new();
    let (bin, marker) = (home.path().join("bin"), home.path().join("executed"));
    fs::create_dir(&bin).unwrap();
    for tool in "losetup mkswap swapon swapoff mkfs.ext4 mount ip".split(' ') {
        make_script(bin.join(tool), &format!("echo {tool} >> {}\nexit 1", marker.display()));
    }
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let benchmarks = "disk/write-nofsync vm/paging/random rt/driver-latency@level-4";
    let line = format!("run {benchmarks} --allow swap --quick --dir {DISC} --format json");
    let (_, out, error) = ended(home.gritstone(&line).env("PATH", path));
    let executed = fs::read_to_string(&marker);
    assert!(executed.is_err(), "{executed:?} {error}");
    // and the real ones were
    let run: Value = serde_json::from_str(&out).unwrap();
    let measured = messages(result(&run, "disk/write-nofsync"));
    assert!(!measured.contains("no new one was made"), "{measured}");
}

#[test]
fn unprivileged_runs_change_nothing_as_root() {
    needs_root();
    let home = Home::new();
    let trace = home.path().join("trace");
    let calls = "trace=mount,umount2,fsopen,fsmount,move_mount,pivot_root,swapon,swapoff,unshare,setns,clone,clone3,\
        sched_setscheduler,sched_setattr,mlockall,mkdir,mkdirat,openat,openat2,ioctl,execve";
    let mut command = home.command("strace");
    command
        .args("-f -qq -s 200 -e".split(' '))
        .args([calls, "-o", trace.to_str().unwrap()])
        .arg(binary())
        .args("run byte/loop --no-privileged --budget 5s".split(' '))
        .args(PRIVILEGED.split_whitespace());
    let (code, _, error) = output_texts(command.output().unwrap());
    assert_eq!(code, 0, "{error}");
    assert!(!error.contains("as root this run uses"), "{error}");
    let text = fs::read_to_string(&trace).unwrap();
    assert!(text.lines().count() > 100, "strace saw nothing");
    let forbidden = "mount( umount2( fsopen( pivot_root( swapon( swapoff( unshare( setns( CLONE_NEW \
        sched_setscheduler( sched_setattr( mlockall( FS_IOC_SETFLAGS /dev/cpu_dma_latency \
        losetup mkswap mkfs tracing/instances";
    for line in text.lines() {
        let found = forbidden.split_whitespace().find(|what| line.contains(*what));
        assert!(found.is_none(), "{line}");
        let group = line.contains("/sys/fs/cgroup");
        let writes = ["O_WRONLY", "O_RDWR", "mkdir"].iter().any(|word| line.contains(word));
        assert!(!(group && writes), "{line}");
    }
    let stored = home.json("show");
    assert!(!result(&stored, "byte/loop")["estimate"].is_null());
    for id in PRIVILEGED.split_whitespace() {
        let row = result(&stored, id);
        assert_eq!(row["outcome"], "skipped");
        assert!(messages(row).contains("--no-privileged"), "{row}");
    }
}

#[test]
fn privileged_actions_are_announced_as_root() {
    needs_root();
    let home = Home::new();
    let dry = home.json(&format!("run --dry-run {PRIVILEGED}"));
    let actions = list(&dry["actions"]).iter();
    let all =
        ["file-system", "trace", "memory-group", "real-time", "ipc-namespace", "directory-flag"];
    assert!(actions.map(|action| &action["action"]).eq(all), "{dry}");
    let skipped = list(&dry["skipped"]);
    assert_eq!(skipped.len(), 1);
    assert_eq!(skipped[0]["id"], "vm/paging/random");
    assert!(skipped[0].to_string().contains("--allow swap"));
    assert!(!home.store().exists() && entries(&home.path().join(".local")).is_empty());
    let (_, _, error) = run(&home, "file/create/0k --budget 2s");
    let reason = "as root this run uses a flag of the launch's directory (";
    assert!(error.contains(reason), "{error}");
    let (_, doctor, _) = home.run("doctor -v");
    let parts = ["a swap file", "--allow swap"];
    assert!(parts.iter().all(|text| doctor.contains(text)), "{doctor}");
}

#[test]
fn swap_needs_permission() {
    let _turn = alone();
    let home = Home::new();
    let row = "vm/paging/random";
    let (code, run_of_it, error) = run(&home, &format!("{row} byte/loop --quick"));
    assert_eq!(code, 0, "{error}");
    let skipped = result(&run_of_it, row);
    assert_eq!(skipped["outcome"], "skipped");
    assert!(messages(skipped).contains("--allow swap"), "{skipped}");
    // other runs may have swap files, but not below this directory
    let swaps = fs::read_to_string("/proc/swaps").unwrap();
    assert!(!swaps.contains(DISC), "{swaps}");
    let (code, _, error) = run(&home, &format!("{row} --allow swap --no-privileged"));
    assert_eq!(code, 2, "{error}");
}
