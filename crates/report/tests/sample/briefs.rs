//! Briefs of made-up runs, and a run that tries to break out of a page.

use super::{against_reference, entries, run, stated};
use gritstone_model::{CompareView, Flag, RatingsView, RunView};
use gritstone_report::{Brief, Document, brief};

/// A brief of these runs, each against the reference machine.
pub fn of(runs: &[RunView], references: &[RunView]) -> Document {
    let against: Vec<CompareView> = runs.iter().map(|_| against_reference()).collect();
    made(runs, references, &against, None)
}

/// The same against what is given.
pub fn made(
    runs: &[RunView],
    references: &[RunView],
    against: &[CompareView],
    ratings: Option<&RatingsView>,
) -> Document {
    brief(&Brief {
        ratings,
        runs,
        references,
        against,
        families: &entries::families(),
        benchmarks: &entries::benchmarks(&runs[0]),
    })
}

/// A run in which every text that comes from outside is this one.
pub fn hostile(evil: &str) -> RunView {
    let evil = || evil.to_owned();
    let mut run = run();
    let machine = &mut run.machine;
    for text in [
        &mut run.id,
        &mut machine.name,
        &mut machine.system,
        &mut machine.configuration,
        &mut run.started,
    ] {
        *text = evil();
    }
    machine.document = Some(evil());
    machine.facts = [(evil(), evil())].into();
    run.label = Some(evil());
    for result in &mut run.results {
        result.title = evil();
        result.measured = Some(evil());
        result.names = vec![evil()];
        result.series_label = Some(evil());
        let note = stated(Some(Flag::Interference), evil());
        result.notes.push(note);
        if let Some(published) = &mut result.published {
            published.work = evil();
        }
        if let Some(program) = &mut result.program {
            (program.hash, program.compiler, program.flags) = (evil(), evil(), evil());
        }
    }
    run
}
