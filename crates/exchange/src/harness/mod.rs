//! Benchmark harnesses: how each is executed once, shortly and for some of its benchmarks, and what it writes.
//!
//! A harness is one file behind [`Harness`] and one line of [`all`]. Files are read and commands executed elsewhere.

mod criterion;
mod go;
mod google_benchmark;
mod hyperfine;
mod jmh;
mod json;
mod lines;
mod pyperf;
mod pytest_benchmark;
#[cfg(test)]
mod tests;
mod wall_time;

use gritstone_model::Better;
use serde::de::DeserializeOwned;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use thiserror::Error;

/// Values of one benchmark from one execution of a harness.
#[derive(Clone, Debug, PartialEq)]
pub struct HarnessResult {
    /// As the harness names it.
    pub name: String,
    /// Of the values.
    pub unit: String,
    /// Which values are better.
    pub better: Better,
    /// One per repetition; at least one, all finite and above 0.
    pub values: Vec<f64>,
}

/// A file that a harness wrote, or its standard output (without a path).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HarnessFile {
    /// Below the directory of the results, or as the user named it.
    pub path: PathBuf,
    /// Contents.
    pub text: String,
}

/// What an execution is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Execution<'a> {
    /// Of the user.
    pub command: &'a [String],
    /// An empty directory for results.
    pub directory: &'a Path,
    /// Measuring time of one benchmark.
    pub time: Duration,
    /// Benchmarks to measure; empty: all, of which none is known yet.
    pub wanted: &'a [String],
    /// Known benchmarks that need not be measured.
    pub unwanted: &'a [String],
}

/// A command, and where it leaves its results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Additions to the environment.
    pub environment: Vec<(String, String)>,
    /// Where the results are.
    pub output: Output,
}

/// Where an execution leaves its results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Standard output.
    Stdout,
    /// One file.
    File(PathBuf),
    /// All JSON files below a directory.
    Tree(PathBuf),
    /// The wall time of the command is the result.
    WallTime,
}

/// Why output has no results.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HarnessError {
    /// Not the format of the harness.
    #[error("{place}: {what}")]
    Malformed {
        /// File, with line or entry where known.
        place: String,
        /// What is wrong.
        what: String,
    },
    /// The format is right, and nothing was measured.
    #[error("no benchmark in the output of {0}")]
    Empty(&'static str),
}

/// A program that measures benchmarks.
pub trait Harness: Sync {
    /// As `--harness` has it.
    fn name(&self) -> &'static str;
    /// The program's own name, for people.
    fn title(&self) -> &'static str;
    /// One short execution with output for programs.
    fn invocation(&self, execution: &Execution<'_>) -> Invocation;
    /// Results in the output of one execution, or in files of earlier ones.
    ///
    /// # Errors
    /// When it is not of this harness, or has no result.
    fn parse(&self, files: &[HarnessFile]) -> Result<Vec<HarnessResult>, HarnessError>;
}

/// All harnesses; `pointer` is that of the values for `json`.
#[must_use]
pub fn all(pointer: &str) -> Vec<Box<dyn Harness>> {
    vec![
        Box::new(wall_time::WallTime),
        Box::new(google_benchmark::GoogleBenchmark),
        Box::new(criterion::Criterion),
        Box::new(go::Go),
        Box::new(pytest_benchmark::PytestBenchmark),
        Box::new(pyperf::Pyperf),
        Box::new(jmh::Jmh),
        Box::new(hyperfine::Hyperfine),
        Box::new(lines::Lines),
        Box::new(json::Json {
            pointer: pointer.to_owned(),
        }),
    ]
}

/// The harness of this name.
#[must_use]
pub fn named(name: &str, pointer: &str) -> Option<Box<dyn Harness>> {
    all(pointer)
        .into_iter()
        .find(|harness| harness.name() == name)
}

/// Results by name, in order of appearance; values of one name are repetitions.
#[derive(Default)]
struct Results(Vec<HarnessResult>);

impl Results {
    /// A time or rate: finite and above 0.
    fn add(
        &mut self,
        name: &str,
        unit: &str,
        better: Better,
        value: f64,
        place: impl FnOnce() -> String,
    ) -> Result<(), HarnessError> {
        if !(value.is_finite() && value > 0.0) {
            let what = format!("{value} {unit} of '{name}' is not a positive number");
            return Err(malformed(place(), what));
        }
        match self.0.iter_mut().find(|known| known.name == name) {
            Some(known) if known.unit == unit => known.values.push(value),
            Some(known) => {
                let what = format!("'{name}' is in {unit} here and in {} above", known.unit);
                return Err(malformed(place(), what));
            }
            None => self.0.push(HarnessResult {
                name: name.to_owned(),
                unit: unit.to_owned(),
                better,
                values: vec![value],
            }),
        }
        Ok(())
    }

    fn finish(self, harness: &'static str) -> Result<Vec<HarnessResult>, HarnessError> {
        match self.0.is_empty() {
            true => Err(HarnessError::Empty(harness)),
            false => Ok(self.0),
        }
    }
}

fn malformed(place: impl Into<String>, what: impl ToString) -> HarnessError {
    HarnessError::Malformed {
        place: place.into(),
        what: what.to_string(),
    }
}

fn place(file: &HarnessFile) -> String {
    match file.path.as_os_str().is_empty() {
        true => "standard output".to_owned(),
        false => file.path.display().to_string(),
    }
}

fn parse_json<T: DeserializeOwned>(file: &HarnessFile, of: &str) -> Result<T, HarnessError> {
    serde_json::from_str(&file.text)
        .map_err(|why| malformed(place(file), format!("not JSON of {of}: {why}")))
}

/// A regular expression that matches exactly these names.
fn any_of(names: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let names: Vec<String> = names
        .into_iter()
        .map(|name| escape(name.as_ref()))
        .collect();
    format!("^({})$", names.join("|"))
}

/// Literal text in a regular expression, as POSIX, Go, Java and Rust read it.
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
    let mut text = String::new();
    let _ = write!(text, "{}", time.as_secs_f64());
    text
}

/// The command with more arguments.
fn argv(command: &[String], more: impl IntoIterator<Item = String>) -> Vec<String> {
    command.iter().cloned().chain(more).collect()
}

/// Rates are better when higher; times and sizes when lower.
fn direction(unit: &str) -> Better {
    match unit.ends_with("/s") || unit.ends_with("/sec") {
        true => Better::Higher,
        false => Better::Lower,
    }
}
