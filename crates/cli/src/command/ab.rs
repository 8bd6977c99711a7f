//! `gritstone ab`: sides of anything against each other, interleaved, until it is decided or the time is over.

mod plan;
mod sides;

use crate::ui::args::AbArgs;
use crate::ui::exit::Exit;
use crate::ui::output;
use crate::ui::progress::Display;
use crate::ui::skips;
use anyhow::{Context, Result};
use gritstone_catalogue::Own;
use gritstone_exec::{Journal, Variant};
use gritstone_measure::{AfterPilot, Design, Limits, PriorRuns, Scheduler, Sequential};
use gritstone_model::{
    AbView, Benchmark, Compiled, Plan, RunData, RunInfo, Settings, TrialSide, Verdict,
};
use gritstone_runs::context::World;
use gritstone_runs::custom_catalog;
use gritstone_session::bounds::Bounds;
use gritstone_session::host_context::Site;
use gritstone_session::local_backend::{self, End, plans, random};
use gritstone_session::measuring::Bench;
use gritstone_session::tune::NO_JOURNAL;
use gritstone_session::undo;
use gritstone_store::{RunHead, Store};
pub use plan::{step, users_environment};
use sides::{Side, Sides};
pub use sides::{row, side_name};
use std::collections::BTreeMap;

/// Half-width of the interval that a command alone gets.
const PRECISION: f64 = 0.01;

/// Measures, stores and shows; or shows again.
pub fn ab(world: &World, args: &AbArgs) -> Result<Exit> {
    let (view, whole) = match &args.of {
        Some(name) => (stored(world, name)?, true),
        None => {
            let sides = sides::read(args)?;
            undo::recover();
            let (runs, whole) = measured(world, args, &sides)?;
            (of_launches(world, &runs), whole)
        }
    };
    output::write(args.format.format, &view, || gritstone_report::ab(&view))?;
    if !whole {
        return Ok(Exit::Interrupted);
    }
    outcome(&view)
}

/// Measures a trial: one run a side, and whether it was ended by nobody.
fn measured(world: &World, args: &AbArgs, sides: &Sides) -> Result<(Vec<RunData>, bool)> {
    let site = Site::look(args.dir.as_deref())?;
    let mut plan = plan::plan(world, args, &site, sides)?;
    let own = world.own.as_ref();
    let mut bounds = Bounds::new(args.privileges.permits());
    bounds.deadline = match args.commands.as_slice() {
        [] => bounds.deadline.min(args.budget),
        // a command may take all the time there is
        _ => args.budget,
    };
    let bench = Bench::new(&site, &mut plan, own, bounds)?;
    let builds = plan::builds(&bench, &mut plan, sides)?;
    let id = gritstone_store::new_id(jiff::Timestamp::now(), random());
    let trial = Trial {
        args,
        site: &site,
        plan: &plan,
        custom: own,
        same: sides.same,
        label: args.label.clone().unwrap_or_else(|| format!("ab-{id}")),
        id,
        seed: args.seed.unwrap_or_else(|| u64::from(random())),
        start_up: start_up(args, &site),
    };
    trial.announce(sides);
    undo(sides, bench.journal.as_ref())?;
    let sides = sides.sides.iter().zip(builds).enumerate();
    let sides = sides.map(|(at, (side, build))| trial.side(at, side, build));
    let sides: Vec<local_backend::Side> = sides.collect();
    let mut store = world.writer()?;
    let end = bench.measure(
        &mut store,
        &sides,
        None,
        trial.scheduler(&sides).as_mut(),
        &mut Display::new(),
    )?;
    let load = |side: &local_backend::Side| Ok(store.load(&side.info.id)?);
    let runs: Result<_> = sides.iter().map(load).collect();
    Ok((runs?, end == End::Whole))
}

/// What is common to the sides of a trial.
struct Trial<'a> {
    args: &'a AbArgs,
    site: &'a Site,
    /// What is compared.
    plan: &'a Plan,
    custom: Option<&'a Own>,
    same: bool,
    id: String,
    label: String,
    seed: u64,
    /// The program that does nothing, where commands are timed.
    start_up: Option<Benchmark>,
}

