//! `gritstone bench`: times commands, interleaved, with the options of hyperfine.

pub mod args;
mod expand;
mod shell_words;

use crate::ui::exit::Exit;
use crate::ui::output;
use crate::ui::progress::Display;
use anyhow::{Context as _, Result};
use args::{BenchArgs, Sort, StyleType, TimeUnit};
use expand::{Commands, Timed};
use gritstone_exchange::{Markup, Timing};
use gritstone_exec::privileged::Permits;
use gritstone_exec::{Executor, Variant};
use gritstone_measure::Backend;
use gritstone_model::{Calibration, Event, Id, Outcome, Plan, RunData, UserCommand, Work};
use gritstone_report::{Ranked, Ranking};
use gritstone_runs::context::Context;
use gritstone_session::bounds::Bounds;
use gritstone_session::host_context::HostContext;
use gritstone_session::local_backend::{self, End, LocalBackend, plans};
use gritstone_session::measuring::Session;
use gritstone_session::trial::{
    Trial, command_benchmark, command_step, load_runs, side_name, user_environment,
};
use gritstone_session::undo;
use gritstone_stats::descriptive;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time limit of a launch: user commands have no other.
const MAX_LAUNCH_TIME: Duration = Duration::from_hours(24);
/// Launches of an empty shell; each times up to 20 starts.
const START_UP_LAUNCHES: usize = 5;

pub fn bench(context: &Context, args: &BenchArgs) -> Result<Exit> {
    let commands = expand::read(args)?;
    undo::recover();
    let (runs, end) = measured(context, args, &commands)?;
    let view = gritstone_analysis::ab::view(&runs, &context.summary_options(&runs));
    if !view
        .rows
        .iter()
        .flat_map(|row| &row.figures)
        .any(|figure| figure.estimate.is_some())
    {
        return match end {
            End::Interrupted => Ok(Exit::Interrupted),
            End::Whole => Err(Exit::NothingMeasured.because("no command could be timed")),
        };
    }
    let pairs = commands.all.iter().zip(&runs);
    let timings: Vec<Timing> = pairs
        .map(|(timed, run)| Timing::of(&timed.name, &timed.values, run))
        .collect();
    export(args, &timings)?;
    if args.style != StyleType::None {
        let ranking = ranking(args, &commands, &runs, &timings);
        let shown = || gritstone_report::commands(&view, &ranking);
        match args.format.format {
            crate::ui::display::Format::Json => output::json(&view)?,
            crate::ui::display::Format::Text => output::lines(&shown())?,
        }
    }
    Ok(match end {
        End::Whole => Exit::Done,
        End::Interrupted => Exit::Interrupted,
    })
}

/// Measures each command as a run.
fn measured(
    context: &Context,
    args: &BenchArgs,
    commands: &Commands,
) -> Result<(Vec<RunData>, End)> {
    let host = HostContext::probe(None)?;
    let mut bounds = Bounds::new(Permits::default());
    bounds.deadline = MAX_LAUNCH_TIME;
    let trial = Trial {
        budget: args.budget,
        margin: args.margin,
        reference: args.reference.is_some(),
        ..Trial::new(&host, "bench", args.label.clone(), args.seed)
    };
    let mut sides = sides(&trial, commands);
    let session = Session::new(&host, &mut sides[0].plan, None, bounds)?;
    let here = std::env::current_dir().context("the current directory is unknown")?;
    let (journal, mut executor) = session.executor(&plans(&sides));
    subtract_start_up(&mut executor, commands, &mut sides)?;
    let mut store = context.writer()?;
    let mut display = match args.style {
        StyleType::Basic | StyleType::Color | StyleType::None => {
            Display::without_terminal(args.style == StyleType::None)
        }
        _ => Display::new(),
    };
    let mut local = LocalBackend::new(&sides, executor, &mut store, Duration::ZERO, &mut display);
    local.begin(&host, journal.as_ref())?;
    local.numbered = Some("warmup-");
    let warm = warm_up(&mut local, args, commands, &here);
    local.numbered = Some("");
    let mut scheduler = trial.scheduler(&sides, false, launch_bounds(args));
    let measured = warm.and_then(|()| local.measure(&host, &[], scheduler.as_mut()));
    clean_up(commands, &here)?;
    let end = measured?;
    Ok((load_runs(&store, &sides)?, end))
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
            variant: Variant {
                environment: user_environment(),
                ..Variant::default()
            },
            setting: timed.setup.clone().filter(|_| commands.setup_varies),
        }
    };
    commands.all.iter().enumerate().map(side).collect()
}

