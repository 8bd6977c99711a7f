//! The front of the brief: what stands out, computed and not canned, and how the figures came about.

use super::{Brief, marks, some_of};
use crate::document::{Block, Document, Text};
use crate::{columns, compare, findings, number, words};
use gritstone_model::{
    CompareRow, CompareView, Flag, Measurement, Note, RatedMachine, RatingsView, RunView, Status,
    Subject,
};

/// Rows named at each end of a comparison.
const ENDS: usize = 3;
/// Rows named for a mark.
const NAMED: usize = 8;
/// What stands out of the flags, and in which words.
const DOUBTS: [(&[Flag], &str); 4] = [
    (&[Flag::Invalid], "Invalid, since a work check failed:"),
    (&[Flag::Noisy, Flag::Modes], "Noisier than asked for:"),
    (&[Flag::Interference], "With interference:"),
    (
        &[Flag::NotComparable],
        "Not comparable with others of its name:",
    ),
];

/// Of each run: furthest from what it is compared with, precision reached, what is marked, what could not run.
pub(super) fn stands_out(document: &mut Document, input: &Brief) {
    document.heading(1, "What stands out");
    for (at, run) in input.runs.iter().enumerate() {
        if input.several() {
            document.heading(2, input.name(at));
        }
        let against = input.against.get(at);
        let points = points(document, run, against);
        document.push(Block::List(points));
        if let Some(sentence) = against.and_then(compare::how_many) {
            document.paragraph(sentence);
        }
    }
}

fn points(document: &mut Document, run: &RunView, against: Option<&CompareView>) -> Vec<Text> {
    if run.results.is_empty() {
        return vec!["Nothing was measured.".into()];
    }
    let mut points = Vec::new();
    if let Some(view) = against {
        points.extend(furthest(document, view));
    }
    points.extend(precision(run));
    let before = points.len();
    points.extend(marked(document, &run.results));
    points.extend(not_run(document, &run.results));
    if points.len() == before {
        points.push("No figure is in doubt, and everything ran.".into());
    }
    points
}

/// The rows with the largest and the smallest ratios, in words, with their intervals. Rows whose work is in
/// doubt are left out.
fn furthest(document: &mut Document, view: &CompareView) -> Vec<Text> {
    let sound = view.rows.iter().filter(|row| !row.in_doubt());
    let ratio = |row: &CompareRow| row.ratio.filter(|r| r.is_finite() && *r > 0.0);
    let mut rows: Vec<(f64, &CompareRow)> =
        sound.filter_map(|row| Some((ratio(row)?, row))).collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut said = |head: String, rows: &[(f64, &CompareRow)]| {
        let part = |(_, row): &(f64, &CompareRow)| {
            format!(
                "{} ({})",
                row.title,
                compare::ratio(row).unwrap_or_default()
            )
        };
        let parts: Vec<String> = rows.iter().map(part).collect();
        let notes = rows.iter().flat_map(|(_, row)| &row.notes);
        Text::new(format!("{head} {}.", words::join(&parts))).with(marks(document, notes))
    };
    let base = &view.base_name;
    let count = rows.len();
    match rows.as_slice() {
        [] => vec![Text::new(format!("No row can be compared with {base}."))],
        few if count <= 2 * ENDS => vec![said(format!("Against {base}:"), few)],
        [(most, _), .., (least, _)] => {
            let first = match *most >= 1.0 {
                true => "Furthest ahead of",
                false => "Least behind",
            };
            let last = match *least >= 1.0 {
                true => "Least ahead:",
                false => "Furthest behind:",
            };
            vec![
                said(format!("{first} {base}:"), &rows[..ENDS]),
                said(last.to_owned(), &rows[count - ENDS..]),
            ]
        }
        [_] => vec![],
    }
}

