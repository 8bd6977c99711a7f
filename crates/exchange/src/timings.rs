//! Times of commands, one for each execution, in the formats of hyperfine: JSON, CSV, and tables of three markup languages.

use crate::csv_markdown::separated;
use gritstone_document::{Foreign, clean};
use gritstone_model::{Event, Id, Launch, Metric, Outcome, Param, RunData, Sample, escape_json};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// The executions of a command.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timing {
    /// The command, or the name that it was given.
    pub command: String,
    /// Seconds of each execution.
    pub times: Vec<f64>,
    /// User time of one, s.
    pub user: f64,
    /// System time of one, s.
    pub system: f64,
    /// Peak memory of each, bytes; empty where it is not known.
    pub memory: Vec<u64>,
    /// Exit status of each.
    pub statuses: Vec<i32>,
    /// The values that it has of parameters.
    pub parameters: Vec<(String, String)>,
}

impl Timing {
    /// Of the launches of a run, which are all of one command.
    #[must_use]
    pub fn of(command: &str, parameters: &[(String, String)], run: &RunData) -> Self {
        Self {
            parameters: parameters.to_vec(),
            ..Self::of_launches(command, run.launches.iter())
        }
    }

    /// Of the launches of one row, an operation as an execution.
    pub(crate) fn of_row(id: &Id, run: &RunData) -> Self {
        let own = |launch: &&Launch| launch.id == *id && launch.copies == 1;
        Self::of_launches(id.as_str(), run.launches.iter().filter(own))
    }

    fn of_launches<'a>(command: &str, launches: impl Iterator<Item = &'a Launch>) -> Self {
        let mut timing = Self {
            command: command.to_owned(),
            ..Self::default()
        };
        for launch in launches.filter(|launch| launch.outcome == Outcome::Measured) {
            timing.add(launch);
        }
        let executions = timing.times.len().max(1) as f64;
        timing.user /= executions;
        timing.system /= executions;
        timing
    }

    fn add(&mut self, launch: &Launch) {
        let (mut status, mut memory, mut start_up) = (0, None, 0.0);
        for event in &launch.events {
            match event {
                Event::Param(param) => match param {
                    Param::Status(nonzero) => status = *nonzero,
                    Param::PeakMemory(kib) => memory = Some(*kib),
                    Param::Number(Metric::StartUp, ns) => start_up = ns.get(),
                    _ => {}
                },
                // what was said before a sample is said of it, or of a warm-up
                Event::Warm { .. } => (status, memory) = (0, None),
                Event::Sample(sample) if sample.n > 0 => {
                    self.sample(sample, start_up);
                    self.statuses.push(std::mem::take(&mut status));
                    self.memory
                        .extend(memory.take().map(|kb| kb.saturating_mul(1024)));
                }
                _ => {}
            }
        }
    }

    fn sample(&mut self, sample: &Sample, start_up: f64) {
        let of = |ns: f64| ns / sample.n as f64 / 1e9;
        self.times
            .push(of((sample.wall as f64 - start_up).max(0.0)));
        self.user += of(sample.usage.user as f64);
        self.system += of(sample.usage.system as f64);
    }

    /// Arithmetic mean, s.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.times.iter().sum::<f64>() / self.times.len().max(1) as f64
    }

    /// Standard deviation, s; none of one execution.
    fn deviation(&self) -> Option<f64> {
        let (n, mean) = (self.times.len(), self.mean());
        let squares = self.times.iter().map(|time| (time - mean).powi(2));
        (n > 1).then(|| (squares.sum::<f64>() / (n - 1) as f64).sqrt())
    }

    fn sorted(&self) -> Vec<f64> {
        let mut sorted = self.times.clone();
        sorted.sort_by(f64::total_cmp);
        sorted
    }

    fn median(&self) -> f64 {
        let sorted = self.sorted();
        match sorted.len() {
            0 => 0.0,
            n => f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2]),
        }
    }

    fn bounds(&self) -> [f64; 2] {
        let sorted = self.sorted();
        [sorted.first(), sorted.last()].map(|bound| bound.copied().unwrap_or(0.0))
    }
}

