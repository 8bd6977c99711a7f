//! `run --tune` on a simulated machine: changes are undone. Kills are in attacks/kills.rs.

use crate::common::{
    self, Home, SHORT, end, end_at_once, eventually, list, processes, start, stored_launches,
    traces,
};
use nix::sys::signal::Signal;
use std::fs;
use std::path::PathBuf;
use std::process::Child;

const ROOT: &str = "GRITSTONE_SETTINGS_ROOT";
const GOVERNOR: &str = "sys/devices/system/cpu/cpufreq/policy0/scaling_governor";
const TURBO: &str = "sys/devices/system/cpu/intel_pstate/no_turbo";
// this precision is unattainable, so the run lasts until its budget is spent
const RUN: &str = "run byte/loop byte/shell --tune --precision 0.01%";

/// A home, and in it a machine with a governor and turbo, and no interrupts.
struct TunedHost {
    home: Home,
}

impl TunedHost {
    fn new() -> Self {
        let host = Self { home: Home::new() };
        host.set(GOVERNOR, "powersave");
        host.set(
            &GOVERNOR.replace("scaling_governor", "scaling_available_governors"),
            "performance powersave",
        );
        host.set(TURBO, "0");
        host
    }

    fn root(&self) -> PathBuf {
        self.home.path().join("root")
    }

    fn set(&self, path: &str, value: &str) {
        let file = self.root().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, format!("{value}\n")).unwrap();
    }

    /// Governor and turbo.
    fn values(&self) -> [String; 2] {
        let read = |path| fs::read_to_string(self.root().join(path)).unwrap();
        [GOVERNOR, TURBO].map(|path| read(path).trim().to_owned())
    }

    fn is_tuned(&self) -> bool {
        self.values() == ["performance", "1"]
    }

    fn as_it_was(&self) -> bool {
        self.values() == ["powersave", "0"]
    }

    /// Exit code, standard output, standard error.
    fn run(&self, line: &str) -> (i32, String, String) {
        let mut command = self.home.gritstone(line);
        command.env(ROOT, self.root());
        common::ended(&mut command)
    }

    /// A run in the background, at the moment when the machine is tuned.
    fn start(&self, budget: &str) -> Child {
        let line = format!("{RUN} --budget {budget} --dir {}", self.home.path().display());
        let child = start(&self.home, &line, &[(ROOT, &self.root())]);
        eventually("the machine is steadied", || self.is_tuned());
        child
    }
}

#[test]
fn tuned_settings_are_stored() {
    let host = TunedHost::new();
    let short = format!("run byte/loop --format json {SHORT}");
    let (code, text, error) = host.run(&short);
    assert_eq!(code, 0, "{error}");
    assert!(!text.contains("\"steady\""), "not requested: {text}");
    let (code, text, error) = host.run(&format!("{short} --tune"));
    assert_eq!(code, 0, "{error}");
    let run: serde_json::Value = serde_json::from_str(&text).unwrap();
    let tuned = list(&run["settings"]["steady"]);
    assert_eq!(tuned[..2], ["governor performance", "turbo off"]);
    for remark in [
        "not tuned: interrupts away from CPU ",
        "no interrupts in",
        "not tuned: real-time priority for processor-bound benchmarks: ",
    ] {
        assert!(error.contains(remark), "{error}");
    }
    assert!(host.as_it_was() && host.home.journals().is_empty());
    assert_eq!(processes(&host.home), 0);
    let (_, text, _) = host.run("compare last~1 last -v");
    assert!(text.contains("governor performance; turbo off"), "{text}");
    let (code, text, error) = host.run(&format!("{short} --tune --no-privileged"));
    assert!(code == 0 && error.contains("nothing is tuned: --no-privileged"), "{error}");
    assert!(!text.contains("\"steady\""), "{text}");
}

#[test]
fn interrupts_restore_our_changes_only() {
    let host = TunedHost::new();
    let child = host.start("30s");
    host.set(GOVERNOR, "schedutil");
    eventually("a launch is kept", || stored_launches(&host.home) > 0);
    end(&child, Signal::SIGTERM);
    let (code, _, error) = common::output_texts(child.wait_with_output().unwrap());
    assert_eq!(code, 130, "{error}");
    let warning = "it has been changed to 'schedutil' since";
    assert!(error.contains(warning), "{error}");
    assert_eq!(host.values(), ["schedutil", "0"]);
    assert!(host.home.journals().is_empty() && traces(&host.home).is_empty());
}

#[test]
fn concurrent_runs_change_nothing() {
    let host = TunedHost::new();
    let mut first = host.start("90s");
    let (code, _, error) = host.run(&format!("run byte/loop --tune {SHORT}"));
    assert_eq!(code, 0, "{error}");
    let why = format!("turbo off: process {} has tuned the system", first.id());
    assert!(error.contains(&why), "{error}");
    assert!(host.is_tuned(), "what the first needs is left to it");
    // and doctor leaves it alone as well
    let (_, _, error) = host.run("doctor");
    assert!(host.is_tuned() && !error.contains("restored"), "{error}");
    end(&first, Signal::SIGINT);
    first.wait().unwrap();
    assert!(host.as_it_was() && host.home.journals().is_empty());
}

#[test]
fn resumed_runs_stay_tuned() {
    let host = TunedHost::new();
    let mut child = host.start("4s");
    eventually("a launch is kept", || stored_launches(&host.home) > 0);
    end_at_once(&mut child);
    eventually("it is put back", || host.as_it_was());
    fs::remove_file(host.root().join(TURBO)).unwrap();
    let (code, _, error) = host.run("run --resume");
    assert_eq!(code, 2, "{error}");
    let parts = ["turbo off", "start a new run"];
    assert!(parts.iter().all(|text| error.contains(text)), "{error}");
    host.set(TURBO, "0");
    let (code, text, error) = host.run("run --resume -vv");
    assert_eq!(code, 0, "{error}");
    assert!(text.contains("governor performance; turbo off"), "{text}");
    assert!(host.as_it_was() && host.home.journals().is_empty());
}
