//! `gritstone run`: plan, measure, keep, show.
//!
//! Must not know: how a launch is carried out, how a figure is computed.

use crate::args::{Format, RunArgs};
use crate::backend::{self, DEADLINE, End, Local, Side, plans, random};
use crate::failure::{Exit, Failure};
use crate::privileges::{self, Listed};
use crate::site::Site;
use crate::steady::{Steadied, steady};
use crate::world::World;
use crate::{compiler, inspect, output, own, params, rate, registry, resume, signals};
use anyhow::{Context, Result};
use gritstone_catalogue::Own;
use gritstone_exec::privileged::Permits;
use gritstone_exec::{Executor, Journal};
use gritstone_measure::{AfterPilot, Limits, PILOT};
use gritstone_model::{Kind, Launch, Measurement, Plan, Quantity, RunInfo, RunView, Settings};
use gritstone_plan::{add_copies, select, steps};
use gritstone_store::Store;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

/// Measures, stores and shows.
pub fn run(world: &World, args: &RunArgs) -> Result<Exit> {
    registry::recover();
    // a name that is wrong is to be known now, not in ten minutes
    let against = args
        .against
        .as_deref()
        .map(|name| world.view(name))
        .transpose()?;
    let job = match &args.resume {
        Some(name) => resume::job(world, name, args.own.trust, args.privileges.permits())?,
        None => Job::new(world, args)?,
    };
    if args.dry_run {
        return job.list(args.format.format);
    }
    let (view, end) = job.measure(world)?;
    show(world, args, &view, against.as_ref())?;
    match end {
        End::Interrupted => Ok(Exit::Interrupted),
        End::Whole => outcome(&view),
    }
}

/// A run that is ready to be measured.
pub struct Job {
    pub site: Site,
    pub plan: Plan,
    pub limits: Limits,
    /// Whether the machine is to be held still.
    pub steady: bool,
    pub info: RunInfo,
    /// What it may do to the machine.
    pub permits: Permits,
    /// The catalogue of the user's own that rows are of.
    pub own: Option<Own>,
    /// What an earlier process measured of this run, which may be nothing; `None` for a new one.
    pub earlier: Option<Vec<Launch>>,
}

impl Job {
    /// A new run.
    pub fn new(world: &World, args: &RunArgs) -> Result<Self> {
        let site = Site::look(args.dir.as_deref())?;
        let catalogue = &world.catalogue.benchmarks;
        let selectors = world.selectors(&args.selectors);
        let mut wanted = select(catalogue, &selectors)?;
        let params = args.params.iter().cloned().collect();
        params::give(catalogue, &mut wanted, &params)?;
        let permits = args.privileges.permits();
        let mut offer = site.offer(&wanted, permits);
        offer.kernels.extend(own::programs(world.own.as_ref()));
        let compilers = args.compilers.asked();
        if compilers.is_some() {
            offer.kernels.extend(compiler::programs());
        }
        let limits = limits(args);
        let mut plan = steps(wanted, &offer);
        let settings = Settings {
            selectors,
            params,
            catalogue: own::kept(world.own.as_ref(), &plan.benchmarks),
            compilers,
            ..settings(args, &site, &limits)
        };
        let copies = &settings.copies;
        if !copies.is_empty() && add_copies(&mut plan, &offer, copies) == plan.benchmarks.len() {
            return Err(Failure {
                exit: Exit::WrongUse,
                what: "none of these rows can be measured as several copies: --copies is for kernels on one CPU that can run here (`gritstone list`)".to_owned(),
            }
            .into());
        }
        Ok(Self {
            plan,
            info: backend::info(&site, args.label.clone(), settings),
            site,
            limits,
            steady: args.steady,
            permits,
            own: world.own.clone(),
            earlier: None,
        })
    }

