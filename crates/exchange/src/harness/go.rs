//! Go's `testing`: the text of `go test -bench`, or of a test binary (`go test -c`).

use super::google_benchmark::ONE_PROCESS;
use super::{
    Execution, Format, Harness, HarnessError, HarnessFile, HarnessResults, Invocation, Output,
    Program, Shape, any_of, argv, direction, malformed, place,
};
use crate::foreign_run::{ForeignRun, Repetition};
use std::collections::BTreeSet;
use std::path::Path;

pub(super) struct Go;

/// Repetitions per launch: some are undisturbed on a busy machine. Go reports no spread, and collects garbage before each.
const REPETITIONS: u32 = 5;

/// Name of the function, which the filter's first element matches, without the number of processors.
fn function(name: &str) -> &str {
    let name = &name[package_length(name).unwrap_or(0)..];
    name.split(['/', '-']).next().unwrap_or(name)
}

/// Length of the package and the colon before the name.
fn package_length(name: &str) -> Option<usize> {
    name.find(":Benchmark").map(|colon| colon + 1)
}

/// A line of a benchmark.
enum OutputLine<'a> {
    /// A name alone: the results follow on another line, after the benchmark's own output.
    Name(&'a str),
    /// Iterations and metrics, with the name if it is on the same line. From 8 digits of iterations on, no space precedes them.
    Results(Option<&'a str>, u64, Vec<&'a str>),
    /// A failed benchmark.
    Failure(&'a str),
    /// A line with a name or a time that is not a result.
    Damaged,
    Other,
}

fn is_name(word: &str) -> bool {
    let rest = word.strip_prefix("Benchmark");
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_lowercase()))
}

fn parse_line(line: &str) -> OutputLine<'_> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let has_time = words.contains(&"ns/op");
    match words.as_slice() {
        // a benchmark that fails late has printed its name before
        ["---", "FAIL:" | "SKIP:", name, ..] | [_, "---", "FAIL:" | "SKIP:", name, ..]
            if is_name(name) =>
        {
            OutputLine::Failure(name)
        }
        [name, iterations, metrics @ ..] if is_name(name) => match iterations.parse() {
            Ok(n) if metrics.len() >= 2 => OutputLine::Results(Some(name), n, metrics.to_vec()),
            Err(_) if !has_time => OutputLine::Name(name),
            _ => OutputLine::Damaged,
        },
        [name] if is_name(name) => OutputLine::Name(name),
        [iterations, metrics @ ..] if has_time => {
            let n = iterations.parse();
            n.map_or(OutputLine::Other, |n| OutputLine::Results(None, n, metrics.to_vec()))
        }
        _ => OutputLine::Other,
    }
}

/// The number of processors that `testing` appends to all names, unless it is 1.
fn processors<'a>(mut names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let suffix = |name: &'a str| {
        let (_, n) = name.rsplit_once('-')?;
        n.bytes().all(|b| b.is_ascii_digit()).then_some(n)
    };
    let first = suffix(names.next()?)?;
    names.all(|name| suffix(name) == Some(first)).then_some(first)
}

impl Format for Go {
    fn program(&self) -> Program {
        Program { name: "go", title: "Go's testing" }
    }

    fn recognizes(&self, shape: &Shape<'_>) -> bool {
        let mut lines = shape.text.lines();
        lines.any(|line| matches!(parse_line(line), OutputLine::Results(Some(_), ..)))
    }

    /// Times, or the first metric of a benchmark without time. Names have package and number of processors.
    fn read(&self, run: &mut ForeignRun, file: &HarnessFile) -> Result<(), HarnessError> {
        let (mut package, mut open) = (String::new(), None);
        let mut opened = vec![];
        for (number, line) in (1..).zip(file.text.lines()) {
            if let Some(named) = line.strip_prefix("pkg: ") {
                package = format!("{}:", named.trim());
            }
            let location = || place(file, &format!("line {number}"));
            match parse_line(line) {
                OutputLine::Name(name) => {
                    open = Some(name);
                    opened.push((format!("{package}{name}"), location()));
                }
                OutputLine::Failure(name) => {
                    let why = format!("{}: {}", location(), line.trim());
                    run.leave_out(&format!("{package}{name}"), why);
                }
                OutputLine::Results(name, iterations, metrics) => {
                    let lost = || malformed(location(), format!("results without a name: {line}"));
                    let name = name.or(open.take()).ok_or_else(lost)?;
                    let (value, unit) =
                        metric(&metrics, line).map_err(|why| malformed(location(), why))?;
                    let one = Repetition {
                        operations: Some(iterations).filter(|_| unit == "ns/op"),
                        ..Repetition::new(value)
                    };
                    let name = format!("{package}{name}");
                    run.add(&name, (unit, direction(unit)), vec![one], location);
                    let series = run.named(&name);
                    if series.launches.len() > 1 {
                        series.remarks.insert(ONE_PROCESS);
                    }
                }
                OutputLine::Damaged => {
                    let what = format!("'{}' is not 'name iterations value unit'", line.trim());
                    return Err(malformed(location(), what));
                }
                OutputLine::Other => {}
            }
        }
        leave_out_open(run, opened);
        Ok(())
    }
}

