//! UnixBench: the report printed by `Run`.

use super::{Format, HarnessError, HarnessFile, Program, Shape, malformed, place};
use crate::foreign_run::{ForeignRun, Repetition};
use gritstone_model::Better;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

pub(super) struct UnixBench;

/// Units of its benchmarks: our unit, the factor to it, and the number of base operations per unit.
const UNITS: [(&str, &str, f64, f64); 4] = [
    ("KBps", "KB/s", 1.024, 1e3),
    ("lpm", "loops/s", 1.0 / 60.0, 1.0),
    ("lps", "loops/s", 1.0, 1.0),
    ("MWIPS", "MWIPS", 1.0, 1e6),
];

const NO_SAMPLES: &str = "The report has one value and no samples.";

impl Format for UnixBench {
    fn program(&self) -> Program {
        Program { name: "unixbench", title: "UnixBench" }
    }

    fn recognizes(&self, shape: &Shape<'_>) -> bool {
        shape.text.contains("BYTE UNIX Benchmarks")
    }

    /// One launch per line with a raw result.
    fn read(&self, run: &mut ForeignRun, file: &HarnessFile) -> Result<(), HarnessError> {
        let mut copies = String::new();
        for (number, line) in (1..).zip(file.text.lines()) {
            let location = || place(file, &format!("line {number}"));
            // "8 CPUs in system; running 1 parallel copy of tests"
            if let Some((_, rest)) = line.split_once("; running ") {
                copies = match rest.split(' ').next().unwrap_or("") {
                    "1" => String::new(),
                    number => format!(", {number} copies"),
                };
            } else if is_raw_result(line) {
                let what = || {
                    format!(
                        "'{}' is not 'title figure unit (seconds s, number samples)'",
                        line.trim()
                    )
                };
                let (title, unit, one) =
                    raw_result(line).ok_or_else(|| malformed(location(), what()))?;
                let name = format!("{title}{copies}");
                run.add(&name, (&unit, Better::Higher), vec![one], location);
                run.named(&name).remarks.insert(NO_SAMPLES);
            } else {
                head(run, line.trim());
            }
        }
        Ok(())
    }
}

/// Parses version, system and start.
fn head(run: &mut ForeignRun, line: &str) {
    if let Some(name) = line.strip_prefix("System: ") {
        run.machine = name.split(':').next().map(|name| name.trim().to_owned());
    } else if let Some(version) = line.strip_prefix("BYTE UNIX Benchmarks (Version ") {
        run.version = version.trim_end_matches(')').to_owned();
    } else if let Some(times) = line.strip_prefix("Benchmark Run: ") {
        run.started = run.started.or_else(|| start(times));
    }
}

/// `Tue Nov 09 2021 09:51:37 - 10:19:32`; the time zone is unknown.
fn start(times: &str) -> Option<Timestamp> {
    let (start, _) = times.split_once(" - ")?;
    let start = DateTime::strptime("%a %b %d %Y %H:%M:%S", start.trim()).ok()?;
    Some(start.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

/// Whether a line is a raw result, damaged or not: by its end, or by a unit before a parenthesis.
fn is_raw_result(line: &str) -> bool {
    let has_unit = || {
        let before = line.split('(').next().unwrap_or_default().trim_end();
        let last = before.rsplit(char::is_whitespace).next();
        line.contains('(') && UNITS.iter().any(|(unit, ..)| Some(*unit) == last)
    };
    line.trim_end().ends_with("samples)") || has_unit()
}

/// Title, unit and result of a line such as `Pipe Throughput     1234567.8 lps   (10.0 s, 7 samples)`.
fn raw_result(line: &str) -> Option<(&str, String, Repetition)> {
    let (head, rest) = line.rsplit_once('(')?;
    let (seconds, samples) = rest.trim_end().strip_suffix(')')?.split_once(" s, ")?;
    samples.strip_suffix(" samples")?.parse::<u64>().ok()?;
    let seconds = decimal(seconds)?;
    let mut words = head.trim_end().rsplitn(3, char::is_whitespace);
    let (unit, value, title) = (words.next()?, words.next()?, words.next()?.trim());
    let known = UNITS.iter().find(|(name, ..)| *name == unit);
    let (unit, times, plain) = match known {
        Some((_, unit, times, plain)) => ((*unit).to_owned(), *times, *plain),
        None => {
            let thing: String = unit.chars().filter(char::is_ascii_alphanumeric).collect();
            (format!("{thing}/s"), 1.0, 1.0)
        }
    };
    let value = decimal(value)? * times;
    let operations = Some((value * plain * seconds).round() as u64);
    let result = Repetition { operations, ..Repetition::new(value) };
    (!title.is_empty()).then_some((title, unit, result))
}

/// A number with a decimal point or comma.
fn decimal(text: &str) -> Option<f64> {
    match text.matches(',').count() {
        1 if !text.contains('.') => text.replace(',', ".").parse().ok(),
        _ => text.parse().ok(),
    }
}
