//! The first page: the run, its reliability, scores, and all results in one drawing.

use super::command::command;
use super::{Brief, name};
use crate::scores::Scale;
use crate::table::Columns;
use crate::{absent, columns, findings, responses, show, words};
use gritstone_document::svg::dots::{self, Dot, Panel};
use gritstone_document::{About, Block, Document, Style, Text, Tile, Tone};
use gritstone_document::{number, svg};
use gritstone_model::{
    Assessment, Better, CompareRow, EnvironmentScore, Estimate, Flag, Measurement, Quantity,
    RunView, Settings,
};
use std::collections::BTreeMap;

/// Lines that fit on a page.
const LINES: usize = 104;
/// Most results whose numbers fit on the page beside their drawing.
const NUMBERED: usize = 20;
/// Selectors of a command that are shown; the environment has all.
const SELECTORS: usize = 8;

/// Run, reliability and scores.
pub(crate) fn head(document: &mut Document, input: &Brief) {
    document.terms(card(input.run));
    document.push(Block::Tiles(tiles(input)));
    document.list(absent::results(input.run));
}

/// The run: system, date, command.
pub(super) fn card(run: &RunView) -> [(&'static str, Text); 11] {
    let fact = |name: &str| run.machine.facts.get(name).map_or("", String::as_str);
    let counted = |n: &str, one: &str| n.parse().map_or(String::new(), |n| words::plural(n, one));
    let several = |n: String| {
        if n.starts_with("1 ") { String::new() } else { n }
    };
    let processor = [
        fact("cpu.model").to_owned(),
        several(counted(fact("cpu.sockets"), "socket")),
        counted(fact("cpu.cores"), "core"),
        counted(fact("cpu.threads"), "thread"),
    ];
    let release = match fact("kernel.release") {
        "" => String::new(),
        release => format!("Linux {release}"),
    };
    let system = [release, fact("system.distribution").to_owned(), fact("system.libc").to_owned()];
    let took = match run.elapsed_s {
        Some(s) => words::duration(s),
        // a document does not print the duration
        None if run.machine.document.is_some() => String::new(),
        None => "not ended".to_owned(),
    };
    let by = match run.gritstone.as_deref() {
        Some(by) if by.starts_with(|c: char| c.is_ascii_digit()) => format!("Gritstone {by}"),
        by => by.unwrap_or_default().to_owned(),
    };
    let joined = |parts: &[String]| {
        let details: Vec<&str> =
            parts.iter().map(String::as_str).filter(|p| !p.is_empty()).collect();
        details.join(", ")
    };
    let terms = [
        ("Processor", joined(&processor)),
        ("Memory", fact("memory.total").to_owned()),
        ("Storage", fact("dir.filesystem").to_owned()),
        ("System", joined(&system)),
        ("Microcode", fact("cpu.microcode").to_owned()),
        ("Virtualization", fact("virtual.machine").to_owned()),
        ("Date", joined(&[words::date(&run.started), took])),
        ("Run", joined(&[run.id.clone(), by])),
        ("Trial", run.settings.as_ref().map_or_else(String::new, trial)),
        ("Samples", words::pruned(run).unwrap_or_default()),
        (
            "Command",
            show::settings_of_ours(run)
                .map_or(String::new(), |settings| command(&run.id, settings, SELECTORS)),
        ),
    ];
    let about = |term| match term {
        "Run" => Some(About::Run(run.id.clone())),
        "Trial" => Some(About::Trial(run.id.clone())),
        "System" => Some(About::System(run.machine.id.clone())),
        _ => None,
    };
    let about = |term| about(term).filter(|_| run.settings.is_some());
    terms.map(|(term, text)| (term, Text::new(text).about(about(term))))
}

fn trial(settings: &Settings) -> String {
    let side = settings.trial.as_ref();
    side.map_or_else(String::new, |side| {
        format!("side {} of {}: {}", side.side, side.trial, side.what)
    })
}

/// Characters of a tile for the reason of a missing score.
const WHY: usize = 80;

fn tiles(input: &Brief) -> Vec<Tile> {
    let results = &input.run.results;
    let without = results.iter().filter(|result| absent::is_absent(result)).count();
    let mut tiles = vec![reliability(&input.parts.assessment, without, results.len())];
    tiles.extend(responses::tiles(input.run));
    if let Some(machine) = input.parts.scores.machines.first() {
        let base = &name(&input.parts.base);
        for scale in Scale::available(machine) {
            let (name, scores) = match scale {
                Scale::Programs(programs) => ("Score, programs", programs),
                Scale::Benchmarks => ("Score", &machine.one_cpu),
            };
            // a run of other benchmarks has no such scores
            let mut all = scores.environments.iter().chain([&scores.overall]);
            if all.all(|score| score.score.is_none()) {
                continue;
            }
            tiles.push(score(name, base, &scores.overall));
            let environments = scores.environments.iter();
            tiles.extend(
                environments.map(|environment| score(&environment.environment, base, environment)),
            );
        }
    }
    tiles
}

/// `without` of `all` benchmarks have no result.
fn reliability(assessment: &Assessment, without: usize, all: usize) -> Tile {
    let cause = |(flag, count): &(Flag, usize)| format!("{count} {}", findings::flagged(*flag));
    let mut causes: Vec<String> = assessment.causes.iter().map(cause).collect();
    if assessment.interrupted {
        causes.push("not ended".to_owned());
    }
    let results = words::plural(assessment.measured, "result");
    let without = match without {
        0 => String::new(),
        n => {
            let [n, of] = [n, all].map(number::count);
            format!("; {n} of {of} benchmarks without a result")
        }
    };
    Tile {
        name: "Reliability".to_owned(),
        value: words::capital(assessment.reliability.as_str()),
        detail: match causes.is_empty() {
            true if assessment.measured == 0 => format!("no results{without}"),
            true => format!("{results}, none in doubt{without}"),
            false => format!("of {results}: {}{without}", causes.join(", ")),
        },
        tone: Some(words::tone(assessment.reliability)),
    }
}

fn score(name: &str, base: &str, score: &EnvironmentScore) -> Tile {
    let name = name.to_owned();
    let Some(value) = score.score else {
        let detail = match score.withheld.as_ref().map(findings::withheld) {
            Some(why) if why.len() > WHY => {
                "not computed: benchmarks are missing or in doubt".to_owned()
            }
            Some(why) => format!("not computed: {why}"),
            None => format!("no benchmark shared with {base}"),
        };
        return Tile { name, value: "–".to_owned(), detail, tone: Some(Tone::Faint) };
    };
    let (value, interval) = words::bare_ratio(value, score.interval);
    let interval = match interval.as_str() {
        "" => String::new(),
        // some media use parentheses
        interval => format!("{}; ", interval.trim_matches(['[', ']'])),
    };
    Tile {
        name,
        value: format!("{value}×"),
        detail: format!(
            "{interval}{} of {}",
            number::count(score.rows.len()),
            words::plural(score.of, "benchmark")
        ),
        tone: None,
    }
}

/// The results of a run that has few, as a table.
pub(super) fn numbers(document: &mut Document, run: &RunView) {
    let mut results = super::results::in_order(&run.results);
    results.retain(|result| result.estimate().is_some());
    if results.len() > NUMBERED {
        return;
    }
    let interval = |r: &&Measurement| r.interval().and(columns::figure(r)?.brackets());
    let flags = |r: &&Measurement| {
        let flags = r.flags_of_estimate().into_iter();
        Some(flags.map(findings::letter).collect::<Vec<_>>().join(" "))
    };
    Columns::<&Measurement>::key("Benchmark", Style::Code, |r| r.id.as_str())
        .text("What", |r| r.title.as_str())
        .number("Result", |r| columns::figure_with_unit(r))
        .number("95% CI", interval)
        .number("±", |r| columns::precision(r).map(number::percent))
        .text("Flags", flags)
        .table(document, "Results with 95% confidence intervals", results);
}

/// A result in the drawing.
struct Drawn<'a> {
    result: &'a Measurement,
    estimate: Estimate,
    against: Option<&'a CompareRow>,
}

