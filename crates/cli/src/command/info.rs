//! `gritstone info`: one benchmark, described.

use crate::ui::candidates;
use crate::ui::exit::Exit;
use crate::ui::output;
use crate::ui::settable::SetBy;
use anyhow::{Context as _, Result};
use clap::Args;
use gritstone_document::Document;
use gritstone_exec::privileged::Permits;
use gritstone_plan::{select_refs, why_not};
use gritstone_runs::context::Context;
use gritstone_session::host_context::HostContext;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone info byte/pipe")]
pub struct InfoArgs {
    /// Benchmark
    #[arg(value_name = "BENCHMARK", add = candidates::benchmarks())]
    pub benchmark: String,
    /// Add the custom benchmarks in DIR
    #[arg(long, value_name = "DIR", add = SetBy::UserFile)]
    pub catalog: Option<PathBuf>,
}

pub fn info(context: Context, args: &InfoArgs) -> Result<Exit> {
    let context = context.with_catalog(args.catalog.as_deref())?;
    let id = &args.benchmark;
    let found = select_refs(&context.catalogue.benchmarks, std::slice::from_ref(id))?;
    // the parts of a derived benchmark are selected, too
    let benchmark = found.into_iter().find(|benchmark| benchmark.id.as_str() == id);
    let benchmark = benchmark.with_context(|| {
        format!("'{id}' selects several benchmarks: `gritstone list '{id}'` lists them")
    })?;
    let offer = HostContext::probe(None)?.offer(
        [benchmark],
        Permits::default(),
        context.custom.as_ref(),
        false,
    );
    let here = why_not(benchmark, &offer).map_or("yes".to_owned(), |why| format!("no: {why}"));
    let mut document = Document::new(format!("{}: {}", benchmark.id, benchmark.title));
    let facts = gritstone_catalogue::facts(benchmark).into_iter();
    let facts = facts.map(|(name, text)| (name, text.replace('`', "")));
    document.terms(facts.chain([("Runs here", here)]));
    output::text(&document)?;
    Ok(Exit::Done)
}
