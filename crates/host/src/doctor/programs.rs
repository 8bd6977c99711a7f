//! Programs that benchmarks need, and the command that installs missing ones.

use super::{Finding, Severity, as_root, found};
use crate::programs::meeting;
use crate::{Host, text};
use gritstone_model::{Benchmark, Id, Need};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Prefix of the name of a finding on a missing program.
const PROGRAM: &str = "program ";
/// Benchmarks named before the rest is counted.
const MAX_NAMED: usize = 3;

/// Its package creates and starts a database cluster during installation, unless a file prevents it.
const POSTGRESQL: &str = "postgresql";
const NO_CLUSTER: &str = "/etc/postgresql-common/createcluster.d";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needed {
    pub need: Need,
    /// Benchmarks that need it; none need the counter of instructions.
    pub benchmarks: Vec<Id>,
}

impl Needed {
    /// Whether it, or a program that serves instead, has this name.
    pub fn is_called(&self, name: &str) -> bool {
        let file_name = |path: &String| Path::new(path).file_name() == Some(OsStr::new(name));
        self.need.name == name || self.need.any.iter().any(file_name)
    }

    /// Whether both are met by the same program.
    pub fn is_same(&self, other: &Self) -> bool {
        let [a, b] = [&self.need, &other.need];
        (&a.name, &a.any, &a.package) == (&b.name, &b.any, &b.package)
    }

    /// Where it is along `path` (a value of `PATH`).
    pub fn found(&self, path: &OsStr) -> Option<PathBuf> {
        meeting(&self.need, path)
    }

    /// `app/calc, app/edit/1, app/edit/2 and 4 more`.
    pub fn users(&self) -> String {
        match self.benchmarks.as_slice() {
            [] => "`gritstone pr --count instructions`".to_owned(),
            benchmarks => name_some(benchmarks),
        }
    }

    /// The finding on it: a warning if it is missing.
    pub fn finding(&self, host: &Host, path: &OsStr) -> Finding {
        let need = &self.need;
        let (severity, value) = match (self.found(path), need.any.as_slice()) {
            (Some(program), _) => (Severity::Ok, program.display().to_string()),
            (None, []) => (Severity::Warning, "missing".to_owned()),
            (None, any) => {
                let value = format!("missing: none of {}", any.join(", "));
                (Severity::Warning, value)
            }
        };
        let mut why = format!("Needed by {}", self.users());
        if !host.system.debian {
            why += &format!("; Debian has it in the package {}", need.package);
        }
        why.push('.');
        let name = format!("{PROGRAM}{}", need.name);
        let finding = found(severity, value).named(name).why(why);
        match install(host, std::slice::from_ref(self)) {
            Some(words) => finding.todo(shown(&words)),
            None => finding,
        }
    }
}

/// The program that counts instructions without a kernel counter: for `pr --count instructions`, not for benchmarks.
pub fn counter() -> Needed {
    let need = Need {
        name: "valgrind".to_owned(),
        any: vec![],
        package: "valgrind".to_owned(),
        version: None,
    };
    Needed { need, benchmarks: vec![] }
}

/// The command that installs all of them, as program and arguments; `None` if nothing is missing or the distribution
/// is not based on Debian.
pub fn install(host: &Host, missing: &[Needed]) -> Option<Vec<String>> {
    let mut packages: Vec<&str> = missing
        .iter()
        .map(|missing| missing.need.package.as_str())
        .filter(|package| is_package(package))
        .collect();
    packages.sort_unstable();
    packages.dedup();
    if packages.is_empty() || !host.system.debian {
        return None;
    }
    let words = as_root(host, "apt-get install -y");
    let words = words.split(' ').chain(packages.iter().copied());
    let words: Vec<String> = words.map(str::to_owned).collect();
    if !packages.contains(&POSTGRESQL) {
        return Some(words);
    }
    let make = as_root(host, &format!("mkdir -p {NO_CLUSTER}"));
    let file = as_root(host, &format!("tee {NO_CLUSTER}/gritstone.conf"));
    let install = words.join(" ");
    let script = format!("{make} && echo create_main_cluster = false | {file} && {install}");
    Some(["sh", "-c", &script].map(str::to_owned).into())
}

/// A command of [`install`] as typed.
pub fn shown(command: &[String]) -> String {
    match command {
        [shell, option, script] if shell == "sh" && option == "-c" => script.clone(),
        words => words.join(" "),
    }
}

/// Whether it is about a program that only some benchmarks need.
pub fn is_program(finding: &Finding) -> bool {
    finding.name.starts_with(PROGRAM)
}

pub(super) fn findings(host: &Host, benchmarks: &[Benchmark], path: &OsStr) -> Vec<Finding> {
    let needed = needed(benchmarks);
    let missing = needed.iter().filter(|needed| needed.found(path).is_none());
    let missing: Vec<Finding> = missing.map(|needed| needed.finding(host, path)).collect();
    if !missing.is_empty() {
        return missing;
    }
    let value = match needed.len() {
        0 => "none needed".to_owned(),
        many => format!("{} needed, none missing", text::count(many, "program")),
    };
    let why = "Benchmarks that time these programs need them.";
    vec![found(Severity::Ok, value).named("programs").why(why)]
}

fn name_some(benchmarks: &[Id]) -> String {
    let mut words: Vec<String> = benchmarks.iter().take(MAX_NAMED).map(Id::to_string).collect();
    if benchmarks.len() > MAX_NAMED {
        words.push(format!("{} more", benchmarks.len() - MAX_NAMED));
    }
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => words.concat(),
    }
}

/// Programs that `benchmarks` need, in their order.
pub fn needed(benchmarks: &[Benchmark]) -> Vec<Needed> {
    let mut all: Vec<Needed> = Vec::new();
    for benchmark in benchmarks {
        for need in &benchmark.needs {
            let needed = Needed { need: need.clone(), benchmarks: vec![benchmark.id.clone()] };
            match all.iter_mut().find(|known| known.is_same(&needed)) {
                Some(known) => known.benchmarks.extend(needed.benchmarks),
                None => all.push(needed),
            }
        }
    }
    all
}

/// Debian's rule for package names: other names go into no command.
fn is_package(name: &str) -> bool {
    name.len() >= 2
        && name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "+-.".contains(c))
}
