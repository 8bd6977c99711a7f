//! Scores by environment: what `gritstone score` prints, and what precedes the tables of a run and a brief.

use crate::table::{Columns, score_cells};
use crate::{findings, profile, words};
use gritstone_document::number;
use gritstone_document::{Block, Column, Document, Style, Text};
use gritstone_model::{
    EnvironmentScore, PublishedScore, ScoredSystem, ScoresView, SystemScores, Withheld,
};

const HEADS: [&str; 2] = ["Score", "Interval"];
/// Kind of the environments in table 1.1 of hp-1987.
const PROGRAMS: &str = "programs and users";
/// Why the printed MIPS are not a baseline.
const NOT_COMPARABLE: &str = "MIPS (≠): hp-1987, table 1.1, instructions per second relative to the 840S, as traced; a score here is of time or throughput.";

pub fn scores(view: &ScoresView) -> Document {
    let mut document = Document::new(format!("Scores against {}", view.base_name));
    document.subtitle = Some(format!(
        "{} is 1; more is better. {} confidence intervals.",
        view.base,
        number::percent_option(view.confidence)
    ));
    match &view.profile {
        Some(profile) => profile::append(&mut document, view, profile),
        None => append_scores(&mut document, view),
    }
    document.push(Block::Footnotes);
    document
}

/// Appends the score lines of each machine, and their tables.
fn append_scores(document: &mut Document, view: &ScoresView) {
    for machine in &view.machines {
        for line in score_lines(document, view, machine) {
            document.paragraph(line);
        }
    }
    for machine in &view.machines {
        for scale in Scale::available(machine) {
            match scale {
                Scale::Programs(programs) => by_program(document, view, machine, programs),
                Scale::Benchmarks => by_environment(document, view, machine),
            }
        }
    }
}

/// Basis of a score.
#[derive(Clone, Copy)]
pub(crate) enum Scale<'a> {
    /// Whole programs and several users.
    Programs(&'a SystemScores),
    /// Small benchmarks.
    Benchmarks,
}

impl<'a> Scale<'a> {
    /// Available scores first. If whole programs have a score and no small benchmark was measured, only that one.
    pub(crate) fn available(machine: &'a ScoredSystem) -> Vec<Self> {
        match &machine.programs {
            None => vec![Self::Benchmarks],
            Some(programs) if programs.overall.score.is_none() => {
                vec![Self::Benchmarks, Self::Programs(programs)]
            }
            Some(programs) if machine.one_cpu.overall.rows.is_empty() => {
                vec![Self::Programs(programs)]
            }
            Some(programs) => vec![Self::Programs(programs), Self::Benchmarks],
        }
    }
}

/// The score lines of a machine, each with its composition; their footnotes go to `document`.
pub fn score_lines(
    document: &mut Document,
    view: &ScoresView,
    machine: &ScoredSystem,
) -> Vec<Text> {
    let line = |scale| score_line(document, view, machine, scale);
    Scale::available(machine).into_iter().map(line).collect()
}

fn score_line(
    document: &mut Document,
    view: &ScoresView,
    machine: &ScoredSystem,
    scale: Scale,
) -> Text {
    let (scores, kind) = match scale {
        Scale::Programs(programs) => (programs, format!(", {PROGRAMS}")),
        Scale::Benchmarks => (&machine.one_cpu, String::new()),
    };
    let overall = &scores.overall;
    let basis = match (scale, &overall.withheld) {
        (Scale::Programs(_), Some(_)) => {
            "It takes all environments: `gritstone run app/ratings`.".to_owned()
        }
        _ => composition(view, scores),
    };
    let score = words::score(overall);
    let line = format!("{} against {}{kind}: {score}. {basis}", machine.name, view.base_name);
    let line = line.trim_end().to_owned() + words::unfinished(machine);
    Text::new(line).with(overall.notes.iter().map(|note| findings::footnote(document, note)))
}

/// Composition of the overall score.
fn composition(view: &ScoresView, scores: &SystemScores) -> String {
    let overall = &scores.overall;
    if let Some(why) = &overall.withheld {
        return format!(
            "{}; `gritstone score RUN BENCHMARK...` scores by named benchmarks.",
            reason(why)
        );
    }
    if overall.score.is_none() {
        return String::new();
    }
    let all = words::plural(overall.of, "benchmark");
    let rows = format!("{} of {all}", number::count(overall.rows.len()));
    if !view.by.is_empty() {
        return format!("{rows}, named by {}.", words::join(&view.by));
    }
    let rated = scores.environments.iter().filter(|e| e.score.is_some());
    let names: Vec<&str> = rated.map(|e| e.environment.as_str()).collect();
    match names.as_slice() {
        [one] => format!("{rows}, all of {one}."),
        several => format!("{rows}: geometric mean of {}, equally weighted.", words::join(several)),
    }
}

/// Why a score by environments is not computed, without the benchmarks.
fn reason(why: &Withheld) -> &'static str {
    match why {
        Withheld::Missing(_) => "Benchmarks of the run are missing",
        Withheld::Invalid(_) => "Benchmarks are invalid",
        Withheld::TooMany(_) => "Benchmarks have more than 1,000 launches",
        Withheld::NotPositive(_) => "Values are not above 0",
        Withheld::Empty
        | Withheld::NoBaseline
        | Withheld::NotComparable
        | Withheld::Uncovered(_) => "Benchmarks of the base are missing",
    }
}

