//! What `hyperfine --export-json` writes.

use crate::exportable::{Exported, Plain, figures};
use crate::foreign_run::{Made, Series, nanoseconds};
use crate::limits::{BENCHMARKS, Bounded, LAUNCHES};
use crate::timings::{self, Timing};
use crate::{ImportError, RunData};
use gritstone_model::{Better, RunView, Sample};
use serde::Deserialize;

#[derive(Deserialize)]
struct File {
    results: Bounded<Entry, BENCHMARKS>,
}

#[derive(Deserialize)]
struct Entry {
    command: String,
    #[serde(default)]
    times: Bounded<f64, LAUNCHES>,
    #[serde(default)]
    exit_codes: Bounded<Option<i32>, LAUNCHES>,
}

/// A run, begun at `otherwise` (RFC 3339) where the file does not say when, of one launch for each time, in seconds.
///
/// # Errors
/// When it is not such JSON, or has no single times (`hyperfine` leaves them out where it is told to).
pub fn read(text: &str, otherwise: &str) -> Result<RunData, ImportError> {
    let file: File = serde_json::from_str(text)
        .map_err(|error| ImportError::whole(format!("not JSON of hyperfine: {error}")))?;
    let series = file.results.0.iter().enumerate().map(|(number, entry)| {
        let mut series = Series::new(&entry.command);
        series.unit = ("s".to_owned(), Better::Lower);
        for (at, &seconds) in entry.times.0.iter().enumerate() {
            let wall = nanoseconds(seconds).map_err(|why| {
                ImportError::whole(format!("results[{number}].times[{at}]: {why}"))
            })?;
            series.launches.push(match entry.exit_codes.0.get(at) {
                Some(Some(code)) if *code != 0 => Err(format!("It ended with status {code}.")),
                Some(None) => Err("A signal ended it.".to_owned()),
                _ => Ok(Sample {
                    n: 1,
                    wall,
                    ..Sample::default()
                }),
            });
        }
        Ok(series)
    });
    Made {
        tool: "hyperfine",
        version: String::new(),
        started: None,
        machine: None,
        series: series.collect::<Result<_, ImportError>>()?,
    }
    .run(otherwise)
}

/// The times of a run as `hyperfine --export-json` writes them: of a benchmark each sample, in seconds an operation.
#[must_use]
pub fn write(data: &RunData, view: &RunView) -> Exported {
    let (figures, mut left_out) = figures(view);
    let mut all = vec![];
    for figure in &figures {
        let id = &figure.result.id;
        let timing = Timing::of_row(id, data);
        if figure.plain().0 == Plain::Exact || timing.times.is_empty() {
            left_out.push((id.clone(), "It has no times.".to_owned()));
        } else {
            all.push(timing);
        }
    }
    Exported {
        text: timings::json(&all),
        left_out,
    }
}
