//! `gritstone ab`: sides of anything against each other, interleaved, until it is decided or the time is over.
//!
//! Must not know: how a launch is carried out, how a verdict is found.

mod live;
mod plan;
mod second;
mod sides;
mod trial;
mod words;

use crate::args::AbArgs;
use crate::chance::chance;
use crate::clock::Clock;
use crate::failure::{Exit, Failure};
use crate::keep::when_free;
use crate::progress::Display;
use crate::site::Site;
use crate::world::World;
use crate::{output, own, registry, signals};
use anyhow::{Context, Result};
use gritstone_exec::Journal;
use gritstone_host::{Root, Watch};
use gritstone_model::{
    AbView, Benchmark, Owner, Plan, RunData, RunInfo, Settings, TrialSide, Verdict,
};
use gritstone_stats::ab::Reader;
use gritstone_store::Store;
use live::{Live, Ready};
pub use sides::COMMAND;
use sides::{Side, Sides};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
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
    let view = gritstone_stats::ab::view(&runs, &world.summary_options(&runs), true);
    output::write(args.format.format, &view, || gritstone_report::ab(&view))?;
    if !whole {
        return Ok(Exit::Interrupted);
    }
    outcome(&view)
}

/// Measures a trial: one run a side, and whether it was ended by nobody.
fn measured(world: &World, args: &AbArgs, sides: Sides) -> Result<(Vec<RunData>, bool)> {
    let site = Site::look(args.dir.as_deref())?;
    let mut plan = plan::plan(world, args, &site, &sides)?;
    let second = second::read(world, args, &mut plan)?;
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
    let own = world.own.as_ref();
    own::prepare(own, &site, &mut plan, &mut executor, journal.as_mut())?;
    let mut builds = plan::builds(&site, &mut executor, &plan, &sides, &own::sources(own))?;
    if let Some(second) = &second {
        builds[1] = second::build(second, &site, &mut plan, &mut executor)?;
    }
    let trial = Head::new(args);
    announce(args, &plan, &sides, &trial);
    undo(&sides, journal.as_mut())?;
    let mut store = Store::open(&world.store_path()?)?;
    let mut live = Live {
        start: Clock::start(),
        budget: args.budget,
        margin: args.margin,
        watch: Watch::open(&Root::live()),
        display: Display::new(),
        store: &mut store,
        executor,
        start_up: start_up(&site, commands),
        sides: vec![],
        steps: plan.steps.clone(),
        set_for: None,
        complained: BTreeSet::new(),
        told: false,
        reader: Reader::default(),
    };
    for (side, builds) in sides.sides.iter().zip(builds) {
        let mut run = trial.run(args, &site, &plan, side, sides.same);
        let first = live.sides.is_empty();
        let own = second.as_ref().filter(|_| !first).or(own);
        second::entries(own, &mut run.benchmarks);
        run.info.settings.catalogue = own::kept(own, &run.benchmarks);
        run.benchmarks
            .extend(live.start_up.iter().filter(|_| first).cloned());
        live.sides.push(Ready {
            environment: plan::environment(&site, commands, side),
            side: side.clone(),
            builds,
            run,
        });
    }
    begin(&mut live, &site.owner())?;
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
    let stored = when_free(&mut store, Store::flush);
    match ended {
        Ok(_) => {
            stored?;
            for run in &runs {
                when_free(&mut store, |store| store.finish(&run.info.id, elapsed))?;
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
        let trial = gritstone_store::new_id(jiff::Timestamp::now(), chance());
        Self {
            label: args.label.clone().unwrap_or_else(|| format!("ab-{trial}")),
            trial,
            seed: args.seed.unwrap_or_else(|| u64::from(chance())),
        }
    }

    /// The run of a side, without a launch.
    fn run(&self, args: &AbArgs, site: &Site, plan: &Plan, side: &Side, same: bool) -> RunData {
        let benchmarks = match side.commands.as_slice() {
            [] => plan.benchmarks.clone(),
            commands => commands.to_vec(),
        };
        RunData {
            info: self.info(args, site, side, same),
            benchmarks,
            skips: plan.skips.clone(),
            ..RunData::default()
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
            id: gritstone_store::new_id(now, chance()),
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

/// The program that does nothing, where commands are timed and there is one.
fn start_up(site: &Site, commands: bool) -> Option<Benchmark> {
    let program = site.program("true").filter(|_| commands)?;
    Some(sides::start_up(&program.to_string_lossy()))
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
fn begin(live: &mut Live<'_>, owner: &Owner) -> Result<()> {
    for side in 0..live.sides.len() {
        live.set(side)?;
        let run = &mut live.sides[side].run;
        run.programs = live.executor.programs(&run.benchmarks);
        live.store
            .begin(owner, &run.info, &run.benchmarks, &run.programs, &run.skips)?;
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
        let info = match store.info(&head.id) {
            Ok(info) => info,
            Err(why) => {
                output::remark(&format!("run {} is left out: {why}", head.id));
                continue;
            }
        };
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
