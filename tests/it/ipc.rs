//! Communication, events and file operations: nothing outlives a launch, and missing requirements are reported.

use crate::common::{
    self, Home, binary, end_at_once, eventually, flags, output_texts, processes, reason, result,
    start, stored_launches,
};
use serde_json::Value;
use std::fs;

/// A run of seconds with a result for each benchmark.
fn run(home: &Home, benchmarks: &str) -> Value {
    home.json(&format!("run --dir {} {benchmarks} --quick", home.path().display()))
}

/// Queues and segments of System V, POSIX queues where they can be listed, and shared memory with a name.
fn left_behind() -> Vec<String> {
    let mut left = Vec::new();
    for table in ["msg", "shm", "sem"] {
        let text = fs::read_to_string(format!("/proc/sysvipc/{table}")).unwrap_or_default();
        left.extend(text.lines().skip(1).map(|line| {
            let id: Vec<&str> = line.split_whitespace().take(2).collect();
            format!("{table} {}", id.join(" "))
        }));
    }
    for folder in ["/dev/mqueue", "/dev/shm"] {
        let names = common::entries(folder.as_ref());
        left.extend(names.iter().map(|path| path.display().to_string()));
    }
    left
}

const QUEUES: &str =
    "ipc/posix-queue/latency ipc/system-v-queue/latency ipc/fifo/latency ipc/shared-memory/latency";

#[test]
#[ignore = "measures: make test-full"]
fn no_ipc_names_are_left() {
    let home = Home::new();
    let before = left_behind();
    let run = run(&home, QUEUES);
    for id in QUEUES.split(' ') {
        let row = result(&run, id);
        assert!(row["estimate"].is_number(), "{row}");
    }
    new_since(&before);
    assert_eq!(processes(&home), 0);
}

/// Objects made since, of which none may be ours: other programs come and go.
fn new_since(before: &[String]) {
    let ours = |name: &String| {
        let queue = name.starts_with("msg ") || name.contains("gritstone");
        queue && !before.contains(name)
    };
    let new: Vec<String> = left_behind().into_iter().filter(ours).collect();
    assert!(new.is_empty(), "{new:?}");
}

#[test]
fn killed_runs_leave_no_names() {
    let home = Home::new();
    let before = left_behind();
    let mut child = start(&home, &format!("run {QUEUES} --budget 60s"), &[]);
    eventually("the benchmarks are at work", || {
        stored_launches(&home) > 2 || child.try_wait().is_ok_and(|ended| ended.is_some())
    });
    end_at_once(&mut child);
    eventually("no process is left", || processes(&home) == 0);
    new_since(&before);
}

#[test]
fn few_descriptors_are_a_reason() {
    let home = Home::new();
    let mut command = home.command("sh");
    command
        .args(["-c", "ulimit -n 500 && exec \"$@\"", "sh"])
        .arg(binary())
        .args("run event/epoll/100 event/epoll/10000 --quick --format json".split(' '));
    let (code, out, error) = output_texts(command.output().unwrap());
    assert_eq!(code, 0, "{error}");
    let run: Value = serde_json::from_str(&out).unwrap();
    let few = result(&run, "event/epoll/10000");
    assert_eq!(flags(few), ["skipped"], "{few}");
    for word in ["10032", "500", "ulimit"] {
        assert!(reason(few).contains(word), "{few}");
    }
    assert!(result(&run, "event/epoll/100")["estimate"].is_number());
}

#[test]
fn the_file_system_is_named() {
    let home = Home::new();
    let run = run(&home, "file/create/0k file/fsync");
    let measured = |id: &str| result(&run, id)["measured"].as_str().unwrap().to_owned();
    let (created, flushed) = (measured("file/create/0k"), measured("file/fsync"));
    match created.starts_with("page cache of ") {
        true => assert_eq!(flushed, format!("past the {created}")),
        // in memory there is nothing else
        false => assert_eq!(flushed, created),
    }
    let (_, out, _) = home.run("show last file/fsync");
    assert!(out.contains(created.split(' ').next_back().unwrap()), "{out}");
}
