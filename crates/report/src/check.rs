//! The outcome of a gate: what `gritstone check` prints.

use crate::table::{Cell, Columns, noted};
use crate::words::Detail;
use crate::{findings, verdicts, words};
use gritstone_document::number;
use gritstone_document::{Block, Column, Document, Style, Text, Tone};
use gritstone_model::CheckOutcome::{Inconclusive, Passed, Regressed};
use gritstone_model::{CheckOutcome, CheckRow, CheckView, Flag, MissingBenchmark};
use std::collections::BTreeMap;

/// Smaller p are not told apart.
const MIN_P: f64 = 0.0001;
/// Differing facts that are named without `-v`.
const MAX_FACTS: usize = 3;
/// Lines of benchmarks; the others are counted.
const MAX_LINES: usize = 3;

/// The outcome in a sentence, the worst benchmarks, and why others are inconclusive. All benchmarks and notes on request.
pub fn check(view: &CheckView, detail: Detail) -> Document {
    let mut document = Document::new(format!("{} against {}", view.run, view.base));
    let compared =
        view.rows.iter().filter(|row| row.row.ratio.is_some() && row.outcome != Regressed);
    let mut smallest = compared.map(|row| row.row.smallest);
    let is_known = smallest.clone().all(|smallest| smallest.is_some());
    let detectable = is_known.then(|| verdicts::detectable(&mut smallest, ""));
    let required = view
        .detect
        .map(number::percent_option)
        .map(|share| format!(" A slowdown of {share} must be detectable in each."));
    let verdict = format!(
        "{}: {}.{}{}",
        words::capital(view.outcome.as_str()),
        check_counts(view),
        detectable.flatten().unwrap_or_default(),
        required.unwrap_or_default(),
    );
    let verdict = match (view.differ_in.is_empty(), detail) {
        (true, _) => verdict,
        (_, Detail::Results) if view.differ_in.len() > MAX_FACTS => {
            let n = words::plural(view.differ_in.len(), "fact");
            format!("{verdict} The configurations differ in {n}.")
        }
        _ => {
            let facts = words::facts(&view.differ_in);
            format!("{verdict} The configurations differ in {facts}.")
        }
    };
    document.paragraph(Text::new(verdict).toned(Some(tone(view.outcome))));
    if let Some(common) = &view.common {
        document.paragraph(findings::common_change(common));
    }
    table_of_failed(&mut document, view.rows.iter().filter(|row| is_failed(row)));
    table_of_missing(&mut document, &view.missing);
    if view.rows.iter().any(|row| row.since.is_some()) {
        document.paragraph("`gritstone check --accept BENCHMARK` accepts a new level.");
    }
    match detail {
        Detail::Results => {
            let is_shown = |row: &&CheckRow| row.outcome != Passed && row.row.ratio.is_some();
            let worst: Vec<&CheckRow> = view.rows.iter().filter(is_shown).collect();
            let shown = worst.len().min(MAX_LINES);
            table(&mut document, &worst[..shown], view.detect.is_some());
            let more = worst.len() - shown;
            let more = (more > 0).then(|| format!("{} more like these", number::count(more)));
            let rest: Vec<String> = more.into_iter().chain(reason(view)).collect();
            if !rest.is_empty() {
                document.paragraph(format!("{}: add -v.", rest.join(", ")));
            }
        }
        _ => {
            table(&mut document, &view.rows.iter().collect::<Vec<_>>(), view.detect.is_some());
            document.push(Block::Footnotes);
        }
    }
    document
}

/// How many benchmarks have which outcome.
pub fn check_counts(view: &CheckView) -> String {
    let count = |outcome| view.rows.iter().filter(|row| row.outcome == outcome).count();
    let failed = view.rows.iter().filter(|row| is_failed(row)).count();
    let slower = match count(Regressed) - failed {
        0 => "none shown to be".to_owned(),
        some => number::count(some),
    };
    let if_any = |n: usize, what: &str| match n {
        0 => String::new(),
        n => format!(", {} {what}", number::count(n)),
    };
    format!(
        "of {} {slower} slower by more than {}{}, {} inconclusive, {} passed{}",
        words::plural(view.rows.len(), "benchmark"),
        number::percent_option(view.max_slowdown),
        if_any(failed, "failed"),
        number::count(count(Inconclusive)),
        number::count(count(Passed)),
        if_any(view.missing.len(), "missing"),
    )
}

