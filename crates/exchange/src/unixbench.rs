//! The report that UnixBench's `Run` prints.

use crate::foreign_run::{Made, Series, nanoseconds};
use crate::{ImportError, RunData};
use gritstone_model::{Better, Sample};

/// A run, begun at `otherwise` (RFC 3339) where the file does not say when, of one launch for each line with a raw figure: the report has no single samples.
///
/// # Errors
/// When there is no such line.
pub fn read(text: &str, otherwise: &str) -> Result<RunData, ImportError> {
    let mut copies = String::new();
    let mut machine = None;
    let mut all = vec![];
    for (number, line) in (1..).zip(text.lines()) {
        // "8 CPUs in system; running 1 parallel copy of tests"
        if let Some((_, rest)) = line.split_once("; running ") {
            copies = match rest.split(' ').next().unwrap_or("") {
                "1" => String::new(),
                number => format!(", {number} copies"),
            };
        } else if let Some(name) = line.trim().strip_prefix("System: ") {
            machine = name.split(':').next().map(|name| name.trim().to_owned());
        } else if let Some(found) = series(line, &copies) {
            all.push(found.map_err(|what| ImportError::Line { line: number, what })?);
        }
    }
    Made {
        tool: "UnixBench",
        version: String::new(),
        started: None,
        machine,
        series: all,
    }
    .run(otherwise)
}

/// What a line such as `Pipe Throughput     1234567.8 lps   (10.0 s, 7 samples)` says; `None` of any other line.
fn series(line: &str, copies: &str) -> Option<Result<Series, String>> {
    let (head, rest) = line.rsplit_once('(')?;
    let (seconds, samples) = rest.trim_end().strip_suffix(')')?.split_once(" s, ")?;
    samples.strip_suffix(" samples")?;
    let mut words = head.trim_end().rsplitn(3, char::is_whitespace);
    let (unit, figure, title) = (words.next()?, words.next()?, words.next()?.trim());
    let (figure, seconds): (f64, f64) = (figure.parse().ok()?, seconds.parse().ok()?);
    if title.is_empty() {
        return None;
    }
    if !(figure.is_finite() && figure > 0.0) {
        return Some(Err(format!("{figure} {unit} is not possible")));
    }
    let (unit, times) = match unit {
        "KBps" => ("KB/s".to_owned(), 1024.0),
        "lpm" => ("loops/s".to_owned(), 1.0 / 60.0),
        "lps" => ("loops/s".to_owned(), 1.0),
        "MWIPS" => ("million-whetstones/s".to_owned(), 1.0),
        other => {
            let thing: String = other.chars().filter(char::is_ascii_alphanumeric).collect();
            (format!("{thing}/s"), 1.0)
        }
    };
    // all that was done in all the time: no digit of the report is lost
    let wall = nanoseconds((seconds * 1e3).round() / 1e3);
    Some(wall.map(|wall| Series {
        unit: (unit, Better::Higher),
        amount: figure * times * (wall as f64 / 1e9),
        remark: Some("The report has one value and no samples."),
        launches: vec![Ok(Sample {
            n: 1,
            wall,
            ..Sample::default()
        })],
        ..Series::new(&format!("{title}{copies}"))
    }))
}
