//! Google Benchmark: `--benchmark_out`, or JSON on standard output.

use super::json_text::{Field, fields, json, number, parse_json, text};
use super::{
    Execution, Format, Harness, HarnessError, HarnessFile, Invocation, Output, Program, Shape,
    any_of, argv, place, seconds,
};
use crate::foreign_run::{DistinctNames, ForeignRun, Repetition, parse_time};
use crate::limits::{Bounded, LAUNCHES};
use gritstone_model::Better;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::{BTreeSet, HashMap};

pub(super) struct GoogleBenchmark;

/// Repetitions of one process.
pub(super) const ONE_PROCESS: &str = "All repetitions are from one process: differences between processes are not in the confidence interval.";

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow, default)]
    context: Context<'a>,
    #[serde(borrow)]
    benchmarks: Bounded<&'a RawValue, LAUNCHES>,
}

fields! {
    struct Context {
        date,
        host_name,
        library_version,
    }

    /// Versions before 1.5 have neither `run_name` nor `run_type`.
    struct Entry {
        name,
        run_name,
        run_type,
        aggregate_name,
        family_index,
        per_family_instance_index,
        iterations,
        real_time,
        cpu_time,
        time_unit,
        error_occurred,
        error_message,
        skipped,
        skip_message,
        big_o,
        rms,
        real_coefficient,
    }
}

/// Indices of the benchmarks of each name, in the order of the file: two of a program may have one name.
#[derive(Default)]
struct Registrations(HashMap<String, Vec<[Option<String>; 2]>>);

impl Registrations {
    /// `sort`, or `sort #2` for the second benchmark of this name.
    fn distinct(&mut self, name: String, entry: &Entry<'_>) -> String {
        let index = [text(entry.family_index), text(entry.per_family_instance_index)];
        let known = self.0.entry(name.clone()).or_default();
        let place = known.iter().position(|one| *one == index).unwrap_or_else(|| {
            known.push(index);
            known.len() - 1
        });
        if place == 0 { name } else { format!("{name} #{}", place + 1) }
    }
}

/// Type of an entry.
enum Kind {
    Repetition,
    /// A statistic over the repetitions of the named benchmark.
    Statistic(String),
    /// A fitted complexity.
    Fit,
}

impl<'a> Entry<'a> {
    /// Without a name if it is not an object.
    fn parse(raw: &'a RawValue) -> Self {
        serde_json::from_str(raw.get()).unwrap_or_default()
    }

    fn name(&self) -> Option<String> {
        text(self.run_name).or_else(|| text(self.name))
    }

    fn kind(&self, names: &BTreeSet<String>) -> Kind {
        let run_type = text(self.run_type);
        // counters of the user may have these names too
        let fits = [self.big_o, self.rms, self.real_coefficient];
        if run_type.as_deref() != Some("iteration") && fits.iter().any(Option::is_some) {
            return Kind::Fit;
        }
        let name = text(self.name).unwrap_or_default();
        let stem = name.rsplit_once('_').map_or(name.as_str(), |(stem, _)| stem);
        if run_type.as_deref() == Some("aggregate") || self.aggregate_name.is_some() {
            let stem = text(self.run_name).unwrap_or_else(|| stem.to_owned());
            return Kind::Statistic(stem);
        }
        let statistics = ["mean", "median", "stddev", "cv"];
        let is_statistic = statistics.iter().any(|statistic| name == format!("{stem}_{statistic}"))
            && ["mean", "stddev"]
                .iter()
                .all(|statistic| names.contains(&format!("{stem}_{statistic}")));
        match run_type.is_none() && is_statistic {
            true => Kind::Statistic(stem.to_owned()),
            false => Kind::Repetition,
        }
    }

    /// # Errors
    /// The reason if it has no time.
    fn repetition(&self) -> Result<Repetition, String> {
        let (real, cpu) = (number(self.real_time), number(self.cpu_time));
        let value = real.or(cpu).ok_or("it has no time")?;
        let operations = number(self.iterations).map(|n| n as u64);
        if operations == Some(0) {
            return Err("iterations is 0: nothing was measured".to_owned());
        }
        Ok(Repetition { operations, cpu, ..Repetition::new(value) })
    }
}

