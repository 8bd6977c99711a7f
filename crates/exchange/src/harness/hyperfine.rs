//! hyperfine: `--export-json`.

use super::{
    Execution, Harness, HarnessError, HarnessFile, HarnessResult, Invocation, Output, Results,
    argv, parse_json, place,
};
use gritstone_model::Better;
use serde::Deserialize;

pub(super) struct Hyperfine;

#[derive(Deserialize)]
struct File {
    results: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    command: String,
    times: Vec<f64>,
}

impl Harness for Hyperfine {
    fn name(&self) -> &'static str {
        "hyperfine"
    }

    fn title(&self) -> &'static str {
        "hyperfine"
    }

    /// It has no filter.
    fn invocation(&self, execution: &Execution<'_>) -> Invocation {
        let out = execution.directory.join("hyperfine.json");
        let options = ["--runs=2", "--style=none"].map(str::to_owned);
        let export = ["--export-json".to_owned(), out.display().to_string()];
        Invocation {
            argv: argv(execution.command, options.into_iter().chain(export)),
            environment: vec![],
            output: Output::File(out),
        }
    }

    fn parse(&self, files: &[HarnessFile]) -> Result<Vec<HarnessResult>, HarnessError> {
        let mut results = Results::default();
        for file in files {
            let whole: File = parse_json(file, self.title())?;
            for (number, entry) in whole.results.iter().enumerate() {
                let at = || format!("{}: results[{number}]", place(file));
                for time in &entry.times {
                    results.add(&entry.command, "s", Better::Lower, *time, at)?;
                }
            }
        }
        results.finish(self.title())
    }
}
