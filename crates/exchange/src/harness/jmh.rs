//! JMH: `-rf json`.

use super::{
    Execution, Harness, HarnessError, HarnessFile, HarnessResult, Invocation, Output, Results,
    any_of, argv, malformed, parse_json, place,
};
use gritstone_model::Better;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Jmh;

#[derive(Deserialize)]
struct Entry {
    benchmark: String,
    mode: String,
    #[serde(default)]
    params: BTreeMap<String, String>,
    #[serde(rename = "primaryMetric")]
    metric: Metric,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metric {
    score: Option<f64>,
    score_unit: String,
    /// By fork, then by iteration; of sampled times, histograms.
    #[serde(default)]
    raw_data: Vec<Vec<f64>>,
}

/// Method and parameters: `pkg.Class.method:n=10,size=2`.
fn full_name(entry: &Entry) -> String {
    let params = entry
        .params
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    match params.collect::<Vec<_>>().join(",") {
        none if none.is_empty() => entry.benchmark.clone(),
        params => format!("{}:{params}", entry.benchmark),
    }
}

fn method(name: &str) -> &str {
    name.split(':').next().unwrap_or(name)
}

impl Harness for Jmh {
    fn name(&self) -> &'static str {
        "jmh"
    }

    fn title(&self) -> &'static str {
        "JMH"
    }

    fn invocation(&self, execution: &Execution<'_>) -> Invocation {
        let out = execution.directory.join("jmh.json");
        let time = format!("{}ms", execution.time.as_millis().max(1));
        let out_text = out.display().to_string();
        let options = [
            ["-rf", "json"],
            ["-rff", &out_text],
            ["-f", "1"],
            ["-wi", "2"],
            ["-i", "3"],
            ["-w", &time],
            ["-r", &time],
            ["-foe", "true"],
        ];
        let mut more: Vec<String> = options.into_iter().flatten().map(str::to_owned).collect();
        if !execution.wanted.is_empty() {
            let methods: BTreeSet<&str> =
                execution.wanted.iter().map(|name| method(name)).collect();
            more.push(any_of(methods));
        }
        Invocation {
            argv: argv(execution.command, more),
            environment: vec![],
            output: Output::File(out),
        }
    }

    fn parse(&self, files: &[HarnessFile]) -> Result<Vec<HarnessResult>, HarnessError> {
        let mut results = Results::default();
        for file in files {
            let whole: Vec<Entry> = parse_json(file, self.title())?;
            for (number, entry) in whole.iter().enumerate() {
                let at = || format!("{}: [{number}]", place(file));
                let better = match entry.mode.as_str() {
                    "thrpt" => Better::Higher,
                    _ => Better::Lower,
                };
                let values: Vec<f64> = entry.metric.raw_data.concat();
                let values = match values.is_empty() {
                    true => vec![
                        entry
                            .metric
                            .score
                            .ok_or_else(|| malformed(at(), "no score"))?,
                    ],
                    false => values,
                };
                for value in values {
                    let unit = &entry.metric.score_unit;
                    results.add(&full_name(entry), unit, better, value, at)?;
                }
            }
        }
        results.finish(self.title())
    }
}