/// What `hyperfine --export-json` writes, in seconds.
#[must_use]
pub fn json(timings: &[Timing]) -> String {
    let results: Vec<Value> = timings.iter().map(result).collect();
    escape_json(format!("{:#}\n", json!({ "results": results })))
}

fn result(timing: &Timing) -> Value {
    let [min, max] = timing.bounds();
    let mut result = json!({
        "command": timing.command,
        "mean": timing.mean(),
        "stddev": timing.deviation(),
        "median": timing.median(),
        "user": timing.user,
        "system": timing.system,
        "min": min,
        "max": max,
        "times": timing.times,
        "exit_codes": timing.statuses,
    });
    if timing.memory.len() == timing.times.len() {
        result["memory_usage_byte"] = timing.memory.clone().into();
    }
    if !timing.parameters.is_empty() {
        let pairs = timing.parameters.iter();
        let pairs = pairs.map(|(name, value)| (name.clone(), value.clone().into()));
        result["parameters"] = pairs.collect::<Map<String, Value>>().into();
    }
    result
}

/// What `hyperfine --export-csv` writes, in seconds.
#[must_use]
pub fn csv(timings: &[Timing]) -> String {
    let heads = [
        "command", "mean", "stddev", "median", "user", "system", "min", "max",
    ];
    let mut heads: Vec<String> = heads.map(str::to_owned).into();
    let names = || {
        timings
            .iter()
            .flat_map(|timing| &timing.parameters)
            .map(|(name, _)| name)
    };
    let mut parameters: Vec<&String> = names().collect();
    parameters.sort();
    parameters.dedup();
    heads.extend(
        parameters
            .iter()
            .map(|name| format!("parameter_{}", clean(name))),
    );
    let row = |timing: &Timing| {
        let [min, max] = timing.bounds();
        let deviation = timing.deviation().unwrap_or(0.0);
        let numbers = [
            timing.mean(),
            deviation,
            timing.median(),
            timing.user,
            timing.system,
            min,
            max,
        ];
        let mut row = vec![Foreign(&timing.command).csv()];
        row.extend(numbers.map(|number| number.to_string()));
        let value = |name: &&String| timing.parameters.iter().find(|(own, _)| own == *name);
        row.extend(
            parameters
                .iter()
                .map(|name| value(name).map_or(String::new(), |(_, v)| Foreign(v).csv())),
        );
        row
    };
    separated([heads].into_iter().chain(timings.iter().map(row)))
}

/// A markup language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Markup {
    AsciiDoc,
    Markdown,
    OrgMode,
}

/// The columns of a table.
const COLUMNS: usize = 5;

/// A table of all commands, in this unit or one near the first mean, by time or as given; relative to the first where it is the
/// reference, else to the fastest.
#[must_use]
pub fn table(
    timings: &[Timing],
    markup: Markup,
    unit: Option<&str>,
    reference: bool,
    by_time: bool,
) -> String {
    let mut rows: Vec<&Timing> = timings.iter().collect();
    let fastest = || timings.iter().min_by(|a, b| a.mean().total_cmp(&b.mean()));
    let Some(base) = (if reference {
        timings.first()
    } else {
        fastest()
    }) else {
        return String::new();
    };
    if by_time {
        rows.sort_by(|a, b| a.mean().total_cmp(&b.mean()));
    }
    let unit = unit.unwrap_or_else(|| near(timings[0].mean()));
    let (factor, sign) = match unit {
        "us" => (1e6, "µs"),
        "ms" => (1e3, "ms"),
        _ => (1.0, "s"),
    };
    let show = |seconds: f64| match sign {
        "s" => format!("{seconds:.3}"),
        _ => format!("{:.1}", seconds * factor),
    };
    let heads = [
        "Command".to_owned(),
        format!("Mean [{sign}]"),
        format!("Min [{sign}]"),
        format!("Max [{sign}]"),
        "Relative".to_owned(),
    ];
    let row = |timing: &&Timing| {
        let [min, max] = timing.bounds();
        let scatter = timing
            .deviation()
            .map_or(String::new(), |d| format!(" ± {}", show(d)));
        [
            timing.command.clone(),
            show(timing.mean()) + &scatter,
            show(min),
            show(max),
            relative(timing, base),
        ]
    };
    let cells: Vec<[String; COLUMNS]> = rows.iter().map(row).collect();
    markup.table(&heads, &cells)
}

