//! `gritstone check`: a run compared with earlier runs or with another, as a gate of CI.

use crate::ui::args::{OnInconclusive, SameArgs};
use crate::ui::candidates;
use crate::ui::exit::Exit;
use crate::ui::gate::{self as gate_output, GateFormat};
use crate::ui::output;
use crate::ui::settable::SetBy;
use crate::ui::value_parsers;
use anyhow::{Context as _, Result, bail};
use clap::Args;
use gritstone_analysis::check as gate;
use gritstone_document::number;
use gritstone_model::{CheckOutcome, CheckRow, CheckView, Id, RunView, Selector, pluralize};
use gritstone_plan::Selectors;
use gritstone_runs::context::Context;
use gritstone_runs::gate::{Filter, against_history as history_gate, later_than_now, other_run};

/// Probability of a false alarm over all benchmarks of a run.
const ALPHA: f64 = 0.01;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone check                     against earlier runs of this machine
  gritstone check --against main --max-slowdown 3%")]
pub struct CheckArgs {
    /// Run, then benchmarks, families or globs [default: last]
    #[arg(value_name = "RUN | SELECTOR", add = candidates::subjects())]
    pub words: Vec<String>,
    /// Run, label or file to compare with [default: earlier runs of this system; exit 4 until four are stored]
    #[arg(long, value_name = "RUN", conflicts_with = "same", add = candidates::runs_and_systems(), add = SetBy::UserFile)]
    pub against: Option<String>,
    /// Allowed slowdown
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = value_parsers::share)]
    pub max_slowdown: f64,
    /// Exit with 4 unless every benchmark would have failed if it were slower by SHARE (power 90%)
    #[arg(long, value_name = "SHARE", value_parser = value_parsers::share)]
    pub detect: Option<f64>,
    /// Only runs whose label matches are compared with, e.g. 'main-*'
    #[arg(long, value_name = "LABEL", conflicts_with = "against")]
    pub base_label: Option<String>,
    /// Only runs of commits on this branch are compared with
    #[arg(long, value_name = "NAME", conflicts_with = "against")]
    pub base_branch: Option<String>,
    #[command(flatten)]
    pub same: SameArgs,
    /// Accept the new level of BENCHMARK, which RUN shows (later runs are compared with it), or that it is no longer measured
    #[arg(long, value_name = "BENCHMARK", conflicts_with = "against")]
    pub accept: Vec<String>,
    /// What an inconclusive run does: fail exits with 4, pass with 0
    #[arg(long, value_name = "OUTCOME", default_value = "fail")]
    pub inconclusive: OnInconclusive,
    /// Output format
    #[arg(short, long, value_enum, default_value_t)]
    pub format: GateFormat,
}

pub fn check(context: &Context, args: &CheckArgs) -> Result<Exit> {
    check_options(args)?;
    let (_, run, selectors) = context.whole_run(&args.words)?;
    remark_future(context, &run.machine.id)?;
    if run.is_unfinished() {
        output::remark(&format!("run {} has not ended, and is checked as far as it came", run.id));
    }
    let mut view = match &args.against {
        Some(base) => {
            if base.starts_with("ref:") {
                bail!(
                    "{base} was printed in a document, and check compares runs: name a run, a label or a file"
                );
            }
            let base = other_run(context, base, &run)?;
            let compared = context.compare_for_gate(&base, &run, args.max_slowdown, ALPHA);
            gate::check(&compared, [&base, &run], args.max_slowdown, ALPHA)
        }
        None => {
            if let Some(side) = run.settings.as_ref().and_then(|s| s.trial.as_ref()) {
                bail!(
                    "run {} is side {} of an A/B test, which no history includes: `gritstone ab --of` shows its verdict; name another run, or give --against",
                    run.id,
                    side.side
                );
            }
            let view = against_history(context, &run, args)?;
            match args.accept.is_empty() {
                true => view,
                false => {
                    accept(context, &view, &args.accept)?;
                    against_history(context, &run, args)?
                }
            }
        }
    };
    if let Some(detect) = args.detect {
        gate::require_detectable(&mut view, detect);
    }
    show_selected(&mut view, &selectors)?;
    let passes = args.inconclusive == OnInconclusive::Pass;
    let document = gritstone_report::check(&view, output::detail());
    let output = gritstone_exchange::check_output(&view, passes);
    gate_output::print(args.format, &view, &output, Some(document))?;
    Ok(match view.outcome {
        CheckOutcome::Passed => Exit::Done,
        CheckOutcome::Regressed => Exit::CheckFailed,
        CheckOutcome::Inconclusive if passes => Exit::Done,
        CheckOutcome::Inconclusive => Exit::Inconclusive,
    })
}

