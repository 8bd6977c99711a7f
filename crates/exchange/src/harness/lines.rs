//! Any program that prints lines of name, value and unit.

use super::{
    Execution, Format, Harness, HarnessError, HarnessFile, Invocation, Output, Program, direction,
    malformed, place,
};
use crate::foreign_run::{ForeignRun, Repetition};

/// Names of the benchmarks to measure, one per line; unset: all.
pub(super) const FILTER: &str = "GRITSTONE_BENCHMARKS";

pub(super) struct Lines;

/// Name, value and unit: the last two words are value and unit.
fn fields(line: &str) -> Option<(&str, f64, &str)> {
    let (rest, unit) = line.trim().rsplit_once(char::is_whitespace)?;
    let (name, value) = rest.trim_end().rsplit_once(char::is_whitespace)?;
    Some((name.trim_end(), value.parse().ok()?, unit))
}

/// The command as it is, with the filter in its environment.
pub(super) fn through_standard_output(execution: &Execution<'_>) -> Invocation {
    Invocation {
        environment: match execution.wanted {
            [] => vec![],
            wanted => vec![(FILTER.to_owned(), wanted.join("\n"))],
        },
        ..Invocation::new(execution.command.to_vec(), Output::Stdout)
    }
}

impl Format for Lines {
    fn program(&self) -> Program {
        Program { name: "lines", title: "a program that prints lines of 'name value unit'" }
    }

    /// Blank lines and those that begin with `#` are comments.
    fn read(&self, run: &mut ForeignRun, file: &HarnessFile) -> Result<(), HarnessError> {
        let lines = file.text.lines().enumerate();
        for (number, line) in
            lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
        {
            let location = || place(file, &format!("line {}", number + 1));
            let (name, value, unit) = fields(line).ok_or_else(|| {
                malformed(location(), format!("'{line}' is not 'name value unit'"))
            })?;
            run.add(name, (unit, direction(unit)), vec![Repetition::new(value)], location);
        }
        Ok(())
    }
}

impl Harness for Lines {
    fn invocation(&self, execution: &Execution<'_>) -> Invocation {
        through_standard_output(execution)
    }
}
