//! Parts of the report of a run.

use crate::context::{Context, MARGIN};
use crate::custom_catalog;
use crate::scores;
use anyhow::{Result, bail};
use gritstone_analysis::reliability;
use gritstone_model::{Benchmark, BriefParts, Chapter, RunView};
use std::collections::BTreeSet;

/// # Errors
/// When the base cannot be read, or is the run itself.
pub fn parts(context: &Context, run: &RunView, base: &str) -> Result<BriefParts> {
    let base = context.view(base)?;
    check_different(&base, run)?;
    Ok(BriefParts {
        assessment: reliability::assess(run),
        scores: scores::against(context, std::slice::from_ref(run), &base, &[])?,
        baseline: context.compare(&base, run, MARGIN),
        references: comparable_references(context, run)?,
        benchmarks: benchmarks(context, run),
        timelines: context.catalogue.timelines.clone(),
        base,
    })
}

/// # Errors
/// When both are one run.
pub fn check_different(base: &RunView, other: &RunView) -> Result<()> {
    if base.id == other.id {
        bail!("{} cannot be compared with itself; name another run", base.id);
    }
    Ok(())
}

fn benchmarks(context: &Context, run: &RunView) -> Vec<Benchmark> {
    let mut benchmarks = context.catalogue.benchmarks.clone();
    for custom in custom_catalog::stored_catalogs(std::slice::from_ref(run)) {
        benchmarks.extend(custom.catalogue.benchmarks);
    }
    benchmarks
}

/// All printed systems of the documents that the chapters name.
///
/// # Errors
/// When a system cannot be read.
pub fn printed(context: &Context, chapters: &[Chapter]) -> Result<Vec<RunView>> {
    let exhibits = chapters.iter().flat_map(|chapter| &chapter.exhibits);
    let documents: BTreeSet<&str> = exhibits.map(|exhibit| exhibit.document.as_str()).collect();
    let catalogue = &context.catalogue.benchmarks;
    let machines = context.references.machines.iter().filter(|machine| {
        let document = machine.document.as_deref();
        document.is_some_and(|document| documents.contains(document))
    });
    machines.map(|machine| Ok(context.references.view(&machine.id, catalogue)?)).collect()
}

/// Printed systems that share a benchmark with the run.
fn comparable_references(context: &Context, run: &RunView) -> Result<Vec<RunView>> {
    let shares = |view: &&RunView| {
        let mut results = view.results.iter();
        run.id != view.id && results.any(|result| run.get(&result.id).is_some())
    };
    let printed = context.printed_systems()?.iter();
    Ok(printed.filter(shares).cloned().collect())
}
