//! `gritstone ab`: sides of anything against each other, interleaved, until it is decided or the time is over.
//!
//! Must not know: how a launch is carried out, how a verdict is found.

mod live;
mod sides;
mod trial;

use crate::args::AbArgs;
use crate::failure::{Exit, Failure};
use crate::progress::Display;
use crate::site::Site;
use crate::world::World;
use crate::{audit, output, registry, signals};
use anyhow::{Context, Result, bail, ensure};
use gritstone_exec::rebuild::{RebuildError, Rebuilt};
use gritstone_exec::{Executor, Journal};
use gritstone_host::{Root, Watch};
use gritstone_model::{
    AbView, Benchmark, CommandWork, Figure, Plan, RunData, RunInfo, Settings, Step, TrialSide,
    Verdict, Work,
};
use gritstone_plan::{select, steps};
use gritstone_store::Store;
use live::{Live, Ready};
use sides::{Side, Sides};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use trial::Design;

/// How long a launch of a row may take before it counts as hung; a command may take all the time there is.
const DEADLINE: Duration = Duration::from_secs(60);

/// Measures, stores and shows; or shows again.
pub fn ab(world: &World, args: &AbArgs) -> Result<Exit> {
    let (runs, whole) = match &args.of {
        Some(name) => (stored(world, name)?, true),
        None => {
            let sides = sides::read(args)?;
            registry::recover();
            measured(world, args, sides)?
        }
    };
    let view = gritstone_stats::ab::view(&runs, &world.summary_options(), true);
    output::write(args.format.format, &view, || gritstone_report::ab(&view))?;
    if !whole {
        return Ok(Exit::Interrupted);
    }
    outcome(&view)
}

/// Measures a trial: one run a side, and whether it was ended by nobody.
fn measured(world: &World, args: &AbArgs, sides: Sides) -> Result<(Vec<RunData>, bool)> {
    let site = Site::look(args.dir.as_deref())?;
    let plan = plan(world, args, &site, &sides)?;
    let stop = signals::end_of_run().context("cannot catch signals")?;
    let commands = !args.commands.is_empty();
    let deadline = if commands {
        args.budget
    } else {
        DEADLINE.min(args.budget)
    };
    // dropped last: what is still made or changed then is undone
    let mut journal = registry::begin();
    let mut executor = site.executor(&plan.benchmarks, deadline, stop, journal.as_mut())?;
    let builds = builds(&site, &mut executor, &plan, &sides)?;
    let trial = Head::new(args);
    let start_up = commands.then(|| site.program("true")).flatten();
    let start_up = start_up.map(|program| sides::start_up(&program.to_string_lossy()));
    let same = sides.same;
    announce(args, &plan, &sides, &trial);
    undo(&sides, journal.as_mut())?;
    let mut store = Store::open(&world.store_path()?)?;
    let ready = sides.sides.into_iter().zip(builds).map(|(side, builds)| {
        let environment = environment(&site, commands, &side);
        let mut benchmarks = if commands {
            side.commands.clone()
        } else {
            plan.benchmarks.clone()
        };
        benchmarks.extend(start_up.iter().filter(|_| side.name == "a").cloned());
        Ready {
            run: RunData {
                info: trial.info(args, &site, &side, same),
                benchmarks,
                skips: plan.skips.clone(),
                ..RunData::default()
            },
            environment,
            builds,
            side,
        }
    });
    let mut live = Live {
        start: Instant::now(),
        budget: args.budget,
        watch: Watch::open(&Root::live()),
        display: Display::new(),
        store: &mut store,
        executor,
        sides: ready.collect(),
        steps: plan.steps.clone(),
        start_up,
        set_for: None,
        complained: BTreeSet::new(),
    };
    begin(&mut live)?;
    let _out_of_the_way = site.keep_out_of_the_way();
    let design = Design {
        rows: plan.steps.len(),
        sides: live.sides.len(),
        budget: args.budget,
        margin: args.margin,
        seed: trial.seed,
    };
    let ended = trial::measure(&design, &mut live);
    live.display.finish();
    let elapsed = live.start.elapsed().as_secs_f64();
    let runs: Vec<RunData> = live.sides.into_iter().map(|ready| ready.run).collect();
    drop(live.executor);
    drop(journal);
    match ended {
        Ok(_) => {
            for run in &runs {
                store.finish(&run.info.id, elapsed)?;
            }
            Ok((runs, true))
        }
        Err(error) if live::interrupted(&error) => Ok((runs, false)),
        Err(error) => Err(error),
    }
}

