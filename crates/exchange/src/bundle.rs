//! The bundle: JSON Lines, one run with all samples and all data for its display.
//!
//! ```text
//! {"schema":"gritstone/bundle/1","info":{...},"benchmarks":[...],"programs":{...},"skips":[...]}
//! {"launch":{...}}                                    one line for each, in the order of time
//! {"end":{"launches":123,"sha256":"..."}}             the hash is of all bytes before this line
//! ```
//!
//! A bundle is read completely or refused: one that is truncated, changed, or from a later version yields nothing.

use crate::ImportError;
use crate::limits::{
    BENCHMARKS, Bounded, COPIES, EVENTS, HEAD, HEAD_LINE, LAUNCH_LINE, LAUNCHES, TEXT, VALUES,
    check_name, strings,
};
use gritstone_model::{
    Benchmark, Event, Id, Launch, Outcome, Program, RunData, RunInfo, Skip, escape_json,
    hexadecimal, is_unprintable,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Read as _};

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

type Read = Head<Bounded<Benchmark, BENCHMARKS>, BTreeMap<Id, Program>, Vec<Skip>, RunInfo>;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Line<L> {
    Launch(L),
    End { launches: usize, sha256: String },
}

/// Writes a run as a bundle.
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
    let end = line(&Line::<&Launch>::End { launches: run.launches.len(), sha256: hash(&text) });
    text + &end
}

/// One value in one line: JSON escapes line ends within a value.
fn line(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).expect("plain data with text for keys becomes JSON");
    escape_json(text) + "\n"
}

/// The SHA-256 of a text, in hexadecimal.
pub(crate) fn hash(text: &str) -> String {
    hexadecimal(Sha256::digest(text))
}

/// Reads the run of a bundle, exactly as it was written.
///
/// # Errors
/// Names the invalid line, or the limit that it exceeds.
pub fn read(mut from: impl BufRead) -> Result<RunData, ImportError> {
    let head = next_line(&mut from, 1, HEAD_LINE)?;
    read_after(&head, from)
}

/// Whether the first line of a file is the head of a bundle.
pub(crate) fn is_head(line: &[u8]) -> bool {
    const FAMILY: &str = "gritstone/bundle/";
    let beginning = format!("{{\"schema\":\"{FAMILY}");
    let schema = || serde_json::from_slice::<Schema>(line).ok()?.schema;
    line.starts_with(beginning.as_bytes())
        || schema().is_some_and(|schema| schema.starts_with(FAMILY))
}

/// Reads a run after the first line of its bundle.
pub(crate) fn read_after(first: &[u8], mut from: impl BufRead) -> Result<RunData, ImportError> {
    let mut run = read_head(first)?;
    let known: BTreeSet<Id> = run.benchmarks.iter().map(|one| one.id.clone()).collect();
    let mut hash = Sha256::new_with_prefix(first);
    let mut number = 1;
    loop {
        number += 1;
        let text = next_line(&mut from, number, LAUNCH_LINE)?;
        if text.is_empty() {
            let what = "no end: the file is truncated, or is still being written";
            return Err(wrong(number - 1, what));
        }
        match parse::<Line<Launch>>(&text, number)? {
            Line::Launch(mut launch) => {
                hash.update(&text);
                if run.launches.len() == LAUNCHES {
                    let what = format!("a run has at most {LAUNCHES} launches");
                    return Err(wrong(number, what));
                }
                if !known.contains(&launch.id) {
                    let what = format!("a launch of {}, which the head does not list", launch.id);
                    return Err(wrong(number, what));
                }
                let possible = check_text(&text).and_then(|()| check_launch(&mut launch));
                possible.map_err(|what| wrong(number, what))?;
                run.launches.push(launch);
            }
            Line::End { launches, sha256 } => {
                if launches != run.launches.len() {
                    let what = format!(
                        "the end states {launches} launches, and the file has {}",
                        run.launches.len()
                    );
                    return Err(wrong(number, what));
                }
                if sha256 != hexadecimal(hash.finalize()) {
                    return Err(wrong(number, "checksum mismatch: the file was changed"));
                }
                break;
            }
        }
    }
    match next_line(&mut from, number + 1, LAUNCH_LINE)?.is_empty() {
        true => Ok(run),
        false => Err(wrong(number, "an end before the end")),
    }
}

/// The next line with its end; empty at the end of the file.
fn next_line(from: &mut impl BufRead, number: usize, max: u64) -> Result<Vec<u8>, ImportError> {
    let mut line = vec![];
    let read = from.take(max + 1).read_until(b'\n', &mut line);
    read.map_err(|error| wrong(number, error.to_string()))?;
    match line.len() as u64 <= max {
        true => Ok(line),
        false => Err(wrong(number, format!("longer than {} MiB", max >> 20))),
    }
}

