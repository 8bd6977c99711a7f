//! `gritstone bench`: times commands, interleaved, with the options of hyperfine.

pub mod args;
mod expand;
mod export;
mod overhead;
mod shell_words;

use crate::ui::display::Format;
use crate::ui::exit::Exit;
use crate::ui::output;
use crate::ui::progress::Display;
use anyhow::{Context as _, Result};
use args::{BenchArgs, Sort, StyleType};
use expand::{Commands, Timed};
use gritstone_exec::privileged::Permits;
use gritstone_exec::{ExecError, Variant};
use gritstone_measure::Backend;
use gritstone_model::{AbView, Calibration, Outcome, Plan, Work};
use gritstone_report::{Ranking, Timing};
use gritstone_runs::context::Context;
use gritstone_session::bounds::Bounds;
use gritstone_session::host_context::HostContext;
use gritstone_session::local_backend::{self, End, LocalBackend, plans};
use gritstone_session::measuring::Session;
use gritstone_session::signals;
use gritstone_session::trial::{self, Trial, command_step, side_name, user_environment};
use gritstone_session::undo;
use overhead::Overhead;
use std::path::Path;
use std::process::Stdio;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Time limit of a launch: user commands have no other.
const MAX_LAUNCH_TIME: Duration = Duration::from_hours(24);
/// Default budget of several commands, and of one alone.
const BUDGET: Duration = Duration::from_secs(30);
const BUDGET_ALONE: Duration = Duration::from_secs(3);
/// Executions of a command alone, however long they take.
const MIN_RUNS_ALONE: u32 = 10;

pub fn bench(context: &Context, args: &BenchArgs) -> Result<Exit> {
    let commands = expand::read(args)?;
    export::check(args)?;
    undo::recover();
    if args.inherits_output() {
        output::append();
    }
    let measured = measure(context, args, &commands)?;
    let runs = &measured.trial.runs;
    let view = gritstone_analysis::ab::view(runs, &context.summary_options(runs));
    let shown = match view.has_estimate() {
        true => show(args, &commands, &measured, &view),
        false => Ok(()),
    };
    let label = &measured.label;
    let hint = || format!("stored: `gritstone ab --of {label}` shows it");
    let end = match (measured.trial.end, shown) {
        (Err(why), Err(unshown)) => return Err(why.context(format!("{unshown:#}"))),
        (Err(why), Ok(())) => return Err(why),
        (Ok(_), Err(why)) if context.no_store => return Err(why),
        (Ok(_), Err(why)) => return Err(why.context(hint())),
        (Ok(end), Ok(())) => end,
    };
    match end {
        End::Interrupted => {
            output::remark("interrupted");
            Ok(Exit::Interrupted)
        }
        End::Whole if view.has_estimate() => Ok(Exit::Done),
        End::Whole => {
            let mut sides = view.rows.iter().flat_map(|row| &row.figures);
            Err(Exit::NothingMeasured.because(match sides.any(|side| side.left_out > 0) {
                true => "all executions failed, and --leave-out-failures leaves them out",
                false => "no command could be timed: allow a longer --budget",
            }))
        }
    }
}

/// Exports and shows the results; an output that fails does not keep the others from being written.
fn show(args: &BenchArgs, commands: &Commands, measured: &Measured, view: &AbView) -> Result<()> {
    let pairs = commands.all.iter().zip(&measured.trial.runs);
    let timings: Vec<Timing> =
        pairs.map(|(timed, run)| Timing::new(&timed.name, &timed.values, run)).collect();
    let exported = export::export(args, &timings);
    let shown = match (args.style, args.format.format) {
        (StyleType::None, _) => Ok(()),
        (_, Format::Json) => output::json(view),
        (_, Format::Text) => {
            let ranking = ranking(args, commands, measured, &timings);
            output::lines(&gritstone_report::commands(view, &ranking))
        }
    };
    exported.and(shown)
}

struct Measured {
    trial: trial::Measured,
    /// Label of the test.
    label: String,
    overhead: Overhead,
}

