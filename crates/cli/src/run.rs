//! `gritstone run`: plan, measure, keep, show.

use crate::args::{Format, RunArgs};
use crate::backend::{self, End, Side, plans, random};
use crate::bench::{Bench, Bounds};
use crate::failure::Exit;
use crate::site::Site;
use crate::steady::{Steadied, steady};
use crate::world::World;
use crate::{compiler, inspect, output, own, params, rate, registry, resume};
use anyhow::{Context, Result, ensure};
use gritstone_catalogue::Own;
use gritstone_exec::Variant;
use gritstone_measure::{AfterPilot, Limits, PILOT};
use gritstone_model::{
    Kind, Launch, Measurement, Plan, Quantity, RunInfo, RunView, Settings, Status,
};
use gritstone_plan::{add_copies, select, steps};
use gritstone_report::Comparison;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Benchmarks that are named of those that are skipped for one reason.
const SKIPS_NAMED: usize = 3;

/// Measures, stores and shows.
pub fn run(world: &World, args: &RunArgs) -> Result<Exit> {
    registry::recover();
    // a name that is wrong is to be known now, not in ten minutes
    let against = args.against.as_ref().map(|name| world.view(name));
    let against = against.transpose()?;
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
    pub info: RunInfo,
    /// What it may do to the machine.
    pub bounds: Bounds,
    /// The catalog of the user's own that rows are of.
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
        let compilers = args.compilers.asked();
        let own = world.own.as_ref();
        let offer = site.offer(&wanted, permits, own, compilers.is_some());
        let mut plan = steps(wanted, &offer);
        let settings = Settings {
            selectors,
            params,
            catalogue: own::kept(own, &plan.benchmarks),
            compilers,
            ..settings(args, &site)
        };
        let copies = &settings.copies;
        ensure!(
            copies.is_empty() || add_copies(&mut plan, &offer, copies) < plan.benchmarks.len(),
            "none of these rows can be measured as several copies: --copies is for kernels on one CPU that can run here (`gritstone list`)"
        );
        Ok(Self {
            plan,
            info: backend::info(&site, args.label.clone(), settings),
            site,
            bounds: Bounds {
                steady: args.steady,
                ..Bounds::new(permits)
            },
            own: world.own.clone(),
            earlier: None,
        })
    }

    /// Measures it, and keeps every launch; what was finished is in the view, however it ended.
    pub fn measure(mut self, world: &World) -> Result<(RunView, End)> {
        let limits = limits(&self.info.settings)?;
        self.bounds.deadline = self.bounds.deadline.min(limits.budget);
        let (site, mut plan, mut info) = (&self.site, self.plan, self.info);
        let mut bench = Bench::new(site, &mut plan, self.own.as_ref(), self.bounds)?;
        let builds = match &info.settings.compilers {
            Some(asked) => compiler::again(&bench, asked, &mut plan)?,
            None => BTreeMap::new(),
        };
        let steadied = match self.bounds.steady {
            true => steady(bench.journal.as_ref(), site, &bench.setup),
            false => Steadied::default(),
        };
        bench.tuning = steadied.tuning;
        let earlier = self.earlier.as_deref();
        match earlier {
            None => info.settings.steady.clone_from(&steadied.held),
            Some(_) => resume::same_steadying(&info, &steadied.held)?,
        }
        let id = info.id.clone();
        let done = earlier.map(<[_]>::len);
        announce(&id, site, &plan, &limits, done, &steadied);
        let side = [Side {
            name: String::new(),
            plan,
            variant: Variant {
                environment: site.environment(),
                builds,
            },
            setting: None,
            info,
        }];
        let mut store = world.writer()?;
        let mut scheduler = AfterPilot::new(&plans(&side), limits);
        let end = bench.measure(&mut store, &side, earlier, &mut scheduler)?;
        if end == End::Interrupted {
            output::remark(&format!(
                "stopped; everything finished is kept as run {id}; `gritstone run --resume` goes on"
            ));
        }
        // a run is in memory whole while it is summarized, with its own entries: ours are not needed beside them
        drop(side);
        Ok((world.stored(&store, &id)?, end))
    }
}

