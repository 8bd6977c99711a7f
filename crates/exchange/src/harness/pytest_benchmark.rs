//! pytest-benchmark: `--benchmark-json`, and files of `--benchmark-save`.

use super::google_benchmark::ONE_PROCESS;
use super::json_text::{Field, entries, fields, json, number, parse_json, parsed, text};
use super::{
    Execution, Format, Harness, HarnessError, HarnessFile, Invocation, Output, Program, Shape,
    argv, seconds,
};
use crate::foreign_run::{ForeignRun, Repetition, parse_time};
use crate::limits::{BENCHMARKS, Bounded};
use gritstone_model::Better;
use serde::Deserialize;
use serde_json::value::RawValue;

pub(super) struct PytestBenchmark;

/// A plugin that pytest finds by its entry point, in place of an option `-p`, with which pytest would fail where `PYTHONPATH` is ignored.
const PLUGIN: &[(&str, &str)] = &[
    ("gritstone_launches.py", include_str!("pytest_plugin/gritstone_launches.py")),
    ("gritstone_launches-1.dist-info/METADATA", include_str!("pytest_plugin/METADATA")),
    (
        "gritstone_launches-1.dist-info/entry_points.txt",
        include_str!("pytest_plugin/entry_points.txt"),
    ),
];

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow)]
    benchmarks: Bounded<&'a RawValue, BENCHMARKS>,
    #[serde(borrow)]
    machine_info: Field<'a>,
    #[serde(borrow)]
    datetime: Field<'a>,
    #[serde(borrow)]
    version: Field<'a>,
}

fields! {
    struct MachineInfo {
        node,
    }

    /// Versions before 3 have no `fullname`.
    struct Entry {
        fullname,
        name,
        stats,
    }

    struct Stats {
        data,
        median,
        iterations,
    }
}

const ONLY_MEDIAN: &str = "The file has only the median, no rounds.";

impl Format for PytestBenchmark {
    fn program(&self) -> Program {
        Program { name: "pytest-benchmark", title: "pytest-benchmark" }
    }

    fn recognizes(&self, shape: &Shape<'_>) -> bool {
        shape.has(&["machine_info", "benchmarks"])
    }

    fn read(&self, run: &mut ForeignRun, file: &HarnessFile) -> Result<(), HarnessError> {
        let json = json(file);
        let document: File<'_> = parse_json(file, &json, self.title())?;
        run.version = text(document.version).unwrap_or_default();
        run.started = text(document.datetime).and_then(|date| parse_time(&date));
        let machine: MachineInfo<'_> = parsed(document.machine_info).unwrap_or_default();
        run.machine = text(machine.node);
        for (location, entry) in entries(file, "benchmarks", &document.benchmarks.0) {
            add(run, &entry, &location);
        }
        Ok(())
    }
}

fn add(run: &mut ForeignRun, entry: &Entry<'_>, location: &str) {
    let Some(name) = text(entry.fullname).or_else(|| text(entry.name)) else {
        return run.leave_out(location, "it has no name");
    };
    let stats: Stats<'_> = parsed(entry.stats).unwrap_or_default();
    let mut rounds: Vec<Option<f64>> = parsed(stats.data).unwrap_or_default();
    if rounds.is_empty() {
        let Some(median) = number(stats.median) else {
            return run.leave_out(&name, format!("{location}: it has no time"));
        };
        rounds.push(Some(median));
        run.named(&name).remarks.insert(ONLY_MEDIAN);
    } else {
        run.named(&name).remarks.insert(ONE_PROCESS);
    }
    let operations = number(stats.iterations).map(|n| n as u64);
    for (round, time) in rounds.into_iter().enumerate() {
        let one = Repetition { operations, ..Repetition::new(time.unwrap_or(f64::NAN)) };
        let location = || format!("{location}.stats.data[{round}]");
        run.add(&name, ("s", Better::Lower), vec![one], location);
    }
}

impl Harness for PytestBenchmark {
    /// `--deselect` takes prefixes of names, so a benchmark whose name begins a wanted name cannot be excluded.
    fn invocation(&self, execution: &Execution<'_>) -> Invocation {
        let out = execution.directory.join("benchmark.json");
        let mut more = vec![
            "--benchmark-only".to_owned(),
            // the project's configuration may disable them
            "--benchmark-enable".to_owned(),
            format!("--benchmark-json={}", out.display()),
            format!("--benchmark-max-time={}", seconds(execution.time)),
            "--benchmark-min-rounds=3".to_owned(),
        ];
        let begins_wanted =
            |name: &str| execution.wanted.iter().any(|wanted| wanted.starts_with(name));
        let unwanted = execution.unwanted.iter().filter(|name| !begins_wanted(name));
        more.extend(unwanted.map(|name| format!("--deselect={name}")));
        Invocation {
            // no bytecode in the work tree
            environment: vec![("PYTHONDONTWRITEBYTECODE".to_owned(), "1".to_owned())],
            python: PLUGIN,
            ..Invocation::new(argv(execution.command, more), Output::File(out))
        }
    }
}
