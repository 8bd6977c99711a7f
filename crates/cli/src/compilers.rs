//! `gritstone compilers`: the kernels compiled by several compilers, measured in turn in one session, compared with the first.
//!
//! Each compiler's figures are a run of their own in the store, so that none is without its samples.
//!
//! Must not know: how a launch is carried out, how a ratio is computed.

#[cfg(test)]
mod tests;

use crate::args::{CompilersArgs, RunArgs};
use crate::clock::Clock;
use crate::compiler::{self, FLAGS, Toolchain};
use crate::failure::{Exit, Failure};
use crate::keep::{keep, when_free};
use crate::progress::Display;
use crate::session::{self, DEADLINE, Progress, Ways};
use crate::site::Site;
use crate::world::World;
use crate::{output, own, registry, run, signals, surroundings};
use anyhow::{Context, Result};
use gritstone_exec::rebuild::{Builds, Rebuilt};
use gritstone_exec::{ExecError, Execute, Executor, Journal, Launched};
use gritstone_host::{Root, Watch};
use gritstone_model::{
    Benchmark, CompareView, CompilerView, Compilers, CompilersView, Conditions, Id, Launch, Plan,
    RunView, SCHEMA_COMPILERS, Step, Work,
};
use gritstone_plan::{select, steps};
use gritstone_stats::between::{BetweenRun, Scatter};
use gritstone_stats::compare;
use gritstone_store::Store;
use std::collections::BTreeMap;
use std::time::Duration;

/// What is measured where nothing is asked for.
const SELECTORS: &str = "cpu/*";

/// A compiler with flags, and what it made.
struct Way {
    name: String,
    toolchain: Toolchain,
    flags: String,
    plan: Plan,
    programs: BTreeMap<String, Rebuilt>,
    refused: BTreeMap<String, String>,
    run: String,
}

/// Compiles, measures in turn, keeps, compares and shows.
pub fn compilers(world: &World, args: &CompilersArgs) -> Result<Exit> {
    registry::recover();
    let site = Site::look(None)?;
    let (mut ways, selectors) = asked(&site, &args.words)?;
    let selectors = match selectors.as_slice() {
        [] if world.own.is_none() => vec![SELECTORS.to_owned()],
        given => world.selectors(given),
    };
    let sources = own::sources(world.own.as_ref());
    let wanted = select(&world.catalogue.benchmarks, &selectors)?;
    let shows = |row: &Benchmark| compiled_speed(row, &sources);
    let wanted: Vec<Benchmark> = wanted.into_iter().filter(shows).collect();
    if wanted.is_empty() {
        return Err(wrong("none of these rows shows a compiler: they must be programs of ours, and bound by the processor; `gritstone compilers gcc:-O2 gcc:-O3` takes cpu/*".to_owned()));
    }
    let mut offer = site.offer(&wanted);
    offer.kernels.extend(compiler::programs());
    offer.kernels.extend(own::programs(world.own.as_ref()));
    let mut plan = steps(wanted, &offer);
    let mut journal = registry::begin();
    let stop = signals::end_of_run().context("cannot catch signals")?;
    let mut executor = site.executor(&plan.benchmarks, DEADLINE, stop, journal.as_mut())?;
    let own = world.own.as_ref();
    own::prepare(own, &site, &mut plan, &mut executor, journal.as_mut())?;
    for way in &mut ways {
        output::remark(&format!("compiling with {}", way.name));
        way.plan = plan.clone();
        way.compile(&mut executor, &sources)?;
    }
    let journal = journal.as_mut();
    let whole = match measure(world, &site, args, &selectors, &mut ways, executor, journal) {
        Err(error) if matches!(error.downcast_ref(), Some(ExecError::Interrupted)) => {
            output::remark(&format!(
                "stopped; everything finished is kept as the last {} runs",
                ways.len()
            ));
            return Ok(Exit::Interrupted);
        }
        whole => whole?,
    };
    let view = view(&ways, &whole);
    output::write(args.format.format, &view, || {
        gritstone_report::compilers(&view)
    })?;
    if let Some(short) = whole.first().and_then(run::too_short) {
        output::remark(&short);
    }
    let measured = |run: &RunView| run.results.iter().any(|result| result.estimate.is_some());
    Ok(if whole.iter().all(measured) {
        Exit::Done
    } else {
        Exit::NothingMeasured
    })
}

fn wrong(what: String) -> anyhow::Error {
    let exit = Exit::WrongUse;
    Failure { exit, what }.into()
}

