//! The front of the brief: what stands out, computed and not canned, and how the figures came about.

use super::{Brief, some_of};
use crate::columns;
use crate::compare;
use crate::document::{Document, Text};
use crate::{findings, number, words};
use gritstone_model::{
    CompareRow, CompareView, Flag, Measurement, Note, RatedMachine, RatingsView, RunView, Status,
    Subject,
};

/// Rows named at each end of a comparison.
const ENDS: usize = 3;
/// Rows named for a mark.
const NAMED: usize = 8;

/// The points: furthest from what it is compared with, what is marked, what could not run, precision reached.
pub(super) fn stands_out(
    document: &mut Document,
    run: &RunView,
    against: Option<&CompareView>,
) -> Vec<Text> {
    let results = &run.results;
    if results.is_empty() {
        return vec!["Nothing was measured.".into()];
    }
    let mut points = Vec::new();
    if let Some(view) = against {
        points.extend(furthest(document, view));
    }
    points.extend(precision(run));
    let marked = marked(document, results);
    let not_run = not_run(document, results);
    if marked.is_empty() && not_run.is_none() {
        points.push("No figure is in doubt, and everything ran.".into());
    }
    points.extend(marked);
    points.extend(not_run);
    points
}

/// The rows with the largest and the smallest ratios, in words, with their intervals. Rows whose work is in
/// doubt are left out.
fn furthest(document: &mut Document, view: &CompareView) -> Vec<Text> {
    let mut rows: Vec<(f64, &CompareRow)> = view
        .rows
        .iter()
        .filter(|row| !row.in_doubt())
        .filter_map(|row| Some((row.ratio.filter(|r| r.is_finite() && *r > 0.0)?, row)))
        .collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut said = |rows: &[(f64, &CompareRow)], head: &str| {
        let mut marks = Vec::new();
        let mut parts = Vec::new();
        for (_, row) in rows {
            marks.extend(row.notes.iter().map(|f| document.note(f)));
            let ratio = compare::ratio(row).unwrap_or_default();
            parts.push(format!("{} ({ratio})", row.title));
        }
        Text::new(format!("{head} {}.", words::join(&parts))).with(marks)
    };
    let base = &view.base_name;
    match rows.len() {
        0 => vec![Text::new(format!("No row can be compared with {base}."))],
        n if n <= 2 * ENDS => vec![said(&rows, &format!("Against {base}:"))],
        n => {
            let ahead = |at: usize| rows[at].0 >= 1.0;
            let first = if ahead(0) {
                "Furthest ahead of"
            } else {
                "Least behind"
            };
            let last = if ahead(n - 1) {
                "Least ahead:"
            } else {
                "Furthest behind:"
            };
            vec![
                said(&rows[..ENDS], &format!("{first} {base}:")),
                said(&rows[n - ENDS..], last),
            ]
        }
    }
}

/// One point for each kind of doubt, with the rows whose figure or real time has it.
fn marked(document: &mut Document, results: &[Measurement]) -> Vec<Text> {
    let kinds = [
        (&[Flag::Invalid][..], "Invalid, since a work check failed:"),
        (&[Flag::Noisy, Flag::Modes], "Noisier than asked for:"),
        (&[Flag::Interference], "With interference:"),
        (
            &[Flag::NotComparable],
            "Not comparable with others of its name:",
        ),
    ];
    let mut points = Vec::new();
    for (flags, head) in kinds {
        let (mut names, mut marks) = (Vec::new(), Vec::new());
        for result in results {
            let counts = |note: &&Note| {
                note.flag().is_some_and(|flag| flags.contains(&flag)) && on_the_figure(note)
            };
            let before = marks.len();
            marks.extend(
                result
                    .notes
                    .iter()
                    .filter(counts)
                    .map(|note| document.note(note)),
            );
            if marks.len() > before {
                names.push(result.id.to_string());
            }
        }
        if !names.is_empty() {
            let text = format!("{head} {}.", some_of(&names, NAMED));
            // a row of marks says nothing; beyond a few they stand beside the figures only
            let few = marks.len() <= ENDS;
            points.push(Text::new(text).with(marks.into_iter().filter(|_| few)));
        }
    }
    points
}

/// Doubts about a process time, say, stand beside it in the tables, but are not what stands out.
fn on_the_figure(note: &Note) -> bool {
    matches!(
        note.about,
        Subject::Result | Subject::Estimate | Subject::Real
    )
}