/// Refuses options that contradict each other.
fn check_options(args: &CheckArgs) -> Result<()> {
    if let Some(detect) = args.detect
        && detect <= args.max_slowdown
    {
        bail!(
            "--detect {} is within the slowdown that --max-slowdown allows, {}: name a larger one",
            number::percent_option(detect),
            number::percent_option(args.max_slowdown)
        );
    }
    if args.detect.is_some() && args.inconclusive == OnInconclusive::Pass {
        bail!("--inconclusive pass lets a run pass that --detect would stop: leave out one");
    }
    Ok(())
}

/// No selector shows all. The verdicts are those over the whole run.
fn show_selected(view: &mut CheckView, selectors: &[String]) -> Result<()> {
    let selectors = Selectors::new(selectors);
    let judged = || view.rows.iter().map(|row| &row.row.id);
    let ids = || judged().chain(view.missing.iter().map(|missing| &missing.id));
    if let Some(selector) = selectors.unmatched(ids) {
        bail!(
            "run {} has nothing to check that matches '{selector}': `gritstone show {}` lists its results",
            view.run,
            view.run
        );
    }
    let is_hidden =
        |row: &&CheckRow| row.outcome == CheckOutcome::Regressed && !selectors.select(&row.row.id);
    let hidden = view.rows.iter().filter(is_hidden).count();
    gate::select_benchmarks(view, |id| selectors.select(id));
    if hidden > 0 {
        output::remark(&format!(
            "{hidden} {} of the run regressed and {} not selected",
            pluralize(hidden, "benchmark"),
            if hidden == 1 { "is" } else { "are" }
        ));
    }
    Ok(())
}

/// Accepts the new levels of regressed benchmarks, and that missing ones are no longer measured.
fn accept(context: &Context, view: &CheckView, names: &[String]) -> Result<()> {
    let regressed = view
        .rows
        .iter()
        .filter(|row| row.outcome == CheckOutcome::Regressed && row.row.ratio.is_some())
        .map(|row| &row.row.id);
    let failed = view.rows.iter().filter(|row| row.row.ratio.is_none());
    let failed = failed.filter(|row| row.outcome == CheckOutcome::Regressed);
    let missing = view.missing.iter().map(|missing| &missing.id);
    let stopped: Vec<&Id> = regressed.chain(missing).collect();
    let mut accepted: Vec<Id> = vec![];
    for name in names {
        let selector = Selector::new(name);
        let before = accepted.len();
        accepted.extend(stopped.iter().filter(|id| selector.matches(id)).map(|id| (*id).clone()));
        if accepted.len() > before {
            continue;
        }
        if let Some(row) = failed.clone().find(|row| selector.matches(&row.row.id)) {
            bail!(
                "{} failed in run {}, and a failure has no level that can be accepted",
                row.row.id,
                view.run
            );
        }
        bail!(
            "{name} is neither regressed nor missing in run {}: there is nothing to accept",
            view.run
        );
    }
    let mut store = context.administrator()?;
    store.accept(&view.run, &accepted).context(
        "only the level of a stored run can be accepted: `gritstone import` stores one that comes from a file",
    )?;
    let names: Vec<&str> = accepted.iter().map(Id::as_str).collect();
    output::remark(&format!("accepted in {}: {}", view.run, names.join(", ")));
    Ok(())
}

/// Warns of a stored run of a machine that starts in the future.
pub fn remark_future(context: &Context, machine: &str) -> Result<()> {
    if let Some(head) = later_than_now(context, machine)? {
        output::remark(&format!(
            "run {} starts in the future, at {}: the clock was wrong. `gritstone runs remove {}` removes it.",
            head.id, head.started, head.id
        ));
    }
    Ok(())
}

/// Checks a run, stored or not, against comparable stored runs.
fn against_history(context: &Context, run: &RunView, args: &CheckArgs) -> Result<CheckView> {
    let filter = Filter {
        label: args.base_label.as_deref(),
        branch: args.base_branch.as_deref(),
        same: &args.same.same,
    };
    history_gate(context, run, &filter, args.max_slowdown)
}
