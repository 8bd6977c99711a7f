//! divan: the table that it prints.

use super::criterion::bench_command;
use super::{
    Execution, Format, Harness, HarnessError, HarnessFile, Invocation, Output, Program, Shape,
    malformed, place, seconds,
};
use crate::foreign_run::{ForeignRun, Repetition};
use gritstone_model::Better;

pub(super) struct Divan;

const ONLY_MEDIAN: &str = "The table has only the median, no samples.";

/// Columns after the name.
const COLUMNS: [&str; 6] = ["fastest", "slowest", "median", "mean", "samples", "iters"];

/// Between name and values.
const GAP: &str = "  ";

/// Indentation per level of the tree, characters.
const INDENT: usize = 3;

/// Units of time, ns.
const UNITS: [(&str, f64); 7] =
    [("ps", 1e-3), ("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3600e9)];

/// Program name and column of the first value, if the line is the header of a table.
fn head(line: &str) -> Option<(&str, usize)> {
    let (name, rest) = line.split_at(line.find("  fastest")?);
    let columns: Vec<&str> = rest.split('│').map(str::trim).collect();
    let indent = rest.len() - rest.trim_start().len();
    (columns == COLUMNS).then(|| (name.trim(), name.chars().count() + indent))
}

/// A time, ns.
fn time(text: &str) -> Option<f64> {
    let (value, unit) = text.split_once(' ')?;
    let (_, factor) = UNITS.iter().find(|(known, _)| *known == unit.trim())?;
    Some(value.parse::<f64>().ok()? * factor)
}

/// Level, name and values of a line of the tree; further counters of a benchmark have no name. The name of a number of threads (`t=2`) may
/// reach beyond the column of the values, which then begin later.
fn branch(line: &str, column: usize) -> Option<(usize, &str, Vec<&str>)> {
    let (gap, _) = line.char_indices().nth(column.checked_sub(GAP.len())?)?;
    let end = line[gap..].find(GAP).map_or(line.len(), |found| gap + found);
    let (tree, values) = line.split_at(end);
    let name = tree.trim_start_matches(['├', '╰', '│', '─', ' ']);
    let indent = tree.chars().count() - name.chars().count();
    let name = name.trim_end();
    let values = values.split('│').map(str::trim).collect();
    (!name.is_empty()).then_some((indent / INDENT, name, values))
}

fn add(run: &mut ForeignRun, name: &str, values: &[&str], location: impl FnOnce() -> String) {
    if values.first() == Some(&"(ignored)") {
        return run.leave_out(name, "ignored");
    }
    let median = values.get(2).and_then(|text| time(text));
    let one = Repetition {
        operations: values.get(5).and_then(|text| text.parse().ok()),
        ..Repetition::new(median.unwrap_or(f64::NAN))
    };
    run.add(name, ("ns", Better::Lower), vec![one], location);
    run.named(name).remarks.insert(ONLY_MEDIAN);
}

impl Format for Divan {
    fn program(&self) -> Program {
        Program { name: "divan", title: "divan" }
    }

    fn recognizes(&self, shape: &Shape<'_>) -> bool {
        shape.text.lines().any(|line| head(line).is_some())
    }

    /// Names are module paths, the syntax of its filter.
    fn read(&self, run: &mut ForeignRun, file: &HarnessFile) -> Result<(), HarnessError> {
        let (mut column, mut path) = (0, vec![]);
        for (number, line) in (1..).zip(file.text.lines()) {
            let location = || place(file, &format!("line {number}"));
            if let Some((program, found)) = head(line) {
                (column, path) = (found, vec![program]);
            } else if column > 0
                && line.starts_with(['├', '╰', '│', ' '])
                && let Some((level, name, values)) = branch(line, column)
            {
                if level == 0 || level > path.len() {
                    return Err(malformed(
                        location(),
                        format!("'{line}' is not a branch of a tree"),
                    ));
                }
                path.truncate(level);
                path.push(name);
                if values.iter().any(|value| !value.is_empty()) {
                    add(run, &path.join("::"), &values, location);
                }
            }
        }
        Ok(())
    }
}

/// The name that the filter knows: `t=2` is not part of it.
fn without_threads(name: &str) -> &str {
    match name.rsplit_once("::t=") {
        Some((benchmark, threads)) if threads.bytes().all(|b| b.is_ascii_digit()) => benchmark,
        _ => name,
    }
}

impl Harness for Divan {
    fn invocation(&self, execution: &Execution<'_>) -> Invocation {
        let mut argv = bench_command(execution.command);
        argv.extend(["--color=never".to_owned(), "--max-time".to_owned()]);
        argv.push(seconds(execution.time));
        if !execution.wanted.is_empty() {
            argv.push("--exact".to_owned());
            argv.extend(execution.wanted.iter().map(|name| without_threads(name).to_owned()));
        }
        Invocation::new(argv, Output::Stdout)
    }
}
