//! Times of commands by execution, in the formats of hyperfine: JSON, CSV, and tables of three markup languages.

use crate::export::csv::{cell, separated};
use gritstone_document::clean;
use gritstone_model::escape_json;
use gritstone_report::{TimeScale, TimeStatistics, Timing};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// Commands with executions, and their statistics.
fn with_statistics(timings: &[Timing]) -> Vec<(&Timing, TimeStatistics)> {
    let each = timings.iter();
    each.filter_map(|timing| Some((timing, TimeStatistics::new(&timing.times)?))).collect()
}

/// Output of `hyperfine --export-json`, in seconds.
pub fn json(timings: &[Timing]) -> String {
    let results = with_statistics(timings).into_iter();
    let results: Vec<Value> = results.map(|(timing, all)| result(timing, all)).collect();
    escape_json(format!("{:#}\n", json!({ "results": results })))
}

fn result(timing: &Timing, all: TimeStatistics) -> Value {
    // as hyperfine writes signals
    let exit_codes = timing.statuses.iter().map(|&s| (s >= 0).then_some(s));
    let mut result = json!({
        "command": timing.command,
        "mean": all.mean,
        "stddev": all.deviation,
        "median": all.median,
        "user": timing.user,
        "system": timing.system,
        "min": all.min,
        "max": all.max,
        "times": timing.times,
        "exit_codes": exit_codes.collect::<Vec<_>>(),
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

/// Output of `hyperfine --export-csv`, in seconds.
pub fn csv(timings: &[Timing]) -> String {
    let heads = ["command", "mean", "stddev", "median", "user", "system", "min", "max"];
    let mut heads: Vec<String> = heads.map(str::to_owned).into();
    let names = || timings.iter().flat_map(|timing| &timing.parameters).map(|(name, _)| name);
    let mut parameters: Vec<&String> = names().collect();
    parameters.sort();
    parameters.dedup();
    heads.extend(parameters.iter().map(|name| format!("parameter_{}", clean(name))));
    let row = |(timing, all): (&Timing, TimeStatistics)| {
        let numbers = [
            all.mean,
            all.deviation.unwrap_or(0.0),
            all.median,
            timing.user,
            timing.system,
            all.min,
            all.max,
        ];
        let mut row = vec![cell(&timing.command)];
        row.extend(numbers.map(|number| number.to_string()));
        let value =
            |name: &&String| timing.parameters.iter().find(|(parameter, _)| parameter == *name);
        row.extend(
            parameters.iter().map(|name| value(name).map_or(String::new(), |(_, v)| cell(v))),
        );
        row
    };
    let rows = with_statistics(timings).into_iter().map(row);
    separated([heads].into_iter().chain(rows))
}

/// A markup language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Markup {
    AsciiDoc,
    Markdown,
    OrgMode,
}

/// Replaces a ratio.
const NOT_MEASURABLE: &str = "not measurable";
/// The columns of a table.
const COLUMNS: usize = 5;

/// A table of all commands, in this unit or one near the first mean, sorted by time or as given; relative to the first if it is the
/// reference, else to the fastest.
pub fn table(
    timings: &[Timing],
    markup: Markup,
    unit: Option<&str>,
    reference: bool,
    by_time: bool,
) -> String {
    type Ranked<'a> = (&'a Timing, TimeStatistics);
    let mut rows = with_statistics(timings);
    let by_mean = |a: &Ranked<'_>, b: &Ranked<'_>| a.1.mean.total_cmp(&b.1.mean);
    let fastest = || rows.iter().copied().min_by(by_mean);
    let first = rows.first().copied();
    let (Some(base), Some((_, of_first))) = (if reference { first } else { fastest() }, first)
    else {
        return String::new();
    };
    if by_time {
        rows.sort_by(by_mean);
    }
    let TimeScale { factor, sign } = TimeScale::new(unit, of_first.mean);
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
    let row = |row: &Ranked<'_>| {
        let (timing, all) = row;
        let scatter = all.deviation;
        let scatter = scatter.map_or(String::new(), |d| format!(" ± {}", show(d)));
        [
            timing.command.clone(),
            show(all.mean) + &scatter,
            show(all.min),
            show(all.max),
            relative(*row, base),
        ]
    };
    let cells: Vec<[String; COLUMNS]> = rows.iter().map(row).collect();
    markup.table(&heads, &cells)
}

/// A time as a multiple of another, with the scatter of both; none if it is too short to be measured.
fn relative(
    (timing, all): (&Timing, TimeStatistics),
    (base, of_base): (&Timing, TimeStatistics),
) -> String {
    if std::ptr::eq(timing, base) {
        return "1.00".to_owned();
    }
    let is_measured = |timing: &Timing, mean: f64| mean > timing.floor;
    if !is_measured(timing, all.mean) || !is_measured(base, of_base.mean) {
        return NOT_MEASURABLE.to_owned();
    }
    let ratio = all.mean / of_base.mean;
    let share = |all: TimeStatistics| Some(all.deviation? / all.mean);
    match (share(all), share(of_base)) {
        (Some(deviation), Some(base_deviation)) => {
            format!("{ratio:.2} ± {:.2}", ratio * deviation.hypot(base_deviation))
        }
        _ => format!("{ratio:.2}"),
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

    /// A command as code; characters that would end a table cell are replaced.
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
        [timing("a | b", &[0.02, 0.04], "1"), timing("c `d`", &[0.01], "2")]
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
    fn short_commands_have_no_ratio() {
        let mut all = timings();
        (all[1].times, all[1].floor) = (vec![0.0, 0.0], 1e-4);
        for markup in [Markup::Markdown, Markup::OrgMode, Markup::AsciiDoc] {
            let text = table(&all, markup, None, false, false);
            assert!(text.contains(NOT_MEASURABLE), "{text}");
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        }
        // a command without executions has no row
        all[1].times = vec![];
        assert!(!table(&all, Markup::Markdown, None, false, false).contains("`c"));
        assert!(!csv(&all).contains("c `d`") && !json(&all).contains("c `d`"));
    }

    #[test]
    fn numbers_for_programs_are_seconds() {
        let all = timings();
        insta::assert_snapshot!("timings_csv", csv(&all));
        let value: Value = serde_json::from_str(&json(&all)).unwrap();
        assert_eq!(value["results"][0]["median"], 0.03);
        assert_eq!(value["results"][1]["stddev"], Value::Null);
        assert_eq!(value["results"][1]["parameters"]["x"], "2");
        // the output can be imported
        let file = crate::harness::HarnessFile { path: "".into(), text: json(&all) };
        assert!(crate::import(&[file], jiff::Timestamp::UNIX_EPOCH).is_ok());
    }
}
