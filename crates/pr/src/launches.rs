//! One execution of a harness in a work tree.

use crate::git::environment;
use crate::work_trees::{WorkTree, describe, last_lines};
use anyhow::{Context as _, Result, anyhow};
use gritstone_exchange::harness::{
    Execution, Harness, HarnessFile, HarnessResult, HarnessResults, Output,
};
use gritstone_exec::{UserEnd, UserTask, WorkDirs};
use gritstone_model::{Better, decode_text};
use gritstone_runs::files;
use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Bytes of output that are read.
const MAX_OUTPUT: u64 = 64 << 20;

/// How a harness is executed.
pub struct Launcher<'a> {
    pub harness: &'a dyn Harness,
    pub command: &'a [String],
    pub deadline: Duration,
    pub work_dirs: &'a WorkDirs,
    pub stop: &'a AtomicBool,
}

/// What a launch measures.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// Measuring time of one benchmark.
    pub time: Duration,
    /// Empty: all.
    pub wanted: &'a [String],
    pub unwanted: &'a [String],
}

/// What a launch left.
#[derive(Debug)]
pub struct Launched {
    pub results: HarnessResults,
    /// How the harness failed although it left results, as where one of its benchmarks fails.
    pub failure: Option<String>,
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
    /// Results; inside, why there are none.
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
        let invocation = self.harness.invocation(&Execution {
            command: self.command,
            directory: &results,
            time: request.time,
            wanted: request.wanted,
            unwanted: request.unwanted,
        });
        let mut variables = environment();
        let more = invocation.environment.into_iter();
        variables.extend(more.map(|(name, value)| (name, OsString::from(value))));
        let (stdout, stderr) = (directory.join("stdout"), directory.join("stderr"));
        let start = Instant::now();
        let end = self.work_dirs.execute(UserTask {
            argv: invocation.argv.iter().map(OsString::from).collect(),
            directory: &tree.directory(),
            environment: &variables,
            stdout: &stdout,
            stderr: &stderr,
            deadline: self.deadline,
            stop: self.stop,
        })?;
        let elapsed = start.elapsed();
        let failure = match &end {
            UserEnd::Success => None,
            end => {
                let said = last_lines(&stderr)? + &last_lines(&stdout)?;
                let command = self.command.join(" ");
                Some(format!("'{command}' {}\n{said}", describe(end)))
            }
        };
        let is_ended = matches!(end, UserEnd::Status(_) | UserEnd::Signal(_));
        if let Some(failure) = failure.as_ref().filter(|_| !is_ended) {
            return Ok(Err(anyhow!(failure.clone())));
        }
        let read = match invocation.output {
            Output::WallTime if failure.is_none() => Ok(HarnessResults {
                measured: vec![HarnessResult {
                    name: self.command.join(" "),
                    unit: "s".to_owned(),
                    better: Better::Lower,
                    values: vec![elapsed.as_secs_f64()],
                }],
                without_value: vec![],
            }),
            Output::WallTime => Err(anyhow!("it has no time")),
            Output::Stdout => read_text(&stdout).and_then(|text| {
                let path = "standard output".into();
                Ok(self.harness.results(&[HarnessFile { path, text }])?)
            }),
            Output::File(file) => self.parse(&[file], directory),
            Output::Tree(root) => files::json_files(&root)
                .context("the harness left no results")
                .and_then(|files| self.parse(&files, &root)),
        };
        Ok(match (read, failure) {
            (Ok(results), failure) => Ok(Launched { results, failure }),
            (Err(_), Some(failure)) => Err(anyhow!(failure)),
            (Err(why), None) => Err(why),
        })
    }

    fn parse(&self, files: &[PathBuf], below: impl AsRef<Path>) -> Result<HarnessResults> {
        let read = |path: &PathBuf| {
            let named = path
                .strip_prefix(&below)
                .ok()
                .filter(|path| path.is_relative());
            Ok(HarnessFile {
                text: read_text(path)?,
                path: named.map(Path::to_owned).unwrap_or_default(),
            })
        };
        let files: Vec<HarnessFile> = files.iter().map(read).collect::<Result<_>>()?;
        Ok(self.harness.results(&files)?)
    }
}

fn read_text(path: &Path) -> Result<String> {
    let what = || format!("the harness left no {}", path.display());
    // not a pipe, which would never end
    anyhow::ensure!(
        fs::metadata(path).with_context(what)?.is_file(),
        "{} is not a file",
        path.display()
    );
    let file = fs::File::open(path).with_context(what)?;
    let mut bytes = vec![];
    let read = file
        .take(MAX_OUTPUT + 1)
        .read_to_end(&mut bytes)
        .with_context(what)?;
    anyhow::ensure!(
        read as u64 <= MAX_OUTPUT,
        "{} is larger than {MAX_OUTPUT} bytes",
        path.display()
    );
    decode_text(bytes).with_context(|| path.display().to_string())
}