/// One point for each kind of doubt, with the rows whose figure or real time has it. Doubts about a process time, say, stand
/// beside it in the tables, but are not what stands out.
fn marked(document: &mut Document, results: &[Measurement]) -> Vec<Text> {
    let figure = [Subject::Result, Subject::Estimate, Subject::Real];
    let mut points = Vec::new();
    for (flags, head) in DOUBTS {
        let counts = |note: &&Note| {
            let flagged = note.flag().is_some_and(|flag| flags.contains(&flag));
            flagged && figure.contains(&note.about)
        };
        let doubtful = results
            .iter()
            .filter(|r| r.notes.iter().any(|n| counts(&n)));
        let names: Vec<String> = doubtful.map(|r| r.id.to_string()).collect();
        if !names.is_empty() {
            let notes = results.iter().flat_map(|r| &r.notes).filter(counts);
            let marks = marks(document, notes);
            // a row of marks says nothing; beyond a few they stand beside the figures only
            let few = marks.len() <= ENDS;
            let text = format!("{head} {}.", some_of(&names, NAMED));
            points.push(Text::new(text).with(marks.into_iter().filter(|_| few)));
        }
    }
    points
}

/// What has no figure, and why.
fn not_run(document: &mut Document, results: &[Measurement]) -> Option<Text> {
    let there = |r: &&Measurement| matches!(r.outcome, Status::Measured | Status::Published);
    let without: Vec<&Measurement> = results.iter().filter(|r| !there(r)).collect();
    if without.is_empty() {
        return None;
    }
    let name = |r: &&Measurement| match r.outcome {
        Status::Skipped => r.id.to_string(),
        other => format!("{} ({})", r.id, findings::outcome(other)),
    };
    let names: Vec<String> = without.iter().map(name).collect();
    let notes = without.iter().flat_map(|r| &r.notes);
    let marks = marks(
        document,
        notes.filter(|note| note.flag() == Some(Flag::Skipped)),
    );
    let text = Text::new(format!(
        "{} of {} could not be measured: {}.",
        number::count(without.len()),
        words::plural(results.len(), "row"),
        some_of(&names, NAMED)
    ));
    let with = text.clone().with(marks);
    // beyond a few the reasons stand beside the rows only
    Some(if with.marks.len() <= NAMED {
        with
    } else {
        text
    })
}

/// How many figures are as sure as asked for, and the one that is least so.
fn precision(run: &RunView) -> Option<Text> {
    let asked = run.settings.as_ref()?.precision;
    let reached = |r| Some((columns::precision(r)?, r));
    let reached: Vec<(f64, &Measurement)> = run.results.iter().filter_map(reached).collect();
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
    if let Some(view) = input.ratings.filter(rated) {
        document.heading(1, "Performance overview");
        crate::append_ratings(document, view);
    }
}

/// How the figures of the runs came about, in three paragraphs.
pub(super) fn method(document: &mut Document, runs: &[RunView]) {
    document.heading(1, "How it was measured");
    let results = || runs.iter().flat_map(|run| &run.results);
    // several runs may have been asked for different things, which stand in appendix B
    let (this, asked) = match runs {
        [run] => (
            "This run",
            run.settings.as_ref().map_or(String::new(), |s| {
                let budget = s.budget_s.map(words::duration);
                let within = budget.map(|budget| format!(", within a budget of {budget}"));
                format!(
                    "{}; intervals of ±{} were asked for",
                    within.unwrap_or_default(),
                    number::percent_asked(s.precision)
                )
            }),
        ),
        runs => (
            "These runs",
            format!(" in {} together", words::plural(runs.len(), "run")),
        ),
    };
    document.paragraph(format!(
        "{this} made {} with {}{asked}. Each launch is a fresh process that is calibrated and warmed \
         before it is measured; all benchmarks take turns in rounds, in a new random order each round, so that \
         a slow minute of the machine is shared by all.",
        words::plural(results().map(|r| r.launches).sum(), "launch"),
        words::plural(results().map(|r| r.samples).sum(), "sample"),
    ));
    document.paragraph(
        "Each launch counts as one value. The figure is the pseudo-median over launches, and its interval comes from \
         inverting the signed-rank test; figures that are exact, such as sizes, have none. Times are those of a \
         monotonic clock; core cycles are counted by a loop of dependent additions beside each sample, and tell of the \
         work with the frequency taken out.",
    );
    document.paragraph(
        "The published work is what the documents had their readers time: that much work done as one batch, measured \
         and never multiplied up from something smaller. Its real time is that of the work alone; the process time is that of the whole \
         process, its start included. User and system times are left out where the work is too short for the \
         system's ticks.",
    );
}
