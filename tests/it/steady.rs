//! `run --tune` on a made-up machine: what is changed is put back, whoever dies when.

use crate::common::{self, Home, SHORT, entries, eventually, kept, processes, start, traces};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

const ROOT: &str = "GRITSTONE_SETTINGS_ROOT";
const GOVERNOR: &str = "sys/devices/system/cpu/cpufreq/policy0/scaling_governor";
const TURBO: &str = "sys/devices/system/cpu/intel_pstate/no_turbo";
// nobody gets as precise as this: it goes on until its budget is spent
const RUN: [&str; 7] = [
    "run",
    "byte/loop",
    "byte/shell",
    "--tune",
    "--precision",
    "0.01%",
    "--budget",
];

/// A home, and in it a machine with a governor and turbo, and no interrupts.
struct Made {
    home: Home,
}

impl Made {
    fn new() -> Self {
        let made = Self { home: Home::new() };
        made.set(GOVERNOR, "powersave");
        made.set(
            &GOVERNOR.replace("scaling_governor", "scaling_available_governors"),
            "performance powersave",
        );
        made.set(TURBO, "0");
        made
    }

    fn root(&self) -> PathBuf {
        self.home.path().join("root")
    }

    fn set(&self, path: &str, value: &str) {
        let file = self.root().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, format!("{value}\n")).unwrap();
    }

    fn value(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path))
            .unwrap()
            .trim()
            .to_owned()
    }

    fn steadied(&self) -> bool {
        (self.value(GOVERNOR), self.value(TURBO)) == ("performance".into(), "1".into())
    }

    fn as_it_was(&self) -> bool {
        (self.value(GOVERNOR), self.value(TURBO)) == ("powersave".into(), "0".into())
    }

    fn journals(&self) -> Vec<PathBuf> {
        entries(&self.home.path().join(".local/state/gritstone"))
    }

    /// Exit code, standard output, standard error.
    fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let mut command = self.home.gritstone(arguments);
        command.env(ROOT, self.root());
        common::ended(&mut command)
    }

    /// A run in the background, at the moment when the machine is steadied for it.
    fn start(&self, budget: &str) -> Child {
        let mut arguments = RUN.to_vec();
        let dir = self.home.path().to_str().unwrap();
        arguments.extend([budget, "--dir", dir]);
        let child = start(&self.home, &arguments, &[(ROOT, &self.root())]);
        eventually("the machine is steadied", || self.steadied());
        child
    }
}

fn end(pid: u32, signal: Signal) {
    kill(Pid::from_raw(pid.cast_signed()), signal).unwrap();
}

/// The watchdog of the run in this home.
fn watchdog(home: &Home) -> u32 {
    let mark = home.path().to_str().unwrap();
    let is_it = |process: &Path| {
        let line = fs::read(process.join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line);
        line.contains("watch-over-a-run") && line.contains(mark)
    };
    let found = entries(Path::new("/proc"))
        .into_iter()
        .find(|p| is_it(p))
        .expect("a watchdog");
    found
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .parse()
        .unwrap()
}

#[test]
fn what_is_steadied_is_stored_and_compared_and_what_is_not_has_a_reason() {
    let made = Made::new();
    let short = [&["run", "byte/loop", "--format", "json"], &SHORT[..]].concat();
    let (code, text, error) = made.run(&short);
    assert_eq!(code, 0, "{error}");
    assert!(!text.contains("\"steady\""), "nobody asked: {text}");
    let (code, text, error) = made.run(&[&short[..], &["--tune"]].concat());
    assert_eq!(code, 0, "{error}");
    let run: serde_json::Value = serde_json::from_str(&text).unwrap();
    let steady = run["settings"]["steady"].as_array().unwrap();
    assert_eq!(steady[..2], ["governor performance", "turbo off"]);
    let remark = "not tuned: interrupts away from CPU ";
    assert!(
        error.contains(remark) && error.contains("no interrupts in"),
        "{error}"
    );
    let remark = "not tuned: real-time priority for processor-bound benchmarks: ";
    assert!(error.contains(remark), "{error}");
    assert!(made.as_it_was() && made.journals().is_empty());
    assert_eq!(processes(&made.home), 0);
    let (_, text, _) = made.run(&["compare", "last~1", "last", "-v"]);
    assert!(text.contains("governor performance; turbo off"), "{text}");
}

