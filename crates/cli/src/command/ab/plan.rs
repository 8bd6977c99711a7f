//! Benchmarks, programs and environment of each side of a trial.

use super::sides::{Side, Sides};
use crate::command::ab::args::AbArgs;
use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::{Result, ensure};
use gritstone_exec::rebuild::{Builds, Rebuilt};
use gritstone_model::{Benchmark, CommandWork, Compiled, Figure, Plan, Skip, Work};
use gritstone_plan::{select, steps};
use gritstone_runs::context::Context;
use gritstone_session::compiler::{self, Toolchain};
use gritstone_session::host_context::HostContext;
use gritstone_session::measuring::Session;
use gritstone_session::trial::{command_step, user_environment};
use std::collections::BTreeMap;

/// The commands, or the selected catalog entries that measure a time.
pub fn plan(context: &Context, args: &AbArgs, host: &HostContext, sides: &Sides) -> Result<Plan> {
    let commands = &sides.sides[0].commands;
    if !commands.is_empty() {
        return Ok(Plan {
            steps: commands.iter().map(command_step).collect(),
            benchmarks: commands.clone(),
            skips: vec![],
        });
    }
    let selectors = context.selectors(&args.selectors());
    ensure!(
        !selectors.is_empty(),
        "name the benchmarks to compare, such as byte/sieve or 'unix/*'; `gritstone list` has all"
    );
    let mut wanted = select(&context.catalogue.benchmarks, &selectors)?;
    wanted.retain(timed);
    let custom = context.custom.as_ref();
    let offer = host.offer(&wanted, args.privileges.permits(), custom, false);
    let plan = steps(wanted, &offer);
    check_not_empty(&plan)?;
    Ok(plan)
}

/// Fails if nothing is left to compare.
pub fn check_not_empty(plan: &Plan) -> Result<()> {
    if !plan.steps.is_empty() {
        return Ok(());
    }
    let why = |skip: &Skip| format!("; {}: {}", skip.id, skip.reason);
    let all: String = plan.skips.iter().map(why).collect();
    let what = format!("none of these benchmarks has a time that can be compared here{all}");
    Err(Exit::NothingMeasured.because(what))
}

fn timed(benchmark: &Benchmark) -> bool {
    match &benchmark.work {
        Work::Kernel(_) => true,
        Work::Command(CommandWork { figure, .. }) | Work::Scenario(CommandWork { figure, .. }) => {
            *figure == Figure::Time
        }
        Work::Derived { .. } | Work::Score { .. } => false,
    }
}

/// Programs of a side, and a summary of its compiler.
pub type SideBuild = (BTreeMap<String, Rebuilt>, Option<Compiled>);

/// Compiles the programs of each side that names a compiler. Benchmarks that one compiler refuses leave the plan.
pub fn builds(session: &Session<'_>, plan: &mut Plan, sides: &Sides) -> Result<Vec<SideBuild>> {
    let mut all = vec![];
    for side in &sides.sides {
        let mut build = SideBuild::default();
        if let Some(compiler) = &side.compiler {
            output::remark(&format!("compiling: {}", side.what));
            let (name, flags) = compiler.split_once(' ').unwrap_or((compiler, ""));
            let tools = Toolchain::find(session.host, name, None)?.with(flags)?;
            let builds = session.build(session.catalog, &plan.benchmarks, tools)?;
            ensure!(
                !builds.is_empty(),
                "none of these benchmarks has a workload to compile, so --cc changes nothing"
            );
            let what = compiled(&builds);
            build = (compiler::accept(plan, builds), Some(what));
        }
        all.push(build);
    }
    check_not_empty(plan)?;
    Ok(all)
}

fn compiled(builds: &Builds) -> Compiled {
    let programs = || builds.values().flatten();
    let versions = programs().map(|built| &built.program.compiler);
    let bytes: u64 = programs().map(|built| built.size).sum();
    let refused = builds.iter().filter_map(|(program, built)| {
        let why = built.as_ref().err()?;
        Some((program.clone(), why.clone()))
    });
    Compiled {
        version: (versions.max_by_key(|text| text.len()).cloned()).unwrap_or_default(),
        compile_s: programs().map(|built| built.took.as_secs_f64()).sum(),
        bytes: Some(bytes).filter(|_| programs().all(|built| built.size > 0)),
        programs: programs().count(),
        refused: refused.collect(),
    }
}

pub fn environment(host: &HostContext, side: &Side) -> BTreeMap<String, String> {
    let mut environment = match side.commands.is_empty() {
        true => host.environment(),
        false => user_environment(),
    };
    environment.extend(side.environment.iter().cloned());
    environment
}