    /// Measures it, and keeps every launch; what was finished is in the view, however it ended.
    pub fn measure(mut self, world: &World) -> Result<(RunView, End)> {
        let stop = signals::end_of_run().context("cannot catch signals")?;
        let deadline = DEADLINE.min(self.limits.budget);
        // dropped last: what is still made or changed then is undone
        let mut journal = registry::begin();
        let (own, site, plan) = (self.own.as_ref(), &self.site, &mut self.plan);
        let actions = privileges::actions(plan, own, self.steady, self.permits);
        let mut executor =
            site.executor(plan, own, self.permits, deadline, stop, journal.as_mut())?;
        own::prepare(own, site, plan, &mut executor)?;
        let build = compiler::again(
            self.info.settings.compilers.as_ref(),
            site,
            plan,
            &mut executor,
            &own::sources(own),
        )?;
        let steadied = self.steady(journal.as_mut(), &mut executor)?;
        let announcement = announcement(&self, &steadied, &actions);
        let Self {
            site,
            plan,
            limits,
            info,
            earlier,
            ..
        } = self;
        let side = [Side {
            name: String::new(),
            plan,
            build,
            environment: site.environment(),
            setting: None,
            info,
        }];
        let id = &side[0].info.id;
        let mut store = Store::open(&world.store_path()?)?;
        let spent = spent(earlier.as_deref().unwrap_or_default());
        let mut local = Local::new(&side, executor, &mut store, spent);
        match &earlier {
            None => local.begin(&site, journal.as_mut())?,
            Some(earlier) => resume::begin(&mut local, id, earlier, journal.as_mut())?,
        }
        local.display.remark(&announcement);
        let mut scheduler = AfterPilot::new(&plans(&side), limits);
        let end = local.measure(&site, &earlier.unwrap_or_default(), &mut scheduler)?;
        drop(journal);
        let id = id.clone();
        if end == End::Interrupted {
            output::remark(&format!(
                "stopped; everything finished is kept as run {id}; `gritstone run --resume` goes on"
            ));
        }
        // a run is in memory whole while it is summarised, with its own entries: ours are not needed beside them
        drop(side);
        Ok((world.stored(&store, &id)?, end))
    }

    /// Holds the machine still if that was asked for, and writes into the settings of the run what it came to.
    fn steady(
        &mut self,
        journal: Option<&mut Journal>,
        executor: &mut Executor,
    ) -> Result<Steadied> {
        if !self.steady {
            return Ok(Steadied::default());
        }
        let steadied = steady(journal, &self.site, executor);
        if self.earlier.is_none() {
            self.info.settings.steady.clone_from(&steadied.held);
        } else {
            resume::same_steadying(&self.info, &steadied.held)?;
        }
        Ok(steadied)
    }
}

/// When the last of these launches ended, from the start of the run.
fn spent(launches: &[Launch]) -> Duration {
    let end =
        |launch: &Launch| Duration::from_nanos(launch.start.saturating_add(launch.conditions.wall));
    launches.iter().map(end).max().unwrap_or_default()
}

pub fn limits(args: &RunArgs) -> Limits {
    let (minutes, precision) = if args.quick { (2, 0.05) } else { (10, 0.01) };
    Limits {
        budget: args.budget.unwrap_or(Duration::from_secs(60 * minutes)),
        precision: args.precision.unwrap_or(precision),
        // SQLite keeps signed numbers, and people type what they read
        seed: args.seed.unwrap_or_else(|| u64::from(random())),
    }
}

/// The settings of a run.
pub fn settings(args: &RunArgs, site: &Site, limits: &Limits) -> Settings {
    Settings {
        selectors: args.selectors.clone(),
        seed: limits.seed,
        budget_s: limits.budget.as_secs_f64(),
        precision: limits.precision,
        quick: args.quick,
        dir: site.dir.display().to_string(),
        environment: site.environment(),
        copies: copies(&args.copies),
        ..Settings::default()
    }
}

