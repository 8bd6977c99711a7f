//! Runs that are killed, at random moments and at chosen system calls: no finished launch is lost, every setting is put back, and
//! nothing is left after the next start.

use crate::common::{
    DISC, Home, Killed, alone, binary, end_at_once, ended, entries, eventually, needs_root, ours,
    processes, start, stored_launches, traces,
};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Selectors of the killed runs: plain, on files, with tuned settings, users at terminals and a scanner, a database and its server, and, as
/// root, with a trace, a control group and a scratch file system.
const RUNS: [&str; 8] = [
    "byte/loop byte/shell --tune",
    "byte/disk-write byte/loop",
    "byte/shell byte/loop --tune",
    "rt/driver-latency disk/read-seq file/create/*",
    "multiuser/program-development@4 multiuser/editing@4 daq/yewcom/page1@5 multiuser/shell@2",
    "multiuser/compile@4 multiuser/response/compute multiuser/response/compile multiuser/response/write multiuser/response/page",
    "multiuser/program-development@typing multiuser/editing@typing",
    "db/fasttrack/6 db/fasttrack/6@postgresql db/oltp/write@mariadb-4",
];

/// What a run makes of the machine, as its journal calls it, and benchmarks for which it does.
const RESOURCES: [(&str, &str); 7] = [
    ("volume", "disk/write-fsync"),
    ("group", "vm/paging/random@file"),
    ("group", "multiuser/response/compute@half-cpu"),
    ("swap", "vm/paging/random --allow swap"),
    ("trace", "rt/driver-latency"),
    ("load", "rt/user-latency@level-4"),
    ("load", "netrt/interrupt/test-11"),
];

/// A home with a made-up machine whose settings a run may hold.
struct World {
    home: Home,
    machine: PathBuf,
}

impl World {
    fn new() -> Self {
        // on a disk, where file systems and swap can be made
        let folder = tempfile::tempdir_in(DISC).unwrap();
        let home = Home { folder };
        let machine = home.path().join("machine");
        let cpu = machine.join("sys/devices/system/cpu");
        fs::create_dir_all(cpu.join("intel_pstate")).unwrap();
        fs::write(cpu.join("intel_pstate/no_turbo"), "0\n").unwrap();
        for policy in ["policy0", "policy1"] {
            let policy = cpu.join("cpufreq").join(policy);
            fs::create_dir_all(&policy).unwrap();
            let known = policy.join("scaling_available_governors");
            fs::write(known, "performance powersave\n").unwrap();
            fs::write(policy.join("scaling_governor"), "powersave\n").unwrap();
        }
        for interrupt in ["24", "25", "26"] {
            let folder = machine.join("proc/irq").join(interrupt);
            fs::create_dir_all(folder.join(format!("device{interrupt}"))).unwrap();
            fs::write(folder.join("smp_affinity_list"), "0-1\n").unwrap();
        }
        fs::create_dir(home.path().join("files")).unwrap();
        Self { home, machine }
    }

    /// Nothing but the journal of a run leads the next start there.
    fn files(&self) -> PathBuf {
        self.home.path().join("files")
    }

    /// Every setting with its value, but for those that nothing changes.
    fn settings(&self) -> Vec<String> {
        let mut found = vec![];
        let mut folders = vec![self.machine.clone()];
        while let Some(folder) = folders.pop() {
            for path in entries(&folder) {
                match path.is_dir() {
                    true => folders.push(path),
                    false => found.push(fs::read_to_string(&path).unwrap()),
                }
            }
        }
        found.sort();
        found
    }

