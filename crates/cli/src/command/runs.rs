//! `gritstone runs`: lists stored runs; labels, removes, prunes and verifies them.

mod prune;

use crate::ui::candidates;
use crate::ui::display::FormatArgs;
use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::{Context as _, Result, bail};
use clap::{Args, Subcommand};
use gritstone_model::{ListedRun, RunList, SCHEMA_RUNS};
use gritstone_report::plural;
use gritstone_runs::context::Context;
use gritstone_runs::listing::listed;
use gritstone_session::undo;
use gritstone_store::{Kind, trial_of};
use prune::{PruneArgs, prune};

/// Runs that are listed without `--all`.
const NEWEST: usize = 30;

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  gritstone runs                          the newest 30
  gritstone runs label 55387f54 baseline
  gritstone runs remove 55387f54
  gritstone runs prune --keep-samples 90d
  gritstone runs verify"
)]
pub struct RunsArgs {
    /// List all of them [default: the newest 30, without sides of A/B tests]
    #[arg(short, long)]
    pub all: bool,
    #[command(flatten)]
    pub format: FormatArgs,
    #[command(subcommand)]
    pub command: Option<RunsCommand>,
}

#[derive(Debug, Subcommand)]
pub enum RunsCommand {
    /// Label a run
    Label {
        /// The run
        #[arg(add = candidates::runs())]
        run: String,
        /// Its new label
        label: String,
    },
    /// Remove a whole run; the store records that it was there
    Remove {
        /// The run: its id or a part of it, its label, or `last`
        #[arg(add = candidates::runs())]
        run: String,
    },
    /// Remove the raw samples of old runs, and keep their results
    Prune(PruneArgs),
    /// Read the whole store, and compare every checksum
    Verify,
}

/// `gritstone runs`.
pub fn runs(context: &Context, args: &RunsArgs) -> Result<Exit> {
    match &args.command {
        Some(RunsCommand::Label { run, label }) => {
            let mut store = context.administrator()?;
            let id = context.resolve(&store, run)?;
            store.label(&id, label)?;
            output::remark(&format!("run {id} is labeled '{label}'"));
            Ok(Exit::Done)
        }
        Some(RunsCommand::Remove { run }) => {
            let mut store = context.administrator()?;
            let id = context.resolve(&store, run)?;
            if let Some(process) = undo::measuring(None).get(&id) {
                bail!("run {id} is being measured by process {process}: stop that first");
            }
            store.remove(&id)?;
            output::remark(&format!("run {id} is removed; the store records the removal"));
            Ok(Exit::Done)
        }
        Some(RunsCommand::Prune(args)) => prune(context, args),
        Some(RunsCommand::Verify) => verify(context),
        None => list(context, args),
    }
}

fn list(context: &Context, args: &RunsArgs) -> Result<Exit> {
    let mut newest = match context.reader()? {
        Some(store) => store.newest_runs(None, usize::MAX)?,
        None => {
            let path = context.store_path()?;
            let path = path.display();
            output::remark(&format!("no store at {path}: `gritstone run --quick` makes one"));
            vec![]
        }
    };
    let all = newest.len();
    let mut tests = newest.iter().filter(|run| run.kind == Kind::Ab);
    let test = tests.find_map(|run| Some(trial_of(run.label.as_deref()?)?.to_owned()));
    if !args.all {
        newest.retain(|run| run.kind != Kind::Ab);
    }
    let sides = all - newest.len();
    let runs = newest.len();
    newest.truncate(if args.all { usize::MAX } else { NEWEST });
    let measuring = undo::measuring(None);
    let list = newest.into_iter().map(|head| {
        let run = listed(head);
        let measuring = measuring.contains_key(&run.id);
        ListedRun { measuring: run.elapsed_s.is_none().then_some(measuring), ..run }
    });
    let list = RunList { schema: SCHEMA_RUNS.to_owned(), runs: list.collect() };
    output::write(args.format.format, &list, || {
        let mut document = gritstone_report::runs(&list.runs);
        let older = runs - list.runs.len();
        let older = (older > 0).then(|| plural(older, "older run"));
        let sides = (sides > 0).then(|| format!("{} of A/B tests", plural(sides, "side")));
        let hidden: Vec<String> = older.into_iter().chain(sides).collect();
        if !hidden.is_empty() {
            document.paragraph(format!("Not listed: {} (--all).", hidden.join(", ")));
        }
        if let Some(test) = test {
            document.paragraph(format!("`gritstone ab --of {test}` shows the newest test."));
        }
        document
    })?;
    Ok(Exit::Done)
}

/// `gritstone runs verify`: prints a line per fault.
fn verify(context: &Context) -> Result<Exit> {
    let store = context.reader()?.context("the store has no runs")?;
    let damaged = store.verify()?;
    if damaged.is_empty() {
        output::plain(&format!("{}, all checksums match\n", plural(store.count()?, "run")))?;
        return Ok(Exit::Done);
    }
    output::plain(&(damaged.join("\n") + "\n"))?;
    Err(Exit::CheckFailed.because(
        "the store is damaged: export the runs that are whole, move the database away, and import them again",
    ))
}
