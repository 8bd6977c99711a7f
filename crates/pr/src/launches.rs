//! One execution of a harness in a work tree.

use crate::git::environment;
use crate::instructions::Counter;
use crate::work_trees::{WorkTree, describe, last_lines};
use anyhow::{Context as _, Result, anyhow};
use gritstone_exchange::harness::{
    Execution, Harness, HarnessFile, HarnessResult, HarnessResults, Invocation, Output,
};
use gritstone_exec::{UserEnd, UserTask, WorkDirs};
use gritstone_model::{Better, decode_text};
use gritstone_runs::files;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Unit of counts.
const INSTRUCTIONS: &str = "instructions";
/// Bytes of output that are read.
const MAX_OUTPUT: u64 = 64 << 20;

/// How a harness is executed.
pub struct Launcher<'a> {
    pub harness: &'a dyn Harness,
    pub command: &'a [String],
    /// Below the root of a work tree.
    pub directory: &'a Path,
    /// Measuring time of one benchmark.
    pub time: Duration,
    pub deadline: Duration,
    pub work_dirs: &'a WorkDirs,
    pub stop: &'a AtomicBool,
    /// Counts the instructions of a plain command, in place of its time.
    pub counter: Option<&'a Counter>,
    /// Whether to return the output of a plain command.
    pub keeps_output: bool,
}

/// What a launch measures.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// Benchmarks to measure; empty: all.
    pub wanted: &'a [String],
    pub unwanted: &'a [String],
    /// Names of all benchmarks so far.
    pub known: &'a [String],
}

/// Most bytes of an argument or variable: Linux permits 128 KiB, and escaping doubles a letter.
const MAX_FILTER: usize = 50_000;

impl Request<'_> {
    /// No filter if the names are too long for one.
    fn filter(&self) -> (&[String], &[String]) {
        let fits = |names: &[String]| {
            let bytes = names.iter().map(|name| name.len() + 1);
            bytes.sum::<usize>() <= MAX_FILTER
        };
        match fits(self.wanted) && fits(self.unwanted) {
            true => (self.wanted, self.unwanted),
            false => (&[], &[]),
        }
    }
}

/// Results of a launch.
#[derive(Debug)]
pub struct Launched {
    pub results: HarnessResults,
    /// Failure of a harness that left results, such as that of one of its benchmarks.
    pub failure: Option<String>,
    /// Standard output, with `keeps_output`.
    pub output: Option<Vec<u8>>,
}

impl Launched {
    /// Why a benchmark has no value.
    pub fn reason(&self, name: &str) -> Option<String> {
        let mut without_value = self.results.without_value.iter();
        let (_, why) = without_value.find(|(known, _)| known == name)?;
        Some(why.clone())
    }
}