/// Rejects a head that is impossible or too large.
pub(crate) fn check_head(run: &mut RunData) -> Result<(), String> {
    for benchmark in &run.benchmarks {
        let (id, amount) = (&benchmark.id, benchmark.amount_per_op);
        if !(amount.is_finite() && amount > 0.0) {
            return Err(format!("amount_per_op of {id} is {amount}: it must be above 0"));
        }
    }
    let machine = &run.info.machine;
    check_machine_id(&machine.id)?;
    check_name("the label", run.info.label.as_deref().unwrap_or_default())?;
    check_name("the identifier of the machine", &machine.id)?;
    check_name("the name of the machine", &machine.name)?;
    check_name("the system of the machine", &machine.system)?;
    // files of a custom catalog may be longer
    let catalog = run.info.settings.catalogue.take();
    let head = line(&(&run.info, &run.benchmarks, &run.programs, &run.skips));
    run.info.settings.catalogue = catalog;
    if head.len() > HEAD {
        return Err(HEAD_TOO_LONG.to_owned());
    }
    check_text(head.as_bytes())
}

const HEAD_TOO_LONG: &str = "the head is longer than 6 MiB: the entries of its benchmarks, its machine and its settings, without the files of a \
    custom catalog. Measure or import fewer benchmarks at once";

/// It is a part of a path on a server.
fn check_machine_id(id: &str) -> Result<(), String> {
    match id.is_empty() || [".", ".."].contains(&id) || id.contains(is_unprintable) {
        true => Err(format!(
            "'{}' cannot identify the machine: `info.machine.id` must have printable letters, and not be . or ..",
            id.escape_debug()
        )),
        false => Ok(()),
    }
}

fn check_text(json: &[u8]) -> Result<(), String> {
    match strings(json).0 <= TEXT {
        true => Ok(()),
        false => Err(format!("a text of more than {} KiB", TEXT >> 10)),
    }
}

/// Rejects a launch that is impossible or too large; frees unused memory.
fn check_launch(launch: &mut Launch) -> Result<(), String> {
    let copies = launch.copies.max(1);
    if copies > COPIES || launch.cpus.len() > VALUES {
        return Err(format!("a launch has at most {COPIES} copies"));
    }
    let copies = copies as usize;
    if launch.events.len() > EVENTS * copies {
        return Err(format!("a copy of a launch has at most {EVENTS} events"));
    }
    let (mut begins, mut ends) = (0, 0);
    for event in &mut launch.events {
        match event {
            Event::Hello { .. } => begins += 1,
            Event::Bye => ends += 1,
            Event::Sample(sample) if sample.n == 0 || sample.wall == 0 => return Err(nothing()),
            Event::Batch(batch) if batch.n == 0 => return Err(nothing()),
            Event::Batch(batch) if batch.walls.len() > VALUES => {
                return Err(format!("a batch has at most {VALUES} times"));
            }
            Event::Batch(batch) => batch.walls.shrink_to_fit(),
            Event::Latency(histogram) if histogram.buckets.len() > VALUES => {
                return Err(format!("a histogram has at most {VALUES} buckets"));
            }
            Event::Latency(histogram) => histogram.buckets.shrink_to_fit(),
            _ => {}
        }
    }
    if begins.max(ends) > copies {
        return Err("a copy of a launch begins and ends once".to_owned());
    }
    launch.events.shrink_to_fit();
    match launch.outcome {
        Outcome::Measured => launch.check_times().map_err(|what| too_long(launch, &what)),
        _ => Ok(()),
    }
}

fn too_long(launch: &Launch, what: &str) -> String {
    format!(
        "a launch of {} is impossible: {what}. Export the run again from the store that measured it, or measure it again",
        launch.id
    )
}

fn nothing() -> String {
    "a sample with n=0 or wall=0 is impossible: it timed nothing".to_owned()
}

/// The head as a run without launches.
fn read_head(text: &[u8]) -> Result<RunData, ImportError> {
    if strings(text).1 > HEAD {
        return Err(wrong(1, HEAD_TOO_LONG));
    }
    if !text.ends_with(b"\n") {
        return Err(wrong(1, "no head and no end: the file is truncated"));
    }
    match parse::<Schema>(text, 1)?.schema.as_deref() {
        Some(SCHEMA_BUNDLE) => {}
        Some(other) => {
            let what = format!(
                "its schema is '{other}', and this Gritstone reads '{SCHEMA_BUNDLE}': use the version that wrote it, or a later one"
            );
            return Err(wrong(1, what));
        }
        None => return Err(wrong(1, "not a bundle: it names no schema")),
    }
    let head: Read = parse(text, 1)?;
    let mut run = RunData {
        info: head.info,
        benchmarks: head.benchmarks.0,
        programs: head.programs,
        skips: head.skips,
        launches: vec![],
    };
    check_head(&mut run).map_err(|what| wrong(1, what))?;
    Ok(run)
}

/// The `schema` field of a JSON object.
#[derive(Deserialize)]
struct Schema {
    schema: Option<String>,
}

fn parse<T: for<'a> Deserialize<'a>>(text: &[u8], line: usize) -> Result<T, ImportError> {
    serde_json::from_slice(text).map_err(|error| {
        let position = format!(" at line 1 column {}", error.column());
        let what = error.to_string().replace(&position, &format!(" (column {})", error.column()));
        wrong(line, what)
    })
}

fn wrong(line: usize, what: impl Into<String>) -> ImportError {
    ImportError::Line { line, what: what.into() }
}