impl Trial<'_> {
    /// A side, ready to be measured.
    fn side(&self, at: usize, side: &Side, (builds, compiled): plan::Made) -> local_backend::Side {
        let mut plan = self.plan.clone();
        for benchmark in &mut plan.benchmarks {
            let mut commands = side.commands.iter();
            if let Some(command) = commands.find(|command| command.id == benchmark.id) {
                benchmark.clone_from(command);
            }
        }
        let mut info = self.info(side, compiled);
        info.settings.catalogue = custom_catalog::kept(self.custom, &plan.benchmarks);
        if let Some(nothing) = self.start_up.as_ref().filter(|_| at == 0) {
            plan.steps.push(plan::step(nothing));
            plan.benchmarks.push(nothing.clone());
        }
        local_backend::Side {
            name: side.name.clone(),
            plan,
            variant: Variant {
                environment: plan::environment(self.site, side),
                builds,
            },
            setting: side.setting.clone(),
            info,
        }
    }

    fn info(&self, side: &Side, compiled: Option<Compiled>) -> RunInfo {
        // of what the user's commands find in their environment, only what was asked for is written down
        let mut environment = match side.commands.is_empty() {
            true => self.site.environment(),
            false => BTreeMap::new(),
        };
        environment.extend(side.environment.iter().cloned());
        let args = self.args;
        let settings = Settings {
            selectors: args.selectors(),
            seed: self.seed,
            budget_s: Some(args.budget.as_secs_f64()),
            precision: args.margin,
            dir: self.site.dir.display().to_string(),
            environment,
            trial: Some(TrialSide {
                trial: self.id.clone(),
                side: side.name.clone(),
                what: side.what.clone(),
                margin: args.margin,
                same: self.same,
                reference: false,
                compiled,
            }),
            ..Settings::default()
        };
        let label = format!("{}-{}", self.label, side.name);
        local_backend::info(self.site, Some(label), settings)
    }

    /// Pairs until it is decided; a command alone is measured as a run is.
    fn scheduler(&self, sides: &[local_backend::Side]) -> Box<dyn Scheduler> {
        let (budget, seed) = (self.args.budget, self.seed);
        if sides.len() == 1 {
            let limits = Limits {
                budget: Some(budget),
                precision: PRECISION,
                quick: false,
                seed,
            };
            return Box::new(AfterPilot::new(&plans(sides), limits, &PriorRuns::new()));
        }
        Box::new(Sequential::new(Design {
            steps: self.plan.steps.len(),
            sides: sides.len(),
            start_up: self.start_up.is_some(),
            reference: false,
            budget,
            margin: self.args.margin,
            seed,
        }))
    }

    fn announce(&self, sides: &Sides) {
        let rows = match self.plan.steps.len() {
            1 => String::new(),
            n => format!("{n} benchmarks, "),
        };
        let seconds = self.args.budget.as_secs();
        let label = &self.label;
        output::remark(&format!("A/B test {label}: {rows}at most {seconds} s"));
        for side in &sides.sides {
            output::remark(&format!("  {}: {}", side.name, side.what));
        }
        skips::announce(self.plan);
    }
}

/// The program that does nothing, where commands are timed and there is one.
fn start_up(args: &AbArgs, site: &Site) -> Option<Benchmark> {
    let program = site.program("true").filter(|_| !args.commands.is_empty())?;
    Some(sides::start_up(&program.to_string_lossy()))
}

/// Writes down what undoes the settings, before there is one.
fn undo(sides: &Sides, journal: Option<&Journal>) -> Result<()> {
    if sides.sides.iter().all(|side| side.setting.is_none()) {
        return Ok(());
    }
    let command = sides.undo.as_deref().context("--a and --b need --undo")?;
    let directory = std::env::current_dir()
        .context("cannot read the current directory, in which --undo runs")?;
    let write = || {
        Ok(journal
            .context(NO_JOURNAL)?
            .steadies()?
            .undo_by(command, &directory)?)
    };
    write().map_err(|why: anyhow::Error| {
        anyhow::anyhow!("settings are not changed, since nothing would restore them: {why}")
    })
}

fn of_launches(world: &World, runs: &[RunData]) -> AbView {
    gritstone_analysis::ab::view(runs, &world.summary_options(runs))
}

/// The A/B test of these runs, one for each side in their order: from their launches, or as it was kept when these were pruned.
///
/// # Errors
/// When it cannot be read.
pub fn view_of(world: &World, store: &Store, sides: &[&RunHead]) -> Result<AbView> {
    let Some(pruned) = sides.iter().find(|head| head.pruned.is_some()) else {
        let runs = sides.iter().map(|head| Ok(store.load(&head.id)?));
        return Ok(of_launches(world, &runs.collect::<Result<Vec<_>>>()?));
    };
    let mut view = world.kept_test(store, &pruned.id)?;
    for side in &mut view.sides {
        // it may have been given since
        if let Some(head) = sides.iter().find(|head| head.id == side.run) {
            side.label.clone_from(&head.label);
        }
    }
    Ok(view)
}

/// A trial that is there: by its label, or by one of its runs.
fn stored(world: &World, name: &str) -> Result<AbView> {
    let store = world
        .reader()?
        .context("no A/B test is stored yet: `gritstone ab -- ./old -- ./new` makes one")?;
    let heads = store.runs()?;
    let label = format!("{name}-a");
    let mut newest = heads.iter().rev();
    let id = match newest.find(|head| head.label.as_deref() == Some(&label)) {
        Some(head) => head.id.clone(),
        None => world.resolve(&store, name)?,
    };
    let trial = store.info(&id)?.settings.trial;
    let trial = trial
        .with_context(|| format!("{name} is not an A/B test: `gritstone show {name}` shows it"))?
        .trial;
    let mut runs = BTreeMap::new();
    for head in &heads {
        match store.info(&head.id).map(|info| info.settings.trial) {
            Ok(Some(side)) if side.trial == trial => {
                runs.insert(side.side, head);
            }
            Ok(_) => {}
            Err(why) => output::remark(&format!("run {} is left out: {why}", head.id)),
        }
    }
    view_of(world, &store, &runs.into_values().collect::<Vec<_>>())
}

fn outcome(view: &AbView) -> Result<Exit> {
    let mut figures = view.rows.iter().flat_map(|row| &row.figures);
    if !figures.any(|figure| figure.estimate.is_some()) {
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
