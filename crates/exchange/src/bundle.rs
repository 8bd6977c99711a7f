//! The bundle: JSON Lines, one run with all samples and everything that is needed to show it again.
//!
//! ```text
//! {"schema":"gritstone/bundle/1","info":{...},"benchmarks":[...],"programs":{...},"skips":[...]}
//! {"launch":{...}}                                    one line for each, in the order of time
//! {"end":{"launches":123,"sha256":"..."}}             the hash is of all bytes before this line
//! ```
//!
//! A bundle is read whole or not at all: of one that was cut off, that was changed, or that a later version wrote, nothing is taken.

use crate::ImportError;
use gritstone_model::{
    Benchmark, Event, Id, Launch, Program, RunData, RunInfo, Skip, escape_json, hexadecimal,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// Name and version of the format.
pub const SCHEMA_BUNDLE: &str = "gritstone/bundle/1";

#[derive(Serialize, Deserialize)]
struct Head<B, P, S, I> {
    schema: String,
    info: I,
    benchmarks: B,
    programs: P,
    skips: S,
}

type Read = Head<Vec<Benchmark>, BTreeMap<Id, Program>, Vec<Skip>, RunInfo>;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Line<L> {
    Launch(L),
    End { launches: usize, sha256: String },
}

/// The bundle of a run.
#[must_use]
pub fn write(run: &RunData) -> String {
    let mut text = line(&Head {
        schema: SCHEMA_BUNDLE.to_owned(),
        info: &run.info,
        benchmarks: &run.benchmarks,
        programs: &run.programs,
        skips: &run.skips,
    });
    for launch in &run.launches {
        text += &line(&Line::Launch(launch));
    }
    let end = line(&Line::<&Launch>::End {
        launches: run.launches.len(),
        sha256: hash(&text),
    });
    text + &end
}

/// One value in one line. JSON has no line ends within a value but escaped ones.
fn line(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).expect("plain data with text for keys becomes JSON");
    escape_json(text) + "\n"
}

/// The SHA-256 of a text, in hexadecimal.
pub(crate) fn hash(text: &str) -> String {
    hexadecimal(Sha256::digest(text))
}

/// The run of a bundle, exactly as it was written.
///
/// # Errors
/// Names the line that is wrong.
pub fn read(text: &str) -> Result<RunData, ImportError> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let [head, launches @ .., end] = lines.as_slice() else {
        return Err(wrong(1, "no head and no end: the file is truncated"));
    };
    let head = read_head(head)?;
    let last = lines.len();
    let mut run = RunData {
        info: head.info,
        benchmarks: head.benchmarks,
        programs: head.programs,
        skips: head.skips,
        launches: Vec::with_capacity(launches.len()),
    };
    for (at, text) in launches.iter().enumerate() {
        match parse::<Line<Launch>>(text, at + 2)? {
            Line::Launch(launch) => run.launches.push(launch),
            Line::End { .. } => return Err(wrong(at + 2, "an end before the end")),
        }
    }
    let Line::End { launches, sha256 } = parse::<Line<Launch>>(end, last)? else {
        return Err(wrong(
            last,
            "no end: the file is truncated, or is still being written",
        ));
    };
    if launches != run.launches.len() {
        let what = format!(
            "the end states {launches} launches, and the file has {}",
            run.launches.len()
        );
        return Err(wrong(last, what));
    }
    if sha256 != hash(&text[..text.len() - end.len()]) {
        return Err(wrong(last, "checksum mismatch: the file was changed"));
    }
    possible(&run)?;
    Ok(run)
}

/// That nothing is in it which no run can have measured.
fn possible(run: &RunData) -> Result<(), ImportError> {
    let mut known = BTreeSet::new();
    for benchmark in &run.benchmarks {
        let (id, amount) = (&benchmark.id, benchmark.amount_per_op);
        if !(amount.is_finite() && amount > 0.0) {
            let what = format!("amount_per_op of {id} is {amount}: it must be above 0");
            return Err(wrong(1, what));
        }
        known.insert(id);
    }
    for (line, launch) in (2..).zip(&run.launches) {
        let id = &launch.id;
        if !known.contains(id) {
            let what = format!("a launch of {id}, which the head does not list");
            return Err(wrong(line, what));
        }
        let nothing = |event: &Event| match event {
            Event::Sample(sample) => sample.n == 0 || sample.wall == 0,
            Event::Batch(batch) => batch.n == 0,
            _ => false,
        };
        if launch.events.iter().any(nothing) {
            let what = "a sample with n=0 or wall=0 is impossible: it timed nothing";
            return Err(wrong(line, what));
        }
    }
    Ok(())
}

fn read_head(text: &str) -> Result<Read, ImportError> {
    let value: serde_json::Value = parse(text, 1)?;
    match value.get("schema").and_then(serde_json::Value::as_str) {
        Some(SCHEMA_BUNDLE) => {}
        Some(other) => {
            let what = format!(
                "its schema is '{other}', and this Gritstone reads '{SCHEMA_BUNDLE}': use the version that wrote it, or a later one"
            );
            return Err(wrong(1, what));
        }
        None => return Err(wrong(1, "not a bundle: it names no schema")),
    }
    serde_json::from_value(value).map_err(|error| wrong(1, error.to_string()))
}

fn parse<T: for<'a> Deserialize<'a>>(text: &str, line: usize) -> Result<T, ImportError> {
    serde_json::from_str(text).map_err(|error| {
        let at = format!(" at line 1 column {}", error.column());
        let what = error
            .to_string()
            .replace(&at, &format!(" (column {})", error.column()));
        wrong(line, what)
    })
}

fn wrong(line: usize, what: impl Into<String>) -> ImportError {
    ImportError::Line {
        line,
        what: what.into(),
    }
}
