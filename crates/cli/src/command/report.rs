//! `gritstone report`: the performance brief of one run, or of what changed between two, as HTML and as PDF.

use crate::command::score;
use crate::ui::args::ReportArgs;
use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::{Context, Result, bail};
use gritstone_analysis::reliability;
use gritstone_document::Document;
use gritstone_model::{Benchmark, RunView};
use gritstone_references::MEASURED;
use gritstone_report::{Brief, Pair};
use gritstone_runs::context::World;
use gritstone_runs::custom_catalog;
use gritstone_runs::selection::{Chosen, only};
use std::path::{Path, PathBuf};

/// Writes the report of the runs, and says where it is.
pub fn brief(world: &World, args: &ReportArgs) -> Result<Exit> {
    // a name that is wrong is to be known before anything is computed
    for path in &args.out {
        is_pdf(path)?;
    }
    let Chosen { runs, selectors } = world.chosen_or_last(&args.words)?;
    let runs: Vec<RunView> = runs
        .into_iter()
        .map(|(_, mut view)| {
            only(&mut view, &selectors)?;
            Ok(match args.identity.with_identity {
                true => view,
                false => gritstone_exchange::anonymous_view(
                    &view,
                    gritstone_runs::files::home().as_deref(),
                ),
            })
        })
        .collect::<Result<_>>()?;
    let [sheet, whole] = match (runs.as_slice(), args.against.as_deref()) {
        ([run], Some(base)) => of_one(world, run, base)?,
        ([run], None) => of_one(world, run, score::base(world, std::iter::once(run)))?,
        ([base, other], None) => {
            let document = of_two(world, base, other)?;
            [document.clone(), document]
        }
        ([_, _], Some(_)) => {
            bail!("a report of two runs compares the second with the first; leave out --against")
        }
        _ => bail!(
            "a report is of one run, or of two: write one for each pair, e.g. `gritstone report {} {} -o 1.html`; `gritstone compare` prints several at once",
            runs[0].id,
            runs[1].id
        ),
    };
    let out = match args.out.as_slice() {
        [] => &["html", "pdf"].map(|end| default_name(&runs).with_extension(end)),
        paths => paths,
    };
    for path in out {
        let document = match is_pdf(path)? && !args.full {
            true => &sheet,
            false => &whole,
        };
        write(document, path)?;
    }
    Ok(Exit::Done)
}

/// The data sheet of a run, and its whole report.
fn of_one(world: &World, run: &RunView, base: &str) -> Result<[Document; 2]> {
    with_brief(world, run, base, |input| {
        [
            gritstone_report::data_sheet(input),
            gritstone_report::brief(input),
        ]
    })
}

/// The whole report of a run.
pub fn whole(world: &World, run: &RunView, base: &str) -> Result<Document> {
    with_brief(world, run, base, gritstone_report::brief)
}

/// Has something made of all that a report of a run takes.
fn with_brief<T>(
    world: &World,
    run: &RunView,
    base: &str,
    make: impl FnOnce(&Brief) -> T,
) -> Result<T> {
    let base = world.view(base)?;
    different(&base, run)?;
    let references = beside(world, run)?;
    let scores = score::against(world, std::slice::from_ref(run), &base, &[])?;
    let baseline = world.compare(&base, run, crate::command::show::MARGIN);
    Ok(make(&Brief {
        run,
        assessment: &reliability::assess(run),
        scores: &scores,
        base: &base,
        baseline: &baseline,
        references: &references,
        benchmarks: &benchmarks(world, run),
    }))
}

fn of_two(world: &World, base: &RunView, other: &RunView) -> Result<Document> {
    different(base, other)?;
    let compared = world.compare(base, other, crate::command::show::MARGIN);
    Ok(gritstone_report::pair(&Pair {
        base,
        other,
        compared: &compared,
    }))
}

/// Nothing is compared with itself.
fn different(base: &RunView, other: &RunView) -> Result<()> {
    if base.id == other.id {
        bail!(
            "{} cannot be compared with itself; name another run",
            base.id
        );
    }
    Ok(())
}

/// Our entries, and those that the run has kept of a catalog of the user's own.
fn benchmarks(world: &World, run: &RunView) -> Vec<Benchmark> {
    let mut benchmarks = world.catalogue.benchmarks.clone();
    for own in custom_catalog::of_runs(std::slice::from_ref(run)) {
        benchmarks.extend(own.catalogue.benchmarks);
    }
    benchmarks
}

/// Whether a file is to be PDF, and not HTML: by the end of its name.
pub fn is_pdf(path: &Path) -> Result<bool> {
    let end = path.extension().map(|e| e.to_ascii_lowercase());
    match end.as_ref().and_then(|e| e.to_str()) {
        Some("html" | "htm") => Ok(false),
        Some("pdf") => Ok(true),
        _ => bail!(
            "--output {}: the report is HTML or PDF; end the name in .html or .pdf",
            path.display()
        ),
    }
}

pub fn write(document: &Document, path: &Path) -> Result<()> {
    let page = match is_pdf(path)? {
        false => gritstone_document::html::render(document).into_bytes(),
        true => gritstone_pdf::render(document)?,
    };
    let name = path.display();
    std::fs::write(path, page).with_context(|| {
        format!("cannot write the report to {name}; choose a file with --output")
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
    let mut ids = runs.iter().map(|run| run.id.chars().map(plain).collect());
    let first: String = ids.next().unwrap_or_default();
    PathBuf::from(match ids.len() {
        0 => format!("gritstone-brief-{first}"),
        more => format!("gritstone-brief-{first}-and-{more}-more"),
    })
}

/// The systems of the documents that have a result of any benchmark of the run.
fn beside(world: &World, run: &RunView) -> Result<Vec<RunView>> {
    let mut views = vec![];
    let machines = world.references.machines.iter();
    for machine in machines.filter(|of| of.document.as_deref() != Some(MEASURED)) {
        let catalogue = &world.catalogue.benchmarks;
        let view = world.references.view(&machine.id, catalogue)?;
        let mut results = view.results.iter();
        let shared = results.any(|result| run.get(&result.id).is_some());
        if shared && run.id != view.id {
            views.push(view);
        }
    }
    Ok(views)
}