fn is_true(field: Field<'_>) -> bool {
    text(field).is_some_and(|text| text == "true")
}

/// Whether the library itself uses wall time, because the benchmark requests it.
fn is_by_wall_time(name: &str) -> bool {
    name.split('/').any(|part| part == "real_time" || part == "manual_time")
}

impl GoogleBenchmark {
    fn add(
        run: &mut ForeignRun,
        registrations: &mut Registrations,
        entry: &Entry<'_>,
        location: impl Fn() -> String,
    ) {
        let Some(name) = entry.name() else {
            return run.leave_out(&location(), "it has no name");
        };
        let name = registrations.distinct(name, entry);
        if is_true(entry.error_occurred) {
            let why = text(entry.error_message).unwrap_or_else(|| "It failed.".to_owned());
            return run.named(&name).failures.push(why);
        }
        if is_true(entry.skipped) {
            let why = text(entry.skip_message).unwrap_or_default();
            return run.leave_out(&name, format!("skipped: {why}"));
        }
        let unit = text(entry.time_unit).unwrap_or_else(|| "ns".to_owned());
        match entry.repetition() {
            Ok(one) => run.add(&name, (&unit, Better::Lower), vec![one], location),
            Err(why) => run.leave_out(&name, format!("{}: {why}", location())),
        }
        let series = run.named(&name);
        series.by_cpu = !is_by_wall_time(&name);
        if series.launches.len() > 1 {
            series.remarks.insert(ONE_PROCESS);
        }
    }
}

impl Format for GoogleBenchmark {
    fn program(&self) -> Program {
        Program { name: "google-benchmark", title: "Google Benchmark" }
    }

    fn recognizes(&self, shape: &Shape<'_>) -> bool {
        shape.has(&["context", "benchmarks"])
    }

    /// Statistics and fits by the library are ignored; they are computed again.
    fn read(&self, run: &mut ForeignRun, file: &HarnessFile) -> Result<(), HarnessError> {
        let json = json(file);
        let document: File<'_> = parse_json(file, &json, self.title())?;
        run.version = text(document.context.library_version).unwrap_or_default();
        run.started = text(document.context.date).and_then(|date| parse_time(&date));
        run.machine = text(document.context.host_name);
        let entries = || document.benchmarks.0.iter().map(|raw| Entry::parse(raw));
        let names: BTreeSet<String> = entries().filter_map(|entry| text(entry.name)).collect();
        let (mut statistics, mut registrations) = (vec![], Registrations::default());
        for (number, entry) in entries().enumerate() {
            match entry.kind(&names) {
                Kind::Repetition => {
                    let location = || place(file, &format!("benchmarks[{number}]"));
                    Self::add(run, &mut registrations, &entry, location);
                }
                Kind::Statistic(name) => statistics.push(name),
                Kind::Fit => {}
            }
        }
        for name in statistics {
            if run.named(&name).is_empty() {
                run.leave_out(&name, ONLY_STATISTICS);
            }
        }
        Ok(())
    }
}

const ONLY_STATISTICS: &str = "the file has only statistics, no repetitions: measure without --benchmark_report_aggregates_only";

impl Harness for GoogleBenchmark {
    fn invocation(&self, execution: &Execution<'_>) -> Invocation {
        let out = execution.directory.join("benchmark.json");
        let mut more = vec![
            format!("--benchmark_out={}", out.display()),
            "--benchmark_out_format=json".to_owned(),
            format!("--benchmark_min_time={}", seconds(execution.time)),
        ];
        if !execution.wanted.is_empty() {
            let names = execution.wanted.iter().map(|name| DistinctNames::original(name));
            more.push(format!("--benchmark_filter={}", any_of(names)));
        }
        Invocation::new(argv(execution.command, more), Output::File(out))
    }
}