/// Whether a row shows what a compiler is worth.
fn compiled_speed(benchmark: &Benchmark, sources: &[(&str, &str)]) -> bool {
    match &benchmark.work {
        Work::Kernel(work) => {
            benchmark.processor_bound && compiler::is_compiled(sources, &work.program)
        }
        _ => false,
    }
}

/// The compilers and the selectors among the words: an identifier has no colon.
fn asked(site: &Site, words: &[String]) -> Result<(Vec<Way>, Vec<String>)> {
    let mut ways = vec![];
    let mut selectors = vec![];
    for word in words {
        let Some((compiler, flags)) = word.split_once(':') else {
            selectors.push(word.clone());
            continue;
        };
        let flags = if flags.is_empty() { FLAGS } else { flags };
        ways.push(Way {
            name: format!("{compiler} {flags}"),
            toolchain: Toolchain::find(site, compiler, None)?,
            flags: flags.to_owned(),
            plan: Plan::default(),
            programs: BTreeMap::new(),
            refused: BTreeMap::new(),
            run: String::new(),
        });
    }
    if ways.len() < 2 {
        return Err(wrong(format!(
            "{} to compare: name two compilers at least, each with its flags, such as gcc:-O2 clang:-O2",
            if ways.is_empty() {
                "no compiler"
            } else {
                "one compiler, and nothing"
            }
        )));
    }
    Ok((ways, selectors))
}

impl Way {
    fn compile(&mut self, executor: &mut Executor, sources: &[(&str, &str)]) -> Result<()> {
        let (c, fortran) = self.toolchain.with(&self.flags);
        let builds: Builds = compiler::build(executor, &self.plan, c, fortran, sources)?;
        for (program, built) in &builds {
            if let Err(why) = built {
                self.refused.insert(program.clone(), why.clone());
            }
        }
        self.programs = compiler::accept(&mut self.plan, builds);
        Ok(())
    }

    fn view(&self) -> CompilerView {
        let made = || self.programs.values();
        let versions = made().map(|built| &built.program.compiler);
        let bytes: u64 = made().map(|built| built.size).sum();
        CompilerView {
            name: self.name.clone(),
            version: versions
                .max_by_key(|text| text.len())
                .cloned()
                .unwrap_or_default(),
            run: self.run.clone(),
            compile_s: made().map(|built| built.took.as_secs_f64()).sum(),
            bytes: Some(bytes).filter(|_| made().all(|built| built.size > 0)),
            programs: self.programs.len(),
            refused: self.refused.clone(),
        }
    }
}

/// A row of a way, by the name that it has in the session.
type Rows = BTreeMap<Id, (usize, Benchmark)>;

/// All rows of all ways as one plan: the session sees to it that they take turns.
fn together(ways: &[Way]) -> Result<(Plan, Rows)> {
    let mut plan = Plan::default();
    let mut rows = Rows::new();
    for (number, way) in ways.iter().enumerate() {
        for step in &way.plan.steps {
            let Some(row) = way.plan.benchmarks.iter().find(|b| b.id == step.id) else {
                continue;
            };
            let id = Id::parse(&format!("{}-{}", number + 1, row.id))?;
            rows.insert(id.clone(), (number, row.clone()));
            plan.benchmarks.push(Benchmark {
                id: id.clone(),
                ..row.clone()
            });
            plan.steps.push(Step {
                id,
                cpus: step.cpus.clone(),
                copies: step.copies,
            });
        }
    }
    Ok((plan, rows))
}

