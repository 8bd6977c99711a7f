//! `gritstone compilers`: the kernels compiled by several compilers, measured in turn compared with the first.
//!
//! Each compiler's figures are a run of their own in the store, so that none is without its samples.
//!
//! Must not know: how a launch is carried out, how a ratio is computed.

#[cfg(test)]
mod tests;

use crate::args::{CompilersArgs, RunArgs};
use crate::backend::{self, DEADLINE, End, Local, Side, plans};
use crate::compiler::{self, FLAGS, Toolchain};
use crate::failure::{Exit, Failure};
use crate::site::Site;
use crate::world::World;
use crate::{output, own, privileges, registry, run, signals};
use anyhow::{Context, Result};
use gritstone_analysis::between::BetweenRun;
use gritstone_analysis::compare;
use gritstone_exec::Executor;
use gritstone_exec::privileged::Permits;
use gritstone_exec::rebuild::{Builds, Rebuilt};
use gritstone_measure::AfterPilot;
use gritstone_model::{
    Benchmark, CompareView, CompilerView, Compilers, CompilersView, Plan, RunView,
    SCHEMA_COMPILERS, Settings, Work,
};
use gritstone_plan::{select, steps};
use gritstone_stats::scatter::Scatter;
use gritstone_store::Store;
use std::collections::BTreeMap;
use std::time::Duration;

/// What is measured where nothing is asked for.
const SELECTORS: &str = "cpu/*";

/// A compiler with flags.
struct Way {
    name: String,
    toolchain: Toolchain,
    flags: String,
}

/// Programs that a compiler refused, with what it said.
type Refused = BTreeMap<String, String>;

/// Compiles, measures in turn, keeps, compares and shows.
pub fn compilers(world: &World, args: &CompilersArgs) -> Result<Exit> {
    registry::recover();
    let site = Site::look(None)?;
    let (ways, selectors) = asked(&site, &args.words)?;
    let selectors = match selectors.as_slice() {
        [] if world.own.is_none() => vec![SELECTORS.to_owned()],
        given => world.selectors(given),
    };
    let sources = own::sources(world.own.as_ref());
    let permits = args.privileges.permits();
    let mut plan = plan(world, &site, &selectors, &sources, permits)?;
    let mut journal = registry::begin();
    let stop = signals::end_of_run().context("cannot catch signals")?;
    let own = world.own.as_ref();
    privileges::announce(&plan, own, permits);
    let mut executor = site.executor(&plan, own, permits, DEADLINE, stop, journal.as_mut())?;
    own::prepare(own, &site, &mut plan, &mut executor)?;
    let asked = RunArgs {
        selectors,
        budget: args.budget,
        precision: args.precision,
        ..RunArgs::default()
    };
    let limits = run::limits(&asked);
    let settings = run::settings(&asked, &site, &limits);
    let mut sides = vec![];
    let mut refused = vec![];
    for way in &ways {
        output::remark(&format!("compiling with {}", way.name));
        let mut side = way.side(&site, plan.clone(), settings.clone());
        refused.push(way.compile(&mut side, &mut executor, &sources)?);
        side.info.settings.catalogue = own::kept(own, &side.plan.benchmarks);
        sides.push(side);
    }
    let mut store = Store::open(&world.store_path()?)?;
    let mut local = Local::new(&sides, executor, &mut store, Duration::ZERO);
    local.begin(&site, journal.as_mut())?;
    let mut scheduler = AfterPilot::new(&plans(&sides), limits);
    let end = local.measure(&site, &[], &mut scheduler)?;
    drop(journal);
    if end == End::Interrupted {
        output::remark(&format!(
            "stopped; everything finished is kept as the last {} runs",
            ways.len()
        ));
        return Ok(Exit::Interrupted);
    }
    let stored = |side: &Side| world.stored(&store, &side.info.id);
    let whole: Vec<RunView> = sides.iter().map(stored).collect::<Result<_>>()?;
    let made = sides.iter().zip(refused);
    let view = view(
        made.map(|(side, refused)| made_by(side, refused)).collect(),
        &whole,
    );
    output::write(args.format.format, &view, || {
        gritstone_report::compilers(&view)
    })?;
    if let Some(short) = whole.first().and_then(run::too_short) {
        output::remark(&short);
    }
    Ok(outcome(&whole))
}

/// Whether every compiler has a figure.
fn outcome(whole: &[RunView]) -> Exit {
    let measured = |run: &RunView| run.results.iter().any(|result| result.estimate.is_some());
    if whole.iter().all(measured) {
        Exit::Done
    } else {
        Exit::NothingMeasured
    }
}

/// The rows that show a compiler.
fn plan(
    world: &World,
    site: &Site,
    selectors: &[String],
    sources: &[(&str, &str)],
    permits: Permits,
) -> Result<Plan> {
    let wanted = select(&world.catalogue.benchmarks, selectors)?;
    let shows = |row: &Benchmark| compiled_speed(row, sources);
    let wanted: Vec<Benchmark> = wanted.into_iter().filter(shows).collect();
    if wanted.is_empty() {
        return Err(wrong("none of these rows shows a compiler: they must be programs of ours, and bound by the processor; `gritstone compilers gcc:-O2 gcc:-O3` takes cpu/*".to_owned()));
    }
    let mut offer = site.offer(&wanted, permits);
    offer.kernels.extend(compiler::programs());
    offer.kernels.extend(own::programs(world.own.as_ref()));
    Ok(steps(wanted, &offer))
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
    /// Its side, with no program of its own yet.
    fn side(&self, site: &Site, plan: Plan, settings: Settings) -> Side {
        let compilers = Compilers {
            cc: Some(compiler::from_anywhere(&self.toolchain.name)),
            cflags: Some(self.flags.clone()),
            ..Compilers::default()
        };
        let settings = Settings {
            compilers: Some(compilers),
            ..settings
        };
        Side {
            name: self.name.clone(),
            plan,
            build: BTreeMap::new(),
            environment: site.environment(),
            setting: None,
            info: backend::info(site, Some(self.name.clone()), settings),
        }
    }

    /// Compiles the programs of its side; rows of those that it refuses leave the plan.
    fn compile(
        &self,
        side: &mut Side,
        executor: &mut Executor,
        sources: &[(&str, &str)],
    ) -> Result<Refused> {
        let (c, fortran) = self.toolchain.with(&self.flags);
        let builds: Builds = compiler::build(executor, &side.plan, c, fortran, sources)?;
        let why_not = |(program, built): (&String, &Result<Rebuilt, String>)| {
            Some((program.clone(), built.as_ref().err()?.clone()))
        };
        let refused = builds.iter().filter_map(why_not).collect();
        side.build = compiler::accept(&mut side.plan, builds);
        Ok(refused)
    }
}

fn made_by(side: &Side, refused: Refused) -> CompilerView {
    let made = || side.build.values();
    let versions = made().map(|built| &built.program.compiler);
    let bytes: u64 = made().map(|built| built.size).sum();
    CompilerView {
        name: side.name.clone(),
        version: versions
            .max_by_key(|text| text.len())
            .cloned()
            .unwrap_or_default(),
        run: side.info.id.clone(),
        compile_s: made().map(|built| built.took.as_secs_f64()).sum(),
        bytes: Some(bytes).filter(|_| made().all(|built| built.size > 0)),
        programs: side.build.len(),
        refused,
    }
}

fn view(compilers: Vec<CompilerView>, runs: &[RunView]) -> CompilersView {
    let base = &runs[0];
    // launches took turns: there is no scatter between runs in it
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
        compilers,
        base: base.clone(),
        comparisons: runs[1..].iter().map(against).collect(),
    }
}
