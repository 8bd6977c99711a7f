//! Rows beside a load: what the users do, that a load lives between launches and tells what it did, that nothing of it outlives a
//! run, and the summary that is made of such rows.

use crate::common::{
    self, Home, Killed, end_at_once, entries, eventually, flagged, kept, messages, needs_root,
    notes, processes, program, result, start, traces,
};
use gritstone_model::{Id, Work};
use gritstone_stats::rating::{RatingRow, arithmetic};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Users by themselves, for so many seconds.
fn users(compiler: &Path, editor: &Path, seconds: u32) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let users = folder.path().join("users");
    let bytes = gritstone_kernels::find("load/users")
        .unwrap()
        .bytes()
        .unwrap();
    common::make_program(&users, &bytes);
    Command::new(users)
        .arg(format!("cc={}", compiler.display()))
        .arg(format!("editor={}", editor.display()))
        .args(["users=2".to_owned(), format!("seconds={seconds}")])
        .current_dir(folder.path())
        .output()
        .unwrap()
}

#[test]
#[ignore = "measures: make test-full"]
fn users_develop_programs_with_whatever_editor_there_is() {
    let compiler = program(&["cc"]);
    for editor in ["vi", "ex", "ed"].map(|name| program(&[name])) {
        // beside another load they get nowhere for a while
        let developed = [3, 60].into_iter().any(|seconds| {
            let output = users(&compiler, &editor, seconds);
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}: {error}", editor.display());
            assert!(
                said.contains("users=2 ") && said.contains(" per_hour="),
                "{said}"
            );
            let transactions = said
                .split(' ')
                .find_map(|word| word.strip_prefix("transactions=")?.parse::<u64>().ok());
            transactions.unwrap_or_else(|| panic!("{said}")) > 0
        });
        assert!(developed, "{}", editor.display());
    }
}

#[test]
#[ignore = "measures: make test-full"]
fn a_compiler_that_compiles_nothing_is_no_development() {
    let output = users(Path::new("/bin/true"), &program(&["ed"]), 10);
    assert_eq!(output.status.code(), Some(77));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        error.contains("ended with status 0; it should have failed"),
        "{error}"
    );
}

#[test]
fn what_the_load_needs_is_named_with_what_mends_it() {
    let home = Home::new();
    let mut command = home.gritstone("run rt/user-latency@level-1 rt/user-latency@level-3");
    let (code, _, error) = common::ended(command.env("PATH", home.path()));
    assert_eq!(code, 3, "{error}");
    for text in [
        "one of cc, gcc",
        "apt-get install gcc nvi.",
        "apt-get install gcc nvi tar.",
    ] {
        assert!(error.contains(text), "{text}: {error}");
    }
}

#[test]
#[ignore = "measures: make test-full"]
fn a_load_lives_between_launches_and_tells_what_it_did_as_root() {
    needs_root();
    let home = Home::new();
    let rows = [
        "rt/user-latency@level-1",
        "rt/user-latency@level-2",
        "rt/semaphore",
    ];
    let run = home.json(&format!("run {} --budget 50s", rows.join(" ")));
    assert_eq!(processes(&home), 0);
    assert!(traces(&home).is_empty());
    let [one, two, none] = rows.map(|id| result(&run, id));
    let told = |row: &Value, text: &str| messages(row).contains(text);
    for row in [one, two] {
        assert!(told(row, "transactions of 16 users"), "{row}");
        assert!(!flagged(row, "invalid"), "{row}");
        let writes = told(row, "writes of 80 bytes");
        assert_eq!(writes, row["id"] == rows[1], "{row}");
    }
    let loaded = notes(none).iter().any(|note| note.code == "load");
    assert!(!loaded, "{none}");
}

/// What a run could leave on the machine beside processes and files: mounts, network namespaces, loop devices, control groups,
/// traces.
fn surroundings() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let lines = |path: &str| fs::read_to_string(path).unwrap_or_default();
    all.extend(lines("/proc/self/mounts").lines().map(str::to_owned));
    for folder in [
        "/run/netns",
        "/var/run/netns",
        "/sys/class/net",
        "/sys/kernel/tracing/instances",
        "/sys/kernel/debug/tracing/instances",
    ] {
        let paths = entries(Path::new(folder)).into_iter();
        all.extend(paths.map(|path| path.display().to_string()));
    }
    for device in entries(Path::new("/sys/block")) {
        all.extend(fs::read_to_string(device.join("loop/backing_file")).ok());
    }
    for controller in entries(Path::new("/sys/fs/cgroup")) {
        let own = entries(&controller).into_iter();
        let own = own.map(|path| path.display().to_string());
        all.extend(own.filter(|path| path.contains("gritstone")));
    }
    all.insert(lines("/proc/self/cgroup"));
    all
}