/// One drawing of all results; several if they do not fit on a page.
pub(super) fn drawn(document: &mut Document, input: &Brief) {
    let mut results: Vec<Drawn> = vec![];
    for result in super::results::in_order(&input.run.results) {
        if let Some(estimate) = result.estimate().filter(|e| e.value > 0.0) {
            let against = input.ratio(&result.id);
            results.push(Drawn { result, estimate, against });
        }
    }
    let base = name(&input.parts.base);
    for (index, some) in results.chunks(LINES).enumerate() {
        let panels = panels(some, &base);
        let continued = if index > 0 { ", continued" } else { "" };
        let caption =
            format!("All results with 95% confidence intervals{continued}; a ring is in doubt");
        let id = format!("overview-{}", index + 1);
        let figure = svg::figure(dots::draw(&panels), &id, caption, in_words(&panels));
        document.push(Block::Figure(figure));
    }
}

fn panels(results: &[Drawn], base: &str) -> Vec<Panel> {
    let mut panels: BTreeMap<u8, Panel> = BTreeMap::new();
    for drawn in results {
        let (group, label, unit, factor) = match drawn.against {
            Some(_) => (0, format!("× {base}, more is better"), "", 1.0),
            None => kind(drawn.result.unit.quantity(), drawn.result.unit.as_str()),
        };
        let mark = (group == 0).then_some(1.0);
        let empty = || Panel { label, unit: unit.to_owned(), mark, dots: vec![] };
        panels.entry(group).or_insert_with(empty).dots.push(dot(drawn, factor));
    }
    panels.into_values().collect()
}

