//! Communication, events and file operations, run as a person runs them: what must be dearer than what on any machine, with a
//! lot of room, and that nothing outlives a launch. No test asserts an absolute time.

use crate::common::{
    self, Home, binary, eventually, flagged, flags, kept, processes, reason, result, start,
};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::fs;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Rows that are held against each other are measured by one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// Whether `holds` of a run of these rows; whoever else uses this machine may have it for a while, so of up to four runs.
fn in_a_calm_moment(rows: &[&str], holds: impl Fn(&Value) -> Result<(), String>) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let home = Home::new();
    let attempts: Vec<String> = (0..4)
        .map_while(|_| holds(&run(&home, rows)).err())
        .collect();
    // where others compute all the time nothing can be seen
    let disturbed = attempts.iter().all(|why| why.ends_with(DISTURBED));
    assert!(attempts.len() < 4 || disturbed, "{attempts:?}");
}

/// How the reason ends why a run shows nothing.
const DISTURBED: &str = "disturbed";

/// `a` is more than `times` as much as `b`.
fn exceeds(a: f64, times: f64, b: f64) -> Result<(), String> {
    match a > times * b {
        true => Ok(()),
        false => Err(format!("{a} is not {times} times {b}")),
    }
}

/// What runs within seconds and has its figures.
fn run(home: &Home, rows: &[&str]) -> Value {
    let flags = ["--budget", "25s", "--precision", "50%", "--format", "json"];
    let dir = home.path().to_str().unwrap();
    home.json(&[&["run", "--dir", dir], rows, &flags].concat())
}

/// The best of the launches: whoever else uses the machine only ever adds time.
fn best(run: &Value, id: &str) -> f64 {
    let row = result(run, id);
    assert!(!flagged(row, "invalid"), "{row}");
    let values = row["values"].as_array().unwrap().iter();
    let values = values.map(|value| value.as_f64().unwrap());
    let best = match row["unit"].as_str().unwrap().ends_with("/s") {
        true => values.reduce(f64::max),
        false => values.reduce(f64::min),
    };
    best.unwrap_or_else(|| panic!("{row}"))
}

#[test]
fn larger_messages_bring_more() {
    let ways = ["pipe", "unix", "tcp"];
    let ids: Vec<String> = ways
        .iter()
        .flat_map(|way| [format!("ipc/{way}/64"), format!("ipc/{way}/64k")])
        .collect();
    let rows: Vec<&str> = ids.iter().map(String::as_str).collect();
    in_a_calm_moment(&rows, |run| {
        // 1,024 times as much by one call: about 40 times the bytes a second
        let larger = |way: &&str| {
            let at = |size: &str| best(run, &format!("ipc/{way}/{size}"));
            exceeds(at("64k"), 4.0, at("64"))
        };
        ways.iter().try_for_each(larger)
    });
}

#[test]
fn larger_messages_take_longer() {
    let ways = ["pipe", "unix", "tcp"];
    let ids: Vec<String> = ways
        .iter()
        .flat_map(|way| ["", "@64k"].map(|size| format!("ipc/{way}/latency{size}")))
        .collect();
    let rows: Vec<&str> = ids.iter().map(String::as_str).collect();
    in_a_calm_moment(&rows, |run| {
        // four copies of 64 KB beside a switch there and one back: twice as long by TCP, five times by a pipe; beside others who
        // compute, each switch waits for their turns, which are longer
        let disturbed = |id: &&str| flagged(result(run, id), "interference");
        let longer = |pair: &[&str]| match pair.iter().any(disturbed) {
            true => Err(format!("{pair:?}: {DISTURBED}")),
            false => exceeds(best(run, pair[1]), 1.3, best(run, pair[0])),
        };
        rows.chunks(2).try_for_each(longer)
    });
}

#[test]
fn epoll_does_not_pay_for_those_that_are_silent() {
    let rows = [
        "event/poll/1",
        "event/poll/1000",
        "event/select/1",
        "event/select/1000",
        "event/epoll/1",
        "event/epoll/1000",
    ];
    in_a_calm_moment(&rows, |run| {
        let at = |of: &str, count: &str| best(run, &format!("event/{of}/{count}"));
        // measured: 150 times, 100 times, and the same
        exceeds(at("poll", "1000"), 10.0, at("poll", "1"))?;
        exceeds(at("select", "1000"), 10.0, at("select", "1"))?;
        exceeds(10.0 * at("epoll", "1"), 1.0, at("epoll", "1000"))
    });
}

