//! What a trial launches: rows, programs and environment of each side.

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

/// What is launched: commands, or the rows of the catalog that have a time of their own.
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
    let mut wanted = select(&context.catalogue.benchmarks, &selectors)?;
    wanted.retain(timed);
    let own = context.own.as_ref();
    let offer = host.offer(&wanted, args.privileges.permits(), own, false);
    let plan = steps(wanted, &offer);
    some(&plan)?;
    Ok(plan)
}

/// That something is left to be compared.
pub fn some(plan: &Plan) -> Result<()> {
    if !plan.steps.is_empty() {
        return Ok(());
    }
    let why = |skip: &Skip| format!("; {}: {}", skip.id, skip.reason);
    let all: String = plan.skips.iter().map(why).collect();
    let what = format!("none of these benchmarks has a time that can be compared here{all}");
    Err(Exit::NothingMeasured.because(what))
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

/// The programs of one side, and what its compiler made.
pub type Made = (BTreeMap<String, Rebuilt>, Option<Compiled>);

/// The programs of each side, compiled where it has a compiler. Rows whose programs one of them refuses leave the plan.
pub fn builds(session: &Session<'_>, plan: &mut Plan, sides: &Sides) -> Result<Vec<Made>> {
    let mut all = vec![];
    for side in &sides.sides {
        let mut made = Made::default();
        if let Some(compiler) = &side.compiler {
            output::remark(&format!("compiling: {}", side.what));
            let (name, flags) = compiler.split_once(' ').unwrap_or((compiler, ""));
            let tools = Toolchain::find(session.host, name, None)?.with(flags);
            let builds = session.build(session.own, &plan.benchmarks, tools)?;
            ensure!(
                !builds.is_empty(),
                "none of these benchmarks has a workload to compile, so --cc changes nothing"
            );
            let what = compiled(&builds);
            made = (compiler::accept(plan, builds), Some(what));
        }
        all.push(made);
    }
    some(plan)?;
    Ok(all)
}

/// What a compiler made of the programs.
fn compiled(builds: &Builds) -> Compiled {
    let made = || builds.values().flatten();
    let versions = made().map(|built| &built.program.compiler);
    let bytes: u64 = made().map(|built| built.size).sum();
    let refused = builds.iter().filter_map(|(program, built)| {
        let why = built.as_ref().err()?;
        Some((program.clone(), why.clone()))
    });
    Compiled {
        version: (versions.max_by_key(|text| text.len()).cloned()).unwrap_or_default(),
        compile_s: made().map(|built| built.took.as_secs_f64()).sum(),
        bytes: Some(bytes).filter(|_| made().all(|built| built.size > 0)),
        programs: made().count(),
        refused: refused.collect(),
    }
}

/// Everything that a child of this side finds in its environment.
pub fn environment(host: &HostContext, side: &Side) -> BTreeMap<String, String> {
    let mut environment = match side.commands.is_empty() {
        true => host.environment(),
        false => user_environment(),
    };
    environment.extend(side.environment.iter().cloned());
    environment
}