/// Leaves out the benchmarks, with their places, that have a line with their name but no results. Verbose output has such a line for each,
/// without processors.
fn leave_out_open(run: &mut ForeignRun, opened: Vec<(String, String)>) {
    let names = run.series.iter().map(|series| series.name.clone());
    let known: BTreeSet<String> = names.collect();
    for (name, place) in opened {
        let begins = |start: String| {
            known.range(start.clone()..).next().is_some_and(|next| next.starts_with(&start))
        };
        let has_results = known.contains(&name)
            || ["-", "/"].iter().any(|after| begins(format!("{name}{after}")));
        if !has_results {
            run.leave_out(&name, format!("{place}: no results follow"));
        }
    }
}

/// The time, or else the first metric.
fn metric<'a>(metrics: &[&'a str], line: &str) -> Result<(f64, &'a str), String> {
    let (pairs, _) = metrics.as_chunks::<2>();
    let time = pairs.iter().find(|[_, unit]| *unit == "ns/op");
    let [value, unit] = time.or(pairs.first()).ok_or_else(|| line.to_owned())?;
    match value.parse() {
        Ok(value) => Ok((value, unit)),
        Err(why) => Err(format!("{line}: {why}")),
    }
}

/// Whether the command selects benchmarks itself.
fn has_filter(command: &[String]) -> bool {
    command.iter().any(|word| {
        let option = word.split('=').next().unwrap_or(word).trim_start_matches('-');
        word.starts_with('-') && matches!(option, "bench" | "test.bench")
    })
}

impl Harness for Go {
    fn invocation(&self, execution: &Execution<'_>) -> Invocation {
        let program = execution.command.first().map(Path::new);
        let is_go = program.and_then(Path::file_stem) == Some("go".as_ref());
        let prefix = if is_go { "-" } else { "-test." };
        let functions: BTreeSet<&str> =
            execution.wanted.iter().map(|name| function(name)).collect();
        let time = execution.time / REPETITIONS;
        let mut more = vec![
            format!("{prefix}run=^$"),
            format!("{prefix}benchtime={}ns", time.as_nanos().max(1)),
            format!("{prefix}count={REPETITIONS}"),
        ];
        if !functions.is_empty() {
            more.push(format!("{prefix}bench={}", any_of(functions)));
        } else if !has_filter(execution.command) {
            more.push(format!("{prefix}bench=."));
        }
        Invocation::new(argv(execution.command, more), Output::Stdout)
    }

    /// Names without the common package and number of processors, or as they are known.
    fn results(
        &self,
        files: &[HarnessFile],
        known: &[String],
    ) -> Result<HarnessResults, HarnessError> {
        let mut results = self.parse(files)?.results(self.title())?;
        let names: Vec<String> =
            (results.measured.iter()).map(|result| result.name.clone()).collect();
        let packages: BTreeSet<&str> =
            names.iter().filter_map(|name| Some(name.split_at(package_length(name)?).0)).collect();
        let processors = processors(names.iter().map(String::as_str));
        let suffix = processors.map_or_else(String::new, |n| format!("-{n}"));
        let shorten = |whole: &str| {
            let name = whole.strip_suffix(&suffix).unwrap_or(whole);
            let name = match (packages.len(), package_length(name)) {
                (1, Some(length)) => &name[length..],
                _ => name,
            };
            name.to_owned()
        };
        let measured = results.measured.iter_mut().map(|result| &mut result.name);
        let without_value = results.without_value.iter_mut().map(|(name, _)| name);
        for name in measured.chain(without_value) {
            // a launch of fewer benchmarks may have one package, or names that end alike
            let spelling = spellings(name)
                .into_iter()
                .find(|spelling| known.iter().any(|known| known == spelling));
            *name = spelling.map_or_else(|| shorten(name), str::to_owned);
        }
        Ok(results)
    }
}

/// A name with and without its package and number of processors.
fn spellings(name: &str) -> [&str; 4] {
    let package = package_length(name).unwrap_or(0);
    let plain = match name.rsplit_once('-') {
        Some((plain, n)) if n.bytes().all(|b| b.is_ascii_digit()) => plain,
        _ => name,
    };
    [name, plain, &name[package..], &plain[package..]]
}
