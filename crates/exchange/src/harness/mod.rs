//! Harnesses: the output format of each, and how `pr` executes it for a short time with a subset of benchmarks.
//!
//! Each program is a file that implements [`Format`] for imports, and [`Harness`] if `pr` can execute it. Reading files and executing
//! commands is done elsewhere.

mod catch2;
mod criterion;
mod divan;
mod fio;
mod go;
mod google_benchmark;
mod hyperfine;
mod iperf3;
mod jmh;
mod json;
mod json_text;
mod lines;
mod nanobench;
mod pyperf;
mod pytest_benchmark;
mod shape;
#[cfg(test)]
mod tests;
mod unixbench;
mod wall_time;

pub use shape::Shape;

use crate::foreign_run::{ForeignRun, located};
use crate::stored_unit::StoredUnit;
use gritstone_model::{Better, Quantity};
use std::path::{Path, PathBuf};
use std::time::Duration;
use thiserror::Error;

/// Values of one benchmark from one execution of a harness.
#[derive(Clone, Debug, PartialEq)]
pub struct HarnessResult {
    /// As the harness names it.
    pub name: String,
    /// Unit of the values.
    pub unit: String,
    /// Which values are better.
    pub better: Better,
    /// One per repetition; at least one, all finite and above 0.
    pub values: Vec<f64>,
}

/// Results of one execution.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HarnessResults {
    /// At least one.
    pub measured: Vec<HarnessResult>,
    /// Name and reason of each benchmark without a value.
    pub without_value: Vec<(String, String)>,
}

/// A file that a harness wrote, or its standard output (without a path).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HarnessFile {
    /// Below the directory of the results, or as the user named it.
    pub path: PathBuf,
    /// Contents.
    pub text: String,
}

/// Request for an execution.
#[derive(Clone, Copy, Debug)]
pub struct Execution<'a> {
    /// Command of the user.
    pub command: &'a [String],
    /// An empty directory for results.
    pub directory: &'a Path,
    /// Measuring time of one benchmark.
    pub time: Duration,
    /// Benchmarks to measure; empty: all, since none is known yet.
    pub wanted: &'a [String],
    /// Known benchmarks that need not be measured.
    pub unwanted: &'a [String],
}

/// A command, and the place of its results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Additions to the environment.
    pub environment: Vec<(String, String)>,
    /// Paths and contents of files in a directory that comes first in `PYTHONPATH`.
    pub python: &'static [(&'static str, &'static str)],
    /// Where the results are.
    pub output: Output,
}

impl Invocation {
    fn new(argv: Vec<String>, output: Output) -> Self {
        Self { argv, environment: vec![], python: &[], output }
    }
}

/// Place of the results of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Standard output.
    Stdout,
    File(PathBuf),
    /// All JSON files below a directory.
    Tree(PathBuf),
    /// None: the wall time of the command is the result.
    WallTime,
}

/// Why output has no results.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HarnessError {
    /// Not the format of the program.
    #[error("{}", located(place, what))]
    Malformed {
        /// File, line or entry as far as known.
        place: String,
        /// What is wrong.
        what: String,
    },
    /// The format is right, but has no benchmark.
    #[error("no benchmark in the output of {0}")]
    Empty(&'static str),
    /// No benchmark has a value.
    #[error("no benchmark of {program} has a value: {}", reasons(why))]
    NoValue {
        program: &'static str,
        /// Name and reason of each.
        why: Vec<(String, String)>,
    },
}

/// The first few, and the number of others.
fn reasons(why: &[(String, String)]) -> String {
    const MAX_REASONS: usize = 5;
    let shown = why.iter().take(MAX_REASONS);
    let mut text: Vec<String> = shown.map(|(name, why)| format!("{name}: {why}")).collect();
    if why.len() > MAX_REASONS {
        text.push(format!("and {} more", why.len() - MAX_REASONS));
    }
    text.join("; ")
}

/// A program that writes results.
pub struct Program {
    /// On command lines: `google-benchmark`.
    pub name: &'static str,
    pub title: &'static str,
}

/// Output format of a program.
pub trait Format: Sync {
    fn program(&self) -> Program;
    fn name(&self) -> &'static str {
        self.program().name
    }
    fn title(&self) -> &'static str {
        self.program().title
    }
    /// Whether a file seems to be of this program, complete or damaged. Never, if any file may be.
    fn recognizes(&self, _: &Shape<'_>) -> bool {
        false
    }
    /// Names of the files that are read together, if results are in several files of a directory.
    fn parts(&self) -> &'static [&'static str] {
        &[]
    }
    /// Adds the benchmarks of a file; none, if the program writes no results. A benchmark without a value does not affect others.
    ///
    /// # Errors
    /// When it is not of this program.
    fn read(&self, _: &mut ForeignRun, _: &HarnessFile) -> Result<(), HarnessError> {
        Ok(())
    }
    /// Parses the output of one execution.
    ///
    /// # Errors
    /// When it is not of this program, or has no value.
    fn parse(&self, files: &[HarnessFile]) -> Result<ForeignRun, HarnessError> {
        let mut run = ForeignRun::default();
        for file in files {
            self.read(&mut run, file)?;
        }
        run.finish(self.title())
    }
}

