//! Missing programs of benchmarks, and the command that installs them.

use super::{Finding, Severity, as_root, found};
use crate::programs::meeting;
use crate::{Host, text};
use gritstone_model::{Benchmark, Id, Need};
use std::ffi::OsStr;

/// Prefix of the name of a finding on a missing program.
const PROGRAM: &str = "program ";
/// Benchmarks named before the rest is counted.
const NAMED: usize = 3;

/// Its package creates and starts a database cluster during installation, unless a file prevents it.
const POSTGRESQL: &str = "postgresql";
const NO_CLUSTER: &str = "/etc/postgresql-common/createcluster.d";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    pub need: Need,
    /// Benchmarks that need it.
    pub benchmarks: Vec<Id>,
}

/// Needs of `benchmarks` that `path` (a value of `PATH`) does not meet, in the order of the benchmarks.
#[must_use]
pub fn missing(benchmarks: &[Benchmark], path: &OsStr) -> Vec<Missing> {
    needs(benchmarks)
        .into_iter()
        .filter(|missing| meeting(&missing.need, path).is_none())
        .collect()
}

/// The program that counts instructions without a kernel counter: for `pr --count instructions`, not for benchmarks.
#[must_use]
pub fn missing_counter(path: &OsStr) -> Option<Missing> {
    let need = Need {
        name: "valgrind".to_owned(),
        any: vec![],
        package: "valgrind".to_owned(),
        version: None,
    };
    let missing = meeting(&need, path).is_none();
    missing.then_some(Missing {
        need,
        benchmarks: vec![],
    })
}

/// The command that installs all of them, as program and arguments; `None` if nothing is missing or the distribution
/// is not based on Debian.
#[must_use]
pub fn install(host: &Host, missing: &[Missing]) -> Option<Vec<String>> {
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
#[must_use]
pub fn shown(command: &[String]) -> String {
    match command {
        [shell, option, script] if shell == "sh" && option == "-c" => script.clone(),
        words => words.join(" "),
    }
}

/// Whether it is about a program that only some benchmarks need.
#[must_use]
pub fn is_program(finding: &Finding) -> bool {
    finding.name.starts_with(PROGRAM)
}

pub(super) fn findings(host: &Host, benchmarks: &[Benchmark], path: &OsStr) -> Vec<Finding> {
    let needed = needs(benchmarks).len();
    let missing = missing(benchmarks, path);
    if missing.is_empty() {
        let value = match needed {
            0 => "none needed".to_owned(),
            _ => format!("{} needed, none missing", text::count(needed, "program")),
        };
        let why = "Benchmarks that time these programs need them.";
        return vec![found(Severity::Ok, value).named("programs").why(why)];
    }
    missing
        .iter()
        .map(|missing| finding(host, missing))
        .collect()
}

fn finding(host: &Host, missing: &Missing) -> Finding {
    let need = &missing.need;
    let value = match need.any.as_slice() {
        [] => "missing".to_owned(),
        any => format!("missing: none of {}", any.join(", ")),
    };
    let mut why = format!("Needed by {}", name_some(&missing.benchmarks));
    if !host.system.debian {
        why += &format!("; Debian has it in the package {}", need.package);
    }
    why.push('.');
    let name = format!("{PROGRAM}{}", need.name);
    let mut finding = found(Severity::Warning, value).named(name).why(why);
    finding.todo = install(host, std::slice::from_ref(missing)).map(|words| shown(&words));
    finding
}

fn name_some(benchmarks: &[Id]) -> String {
    let mut words: Vec<String> = benchmarks.iter().take(NAMED).map(Id::to_string).collect();
    if benchmarks.len() > NAMED {
        words.push(format!("{} more", benchmarks.len() - NAMED));
    }
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => words.concat(),
    }
}

/// Distinct needs with their benchmarks.
fn needs(benchmarks: &[Benchmark]) -> Vec<Missing> {
    let mut found: Vec<Missing> = Vec::new();
    for benchmark in benchmarks {
        for need in &benchmark.needs {
            match found.iter_mut().find(|missing| missing.need == *need) {
                Some(missing) => missing.benchmarks.push(benchmark.id.clone()),
                None => found.push(Missing {
                    need: need.clone(),
                    benchmarks: vec![benchmark.id.clone()],
                }),
            }
        }
    }
    found
}

/// Debian's rule for package names: other names go into no command.
fn is_package(name: &str) -> bool {
    name.len() >= 2
        && name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "+-.".contains(c))
}
