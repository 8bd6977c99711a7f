//! `gritstone run`: plans, measures, stores and shows a run.

pub mod args;
pub mod dry_run;
pub mod job;
mod resume;

use crate::command::{check, score};
use crate::ui::display::Format;
use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::Result;
use args::RunArgs;
use gritstone_document::Document;
use gritstone_model::{Finding, RunView};
use gritstone_report::Comparison;
use gritstone_runs::context::Context;
use gritstone_session::local_backend::End;
use gritstone_session::undo;
use job::Job;

pub fn run(context: &Context, args: &RunArgs) -> Result<Exit> {
    undo::recover();
    // reports a wrong name before measuring
    let against = args.against.as_ref().map(|name| context.view(name));
    let against = against.transpose()?;
    let job = match &args.resume {
        Some(name) => resume::job(context, name, args)?,
        None => Job::new(context, args)?,
    };
    if args.dry_run {
        return job.list(context, args.format.format);
    }
    check::remark_future(context, &gritstone_runs::context::this_machine().id)?;
    let (view, end) = job.measure(context)?;
    let view = context.with_run_variance(view);
    show(context, args, &view, against.as_ref())?;
    match end? {
        End::Interrupted => Ok(Exit::Interrupted),
        End::Whole => check_measured(&view),
    }
}

fn show(
    context: &Context,
    args: &RunArgs,
    view: &RunView,
    against: Option<&RunView>,
) -> Result<()> {
    match args.format.format {
        Format::Json => {
            output::json(view)?;
            if let Some(base) = args.against.as_ref().filter(|_| !context.no_store) {
                output::remark(&format!(
                    "the comparison: gritstone compare {base} {} --format json",
                    view.id
                ));
            }
            Ok(())
        }
        Format::Text => {
            let mut tables = gritstone_report::show(view, output::detail());
            score::prepend_scores(context, &mut tables, view, against)?;
            let compared = against.map(|base| {
                let compared = context.compare(base, view, gritstone_runs::context::MARGIN);
                let shown =
                    Comparison { sides: &[base, view], detail: output::detail(), changed: false };
                gritstone_report::compare(&compared, shown)
            });
            let documents: Vec<&Document> = [&tables].into_iter().chain(&compared).collect();
            output::texts(&documents)?;
            match view.elapsed_s {
                _ if context.no_store => {}
                None => output::remark("\nnext: gritstone run --resume   gritstone show -v"),
                Some(_) => output::remark(
                    "\nnext: gritstone show -v   gritstone report   gritstone compare RUN last",
                ),
            }
            Ok(())
        }
    }
}

/// Fails if no benchmark has an estimate.
pub fn check_measured(view: &RunView) -> Result<Exit> {
    if view.results.iter().any(|result| result.estimate().is_some()) {
        return Ok(Exit::Done);
    }
    let mut notes = view.results.iter().flat_map(|result| &result.notes);
    let why = notes.find(|note| {
        matches!(
            note.finding,
            Finding::NotReached { .. } | Finding::Unavailable { .. } | Finding::Failed { .. }
        )
    });
    let message = |note| {
        let message = gritstone_report::findings::message(note);
        format!(": {}", message.trim_end_matches('.'))
    };
    Err(Exit::NothingMeasured.because(format!(
        "nothing could be measured{}; `gritstone doctor` looks for the cause",
        why.map_or_else(String::new, message)
    )))
}
