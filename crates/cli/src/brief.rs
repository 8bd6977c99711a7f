//! `gritstone report`: the performance brief of one machine, or of several side by side, as HTML and as PDF.

use crate::args::ReportArgs;
use crate::failure::Exit;
use crate::world::World;
use crate::{output, own, transfer};
use anyhow::{Context, Result, bail};
use gritstone_model::{Benchmark, CompareView, Family, Id, RunView};
use gritstone_report::{Brief, Document};
use std::path::{Path, PathBuf};

/// Writes the brief of the runs, and says where it is.
pub fn brief(world: &World, args: &ReportArgs) -> Result<Exit> {
    // a name that is wrong is to be known before anything is computed
    for path in &args.out {
        is_pdf(path)?;
    }
    let runs: Vec<RunView> = args
        .runs
        .iter()
        .map(|name| {
            let view = world.view(name)?;
            Ok(match args.identity.with_identity {
                true => view,
                false => gritstone_exchange::anonymous_view(&view, transfer::home().as_deref()),
            })
        })
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
    let out = match args.out.as_slice() {
        [] => &["html", "pdf"].map(|end| default_name(&runs).with_extension(end)),
        paths => paths,
    };
    for path in out {
        write(&document, path)?;
    }
    Ok(Exit::Done)
}

/// Our families and entries, and those that the runs have kept of catalogs of the user's own.
fn with_those_of(world: &World, runs: &[RunView]) -> (Vec<Family>, Vec<Benchmark>) {
    let mut families = world.catalogue.families.clone();
    let mut benchmarks = world.catalogue.benchmarks.clone();
    for own in own::of_runs(runs) {
        let name = own.kept.named();
        families.extend(own.catalogue.families.into_iter().map(|family| Family {
            why: format!(
                "Not benchmarks of Gritstone, but of the catalog {name}. {}",
                family.why
            ),
            ..family
        }));
        benchmarks.extend(own.catalogue.benchmarks);
    }
    (families, benchmarks)
}

/// Whether a file is to be PDF, and not HTML: by the end of its name.
fn is_pdf(path: &Path) -> Result<bool> {
    let end = path.extension().map(|e| e.to_ascii_lowercase());
    match end.as_ref().and_then(|e| e.to_str()) {
        Some("html" | "htm") => Ok(false),
        Some("pdf") => Ok(true),
        _ => bail!(
            "--out {}: the brief is written as HTML or as PDF; end the name in .html or .pdf",
            path.display()
        ),
    }
}

fn write(document: &Document, path: &Path) -> Result<()> {
    let page = match is_pdf(path)? {
        false => gritstone_report::html::render(document).into_bytes(),
        true => gritstone_pdf::render(document)?,
    };
    let name = path.display();
    std::fs::write(path, page)
        .with_context(|| format!("cannot write the brief to {name}; choose a file with --out"))?;
    let full = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    output::plain(&format!("{}\n", full.display()))
}

/// Without the end that says the format; all else of the name may have a dot.
fn default_name(runs: &[RunView]) -> PathBuf {
    let plain = |c: char| match c {
        c if c.is_ascii_alphanumeric() || "-_".contains(c) => c,
        _ => '-',
    };
    let mut ids = runs.iter().map(|run| run.id.chars().map(plain).collect());
    let first: String = ids.next().unwrap_or_default();
    PathBuf::from(match ids.len() {
        0 => format!("gritstone-brief-{first}"),
        more => format!("gritstone-brief-{first}-and-{more}-more"),
    })
}

/// The reference machines that have a figure for any benchmark of the runs.
fn beside(world: &World, runs: &[RunView]) -> Result<Vec<RunView>> {
    let measured = |id: &Id| runs.iter().any(|run| run.get(id).is_some());
    let mut views = vec![];
    for machine in &world.references.machines {
        let catalogue = &world.catalogue.benchmarks;
        let view = world.references.view(&machine.id, catalogue)?;
        let shared = view.results.iter().any(|result| measured(&result.id));
        if shared && runs.iter().all(|run| run.id != view.id) {
            views.push(view);
        }
    }
    Ok(views)
}
