//! `gritstone run`: plan, measure, keep, show.
//!
//! Must not know: how a launch is carried out, how a figure is computed.

use crate::args::{Format, RunArgs};
use crate::failure::{Exit, Failure};
use crate::progress::Display;
use crate::session::{self, Limits, Progress, Ways};
use crate::site::Site;
use crate::world::World;
use crate::{inspect, output};
use anyhow::{Context, Result};
use gritstone_exec::{ExecError, Launched};
use gritstone_host::{Before, Root, Watch, gaps};
use gritstone_model::{
    Benchmark, Conditions, Id, Launch, Outcome, Placement, Plan, Program, RunInfo, RunView,
    Settings,
};
use gritstone_plan::{select, steps};
use gritstone_store::Store;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// How long one launch may take before it counts as hung.
const DEADLINE: Duration = Duration::from_secs(60);

/// Measures, stores and shows.
pub fn run(world: &World, args: &RunArgs) -> Result<Exit> {
    // a name that is wrong is to be known now, not in ten minutes
    let against = args
        .against
        .as_deref()
        .map(|name| world.view(name))
        .transpose()?;
    let site = Site::look(args.dir.as_deref())?;
    let wanted = select(&world.catalogue.benchmarks, &args.selectors)?;
    let offer = site.offer(&wanted);
    let plan = steps(wanted, &offer);
    let limits = limits(args);
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [
        signal_hook::consts::SIGINT,
        signal_hook::consts::SIGTERM,
        signal_hook::consts::SIGHUP,
    ] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).context("cannot catch signals")?;
    }
    let mut executor = site.executor(&plan.benchmarks, DEADLINE.min(limits.budget), stop)?;
    let programs: BTreeMap<Id, Program> = plan
        .benchmarks
        .iter()
        .filter_map(|b| Some((b.id.clone(), executor.program(b)?)))
        .collect();
    let mut store = Store::open(&world.store_path()?)?;
    let info = info(args, &site, &limits);
    store.begin(&info, &plan.benchmarks, &programs, &plan.skips)?;

    let mut recorder = Recorder {
        start: Instant::now(),
        watch: Watch::open(&Root::live()),
        before: None,
        display: Display::new(),
        store: &mut store,
        id: &info.id,
        complained: BTreeSet::new(),
    };
    recorder
        .display
        .remark(&announcement(&plan, &limits, &site, &info.id));
    let measured = session::measure(&plan, &limits, &mut executor, &mut recorder);
    recorder.display.finish();
    let elapsed = recorder.start.elapsed().as_secs_f64();
    drop(executor);
    let interrupted = match measured {
        Ok(()) => false,
        Err(error) => match error.downcast_ref::<ExecError>() {
            Some(ExecError::Interrupted) => true,
            _ => {
                return Err(error.context(format!(
                    "the run {} was cut off; what was finished is kept",
                    info.id
                )));
            }
        },
    };
    if interrupted {
        eprintln!("stopped; everything finished is kept as run {}", info.id);
    } else {
        store.finish(&info.id, elapsed)?;
    }
    let view = world.stored(&store, &info.id)?;
    show(args, &view, against.as_ref())?;
    if interrupted {
        return Ok(Exit::Interrupted);
    }
    outcome(&view)
}

fn limits(args: &RunArgs) -> Limits {
    let (minutes, precision) = if args.quick { (2, 0.05) } else { (10, 0.01) };
    Limits {
        budget: args.budget.unwrap_or(Duration::from_secs(60 * minutes)),
        precision: args.precision.unwrap_or(precision),
        // SQLite keeps signed numbers, and people type what they read
        seed: args
            .seed
            .unwrap_or_else(|| u64::from(rand::random::<u32>())),
    }
}

fn info(args: &RunArgs, site: &Site, limits: &Limits) -> RunInfo {
    let now = jiff::Timestamp::now();
    RunInfo {
        id: gritstone_store::new_id(now, rand::random()),
        label: args.label.clone(),
        started: now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        elapsed_s: None,
        gritstone: env!("CARGO_PKG_VERSION").to_owned(),
        machine: site.machine(),
        settings: Settings {
            selectors: args.selectors.clone(),
            seed: limits.seed,
            budget_s: limits.budget.as_secs_f64(),
            precision: limits.precision,
            quick: args.quick,
            dir: site.dir.display().to_string(),
            environment: site.environment(),
        },
    }
}

fn announcement(plan: &Plan, limits: &Limits, site: &Site, id: &str) -> String {
    let cpus = match site.chosen.peer {
        Some(peer) => format!(
            "CPU {} (and {peer} for rows across two)",
            site.chosen.measured
        ),
        None => format!("CPU {}", site.chosen.measured),
    };
    let mut text = format!(
        "run {id}: {} benchmarks on {cpus}, at most {} s, files in {}",
        plan.steps.len(),
        limits.budget.as_secs(),
        site.dir.display()
    );
    for skip in &plan.skips {
        text.push_str(&format!(
            "\n{} {}: {}",
            skip.footnote.kind.mark(),
            skip.id,
            skip.footnote.why
        ));
    }
    text
}

fn show(args: &RunArgs, view: &RunView, against: Option<&RunView>) -> Result<()> {
    match args.format.format {
        Format::Json => output::json(view),
        Format::Text => {
            output::text(&gritstone_report::show(view))?;
            if let Some(base) = against {
                output::plain("\n")?;
                output::text(&inspect::comparison(base, view, inspect::MARGIN).1)?;
            }
            eprintln!("\nnext: gritstone brief            the performance brief of this run");
            eprintln!("      gritstone compare ref:vax-11-780-4.1bsd last");
            Ok(())
        }
    }
}

/// Whether there is any figure.
fn outcome(view: &RunView) -> Result<Exit> {
    if view.results.iter().any(|result| result.estimate.is_some()) {
        return Ok(Exit::Done);
    }
    let why = view.results.iter().find_map(|r| r.footnotes.first());
    Err(Failure {
        exit: Exit::NothingMeasured,
        what: format!(
            "nothing could be measured{}; `gritstone doctor` looks for the cause",
            why.map_or(String::new(), |note| format!(": {}", note.why))
        ),
    }
    .into())
}

/// What the session does to the world when it is real.
struct Recorder<'a> {
    start: Instant,
    watch: Watch,
    before: Option<Before>,
    display: Display,
    store: &'a mut Store,
    id: &'a str,
    complained: BTreeSet<Id>,
}

impl Ways for Recorder<'_> {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn before(&mut self, progress: &Progress<'_>) {
        self.display.show(progress);
        self.before = Some(self.watch.begin(progress.cpus));
    }

    fn after(&mut self, benchmark: &Benchmark, launched: &Launched) -> Conditions {
        let Some(before) = self.before.take() else {
            return Conditions::default();
        };
        let mut conditions = self.watch.end(&before, launched.cpu);
        // only work that never waits shows by standing still that it was made to
        if benchmark.processor_bound && benchmark.placement == Placement::OneCpu {
            conditions.gap = gaps::of(&launched.events).map(|gaps| gaps.total());
        }
        conditions
    }

    fn keep(&mut self, launch: &Launch) -> Result<()> {
        self.store.append(self.id, launch)?;
        if launch.outcome != Outcome::Measured && self.complained.insert(launch.id.clone()) {
            self.display.remark(&format!(
                "{}: {}: {}",
                launch.id,
                launch.outcome.name().replace('_', " "),
                launch.outcome.why()
            ));
        }
        Ok(())
    }
}