impl Launcher<'_> {
    /// Returns the results; the inner error is the reason for which there are none.
    ///
    /// # Errors
    /// When nothing can be executed, or the user interrupts.
    pub fn launch(&self, tree: &WorkTree, request: Request<'_>) -> Result<Result<Launched>> {
        let directory = self.work_dirs.fresh(false)?;
        let launched = self.launch_in(&directory, tree, request);
        fs::remove_dir_all(&directory)
            .with_context(|| format!("cannot remove {}", directory.display()))?;
        launched
    }

    fn launch_in(
        &self,
        directory: &Path,
        tree: &WorkTree,
        request: Request<'_>,
    ) -> Result<Result<Launched>> {
        let results = directory.join("results");
        fs::create_dir(&results).with_context(|| format!("cannot make {}", results.display()))?;
        let (wanted, unwanted) = request.filter();
        let invocation = self.harness.invocation(&Execution {
            command: self.command,
            directory: &results,
            time: self.time,
            wanted,
            unwanted,
        });
        let variables = variables(&invocation, directory)?;
        let (stdout, stderr) = (directory.join("stdout"), directory.join("stderr"));
        let argv = match self.counter {
            Some(counter) => counter.argv(&invocation.argv, &results),
            None => invocation.argv.iter().map(OsString::from).collect(),
        };
        let start = Instant::now();
        let end = self.work_dirs.execute(UserTask {
            argv,
            directory: &tree.directory(self.directory)?,
            environment: &variables,
            stdout: &stdout,
            stderr: &stderr,
            deadline: self.deadline,
            stop: self.stop,
        })?;
        let elapsed = start.elapsed();
        let failure = self.failure(&end, [&stderr, &stdout])?;
        let is_ended = matches!(end, UserEnd::Status(_) | UserEnd::Signal(_));
        let read = match (invocation.output, &failure) {
            (_, Some(failure)) if !is_ended => return Ok(Err(anyhow!(failure.clone()))),
            (Output::WallTime, Some(_)) => Err(anyhow!("it has no value")),
            (Output::WallTime, None) => self.whole_command(elapsed, &results),
            (Output::Stdout, _) => read_text(&stdout).and_then(|text| {
                let path = "standard output".into();
                Ok(self.harness.results(&[HarnessFile { path, text }], request.known)?)
            }),
            (Output::File(file), _) => self.parse(&[file], directory, request.known),
            (Output::Tree(root), _) => files::json_files(&root)
                .context("the harness left no results")
                .and_then(|files| self.parse(&files, &root, request.known)),
        };
        let output = match self.keeps_output && read.is_ok() {
            true => Some(read_bytes(&stdout)?),
            false => None,
        };
        Ok(match (read, failure) {
            (Ok(results), failure) => Ok(Launched { results, failure, output }),
            (Err(_), Some(failure)) => Err(anyhow!(failure)),
            (Err(why), None) => Err(why),
        })
    }

    /// Why the command failed, with the last lines of these files.
    fn failure(&self, end: &UserEnd, logs: [&Path; 2]) -> Result<Option<String>> {
        let command = self.command.join(" ");
        Ok(match end {
            UserEnd::Success => None,
            UserEnd::TimedOut => Some(format!(
                "'{command}' took longer than {} s, the whole --budget",
                self.deadline.as_secs_f64()
            )),
            end => {
                let last = last_lines(logs[0])? + &last_lines(logs[1])?;
                Some(format!("'{command}' {}\n{last}", describe(end)))
            }
        })
    }

    /// The one result of a plain command.
    fn whole_command(&self, elapsed: Duration, results: &Path) -> Result<HarnessResults> {
        let (unit, value) = match self.counter {
            None => ("s", elapsed.as_secs_f64()),
            Some(counter) => (INSTRUCTIONS, counter.read(results)? as f64),
        };
        Ok(HarnessResults {
            measured: vec![HarnessResult {
                name: self.command.join(" "),
                unit: unit.to_owned(),
                better: Better::Lower,
                values: vec![value],
            }],
            without_value: vec![],
        })
    }

    fn parse(
        &self,
        files: &[PathBuf],
        below: impl AsRef<Path>,
        known: &[String],
    ) -> Result<HarnessResults> {
        let read = |path: &PathBuf| {
            let named = path.strip_prefix(&below).ok().filter(|path| path.is_relative());
            Ok(HarnessFile {
                text: read_text(path)?,
                path: named.map(Path::to_owned).unwrap_or_default(),
            })
        };
        let files: Vec<HarnessFile> = files.iter().map(read).collect::<Result<_>>()?;
        Ok(self.harness.results(&files, known)?)
    }
}

/// The environment of a launch.
fn variables(invocation: &Invocation, directory: &Path) -> Result<BTreeMap<String, OsString>> {
    let mut all = environment();
    let more = invocation.environment.iter();
    all.extend(more.map(|(name, value)| (name.clone(), OsString::from(value))));
    if !invocation.python.is_empty() {
        let modules = directory.join("python");
        write_files(&modules, invocation.python)?;
        let path = all.entry("PYTHONPATH".to_owned()).or_default();
        *path = before(&modules, path);
    }
    Ok(all)
}

fn write_files(directory: &Path, files: &[(&str, &str)]) -> Result<()> {
    for (path, text) in files {
        let path = directory.join(path);
        let what = || format!("cannot write {}", path.display());
        fs::create_dir_all(path.parent().unwrap_or(directory)).with_context(what)?;
        fs::write(&path, text).with_context(what)?;
    }
    Ok(())
}

/// A search path that begins with a directory. An empty entry would mean the current one.
fn before(directory: &Path, path: &OsStr) -> OsString {
    let mut all = directory.as_os_str().to_owned();
    if !path.is_empty() {
        all.push(":");
        all.push(path);
    }
    all
}

fn read_text(path: &Path) -> Result<String> {
    decode_text(read_bytes(path)?).with_context(|| path.display().to_string())
}

fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    let what = || format!("the harness left no {}", path.display());
    // not a pipe, which would never end
    anyhow::ensure!(
        fs::metadata(path).with_context(what)?.is_file(),
        "{} is not a file",
        path.display()
    );
    let file = fs::File::open(path).with_context(what)?;
    let mut bytes = vec![];
    let read = file.take(MAX_OUTPUT + 1).read_to_end(&mut bytes).with_context(what)?;
    anyhow::ensure!(
        read as u64 <= MAX_OUTPUT,
        "{} is larger than {MAX_OUTPUT} bytes",
        path.display()
    );
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_filters_are_left_out() {
        let names = |n: usize| -> Vec<String> { (0..n).map(|i| format!("{i:0>60}")).collect() };
        for (n, filtered) in [(100, 100), (3000, 0)] {
            let wanted = names(n);
            let request = Request { wanted: &wanted, unwanted: &[], known: &wanted };
            assert_eq!(request.filter().0.len(), filtered);
        }
    }
}
