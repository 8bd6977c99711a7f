//! A run or a reference system as `gritstone show` and the end of `gritstone run` print it: a line for each result, and more on
//! request.

use crate::columns::{self, Col, Strays};
use crate::copies::copies;
use crate::counters::counters;
use crate::pairs::Pairs;
use crate::table::{self, Columns};
use crate::words::Detail;
use crate::{findings, responses, words};
use gritstone_document::{Block, Document, Style, Text, listed};
use gritstone_document::{number, sparkline};
use gritstone_model::{
    Contention, Finding, Machine, Measurement, PartValue, RunView, SeriesPoint, Settings, flags,
};

/// Most names of a result in a list; JSON has all.
const NAMES_SHOWN: usize = 12;

/// Columns of a result, and of a printed one.
const RESULTS: [Col; 7] = {
    use Col::*;
    [Id, Figure, Unit, Bounds, PlusMinus, OfRuns, Title]
};
const MEASUREMENT: [Col; 7] = {
    use Col::*;
    [Launches, Samples, Cycles, Ghz, Min, Median, Max]
};
const WORKLOAD: [Col; 6] = {
    use Col::*;
    [Real, User, System, Cpu, Process, Work]
};

/// A run or a reference system: its head, a line for each result, and a summary of its flags.
pub fn show(view: &RunView, detail: Detail) -> Document {
    let name = name(view);
    let mut document = Document::new(match &view.label {
        Some(label) => format!("{label}: {name}"),
        None => name.to_owned(),
    });
    document.without_advice = other_program(view).is_some();
    let system = system_in_brief(&view.machine);
    document.subtitle = Some(format!("{}{system}", subtitle(view)));
    let peer = view.settings.as_ref().and_then(|s| s.peer.as_ref());
    if let Some(peer) = peer {
        document.paragraph(format!("Far ends on {}.", words::peer(peer)));
    }
    if detail == Detail::Everything {
        document.paragraph(machine_sentence(&view.machine));
        document.terms(settings_of_ours(view).into_iter().flat_map(settings));
    }
    document.list(responses::headlines(view));
    let (unreached, results): (Vec<&Measurement>, Vec<&Measurement>) =
        view.results.iter().partition(|result| result.is_unreached());
    if results.is_empty() {
        document.paragraph("Nothing was measured.");
    }
    let printed = view.machine.document.is_some();
    let mut cols = RESULTS.to_vec();
    match (printed, detail) {
        (true, _) => cols.extend(WORKLOAD),
        (false, Detail::Results) => {}
        (false, _) => cols.extend(MEASUREMENT),
    }
    let strays = match printed {
        true => Strays::AtTheName,
        // shown only on request
        false => Strays::PublishedElsewhere,
    };
    let table = columns::table(&mut document, "", &results, &cols, strays);
    document.table(table);
    if detail == Detail::Everything {
        if !printed {
            workloads(&mut document, &results);
        }
        details(&mut document, &results);
    } else {
        copies(&mut document, &results);
    }
    if !results.is_empty() && !printed {
        document.paragraph(summary(view));
    }
    if let Some(sentence) = unreached_sentence(view, &unreached) {
        document.paragraph(sentence);
    }
    document.push(Block::Footnotes);
    document
}

/// The reference workloads of those results that have one.
pub(crate) fn workloads(document: &mut Document, results: &[&Measurement]) {
    let with = results.iter().filter(|r| r.published.is_some());
    let with: Vec<&Measurement> = with.copied().collect();
    let mut cols = vec![Col::Id];
    cols.extend(WORKLOAD);
    let caption = "Reference workloads";
    let table = columns::table(document, caption, &with, &cols, Strays::AtTheName);
    if table.columns.len() > 1 {
        document.table(table);
    }
}

/// Scope of the intervals: the run, or also the runs of its system.
pub(crate) fn interval_scope<'a>(results: impl Iterator<Item = &'a Measurement>) -> String {
    let known = results.filter_map(|r| r.of_runs.filter(|spread| spread.half_width.is_some()));
    match known.map(|spread| spread.runs).max() {
        Some(runs) => format!("this run, ± of runs is of runs of this system ({runs})"),
        None => "this run".to_owned(),
    }
}

/// "30 of 32 measured; 25 of them to ±2%, 3 flagged."
fn summary(view: &RunView) -> String {
    let measured = view.results.iter().filter(|r| r.estimate().is_some());
    let flagged = measured.clone().filter(|r| !flags(&r.notes).is_empty());
    let reached = settings_of_ours(view).map_or_else(String::new, |s| {
        let half = |r: &&Measurement| r.estimate().and_then(|e| e.half_width());
        let narrow = measured.clone().filter(|r| half(r).is_some_and(|half| half <= s.precision));
        format!(
            "; {} of them to ±{}",
            number::count(narrow.count()),
            number::percent_option(s.precision)
        )
    });
    let mut notes = view.results.iter().flat_map(|result| &result.notes);
    let unobserved = notes.any(|note| note.finding == Finding::InterferenceUnobserved {});
    format!(
        "{} of {} measured{reached}, {} flagged. Intervals are of {}.{}{}",
        number::count(measured.clone().count()),
        words::plural(view.results.len(), "benchmark"),
        number::count(flagged.count()),
        interval_scope(measured),
        view.contention.as_ref().map(contention).unwrap_or_default(),
        if unobserved { " Interference could not be observed." } else { "" },
    )
}

