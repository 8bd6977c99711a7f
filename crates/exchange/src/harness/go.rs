//! Go's `testing`: the text of `go test -bench`, or of a test binary (`go test -c`).

use super::{
    Execution, Harness, HarnessError, HarnessFile, HarnessResult, Invocation, Output, Results,
    any_of, argv, direction, malformed, place,
};
use std::collections::BTreeSet;
use std::path::Path;

pub(super) struct Go;

/// It reports no spread of its own.
const REPETITIONS: u32 = 3;

/// Name of the function, of which the filter's first element is an expression.
fn function(name: &str) -> &str {
    let name = name.rsplit_once(':').map_or(name, |(_, name)| name);
    name.split('/').next().unwrap_or(name)
}

/// A benchmark's line: name, iterations, metrics.
fn benchmark(line: &str) -> Option<(&str, Vec<&str>)> {
    let mut words = line.split_whitespace();
    let name = words.next().filter(|name| name.starts_with("Benchmark"))?;
    words.next()?.parse::<u64>().ok()?;
    Some((name, words.collect()))
}

/// The number of processors that `testing` appends to all names, unless it is 1.
fn processors<'a>(mut names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let suffix = |name: &'a str| {
        let (_, n) = name.rsplit_once('-')?;
        n.bytes().all(|b| b.is_ascii_digit()).then_some(n)
    };
    let first = suffix(names.next()?)?;
    names
        .all(|name| suffix(name) == Some(first))
        .then_some(first)
}

impl Harness for Go {
    fn name(&self) -> &'static str {
        "go"
    }

    fn title(&self) -> &'static str {
        "Go's testing"
    }

    fn invocation(&self, execution: &Execution<'_>) -> Invocation {
        let program = execution.command.first().map(Path::new);
        let is_go = program.and_then(Path::file_stem) == Some("go".as_ref());
        let prefix = if is_go { "-" } else { "-test." };
        let functions: BTreeSet<&str> =
            execution.wanted.iter().map(|name| function(name)).collect();
        let wanted = match functions.is_empty() {
            true => ".".to_owned(),
            false => any_of(functions),
        };
        let time = execution.time / REPETITIONS;
        let more = [
            format!("{prefix}run=^$"),
            format!("{prefix}bench={wanted}"),
            format!("{prefix}benchtime={}ns", time.as_nanos().max(1)),
            format!("{prefix}count={REPETITIONS}"),
        ];
        Invocation {
            argv: argv(execution.command, more),
            environment: vec![],
            output: Output::Stdout,
        }
    }

    /// Times, or the first metric of a benchmark that reports none. Other lines are of the program. Of several packages, names begin
    /// with theirs.
    fn parse(&self, files: &[HarnessFile]) -> Result<Vec<HarnessResult>, HarnessError> {
        let lines = || files.iter().flat_map(|file| file.text.lines());
        let packages: BTreeSet<&str> = lines()
            .filter_map(|line| line.strip_prefix("pkg: "))
            .collect();
        let processors = processors(lines().filter_map(|line| Some(benchmark(line)?.0)));
        let suffix = processors.map_or_else(String::new, |n| format!("-{n}"));
        let mut results = Results::default();
        for file in files {
            let mut package = "";
            for (number, line) in file.text.lines().enumerate() {
                if let Some(named) = line.strip_prefix("pkg: ") {
                    package = named;
                }
                let Some((name, metrics)) = benchmark(line) else {
                    continue;
                };
                let (metrics, _) = metrics.as_chunks::<2>();
                let time = metrics.iter().find(|[_, unit]| *unit == "ns/op");
                let Some([value, unit]) = time.or(metrics.first()) else {
                    continue;
                };
                let at = || format!("{} line {}", place(file), number + 1);
                let value = value.parse();
                let value = value.map_err(|why| malformed(at(), format!("{line}: {why}")))?;
                let name = name.strip_suffix(&suffix).unwrap_or(name);
                let name = match packages.len() {
                    0 | 1 => name.to_owned(),
                    _ => format!("{package}:{name}"),
                };
                results.add(&name, unit, direction(unit), value, at)?;
            }
        }
        results.finish(self.title())
    }
}