    fn environment(&self) -> [(&'static str, &Path); 1] {
        [("GRITSTONE_SETTINGS_ROOT", &self.machine)]
    }

    fn start(&self, run: &str) -> Child {
        let files = self.files();
        let line = format!("run {run} --precision 0.01% --budget 300s --dir {}", files.display());
        start(&self.home, &line, &self.environment())
    }

    /// Waits until everything that was started has ended: five looks, since a process that is being executed shows no environment.
    fn ends(&self) {
        eventually("everything that it started ends", || {
            (0..5).all(|_| {
                std::thread::sleep(Duration::from_millis(20));
                processes(&self.home) == 0
            })
        });
    }

    /// Directories of runs in all usual places.
    fn left(&self) -> Vec<PathBuf> {
        [traces(&self.home), ours(&self.files())].concat()
    }

    /// State after the watchdog has ended, if there was one: at most two empty directories.
    fn at_once(&self, moment: &str) {
        let left = self.left();
        let full = left.iter().filter(|path| !entries(path).is_empty());
        assert_eq!(full.count(), 0, "{moment}: {left:?}");
        assert!(left.len() <= 2, "{moment}: {left:?}");
    }

    /// State after the next start.
    fn after(&self, moment: &str, as_it_was: &[String], counted: usize) {
        let mut doctor = self.home.gritstone("doctor");
        let (code, _, output) = ended(doctor.envs(self.environment()));
        // it judges this machine, which may be unfit
        assert!(code <= 1, "{moment}: {output}");
        assert_eq!(self.settings(), as_it_was, "{moment}: {output}");
        let journals = self.home.journals();
        assert!(journals.is_empty(), "{moment}: {journals:?}: {output}");
        let left = self.left();
        assert!(left.is_empty(), "{moment}: {left:?}: {output}");
        assert_eq!(processes(&self.home), 0, "{moment}: {output}");
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let here = self.home.path().to_str().unwrap();
        assert!(!mounts.contains(here), "{moment}: {mounts}");
        let (code, _, error) = self.home.run("show");
        let nothing = ["no run is stored yet", "no database", "has results"];
        let nothing = nothing.iter().any(|why| error.contains(why));
        assert!(code == 0 || nothing, "{moment}: {error}");
        let after = stored_launches(&self.home);
        assert!(after >= counted, "{moment}: of {counted} are left {after}");
    }
}

/// Kills processes of a run by a word of their command line and one of their environment.
fn kill_those(home: &Home, command: &str, variable: &str) {
    let mark = home.path().to_str().unwrap();
    for process in entries(Path::new("/proc")) {
        let holds = |file: &str, word: &str| {
            let text = fs::read(process.join(file)).unwrap_or_default();
            String::from_utf8_lossy(&text).contains(word)
        };
        let marked = holds("environ", mark) && holds("environ", variable);
        if marked && holds("cmdline", command) {
            let pid = process.file_name().unwrap().to_str().unwrap();
            let _ = kill(Pid::from_raw(pid.parse().unwrap()), Signal::SIGKILL);
        }
    }
}

/// Kills the watchdogs of a run.
pub fn kill_watchdogs(home: &Home) {
    kill_those(home, "watch-over-a-run", "");
}

#[test]
fn settings_end_before_undo() {
    let home = Home::new();
    let written = || fs::read_to_string(home.path().join("log")).unwrap_or_default();
    let words = [
        "ab",
        "--budget=1s",
        "--a=echo begins >> log; sleep 0.5; cat; echo ends >> log",
        "--b=true",
        "--undo=echo undone >> log",
        "--",
        "true",
    ];
    let mut child = start(&home, &words[..], &[]);
    eventually("a setting begins", || !written().is_empty());
    end_at_once(&mut child);
    eventually("it is undone", || written().contains("undone"));
    assert_eq!(written(), "begins\nends\nundone\n");
}

/// Kills a run at a moment that the seed repeats; in a third of them its watchdog before it.
fn kill_at_random(seed: u64) {
    let world = World::new();
    let as_it_was = world.settings();
    let run = RUNS[seed as usize % RUNS.len()];
    let mut child = world.start(run);
    // some while the run starts, most among its launches
    let longest = [150, 1500, 3000][seed as usize % 3];
    let wait = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    std::thread::sleep(Duration::from_millis(wait % longest));
    let alone = seed % 3 == 1;
    let counted = stored_launches(&world.home);
    if alone {
        kill_watchdogs(&world.home);
    }
    let moment = format!("seed {seed}: {run:?} after {} ms", wait % longest);
    let ended = child.try_wait().unwrap();
    assert!(ended.is_none(), "{moment}: it had ended already");
    end_at_once(&mut child);
    world.ends();
    if !alone {
        world.at_once(&moment);
        assert_eq!(world.settings(), as_it_was, "{moment}: not by its watchdog");
    }
    world.after(&moment, &as_it_was, counted);
}

/// Kills a run at the `nth` call of a system call; returns whether it got there.
fn kill_at_call(call: &str, nth: u32) -> bool {
    let world = World::new();
    let as_it_was = world.settings();
    let files = world.files();
    let inject = format!("inject={call}:signal=KILL:when={nth}");
    let status = world
        .home
        .command("strace")
        .args(["-o", "/dev/null", "-e", &inject])
        .arg(binary())
        .args("run byte/loop byte/disk-write --tune --precision 50% --budget 4s".split(' '))
        .arg("--dir")
        .arg(&files)
        .envs(world.environment())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    world.ends();
    let moment = format!("{call} the {nth}th time");
    world.at_once(&moment);
    world.after(&moment, &as_it_was, 0);
    !status.success()
}

#[test]
#[ignore = "measures: make test-full"]
fn kills_lose_and_leave_nothing() {
    for seed in 0..RUNS.len() as u64 {
        kill_at_random(seed);
    }
    let hit = [("mkdirat", 2), ("fdatasync", 3), ("pwrite64", 20)];
    let hit = hit.map(|(call, nth)| kill_at_call(call, nth));
    assert_eq!(hit, [true; 3]);
}

/// Possible remains of a run beside processes and files: mounts, network namespaces, swap, loop devices, control groups, traces.
fn surroundings() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let lines = |path: &str| fs::read_to_string(path).unwrap_or_default();
    for file in ["/proc/self/mounts", "/proc/swaps"] {
        all.extend(lines(file).lines().map(str::to_owned));
    }
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
        let groups = entries(&controller).into_iter();
        let groups = groups.map(|path| path.display().to_string());
        all.extend(groups.filter(|path| path.contains("gritstone")));
    }
    all.insert(lines("/proc/self/cgroup"));
    all
}

