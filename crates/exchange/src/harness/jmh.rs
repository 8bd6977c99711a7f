//! JMH: `-rf json`.

use super::json_text::{Field, entries, fields, json, number, parse_json, parsed, text};
use super::{
    Execution, Format, Harness, HarnessError, HarnessFile, Invocation, Output, Program, Shape,
    any_of, argv,
};
use crate::foreign_run::{DistinctNames, ForeignRun, Repetition};
use crate::limits::{BENCHMARKS, Bounded};
use gritstone_model::Better;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

pub(super) struct Jmh;

/// JMH's default mode: operations per time.
const THROUGHPUT: &str = "thrpt";

fields! {
    #[serde(rename_all = "camelCase")]
    struct Entry {
        jmh_version,
        benchmark,
        mode,
        threads,
        params,
        primary_metric,
    }

    #[serde(rename_all = "camelCase")]
    struct Metric {
        score,
        score_unit,
        /// By fork, then by iteration; histograms in sample mode.
        raw_data,
    }
}

/// Iterations per launch: some are undisturbed on a busy machine.
const ITERATIONS: u32 = 10;

/// JMH refuses to start while another process holds its lock, such as one of another job.
const BESIDE_OTHERS: &str = "-Djmh.ignoreLock=true";

/// The command, with that option if it is `java`.
fn beside_others(command: &[String]) -> Vec<String> {
    match command {
        [java, rest @ ..] if Path::new(java).file_name() == Some("java".as_ref()) => {
            [&[java.clone(), BESIDE_OTHERS.to_owned()], rest].concat()
        }
        other => other.to_vec(),
    }
}

const ONLY_SCORE: &str = "The file has only the score, no iterations.";

impl Entry<'_> {
    fn mode(&self) -> String {
        text(self.mode).unwrap_or_else(|| THROUGHPUT.to_owned())
    }

    /// Method and parameters: `pkg.Class.method:n=10,size=2`, with mode and threads unless they are JMH's defaults.
    fn full_name(&self) -> Option<String> {
        let method = text(self.benchmark)?;
        let params: BTreeMap<String, &RawValue> = parsed(self.params).unwrap_or_default();
        let params = params
            .iter()
            .map(|(name, value)| format!("{name}={}", text(Some(value)).unwrap_or_default()));
        let mode = Some(self.mode()).filter(|mode| mode != THROUGHPUT);
        let threads = text(self.threads).filter(|threads| threads != "1");
        let settings = mode.map(|mode| format!("mode={mode}"));
        let settings = settings.into_iter();
        let settings = settings.chain(threads.map(|threads| format!("threads={threads}")));
        let all: Vec<String> = params.chain(settings).collect();
        Some(match all.is_empty() {
            true => method,
            false => format!("{method}:{}", all.join(",")),
        })
    }
}

fn method(name: &str) -> &str {
    name.split([':', ' ']).next().unwrap_or(name)
}

fn add(run: &mut ForeignRun, names: &mut DistinctNames, entry: &Entry<'_>, location: &str) {
    let Some(name) = entry.full_name() else {
        return run.leave_out(location, "it has no name");
    };
    let name = names.next(name);
    let better = match entry.mode().as_str() {
        THROUGHPUT => Better::Higher,
        _ => Better::Lower,
    };
    let metric: Metric<'_> = parsed(entry.primary_metric).unwrap_or_default();
    let Some(unit) = text(metric.score_unit) else {
        return run.leave_out(&name, format!("{location}: it has no unit"));
    };
    let mut forks: Vec<Vec<Field<'_>>> = parsed(metric.raw_data).unwrap_or_default();
    forks.retain(|fork| !fork.is_empty());
    let is_histogram = |value: &Field<'_>| value.is_some_and(|value| value.get().starts_with('['));
    if forks.iter().flatten().any(is_histogram) {
        forks.clear();
    }
    let mut forks: Vec<Vec<Option<f64>>> =
        forks.into_iter().map(|fork| fork.into_iter().map(number).collect()).collect();
    if forks.is_empty() {
        let Some(score) = number(metric.score) else {
            return run.leave_out(&name, format!("{location}: it has no score"));
        };
        forks = vec![vec![Some(score)]];
        run.named(&name).remarks.insert(ONLY_SCORE);
    }
    for (number, fork) in forks.into_iter().enumerate() {
        let iterations = fork.into_iter().map(|value| Repetition::new(value.unwrap_or(f64::NAN)));
        let location = || format!("{location}.primaryMetric.rawData[{number}]");
        run.add(&name, (&unit, better), iterations.collect(), location);
    }
}

impl Format for Jmh {
    fn program(&self) -> Program {
        Program { name: "jmh", title: "JMH" }
    }

    fn recognizes(&self, shape: &Shape<'_>) -> bool {
        shape.has(&["benchmark", "mode", "primaryMetric"])
    }

    fn read(&self, run: &mut ForeignRun, file: &HarnessFile) -> Result<(), HarnessError> {
        let json = json(file);
        let document: Bounded<&RawValue, BENCHMARKS> = parse_json(file, &json, self.title())?;
        let mut names = DistinctNames::default();
        for (location, entry) in entries::<Entry<'_>>(file, "", &document.0) {
            run.version = text(entry.jmh_version).unwrap_or_default();
            add(run, &mut names, &entry, &location);
        }
        Ok(())
    }
}

impl Harness for Jmh {
    /// All benchmarks in one process, as in other harnesses, unless the user gives a number of forks: starting a process for each takes
    /// longer than measuring.
    fn invocation(&self, execution: &Execution<'_>) -> Invocation {
        let out = execution.directory.join("jmh.json");
        let ms = |time: Duration| format!("{}ms", time.as_millis().max(1));
        let (warm_up, time) = (ms(execution.time * 2), ms(execution.time * 3 / ITERATIONS));
        let iterations = ITERATIONS.to_string();
        let out_text = out.display().to_string();
        let options = [
            ["-rf", "json"],
            ["-rff", &out_text],
            ["-f", "0"],
            ["-wi", "1"],
            ["-i", &iterations],
            ["-w", &warm_up],
            ["-r", &time],
        ];
        let is_given = |option: &str| {
            let values = execution.command.iter().filter_map(|word| word.strip_prefix(option));
            values.into_iter().any(|value| {
                value.is_empty() || value.starts_with(|c: char| c == '=' || c.is_ascii_digit())
            })
        };
        let options = options.into_iter().filter(|[option, _]| !is_given(option));
        let mut more: Vec<String> = options.flatten().map(str::to_owned).collect();
        if !execution.wanted.is_empty() {
            let methods: BTreeSet<&str> =
                execution.wanted.iter().map(|name| method(name)).collect();
            more.push(any_of(methods));
        }
        Invocation::new(argv(&beside_others(execution.command), more), Output::File(out))
    }
}
