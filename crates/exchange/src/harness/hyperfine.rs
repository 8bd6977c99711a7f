//! hyperfine: `--export-json`.

use super::json_text::{entries, fields, json, number, parse_json, parsed, text};
use super::{
    Execution, Format, Harness, HarnessError, HarnessFile, Invocation, Output, Program, Shape, argv,
};
use crate::foreign_run::{DistinctNames, ForeignRun, Repetition};
use crate::limits::{BENCHMARKS, Bounded, LAUNCHES};
use gritstone_model::Better;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

pub(super) struct Hyperfine;

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow)]
    results: Bounded<&'a RawValue, BENCHMARKS>,
}

fields! {
    struct Entry {
        command,
        parameters,
        times,
        exit_codes,
        memory_usage_byte,
        user,
        system,
    }
}

/// Exit status of an execution ended by a signal.
const SIGNALED: i32 = -1;

impl Entry<'_> {
    /// The command with its parameters, in alphabetical order.
    fn name(&self) -> Option<String> {
        let command = text(self.command)?;
        let parameters: BTreeMap<String, &RawValue> = parsed(self.parameters).unwrap_or_default();
        let pair = |(name, value): (&String, &&RawValue)| {
            format!("{name}={}", text(Some(value)).unwrap_or_default())
        };
        let pairs: Vec<String> = parameters.iter().map(pair).collect();
        Some(match pairs.is_empty() {
            true => command,
            false => format!("{command} ({})", pairs.join(", ")),
        })
    }

    /// # Errors
    /// The reason if it has no times.
    fn repetitions(&self) -> Result<Vec<Repetition>, String> {
        let times = self.times.ok_or("it has no single times")?;
        let times: Bounded<Option<f64>, LAUNCHES> =
            serde_json::from_str(times.get()).map_err(|why| format!("times: {why}"))?;
        if times.0.is_empty() {
            return Err("it has no single times".to_owned());
        }
        let codes: Bounded<Option<i32>, LAUNCHES> = parsed(self.exit_codes).unwrap_or_default();
        let memory: Bounded<Option<u64>, LAUNCHES> =
            parsed(self.memory_usage_byte).unwrap_or_default();
        let user_system = number(self.user).zip(number(self.system));
        let user_system = user_system.map(|(user, system)| [user, system]);
        let repetition = |(execution, time): (usize, &Option<f64>)| Repetition {
            operations: Some(1),
            user_system,
            cpu: user_system.map(|[user, system]| user + system),
            status: match codes.0.get(execution) {
                Some(None) => Some(SIGNALED),
                code => code.copied().flatten().filter(|code| *code != 0),
            },
            peak_memory: memory.0.get(execution).copied().flatten(),
            ..Repetition::new(time.unwrap_or(f64::NAN))
        };
        Ok(times.0.iter().enumerate().map(repetition).collect())
    }
}

impl Format for Hyperfine {
    fn program(&self) -> Program {
        Program { name: "hyperfine", title: "hyperfine" }
    }

    fn recognizes(&self, shape: &Shape<'_>) -> bool {
        shape.has(&["results"]) && shape.text.contains("\"command\"")
    }

    fn read(&self, run: &mut ForeignRun, file: &HarnessFile) -> Result<(), HarnessError> {
        let json = json(file);
        let document: File<'_> = parse_json(file, &json, self.title())?;
        let mut names = DistinctNames::default();
        for (location, entry) in entries::<Entry<'_>>(file, "results", &document.results.0) {
            let Some(name) = entry.name() else {
                run.leave_out(&location, "it has no command");
                continue;
            };
            let name = names.next(name);
            match entry.repetitions() {
                Err(why) => run.leave_out(&name, format!("{location}: {why}")),
                Ok(all) => {
                    for (execution, one) in all.into_iter().enumerate() {
                        let location = || format!("{location}.times[{execution}]");
                        run.add(&name, ("s", Better::Lower), vec![one], location);
                    }
                }
            }
        }
        Ok(())
    }
}

impl Harness for Hyperfine {
    /// hyperfine has no filter.
    fn invocation(&self, execution: &Execution<'_>) -> Invocation {
        let out = execution.directory.join("hyperfine.json");
        let is_number_of_runs = |word: &String| {
            ["-r", "--runs", "-m", "--min-runs", "-M", "--max-runs"]
                .iter()
                .any(|option| word.starts_with(option))
        };
        let runs = match execution.command.iter().any(is_number_of_runs) {
            true => None,
            false => Some("--runs=2".to_owned()),
        };
        let options = runs.into_iter().chain(["--style=none".to_owned()]);
        let export = ["--export-json".to_owned(), out.display().to_string()];
        Invocation::new(argv(execution.command, options.chain(export)), Output::File(out))
    }
}