/// What has no figure, and why.
fn not_run(document: &mut Document, results: &[Measurement]) -> Option<Text> {
    let there = |r: &&Measurement| matches!(r.outcome, Status::Measured | Status::Published);
    let without: Vec<&Measurement> = results.iter().filter(|r| !there(r)).collect();
    if without.is_empty() {
        return None;
    }
    let names: Vec<String> = without
        .iter()
        .map(|r| match r.outcome {
            Status::Skipped => r.id.to_string(),
            other => format!("{} ({})", r.id, findings::outcome(other)),
        })
        .collect();
    let marks: Vec<_> = without
        .iter()
        .flat_map(|r| &r.notes)
        .filter(|note| note.flag() == Some(Flag::Skipped))
        .map(|f| document.note(f))
        .collect();
    let text = format!(
        "{} of {} could not be measured: {}.",
        number::count(without.len()),
        words::plural(results.len(), "row"),
        some_of(&names, NAMED)
    );
    let text = Text::new(text).with(marks);
    // beyond a few the reasons stand beside the rows only
    match text.marks.len() <= NAMED {
        true => Some(text),
        false => Some(text.text.into()),
    }
}

/// How many figures are as sure as asked for, and the one that is least so.
fn precision(run: &RunView) -> Option<Text> {
    let asked = run.settings.as_ref()?.precision;
    let reached: Vec<(f64, &Measurement)> = run
        .results
        .iter()
        .filter_map(|r| Some((columns::precision(r)?, r)))
        .collect();
    let (widest, row) = reached.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let within = reached.iter().filter(|(p, _)| *p <= asked).count();
    Some(Text::new(format!(
        "{} of {} with an interval are within the ±{} asked for; the widest is {} at ±{}.",
        number::count(within),
        words::plural(reached.len(), "figure"),
        number::percent_asked(asked),
        row.id,
        number::percent(*widest)
    )))
}

/// The one line that people ask for, and what it is made of; nothing where no environment can be rated.
pub(super) fn ratings(document: &mut Document, input: &Brief) {
    let rated = |view: &&RatingsView| {
        let of_one = |machine: &RatedMachine| {
            let ratings = &machine.one_cpu;
            let mut all = std::iter::once(&ratings.overall).chain(&ratings.environments);
            all.any(|rating| rating.rating.is_some())
        };
        view.machines.iter().any(of_one)
    };
    let Some(view) = input.ratings.filter(rated) else {
        return;
    };
    document.heading(1, "Performance overview");
    crate::append_ratings(document, view);
}

/// How the figures of the runs came about, in three paragraphs.
pub(super) fn method(runs: &[RunView]) -> Vec<String> {
    let results = || runs.iter().flat_map(|run| &run.results);
    let launches: usize = results().map(|r| r.launches).sum();
    let samples: usize = results().map(|r| r.samples).sum();
    let (this, made) = match runs.len() {
        1 => ("This run", String::new()),
        n => (
            "These runs",
            format!(" in {} together", words::plural(n, "run")),
        ),
    };
    // several runs may have been asked for different things, which stand in appendix B
    let only = runs.first().filter(|_| runs.len() == 1);
    let asked = only
        .and_then(|run| run.settings.as_ref())
        .map_or(made, |s| {
            format!(
                ", within a budget of {}; intervals of ±{} were asked for",
                words::duration(s.budget_s),
                number::percent_asked(s.precision)
            )
        });
    vec![
        format!(
            "{this} made {} with {}{asked}. Each launch is a fresh process that is calibrated and warmed \
             before it is measured; all benchmarks take turns in rounds, in a new random order each round, so that \
             a slow minute of the machine is shared by all.",
            words::plural(launches, "launch"),
            words::plural(samples, "sample"),
        ),
        "Each launch counts as one value. The figure is the pseudo-median over launches, and its interval comes from \
         inverting the signed-rank test; figures that are exact, such as sizes, have none. Times are those of a \
         monotonic clock; core cycles are counted by a loop of dependent additions beside each sample, and tell of the \
         work with the frequency taken out."
            .to_owned(),
        "The published work is what the documents had their readers time: that much work done as one batch, measured \
         and never multiplied up from something smaller. Its real time is that of the work alone; the process time is that of the whole \
         process, its start included. User and system times are left out where the work is too short for the \
         system's ticks."
            .to_owned(),
    ]
}
