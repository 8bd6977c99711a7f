//! Planted faults: each workload in `planted/` breaks one rule, and must be caught and leave nothing behind.

mod counting;
mod perf;
mod rebuilding;
mod stepping;

use crate::process::{Ended, Task, carry_out};
use crate::{ExecError, outcome};
use gritstone_kernels::SUPERVISOR;
use gritstone_kernels::linking::is_program;
use gritstone_model::{Event, Outcome};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub(crate) fn supervisor_in(directory: &Path) -> PathBuf {
    let path = directory.join("supervisor");
    let supervisor = gritstone_kernels::find(SUPERVISOR).unwrap();
    fs::write(&path, supervisor.bytes().unwrap()).unwrap();
    mode(&path, 0o700);
    path
}

pub(crate) fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Sources of the runtime, which every workload is linked with.
pub(crate) fn runtime() -> impl Iterator<Item = PathBuf> {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels");
    let paths = gritstone_kernels::sources().iter().map(|source| source.path);
    let parts = paths.filter(|path| path.strip_suffix(".c").is_some_and(|p| !is_program(p)));
    parts.map(move |part| kernels.join(part))
}

struct Planted {
    directory: tempfile::TempDir,
    supervisor: PathBuf,
    name: &'static str,
}

impl Planted {
    fn new(name: &'static str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let status = Command::new("cc")
            .args(["-std=gnu11", "-O2", "-pthread", "-I"])
            .arg(here.join("../../kernels/runtime"))
            .arg("-o")
            .arg(directory.path().join(name))
            .arg(here.join("src/planted").join(name).with_extension("c"))
            .args(runtime())
            .status();
        assert!(status.unwrap().success());
        let supervisor = supervisor_in(directory.path());
        Self { directory, supervisor, name }
    }

    fn traced(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.directory.path().join(self.name));
        command
            .args(arguments)
            .current_dir(self.directory.path())
            .env_clear()
            .env("PLANTED", self.mark());
        command
    }

    /// In the environment of all processes of the launch.
    fn mark(&self) -> String {
        format!("{}-{}", self.name, self.directory.path().display())
    }

    fn run(
        &self,
        deadline: Duration,
        stop: &AtomicBool,
    ) -> Result<(Outcome, Vec<Event>), ExecError> {
        let mark = self.mark();
        let environment = BTreeMap::from([("PLANTED".to_owned(), mark.clone().into())]);
        let ended = carry_out(&Task {
            supervisor: &self.supervisor,
            cpus: "-",
            words: "-",
            program: &self.directory.path().join(self.name),
            arguments: vec!["target_ns=200000".into(), "batch=10".into()],
            directory: self.directory.path(),
            environment: &environment,
            deadline,
            stop,
        });
        assert!(all_gone(&mark), "{} left processes running", self.name);
        let name = format!("planted/{}", self.name);
        Ok(outcome::classify(&name, ended?, deadline))
    }

    fn output(&self) -> (Outcome, Vec<Event>) {
        let stop = AtomicBool::new(false);
        self.run(Duration::from_secs(30), &stop).unwrap()
    }
}

/// Waits until no process has the mark: killed ones may take a while.
fn all_gone(mark: &str) -> bool {
    let begin = Instant::now();
    while alive(mark) > 0 && begin.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(10));
    }
    alive(mark) == 0
}

/// Processes with the mark, without zombies.
fn marked(mark: &str) -> Vec<PathBuf> {
    let wanted = format!("PLANTED={mark}");
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .map(|entry| entry.path())
        .filter(|process| {
            let environ = fs::read(process.join("environ")).unwrap_or_default();
            environ.split(|&b| b == 0).any(|v| v == wanted.as_bytes())
        })
        .collect()
}

fn alive(mark: &str) -> usize {
    marked(mark).len()
}

#[test]
fn planted_faults_have_reasons() {
    for (name, message) in [
        ("nothing", "time does not grow with n"),
        ("fails", "open: No such file or directory (errno 2)"),
        ("rubbish", "line 2 of the workload's output:"),
        ("abandons", "it left 1 process running; killed"),
        // this one is silent too: the missing end of the protocol comes first
        ("leaves", "before its bye"),
        ("waits", "killed by signal 9 (SIGKILL)"),
        ("crashes", "killed by signal 11 (SIGSEGV); it said: about to crash"),
    ] {
        let (outcome, _) = Planted::new(name).output();
        let failed = matches!(&outcome, Outcome::Failed(why) if why.contains(message));
        assert!(failed, "{name}: {outcome:?}");
    }
}

#[test]
fn hanging_workloads_time_out() {
    let stop = AtomicBool::new(false);
    let planted = Planted::new("hangs");
    // from when it is compiled
    let begin = Instant::now();
    let (outcome, _) = planted.run(Duration::from_millis(300), &stop).unwrap();
    assert_eq!(outcome, Outcome::TimedOut("it did not end within 0.3 s and was stopped".into()));
    assert!(begin.elapsed() < Duration::from_secs(20));
}

/// Calls with a stop request that comes soon.
fn stopped<T>(call: impl FnOnce(&AtomicBool) -> T) -> T {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(200));
            stop.store(true, Ordering::Relaxed);
        });
        call(&stop)
    })
}

#[test]
fn stop_requests_end_launches() {
    let planted = Planted::new("hangs");
    // polls once the flag is set; a signal would wake it at once
    let error = stopped(|stop| planted.run(Duration::from_secs(2), stop).unwrap_err());
    assert!(matches!(error, ExecError::Interrupted), "{error}");
}

#[test]
fn killed_supervisors_are_reported() {
    let begin = Instant::now();
    let (outcome, _) = Planted::new("orphans").output();
    assert_eq!(outcome.why(), "its supervisor was killed");
    assert!(begin.elapsed() < Duration::from_secs(20));
}

