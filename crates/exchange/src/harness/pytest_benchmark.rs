//! pytest-benchmark: `--benchmark-json`.

use super::{
    Execution, Harness, HarnessError, HarnessFile, HarnessResult, Invocation, Output, Results,
    argv, malformed, parse_json, place, seconds,
};
use gritstone_model::Better;
use serde::Deserialize;

pub(super) struct PytestBenchmark;

#[derive(Deserialize)]
struct File {
    benchmarks: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    fullname: String,
    stats: Stats,
}

#[derive(Deserialize)]
struct Stats {
    #[serde(default)]
    data: Vec<f64>,
    median: Option<f64>,
}

impl Harness for PytestBenchmark {
    fn name(&self) -> &'static str {
        "pytest-benchmark"
    }

    fn title(&self) -> &'static str {
        "pytest-benchmark"
    }

    /// `--deselect` takes prefixes of names, so that one that begins a wanted name stays.
    fn invocation(&self, execution: &Execution<'_>) -> Invocation {
        let out = execution.directory.join("benchmark.json");
        let mut more = vec![
            "--benchmark-only".to_owned(),
            format!("--benchmark-json={}", out.display()),
            format!("--benchmark-max-time={}", seconds(execution.time)),
            "--benchmark-min-rounds=3".to_owned(),
        ];
        let begins_wanted = |name: &str| {
            execution
                .wanted
                .iter()
                .any(|wanted| wanted.starts_with(name))
        };
        let unwanted = execution
            .unwanted
            .iter()
            .filter(|name| !begins_wanted(name));
        more.extend(unwanted.map(|name| format!("--deselect={name}")));
        Invocation {
            argv: argv(execution.command, more),
            // no bytecode and no cache in a work tree
            environment: vec![("PYTHONDONTWRITEBYTECODE".to_owned(), "1".to_owned())],
            output: Output::File(out),
        }
    }

    fn parse(&self, files: &[HarnessFile]) -> Result<Vec<HarnessResult>, HarnessError> {
        let mut results = Results::default();
        for file in files {
            let whole: File = parse_json(file, self.title())?;
            for (number, entry) in whole.benchmarks.iter().enumerate() {
                let at = || format!("{}: benchmarks[{number}]", place(file));
                let values = match entry.stats.data.as_slice() {
                    // files without single rounds
                    [] => vec![
                        entry
                            .stats
                            .median
                            .ok_or_else(|| malformed(at(), "no time"))?,
                    ],
                    data => data.to_vec(),
                };
                for value in values {
                    results.add(&entry.fullname, "s", Better::Lower, value, at)?;
                }
            }
        }
        results.finish(self.title())
    }
}