/// The environments of the document, with its printed values.
fn by_program(
    document: &mut Document,
    view: &ScoresView,
    machine: &ScoredSystem,
    programs: &SystemScores,
) {
    let mut columns = score_columns(programs).under("MIPS (≠)");
    let mut machines: Vec<&PublishedScore> = vec![];
    for printed in programs.environments.iter().flat_map(|e| &e.published) {
        if !machines.iter().any(|known| known.id == printed.id) {
            machines.push(printed);
        }
    }
    for PublishedScore { id, name, .. } in &machines {
        let model = name.rsplit(' ').next().unwrap_or(name);
        columns = columns.number(model, move |score| {
            let printed = score.published.iter().find(|printed| printed.id == *id)?;
            Some(number::fixed(printed.score, 2))
        });
    }
    let caption = format!("{} against {}, {PROGRAMS}", machine.name, view.base_name);
    columns.table(document, caption, all_scores(programs));
    let not_comparable = (!machines.is_empty()).then(|| NOT_COMPARABLE.to_owned());
    document.list(notes(programs).into_iter().chain(not_comparable));
}

fn by_environment(document: &mut Document, view: &ScoresView, machine: &ScoredSystem) {
    let scores = &machine.one_cpu;
    let caption = format!("{} against {}", machine.name, view.base_name);
    score_columns(scores).table(document, caption, all_scores(scores));
    document.list(notes(scores));
}

/// The environments, and the overall score if there are several.
fn all_scores(scores: &SystemScores) -> Vec<&EnvironmentScore> {
    let overall = Some(&scores.overall).filter(|_| scores.environments.len() != 1);
    scores.environments.iter().chain(overall).collect()
}

/// An overall score that is not alone stands out.
fn score_columns<'a>(scores: &'a SystemScores) -> Columns<'a, &'a EnvironmentScore> {
    let has_parts = !scores.environments.is_empty();
    Columns::<&EnvironmentScore>::key("Environment", Style::Text, |score| score.environment.clone())
        .strong(move |score| has_parts && std::ptr::eq(*score, &scores.overall))
        .pair(HEADS, |score| score_cells(score))
        .column(Column::new("Benchmarks", Style::Number).rank(1), |score| {
            let all = number::count(score.of);
            format!("{} of {all}", number::count(score.rows.len()))
        })
}

/// Two systems, environment by environment.
pub(crate) fn side_by_side(document: &mut Document, view: &ScoresView) {
    let [a, b] = view.machines.as_slice() else {
        return;
    };
    let scales = [
        (Some(&a.one_cpu), Some(&b.one_cpu), ""),
        (a.programs.as_ref(), b.programs.as_ref(), PROGRAMS),
    ];
    for (scores_a, scores_b, prefix) in scales {
        let (Some(scores_a), Some(scores_b)) = (scores_a, scores_b) else {
            continue;
        };
        let rows: Vec<(&EnvironmentScore, &EnvironmentScore)> =
            all_scores(scores_a).into_iter().zip(all_scores(scores_b)).collect();
        let is_scored = |score: &EnvironmentScore| score.score.is_some();
        if !rows.iter().any(|(a, b)| is_scored(a) && is_scored(b)) {
            continue;
        }
        let caption = match prefix {
            "" => format!("{} is 1; more is better", view.base_name),
            prefix => format!("{prefix}: {} is 1; more is better", view.base_name),
        };
        let environment =
            |(score, _): &(&EnvironmentScore, &EnvironmentScore)| score.environment.clone();
        Columns::key("Environment", Style::Text, environment)
            .strong(|(score, _)| std::ptr::eq(*score, &scores_a.overall))
            .under(format!("A: {}", a.name))
            .pair(HEADS, |(score, _)| score_cells(score))
            .under(format!("B: {}", b.name))
            .pair(HEADS, |(_, score)| score_cells(score))
            .table(document, caption, rows);
        for (name, scores) in [(&a.name, scores_a), (&b.name, scores_b)] {
            let notes = notes(scores).into_iter();
            document.list(notes.map(|note| format!("{name}: {note}")));
        }
    }
}

/// Reasons for missing scores, and left-out benchmarks.
fn notes(scores: &SystemScores) -> Vec<String> {
    let mut notes = Vec::new();
    for score in &scores.environments {
        let mut note = |reason| notes.push(format!("{}: {reason}.", score.environment));
        if let Some(why) = &score.withheld {
            note(format!("not computed: {}", findings::withheld(why)));
        }
        for (invalid, why) in [(true, "invalid"), (false, "not measured")] {
            let rows: Vec<&str> = score
                .left_out
                .iter()
                .filter(|row| row.invalid == invalid)
                .map(|row| row.id.as_str())
                .collect();
            if !rows.is_empty() {
                note(format!("left out, {why}: {}", rows.join(", ")));
            }
        }
    }
    notes
}
