//! Criterion.rs: `new/sample.json` beside `new/benchmark.json`, below the directory that `CRITERION_HOME` names.

use super::{
    Execution, Harness, HarnessError, HarnessFile, HarnessResult, Invocation, Output, Results,
    any_of, malformed, parse_json, place, seconds,
};
use gritstone_model::Better;
use serde::Deserialize;
use std::path::Path;

pub(super) struct Criterion;

/// The fewest samples that it takes.
const SAMPLES: u32 = 10;

#[derive(Deserialize)]
struct Benchmark {
    full_id: String,
}

#[derive(Deserialize)]
struct Sample {
    iters: Vec<f64>,
    times: Vec<f64>,
}

fn is_new(path: &Path, name: &str) -> bool {
    path.file_name().is_some_and(|file| file == name)
        && path.parent().is_none_or(|parent| parent.ends_with("new"))
}

/// `cargo bench` passes on what follows `--`.
fn command(command: &[String]) -> Vec<String> {
    let mut command = command.to_vec();
    let is_cargo = command
        .first()
        .is_some_and(|program| Path::new(program).file_stem() == Some("cargo".as_ref()));
    if is_cargo && !command.iter().any(|word| word == "--") {
        command.push("--".to_owned());
    }
    if !is_cargo {
        command.push("--bench".to_owned());
    }
    command
}

impl Harness for Criterion {
    fn name(&self) -> &'static str {
        "criterion"
    }

    fn title(&self) -> &'static str {
        "Criterion"
    }

    fn invocation(&self, execution: &Execution<'_>) -> Invocation {
        let mut argv = command(execution.command);
        let time = seconds(execution.time);
        let samples = SAMPLES.to_string();
        for (option, value) in [
            ("--measurement-time", &time),
            ("--warm-up-time", &time),
            ("--sample-size", &samples),
        ] {
            argv.extend([option.to_owned(), value.clone()]);
        }
        argv.push("--noplot".to_owned());
        if !execution.wanted.is_empty() {
            argv.push(any_of(execution.wanted));
        }
        let home = execution.directory.join("criterion");
        Invocation {
            argv,
            environment: vec![("CRITERION_HOME".to_owned(), home.display().to_string())],
            output: Output::Tree(home),
        }
    }

    fn parse(&self, files: &[HarnessFile]) -> Result<Vec<HarnessResult>, HarnessError> {
        let mut results = Results::default();
        for file in files
            .iter()
            .filter(|file| is_new(&file.path, "sample.json"))
        {
            let beside = file.path.with_file_name("benchmark.json");
            let of = files.iter().find(|other| other.path == beside);
            let of = of.ok_or_else(|| malformed(place(file), "no benchmark.json beside it"))?;
            let benchmark: Benchmark = parse_json(of, self.title())?;
            let sample: Sample = parse_json(file, self.title())?;
            for (time, iterations) in sample.times.iter().zip(&sample.iters) {
                let value = time / iterations;
                results.add(&benchmark.full_id, "ns", Better::Lower, value, || {
                    place(file)
                })?;
            }
        }
        results.finish(self.title())
    }
}