/// Benchmarks that the budget did not reach, and how to measure them.
fn unreached_sentence(view: &RunView, unreached: &[&Measurement]) -> Option<String> {
    if unreached.is_empty() {
        return None;
    }
    let ids: Vec<&str> = unreached.iter().map(|result| result.id.as_str()).collect();
    let named = listed(&ids, 1);
    let notes = unreached.iter().flat_map(|result| &result.notes);
    let needed = notes.filter_map(|note| match note.finding {
        Finding::NotReached { budget_s } => budget_s,
        _ => None,
    });
    let budget = settings_of_ours(view).and_then(|settings| settings.budget_s);
    Some(match needed.max_by(f64::total_cmp).zip(budget) {
        Some((needed, budget)) if view.elapsed_s.is_some() => format!(
            "{} did not fit into {}: {named}. All fit into --budget {}m.",
            words::plural(unreached.len(), "benchmark"),
            words::duration(budget),
            (needed / 60.0).ceil()
        ),
        _ => format!("{} not measured: {named}.", words::plural(unreached.len(), "benchmark")),
    })
}

/// " Contention: 18% (0 to 41%), siblings busy 43% of the time, steal 0.3%."
fn contention(contention: &Contention) -> String {
    let percent = number::percent;
    let [low, high] = contention.between.map(percent);
    let siblings = contention.siblings_busy.map_or_else(String::new, |share| {
        format!(", siblings busy {} of the time", percent(share))
    });
    let steal =
        contention.steal.map_or_else(String::new, |steal| format!(", steal {}", percent(steal)));
    let course = match contention.course.is_empty() {
        true => String::new(),
        false => {
            let course: Vec<Option<f64>> = contention.course.iter().copied().map(Some).collect();
            format!(" {}", sparkline::line(&course))
        }
    };
    format!(
        " Contention: {} ({low} to {high}){siblings}{steal}{course}.",
        percent(contention.slowdown),
    )
}

/// Details beside the main table: parts and names, percentiles, curves.
pub(crate) fn details(document: &mut Document, results: &[&Measurement]) {
    let parts = results.iter().filter_map(|r| parts(r));
    document.list(parts);
    let distributed = |r: &&&Measurement| {
        let statistics = r.statistics();
        statistics.is_some_and(|s| r.is_published() || !s.percentiles.is_empty())
    };
    let distributions: Vec<&Measurement> = results.iter().filter(distributed).copied().collect();
    let percentiles = columns::percentiles(&distributions).into_iter();
    let mut cols = vec![Col::Id, Col::Min, Col::Median, Col::Mean, Col::Max];
    cols.extend(percentiles.map(Col::Percentile));
    let caption = "Distribution";
    let table = columns::table(document, caption, &distributions, &cols, Strays::AtTheName);
    document.table(table);
    for result in results {
        series(document, result);
        responses::table(document, result);
        if let Some(table) = Pairs::new(result).and_then(|pairs| pairs.table()) {
            document.table(table);
        }
    }
    counters(document, results);
    copies(document, results);
}

/// The curve of a benchmark, as a table.
fn series(document: &mut Document, result: &Measurement) {
    let Some(curve) = &result.curve else {
        return;
    };
    let notes: Vec<_> = result.notes.iter().map(|f| findings::footnote(document, f)).collect();
    let caption = Text::new(format!("{}: {}", result.id, result.title)).with(notes);
    let label = words::capital(&curve.label);
    let x = |point: &&SeriesPoint| number::printed(point.x, 0);
    let unit = result.unit.as_str();
    let percentile = |name: &'static str| {
        move |point: &&SeriesPoint| responses::point_percentile(point, name, unit)
    };
    Columns::<&SeriesPoint>::key(label, Style::Number, x)
        .pair(["Result", "Interval"], |point| {
            let shown = point.estimate.map(|e| number::figure(e.value, e.interval, unit));
            table::figure(shown, &[])
        })
        .number("CPUs in use", |point| point.cpus.map(|cpus| format!("{cpus:.2}")))
        .number("p50", percentile("p50"))
        .number("p90", percentile("p90"))
        .number("p95", percentile("p95"))
        .number("p99", percentile("p99"))
        .number("p99.9", percentile("p99.9"))
        .table(document, caption, &curve.points);
}

