//! `gritstone ab`: a trial of commands, compilers, environments or settings.

pub mod args;
mod plan;
mod sides;

use crate::ui::exit::Exit;
use crate::ui::output;
use crate::ui::progress::Display;
use crate::ui::skips;
use anyhow::{Context as _, Result};
use args::AbArgs;
use gritstone_catalogue::CustomBenchmarks;
use gritstone_exec::{Journal, UndoBy, Variant};
use gritstone_model::{AbView, Benchmark, Plan, Verdict};
use gritstone_runs::context::Context;
use gritstone_runs::custom_catalog;
use gritstone_session::bounds::Bounds;
use gritstone_session::host_context::HostContext;
use gritstone_session::local_backend::{self, End};
use gritstone_session::measuring::Session;
use gritstone_session::trial::{self, Measured, Trial, command_step};
use gritstone_session::tune::NO_JOURNAL;
use gritstone_session::undo;
use sides::{Side, Sides};

pub fn ab(context: &Context, args: &AbArgs) -> Result<Exit> {
    let show = |view: &AbView| {
        output::write(args.format.format, view, || match context.no_store {
            true => gritstone_report::ab_unstored(view),
            false => gritstone_report::ab(view),
        })
    };
    if let Some(name) = &args.of {
        let view = stored(context, name)?;
        show(&view)?;
        return outcome(&view);
    }
    let sides = sides::read(args)?;
    undo::recover();
    let Measured { runs, end } = measured(context, args, &sides)?;
    let view = context.trial_of_runs(&runs);
    if end.is_ok() || view.has_estimate() {
        show(&view)?;
    }
    match end? {
        End::Interrupted => {
            output::remark("interrupted");
            Ok(Exit::Interrupted)
        }
        End::Whole => outcome(&view),
    }
}

fn measured(context: &Context, args: &AbArgs, sides: &Sides) -> Result<Measured> {
    let host = HostContext::probe(args.dir.as_deref())?;
    let mut plan = plan::plan(context, args, &host, sides)?;
    let custom = context.custom.as_ref();
    let mut bounds = Bounds::new(args.privileges.permits());
    bounds.deadline = match args.commands.as_slice() {
        [] => bounds.deadline.min(args.budget),
        // a command may use the whole budget
        _ => args.budget,
    };
    let mut session = Session::new(&host, &mut plan, custom, bounds)?;
    let builds = plan::builds(&session, &mut plan, sides)?;
    let ab = AbTrial {
        args,
        plan: &plan,
        custom,
        start_up: start_up(args, &host),
        trial: Trial {
            budget: args.budget,
            margin: args.margin,
            same: sides.same,
            stored: !context.no_store,
            ..Trial::new(&host, "ab", args.label.clone(), args.seed)
        },
    };
    ab.announce(sides);
    session.undo = undo(sides, session.journal.as_ref())?;
    session.probes = context.machine_probes(&host.machine().id);
    let sides = sides.sides.iter().zip(builds).enumerate();
    let sides = sides.map(|(index, (side, build))| ab.side(index, side, build));
    let sides: Vec<local_backend::Side> = sides.collect();
    let mut scheduler = (ab.trial).scheduler(&sides, ab.start_up.is_some(), None);
    let mut store = context.writer()?;
    let end = session.measure(&mut store, &sides, None, scheduler.as_mut(), &mut Display::new());
    trial::measured(&store, &sides, end)
}

struct AbTrial<'a> {
    args: &'a AbArgs,
    trial: Trial<'a>,
    plan: &'a Plan,
    custom: Option<&'a CustomBenchmarks>,
    /// The start-up benchmark, if commands are timed.
    start_up: Option<Benchmark>,
}