/// Measures the start of the shell, and subtracts it from commands that a shell starts.
fn subtract_start_up(
    executor: &mut Executor,
    commands: &Commands,
    sides: &mut [local_backend::Side],
) -> Result<()> {
    let by_shell = |timed: &Timed| timed.by_shell;
    let Some(first) = commands.all.iter().position(by_shell) else {
        return Ok(());
    };
    let words = commands.shell.iter().map(String::as_str).chain(["-c", ""]);
    let user = UserCommand {
        directory: "/".to_owned(),
        ..UserCommand::default()
    };
    let id = Id::parse(gritstone_analysis::ab::START_UP)?;
    let nothing = command_benchmark(id, "the shell", words.map(str::to_owned).collect(), user);
    let mut walls = vec![];
    for _ in 0..START_UP_LAUNCHES {
        let launched = executor.launch(
            &sides[first].variant,
            &nothing,
            &[],
            1,
            Calibration::default(),
        )?;
        if launched.outcome != Outcome::Measured {
            let why = launched.outcome.why();
            return Err(Exit::NothingMeasured.because(format!("the shell cannot be timed: {why}")));
        }
        let samples = launched.events.iter().filter_map(|event| match event {
            Event::Sample(sample) => Some(sample.wall as f64),
            _ => None,
        });
        walls.extend(samples);
    }
    let ns = descriptive::median(&descriptive::sorted(&walls)) as u64;
    for (side, _) in sides
        .iter_mut()
        .zip(&commands.all)
        .filter(|(_, timed)| by_shell(timed))
    {
        if let Work::Command(work) = &mut side.plan.benchmarks[0].work
            && let Some(user) = &mut work.user
        {
            user.start_up_ns = Some(ns);
        }
    }
    Ok(())
}

/// Shared setup commands and warm-up executions.
fn warm_up(
    local: &mut LocalBackend<'_>,
    args: &BenchArgs,
    commands: &Commands,
    here: &Path,
) -> Result<()> {
    let many = args.warmup.unwrap_or(u32::from(!args.has_fixed_count()));
    for (at, timed) in commands.all.iter().enumerate() {
        if let Some(setup) = timed.setup.as_ref().filter(|_| !commands.setup_varies) {
            let done = gritstone_exec::shell(setup, here);
            done.map_err(|why| anyhow::anyhow!("the setup '{setup}' failed: {why}"))?;
        }
        let plan = &local.sides[at].plan;
        let (mut entry, step) = (plan.benchmarks[0].clone(), plan.steps[0].clone());
        if let Work::Command(work) = &mut entry.work
            && let Some(user) = &mut work.user
        {
            user.once = true;
        }
        for _ in 0..many {
            local.prepare(at, &entry)?;
            // a failure is reported when the command is timed
            local.launch(at, &entry, &step, Calibration::default())?;
        }
    }
    Ok(())
}

/// Cleans up after every command, even if one cleanup fails.
fn clean_up(commands: &Commands, here: &Path) -> Result<()> {
    let mut done = Ok(());
    for cleanup in commands
        .all
        .iter()
        .filter_map(|timed| timed.cleanup.as_ref())
    {
        if let Err(why) = gritstone_exec::shell(cleanup, here) {
            done = Err(anyhow::anyhow!("the cleanup '{cleanup}' failed: {why}"));
        }
    }
    done
}

fn launch_bounds(args: &BenchArgs) -> Option<[u32; 2]> {
    let min = args.runs.or(args.min_runs).unwrap_or(1);
    let max = args.runs.or(args.max_runs).unwrap_or(u32::MAX);
    args.has_fixed_count().then_some([min, max])
}

fn ranking(args: &BenchArgs, commands: &Commands, runs: &[RunData], timings: &[Timing]) -> Ranking {
    let elapsed = runs.iter().filter_map(|run| run.info.elapsed_s);
    Ranking {
        commands: commands
            .all
            .iter()
            .zip(timings)
            .map(|(timed, timing)| Ranked {
                name: timed.name.clone(),
                times_s: timing.times.clone(),
            })
            .collect(),
        unit: args.time_unit.map(unit),
        as_given: args.sort == Sort::Command,
        setup_varies: commands.setup_varies,
        start_up_s: start_up_s(runs),
        elapsed_s: elapsed.fold(None, |most: Option<f64>, s| {
            Some(most.map_or(s, |m| m.max(s)))
        }),
        width: output::width(),
        color: output::color(),
    }
}

/// Subtracted start-up time of the shell, seconds.
fn start_up_s(runs: &[RunData]) -> Option<f64> {
    let rows = runs.iter().flat_map(|run| &run.benchmarks);
    let ns = rows.filter_map(|row| match &row.work {
        Work::Command(work) => work.user.as_ref()?.start_up_ns,
        _ => None,
    });
    ns.max().map(|ns| ns as f64 / 1e9)
}

fn unit(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Microsecond => "us",
        TimeUnit::Millisecond => "ms",
        TimeUnit::Second => "s",
    }
}

fn export(args: &BenchArgs, timings: &[Timing]) -> Result<()> {
    let by_time = args.sort == Sort::MeanTime;
    let markup = |markup| {
        let reference = args.reference.is_some();
        gritstone_exchange::timings_table(
            timings,
            markup,
            args.time_unit.map(unit),
            reference,
            by_time,
        )
    };
    type Writer<'a> = (&'a Option<PathBuf>, &'a dyn Fn() -> String);
    let all: [Writer<'_>; 5] = [
        (&args.export_asciidoc, &|| markup(Markup::AsciiDoc)),
        (&args.export_csv, &|| {
            gritstone_exchange::timings_csv(timings)
        }),
        (&args.export_json, &|| {
            gritstone_exchange::timings_json(timings)
        }),
        (&args.export_markdown, &|| markup(Markup::Markdown)),
        (&args.export_orgmode, &|| markup(Markup::OrgMode)),
    ];
    for (file, text) in all {
        match file {
            Some(file) if file.as_os_str() == "-" => output::plain(&text())?,
            Some(file) => gritstone_runs::output_file::write(file, text().as_bytes())?,
            None => {}
        }
    }
    Ok(())
}
