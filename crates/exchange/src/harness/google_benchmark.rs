//! Google Benchmark: `--benchmark_out`.

use super::{
    Execution, Harness, HarnessError, HarnessFile, HarnessResult, Invocation, Output, Results,
    any_of, argv, malformed, parse_json, place, seconds,
};
use gritstone_model::Better;
use serde::Deserialize;

pub(super) struct GoogleBenchmark;

#[derive(Deserialize)]
struct File {
    benchmarks: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    run_name: Option<String>,
    run_type: Option<String>,
    real_time: Option<f64>,
    cpu_time: Option<f64>,
    time_unit: Option<String>,
    #[serde(default)]
    error_occurred: bool,
}

impl Entry {
    /// The time that the library itself goes by: CPU time, unless the benchmark asks for wall time.
    fn time(&self, name: &str) -> Option<f64> {
        let wall = name
            .split('/')
            .any(|part| part == "real_time" || part == "manual_time");
        match wall {
            true => self.real_time,
            false => self.cpu_time.or(self.real_time),
        }
    }
}

impl Harness for GoogleBenchmark {
    fn name(&self) -> &'static str {
        "google-benchmark"
    }

    fn title(&self) -> &'static str {
        "Google Benchmark"
    }

    fn invocation(&self, execution: &Execution<'_>) -> Invocation {
        let out = execution.directory.join("benchmark.json");
        let mut more = vec![
            format!("--benchmark_out={}", out.display()),
            "--benchmark_out_format=json".to_owned(),
            format!("--benchmark_min_time={}", seconds(execution.time)),
        ];
        if !execution.wanted.is_empty() {
            more.push(format!("--benchmark_filter={}", any_of(execution.wanted)));
        }
        Invocation {
            argv: argv(execution.command, more),
            environment: vec![],
            output: Output::File(out),
        }
    }

    /// Aggregates are left out, and so are benchmarks that reported an error.
    fn parse(&self, files: &[HarnessFile]) -> Result<Vec<HarnessResult>, HarnessError> {
        let mut results = Results::default();
        for file in files {
            let whole: File = parse_json(file, self.title())?;
            for (number, entry) in whole.benchmarks.iter().enumerate() {
                let aggregate = entry.run_type.as_deref() == Some("aggregate");
                if aggregate || entry.error_occurred {
                    continue;
                }
                let at = || format!("{}: benchmarks[{number}]", place(file));
                let name = entry.run_name.as_ref().unwrap_or(&entry.name);
                let time = entry.time(name).ok_or_else(|| malformed(at(), "no time"))?;
                let unit = entry.time_unit.as_deref().unwrap_or("ns");
                results.add(name, unit, Better::Lower, time, at)?;
            }
        }
        results.finish(self.title())
    }
}
