//! `gritstone brief`: the performance brief of one machine, or of several side by side, as HTML and as PDF.
//!
//! Must not know: what is in it.

use crate::args::BriefArgs;
use crate::failure::Exit;
use crate::world::World;
use crate::{output, own};
use anyhow::{Context, Result, bail};
use gritstone_model::{Benchmark, CompareView, Family, Id, RunView};
use gritstone_report::{Brief, Document};
use std::path::{Path, PathBuf};

/// Writes the brief of the runs, and says where it is.
pub fn brief(world: &World, args: &BriefArgs) -> Result<Exit> {
    let formats: Vec<Format> = args.out.iter().map(|p| format(p)).collect::<Result<_>>()?;
    let runs: Vec<RunView> = args
        .runs
        .iter()
        .map(|name| world.view(name))
        .collect::<Result<_>>()?;
    let references = beside(world, &runs)?;
    let base = world.view(&args.against)?;
    let compare = |run| world.compare(&base, run, crate::inspect::MARGIN);
    let against: Vec<CompareView> = runs.iter().map(compare).collect();
    let machines: Vec<_> = runs.iter().map(|run| (run.clone(), None)).collect();
    let ratings = crate::rate::against(world, &machines, &base, &[])?;
    let (families, benchmarks) = with_those_of(world, &runs);
    let document = gritstone_report::brief(&Brief {
        ratings: Some(&ratings),
        runs: &runs,
        references: &references,
        against: &against,
        families: &families,
        benchmarks: &benchmarks,
    });
    if args.out.is_empty() {
        for (name, format) in [("html", Format::Html), ("pdf", Format::Pdf)] {
            write(&document, &default_name(&runs).with_extension(name), format)?;
        }
    }
    for (path, format) in args.out.iter().zip(formats) {
        write(&document, path, format)?;
    }
    Ok(Exit::Done)
}

/// Our families and entries, and those that the runs have kept of catalogues of the user's own.
fn with_those_of(world: &World, runs: &[RunView]) -> (Vec<Family>, Vec<Benchmark>) {
    let (mut families, mut benchmarks) = (
        world.catalogue.families.clone(),
        world.catalogue.benchmarks.clone(),
    );
    for own in own::of_runs(runs) {
        let name = own.kept.named();
        families.extend(own.catalogue.families.into_iter().map(|family| Family {
            why: format!(
                "Not benchmarks of Gritstone, but of the catalogue {name}. {}",
                family.why
            ),
            ..family
        }));
        benchmarks.extend(own.catalogue.benchmarks);
    }
    (families, benchmarks)
}

#[derive(Clone, Copy)]
enum Format {
    Html,
    Pdf,
}

/// By the end of the name.
fn format(path: &Path) -> Result<Format> {
    let end = path.extension().map(|e| e.to_ascii_lowercase());
    match end.as_ref().and_then(|e| e.to_str()) {
        Some("html" | "htm") => Ok(Format::Html),
        Some("pdf") => Ok(Format::Pdf),
        _ => bail!(
            "--out {}: the brief is written as HTML or as PDF; end the name in .html or .pdf",
            path.display()
        ),
    }
}

fn write(document: &Document, path: &Path, format: Format) -> Result<()> {
    let page = match format {
        Format::Html => gritstone_report::html::render(document).into_bytes(),
        Format::Pdf => gritstone_pdf::render(document)?,
    };
    std::fs::write(path, page).with_context(|| {
        format!(
            "cannot write the brief to {}; choose a file with --out",
            path.display()
        )
    })?;
    let full = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    output::plain(&format!("{}\n", full.display()))
}

/// Without the end that says the format; all else of the name may have a dot.
fn default_name(runs: &[RunView]) -> PathBuf {
    let plain = |c: char| match c {
        c if c.is_ascii_alphanumeric() || "-_".contains(c) => c,
        _ => '-',
    };
    let ids: Vec<String> = runs
        .iter()
        .map(|run| run.id.chars().map(plain).collect())
        .collect();
    match ids.as_slice() {
        [one] => PathBuf::from(format!("gritstone-brief-{one}")),
        [first, rest @ ..] => {
            PathBuf::from(format!("gritstone-brief-{first}-and-{}-more", rest.len()))
        }
        [] => PathBuf::from("gritstone-brief"),
    }
}

/// The reference machines that have a figure for any benchmark of the runs.
fn beside(world: &World, runs: &[RunView]) -> Result<Vec<RunView>> {
    let mut views = vec![];
    for machine in &world.references.machines {
        let view = world
            .references
            .view(&machine.id, &world.catalogue.benchmarks)?;
        let ours = |id: &Id| {
            runs.iter()
                .any(|run| run.results.iter().any(|r| r.id == *id))
        };
        let shared = view.results.iter().any(|r| ours(&r.id));
        if shared && runs.iter().all(|run| run.id != view.id) {
            views.push(view);
        }
    }
    Ok(views)
}
