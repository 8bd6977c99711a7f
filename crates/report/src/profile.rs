//! Scores by profile: what `gritstone score --profile` prints.

use crate::table::{Columns, score_cells};
use crate::{findings, words};
use gritstone_document::number;
use gritstone_document::{Document, Style, Text};
use gritstone_model::{Difference, EnvironmentScore, Profile, ScoredSystem, ScoresView};

/// A line of the table: a benchmark with its share of the weight, or the score.
type ProfileRow<'a> = (Option<f64>, &'a EnvironmentScore);

/// Appends the score of each machine, then its parts.
pub(crate) fn append(document: &mut Document, view: &ScoresView, profile: &Profile) {
    for machine in &view.machines {
        let line = score(document, view, profile, machine);
        document.paragraph(line);
    }
    document.paragraph(format!("Profile {}, {}: {}", profile.name, profile.title, profile.why));
    for machine in &view.machines {
        benchmarks(document, view, profile, machine);
        differences(document, view, machine);
    }
}

/// `new against old, profile build: 1.31 (1.29 to 1.33). Weighted geometric mean of 14 benchmarks.`
fn score(
    document: &mut Document,
    view: &ScoresView,
    profile: &Profile,
    machine: &ScoredSystem,
) -> Text {
    let overall = &machine.one_cpu.overall;
    let score = match &overall.withheld {
        Some(why) => format!(
            "not computed: {}. Weights of other benchmarks: `--profile FILE.toml`.",
            findings::withheld(why)
        ),
        None => format!(
            "{}. Weighted geometric mean of {}.",
            words::score(overall),
            words::plural(overall.rows.len(), "benchmark")
        ),
    };
    let differ = match machine.differ_in.as_slice() {
        [] => "",
        _ => " Programs differ: see below.",
    };
    let line = format!(
        "{} against {}, profile {}: {score}{differ}{}",
        machine.name,
        view.base_name,
        profile.name,
        words::unfinished(machine)
    );
    Text::new(line).with(overall.notes.iter().map(|note| findings::footnote(document, note)))
}

fn benchmarks(
    document: &mut Document,
    view: &ScoresView,
    profile: &Profile,
    machine: &ScoredSystem,
) {
    let shares = profile.shares().into_iter().map(|(_, share)| Some(share));
    let rows = shares.zip(&machine.one_cpu.environments);
    let overall = [(None, &machine.one_cpu.overall)];
    Columns::<ProfileRow>::key("Benchmark", Style::Code, |(_, score)| score.environment.as_str())
        .strong(|(share, _)| share.is_none())
        .number("Weight", |(share, _)| share.map(number::percent_option))
        .pair(["Score", "Interval"], |(_, score)| score_cells(score))
        .table(
            document,
            format!("{} against {}", machine.name, view.base_name),
            rows.chain(overall),
        );
}

/// Warns of programs with different versions.
fn differences(document: &mut Document, view: &ScoresView, machine: &ScoredSystem) {
    Columns::<&Difference>::key("Differ in", Style::Text, |d| d.what.as_str())
        .text(&view.base_name, |d| d.base.as_str())
        .text(&machine.name, |d| d.other.as_str())
        .table(document, "Programs", &machine.differ_in);
}
