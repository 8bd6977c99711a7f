//! `gritstone score`: scores of runs and systems by environment, against a base.

use crate::ui::candidates;
use crate::ui::display::FormatArgs;
use crate::ui::exit::Exit;
use crate::ui::output;
use crate::ui::settable::SetBy;
use crate::ui::unknown_word;
use anyhow::{Result, ensure};
use clap::Args;
use gritstone_document::{Block, Document};
use gritstone_model::RunView;
use gritstone_report::{score_lines, scores};
use gritstone_runs::context::Context;
use gritstone_runs::scores;
use gritstone_runs::selection::Selection;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone score
  gritstone score before after --against before
  gritstone score classic --against ref:vax-11-780-4.1bsd
  gritstone score last cpu app/ratings@today-unix
  gritstone score new --against old --profile build")]
pub struct ScoreArgs {
    /// Runs or systems, then benchmarks, families, globs or a score (app/ratings@today-cpu): only these are scored, missing and doubtful ones included [default: last]
    #[arg(value_name = "RUN | SELECTOR", add = candidates::subjects())]
    pub words: Vec<String>,
    /// Baseline run or system [default: ref:amd-epyc-kvm-2026; with all environments of app/ratings measured, their baseline]
    #[arg(long, value_name = "RUN|SYSTEM", add = candidates::runs_and_systems(), add = SetBy::UserFile)]
    pub against: Option<String>,
    /// Score what you do: build, desktop, science, or weights of your own in a file (docs/how-to/my-work.md)
    #[arg(long, value_name = "NAME|FILE.toml", add = SetBy::UserFile)]
    pub profile: Option<String>,
    #[command(flatten)]
    pub format: FormatArgs,
}

pub fn score(context: &Context, args: &ScoreArgs) -> Result<Exit> {
    let selected = context.select_runs_or_last(&args.words);
    let Selection { runs, selectors: by } =
        selected.map_err(|why| unknown_word::explain(context, &args.words, why))?;
    let profile = match &args.profile {
        Some(name) => Some(scores::profile(context, name)?),
        None => None,
    };
    ensure!(
        profile.is_none() || by.is_empty(),
        "--profile, which a configuration file may set, names its benchmarks itself: leave out {}",
        by.join(" ")
    );
    let base = match &args.against {
        Some(name) => name,
        None => scores::base(context, runs.iter().map(|(_, view)| view)),
    };
    let base = context.view(base)?;
    let machines: Vec<RunView> = runs.into_iter().map(|(_, view)| view).collect();
    let view = match profile {
        Some(profile) => scores::by_profile(context, &machines, &base, profile),
        None => scores::against(context, &machines, &base, &by)?,
    };
    output::write(args.format.format, &view, || scores(&view))?;
    let rated = view.machines.iter().all(|machine| {
        let programs = machine.programs.as_ref();
        let overall = programs.map(|programs| &programs.overall);
        let mut overall = overall.into_iter().chain([&machine.one_cpu.overall]);
        overall.any(|overall| overall.score.is_some())
    });
    Ok(if rated { Exit::Done } else { Exit::Inconclusive })
}

/// Prepends the scores of a run to its tables, if it has any. A partial run has none.
///
/// # Errors
/// When the base cannot be read.
pub fn prepend_scores(
    context: &Context,
    tables: &mut Document,
    run: &RunView,
    base: Option<&RunView>,
) -> Result<()> {
    if run.is_partial() {
        return Ok(());
    }
    let base = match base {
        Some(base) => base,
        None => &context.view(scores::base(context, std::iter::once(run)))?,
    };
    let view = scores::against(context, std::slice::from_ref(run), base, &[])?;
    let everything = run.settings.as_ref().is_some_and(|s| s.suite.as_deref() == Some("full"));
    for machine in &view.machines {
        let programs = machine.programs.as_ref();
        let programs = programs.is_some_and(|programs| programs.overall.score.is_some());
        if everything || programs || machine.one_cpu.overall.score.is_some() {
            let lines = score_lines(tables, &view, machine).into_iter();
            let lines = lines.map(Block::Paragraph);
            tables.blocks.splice(0..0, lines);
        }
    }
    Ok(())
}
