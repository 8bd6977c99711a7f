//! Benchmarks of files and disks: they do their work, unprivileged users get those without privilege, and refusals of the kernel are
//! reported.

use crate::common::workload::{built, workload_output};
use crate::common::{
    self, DISC, Home, SHORT, UNPRIVILEGED, alone, has_loops, list, measured, messages, mode,
    needs_root, ours, output_texts, reason, result, traces,
};
use nix::libc;
use nix::unistd::{chown, geteuid};
use serde_json::Value;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;

fn says(result: &Value, words: &str) -> bool {
    messages(result).contains(words)
}

/// Events of one kind in the launches of a benchmark in the last run.
fn events_of(home: &Home, id: &str, kind: &str) -> Vec<Value> {
    let bundle = home.ok("export last");
    let launches = bundle.lines().filter_map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        let launch = line["launch"].take();
        (launch["id"] == id).then_some(launch)
    });
    let events = launches.flat_map(|launch| list(&launch["events"]).clone());
    events.filter(|event| event["event"] == kind).collect()
}

/// The values of a parameter in them.
fn values(home: &Home, id: &str, key: &str) -> Vec<String> {
    let params = events_of(home, id, "param").into_iter();
    let params = params.filter(|param| param["key"] == key);
    let values: Vec<String> =
        params.map(|param| param["value"].as_str().unwrap().to_owned()).collect();
    assert!(!values.is_empty(), "{id}: {key}");
    values
}

/// Blocks requested from a device in each sample of a benchmark.
fn blocks_read(home: &Home, id: &str) -> Vec<u64> {
    let samples = events_of(home, id, "sample").into_iter();
    samples.map(|sample| sample["usage"]["inblock"].as_u64().unwrap()).collect()
}