/// What is common to the runs of a trial.
struct Head {
    trial: String,
    label: String,
    seed: u64,
}

impl Head {
    fn new(args: &AbArgs) -> Self {
        let trial = gritstone_store::new_id(jiff::Timestamp::now(), rand::random());
        Self {
            label: args.label.clone().unwrap_or_else(|| format!("ab-{trial}")),
            trial,
            seed: args
                .seed
                .unwrap_or_else(|| u64::from(rand::random::<u32>())),
        }
    }

    fn info(&self, args: &AbArgs, site: &Site, side: &Side, same: bool) -> RunInfo {
        let now = jiff::Timestamp::now();
        // of what the user's commands find in their environment, only what was asked for is written down
        let mut environment = match side.commands.is_empty() {
            true => site.environment(),
            false => BTreeMap::new(),
        };
        environment.extend(side.environment.iter().cloned());
        RunInfo {
            id: gritstone_store::new_id(now, rand::random()),
            label: Some(format!("{}-{}", self.label, side.name)),
            started: now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            elapsed_s: None,
            gritstone: env!("CARGO_PKG_VERSION").to_owned(),
            machine: site.machine(),
            settings: Settings {
                selectors: args.selectors.clone(),
                seed: self.seed,
                budget_s: args.budget.as_secs_f64(),
                precision: args.margin,
                dir: site.dir.display().to_string(),
                environment,
                trial: Some(TrialSide {
                    trial: self.trial.clone(),
                    side: side.name.clone(),
                    what: side.what.clone(),
                    margin: args.margin,
                    same,
                }),
                ..Settings::default()
            },
        }
    }
}

/// What is launched: commands, or the rows of the catalogue that have a time of their own.
fn plan(world: &World, args: &AbArgs, site: &Site, sides: &Sides) -> Result<Plan> {
    let commands = &sides.sides[0].commands;
    if !commands.is_empty() {
        let step = |row: &Benchmark| Step {
            id: row.id.clone(),
            cpus: vec![],
        };
        return Ok(Plan {
            steps: commands.iter().map(step).collect(),
            benchmarks: commands.clone(),
            skips: vec![],
        });
    }
    let mut wanted = select(&world.catalogue.benchmarks, &args.selectors)?;
    wanted.retain(timed);
    let offer = site.offer(&wanted);
    let plan = steps(wanted, &offer);
    if plan.steps.is_empty() {
        let why = plan
            .skips
            .first()
            .map_or_else(String::new, |skip| format!(": {}", skip.footnote.why));
        return Err(Failure {
            exit: Exit::NothingMeasured,
            what: format!("none of these rows has a time that could be measured here{why}"),
        }
        .into());
    }
    Ok(plan)
}

/// Whether a row is launched, and its figure is a time.
fn timed(benchmark: &Benchmark) -> bool {
    match &benchmark.work {
        Work::Kernel(_) => true,
        Work::Command(CommandWork { figure, .. }) | Work::Scenario(CommandWork { figure, .. }) => {
            *figure == Figure::Time
        }
        Work::Derived { .. } | Work::Rating { .. } => false,
    }
}

/// The programs of each side, compiled where it has a compiler.
fn builds(
    site: &Site,
    executor: &mut Executor,
    plan: &Plan,
    sides: &Sides,
) -> Result<Vec<BTreeMap<String, Rebuilt>>> {
    let names = audit::programs(plan);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let sources: Vec<(&str, &str)> = gritstone_kernels::sources()
        .iter()
        .map(|source| (source.path, source.text))
        .collect();
    let mut all = vec![];
    for side in &sides.sides {
        let Some((name, flags)) = &side.compiler else {
            all.push(BTreeMap::new());
            continue;
        };
        ensure!(
            !names.is_empty(),
            "none of these rows is compiled by us, so that --cc changes nothing"
        );
        let path = match name.contains('/') {
            true => Some(std::path::absolute(name)?),
            false => site.program(name),
        };
        let path = path.with_context(|| format!("there is no compiler {name} on PATH"))?;
        output::remark(&format!(
            "compiling {} programs: {}",
            names.len(),
            side.what
        ));
        let built = match executor
            .workshop(&path, flags.clone())?
            .build(&sources, &names)
        {
            Ok(built) => built,
            Err(RebuildError::Refused(why)) => {
                bail!("with {} nothing can be compiled here: {why}", side.what)
            }
            Err(RebuildError::Exec(error)) => return Err(error.into()),
        };
        let build = |(program, built): (String, Result<Rebuilt, String>)| {
            let built = built.map_err(anyhow::Error::msg);
            Ok((
                program.clone(),
                built
                    .with_context(|| format!("{program} cannot be compiled; leave its rows out"))?,
            ))
        };
        all.push(built.into_iter().map(build).collect::<Result<_>>()?);
    }
    Ok(all)
}

