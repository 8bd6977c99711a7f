//! One result in full: what `gritstone show RUN BENCHMARK` prints.

use crate::show::{details, machine_sentence, subtitle, workloads};
use crate::{columns, findings, latencies, words};
use gritstone_document::Document;
use gritstone_document::{number, sparkline};
use gritstone_model::{Conditions, Event, Launch, Measurement, Param, RunView, in_order};

/// Fewest and most bins of a histogram: one for two values.
const PARTS: [usize; 2] = [5, 30];
/// Of interference that is drawn.
const MIN_SHARE: f64 = 0.005;

/// A result of a run: its numbers, its launches as drawings, its reference workload and all its notes. `launches` are those of the
/// benchmark, in order of time, if the run has them.
pub fn one(view: &RunView, result: &Measurement, launches: &[&Launch]) -> Document {
    let mut document = Document::new(format!("{}: {}", result.id, result.title));
    document.subtitle = Some(subtitle(view));
    document.terms(numbers(result));
    document.terms(drawings(result).into_iter().chain(interference(launches)));
    workloads(&mut document, &[result]);
    details(&mut document, &[result]);
    latencies::distribution(&mut document, result);
    let input = params(launches).find_map(|param| match param {
        Param::Input(text) => Some(text),
        _ => None,
    });
    document.terms([
        ("machine", machine_sentence(&view.machine)),
        ("program", program(result)),
        ("input", input.cloned().unwrap_or_default()),
        ("peak memory", peak_memory(launches)),
    ]);
    let notes = in_order(result.notes.clone());
    document.terms(notes.iter().map(|note| {
        let letter = note.flag().map_or("note", findings::letter);
        (letter.to_owned(), findings::message(note))
    }));
    document
}

/// Columns of a line of a result with its interval.
const WHOLE_LINE: usize = 80;

/// A result in one line, during a run: `byte/pipe  520 MB/s  [495 – 565]  ±7%`; empty without an interval, which is left out on a narrow
/// terminal.
pub fn line(result: &Measurement, width: usize) -> Option<String> {
    let shown = columns::figure(result)?;
    let (interval, half) = (shown.brackets()?, columns::precision(result)?);
    let id = result.id.as_str();
    let (estimate, half) = (shown.with_unit(), number::percent(half));
    let interval = match width >= WHOLE_LINE {
        true => format!("{interval:<18}  "),
        false => String::new(),
    };
    Some(format!("{id:<28}  {estimate:>20}  {interval}±{half}"))
}

fn numbers(r: &Measurement) -> Vec<(&'static str, String)> {
    let shown = columns::figure(r);
    let estimate = shown.as_ref().map_or_else(String::new, number::Shown::with_unit);
    let interval = shown.and_then(|shown| shown.brackets());
    let half = columns::precision(r).map(|half| format!("±{}", number::percent(half)));
    let level =
        r.confidence().map(|level| format!("{} CI of this run", number::percent_option(level)));
    let runs = r.of_runs.map_or_else(String::new, |spread| {
        let half = spread.half_width.map(|half| format!("±{}", number::percent(half)));
        let earlier = words::plural(spread.runs, "earlier run");
        half.map_or_else(
            || format!("not known yet, {earlier} without interference"),
            |half| format!("{half}, {earlier}"),
        )
    });
    let interval = [interval, half, level].into_iter().flatten();
    let interval = interval.collect::<Vec<_>>().join("  ");
    let cycles = r.cycles().map(|c| number::count_of(c.value, c.interval, 3));
    let ghz = r.ghz().map(|ghz| format!("at {} GHz", number::fixed(ghz, 2)));
    let cycles = [cycles, ghz].into_iter().flatten().collect::<Vec<_>>();
    let launches = match r.launches() {
        0 => String::new(),
        n => format!("{}, {}", words::plural(n, "launch"), words::plural(r.samples(), "sample")),
    };
    let interval = if r.interval().is_some() { interval } else { String::new() };
    vec![
        ("result", estimate),
        ("interval", interval),
        ("runs of this system", runs),
        ("core cycles", cycles.join(" ")),
        ("measured in", launches),
        ("measured is", r.measured.clone().unwrap_or_default()),
    ]
}

/// The values of the launches: distribution and time course.
fn drawings(r: &Measurement) -> Vec<(&'static str, String)> {
    if r.values().len() < 2 {
        return vec![];
    }
    let unit = r.unit.as_str();
    let low = r.values().iter().copied().fold(f64::INFINITY, f64::min);
    let high = r.values().iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let [low, high] = [low, high].map(|end| number::at_most(end, unit, 4));
    let parts = (r.values().len() / 2).clamp(PARTS[0], PARTS[1]);
    let over_time: Vec<Option<f64>> = r.values().iter().map(|v| Some(*v)).collect();
    let drift = r.statistics().and_then(|s| s.drift);
    let drift =
        drift.map_or_else(String::new, |drift| format!("  drift {}", number::percent(drift)));
    vec![
        ("distribution", format!("{low} {} {high}", sparkline::distribution(r.values(), parts))),
        ("over time", format!("{}{drift}", sparkline::line(&over_time))),
    ]
}

/// Interference during each launch, as shares of the time of its CPUs.
fn interference(launches: &[&Launch]) -> Vec<(&'static str, String)> {
    let shares_of = |what: fn(&Conditions) -> Option<u64>| -> Vec<Option<f64>> {
        let share = |launch: &&Launch| {
            let conditions = &launch.conditions;
            let time = conditions.wall.max(1) as f64 * f64::from(conditions.cpus.max(1));
            Some(what(conditions)? as f64 / time)
        };
        launches.iter().map(share).collect()
    };
    let causes = [
        ("other processes", shares_of(|c| Some(c.others?.saturating_sub(c.grain.unwrap_or(0))))),
        ("steal time", shares_of(|c| c.steal)),
        ("throttled", shares_of(|c| c.throttled)),
    ];
    let drawn = causes.into_iter().filter_map(|(name, shares)| {
        let most = shares.iter().flatten().copied().max_by(f64::total_cmp)?;
        let drawing = sparkline::scaled(&shares, 0.0, most.max(1.0));
        (most >= MIN_SHARE).then(|| (name, format!("{drawing}  up to {}", number::percent(most))))
    });
    drawn.collect()
}

fn params<'a>(launches: &'a [&Launch]) -> impl Iterator<Item = &'a Param> {
    let events = launches.iter().flat_map(|launch| &launch.events);
    events.filter_map(|event| match event {
        Event::Param(param) => Some(param),
        _ => None,
    })
}

/// Largest peak memory of a process of a command.
fn peak_memory(launches: &[&Launch]) -> String {
    let kb = params(launches).filter_map(|param| match param {
        Param::PeakMemory(kib) => Some(*kib),
        _ => None,
    });
    let shown = |kb: u64| number::at_most(kb as f64 * 1024.0 / 1e6, "MB", 3);
    kb.max().map_or_else(String::new, shown)
}

fn program(r: &Measurement) -> String {
    r.program.as_ref().map_or_else(String::new, |program| {
        let hash = program.hash.get(..12).unwrap_or(&program.hash);
        let parts = [&program.compiler, &program.flags].map(|part| part.trim().to_owned());
        let mut parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.push(format!("SHA-256 {hash}"));
        parts.join(", ")
    })
}
