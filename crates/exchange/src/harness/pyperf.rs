//! pyperf: `--output`.

use super::{
    Execution, Harness, HarnessError, HarnessFile, HarnessResult, Invocation, Output, Results,
    argv, direction, malformed, parse_json, place,
};
use serde::Deserialize;

pub(super) struct Pyperf;

#[derive(Deserialize)]
struct File {
    benchmarks: Vec<Entry>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    metadata: Metadata,
    runs: Vec<Run>,
}

/// What all benchmarks share is in that of the file.
#[derive(Default, Deserialize)]
struct Metadata {
    name: Option<String>,
    unit: Option<String>,
}

#[derive(Deserialize)]
struct Run {
    /// None where the run calibrates.
    #[serde(default)]
    values: Vec<f64>,
}

impl Harness for Pyperf {
    fn name(&self) -> &'static str {
        "pyperf"
    }

    fn title(&self) -> &'static str {
        "pyperf"
    }

    /// It has no filter.
    fn invocation(&self, execution: &Execution<'_>) -> Invocation {
        let out = execution.directory.join("pyperf.json");
        let more = [
            format!("--output={}", out.display()),
            "--processes=1".to_owned(),
            "--values=3".to_owned(),
            "--warmups=1".to_owned(),
            format!("--min-time={}", super::seconds(execution.time / 3)),
            "--quiet".to_owned(),
        ];
        Invocation {
            argv: argv(execution.command, more),
            environment: vec![],
            output: Output::File(out),
        }
    }

    fn parse(&self, files: &[HarnessFile]) -> Result<Vec<HarnessResult>, HarnessError> {
        let mut results = Results::default();
        for file in files {
            let whole: File = parse_json(file, self.title())?;
            for (number, entry) in whole.benchmarks.iter().enumerate() {
                let at = || format!("{}: benchmarks[{number}]", place(file));
                let name = entry
                    .metadata
                    .name
                    .as_ref()
                    .or(whole.metadata.name.as_ref());
                let name = name.ok_or_else(|| malformed(at(), "no name"))?;
                let unit = entry
                    .metadata
                    .unit
                    .as_ref()
                    .or(whole.metadata.unit.as_ref());
                let unit = match unit.map(String::as_str) {
                    None | Some("second") => "s",
                    Some(unit) => unit,
                };
                for value in entry.runs.iter().flat_map(|run| &run.values) {
                    results.add(name, unit, direction(unit), *value, at)?;
                }
            }
        }
        results.finish(self.title())
    }
}