/// When a regression began, with the commit if it is known.
pub fn check_since(row: &CheckRow) -> Option<String> {
    let minute = words::minute(row.since.as_deref()?);
    Some(match row.since_commit.as_deref() {
        Some(commit) => format!("{minute}, {}", commit.get(..10).unwrap_or(commit)),
        None => minute,
    })
}

pub(crate) fn tone(outcome: CheckOutcome) -> Tone {
    match outcome {
        Passed => Tone::Good,
        Regressed => Tone::Bad,
        Inconclusive => Tone::Doubt,
    }
}

fn table(document: &mut Document, rows: &[&CheckRow], with_detectable: bool) {
    let change =
        |row: &CheckRow| Some(words::change(row.row.better, row.row.ratio?, row.row.interval));
    let p = |p: f64| match p < MIN_P {
        true => format!("< {MIN_P}"),
        false => number::significant(p, 2),
    };
    Columns::<&CheckRow>::key("Benchmark", Style::Code, |row| row.row.id.as_str())
        .text("Outcome", |row| {
            let outcome = Cell::from(row.outcome.as_str()).toned(Some(tone(row.outcome)));
            noted(outcome, &row.row.notes)
        })
        .number("Change", move |row| change(row).map(|(change, _)| change))
        .number("Interval", move |row| change(row).and_then(|(_, interval)| interval))
        .number("Expected", |row| verdicts::side(row.row.base, &row.row.unit))
        .number("Found", |row| verdicts::side(row.row.other, &row.row.unit))
        .column(Column::new("Since", Style::Text).rank(2), |row| check_since(row))
        .number("p", move |row| row.row.p_adjusted.filter(|_| !with_detectable).map(p))
        .number("Detectable", move |row| {
            row.row.smallest.filter(|_| with_detectable).map(verdicts::minimum_detectable)
        })
        .table(document, "", rows.iter().copied());
}

/// It has no result, or a wrong one.
fn is_failed(row: &CheckRow) -> bool {
    row.outcome == Regressed && row.row.ratio.is_none()
}

fn table_of_failed<'r>(document: &mut Document, rows: impl Iterator<Item = &'r CheckRow>) {
    let reason = |row: &CheckRow| {
        let reasons: Vec<String> = row.row.notes.iter().map(findings::message).collect();
        reasons.join(" ")
    };
    Columns::<&CheckRow>::key("Failed", Style::Code, |row| row.row.id.as_str())
        .text("Reason", move |row| reason(row))
        .table(document, "", rows);
}

fn table_of_missing(document: &mut Document, missing: &[MissingBenchmark]) {
    Columns::<&MissingBenchmark>::key("Missing", Style::Code, |missing| missing.id.as_str())
        .text("Reason", |missing| missing_reason(missing))
        .table(document, "", missing);
}

/// Of a benchmark that a run lacks.
pub fn missing_reason(missing: &MissingBenchmark) -> String {
    let measured = words::plural(missing.runs, "run");
    let why = missing.notes.iter().map(findings::message);
    let why = why.chain([format!("{measured} of the same selection measured it.")]);
    why.collect::<Vec<_>>().join(" ")
}

/// Why most of those are inconclusive that could not be compared at all.
fn reason(view: &CheckView) -> Option<String> {
    let not_compared =
        view.rows.iter().filter(|row| row.row.ratio.is_none() && row.outcome == Inconclusive);
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for row in not_compared {
        let find_note = |flag| row.row.notes.iter().find(|note| note.flag() == Some(flag));
        let reason = match (find_note(Flag::NotComparable), find_note(Flag::Interference)) {
            (Some(note), _) => findings::message(note),
            (None, Some(_)) => "interference".to_owned(),
            (None, None) => "not measured on both sides".to_owned(),
        };
        *reasons.entry(reason).or_default() += 1;
    }
    let (reason, n) = reasons.into_iter().max_by_key(|(_, n)| *n)?;
    let reason = reason.trim_end_matches('.');
    Some(format!("{} not compared ({reason})", number::count(n)))
}
