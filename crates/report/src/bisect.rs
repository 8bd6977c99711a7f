//! The commit that made a benchmark slower: what `gritstone bisect` prints.

use crate::pr::side;
use crate::table::{Cell, Columns};
use crate::words;
use gritstone_document::number;
use gritstone_document::{Document, Style, Text, Tone};
use gritstone_model::{BisectCommit, BisectOutcome, BisectStep, BisectView};

/// The commit, the change, and the steps that led to it.
#[must_use]
pub fn bisect(view: &BisectView) -> Document {
    let mut document = Document::new("The first slow commit");
    document.terms([("good", side(&view.good)), ("bad", side(&view.bad))]);
    let row = &view.followed;
    if let Some(ratio) = row.ratio {
        let (change, interval) = words::change(ratio, row.interval);
        let interval = interval.map_or(String::new(), |interval| format!(" {interval}"));
        document.paragraph(format!(
            "{} of the bad commit: speed {change}{interval}.",
            row.name
        ));
    }
    let found = match view.candidates.as_slice() {
        [one] => Text::new(format!("It is {}.", commit(one))).toned(Some(Tone::Good)),
        all => {
            let n = words::plural(all.len(), "commit");
            Text::new(format!(
                "It is one of {n}: others were skipped, or nothing could be decided."
            ))
            .toned(Some(Tone::Doubt))
        }
    };
    document.paragraph(found);
    if view.candidates.len() > 1 {
        document.list(view.candidates.iter().map(commit));
    }
    steps(&mut document, &view.steps);
    document.paragraph(format!(
        "A test of the search was wrong with a probability of at most {}.",
        number::percent_option(view.error_rate)
    ));
    document
}

fn commit(commit: &BisectCommit) -> String {
    format!("{} ({})", commit.commit, commit.subject)
}

fn steps(document: &mut Document, steps: &[BisectStep]) {
    let change = |step: &BisectStep| Some(words::change(step.ratio?, step.interval));
    Columns::<&BisectStep>::key("Commit", Style::Code, |step| {
        step.commit.chars().take(12).collect::<String>()
    })
    .text("Outcome", |step| {
        let tone = match step.outcome {
            BisectOutcome::Good => Tone::Good,
            BisectOutcome::Bad => Tone::Bad,
            BisectOutcome::Skipped | BisectOutcome::Inconclusive => Tone::Doubt,
        };
        Cell::from(step.outcome.as_str()).toned(Some(tone))
    })
    .number("Speed", move |step| change(step).map(|(change, _)| change))
    .number("Interval", move |step| {
        change(step).and_then(|(_, interval)| interval)
    })
    .table(document, "", steps);
}