impl AbTrial<'_> {
    fn side(
        &self,
        index: usize,
        side: &Side,
        (builds, compiled): plan::SideBuild,
    ) -> local_backend::Side {
        let mut plan = self.plan.clone();
        for benchmark in &mut plan.benchmarks {
            let mut commands = side.commands.iter();
            if let Some(command) = commands.find(|command| command.id == benchmark.id) {
                benchmark.clone_from(command);
            }
        }
        let mut settings = self.trial.settings(&side.name, &side.what);
        settings.selectors = self.args.selectors();
        // of the environment of user commands, only what was set on the command line is stored
        if side.commands.is_empty() {
            settings.environment = self.trial.host.environment();
        }
        settings.environment.extend(side.environment.iter().cloned());
        settings.catalogue = custom_catalog::used_catalog(self.custom, &plan.benchmarks);
        if let Some(trial) = &mut settings.trial {
            trial.compiled = compiled;
        }
        let info = self.trial.run_info(&side.name, settings);
        if let Some(nothing) = self.start_up.as_ref().filter(|_| index == 0) {
            plan.steps.push(command_step(nothing));
            plan.benchmarks.push(nothing.clone());
        }
        local_backend::Side {
            name: side.name.clone(),
            plan,
            variant: Variant {
                environment: plan::environment(self.trial.host, side),
                builds,
                side: index,
            },
            setting: side.setting.clone(),
            info,
        }
    }

    fn announce(&self, sides: &Sides) {
        let benchmarks = match self.plan.steps.len() {
            1 => String::new(),
            n => format!("{n} benchmarks, "),
        };
        let seconds = self.args.budget.as_secs();
        let label = match self.trial.stored {
            true => format!(" {}", self.trial.label),
            false => String::new(),
        };
        output::remark(&format!("A/B test{label}: {benchmarks}at most {seconds} s"));
        for side in &sides.sides {
            output::remark(&format!("  {}: {}", side.name, side.what));
        }
        skips::announce(self.plan);
    }
}

/// Benchmark of a program that does nothing, if commands are timed.
fn start_up(args: &AbArgs, host: &HostContext) -> Option<Benchmark> {
    let program = host.program("true").filter(|_| !args.commands.is_empty())?;
    Some(sides::start_up(&program.to_string_lossy()))
}

/// The command that undoes settings, if any is made.
fn undo(sides: &Sides, journal: Option<&Journal>) -> Result<Option<UndoBy>> {
    if sides.sides.iter().all(|side| side.setting.is_none()) {
        return Ok(None);
    }
    let command = sides.undo.as_deref().context("--a and --b need --undo")?;
    let directory = std::env::current_dir()
        .context("cannot read the current directory, in which --undo runs")?;
    let prepare = || {
        let settings = journal.context(NO_JOURNAL)?.lock_settings()?;
        Ok(Some(settings.undo_by(command, &directory)?))
    };
    prepare().map_err(|why: anyhow::Error| {
        anyhow::anyhow!("settings are not changed, because nothing would restore them: {why}")
    })
}

/// Finds a stored trial by its label, or by one of its runs.
fn stored(context: &Context, name: &str) -> Result<AbView> {
    let store = context
        .reader()?
        .context("no A/B test is stored yet: `gritstone ab -- ./old -- ./new` makes one")?;
    let heads = store.runs()?;
    let mut newest = heads.iter().rev();
    let is_first = |label: &str| gritstone_store::trial_of(label) == Some(name);
    let id = match newest.find(|head| head.label.as_deref().is_some_and(is_first)) {
        Some(head) => head.id.clone(),
        None => context.resolve(&store, name)?,
    };
    context.trial(&store, &id)
}

fn outcome(view: &AbView) -> Result<Exit> {
    if !view.has_estimate() {
        let what = "nothing could be measured; `gritstone doctor` looks for the cause";
        return Err(Exit::NothingMeasured.because(what));
    }
    let any = |verdicts: &[Verdict]| {
        let mut comparisons = view.rows.iter().flat_map(|row| &row.comparisons);
        comparisons.any(|c| verdicts.contains(&c.verdict))
    };
    Ok(if view.same && any(&[Verdict::Faster, Verdict::Slower]) {
        Exit::CheckFailed
    } else if any(&[Verdict::Inconclusive]) {
        Exit::Inconclusive
    } else {
        Exit::Done
    })
}