/// Kills a run when it has made one of these, and the processes that keep its load.
fn kill_with((thing, benchmarks): (&str, &str)) {
    needs_root();
    let _turn = alone();
    let world = World::new();
    let (as_it_was, before) = (world.settings(), surroundings());
    let mut child = Killed(world.start(benchmarks));
    // sixteen users have to compile first, which takes long beside other tests
    let begun = Instant::now();
    while stored_launches(&world.home) == 0 && begun.elapsed() < Duration::from_secs(180) {
        std::thread::sleep(Duration::from_millis(200));
    }
    let journals = world.home.journals().into_iter();
    let written: String = journals.flat_map(fs::read_to_string).collect();
    kill_those(&world.home, "supervisor", "GRITSTONE_LOAD=");
    end_at_once(&mut child.0);
    assert!(written.contains(&format!("\"{thing}\"")), "{written}");
    world.ends();
    eventually(&format!("the watchdog undoes the {thing}"), || world.home.journals().is_empty());
    world.after(benchmarks, &as_it_was, 1);
    // names of its files have its process id, which distinguishes them from those of other runs
    let run = format!(".{:07}.", child.0.id());
    let mut left: Vec<String> = surroundings().difference(&before).cloned().collect();
    left.retain(|line| line.contains(&run) || line.contains("transfer"));
    assert!(left.is_empty(), "{benchmarks}: {left:?}");
}

#[test]
fn killed_runs_unmount_as_root() {
    kill_with(RESOURCES[0]);
}

#[test]
#[ignore = "measures: make test-full"]
fn killed_runs_restore_everything_as_root() {
    RESOURCES[1..].iter().copied().for_each(kill_with);
}

#[test]
#[ignore = "long: make test-full"]
fn fifty_kills_at_random_moments() {
    for seed in 0..50 {
        kill_at_random(seed);
    }
}

#[test]
#[ignore = "long: make test-full"]
fn kills_at_chosen_system_calls() {
    let (mut hit, mut all) = (0, 0);
    let calls = "mkdirat openat2 openat write rename unlinkat flock fdatasync pwrite64 ftruncate \
        pipe2 clone3,vfork,clone wait4";
    for call in calls.split_whitespace() {
        for nth in [1, 2, 4, 8, 16, 40] {
            hit += u32::from(kill_at_call(call, nth));
            all += 1;
        }
    }
    println!("{hit} of {all} kills came to their call");
    assert!(2 * hit > all, "{hit} of {all}");
}
