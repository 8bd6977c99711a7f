//! Configurations of the systems and of this machine, and descriptions of the tests.

use super::tables::FLAGS;
use super::{Classic, Shown, selected};
use crate::brief::environment;
use crate::findings;
use crate::table::Columns;
use gritstone_document::{Document, Style};
use gritstone_model::{Benchmark, RunView};
use std::collections::BTreeSet;

pub(super) fn append(document: &mut Document, input: &Classic) {
    let run = input.brief.run;
    document.heading(1, "Configuration of this system");
    document.terms(environment::facts(run));
    configurations(document, input);
    flags(document);
    descriptions(document, input);
}

/// Configurations of the systems in exhibits.
fn configurations(document: &mut Document, input: &Classic) {
    let exhibits = input.chapters.iter().flat_map(|chapter| &chapter.exhibits);
    let mut systems: Vec<&RunView> = vec![];
    for shown in exhibits.map(|exhibit| Shown::new(input, exhibit)) {
        for view in shown.systems {
            let there = shown.benchmarks.iter().any(|benchmark| view.get(&benchmark.id).is_some());
            if there && !systems.iter().any(|known| known.id == view.id) {
                systems.push(view);
            }
        }
    }
    document.heading(1, "Configurations of the printed systems");
    Columns::<&RunView>::key("System", Style::Text, |view| view.machine.name.as_str())
        .text("Document", |view| view.machine.document.clone())
        .text("Operating system", |view| view.machine.system.as_str())
        .text("Configuration", |view| view.machine.configuration.as_str())
        .table(document, "Configurations, as the documents describe them", systems);
}

/// Legend of the letters in tables.
fn flags(document: &mut Document) {
    document.heading(1, "Flags");
    document.terms(FLAGS.map(|flag| (findings::letter(flag), findings::meaning(flag))));
}

/// Each benchmark of an exhibit once, in the order of the exhibits.
fn descriptions(document: &mut Document, input: &Classic) {
    let mut known = BTreeSet::new();
    let exhibits = input.chapters.iter().flat_map(|chapter| &chapter.exhibits);
    let benchmarks = exhibits.flat_map(|exhibit| selected(exhibit, &input.brief.parts.benchmarks));
    let benchmarks: Vec<&Benchmark> =
        benchmarks.filter(|benchmark| known.insert(&benchmark.id)).collect();
    document.heading(1, "Description of the tests");
    document.paragraph("One operation of each test; notes say what is not comparable, and why.");
    Columns::<&Benchmark>::key("Test", Style::Code, |benchmark| benchmark.id.as_str())
        .text("One operation", |benchmark| benchmark.operation.trim())
        .text("Not comparable", |benchmark| {
            benchmark.not_comparable.as_deref().map(|text| text.trim().to_owned())
        })
        .table(document, "Tests of this brief", benchmarks);
}
