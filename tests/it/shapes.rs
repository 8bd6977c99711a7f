//! Orders that hold on any machine with a wide margin: benchmarks of one run against each other. No test asserts an absolute time.

use crate::common::{Home, flagged, in_one_of_four, list, result};
use serde_json::Value;

/// The first benchmark takes more than this factor times as long as the second.
type Pair = (f64, &'static str, &'static str);

/// A short run of benchmarks, whose work was done.
fn run(home: &Home, benchmarks: &[&str]) -> Value {
    let dir = home.path().display();
    let run = home.json(&format!("run --dir {dir} {} --quick", benchmarks.join(" ")));
    for row in list(&run["results"]) {
        assert!(!flagged(row, "invalid"), "{row}");
        let skipped = flagged(row, "skipped");
        assert!(skipped != row["estimate"].is_number(), "{row}");
    }
    run
}

/// Time per operation, or per unit of data, in the best of the launches, ns: contention only adds time.
fn best_time(run: &Value, id: &str) -> f64 {
    let row = result(run, id);
    let values = list(&row["values"]).iter();
    let values = values.map(|value| value.as_f64().unwrap());
    let unit = row["unit"].as_str().unwrap();
    let best = match unit.ends_with("/s") {
        true => values.reduce(f64::max).map(|rate| 1e9 / rate),
        false => values.reduce(f64::min),
    };
    let best = best.unwrap_or_else(|| panic!("{row}"));
    match unit.split('/').next() {
        Some("us") => 1e3 * best,
        Some("ms") => 1e6 * best,
        _ => best,
    }
}

/// Measures these benchmarks and those of the pairs: all pairs hold in one of four runs.
fn hold(others: &[&str], pairs: &[Pair]) {
    let home = Home::new();
    let mut benchmarks = others.to_vec();
    benchmarks.extend(pairs.iter().flat_map(|(_, slow, fast)| [slow, fast]));
    in_one_of_four(|| {
        let run = run(&home, &benchmarks);
        pairs.iter().try_for_each(|(times, slow, fast)| {
            let (longer, shorter) = (best_time(&run, slow), best_time(&run, fast));
            match longer > times * shorter {
                true => Ok(()),
                false => Err(format!("{slow} {longer} ns, {fast} {shorter} ns")),
            }
        })
    });
}

#[test]
#[ignore = "measures: make test-full"]
fn arithmetic_calls_and_memory() {
    let pairs = [
        (1.5, "aim/divide/short", "aim/add/short"),
        (1.5, "aim/divide/long", "aim/add/long"),
        (1.5, "aim/divide/float", "aim/add/float"),
        (1.5, "aim/divide/double", "aim/add/double"),
        (1.0, "aim/divide/double", "aim/divide/double@throughput"),
        (1.5, "aim/ram-read/char", "aim/ram-read/long"),
        // a call stays in the program, a system call leaves it, and a process is more than a few of those
        (3.0, "aim/getpid", "aim/function-call/0"),
        (1.0, "aim/creat-close", "aim/getpid"),
        (10.0, "aim/fork", "aim/getpid"),
    ];
    hold(&[], &pairs);
}

#[test]
#[ignore = "measures: make test-full"]
fn processes() {
    let pairs = [
        (1.5, "kernel/vforks/0", "kernel/syscall"),
        (1.5, "kernel/forks/0", "kernel/syscall"),
        (1.5, "kernel/execs/0-null", "kernel/forks/0"),
        (1.5, "kernel/vexecs/0-null", "kernel/vforks/0"),
    ];
    hold(&[], &pairs);
}

#[test]
#[ignore = "measures: make test-full"]
fn messages_of_all_sizes() {
    let pairs = [
        // 1,024 times as much by one call: about 40 times the bytes a second
        (4.0, "ipc/pipe/64", "ipc/pipe/64k"),
        (4.0, "ipc/unix/64", "ipc/unix/64k"),
        (4.0, "ipc/tcp/64", "ipc/tcp/64k"),
        // four copies of 64 KB beside a switch there and one back: twice as long by TCP, five times by a pipe
        (1.3, "ipc/pipe/latency@64k", "ipc/pipe/latency"),
        (1.3, "ipc/unix/latency@64k", "ipc/unix/latency"),
        (1.3, "ipc/tcp/latency@64k", "ipc/tcp/latency"),
    ];
    hold(&[], &pairs);
}

#[test]
#[ignore = "measures: make test-full"]
fn events_names_and_timers() {
    let pairs = [
        // epoll does not pay for those that are silent; measured: 150 times, 100 times, and the same
        (10.0, "event/poll/1000", "event/poll/1"),
        (10.0, "event/select/1000", "event/select/1"),
        (0.1, "event/epoll/1", "event/epoll/1000"),
        (1.1, "file/stat/8", "file/stat/1"),
        (1.5, "event/timer/timerfd-cycle", "event/timer/timerfd-set"),
        // thirty-two requests share an entry into the kernel
        (1.2, "file/io-uring/nop", "file/io-uring/nop-32"),
    ];
    hold(&[], &pairs);
}

#[test]
#[ignore = "measures: make test-full"]
fn threads_that_wait() {
    let pairs = [
        (2.0, "thread/futex", "thread/mutex/1"),
        (2.0, "thread/semaphore", "thread/futex"),
        (2.0, "thread/create", "thread/futex"),
        (2.0, "thread/condition", "thread/futex"),
        // two at once on one word can be no faster than one alone by more than the room of the measurement
        (0.5, "thread/mutex/2", "thread/mutex/1"),
        // writing to one cache line by turns is slower than to two
        (1.2, "thread/false-sharing/together", "thread/false-sharing/apart"),
    ];
    hold(&["thread/semaphore@cross", "thread/ping-pong"], &pairs);
}

#[test]
#[ignore = "measures: make test-full"]
fn switches() {
    let pairs = [
        (1.2, "sched/ring/2", "sched/ring/1"),
        (1.2, "sched/ring/16", "sched/ring/1"),
        (1.5, "sched/yield/2", "sched/yield/1"),
        (1.5, "sched/ring/1@64k", "sched/ring/1"),
        (1.5, "sched/ring/16@64k", "sched/ring/16"),
        // a process among four that compute waits for them now and then, and never for less than nothing
        (0.5, "sched/wakeup/4", "sched/wakeup/0"),
        // a switch is a part of a hand-over
        (1.0, "sched/ring/2", "sched/switch/2"),
    ];
    hold(&["sched/messaging"], &pairs);
}

#[test]
#[ignore = "measures: make test-full"]
fn pages() {
    // where memory is in pieces the kernel has no huge pages to give; another user than root may not ask it to
    let _ = std::fs::write("/proc/sys/vm/compact_memory", "1");
    let pairs = [
        // each is 16 times the one before, and has at least as many pages to be filled with zeros
        (4.0, "vm/map/256k", "vm/map/4k"),
        (4.0, "vm/map/4m", "vm/map/256k"),
        (4.0, "vm/map/64m", "vm/map/4m"),
        (1.2, "vm/protect/1m", "vm/protect/4k"),
        (4.0, "vm/protect/64m", "vm/protect/1m"),
        // an interruption of another CPU is in it
        (1.2, "vm/shootdown/2", "vm/shootdown/1"),
        (4.0, "vm/fault/huge", "vm/fault/zero"),
        (0.7, "vm/random-load/small", "vm/random-load/huge"),
    ];
    hold(&["vm/fault/copy"], &pairs);
}
