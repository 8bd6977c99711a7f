//! Threads, the scheduler and memory without a device, run as a person runs them: what must be slower than what on any machine, with
//! a lot of room. No test asserts an absolute time.

use crate::common::{Home, flagged, messages, reason, result};
use serde_json::Value;

/// A short run of rows.
fn run(home: &Home, rows: &[&str]) -> Value {
    let flags = ["--budget", "80s", "--precision", "50%", "--format", "json"];
    home.json(&[&["run"], rows, &flags].concat())
}

/// The least of the launches, ns: whoever else uses the machine only ever adds time.
fn ns(run: &Value, id: &str) -> f64 {
    let row = result(run, id);
    let values = row["values"].as_array().unwrap();
    let least = values.iter().map(|value| value.as_f64().unwrap());
    let least = least.reduce(f64::min).unwrap_or_else(|| panic!("{row}"));
    match row["unit"].as_str().unwrap().split('/').next().unwrap() {
        "ns" => least,
        "us" => 1000.0 * least,
        other => panic!("{id} is in {other}"),
    }
}

/// That a row takes so many times as long as another, unless others used the CPUs: at a load of thirty on two CPUs every region waits
/// for turns of others that are longer than its work, and the least of six launches too.
fn slower(run: &Value, times: f64, slow: &str, fast: &str) {
    if disturbed(run, slow) || disturbed(run, fast) {
        return;
    }
    let (longer, shorter) = (ns(run, slow), ns(run, fast));
    assert!(
        longer > times * shorter,
        "{slow} {longer} ns, {fast} {shorter} ns"
    );
}

fn disturbed(run: &Value, id: &str) -> bool {
    flagged(result(run, id), "interference")
}

/// No row that has a figure is without its work. What takes two CPUs says so where there is one.
fn sound(run: &Value) {
    for row in run["results"].as_array().unwrap() {
        assert!(!flagged(row, "invalid"), "{row}");
        let skipped = flagged(row, "skipped");
        assert!(skipped != row["estimate"].is_number(), "{row}");
    }
}

/// Writing to one cache line by turns is slower than to two; of several runs, since a hypervisor that lets one CPU wait for the other
/// makes the two take turns of milliseconds, in which nobody is in the way.
fn false_sharing_costs(home: &Home, first: &Value) {
    let rows = [
        "thread/false-sharing/together",
        "thread/false-sharing/apart",
    ];
    let costs = |run: &Value| {
        let [together, apart] = rows.map(|id| ns(run, id));
        let disturbed = rows.iter().any(|id| disturbed(run, id));
        disturbed || together > 1.2 * apart
    };
    let again = || (0..3).any(|_| costs(&run(home, &rows)));
    assert!(costs(first) || again(), "{first}");
}

fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[test]
fn threads_that_wait_are_slower_than_threads_that_do_not() {
    let home = Home::new();
    let run = run(
        &home,
        &[
            "thread/create",
            "thread/mutex/1",
            "thread/mutex/2",
            "thread/mutex/64",
            "thread/semaphore",
            "thread/semaphore@cross",
            "thread/condition",
            "thread/futex",
            "thread/false-sharing/*",
            "thread/ping-pong",
        ],
    );
    sound(&run);
    slower(&run, 2.0, "thread/futex", "thread/mutex/1");
    slower(&run, 2.0, "thread/semaphore", "thread/futex");
    slower(&run, 2.0, "thread/create", "thread/futex");
    slower(&run, 2.0, "thread/condition", "thread/futex");
    takes_64_cpus(&run, "thread/mutex/64");
    if cpus() < 2 {
        return;
    }
    // two at once on one word can be no faster than one alone by more than the room of the measurement
    slower(&run, 0.5, "thread/mutex/2", "thread/mutex/1");
    false_sharing_costs(&home, &run);
    let pairs = result(&run, "thread/ping-pong")["parts"]
        .as_object()
        .unwrap();
    assert!(!pairs.is_empty());
    let figure = ns(&run, "thread/ping-pong");
    for (pair, value) in pairs {
        let (a, b) = pair.split_once('-').unwrap();
        assert!(
            a.parse::<u32>().unwrap() < b.parse::<u32>().unwrap(),
            "{pair}"
        );
        assert!(value.as_f64().unwrap() > 0.0);
    }
    assert!(
        pairs.len() > 1
            || pairs
                .values()
                .all(|ns| ns.as_f64().unwrap() >= 0.99 * figure)
    );
}

