//! Comparison of head and base: what `gritstone pr` prints.

use crate::check::tone;
use crate::table::{Cell, Columns};
use crate::words::Sense;
use crate::{verdicts, words};
use gritstone_document::number;
use gritstone_document::{Column, Document, Style, Text};
use gritstone_model::{PrCounter, PrQuantity, PrRow, PrSide, PrView, Verdict};
use gritstone_stats::interim::MIN_PAIRS;

/// Largest effect of code layout between builds: docs/validation.md, "Layout of the code".
const LAYOUT: f64 = 0.1;
/// Executions of each side that decide where counts agree.
const COUNTED_ROUNDS: usize = 2;
/// Characters of an abbreviated commit.
const SHORT_COMMIT: usize = 12;

/// The outcome in a sentence, then all benchmarks.
pub fn pr(view: &PrView) -> Document {
    let mut document = Document::new("Head against base");
    document.terms([("base", side(&view.base)), ("head", side(&view.head))]);
    document.paragraph(Text::new(pr_verdict(view)).toned(Some(tone(view.outcome))));
    rows(&mut document, view);
    document.list(pr_remarks(view));
    document
}

/// A verdict in the word for what a benchmark measures.
pub fn pr_word(row: &PrRow, verdict: Verdict) -> &'static str {
    verdicts::in_a_word(verdict, Sense::for_unit(&row.unit))
}

pub(crate) fn side(side: &PrSide) -> String {
    let commit: String = side.commit.chars().take(SHORT_COMMIT).collect();
    let modified = if side.modified { " with changes" } else { "" };
    match side.commit.starts_with(&side.revision) {
        true => format!("{commit}{modified}"),
        false => format!("{commit}{modified} ({})", side.revision),
    }
}

/// The outcome in a sentence.
pub fn pr_verdict(view: &PrView) -> String {
    let outcome = words::capital(view.outcome.as_str());
    let counted = view.quantity == PrQuantity::Instructions;
    if view.identical {
        return format!(
            "{outcome}: base and head have identical programs, so nothing was measured."
        );
    }
    let count = |which: fn(&PrRow) -> bool| view.rows.iter().filter(|row| which(row)).count();
    let benchmarks = words::plural(view.rows.len(), "benchmark");
    let regressed = count(|row| row.regressed);
    let within =
        |row: &PrRow| row.verdict == Verdict::Slower && !row.regressed && !row.is_uncertain();
    let others = [
        (count(PrRow::is_uncertain), "probably so"),
        (count(within), if counted { "more within the limit" } else { "slower within the limit" }),
        (count(|row| row.verdict == Verdict::Faster), if counted { "fewer" } else { "faster" }),
        (count(|row| row.verdict == Verdict::Inconclusive), "inconclusive"),
        (count(|row| row.verdict == Verdict::Same), "the same"),
    ];
    let others = others.into_iter().filter(|(n, _)| *n > 0);
    let others: Vec<String> =
        others.map(|(n, what)| format!("{} {what}", number::count(n))).collect();
    let allowed = number::percent_option(view.max_slowdown);
    let regressed = number::count(regressed);
    let (outcome, regressed) = match counted {
        false => (
            outcome,
            match view.rows.iter().all(|row| row.margin == view.max_slowdown) {
                true => format!("{regressed} slower by an estimated {allowed} or more"),
                false => format!("{regressed} slower by an estimate beyond its margin"),
            },
        ),
        true => (
            format!("{outcome} by instructions, not by time"),
            format!("{regressed} more by over {allowed}"),
        ),
    };
    let all: Vec<String> = [regressed].into_iter().chain(others).collect();
    let open = view.rows.iter().filter(|row| is_open(row));
    let detectable = verdicts::detectable(open.map(|row| row.smallest), " inconclusive");
    let detectable = detectable.filter(|_| !counted);
    let detectable = detectable.unwrap_or_default();
    format!("{outcome}: of {benchmarks} {}.{detectable}", all.join(", "))
}

/// Remarks that the table does not show.
pub fn pr_remarks(view: &PrView) -> Vec<String> {
    let mut remarks: Vec<String> = view.reason.iter().map(|reason| format!("{reason}.")).collect();
    for (name, side) in [("base", &view.base), ("head", &view.head)] {
        if let Some(failure) = &side.failure {
            remarks.push(format!("{name} failed: {}", shortened(failure)));
        }
    }
    for unmatched in &view.unmatched {
        let only = unmatched.only.as_str();
        let name = &unmatched.name;
        remarks.push(match &unmatched.why {
            Some(why) => format!("{name} has a value in the {only} alone, and was not compared: {why}."),
            None => format!(
                "{name} is a benchmark of the {only} alone, and was not compared; --carry takes the files of benchmarks from the head to the base."
            ),
        });
    }
    for lost in &view.without_value {
        let (name, why) = (&lost.name, &lost.why);
        remarks.push(match lost.only {
            None => format!("{name} was not compared: {why}."),
            Some(side) => {
                format!(
                    "{name}, a benchmark of the {} alone, was not compared: {why}.",
                    side.as_str()
                )
            }
        });
    }
    for row in view.rows.iter().filter(|row| row.failed > 0) {
        let rounds = words::plural(row.failed, "round");
        remarks.push(format!("{} has no value in {rounds}.", row.name));
    }
    if let Some(counter) = view.counter {
        remarks.extend(view.rows.iter().filter_map(spread));
        remarks.push(counted_by(counter).to_owned());
    }
    remarks.extend(too_few_rounds(view));
    remarks.extend(layout(view));
    if view.rows.iter().any(may_be_within_limit) {
        remarks.push("A regression is a slowdown whose interval excludes 0 and whose estimate is above the limit.".to_owned());
    }
    if !view.identical && !view.rows.iter().all(PrRow::is_exact) {
        let builds = match view.layouts {
            1 => String::new(),
            n => format!(
                ", {n} builds of each with different code layouts, over which they are compared,"
            ),
        };
        remarks.push(format!(
            "{} of base and head by turns{builds} in {}; a false regression in at most {} of comparisons of equals, 99% intervals over all interim analyses.",
            words::plural(view.rounds, "round"),
            number::seconds(view.elapsed_s, None),
            number::percent_option(view.level)
        ));
    }
    remarks
}