/// A time as a multiple of another, with the scatter of both.
fn relative(timing: &Timing, base: &Timing) -> String {
    let ratio = timing.mean() / base.mean();
    if std::ptr::eq(timing, base) {
        return "1.00".to_owned();
    }
    let share = |timing: &Timing| Some(timing.deviation()? / timing.mean());
    match (share(timing), share(base)) {
        (Some(own), Some(other)) => format!("{ratio:.2} ± {:.2}", ratio * own.hypot(other)),
        _ => format!("{ratio:.2}"),
    }
}

/// The unit in which a time is readable.
fn near(seconds: f64) -> &'static str {
    match seconds {
        s if s < 1e-3 => "us",
        s if s < 1.0 => "ms",
        _ => "s",
    }
}

impl Markup {
    fn table(self, heads: &[String; COLUMNS], rows: &[[String; COLUMNS]]) -> String {
        let mut text = String::new();
        let row = |cells: &[String]| match self {
            Self::Markdown => format!("| {} |", cells.join(" | ")),
            Self::OrgMode => format!("| {} |", cells.join("  |  ")),
            Self::AsciiDoc => format!("| {}", cells.join("\n| ")),
        };
        let (before, after) = match self {
            Self::Markdown => ("", "|:---|---:|---:|---:|---:|\n"),
            Self::OrgMode => ("", "|--+--+--+--+--|\n"),
            Self::AsciiDoc => ("[cols=\"<,>,>,>,>\"]\n|===\n", "\n"),
        };
        let _ = write!(text, "{before}{}\n{after}", row(heads));
        for cells in rows {
            let mut cells = cells.clone();
            cells[0] = self.code(&cells[0]);
            let _ = writeln!(text, "{}", row(&cells));
        }
        if self == Self::AsciiDoc {
            text.push_str("|===\n");
        }
        text
    }

    /// A command in the typewriter face; what would end a cell cannot be written in it.
    fn code(self, text: &str) -> String {
        let text = clean(text);
        match self {
            Self::Markdown => {
                // one backtick more than any run of them in the command
                let runs = text.split(|c| c != '`').map(str::len);
                let ticks = "`".repeat(runs.max().unwrap_or(0) + 1);
                let space = if text.contains('`') { " " } else { "" };
                format!("{ticks}{space}{}{space}{ticks}", text.replace('|', "\\|"))
            }
            Self::AsciiDoc => format!("`{}`", text.replace('|', "\\|")),
            Self::OrgMode => format!("={}=", text.replace('|', "\\vert{}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timings() -> [Timing; 2] {
        let timing = |command: &str, times: &[f64], x: &str| Timing {
            command: command.to_owned(),
            times: times.to_vec(),
            user: 0.001,
            statuses: vec![0; times.len()],
            parameters: vec![("x".to_owned(), x.to_owned())],
            ..Timing::default()
        };
        [
            timing("a | b", &[0.02, 0.04], "1"),
            timing("c `d`", &[0.01], "2"),
        ]
    }

    #[test]
    fn tables_of_three_languages() {
        let all = timings();
        insta::assert_snapshot!(
            "timings_markdown",
            table(&all, Markup::Markdown, None, false, false)
        );
        insta::assert_snapshot!(
            "timings_orgmode",
            table(&all, Markup::OrgMode, Some("s"), false, true)
        );
        insta::assert_snapshot!(
            "timings_asciidoc",
            table(&all, Markup::AsciiDoc, Some("us"), true, false)
        );
    }

    #[test]
    fn numbers_for_programs_are_seconds() {
        let all = timings();
        insta::assert_snapshot!("timings_csv", csv(&all));
        let value: Value = serde_json::from_str(&json(&all)).unwrap();
        assert_eq!(value["results"][0]["median"], 0.03);
        assert_eq!(value["results"][1]["stddev"], Value::Null);
        assert_eq!(value["results"][1]["parameters"]["x"], "2");
        // and what it writes it reads
        assert!(crate::read_hyperfine(&json(&all), "2026-01-01T00:00:00Z").is_ok());
    }
}
