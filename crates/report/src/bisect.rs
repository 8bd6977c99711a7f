//! The commit that made a benchmark slower: what `gritstone bisect` prints.

use crate::pr::side;
use crate::table::{Cell, Columns};
use crate::words;
use gritstone_document::number;
use gritstone_document::{Document, Style, Text, Tone};
use gritstone_model::{Better, BisectCommit, BisectOutcome, BisectStep, BisectView, PrQuantity};

/// The commit, the change, and the tested steps.
pub fn bisect(view: &BisectView) -> Document {
    let mut document = Document::new("The first slow commit");
    document.terms([("good", side(&view.good)), ("bad", side(&view.bad))]);
    if let Some(reason) = &view.reason {
        document.paragraph(Text::new(reason.clone()).toned(Some(Tone::Doubt)));
        return document;
    }
    if let Some(row) = &view.followed
        && let Some(ratio) = row.ratio
    {
        let (change, interval) = words::change(row.better, ratio, row.interval);
        let interval = interval.map_or(String::new(), |interval| format!(" {interval}"));
        document.paragraph(format!(
            "{} of the bad commit: {}{change}{interval}.",
            row.name,
            match view.quantity {
                PrQuantity::Time => "",
                PrQuantity::Instructions => "instructions ",
            }
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
    let better = view.followed.as_ref().map_or(Better::Lower, |row| row.better);
    steps(&mut document, better, &view.steps);
    if let Some(command) = &view.shown_by {
        document.paragraph(format!("`{command}` shows it again."));
    }
    document.paragraph(match view.error_rate {
        Some(rate) if rate > 0.0 => format!(
            "The search errs with a probability of at most {}.",
            number::percent_option(rate)
        ),
        _ => "Counts of instructions that agree decided each step, without a test.".to_owned(),
    });
    document
}

fn commit(commit: &BisectCommit) -> String {
    format!("{} ({})", commit.commit, commit.subject)
}

fn steps(document: &mut Document, better: Better, steps: &[BisectStep]) {
    let change = move |step: &BisectStep| Some(words::change(better, step.ratio?, step.interval));
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
    .number("Change", move |step| change(step).map(|(change, _)| change))
    .number("Interval", move |step| change(step).and_then(|(_, interval)| interval))
    .table(document, "", steps);
}