/// Processes of the load of this home, by the name of their program.
fn of_the_load(home: &Home, name: &str) -> Vec<i32> {
    let mark = home.path().to_string_lossy().into_owned();
    let is_it = |process: &PathBuf| {
        let environ = fs::read(process.join("environ")).unwrap_or_default();
        let command = fs::read_to_string(process.join("comm")).unwrap_or_default();
        command.trim() == name && String::from_utf8_lossy(&environ).contains(&mark)
    };
    let all = entries(Path::new("/proc"));
    let found = all.iter().filter(|process| is_it(process));
    found
        .filter_map(|process| process.file_name()?.to_str()?.parse().ok())
        .collect()
}

/// Kills a run in the middle of level 4, after what keeps its processes if `supervisors` says so.
fn nothing_is_left_of_a_run_that_is_killed(supervisors: bool) {
    let home = Home::new();
    let before = surroundings();
    // all of it below the home, by which its processes are told
    let line = format!(
        "run rt/user-latency@level-4 --budget 100s --dir {}",
        home.path().display()
    );
    let runtime = [("XDG_RUNTIME_DIR", home.path())];
    let mut child = Killed(start(&home, &line, &runtime));
    // sixteen users have to compile first, which takes long beside other tests
    let begun = Instant::now();
    while kept(&home) == 0 && child.0.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(180), "never at work");
        std::thread::sleep(Duration::from_millis(200));
    }
    let ended = child.0.try_wait().unwrap();
    assert!(ended.is_none(), "level 4 is measured here: {ended:?}");
    // two hosts, or one that sends to itself: two processes at least
    assert!(of_the_load(&home, "load_transfer").len() >= 2);
    assert!(!of_the_load(&home, "load_users").is_empty());
    if supervisors {
        for pid in of_the_load(&home, "runtime_supervisor") {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }
    end_at_once(&mut child.0);
    home.run("doctor");
    eventually("no process is left", || processes(&home) == 0);
    // the watchdog may be at it while the next start looks
    eventually("the journal is done with", || {
        home.run("doctor");
        home.journals().is_empty()
    });
    assert_eq!(traces(&home), Vec::<PathBuf>::new());
    // what it makes has its number in its name: other runs are nobody's business here
    let run = format!(".{:08}.", child.0.id());
    let mut left: Vec<String> = surroundings().difference(&before).cloned().collect();
    left.retain(|line| line.contains(&run) || line.contains("transfer"));
    assert!(left.is_empty(), "{left:?}");
}

#[test]
#[ignore = "measures: make test-full"]
fn nothing_is_left_of_a_run_that_is_killed_beside_its_load_as_root() {
    needs_root();
    nothing_is_left_of_a_run_that_is_killed(false);
}

#[test]
#[ignore = "measures: make test-full"]
fn nothing_is_left_even_of_what_has_lost_its_supervisor_as_root() {
    needs_root();
    nothing_is_left_of_a_run_that_is_killed(true);
}

fn summary() -> (Vec<Id>, Vec<f64>) {
    let all = gritstone_catalogue::all().unwrap().benchmarks;
    let entry = all
        .iter()
        .find(|row| row.id.as_str() == "rt/summary")
        .unwrap();
    let Work::Rating { over, weights, .. } = entry.work.clone() else {
        panic!("{entry:?}");
    };
    assert_eq!(over.len(), 17);
    (over, weights)
}

#[test]
fn the_published_factors_give_the_published_summary() {
    let references = gritstone_references::all().unwrap();
    let (over, weights) = summary();
    for (machine, hundredths) in [("hp-9000-825s", 168.0), ("hp-9000-840s", 134.0)] {
        let rows: Vec<RatingRow> = over
            .iter()
            .zip(&weights)
            .map(|(id, &weight)| {
                let stem = id.as_str().split('@').next().unwrap();
                let name = format!("{stem}@to-a900");
                let of = |cell: &&gritstone_references::Cell| {
                    cell.machine == machine && cell.benchmark.as_str() == name
                };
                let cell = references.cells.iter().find(of).unwrap();
                RatingRow {
                    launches: vec![cell.value.as_ref().unwrap().value],
                    reference: 1.0,
                    lower_is_better: true,
                    weight,
                    invalid: false,
                }
            })
            .collect();
        let mean = arithmetic(&rows, 0.95).unwrap().value;
        assert_eq!((mean * 100.0).round(), hundredths, "{machine}");
    }
}
