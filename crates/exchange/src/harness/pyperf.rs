//! pyperf: `--output`, and `pyperf convert`.

use super::json_text::{Field, fields, json, number, parse_json, parsed, text};
use super::{
    Execution, Format, Harness, HarnessError, HarnessFile, Invocation, Output, Program, Shape,
    argv, direction, place,
};
use crate::foreign_run::{ForeignRun, Repetition, parse_time};
use crate::limits::{BENCHMARKS, Bounded, LAUNCHES};
use serde::Deserialize;
use serde_json::value::RawValue;

pub(super) struct Pyperf;

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow)]
    benchmarks: Bounded<&'a RawValue, BENCHMARKS>,
    #[serde(borrow, default)]
    metadata: Metadata<'a>,
}

#[derive(Default, Deserialize)]
struct Entry<'a> {
    #[serde(borrow, default)]
    metadata: Metadata<'a>,
    #[serde(borrow, default)]
    runs: Bounded<&'a RawValue, LAUNCHES>,
}

fields! {
    /// Metadata of the file applies to all benchmarks, that of a benchmark to all its runs.
    #[derive(Clone, Copy)]
    struct Metadata {
        name,
        unit,
        date,
        hostname,
        perf_version,
        loops,
        inner_loops,
    }
}

impl<'a> Metadata<'a> {
    /// Fills missing fields from `outer`.
    fn or(self, outer: Self) -> Self {
        Self {
            name: self.name.or(outer.name),
            unit: self.unit.or(outer.unit),
            date: self.date.or(outer.date),
            hostname: self.hostname.or(outer.hostname),
            perf_version: self.perf_version.or(outer.perf_version),
            loops: self.loops.or(outer.loops),
            inner_loops: self.inner_loops.or(outer.inner_loops),
        }
    }

    fn operations(&self) -> Option<u64> {
        let loops = number(self.loops)?;
        Some((loops * number(self.inner_loops).unwrap_or(1.0)) as u64)
    }
}

/// A process.
#[derive(Default, Deserialize)]
struct Run<'a> {
    #[serde(borrow, default)]
    metadata: Metadata<'a>,
    /// None in a calibration run.
    #[serde(borrow)]
    values: Field<'a>,
}

impl Format for Pyperf {
    fn program(&self) -> Program {
        Program { name: "pyperf", title: "pyperf" }
    }

    fn recognizes(&self, shape: &Shape<'_>) -> bool {
        shape.has(&["benchmarks", "version"]) && shape.text.contains("\"runs\"")
    }

    fn read(&self, run: &mut ForeignRun, file: &HarnessFile) -> Result<(), HarnessError> {
        let json = json(file);
        let document: File<'_> = parse_json(file, &json, self.title())?;
        for (number, raw) in document.benchmarks.0.iter().enumerate() {
            let location = place(file, &format!("benchmarks[{number}]"));
            match serde_json::from_str::<Entry<'_>>(raw.get()) {
                Ok(entry) => add(run, &entry, document.metadata, &location),
                Err(why) => run.leave_out(&location, why.to_string()),
            }
        }
        Ok(())
    }
}

fn add(run: &mut ForeignRun, entry: &Entry<'_>, outer: Metadata<'_>, location: &str) {
    let outer = entry.metadata.or(outer);
    let Some(name) = text(outer.name) else {
        return run.leave_out(location, "it has no name");
    };
    let unit = match text(outer.unit) {
        None => "s".to_owned(),
        Some(unit) if unit == "second" => "s".to_owned(),
        Some(unit) => unit,
    };
    let mut has_values = false;
    for (number, raw) in entry.runs.0.iter().enumerate() {
        let process: Run<'_> = serde_json::from_str(raw.get()).unwrap_or_default();
        let metadata = process.metadata.or(outer);
        let values: Vec<Option<f64>> = parsed(process.values).unwrap_or_default();
        let one = |value: Option<f64>| Repetition {
            operations: metadata.operations(),
            ..Repetition::new(value.unwrap_or(f64::NAN))
        };
        let values: Vec<Repetition> = values.into_iter().map(one).collect();
        run.started = run.started.or_else(|| parse_time(&text(metadata.date)?));
        run.machine = run.machine.take().or_else(|| text(metadata.hostname));
        if run.version.is_empty() {
            run.version = text(metadata.perf_version).unwrap_or_default();
        }
        if !values.is_empty() {
            has_values = true;
            let location = || format!("{location}.runs[{number}]");
            run.add(&name, (&unit, direction(&unit)), values, location);
        }
    }
    if !has_values {
        run.leave_out(location, format!("no values of '{name}'"));
    }
}

impl Harness for Pyperf {
    /// pyperf has no filter.
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
        Invocation::new(argv(execution.command, more), Output::File(out))
    }
}
