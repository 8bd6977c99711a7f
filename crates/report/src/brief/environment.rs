//! Environment of the results: flags with their meaning here, system, settings, programs.

use super::command::command;
use crate::table::Columns;
use crate::{findings, show, words};
use gritstone_document::{Document, Style, Text};
use gritstone_model::{Flag, Measurement, PRIVATE_FACTS, Program, RunView, grouped};
use std::collections::BTreeMap;

/// Facts that are summarized.
const MITIGATION: &str = "mitigation.";

/// Each cause once, with its benchmarks. The values are in the details of each.
pub(super) fn notes(document: &mut Document, results: &[Measurement]) {
    let mut causes: BTreeMap<Flag, Vec<&str>> = BTreeMap::new();
    for result in results {
        for flag in result.flags_of_estimate() {
            causes.entry(flag).or_default().push(result.id.as_str());
        }
    }
    if causes.is_empty() {
        return;
    }
    document.heading(1, "Flags");
    type Cause<'a> = (&'a Flag, &'a Vec<&'a str>);
    Columns::<Cause>::key("Flag", Style::Code, |(flag, _)| findings::letter(**flag))
        .text("Meaning", |(flag, _)| findings::meaning(**flag))
        .number("Results", |(_, ids)| ids.len())
        .text("Benchmarks", |(_, ids)| ids.join(", "))
        .table(document, "Flags of the results, and which carry them", &causes);
}

/// How launches are made and estimated.
const METHOD: &str = "is a fresh process, calibrated, and warmed where an operation is short; all benchmarks take turns in rounds of random \
                      order. An estimate is the lower quartile of launches, each a low quantile of its samples without contention, at one \
                      frequency of the processor; its interval, at 95%, is of the launches of this run.";

pub(super) fn append(document: &mut Document, run: &RunView) {
    document.heading(1, "Environment");
    let launches: usize = run.results.iter().map(|result| result.launches()).sum();
    let settings = show::settings_of_ours(run).filter(|_| launches > 0);
    if settings.is_some() {
        document.paragraph(format!("Each of {} {METHOD}", words::plural(launches, "launch")));
    }
    document.terms(facts(run));
    if let Some(settings) = settings {
        let command = command(&run.id, settings, usize::MAX);
        document.terms([
            ("Command", command),
            ("Seed", settings.seed.to_string()),
            ("Tuned", settings.tuned.join("; ")),
            ("Far ends", settings.peer.as_ref().map(words::peer).unwrap_or_default()),
        ]);
    }
    let programs = grouped(run.results.iter().filter_map(|result| {
        let Program { compiler, flags, .. } = result.program.as_ref()?;
        Some(([compiler.as_str(), flags], result.id.as_str()))
    }));
    type Compiled<'a> = ([&'a str; 2], Vec<&'a str>);
    Columns::<Compiled>::key("Flags or command", Style::Text, |([_, flags], _)| *flags)
        .text("Compiler or version", |([compiler, _], _)| *compiler)
        .text("Benchmarks", |(_, ids)| ids.join(", "))
        .table(document, "Programs", programs);
}

/// Facts of the machine; mitigations are counted by kind.
pub(crate) fn facts(run: &RunView) -> Vec<(String, Text)> {
    let facts = run.machine.facts.iter();
    let shown = facts.filter(|(name, _)| {
        !PRIVATE_FACTS.contains(&name.as_str()) && !name.starts_with(MITIGATION)
    });
    let mut terms: Vec<(String, Text)> =
        shown.map(|(name, value)| (words::fact(name), value.as_str().into())).collect();
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for (_, value) in run.machine.facts.iter().filter(|(name, _)| name.starts_with(MITIGATION)) {
        let kind = value.split([':', ';']).next().unwrap_or_default().trim();
        let kind = match kind.to_lowercase().as_str() {
            "mitigation" => "mitigated".to_owned(),
            other => other.to_owned(),
        };
        *kinds.entry(kind).or_default() += 1;
    }
    let kinds: Vec<String> = kinds.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
    terms.push(("mitigations".to_owned(), kinds.join(", ").into()));
    terms
}