/// Everything that a child of this side finds in its environment.
fn environment(site: &Site, commands: bool, side: &Side) -> BTreeMap<String, String> {
    let mut environment = match commands {
        // a name or value that is no UTF-8 is not passed on
        true => std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect(),
        false => site.environment(),
    };
    environment.extend(side.environment.iter().cloned());
    environment
}

fn announce(args: &AbArgs, plan: &Plan, sides: &Sides, trial: &Head) {
    let rows = match plan.steps.len() {
        1 => String::new(),
        n => format!("{n} rows, "),
    };
    output::remark(&format!(
        "trial {}: {rows}at most {} s",
        trial.label,
        args.budget.as_secs()
    ));
    for side in &sides.sides {
        output::remark(&format!("  {}: {}", side.name, side.what));
    }
    for skip in &plan.skips {
        output::remark(&format!(
            "{} {}: {}",
            skip.footnote.kind.mark(),
            skip.id,
            skip.footnote.why
        ));
    }
}

/// Writes down what undoes the settings, before there is one.
fn undo(sides: &Sides, journal: Option<&mut Journal>) -> Result<()> {
    if sides.sides.iter().all(|side| side.setting.is_none()) {
        return Ok(());
    }
    let command = sides.undo.as_deref().context("--a and --b need --undo")?;
    let directory = std::env::current_dir().context("cannot tell the directory for --undo")?;
    let written = journal
        .ok_or_else(|| "no journal can be kept".to_owned())
        .and_then(|journal| journal.steadies()?.undo_by(command, &directory));
    written.map_err(|why| {
        anyhow::anyhow!("the machine is not changed, for nothing would put it back: {why}")
    })
}

/// Begins the run of each side, with its programs.
fn begin(live: &mut Live<'_>) -> Result<()> {
    for side in 0..live.sides.len() {
        live.set(side)?;
        let run = &mut live.sides[side].run;
        let programs = run.benchmarks.iter();
        run.programs = programs
            .filter_map(|row| Some((row.id.clone(), live.executor.program(row)?)))
            .collect();
        live.store
            .begin(&run.info, &run.benchmarks, &run.programs, &run.skips)?;
    }
    Ok(())
}

/// The runs of a trial that is there: by the label of the trial, or by one of its runs.
fn stored(world: &World, name: &str) -> Result<Vec<RunData>> {
    let store = world
        .reader()?
        .context("there is no trial yet: `gritstone ab -- ./old -- ./new` makes one")?;
    let heads = store.runs()?;
    let first = heads
        .iter()
        .rev()
        .find(|head| head.label.as_deref() == Some(&format!("{name}-a")));
    let id = match first {
        Some(head) => head.id.clone(),
        None => store.resolve(name)?,
    };
    let trial = store.info(&id)?.settings.trial;
    let trial = trial
        .with_context(|| format!("{name} is no trial: `gritstone show {name}` shows it"))?
        .trial;
    let mut runs = vec![];
    for head in &heads {
        let info = store.info(&head.id)?;
        if info.settings.trial.is_some_and(|side| side.trial == trial) {
            runs.push(store.load(&head.id)?);
        }
    }
    runs.sort_by(|a: &RunData, b| side_of(a).cmp(&side_of(b)));
    Ok(runs)
}

fn side_of(run: &RunData) -> Option<&str> {
    run.info
        .settings
        .trial
        .as_ref()
        .map(|side| side.side.as_str())
}

fn outcome(view: &AbView) -> Result<Exit> {
    let mut figures = view.rows.iter().flat_map(|row| &row.figures);
    if !figures.any(|figure| figure.estimate.is_some()) {
        return Err(Failure {
            exit: Exit::NothingMeasured,
            what: "nothing could be measured; `gritstone doctor` looks for the cause".to_owned(),
        }
        .into());
    }
    let verdicts: Vec<Verdict> = view
        .rows
        .iter()
        .flat_map(|row| &row.comparisons)
        .map(|c| c.verdict)
        .collect();
    let different = |verdict: &Verdict| matches!(verdict, Verdict::Faster | Verdict::Slower);
    Ok(if view.same && verdicts.iter().any(different) {
        Exit::CheckFailed
    } else if verdicts.contains(&Verdict::CannotTell) {
        Exit::CannotTell
    } else {
        Exit::Done
    })
}
