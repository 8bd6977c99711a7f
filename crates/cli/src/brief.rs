//! `gritstone brief`: the performance brief as one file.
//!
//! Must not know: what is in it.

use crate::args::BriefArgs;
use crate::failure::Exit;
use crate::output;
use crate::world::World;
use anyhow::{Context, Result};
use gritstone_model::RunView;
use gritstone_report::Brief;
use std::path::PathBuf;

/// Writes the brief of a run, and says where it is.
pub fn brief(world: &World, args: &BriefArgs) -> Result<Exit> {
    let run = world.view(&args.run)?;
    let references = beside(world, &run)?;
    let base = world.view(&args.against)?;
    let against = world.compare(&base, &run, crate::inspect::MARGIN);
    let document = gritstone_report::brief(&Brief {
        run: &run,
        references: &references,
        against: Some(&against),
        families: &world.catalogue.families,
        benchmarks: &world.catalogue.benchmarks,
    });
    let page = gritstone_report::html::render(&document);
    let out = args.out.clone().unwrap_or_else(|| default_name(&run));
    std::fs::write(&out, page).with_context(|| {
        format!(
            "cannot write the brief to {}; choose a file with --out",
            out.display()
        )
    })?;
    let full = std::path::absolute(&out).unwrap_or(out);
    output::plain(&format!("{}\n", full.display()))?;
    Ok(Exit::Done)
}

fn default_name(run: &RunView) -> PathBuf {
    let plain: String = run
        .id
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "-._".contains(c) {
                c
            } else {
                '-'
            }
        })
        .collect();
    PathBuf::from(format!("gritstone-brief-{plain}.html"))
}

/// The reference machines that have a figure for any benchmark of the run.
fn beside(world: &World, run: &RunView) -> Result<Vec<RunView>> {
    let mut views = vec![];
    for machine in &world.references.machines {
        let view = world
            .references
            .view(&machine.id, &world.catalogue.benchmarks)?;
        let shared = view
            .results
            .iter()
            .any(|r| run.results.iter().any(|ours| ours.id == r.id));
        if shared && view.id != run.id {
            views.push(view);
        }
    }
    Ok(views)
}
