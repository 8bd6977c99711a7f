//! Criterion.rs: `new/sample.json` beside `new/benchmark.json`, below the directory that `CRITERION_HOME` names.

use super::google_benchmark::ONE_PROCESS;
use super::json_text::{fields, json, number, parse_json, parsed, text};
use super::{
    Execution, Format, Harness, HarnessError, HarnessFile, Invocation, Output, Program, Shape,
    any_of, malformed, place, seconds,
};
use crate::foreign_run::{ForeignRun, Repetition};
use crate::limits::{Bounded, LAUNCHES};
use gritstone_model::Better;
use serde::Deserialize;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

pub(super) struct Criterion;

/// Smallest number of samples that it accepts.
const SAMPLES: u32 = 10;

/// Smallest number of resamples without a warning; its statistics are not used.
const RESAMPLES: u32 = 1001;

const BENCHMARK: &str = "benchmark.json";
const SAMPLE: &str = "sample.json";
const ESTIMATES: &str = "estimates.json";

const ONLY_MEDIAN: &str = "The directory has only the median, no samples.";

fields! {
    struct Benchmark {
        full_id,
    }
}

type Numbers = Bounded<Option<f64>, LAUNCHES>;

/// Versions before 0.3.4 have only the two lists.
#[derive(Deserialize)]
struct Samples {
    iters: Numbers,
    times: Numbers,
}

/// Times per operation, each with its number of operations.
///
/// # Errors
/// When the file is damaged.
fn samples(file: &HarnessFile, program: &str) -> Result<Vec<Repetition>, HarnessError> {
    let json = json(file);
    let (iters, times) = match json.trim_start().starts_with('[') {
        true => parse_json::<(Numbers, Numbers)>(file, &json, program)?,
        false => {
            let named: Samples = parse_json(file, &json, program)?;
            (named.iters, named.times)
        }
    };
    let (n_iters, n_times) = (iters.0.len(), times.0.len());
    if n_iters != n_times || n_iters == 0 {
        let what = format!("{n_iters} numbers of iterations and {n_times} times");
        return Err(malformed(place(file, ""), what));
    }
    let pairs = iters.0.into_iter().zip(times.0);
    let repetition = |(iterations, time): (Option<f64>, Option<f64>)| Repetition {
        operations: iterations.map(|n| n as u64),
        ..Repetition::new(time.zip(iterations).map_or(f64::NAN, |(t, n)| t / n))
    };
    Ok(pairs.map(repetition).collect())
}

fields! {
    struct Estimates {
        /// `Median` before 0.3.4.
        #[serde(alias = "Median")]
        median,
    }

    struct Estimate {
        point_estimate,
    }
}

/// `cargo bench` forwards the arguments after `--`.
pub(super) fn bench_command(command: &[String]) -> Vec<String> {
    let is_cargo = is_cargo(command);
    let mut command = command.to_vec();
    if is_cargo && !command.iter().any(|word| word == "--") {
        command.push("--".to_owned());
    }
    if !is_cargo {
        command.push("--bench".to_owned());
    }
    command
}

fn is_cargo(command: &[String]) -> bool {
    let program = command.first().map(Path::new).and_then(Path::file_stem);
    program == Some("cargo".as_ref())
}

/// Whether the command may have a filter; the value of an option counts as one.
fn has_filter(command: &[String]) -> bool {
    let mut words = command.iter().skip(1);
    if is_cargo(command) {
        words.find(|word| *word == "--");
    }
    words.any(|word| !word.starts_with('-'))
}

/// Whether it is of the last execution, not of an earlier one or of a saved baseline.
fn is_new(path: &Path) -> bool {
    path.parent().is_some_and(|parent| parent.ends_with("new"))
}

/// Files by their paths.
type ByPath<'a> = HashMap<&'a Path, &'a HarnessFile>;

