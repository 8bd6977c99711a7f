//! The report that UnixBench's `Run` prints.
//!
//! Must not know: other formats.

use crate::made::{Made, Series, nanoseconds};
use crate::{ImportError, RunData};
use gritstone_model::{Better, Sample};

/// A run, begun at `otherwise` (RFC 3339) where the file does not say when, of one launch for each line with a raw figure: the report has no single samples.
///
/// # Errors
/// When there is no such line.
pub fn read(text: &str, otherwise: &str) -> Result<RunData, ImportError> {
    let mut copies = String::new();
    let mut machine = None;
    let mut series = vec![];
    for (number, line) in (1..).zip(text.lines()) {
        // "8 CPUs in system; running 1 parallel copy of tests"
        if let Some((_, rest)) = line.split_once("; running ") {
            let number = rest.split(' ').next().unwrap_or("");
            copies = if number == "1" {
                String::new()
            } else {
                format!(", {number} copies")
            };
        } else if let Some(name) = line.trim().strip_prefix("System: ") {
            machine = name.split(':').next().map(|name| name.trim().to_owned());
        } else if let Some(found) = figure(line) {
            let made = found.series(&copies);
            series.push(made.map_err(|what| ImportError::Line { line: number, what })?);
        }
    }
    Made {
        tool: "UnixBench",
        version: String::new(),
        started: None,
        machine,
        series,
    }
    .run(otherwise)
}

/// A line such as `Pipe Throughput     1234567.8 lps   (10.0 s, 7 samples)`.
struct Line<'a> {
    title: &'a str,
    figure: f64,
    unit: &'a str,
    seconds: f64,
}

fn figure(line: &str) -> Option<Line<'_>> {
    let (head, rest) = line.rsplit_once('(')?;
    let (seconds, samples) = rest.trim_end().strip_suffix(')')?.split_once(" s, ")?;
    samples.strip_suffix(" samples")?;
    let mut words = head.trim_end().rsplitn(3, char::is_whitespace);
    let unit = words.next()?;
    let figure: f64 = words.next()?.parse().ok()?;
    let title = words.next()?.trim();
    let seconds: f64 = seconds.parse().ok()?;
    (!title.is_empty()).then_some(Line {
        title,
        figure,
        unit,
        seconds,
    })
}

impl Line<'_> {
    fn series(&self, copies: &str) -> Result<Series, String> {
        if !(self.figure.is_finite() && self.figure > 0.0) {
            return Err(format!("{} {} is impossible", self.figure, self.unit));
        }
        let (unit, times) = match self.unit {
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
        let wall = nanoseconds((self.seconds * 1e3).round() / 1e3)?;
        let mut series = Series::new(&format!("{}{copies}", self.title));
        series.unit = Some((unit, Better::Higher));
        series.amount = self.figure * times * (wall as f64 / 1e9);
        series.remark = Some("The report has one figure and none of its samples.");
        series.launches = vec![Ok(Sample {
            n: 1,
            wall,
            ..Sample::default()
        })];
        Ok(series)
    }
}
