//! `gritstone compare`: runs and systems compared with a base.

use crate::ui::candidates;
use crate::ui::display::{Format, FormatArgs};
use crate::ui::exit::Exit;
use crate::ui::output;
use crate::ui::settable::SetBy;
use crate::ui::value_parsers;
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use gritstone_model::{CompareView, Id};
use gritstone_report::Comparison;
use gritstone_runs::context::{Context, is_store_name};
use gritstone_runs::selection::{Selection, retain_selected};
use std::collections::BTreeSet;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone compare before after
  gritstone compare before after 'byte/*' --changed
  gritstone compare ref:vax-11-780-4.1bsd last")]
pub struct CompareArgs {
    /// Base, then the runs or systems to compare with it, then benchmarks, families or globs
    #[arg(required = true, value_name = "RUN | SELECTOR", add = candidates::subjects())]
    pub words: Vec<String>,
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
    // one connection for all runs; the first run reports an unreadable store
    let store = args.words.iter().any(|name| is_store_name(name));
    let store = store.then(|| context.reader());
    let Selection {
        mut runs,
        selectors,
    } = context.select_runs(&args.words)?;
    ensure!(
        runs.len() > 1,
        "compare needs a base and a run, e.g. `gritstone compare {} last`",
        args.words[0]
    );
    let whole = runs.clone();
    let mut selected: BTreeSet<Id> = BTreeSet::new();
    for (_, run) in &mut runs {
        retain_selected(run, &selectors)?;
        selected.extend(run.results.iter().map(|result| result.id.clone()));
    }
    let (base, others) = runs.split_first().context("no run is named")?;
    // the family of the tests is that of the runs, whatever is shown of it
    let compared = whole[1..].iter().map(|(_, other)| {
        context.compare_selected(&whole[0].1, other, args.margin, selected.clone())
    });
    let views: Vec<CompareView> = compared.collect();
    // a pager may keep the output open for long
    drop(store);
    match (args.format.format, views.as_slice()) {
        (Format::Json, [one]) => output::json(one)?,
        (Format::Json, many) => output::json(&many)?,
        (Format::Text, many) => {
            for (i, (view, (_, other))) in many.iter().zip(others).enumerate() {
                if i > 0 {
                    output::plain("\n")?;
                }
                let shown = Comparison {
                    sides: &[&base.1, other],
                    detail: output::detail(),
                    changed: args.changed,
                };
                output::text(&gritstone_report::compare(view, shown))?;
            }
        }
    }
    Ok(Exit::Done)
}