#[test]
fn names_and_timers_cost_more_the_more_there_is_to_them() {
    let rows = [
        "file/stat/1",
        "file/stat/8",
        "event/timer/timerfd-set",
        "event/timer/timerfd-cycle",
    ];
    in_a_calm_moment(&rows, |run| {
        let at = |id: &str| best(run, id);
        exceeds(at("file/stat/8"), 1.1, at("file/stat/1"))?;
        exceeds(
            at("event/timer/timerfd-cycle"),
            1.5,
            at("event/timer/timerfd-set"),
        )
    });
}

#[test]
fn thirty_two_requests_share_an_entry_into_the_kernel() {
    let rows = ["file/io-uring/nop", "file/io-uring/nop-32"];
    in_a_calm_moment(&rows, |run| {
        let one = result(run, rows[0]);
        if flagged(one, "skipped") {
            let why = reason(one);
            assert!(why.contains("kernel.io_uring_disabled"), "{why}");
            return Ok(());
        }
        exceeds(best(run, rows[0]), 1.2, best(run, rows[1]))
    });
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

const QUEUES: [&str; 4] = [
    "ipc/posix-queue/latency",
    "ipc/system-v-queue/latency",
    "ipc/fifo/latency",
    "ipc/shared-memory/latency",
];

#[test]
fn nothing_with_a_name_is_left() {
    let home = Home::new();
    let before = left_behind();
    let run = run(&home, &QUEUES);
    for id in QUEUES {
        let row = result(&run, id);
        let skipped = flagged(row, "skipped");
        assert!(skipped || row["estimate"].is_number(), "{row}");
    }
    new_since(&before);
    assert_eq!(processes(&home), 0);
}

/// Of what is there now, nothing is ours: other programs come and go.
fn new_since(before: &[String]) {
    let ours = |name: &String| {
        let queue = name.starts_with("msg ") || name.contains("gritstone");
        queue && !before.contains(name)
    };
    let new: Vec<String> = left_behind().into_iter().filter(ours).collect();
    assert!(new.is_empty(), "{new:?}");
}

#[test]
fn nor_when_the_run_is_killed() {
    let home = Home::new();
    let before = left_behind();
    let arguments = [&["run"], &QUEUES[..], &["--budget", "60s"]].concat();
    let mut child = start(&home, &arguments, &[]);
    eventually("the rows are at work", || {
        kept(&home) > 2 || child.try_wait().is_ok_and(|ended| ended.is_some())
    });
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGKILL).unwrap();
    child.wait().unwrap();
    eventually("no process is left", || processes(&home) == 0);
    new_since(&before);
}

#[test]
fn too_few_descriptors_are_a_reason() {
    let home = Home::new();
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -n 500 && exec \"$@\"", "sh"])
        .arg(binary())
        .args(["run", "event/epoll/100", "event/epoll/10000", "--quick"])
        .args(["--budget", "10s", "--format", "json"])
        .env("HOME", home.path())
        .env("XDG_DATA_HOME", home.path().join("data"))
        .env("TMPDIR", home.path())
        .current_dir(home.path());
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    let few = result(&run, "event/epoll/10000");
    assert_eq!(flags(few), ["skipped"], "{few}");
    let why = reason(few);
    assert!(
        why.contains("10032") && why.contains("500") && why.contains("ulimit"),
        "{why}"
    );
    assert!(result(&run, "event/epoll/100")["estimate"].is_number());
}

#[test]
fn the_file_system_is_named() {
    let home = Home::new();
    let run = run(&home, &["file/create/0k", "file/fsync"]);
    let measured = |id: &str| result(&run, id)["measured"].as_str().unwrap().to_owned();
    let (made, flushed) = (measured("file/create/0k"), measured("file/fsync"));
    match made.starts_with("page cache of ") {
        true => assert_eq!(flushed, format!("past the {made}")),
        // in memory there is nothing else
        false => assert_eq!(flushed, made),
    }
    let (_, out, _) = home.run(&["show", "last"]);
    assert!(out.contains(made.split(' ').next_back().unwrap()), "{out}");
}