/// Measures each command as a run.
fn measure(context: &Context, args: &BenchArgs, commands: &Commands) -> Result<Measured> {
    let host = HostContext::probe(None)?;
    let mut bounds = Bounds::new(Permits::default());
    bounds.deadline = MAX_LAUNCH_TIME;
    let trial = Trial {
        budget: budget(args, commands),
        margin: args.margin,
        reference: args.reference.is_some(),
        stored: !context.no_store,
        ..Trial::new(&host, "bench", args.label.clone(), args.seed)
    };
    let mut sides = sides(&trial, commands);
    let session = Session::new(&host, &mut sides[0].plan, None, bounds)?;
    let here = std::env::current_dir().context("the current directory is unknown")?;
    let (journal, mut executor) = session.executor(&plans(&sides));
    let overhead = overhead::subtract(&mut executor, commands, &mut sides)?;
    let mut store = context.writer()?;
    let mut display = match args.draws() {
        true => Display::new(),
        false => Display::without_terminal(args.style == StyleType::None),
    };
    let names = commands.all.iter().map(|timed| timed.name.clone());
    display = display.named(names.collect());
    let mut local = LocalBackend::new(&sides, executor, &mut store, Duration::ZERO, &mut display);
    local.max_executions = args.max_executions();
    local.begin(&host, journal.as_ref())?;
    let mut is_set_up = vec![false; sides.len()];
    let warm = set_up(commands, &here, &mut is_set_up).and_then(|()| {
        local.numbered = Some("warmup-");
        let warm = warm_up(&mut local, args);
        local.numbered = Some("");
        warm
    });
    let mut scheduler = trial.scheduler(&sides, false, execution_bounds(args, commands));
    let applied = Rc::clone(&local.applied);
    let end = warm.and_then(|()| local.measure(&host, &[], scheduler.as_mut()));
    if commands.setup_varies {
        let applied = applied.borrow();
        is_set_up = (0..sides.len()).map(|side| applied.contains(&side)).collect();
    }
    let cleaned = clean_up(commands, &here, &is_set_up);
    let measured = trial::measured(&store, &sides, end)?;
    let end = measured.end.and_then(|end| cleaned.map(|()| end));
    Ok(Measured { trial: trial::Measured { end, ..measured }, label: trial.label, overhead })
}

fn sides(trial: &Trial<'_>, commands: &Commands) -> Vec<local_backend::Side> {
    let count = commands.all.len();
    let side = |(index, timed): (usize, &Timed)| {
        let name = side_name(index, count);
        let settings = trial.settings(&name, &timed.name);
        local_backend::Side {
            info: trial.run_info(&name, settings),
            name,
            plan: Plan {
                steps: vec![command_step(&timed.entry)],
                benchmarks: vec![timed.entry.clone()],
                skips: vec![],
            },
            variant: Variant { environment: user_environment(), ..Variant::default() },
            setting: timed.setup.clone().filter(|_| commands.setup_varies),
        }
    };
    commands.all.iter().enumerate().map(side).collect()
}

/// Runs setup commands, except those that run before each launch. Commands without one count as set up.
fn set_up(commands: &Commands, here: &Path, is_set_up: &mut [bool]) -> Result<()> {
    for (timed, is_set_up) in commands.all.iter().zip(is_set_up) {
        if let Some(setup) = timed.setup.as_ref().filter(|_| !commands.setup_varies) {
            hook("setup", setup, here)?;
        }
        *is_set_up = true;
    }
    Ok(())
}

fn hook(name: &str, command: &str, here: &Path) -> Result<()> {
    let stop = signals::process_stop_flag().context("cannot catch signals")?;
    let is_stopped = || stop.load(Ordering::Relaxed);
    let before = is_stopped();
    let failed = |why| {
        let what = format!("the {name} '{command}' failed: {why}");
        match (before, is_stopped()) {
            (false, false) => Exit::NothingMeasured.because(what),
            (false, true) => ExecError::Interrupted.into(),
            (true, _) => Exit::Interrupted.because(what),
        }
    };
    gritstone_exec::shell(command, here, Stdio::null()).map_err(failed)
}