fn is_open(row: &PrRow) -> bool {
    row.verdict == Verdict::Inconclusive
}

/// A regression with an interval that is partly within the limit.
fn may_be_within_limit(row: &PrRow) -> bool {
    let interval = row.interval.filter(|_| row.regressed);
    interval.is_some_and(|[_, high]| high > 1.0 / (1.0 + row.margin))
}

/// Rounds that a verdict takes, if the budget did not suffice for them.
fn too_few_rounds(view: &PrView) -> Option<String> {
    // the budget leaves less time than a round takes; a trial that ended earlier was interrupted
    if view.elapsed_s < view.budget_s / 2.0 {
        return None;
    }
    if view.rows.iter().any(PrRow::is_uncertain) {
        return Some(format!(
            "To be certain over all benchmarks takes more rounds: raise --budget, which is {}.",
            number::seconds(view.budget_s, None)
        ));
    }
    let counted = view.quantity == PrQuantity::Instructions;
    let needed = |row: &PrRow| match counted && row.spread.is_none() {
        true => COUNTED_ROUNDS,
        false => MIN_PAIRS,
    };
    let mut open = view.rows.iter().filter(|row| is_open(row) && !row.is_exact());
    let row = open.find(|row| row.failed == 0 && row.pairs < needed(row))?;
    Some(format!(
        "Most verdicts take {}, and there was time for {}: raise --budget, which is {}.",
        words::plural(needed(row), "round"),
        number::count(row.pairs),
        number::seconds(view.budget_s, None)
    ))
}

/// Differences between single builds that code layout may cause.
fn layout(view: &PrView) -> Option<String> {
    let is_below = |row: &&PrRow| {
        let differs = matches!(row.verdict, Verdict::Slower | Verdict::Faster);
        differs && row.ratio.is_some_and(|ratio| ratio.ln().abs() < LAYOUT.ln_1p())
    };
    let names: Vec<&str> = view.rows.iter().filter(is_below).map(|row| row.name.as_str()).collect();
    let of_code = view.built && view.layouts == 1 && view.quantity == PrQuantity::Time;
    let first = names.first().filter(|_| of_code)?;
    let more = match names.len() - 1 {
        0 => String::new(),
        n => format!(" and {}", words::plural(n, "other")),
    };
    Some(format!(
        "{first}{more}: differences below {} between single builds may be code layout; --layouts 12 decides over twelve builds.",
        number::percent(LAYOUT)
    ))
}

fn spread(row: &PrRow) -> Option<String> {
    let spread = number::significant(100.0 * row.spread?, 2);
    let name = &row.name;
    Some(match row.is_exact() {
        true => format!(
            "{name}: executions of one side differ by {spread}% or less, so that {} of each decide without a test.",
            row.pairs
        ),
        false => format!(
            "{name}: executions of one side differ by up to {spread}%, as from hashing, address-space layout, time or threads, so that they are tested as times are."
        ),
    })
}

fn counted_by(counter: PrCounter) -> &'static str {
    match counter {
        PrCounter::PerfEvent => {
            "Instructions in user mode, counted by the processor; time was not measured."
        }
        PrCounter::Valgrind => {
            "Instructions counted by valgrind, those before a fork once more in a child that executes no other program; time was not measured."
        }
    }
}

/// The exit of a command, and its last lines of output.
fn shortened(failure: &str) -> String {
    const LINES: usize = 4;
    let mut lines = failure.lines();
    let end = lines.next().unwrap_or_default().to_owned();
    let lines: Vec<&str> = lines.collect();
    let last = &lines[lines.len().saturating_sub(LINES)..];
    last.iter().fold(end, |text, line| text + " " + line.trim())
}

fn rows(document: &mut Document, view: &PrView) {
    let change = |row: &PrRow| Some(words::change(row.better, row.ratio?, row.interval));
    Columns::<&PrRow>::key("Benchmark", Style::Code, |row| row.name.as_str())
        .and_key("Verdict", Style::Text, |row| {
            let word = pr_word(row, row.verdict);
            Cell::from(word).toned(Some(verdicts::tone_of(row.verdict)))
        })
        .and_key("Change", Style::Number, move |row| change(row).map(|(change, _)| change))
        .number("Interval", move |row| change(row).and_then(|(_, interval)| interval))
        .number("Base", |row| verdicts::side(row.base, &row.unit))
        .number("Head", |row| verdicts::side(row.head, &row.unit))
        .column(Column::new("Pairs", Style::Number).rank(1), |row| row.pairs)
        .column(Column::new("Detectable", Style::Number).rank(1), |row| {
            let open = row.verdict == Verdict::Inconclusive;
            row.smallest.filter(|_| open).map(verdicts::minimum_detectable)
        })
        .strong(|row| row.regressed)
        .table(document, "", &view.rows);
}