#[test]
fn a_switch_is_more_than_the_work_around_it() {
    let home = Home::new();
    let run = run(
        &home,
        &[
            "sched/ring/1",
            "sched/ring/1@64k",
            "sched/ring/2",
            "sched/ring/16",
            "sched/ring/16@64k",
            "sched/switch/2",
            "sched/yield/*",
            "sched/wakeup/0",
            "sched/wakeup/4",
            "sched/messaging",
        ],
    );
    sound(&run);
    slower(&run, 1.2, "sched/ring/2", "sched/ring/1");
    slower(&run, 1.2, "sched/ring/16", "sched/ring/1");
    slower(&run, 1.5, "sched/yield/2", "sched/yield/1");
    slower(&run, 1.5, "sched/ring/1@64k", "sched/ring/1");
    slower(&run, 1.5, "sched/ring/16@64k", "sched/ring/16");
    // a process among four that compute waits for them now and then, and never for less than nothing
    slower(&run, 0.5, "sched/wakeup/4", "sched/wakeup/0");
    let figure = |id: &str| result(&run, id)["estimate"].as_f64().unwrap();
    let (switch, ring) = (figure("sched/switch/2"), figure("sched/ring/2"));
    assert!(
        switch < ring || disturbed(&run, "sched/switch/2"),
        "a switch of {switch} us in a hand-over of {ring} us"
    );
}

#[test]
fn memory_costs_more_the_more_there_is_of_it() {
    let home = Home::new();
    let run = run(
        &home,
        &[
            "vm/fault/*",
            "vm/map/4k",
            "vm/map/256k",
            "vm/map/4m",
            "vm/map/64m",
            "vm/protect/4k",
            "vm/protect/1m",
            "vm/protect/64m",
            "vm/shootdown/1",
            "vm/shootdown/2",
            "vm/shootdown/64",
            "vm/random-load/*",
        ],
    );
    sound(&run);
    // each is 16 times the one before, and has at least as many pages to be filled with zeros
    slower(&run, 4.0, "vm/map/256k", "vm/map/4k");
    slower(&run, 4.0, "vm/map/4m", "vm/map/256k");
    slower(&run, 4.0, "vm/map/64m", "vm/map/4m");
    slower(&run, 1.2, "vm/protect/1m", "vm/protect/4k");
    slower(&run, 4.0, "vm/protect/64m", "vm/protect/1m");
    // an interruption of another CPU is in it
    if cpus() >= 2 {
        slower(&run, 1.2, "vm/shootdown/2", "vm/shootdown/1");
    }
    if result(&run, "vm/fault/huge")["estimate"].is_number() {
        slower(&run, 4.0, "vm/fault/huge", "vm/fault/zero");
        slower(&run, 0.7, "vm/random-load/small", "vm/random-load/huge");
    }
    takes_64_cpus(&run, "vm/shootdown/64");
}

/// Where there are fewer, the row says so.
fn takes_64_cpus(run: &Value, id: &str) {
    if (2..64).contains(&cpus()) {
        let row = result(run, id);
        let why = reason(row);
        assert!(why.contains("it takes 64 CPUs"), "{row}");
    }
}

/// What the machine says of the caches that a core has to itself is what the curve of latency shows of them. Of those that are
/// shared, others may have any part.
#[test]
fn the_curve_of_latency_ends_where_the_caches_of_this_machine_end() {
    let home = Home::new();
    let run = run(&home, &["memory/latency/*"]);
    sound(&run);
    let caches = run["machine"]["facts"].as_object().unwrap().iter();
    let own: Vec<String> = caches
        .filter_map(|(name, size)| {
            let level = name.strip_prefix("cache.")?;
            let shared = size.as_str().unwrap().contains("shared by");
            (!level.ends_with('i') && !shared).then(|| level.to_uppercase())
        })
        .collect();
    let mut rows = run["results"].as_array().unwrap().iter();
    if own.is_empty() || rows.any(|row| disturbed(&run, row["id"].as_str().unwrap())) {
        return;
    }
    let told = messages(result(&run, "memory/latency/256m"));
    for level in &own {
        assert!(told.contains(&format!("where the {level} of ")), "{told}");
    }
}

/// Programs that work on two CPUs at once say so where there is one, and their rows on one CPU need no second.
#[test]
fn rows_across_cpus_are_there_where_two_processes_meet() {
    let home = Home::new();
    let (code, list, _) = home.run(&["list", "thread/*", "thread/*@*", "sched/*", "sched/*@*"]);
    assert_eq!(code, 0);
    for id in [
        "thread/condition",
        "thread/semaphore",
        "sched/ring/2",
        "sched/wakeup/0",
        "sched/wakeup/4",
    ] {
        assert!(list.contains(&format!("{id}@cross")), "{id}: {list}");
    }
}