/// What bounds the measuring of a run with these settings.
///
/// # Errors
/// When they are damaged.
pub fn limits(settings: &Settings) -> Result<Limits> {
    Ok(Limits {
        budget: Duration::try_from_secs_f64(settings.budget_s).context("the budget is damaged")?,
        precision: settings.precision,
        seed: settings.seed,
    })
}

/// The settings of a run.
pub fn settings(args: &RunArgs, site: &Site) -> Settings {
    let (budget, precision) = if args.quick {
        (120.0, 0.05)
    } else {
        (600.0, 0.01)
    };
    Settings {
        selectors: args.selectors.clone(),
        // SQLite keeps signed numbers, and people type what they read
        seed: args.seed.unwrap_or_else(|| u64::from(random())),
        budget_s: args.budget.map_or(budget, |time| time.as_secs_f64()),
        precision: args.precision.unwrap_or(precision),
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

/// Says what is measured, where, how, and what is not.
fn announce(
    id: &str,
    site: &Site,
    plan: &Plan,
    limits: &Limits,
    done: Option<usize>,
    steadied: &Steadied,
) {
    let chosen = &site.chosen;
    let cpus = match chosen.peer {
        Some(peer) => format!("CPU {} (and {peer} for rows across two)", chosen.measured),
        None => format!("CPU {}", chosen.measured),
    };
    let (count, plural) = match plan.steps.len() {
        1 => (1, ""),
        many => (many, "s"),
    };
    let done = done.map_or_else(String::new, |n| format!("; {n} launches are there already"));
    output::remark(&format!(
        "run {id}: {count} benchmark{plural} on {cpus}, at most {} s, files in {}{done}",
        limits.budget.as_secs(),
        site.dir.display()
    ));
    if !steadied.held.is_empty() {
        let held = steadied.held.join("; ");
        output::remark(&format!("steadied until it ends: {held}"));
    }
    for remark in &steadied.remarks {
        output::remark(remark);
    }
    skipped(plan);
}

/// Says which benchmarks of a plan are not measured, and why: a line for each reason.
pub fn skipped(plan: &Plan) {
    let mut reasons: Vec<(&str, Vec<&str>)> = vec![];
    for skip in &plan.skips {
        match reasons
            .iter_mut()
            .find(|(reason, _)| *reason == skip.reason)
        {
            Some((_, ids)) => ids.push(skip.id.as_str()),
            None => reasons.push((&skip.reason, vec![skip.id.as_str()])),
        }
    }
    for (reason, ids) in reasons {
        let shown = ids.len().min(SKIPS_NAMED);
        let more = match ids.len() - shown {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let named = ids[..shown].join(", ");
        output::remark(&format!("skipped: {named}{more}: {reason}"));
    }
}

/// When the budget was too short for the rows that were chosen: how long a run would have to be for each to have an interval.
pub fn too_short(view: &RunView) -> Option<String> {
    let launched = view.results.iter().filter(|r| {
        !matches!(r.kind, Kind::Derived | Kind::Rating)
            && r.outcome != Status::Skipped
            && r.unit.quantity() != Quantity::Exact
    });
    let launched: Vec<&Measurement> = launched.collect();
    let short = launched.iter().filter(|r| r.interval().is_none()).count();
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
            let mut tables = gritstone_report::show(view, output::detail());
            rate::open(world, &mut tables, view, against)?;
            output::text(&tables)?;
            if let Some(base) = against {
                output::plain("\n")?;
                let compared = world.compare(base, view, inspect::MARGIN);
                let shown = Comparison {
                    sides: &[base, view],
                    detail: output::detail(),
                    changed: false,
                };
                output::text(&gritstone_report::compare(&compared, shown))?;
            }
            if let Some(short) = too_short(view) {
                output::remark(&short);
            }
            output::remark(
                "\nnext: gritstone show -v   gritstone report   gritstone compare RUN last",
            );
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
    let message = |note| format!(": {}", gritstone_report::findings::message(note));
    Err(Exit::NothingMeasured.because(format!(
        "nothing could be measured{}; `gritstone doctor` looks for the cause",
        why.map_or_else(String::new, message)
    )))
}
