//! Fitness of this machine for measurements: findings, why they matter, and commands that fix them.

mod checks;
mod directory;
pub mod programs;

use crate::Host;
use gritstone_model::Benchmark;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::path::Path;

/// Effect of a finding on results, from none to the greatest.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// As it should be.
    Ok,
    /// Results are right, and depend on it.
    Note,
    /// Results will be noisy, or benchmarks will be skipped.
    Warning,
    /// Results would be wrong.
    Problem,
}

/// One line of the examination.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// What was examined: `load`, `clock source`, `program bc`, ...
    pub name: String,
    pub value: String,
    /// Why it matters, a sentence or two.
    pub why: String,
    /// Shell command that fixes it; `None` when nothing needs fixing, or no command can.
    pub todo: Option<String>,
    /// Its effect on results.
    pub severity: Severity,
}

/// A finding without name and reason, which the caller adds.
fn found(severity: Severity, value: impl Into<String>) -> Finding {
    Finding { name: String::new(), value: value.into(), why: String::new(), todo: None, severity }
}

fn unseen() -> Finding {
    found(Severity::Note, "not visible here")
}

impl Finding {
    fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    fn why(mut self, why: impl Into<String>) -> Self {
        self.why = why.into();
        self
    }

    /// Ignored if nothing is wrong.
    fn todo(mut self, command: impl Into<String>) -> Self {
        self.todo = (self.severity > Severity::Ok).then(|| command.into());
        self
    }

    /// Drops the command unless `applies`.
    fn only_if(mut self, applies: bool) -> Self {
        self.todo = self.todo.filter(|_| applies);
        self
    }
}

/// Examines a machine for `benchmarks` with files in `dir` and programs along `path` (a value of `PATH`). Current load first, then the
/// machine, then missing programs.
pub fn examine(host: &Host, benchmarks: &[Benchmark], dir: &Path, path: &OsStr) -> Vec<Finding> {
    let named = |(name, check): &(&str, fn(&Host) -> Finding)| check(host).named(*name);
    let mut findings: Vec<Finding> = checks::MACHINE.iter().map(named).collect();
    findings.extend(directory::findings(dir));
    findings.extend(checks::SURROUNDINGS.iter().map(named));
    findings.extend(programs::findings(host, benchmarks, path));
    findings
}

/// Current sources of scatter: load, steal, quota, battery.
pub fn now(host: &Host) -> Vec<Finding> {
    let checks = checks::MACHINE.iter().take(checks::CHANGING);
    let findings = checks.map(|(name, check)| check(host).named(*name));
    findings.filter(|finding| finding.severity >= Severity::Warning).collect()
}

const MIB: u64 = 1 << 20;

/// `Problem` below `min`, a warning below `enough`.
fn graded(amount: u64, min: u64, enough: u64) -> Severity {
    match amount {
        amount if amount < min => Severity::Problem,
        amount if amount < enough => Severity::Warning,
        _ => Severity::Ok,
    }
}

/// Adds sudo if needed.
fn as_root(host: &Host, command: &str) -> String {
    if host.system.privileged { command.to_owned() } else { format!("sudo {command}") }
}

/// Command that writes `value` to `file`.
fn write(host: &Host, value: &str, file: &str) -> String {
    format!("echo {value} | {}", as_root(host, &format!("tee {file}")))
}
