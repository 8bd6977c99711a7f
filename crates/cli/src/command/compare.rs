//! `gritstone compare`: runs and systems compared with a base.

use crate::ui::candidates;
use crate::ui::display::{Format, FormatArgs};
use crate::ui::exit::Exit;
use crate::ui::output;
use crate::ui::settable::SetBy;
use crate::ui::unknown_word;
use crate::ui::value_parsers;
use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;
use gritstone_analysis::compare;
use gritstone_analysis::side::Side;
use gritstone_document::Document;
use gritstone_model::{CompareView, Id, RunView};
use gritstone_report::Comparison;
use gritstone_runs::context::Context;
use gritstone_runs::selection::{Selection, retain_selected};
use std::collections::BTreeSet;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone compare before after
  gritstone compare before after 'byte/*' --changed
  gritstone compare --all-runs old-kernel new-kernel
  gritstone compare ref:vax-11-780-4.1bsd last")]
pub struct CompareArgs {
    /// Base, then the runs or systems to compare with it, then benchmarks, families or globs; several runs of a side with commas
    /// between (before-1,before-2): their medians are compared
    #[arg(required = true, value_name = "RUN[,RUN]... | SELECTOR", add = candidates::subjects())]
    pub words: Vec<String>,
    /// A label names all runs that have it, not the newest
    #[arg(short, long)]
    pub all_runs: bool,
    /// Show only what is faster or slower
    #[arg(short, long)]
    pub changed: bool,
    /// Differences within this margin are "same"
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = value_parsers::share, add = SetBy::UserFile)]
    pub margin: f64,
    #[command(flatten)]
    pub format: FormatArgs,
}

pub fn compare(context: &Context, args: &CompareArgs) -> Result<Exit> {
    ensure!(
        !args.changed || args.format.format == Format::Text,
        "--changed shortens tables, and JSON has all results with their verdicts: leave it out"
    );
    // one connection for all runs; the first run reports an unreadable store
    let store = args.words.iter().any(|name| context.is_store_name(name));
    let store = store.then(|| context.reader());
    let selected = context.select_sides(&args.words, args.all_runs);
    let Selection { runs, selectors } =
        selected.map_err(|why| unknown_word::explain(context, &args.words, why))?;
    ensure!(
        runs.len() > 1,
        "compare needs a base and a run, e.g. `gritstone compare {} last`",
        match runs.first() {
            Some((word, _)) if word != "last" => word,
            _ => "last~1",
        }
    );
    let (base, others) = runs.split_first().context("no run is named")?;
    for (word, other) in others {
        let is_in_base = |run: &&RunView| base.1.iter().any(|base_run| base_run.id == run.id);
        if let Some(run) = other.iter().find(is_in_base) {
            bail!("{} is on both sides: '{}' and '{word}'", run.id, base.0);
        }
    }
    let sides = runs.into_iter().map(|(word, runs)| side(&word, runs));
    let sides: Vec<Side> = sides.collect::<Result<_>>()?;
    let mut shown: Vec<RunView> = sides.iter().map(|side| side.view.clone().into_owned()).collect();
    retain_selected(&mut shown, &selectors)?;
    let results = shown.iter().flat_map(|view| &view.results);
    let selected: BTreeSet<Id> = results.map(|result| result.id.clone()).collect();
    let (base, others) = sides.split_first().context("no run is named")?;
    // tests are corrected for all benchmarks of the runs, shown or not
    let compared = others.iter().map(|other| {
        context.compare_sides(&[base.clone(), other.clone()], args.margin, selected.clone())
    });
    let views: Vec<CompareView> = compared.collect();
    // a pager may keep the output open for long
    drop(store);
    match (args.format.format, views.as_slice()) {
        (Format::Json, [one]) => output::json(one)?,
        (Format::Json, many) => output::json(&many)?,
        (Format::Text, many) => {
            let pairs = many.iter().zip(&shown[1..]);
            let documents = pairs.map(|(view, other)| {
                let sides = &[&shown[0], other];
                let (detail, changed) = (output::detail(), args.changed);
                gritstone_report::compare(view, Comparison { sides, detail, changed })
            });
            let documents: Vec<Document> = documents.collect();
            output::texts(&documents.iter().collect::<Vec<_>>())?;
        }
    }
    Ok(Exit::Done)
}

fn side(word: &str, runs: Vec<RunView>) -> Result<Side<'static>> {
    let apart = compare::runs_differ_in(&runs);
    if !apart.is_empty() {
        let facts = apart.iter().map(|difference| difference.what.as_str());
        let facts: BTreeSet<&str> = facts.collect();
        let facts = facts.into_iter().collect::<Vec<_>>().join(", ");
        log::warn!("the runs of {word} differ in {facts}");
    }
    Side::new(runs).with_context(|| format!("cannot compare '{word}'"))
}