impl Criterion {
    /// # Errors
    /// When one of its files is damaged, or no file names it.
    fn add(
        &self,
        run: &mut ForeignRun,
        files: &ByPath<'_>,
        directory: &Path,
    ) -> Result<(), HarnessError> {
        let no_name = || {
            let what = format!("no {BENCHMARK} beside it, which names the benchmark");
            malformed("", what)
        };
        let beside = |name: &str| files.get(directory.join(name).as_path()).copied();
        let named = beside(BENCHMARK).ok_or_else(no_name)?;
        let benchmark: Benchmark<'_> = parse_json(named, &named.text, self.title())?;
        let name = text(benchmark.full_id).ok_or_else(no_name)?;
        if let Some(file) = beside(SAMPLE) {
            for one in samples(file, self.title())? {
                let location = || place(file, "");
                run.add(&name, ("ns", Better::Lower), vec![one], location);
            }
            run.named(&name).remarks.insert(ONE_PROCESS);
        } else if let Some(file) = beside(ESTIMATES) {
            let json = json(file);
            let estimates: Estimates<'_> = parse_json(file, &json, self.title())?;
            let median: Option<Estimate<'_>> = parsed(estimates.median);
            let value = median.and_then(|median| number(median.point_estimate));
            let one = Repetition::new(value.unwrap_or(f64::NAN));
            run.add(&name, ("ns", Better::Lower), vec![one], || place(file, "median"));
            run.named(&name).remarks.insert(ONLY_MEDIAN);
        }
        Ok(())
    }
}

impl Format for Criterion {
    fn program(&self) -> Program {
        Program { name: "criterion", title: "Criterion" }
    }

    fn recognizes(&self, shape: &Shape<'_>) -> bool {
        shape.has(&["iters", "times"])
            || shape.has(&["group_id", "full_id"])
            || shape.has(&["mean", "median", "median_abs_dev"])
            || shape.has(&["Mean", "Median", "MedianAbsDev"])
    }

    fn parts(&self) -> &'static [&'static str] {
        &[BENCHMARK, SAMPLE, ESTIMATES]
    }

    fn parse(&self, files: &[HarnessFile]) -> Result<ForeignRun, HarnessError> {
        let mut run = ForeignRun::default();
        let any_new = files.iter().any(|file| is_new(&file.path));
        let of_values = |file: &&HarnessFile| {
            let name = file.path.file_name();
            let has_values = name.is_some_and(|name| name == SAMPLE || name == ESTIMATES);
            has_values && is_new(&file.path) == any_new
        };
        let directories: BTreeSet<&Path> =
            files.iter().filter(of_values).filter_map(|file| file.path.parent()).collect();
        let by_path: ByPath<'_> = files.iter().map(|f| (f.path.as_path(), f)).collect();
        for directory in directories {
            if let Err(why) = self.add(&mut run, &by_path, directory) {
                run.leave_out(&directory.display().to_string(), why.to_string());
            }
        }
        run.finish(self.title())
    }
}

impl Harness for Criterion {
    fn invocation(&self, execution: &Execution<'_>) -> Invocation {
        let mut argv = bench_command(execution.command);
        let time = seconds(execution.time);
        let (samples, resamples) = (SAMPLES.to_string(), RESAMPLES.to_string());
        for (option, value) in [
            ("--measurement-time", &time),
            ("--warm-up-time", &time),
            ("--sample-size", &samples),
            ("--nresamples", &resamples),
        ] {
            argv.extend([option.to_owned(), value.clone()]);
        }
        argv.push("--noplot".to_owned());
        // it takes one filter
        if !execution.wanted.is_empty() && !has_filter(execution.command) {
            argv.push(any_of(execution.wanted));
        }
        let home = execution.directory.join("criterion");
        Invocation {
            environment: vec![("CRITERION_HOME".to_owned(), home.display().to_string())],
            ..Invocation::new(argv, Output::Tree(home))
        }
    }
}