/// The generator of the workloads, written independently.
fn draw(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[test]
#[ignore = "measures: make test-full"]
fn operations_have_four_statistics() {
    let _turn = alone();
    let home = Home::new();
    let line = format!("run fs/* fs/*@cold {SHORT} --dir {DISC}");
    let run = home.json(&line);
    let results = list(&run["results"]);
    assert_eq!(results.len(), 26);
    for row in results {
        let id = row["id"].as_str().unwrap();
        measured(&run, id);
        let statistic = |name: &str| row["statistics"][name].as_f64().unwrap();
        assert!(statistic("min") > 0.0 && statistic("min") <= statistic("median"), "{row}");
        assert!(statistic("median").max(statistic("mean")) <= statistic("max"), "{row}");
        let cold = id.ends_with("@cold");
        assert_eq!(says(row, "mincore found none"), cold, "{row}");
        let past = row["measured"].as_str().unwrap().starts_with("past the ");
        assert_eq!(past, cold || id.starts_with("fs/fsync/"), "{row}");
    }
    // a part of a block is written, and the rest is read before that, unless it is in memory
    for id in ["fs/seq-write/512", "fs/rand-write/512"] {
        let cold = format!("{id}@cold");
        let (warm, cold) = (blocks_read(&home, id), blocks_read(&home, &cold));
        assert!(!warm.is_empty() && warm.iter().all(|&n| n == 0), "{warm:?}");
        assert!(!cold.is_empty() && cold.iter().all(|&n| n > 0), "{cold:?}");
    }
    // the same places on every machine, whatever the size
    let mut state = 1987;
    let sum =
        (0..100).fold(0_u64, |sum, _| sum.rotate_left(1).wrapping_add(draw(&mut state) % 100));
    for id in ["fs/rand-write/512", "fs/rand-write/32k", "fs/rand-read/8k"] {
        for order in values(&home, id, "order") {
            assert_eq!(order, format!("random, sum {sum:016x}"));
        }
    }
    assert!(traces(&home).is_empty());
}

#[test]
#[ignore = "measures: make test-full"]
fn all_disk_paths_work_as_root() {
    needs_root();
    assert!(has_loops(), "it takes loop devices");
    let _turn = alone();
    let home = Home::new();
    let benchmarks = "disk/write-nofsync disk/write-nofsync@io-uring disk/write-nofsync@large \
        disk/write-fsync disk/write-fsync@io-uring \
        disk/write-sync disk/write-sync@io-uring disk/write-sync@io-uring-1 \
        disk/raw-write disk/raw-write@io-uring disk/raw-write@io-uring-1 \
        disk/read-seq disk/read-seq@large \
        disk/read-gauss disk/read-gauss@io-uring disk/read-gauss@large";
    let line = format!("run {benchmarks} {SHORT} --dir {DISC}");
    let run = home.json(&line);
    for id in benchmarks.split_whitespace() {
        let row = measured(&run, id);
        assert_eq!(row["unit"], "KB/s");
        if id.contains("@io-uring") {
            let depth = if id.ends_with("-1") { "1" } else { "8" };
            let depths = values(&home, id, "queue_depth");
            assert!(depths.iter().all(|value| value == depth), "{id} {depths:?}");
        }
        if id.starts_with("disk/write-") {
            let what = row["measured"].as_str().unwrap();
            let new = what.contains("new ext4 on a loop device over ");
            assert_ne!(new, says(row, "no new one was made for it"), "{row}");
            assert!(new, "{row}");
        }
    }
    // half a block before the center, and 20 blocks about it
    let drawn = values(&home, "disk/read-gauss", "blocks_drawn");
    let numbers: Vec<f64> =
        drawn[0].split([' ', ',']).filter_map(|word| word.parse().ok()).collect();
    let [mean, deviation, distinct, blocks] = numbers[..] else { panic!("{drawn:?}") };
    assert!((mean - 255.5).abs() < 4.5 && (deviation - 20.0).abs() < 3.2);
    assert!(distinct < 150.0 && blocks == 512.0, "{drawn:?}");
    assert!(traces(&home).is_empty() && ours(Path::new(DISC)).is_empty());
}

#[test]
#[ignore = "measures: make test-full"]
fn unprivileged_runs_name_skips() {
    let _turn = alone();
    let benchmarks = "disk/write-fsync disk/write-nofsync@large disk/read-seq fs/rand-read/8k";
    let (code, out, error) = run_unprivileged(benchmarks);
    assert_eq!(code, 0, "{error}");
    let run: Value = serde_json::from_str(&out).unwrap();
    measured(&run, "fs/rand-read/8k");
    measured(&run, "disk/read-seq");
    let large = result(&run, "disk/write-nofsync@large");
    assert!(reason(large).contains("run as root"), "{large}");
    let row = measured(&run, "disk/write-fsync");
    let printed = "no new one was made for it: it takes root";
    assert!(says(row, printed), "{row}");
}

/// A run of these benchmarks by a user without privileges, in a directory of its own.
fn run_unprivileged(benchmarks: &str) -> (i32, String, String) {
    let home = Home::new();
    let line =
        |dir: &Path| format!("run {benchmarks} {SHORT} --format json --dir {}", dir.display());
    if !geteuid().is_root() {
        let dir = tempfile::tempdir_in(DISC).unwrap();
        return home.run(&line(dir.path()));
    }
    // where the build lies, a stranger may not look
    let place = tempfile::tempdir_in("/var/tmp").unwrap();
    let binary = place.path().join("gritstone");
    fs::copy(common::binary(), &binary).unwrap();
    mode(place.path(), 0o755);
    mode(&binary, 0o755);
    for path in [place.path(), home.path()] {
        chown(path, Some(UNPRIVILEGED.into()), Some(UNPRIVILEGED.into())).unwrap();
    }
    let mut command = home.command(&binary);
    command.args(line(place.path()).split(' '));
    command.env("PATH", "/usr/bin:/bin").uid(UNPRIVILEGED).gid(UNPRIVILEGED);
    output_texts(command.output().unwrap())
}

/// The file system of the tests stands for ZFS.
#[test]
fn zfs_caches_are_not_cold() {
    let folder = tempfile::tempdir().unwrap();
    let here = nix::sys::statfs::statfs(folder.path()).unwrap().filesystem_type();
    let magic = format!("{:#x}u /* f_type", here.0 as u32);
    let faults = [("fs/second-cache.h", "0x2fc12fc1u /* f_type", magic.as_str())];
    let program = built("fs/file", folder.path(), &faults);
    let operation = "op=read pattern=sequential size=8192 batch=100";
    for by in ["fadvise", "drop_caches", "direct"] {
        let arguments = format!("{operation} cached=no cold_by={by}");
        let output = workload_output(&program, folder.path(), &arguments);
        assert!(output.contains("skip") && output.contains("ZFS"), "{output}");
    }
    let output = workload_output(&program, folder.path(), &format!("{operation} cached=yes"));
    assert!(!output.contains("skip") && output.contains("check"), "{output}");
}

#[test]
#[ignore = "measures: make test-full"]
fn refused_io_uring_is_skipped() {
    let _turn = alone();
    let home = Home::new();
    let mut command = home.command(common::binary());
    let line = format!("run disk/raw-write@io-uring {SHORT} --dir {DISC}");
    command.args(line.split(' '));
    #[allow(unsafe_code, reason = "between fork and exec nothing but two system calls is made")]
    // SAFETY: prctl takes a filter that outlives the call, and neither allocates nor locks.
    unsafe {
        command.pre_exec(refuse_io_uring);
    }
    let (code, _, error) = output_texts(command.output().unwrap());
    assert_eq!(code, 3, "{error}");
    for text in
        ["io_uring is not available (Operation not permitted)", "sysctl kernel.io_uring_disabled=0"]
    {
        assert!(error.contains(text), "{error}");
    }
}

/// From here on io_uring_setup ends with EPERM, for this process and all that it starts.
#[allow(unsafe_code, reason = "there is no other way to install a filter of system calls")]
fn refuse_io_uring() -> std::io::Result<()> {
    const NUMBER: u32 = libc::SYS_io_uring_setup as u32;
    let code = |code: u32, jt: u8, jf: u8, k: u32| libc::sock_filter {
        code: u16::try_from(code).unwrap_or(0),
        jt,
        jf,
        k,
    };
    let mut filter = [
        code(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        code(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, NUMBER),
        code(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        code(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: 4, filter: filter.as_mut_ptr() };
    // SAFETY: the program and its filter live until prctl returns.
    let failed = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            || libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) != 0
    };
    match failed {
        true => Err(std::io::Error::last_os_error()),
        false => Ok(()),
    }
}