/// A program that `pr` executes.
pub trait Harness: Format {
    /// Command for one short execution with machine-readable output.
    fn invocation(&self, execution: &Execution<'_>) -> Invocation;
    /// Results of one execution, with names that are unique in it; `_known` are those of earlier ones.
    ///
    /// # Errors
    /// As [`Format::parse`].
    fn results(
        &self,
        files: &[HarnessFile],
        _known: &[String],
    ) -> Result<HarnessResults, HarnessError> {
        self.parse(files)?.results(self.title())
    }
}

/// A benchmark program, by the commands that support it.
enum Listed {
    /// `import` recognizes its files, and `pr` executes it.
    Both(Box<dyn Harness>),
    Imported(Box<dyn Format>),
    /// Any file may be of it.
    Executed(Box<dyn Harness>),
}

/// All programs, in the order in which files are recognized; `pointer` is that of the values for `json`.
fn programs(pointer: &str) -> impl Iterator<Item = Listed> {
    use Listed::{Both, Executed, Imported};
    let all = vec![
        Executed(Box::new(wall_time::WallTime)),
        Both(Box::new(nanobench::Nanobench)),
        Both(Box::new(hyperfine::Hyperfine)),
        Both(Box::new(google_benchmark::GoogleBenchmark)),
        Imported(Box::new(unixbench::UnixBench)),
        Both(Box::new(pytest_benchmark::PytestBenchmark)),
        Both(Box::new(criterion::Criterion)),
        Both(Box::new(divan::Divan)),
        Both(Box::new(catch2::Catch2)),
        Both(Box::new(go::Go)),
        Both(Box::new(pyperf::Pyperf)),
        Both(Box::new(jmh::Jmh)),
        Imported(Box::new(fio::Fio)),
        Imported(Box::new(iperf3::Iperf3)),
        Executed(Box::new(lines::Lines)),
        Executed(Box::new(json::Json { pointer: pointer.to_owned() })),
    ];
    all.into_iter()
}

/// All that `pr` executes.
pub fn all(pointer: &str) -> impl Iterator<Item = Box<dyn Harness>> {
    programs(pointer).filter_map(|program| match program {
        Listed::Both(harness) | Listed::Executed(harness) => Some(harness),
        Listed::Imported(_) => None,
    })
}

/// The harness of this name.
pub fn named(name: &str, pointer: &str) -> Option<Box<dyn Harness>> {
    all(pointer).find(|harness| harness.name() == name)
}

/// All that `import` recognizes.
pub(crate) fn formats() -> impl Iterator<Item = Box<dyn Format>> {
    programs("").filter_map(|program| match program {
        Listed::Both(harness) => Some(harness as Box<dyn Format>),
        Listed::Imported(format) => Some(format),
        Listed::Executed(_) => None,
    })
}

fn malformed(place: impl Into<String>, what: impl ToString) -> HarnessError {
    HarnessError::Malformed { place: place.into(), what: what.to_string() }
}

/// A place in a file: the file, if it has a name, and the element.
fn place(file: &HarnessFile, within: &str) -> String {
    let mut place = file.path.display().to_string();
    if !place.is_empty() && !within.is_empty() {
        place += ": ";
    }
    place + within
}

/// A regular expression that matches exactly these names.
fn any_of(names: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| escape(name.as_ref())).collect();
    format!("^({})$", names.join("|"))
}

/// Escapes literal text for regular expressions of POSIX, Go, Java and Rust.
fn escape(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for c in name.chars() {
        if "\\.+*?()|[]{}^$".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

fn seconds(time: Duration) -> String {
    time.as_secs_f64().to_string()
}

/// The command with more arguments.
fn argv(command: &[String], more: impl IntoIterator<Item = String>) -> Vec<String> {
    command.iter().cloned().chain(more).collect()
}

/// Names of rates that are no units of results; k, m, g or t may precede them.
const RATES: [&str; 10] = ["flops", "ops", "iops", "qps", "rps", "tps", "fps", "bps", "pps", "hz"];

/// Rates are better when higher; times and sizes when lower.
fn direction(unit: &str) -> Better {
    let is_rate = |unit: &StoredUnit| matches!(unit.unit.quantity(), Quantity::Rate { .. });
    let lower = unit.to_ascii_lowercase();
    let base = lower.strip_prefix(['k', 'm', 'g', 't']).unwrap_or(&lower);
    let is_named = [lower.as_str(), base].iter().any(|name| RATES.contains(name))
        || lower.ends_with("_per_second");
    match StoredUnit::parse(unit).as_ref().is_some_and(is_rate) || is_named {
        true => Better::Higher,
        false => Better::Lower,
    }
}
