//! nanobench: output of its template `json`, also with its tables between the documents.

use super::google_benchmark::ONE_PROCESS;
use super::json_text::{Field, documents, entries, fields, json, number, parse_json, parsed, text};
use super::lines::through_standard_output;
use super::{Execution, Format, Harness, HarnessError, HarnessFile, Invocation, Program, Shape};
use crate::foreign_run::{DistinctNames, ForeignRun, Repetition};
use crate::limits::{BENCHMARKS, Bounded, LAUNCHES};
use gritstone_model::Better;
use serde::Deserialize;
use serde_json::value::RawValue;

pub(super) struct Nanobench;

const ONLY_MEDIAN: &str = "The file has only the median, no epochs.";

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow)]
    results: Bounded<&'a RawValue, BENCHMARKS>,
}

fields! {
    struct Entry {
        title,
        name,
        #[serde(rename = "median(elapsed)")]
        median,
        /// Units of work in an iteration, for instance bytes.
        batch,
        measurements,
    }

    /// An epoch.
    struct Measurement {
        iterations,
        /// Seconds per iteration.
        elapsed,
    }
}

fn add(run: &mut ForeignRun, names: &mut DistinctNames, entry: &Entry<'_>, location: &str) {
    let Some(name) = text(entry.name) else {
        return run.leave_out(location, "it has no name");
    };
    let title = text(entry.title).filter(|title| !title.is_empty());
    let name = title.map_or_else(|| name.clone(), |title| format!("{title}/{name}"));
    let name = names.next(name);
    let batch = number(entry.batch).filter(|batch| *batch > 0.0).unwrap_or(1.0);
    let epochs: Bounded<Field<'_>, LAUNCHES> = parsed(entry.measurements).unwrap_or_default();
    let of_epoch = |epoch: Field<'_>| {
        let epoch: Measurement<'_> = parsed(epoch).unwrap_or_default();
        Repetition {
            operations: number(epoch.iterations).map(|n| (n * batch) as u64),
            ..Repetition::new(number(epoch.elapsed).unwrap_or(f64::NAN) / batch)
        }
    };
    let (repetitions, remark) = match epochs.0.is_empty() {
        false => (epochs.0.into_iter().map(of_epoch).collect(), ONE_PROCESS),
        true => {
            let median = number(entry.median).unwrap_or(f64::NAN) / batch;
            (vec![Repetition::new(median)], ONLY_MEDIAN)
        }
    };
    for one in repetitions {
        run.add(&name, ("s", Better::Lower), vec![one], || location.to_owned());
    }
    run.named(&name).remarks.insert(remark);
}

impl Format for Nanobench {
    fn program(&self) -> Program {
        Program { name: "nanobench", title: "nanobench" }
    }

    fn recognizes(&self, shape: &Shape<'_>) -> bool {
        shape.has(&["results"]) && shape.text.contains("\"median(elapsed)\"")
    }

    fn read(&self, run: &mut ForeignRun, file: &HarnessFile) -> Result<(), HarnessError> {
        let json = json(file);
        let texts = documents(&json);
        if texts.is_empty() {
            parse_json::<Document<'_>>(file, &json, self.title())?;
        }
        for (number_of, text) in texts.into_iter().enumerate() {
            let document: Document<'_> = parse_json(file, text.get(), self.title())?;
            let array = format!("document {number_of}, results");
            let mut names = DistinctNames::default();
            for (location, entry) in entries(file, &array, &document.results.0) {
                add(run, &mut names, &entry, &location);
            }
        }
        Ok(())
    }
}

impl Harness for Nanobench {
    /// nanobench has neither options nor a filter: the program renders the template on standard output.
    fn invocation(&self, execution: &Execution<'_>) -> Invocation {
        through_standard_output(execution)
    }
}