/// Quantities that share an axis: order, name, unit of the axis, and the factor to it.
fn kind(quantity: Quantity, unit: &str) -> (u8, String, &'static str, f64) {
    let bytes = unit.ends_with("B/s");
    match quantity {
        Quantity::Time { ns } => (1, "Time, less is better".to_owned(), "ns", ns),
        Quantity::Rate { plain } if bytes => {
            (2, "Throughput, more is better".to_owned(), "B/s", plain)
        }
        Quantity::Rate { plain } => (3, "Rates per second, more is better".to_owned(), "", plain),
        Quantity::Share => (4, "Share".to_owned(), "%", 1.0),
        Quantity::Exact if unit == "bytes" => (5, "Size".to_owned(), "bytes", 1.0),
        Quantity::Exact => (6, "Ratio".to_owned(), "", 1.0),
    }
}

fn dot(drawn: &Drawn, factor: f64) -> Dot {
    let result = drawn.result;
    let flags = [Flag::Invalid, Flag::Noisy, Flag::Modes, Flag::Interference];
    let estimate = drawn.estimate;
    let (value, interval) = match drawn.against.and_then(|row| row.ratio) {
        Some(ratio) => {
            // for this result alone
            let speed = |end: f64| match result.better {
                Better::Lower => ratio * estimate.value / end,
                Better::Higher => ratio * end / estimate.value,
            };
            let ends = estimate.interval.map(|ends| ends.map(speed));
            (ratio, ends.map(|[a, b]| [a.min(b), a.max(b)]))
        }
        None => {
            let scaled = estimate.times(factor);
            (scaled.value, scaled.interval)
        }
    };
    Dot {
        name: result.id.to_string(),
        value,
        interval,
        doubtful: result.flags_of_estimate().iter().any(|flag| flags.contains(flag)),
        text: columns::figure_with_unit(result),
        ..Dot::default()
    }
}

/// "× VAX-11/780, more is better: byte/syscall 75.1 ns/call, byte/sieve 10.21 µs/pass."
fn in_words(panels: &[Panel]) -> String {
    let sentences = panels.iter().map(|panel| {
        let dots = panel.dots.iter();
        let dots: Vec<String> = dots.map(|dot| format!("{} {}", dot.name, dot.text)).collect();
        format!("{}: {}.", panel.label, dots.join(", "))
    });
    sentences.collect::<Vec<_>>().join(" ")
}

/// Distinct names of two runs.
pub(super) fn names(runs: [&RunView; 2]) -> [String; 2] {
    let [a, b] = runs.map(|run| &run.machine);
    if a.id != b.id && a.name != b.name {
        return [a.name.clone(), b.name.clone()];
    }
    let label = |run: &RunView| run.label.clone().unwrap_or_else(|| run.id.clone());
    let titles = match runs.iter().any(|run| run.label.is_some()) {
        true => runs.map(label),
        false => runs.map(name),
    };
    match titles {
        [a, b] if a == b => runs.map(|run| format!("{} ({})", name(run), run.id)),
        names => names,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_result_is_in_doubt() {
        let tile = |measured| {
            let assessment = Assessment {
                reliability: gritstone_model::Reliability::Low,
                measured,
                causes: vec![],
                interrupted: false,
            };
            reliability(&assessment, 0, measured)
        };
        assert_eq!(tile(0).detail, "no results");
        assert_eq!(tile(1).detail, "1 result, none in doubt");
    }
}