fn warm_up(local: &mut LocalBackend<'_>, args: &BenchArgs) -> Result<()> {
    let drawn = args.draws() && output::is_terminal() && output::shows_progress();
    for side in 0..local.sides.len() {
        let plan = &local.sides[side].plan;
        let (mut entry, step) = (plan.benchmarks[0].clone(), plan.steps[0].clone());
        if let Work::Command(work) = &mut entry.work
            && let Some(user) = &mut work.user
        {
            user.batch = Some(1);
        }
        for done in 0..args.warmup {
            if drawn {
                let total = args.warmup;
                output::redraw(&format!("warm-up {} of {total}: {}", done + 1, entry.title));
            }
            local.prepare(side, &entry)?;
            // a failure is reported when the command is timed
            local.launch(side, &entry, &step, Calibration::default())?;
        }
    }
    Ok(())
}

/// Cleans up after every command that was set up, even if one cleanup fails.
fn clean_up(commands: &Commands, here: &Path, is_set_up: &[bool]) -> Result<()> {
    let used = commands.all.iter().zip(is_set_up);
    let used = used.filter(|(_, is_set_up)| **is_set_up);
    used.filter_map(|(timed, _)| timed.cleanup.as_ref())
        .map(|cleanup| hook("cleanup", cleanup, here))
        .fold(Ok(()), Result::and)
}

/// Bounds of the number of executions of each command.
fn execution_bounds(args: &BenchArgs, commands: &Commands) -> Option<[u32; 2]> {
    let alone = args.budget.is_none() && commands.all.len() == 1;
    let max = args.max_executions().unwrap_or(u32::MAX);
    let default_min = if alone { MIN_RUNS_ALONE.min(max) } else { 1 };
    let min = args.runs.or(args.min_runs).unwrap_or(default_min);
    (alone || args.has_fixed_count()).then_some([min, max])
}

fn budget(args: &BenchArgs, commands: &Commands) -> Duration {
    args.budget.unwrap_or(match commands.all.len() {
        1 => BUDGET_ALONE,
        _ => BUDGET,
    })
}

/// What ended the trial before its verdict or its budget.
fn stopped_by(commands: &Commands, measured: &trial::Measured) -> Option<String> {
    let mut sides = commands.all.iter().zip(&measured.runs);
    match &measured.end {
        Ok(End::Whole) => None,
        Ok(End::Interrupted) => Some("interrupted".to_owned()),
        Err(_) => sides.find_map(|(timed, run)| {
            let last = run.launches.last()?;
            (last.outcome != Outcome::Measured).then(|| format!("{} failed", timed.name))
        }),
    }
}

fn ranking(
    args: &BenchArgs,
    commands: &Commands,
    measured: &Measured,
    timings: &[Timing],
) -> Ranking {
    let elapsed = (measured.trial.runs.iter()).filter_map(|run| run.info.elapsed_s);
    let seconds = |ns: u64| ns as f64 / 1e9;
    let baseline = commands.baseline.as_ref().zip(measured.overhead.baseline);
    Ranking {
        commands: timings.to_vec(),
        warm_ups: args.warmup,
        unit: args.time_unit.map(export::unit),
        as_given: args.sort == Sort::Command,
        setup_varies: commands.setup_varies,
        start_up_s: measured.overhead.shell.map(|shell| seconds(shell.wall)),
        subtracted: baseline.map(|(baseline, times)| (baseline.title.clone(), seconds(times.wall))),
        percentiles: args.percentiles.clone(),
        elapsed_s: elapsed.reduce(f64::max),
        more_by: match (args.runs, args.max_runs) {
            (Some(_), _) => "--runs",
            (None, Some(_)) => "--max-runs",
            (None, None) => "--budget",
        },
        stopped_by: stopped_by(commands, &measured.trial),
        width: output::width(),
        color: output::color(),
    }
}