fn measure(
    world: &World,
    site: &Site,
    args: &CompilersArgs,
    selectors: &[String],
    ways: &mut [Way],
    executor: Executor,
    mut journal: Option<&mut Journal>,
) -> Result<Vec<RunView>> {
    let (plan, rows) = together(ways)?;
    let mut store = Store::open(&world.store_path()?)?;
    let asked = RunArgs {
        selectors: selectors.to_vec(),
        budget: args.budget,
        precision: args.precision,
        ..RunArgs::default()
    };
    let limits = run::limits(&asked);
    let mut interleaved = Interleaved {
        executor,
        rows: &rows,
        builds: vec![],
    };
    for way in ways.iter_mut() {
        let mut info = run::info(&asked, BTreeMap::new(), site, &limits);
        info.label = Some(way.name.clone());
        info.settings.catalogue = own::kept(world.own.as_ref(), &way.plan.benchmarks);
        info.settings.compilers = Some(Compilers {
            cc: Some(compiler::from_anywhere(&way.toolchain.name)),
            cflags: Some(way.flags.clone()),
            ..Compilers::default()
        });
        interleaved.executor.use_builds(way.programs.clone());
        let programs = interleaved.executor.programs(&way.plan.benchmarks);
        registry::measures(journal.as_deref_mut(), &info.id);
        store.begin(
            &site.owner(),
            &info,
            &way.plan.benchmarks,
            &programs,
            &way.plan.skips,
        )?;
        way.run = info.id;
        interleaved.builds.push(way.programs.clone());
    }
    let runs: Vec<&str> = ways.iter().map(|way| way.run.as_str()).collect();
    let mut recorder = Recorder {
        start: Clock::start(),
        watch: Watch::open(&Root::live()),
        before: None,
        display: Display::new(),
        store: &mut store,
        rows: &rows,
        runs: &runs,
        told: false,
    };
    let _out_of_the_way = site.keep_out_of_the_way();
    let measured = session::measure(&plan, &limits, &[], &mut interleaved, &mut recorder);
    recorder.display.finish();
    let elapsed = recorder.now().as_secs_f64();
    drop(interleaved);
    let stored = when_free(&mut store, Store::flush);
    measured?;
    stored?;
    for id in &runs {
        when_free(&mut store, |store| store.finish(id, elapsed))?;
    }
    runs.iter().map(|id| world.stored(&store, id)).collect()
}

fn view(ways: &[Way], runs: &[RunView]) -> CompilersView {
    let base = &runs[0];
    // one session: there is no scatter between runs in it
    let none = BetweenRun {
        paced: Scatter::known(0.0),
        raw: Scatter::known(0.0),
    };
    let options = compare::Options {
        between_run: base
            .results
            .iter()
            .map(|row| (row.id.clone(), none))
            .collect(),
        ..compare::Options::default()
    };
    let against = |other: &RunView| -> CompareView { compare::compare(base, other, &options) };
    CompilersView {
        schema: SCHEMA_COMPILERS.to_owned(),
        compilers: ways.iter().map(Way::view).collect(),
        base: base.clone(),
        comparisons: runs[1..].iter().map(against).collect(),
    }
}

/// Launches each row with the programs of its compiler.
struct Interleaved<'a> {
    executor: Executor,
    rows: &'a Rows,
    builds: Vec<BTreeMap<String, Rebuilt>>,
}

impl Execute for Interleaved<'_> {
    fn launch(&mut self, benchmark: &Benchmark, cpus: &[u32]) -> Result<Launched, ExecError> {
        let Some((way, row)) = self.rows.get(&benchmark.id) else {
            return self.executor.launch(benchmark, cpus);
        };
        self.executor.use_builds(self.builds[*way].clone());
        self.executor.launch(row, cpus)
    }

    fn launch_copies(
        &mut self,
        benchmark: &Benchmark,
        cpus: &[u32],
        copies: u32,
    ) -> Result<Launched, ExecError> {
        let Some((way, row)) = self.rows.get(&benchmark.id) else {
            return self.executor.launch_copies(benchmark, cpus, copies);
        };
        self.executor.use_builds(self.builds[*way].clone());
        self.executor.launch_copies(row, cpus, copies)
    }
}

/// Keeps each launch in the run of its compiler.
struct Recorder<'a> {
    start: Clock,
    watch: Watch,
    before: Option<surroundings::Begun>,
    display: Display,
    store: &'a mut Store,
    rows: &'a Rows,
    runs: &'a [&'a str],
    /// Whether the user knows that the store is locked.
    told: bool,
}

impl Ways for Recorder<'_> {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn before(&mut self, progress: &Progress<'_>) {
        self.display.show(progress);
        self.before = Some(surroundings::begin(
            &mut self.watch,
            progress.benchmark,
            progress.cpus,
        ));
    }

    fn after(&mut self, benchmark: &Benchmark, launched: &Launched) -> Conditions {
        let before = self.before.take();
        before.map_or_else(Conditions::default, |before| {
            surroundings::conditions(&mut self.watch, &before, benchmark, launched)
        })
    }

    fn keep(&mut self, launch: &Launch) -> Result<()> {
        let Some((way, row)) = self.rows.get(&launch.id) else {
            return Ok(());
        };
        let launch = Launch {
            id: row.id.clone(),
            ..launch.clone()
        };
        let run = self.runs[*way];
        keep(self.store, run, &launch, &mut self.display, &mut self.told)
    }
}