#[test]
fn an_interrupt_puts_back_all_but_what_somebody_else_has_changed() {
    let made = Made::new();
    let child = made.start("30s");
    made.set(GOVERNOR, "schedutil");
    eventually("a launch is kept", || kept(&made.home) > 0);
    end(child.id(), Signal::SIGTERM);
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{error}");
    assert!(
        error.contains("somebody has made it 'schedutil' since"),
        "{error}"
    );
    assert_eq!(
        (made.value(GOVERNOR), made.value(TURBO)),
        ("schedutil".into(), "0".into())
    );
    assert!(made.journals().is_empty() && traces(&made.home).is_empty());
}

#[test]
fn a_second_run_changes_nothing_while_the_first_is_at_work() {
    let made = Made::new();
    let mut first = made.start("90s");
    let second = [&["run", "byte/loop", "--tune"], &SHORT[..]].concat();
    let (code, _, error) = made.run(&second);
    assert_eq!(code, 0, "{error}");
    let why = format!("turbo off: process {} has tuned the system", first.id());
    assert!(error.contains(&why), "{error}");
    assert!(made.steadied(), "what the first needs is left to it");
    // and doctor leaves it alone as well
    let (_, _, error) = made.run(&["doctor"]);
    assert!(made.steadied() && !error.contains("restored"), "{error}");
    end(first.id(), Signal::SIGINT);
    first.wait().unwrap();
    assert!(made.as_it_was() && made.journals().is_empty());
}

/// Kills a run at a moment, and its watchdog first if that is asked for.
fn kill_at(made: &Made, moment: Duration, watchdog_too: bool) {
    let mut child = made.start("60s");
    std::thread::sleep(moment);
    if watchdog_too {
        end(watchdog(&made.home), Signal::SIGKILL);
    }
    let before = kept(&made.home);
    end(child.id(), Signal::SIGKILL);
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    eventually("no process is left", || processes(&made.home) == 0);
    assert!(kept(&made.home) >= before);
    assert_eq!(
        made.steadied(),
        watchdog_too,
        "the watchdog was the only one to know"
    );
    let (_, _, error) = made.run(&["doctor"]);
    let said = format!(
        "process {} was killed while the system was tuned",
        child.id()
    );
    assert_eq!(error.contains(&said), watchdog_too, "{error}");
    assert!(made.as_it_was() && made.journals().is_empty());
    assert!(
        traces(&made.home).is_empty(),
        "doctor removes directories of any --dir"
    );
    assert!(kept(&made.home) >= before);
}

#[test]
fn a_run_that_is_killed_at_any_moment_leaves_nothing() {
    let made = Made::new();
    for (moment, watchdog_too) in [
        (0, false),
        (150, true),
        (400, false),
        (900, true),
        (1700, false),
    ] {
        kill_at(&made, Duration::from_millis(moment), watchdog_too);
    }
}

#[test]
fn a_steadied_run_goes_on_steadied_or_not_at_all() {
    let made = Made::new();
    let mut child = made.start("4s");
    eventually("a launch is kept", || kept(&made.home) > 0);
    end(child.id(), Signal::SIGKILL);
    child.wait().unwrap();
    eventually("it is put back", || made.as_it_was());
    fs::remove_file(made.root().join(TURBO)).unwrap();
    let (code, _, error) = made.run(&["run", "--resume"]);
    assert_eq!(code, 2, "{error}");
    assert!(
        error.contains("turbo off") && error.contains("start a new run"),
        "{error}"
    );
    made.set(TURBO, "0");
    let (code, text, error) = made.run(&["run", "--resume", "-vv"]);
    assert_eq!(code, 0, "{error}");
    assert!(text.contains("governor performance; turbo off"), "{text}");
    assert!(made.as_it_was() && made.journals().is_empty());
}