/// Each number once, from the fewest; one copy is measured anyway.
fn copies(given: &[u32]) -> Vec<u32> {
    let each: BTreeSet<u32> = given.iter().copied().filter(|&copies| copies > 1).collect();
    each.into_iter().collect()
}

fn announcement(job: &Job, steadied: &Steadied, actions: &[Listed]) -> String {
    let chosen = &job.site.chosen;
    let cpus = match chosen.peer {
        Some(peer) => format!("CPU {} (and {peer} for rows across two)", chosen.measured),
        None => format!("CPU {}", chosen.measured),
    };
    let mut text = format!(
        "run {}: {} on {cpus}, at most {} s, files in {}",
        job.info.id,
        match job.plan.steps.len() {
            1 => "1 benchmark".to_owned(),
            many => format!("{many} benchmarks"),
        },
        job.limits.budget.as_secs(),
        job.site.dir.display()
    );
    if let Some(earlier) = &job.earlier {
        let _ = write!(text, "; {} launches are there already", earlier.len());
    }
    if let Some(privileged) = privileges::announcement(actions) {
        let _ = write!(text, "\n{privileged}");
    }
    if !steadied.held.is_empty() {
        let _ = write!(
            text,
            "\nsteadied until it ends: {}",
            steadied.held.join("; ")
        );
    }
    for remark in &steadied.remarks {
        let _ = write!(text, "\n{remark}");
    }
    for skip in &job.plan.skips {
        let _ = write!(
            text,
            "\n{} {}: {}",
            gritstone_report::findings::mark(skip.note().flag()),
            skip.id,
            skip.reason
        );
    }
    text
}

/// When the budget was too short for the rows that were chosen: how long a run would have to be for each to have an interval.
pub fn too_short(view: &RunView) -> Option<String> {
    let launched = view.results.iter().filter(|r| {
        !matches!(r.kind, Kind::Derived | Kind::Rating)
            && r.outcome != gritstone_model::Status::Skipped
            && r.unit.quantity() != Quantity::Exact
    });
    let launched: Vec<&Measurement> = launched.collect();
    let short = launched.iter().filter(|r| r.interval.is_none()).count();
    let done: usize = launched.iter().map(|r| r.launches).sum();
    let elapsed = view
        .elapsed_s
        .filter(|_| done > 0 && 4 * short > launched.len())?;
    let minutes = (elapsed / done as f64 * (PILOT * launched.len()) as f64 / 60.0).ceil();
    Some(format!(
        "\n{short} of {} rows have too few launches for an interval: `--budget {minutes}m` gives every one its own, or choose fewer rows (`gritstone list`)",
        launched.len()
    ))
}

fn show(world: &World, args: &RunArgs, view: &RunView, against: Option<&RunView>) -> Result<()> {
    match args.format.format {
        Format::Json => output::json(view),
        Format::Text => {
            let mut tables = gritstone_report::show(view);
            rate::open(world, &mut tables, view, against)?;
            output::text(&tables)?;
            if let Some(base) = against {
                output::plain("\n")?;
                let compared = world.compare(base, view, inspect::MARGIN);
                output::text(&gritstone_report::compare(&compared))?;
            }
            if let Some(short) = too_short(view) {
                output::remark(&short);
            }
            output::remark("\nnext: gritstone brief            the performance brief of this run");
            output::remark("      gritstone compare ref:vax-11-780-4.1bsd last");
            Ok(())
        }
    }
}

/// Whether there is any figure.
fn outcome(view: &RunView) -> Result<Exit> {
    if view.results.iter().any(|result| result.estimate.is_some()) {
        return Ok(Exit::Done);
    }
    let why = view.results.iter().find_map(|r| r.notes.first());
    Err(Failure {
        exit: Exit::NothingMeasured,
        what: format!(
            "nothing could be measured{}; `gritstone doctor` looks for the cause",
            why.map_or(String::new(), |note| format!(
                ": {}",
                gritstone_report::findings::message(note)
            ))
        ),
    }
    .into())
}