#[test]
fn skips_have_reasons() {
    assert_eq!(
        Planted::new("skips").output().0,
        Outcome::Skipped("no card reader; buy one".into())
    );
}

#[test]
fn wrong_checks_are_reported() {
    let (outcome, events) = Planted::new("wrong").output();
    assert_eq!(outcome, Outcome::Measured);
    let wrong = events
        .iter()
        .any(|e| matches!(e, Event::Check(c) if c.n > 1 && c.got == c.n / 2 && c.expected == c.n));
    assert!(wrong, "{events:?}");
    let (samples, recorded) = events.iter().fold((0, 0), |(n, count), e| match e {
        Event::Sample(s) => (n + s.n / 2, count),
        Event::Latency(h) => (n, h.count),
        _ => (n, count),
    });
    // only operations of samples are recorded
    assert_eq!(samples, recorded);
    let histogram = events.iter().find_map(|e| match e {
        Event::Latency(h) => Some(h),
        _ => None,
    });
    let histogram = histogram.unwrap();
    let floor = gritstone_model::Histogram::floor;
    let (first, last) = (histogram.buckets[0].0, histogram.buckets.last().unwrap().0);
    assert!(floor(first) <= histogram.min && histogram.min < floor(first + 1));
    assert!(floor(last) <= histogram.max && histogram.max < floor(last + 1));
}

/// Standard error of a shell command that the supervisor starts with these words. `meanwhile` is called with its mark
/// while it runs.
fn supervised_stderr(words: &str, script: &str, meanwhile: impl FnOnce(&str) + Send) -> String {
    let ended = supervised(words, script, &AtomicBool::new(false), meanwhile);
    ended.unwrap().stderr
}

/// The same command, whose mark is its directory, until `stop` is set.
fn supervised(
    words: &str,
    script: &str,
    stop: &AtomicBool,
    meanwhile: impl FnOnce(&str) + Send,
) -> Result<Ended, ExecError> {
    let folder = tempfile::tempdir().unwrap();
    let supervisor = supervisor_in(folder.path());
    let mark = folder.path().display().to_string();
    let environment = BTreeMap::from([
        ("PLANTED".to_owned(), mark.clone().into()),
        ("PATH".to_owned(), "/usr/bin:/bin".into()),
    ]);
    let task = Task {
        supervisor: &supervisor,
        cpus: "-",
        words,
        program: Path::new("/bin/sh"),
        arguments: vec!["-c".into(), script.into()],
        directory: folder.path(),
        environment: &environment,
        deadline: Duration::from_secs(30),
        stop,
    };
    let ended = std::thread::scope(|scope| {
        scope.spawn(|| meanwhile(&mark));
        carry_out(&task)
    });
    // without its supervisor, a killed process stays a zombie
    assert!(all_gone(&mark), "left running");
    ended
}

#[test]
fn many_descendants_end_in_time() {
    let stop = AtomicBool::new(false);
    // outside the group, which is killed at once; output wakes the reader, which then sees the flag
    let script = "i=0; while [ $i -lt 1000 ]; do setsid sleep 60 & i=$((i+1)); done; sleep 1; : >ready; while sleep 0.1; do echo >&2; done";
    let stop_when_ready = |mark: &str| {
        let ready = Path::new(mark).join("ready");
        let begin = Instant::now();
        while !ready.exists() && begin.elapsed() < Duration::from_secs(25) {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(ready.exists(), "never started");
        stop.store(true, Ordering::Relaxed);
    };
    // the supervisor has GRACE_PERIOD; after that, some would be left
    let ended = supervised("-", script, &stop, stop_when_ready);
    assert!(matches!(ended, Err(ExecError::Interrupted)));
}

#[test]
fn children_inherit_fixed_layout() {
    let layouts = "cat /proc/$$/personality /proc/self/personality >&2";
    for (words, layout) in [("layout", "00040000"), ("-", "00000000")] {
        let output = supervised_stderr(words, layouts, |_| ());
        assert_eq!(output, format!("{layout}\n{layout}"), "{words}");
    }
}

#[test]
fn real_time_excludes_children() {
    // field 41 is the policy: 1 is SCHED_FIFO
    let policies = "cut -d ' ' -f 41 /proc/$$/stat /proc/self/stat >&2";
    let output = supervised_stderr("realtime", policies, |_| ());
    let refused = output.starts_with("cannot use SCHED_FIFO: ");
    assert!(output == "1\n0" || refused, "{output}");
    assert_eq!(supervised_stderr("-", policies, |_| ()), "0\n0");
    for (words, what) in [
        ("nonsense", "cannot nonsense: Invalid"),
        ("processes=many", "cannot limit the number of processes: Invalid"),
    ] {
        let output = supervised_stderr(words, policies, |_| ());
        assert!(output.contains(what), "{output}");
    }
}

#[test]
fn killed_supervisors_leave_no_process() {
    let kill_supervisor = |mark: &str| {
        let begin = Instant::now();
        let supervisor = loop {
            assert!(begin.elapsed() < Duration::from_secs(20), "never started");
            let called = |name: &str| {
                let mut marked = marked(mark).into_iter();
                marked.find(|process| {
                    let comm = fs::read_to_string(process.join("comm"));
                    comm.is_ok_and(|comm| comm.trim() == name)
                })
            };
            match (called("supervisor"), called("sleep")) {
                (Some(found), Some(_)) => break found,
                _ => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        let pid = supervisor.file_name().unwrap().to_str().unwrap();
        let pid = nix::unistd::Pid::from_raw(pid.parse().unwrap());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap();
    };
    // a child without open files, found only through its group
    supervised_stderr("-", "sleep 60 <&- >&- 2>&- 3>&- & wait", kill_supervisor);
}