fn parts(result: &Measurement) -> Option<String> {
    if let Some(pairs) = Pairs::new(result) {
        // a table has it, if that fits
        return pairs.table().is_none().then(|| pairs.sentence());
    }
    let part = |part: &PartValue| {
        let value = number::figure(part.value, None, result.unit.as_str()).with_unit();
        format!("{} {value}", findings::part(&part.part))
    };
    let parts: Vec<String> = result.parts().iter().map(part).collect();
    let mut lists = vec![parts.join(", ")];
    if !result.names().is_empty() {
        lists.push(format!("names: {}", listed(result.names(), NAMES_SHOWN)));
    }
    lists.retain(|list| !list.is_empty());
    (!lists.is_empty()).then(|| format!("{}: {}", result.id, lists.join("; ")))
}

/// Name of the machine, or its identifier.
pub(crate) fn name(view: &RunView) -> &str {
    let name = view.machine.name.trim();
    if name.is_empty() { &view.id } else { name }
}

/// Place, date and duration.
pub(crate) fn subtitle(view: &RunView) -> String {
    let date = words::date(&view.started);
    if let Some(document) = &view.machine.document {
        return format!("{}, published in {document}, {date}", view.id);
    }
    let took = match view.elapsed_s {
        // another program does not report the duration
        Some(0.0) => String::new(),
        Some(s) => format!(", in {}", words::duration(s)),
        None => ", not ended".to_owned(),
    };
    let by = other_program(view).map_or_else(String::new, |by| format!(", by {by}"));
    let pruned = words::pruned(view).map_or_else(String::new, |pruned| format!(", {pruned}"));
    format!("Run {}, {date}{took}{by}{pruned}", view.id)
}

/// "vm (AMD EPYC). 2 cores, 23.5 GiB, KVM, Linux 6.18.44, ext4 on /dev/vda".
pub fn machine_line(machine: &Machine) -> String {
    format!("{}{}", machine.name.trim(), system_in_brief(machine))
}

/// ". 2 cores, 23.5 GiB, KVM, Linux 6.18.44, ext4 on /dev/vda": the known facts with most influence on results.
fn system_in_brief(machine: &Machine) -> String {
    let fact = |name: &str| machine.facts.get(name).map_or("", String::as_str);
    let with = |before: &str, fact: &str| match fact {
        "" => String::new(),
        fact => format!("{before}{fact}"),
    };
    let cores = fact("cpu.cores").parse().ok();
    let parts = [
        cores.map_or(String::new(), |n| words::plural(n, "core")),
        fact("memory.total").to_owned(),
        fact("virtual.machine").to_owned(),
        with("Linux ", fact("kernel.release")),
        fact("dir.filesystem").to_owned(),
    ];
    let known: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    with(". ", &known.join(", "))
}

fn other_program(view: &RunView) -> Option<&str> {
    gritstone_model::other_program(view.gritstone.as_deref()?)
}

pub(crate) fn settings_of_ours(view: &RunView) -> Option<&Settings> {
    view.settings.as_ref().filter(|_| other_program(view).is_none())
}

/// Name, system and configuration.
pub(crate) fn machine_sentence(machine: &Machine) -> String {
    let mut parts =
        [&machine.name, &machine.system, &machine.configuration].map(|p| p.trim()).to_vec();
    parts.retain(|part| !part.is_empty());
    match parts.as_slice() {
        [] => "No facts about the system are recorded.".to_owned(),
        parts => format!("{}.", parts.join("; ").trim_end_matches('.')),
    }
}

/// Settings by name.
fn settings(s: &Settings) -> [(&'static str, String); 12] {
    let copies: Vec<String> = s.copies.iter().map(u32::to_string).collect();
    let copies = match copies.join(", ") {
        none if none.is_empty() => none,
        // equal on all levels, so shown once
        numbers => {
            format!("{numbers} in addition to one, of single-CPU workloads")
        }
    };
    let measured = match (&s.suite, s.selectors.join(" ")) {
        (Some(suite), none) if none.is_empty() => format!("suite {suite}"),
        (Some(suite), selectors) => format!("suite {suite} {selectors}"),
        (None, none) if none.is_empty() => "everything".to_owned(),
        (None, selectors) => selectors,
    };
    let quick = if s.quick { "six of each" } else { "" };
    let budget = s.budget_s.map(words::duration).unwrap_or_default();
    let reference = if s.reference { "measured" } else { "" };
    let precision = number::percent_option(s.precision);
    [
        ("measured", measured),
        ("launches", quick.to_owned()),
        ("budget", budget),
        ("reference workloads", reference.to_owned()),
        ("target precision", format!("±{precision}")),
        ("files in", s.dir.clone()),
        ("shuffle seed", s.seed.to_string()),
        (
            "commit",
            s.commit.as_ref().map_or_else(String::new, |commit| {
                let branch = commit.branch.as_ref().map(|branch| format!(" on {branch}"));
                format!("{}{}", commit.id, branch.unwrap_or_default())
            }),
        ),
        ("environment", words::assigned(&s.environment)),
        ("parameters", words::assigned(&s.params)),
        ("copies at once", copies),
        ("tuned", s.tuned.join("; ")),
    ]
}
