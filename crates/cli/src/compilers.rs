//! `gritstone compilers`: the kernels compiled by several compilers, measured in turn compared with the first.
//!
//! Each compiler's figures are a run of their own in the store, so that none is without its samples.

#[cfg(test)]
mod tests;

use crate::args::{CompilersArgs, RunArgs};
use crate::backend::{self, End, Side, plans};
use crate::bench::{Bench, Bounds};
use crate::compiler::{self, FLAGS, Toolchain};
use crate::failure::Exit;
use crate::site::Site;
use crate::world::World;
use crate::{output, own, registry, run};
use anyhow::{Result, ensure};
use gritstone_analysis::between::BetweenRun;
use gritstone_analysis::compare;
use gritstone_exec::Variant;
use gritstone_exec::rebuild::Rebuilt;
use gritstone_measure::{AfterPilot, Earlier};
use gritstone_model::{
    Benchmark, CompareView, CompilerView, Compilers, CompilersView, Plan, RunView,
    SCHEMA_COMPILERS, Settings,
};
use gritstone_plan::{select, steps};
use gritstone_stats::scatter::Scatter;
use std::collections::BTreeMap;

/// What is measured where nothing is asked for.
const SELECTORS: &str = "cpu/*";

/// Programs that a compiler refused, with what it said.
type Refused = BTreeMap<String, String>;

/// Compiles, measures in turn, keeps, compares and shows.
pub fn compilers(world: &World, args: &CompilersArgs) -> Result<Exit> {
    registry::recover();
    let site = Site::look(None)?;
    // an identifier has no colon
    let words = args.words.iter().cloned();
    let (compilers, mut selectors): (Vec<_>, Vec<_>) = words.partition(|word| word.contains(':'));
    ensure!(
        compilers.len() >= 2,
        "name two compilers at least, each with its flags, such as gcc:-O2 clang:-O2"
    );
    if selectors.is_empty() && world.own.is_none() {
        selectors.push(SELECTORS.to_owned());
    }
    let asked = RunArgs {
        selectors: world.selectors(&selectors),
        budget: args.budget,
        precision: args.precision,
        ..RunArgs::default()
    };
    let settings = run::settings(&asked, &site);
    let bounds = Bounds::new(args.privileges.permits());
    let mut plan = plan(world, &site, &asked.selectors, bounds)?;
    let own = world.own.as_ref();
    let bench = Bench::new(&site, &mut plan, own, bounds)?;
    let mut sides = vec![];
    let mut refused = vec![];
    for compiler in &compilers {
        let (mut side, why_not) = side(&bench, &plan, &settings, compiler)?;
        side.info.settings.catalogue = own::kept(own, &side.plan.benchmarks);
        sides.push(side);
        refused.push(why_not);
    }
    let mut store = world.writer()?;
    let mut scheduler = AfterPilot::new(&plans(&sides), run::limits(&settings)?, &Earlier::new());
    if bench.measure(&mut store, &sides, None, &mut scheduler)? == End::Interrupted {
        output::remark(&format!(
            "stopped; everything finished is kept as the last {} runs",
            sides.len()
        ));
        return Ok(Exit::Interrupted);
    }
    let stored = |side: &Side| world.stored(&store, &side.info.id);
    let whole: Vec<RunView> = sides.iter().map(stored).collect::<Result<_>>()?;
    let made = sides.iter().zip(refused);
    let made = made.map(|(side, refused)| made_by(side, refused)).collect();
    let view = view(made, &whole);
    output::write(args.format.format, &view, || {
        gritstone_report::compilers(&view)
    })?;
    let measured = |run: &RunView| run.results.iter().any(|result| result.estimate.is_some());
    Ok(match whole.iter().all(measured) {
        true => Exit::Done,
        false => Exit::NothingMeasured,
    })
}

/// The rows that show a compiler.
fn plan(world: &World, site: &Site, selectors: &[String], bounds: Bounds) -> Result<Plan> {
    let own = world.own.as_ref();
    let sources = own::sources(own);
    let mut wanted = select(&world.catalogue.benchmarks, selectors)?;
    wanted.retain(|row| compiled_speed(row, &sources));
    ensure!(
        !wanted.is_empty(),
        "none of these rows shows a compiler: they must be programs of ours, and bound by the processor; `gritstone compilers gcc:-O2 gcc:-O3` takes cpu/*"
    );
    let offer = site.offer(&wanted, bounds.permits, own, true);
    Ok(steps(wanted, &offer))
}

/// Whether a row shows what a compiler is worth.
fn compiled_speed(row: &Benchmark, sources: &[(&str, &str)]) -> bool {
    let program = own::programs_of(row).last();
    row.processor_bound && program.is_some_and(|name| compiler::is_compiled(sources, name))
}

/// The side of a compiler with its flags (`gcc:-O2`), and what it refused: those rows leave its plan.
fn side(
    bench: &Bench<'_>,
    plan: &Plan,
    settings: &Settings,
    compiler: &str,
) -> Result<(Side, Refused)> {
    let (compiler, flags) = compiler.split_once(':').unwrap_or((compiler, ""));
    let flags = if flags.is_empty() { FLAGS } else { flags };
    let name = format!("{compiler} {flags}");
    output::remark(&format!("compiling with {name}"));
    let tools = Toolchain::find(bench.site, compiler, None)?.with(flags);
    let builds = bench.build(bench.own, &plan.benchmarks, tools)?;
    let refused = builds.iter().filter_map(|(program, built)| {
        let why = built.as_ref().err()?;
        Some((program.clone(), why.clone()))
    });
    let refused = refused.collect();
    let mut plan = plan.clone();
    let builds = compiler::accept(&mut plan, builds);
    let compilers = Compilers {
        cc: Some(compiler::from_anywhere(compiler)),
        cflags: Some(flags.to_owned()),
        ..Compilers::default()
    };
    let settings = Settings {
        compilers: Some(compilers),
        ..settings.clone()
    };
    let side = Side {
        plan,
        variant: Variant {
            environment: bench.site.environment(),
            builds,
        },
        setting: None,
        info: backend::info(bench.site, Some(name.clone()), settings),
        name,
    };
    Ok((side, refused))
}

fn made_by(side: &Side, refused: Refused) -> CompilerView {
    let made = || side.variant.builds.values();
    let versions = made().map(|built: &Rebuilt| &built.program.compiler);
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
        programs: side.variant.builds.len(),
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
    let rows = base.results.iter();
    let options = compare::Options {
        between_run: rows.map(|row| (row.id.clone(), none)).collect(),
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
