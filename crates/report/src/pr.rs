//! Head against base: what `gritstone pr` prints.

use crate::table::{Cell, Columns};
use crate::{verdicts, words};
use gritstone_document::number;
use gritstone_document::{Column, Document, Style, Text, Tone};
use gritstone_model::{CheckOutcome, PrRow, PrSide, PrView, Verdict};

/// Letters of a commit that are shown.
const SHORT_COMMIT: usize = 12;

/// The outcome in a sentence, then all benchmarks.
#[must_use]
pub fn pr(view: &PrView) -> Document {
    let mut document = Document::new("Head against base");
    document.terms([("base", side(&view.base)), ("head", side(&view.head))]);
    let tone = match view.outcome {
        CheckOutcome::Passed => Tone::Good,
        CheckOutcome::Regressed => Tone::Bad,
        CheckOutcome::Inconclusive => Tone::Doubt,
    };
    document.paragraph(Text::new(pr_verdict(view)).toned(Some(tone)));
    rows(&mut document, view);
    document.list(pr_remarks(view));
    document
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
#[must_use]
pub fn pr_verdict(view: &PrView) -> String {
    let outcome = words::capital(view.outcome.as_str());
    if view.identical {
        return format!(
            "{outcome}: base and head have identical programs, so nothing was measured."
        );
    }
    let count = |which: fn(&PrRow) -> bool| view.rows.iter().filter(|row| which(row)).count();
    let of = words::plural(view.rows.len(), "benchmark");
    let regressed = count(|row| row.regressed);
    let others = [
        (
            count(|row| row.verdict == Verdict::Slower && !row.regressed),
            "slower within what is allowed",
        ),
        (count(|row| row.verdict == Verdict::Faster), "faster"),
        (
            count(|row| row.verdict == Verdict::Inconclusive),
            "inconclusive",
        ),
        (count(|row| row.verdict == Verdict::Same), "the same"),
    ];
    let others = others.into_iter().filter(|(n, _)| *n > 0);
    let others: Vec<String> = others
        .map(|(n, what)| format!("{} {what}", number::count(n)))
        .collect();
    let regressed = format!(
        "{} slower by more than {}",
        number::count(regressed),
        number::percent_option(view.max_slowdown)
    );
    let all: Vec<String> = [regressed].into_iter().chain(others).collect();
    format!("{outcome}: of {of} {}.", all.join(", "))
}

/// What the table does not say.
#[must_use]
pub fn pr_remarks(view: &PrView) -> Vec<String> {
    let mut remarks: Vec<String> = vec![];
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
    for row in view.rows.iter().filter(|row| row.failed > 0) {
        let launches = words::plural(row.failed, "round");
        remarks.push(format!("{} has no value in {launches}.", row.name));
    }
    if !view.identical {
        remarks.push(format!(
            "{} of base and head by turns in {}; a false regression in at most {} of comparisons of equals, 99% intervals over all interim analyses.",
            words::plural(view.rounds, "round"),
            number::seconds(view.elapsed_s, None),
            number::percent_option(view.level)
        ));
    }
    remarks
}

/// How a command ended, and the last lines that it wrote.
fn shortened(failure: &str) -> String {
    const LINES: usize = 4;
    let mut lines = failure.lines();
    let end = lines.next().unwrap_or_default().to_owned();
    let said: Vec<&str> = lines.collect();
    let last = &said[said.len().saturating_sub(LINES)..];
    last.iter().fold(end, |text, line| text + " " + line.trim())
}

fn rows(document: &mut Document, view: &PrView) {
    let change = |row: &PrRow| Some(words::change(row.ratio?, row.interval));
    Columns::<&PrRow>::key("Benchmark", Style::Code, |row| row.name.as_str())
        .text("Verdict", |row| {
            Cell::from(row.verdict.as_str()).toned(Some(verdicts::tone_of(row.verdict)))
        })
        .number("Speed", move |row| change(row).map(|(change, _)| change))
        .number("Interval", move |row| {
            change(row).and_then(|(_, interval)| interval)
        })
        .number("Base", |row| verdicts::side(row.base, &row.unit))
        .number("Head", |row| verdicts::side(row.head, &row.unit))
        .column(Column::new("Pairs", Style::Number).rank(1), |row| row.pairs)
        .column(Column::new("Detectable", Style::Number).rank(1), |row| {
            let open = row.verdict == Verdict::Inconclusive;
            row.smallest.filter(|_| open).map(number::percent)
        })
        .strong(|row| row.regressed)
        .table(document, "", &view.rows);
}
