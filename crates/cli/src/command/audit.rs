//! `gritstone audit`: tests the claims of benchmarks, as shipped and as other compilers build them.

mod check_benchmark;
mod rebuild;
#[cfg(test)]
mod tests;

use crate::ui::args::{CatalogArgs, PrivilegeArgs};
use crate::ui::candidates;
use crate::ui::display::FormatArgs;
use crate::ui::exit::Exit;
use crate::ui::output;
use crate::ui::progress::Display;
use crate::ui::settable::SetBy;
use anyhow::Result;
use clap::Args;
use gritstone_exec::{ExecError, Executor, Variant};
use gritstone_model::{
    AuditBuild, AuditEntry, AuditView, Benchmark, Claim, ClaimOutcome, Plan, SCHEMA_AUDIT, Work,
};
use gritstone_plan::{select, steps};
use gritstone_runs::context::Context;
use gritstone_runs::custom_catalog;
use gritstone_session::bounds::Bounds;
use gritstone_session::compiler::Toolchain;
use gritstone_session::host_context::HostContext;
use gritstone_session::measuring::Session;
use gritstone_session::observer::Observer as _;
use gritstone_session::undo;
use rebuild::{AuditedBuild, SHIPPED};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone audit byte")]
pub struct AuditArgs {
    /// Identifiers or globs [default: everything]
    #[arg(value_name = "SELECTOR", add = candidates::benchmarks(), add = SetBy::AnyFile)]
    pub selectors: Vec<String>,
    #[command(flatten)]
    pub privileges: PrivilegeArgs,
    #[command(flatten)]
    pub custom: CatalogArgs,
    #[command(flatten)]
    pub format: FormatArgs,
}

const COMPILERS: [&str; 2] = ["gcc", "clang"];

pub fn audit(context: &Context, args: &AuditArgs) -> Result<Exit> {
    undo::recover();
    let host = HostContext::probe(None)?;
    let custom = context.custom.as_ref();
    let selectors = context.selectors(&args.selectors);
    let wanted = select(&context.catalogue.benchmarks, &selectors)?;
    let permits = args.privileges.permits();
    let mut plan = steps(wanted.clone(), &host.offer(&wanted, permits, custom, false));
    let session = Session::new(&host, &mut plan, custom, Bounds::new(permits))?;
    let compilers: Vec<Toolchain> =
        COMPILERS.iter().filter_map(|name| Toolchain::find(&host, name, None).ok()).collect();
    let (journal, mut executor) = session.executor(&[&plan]);
    let shipped = Variant { environment: host.environment(), ..Variant::default() };
    let view = AuditView {
        catalogue: custom_catalog::used_catalog(custom, &plan.benchmarks),
        ..view(&mut executor, &shipped, &plan, &compilers, &custom_catalog::sources(custom))?
    };
    drop(executor);
    drop(journal);
    output::write(args.format.format, &view, || gritstone_report::audit(&view))?;
    Ok(exit(&view))
}

fn exit(view: &AuditView) -> Exit {
    if view.entries.iter().any(|entry| view.fails(entry)) {
        Exit::CheckFailed
    } else if view.entries.iter().any(AuditEntry::was_tested) {
        Exit::Done
    } else {
        Exit::NothingMeasured
    }
}

/// Compiles everything first, so that nothing is compiled while something is timed.
fn view(
    executor: &mut Executor,
    shipped: &Variant,
    plan: &Plan,
    compilers: &[Toolchain],
    sources: &[(&str, &str)],
) -> Result<AuditView> {
    let mut display = Display::new();
    let programs = rebuild::programs(plan, sources);
    let mut rebuilds = vec![];
    if !programs.is_empty() {
        let (number, builds) = (programs.len(), compilers.len() * rebuild::LEVELS.len());
        display.message(&match builds {
            0 => "no compiler on PATH: only the programs in this binary are audited".to_owned(),
            _ if number == 1 => {
                format!("compiling 1 program with {builds} combinations of compiler and flags")
            }
            _ => format!(
                "compiling {number} programs with {builds} combinations of compiler and flags"
            ),
        });
        rebuilds = rebuild::compile(executor.setup(), compilers, sources, &programs)?;
    }
    let mut entries = vec![];
    for (done, benchmark) in plan.benchmarks.iter().enumerate() {
        display.step(done, plan.benchmarks.len(), benchmark.id.as_str());
        entries.extend(entry(executor, shipped, plan, benchmark, &rebuilds)?);
    }
    display.clear();
    let build = AuditBuild {
        name: SHIPPED.to_owned(),
        compiler: gritstone_kernels::COMPILER.to_owned(),
        flags: gritstone_kernels::FLAGS.to_owned(),
        counts: true,
        why_not: None,
    };
    let builds = rebuilds.into_iter().map(|(build, _)| build);
    Ok(AuditView {
        schema: SCHEMA_AUDIT.to_owned(),
        gritstone: env!("CARGO_PKG_VERSION").to_owned(),
        builds: [build].into_iter().chain(builds).collect(),
        entries,
        catalogue: None,
    })
}

/// `None` for a derived benchmark.
fn entry(
    executor: &mut Executor,
    shipped: &Variant,
    plan: &Plan,
    benchmark: &Benchmark,
    rebuilds: &[AuditedBuild],
) -> Result<Option<AuditEntry>, ExecError> {
    let skip = plan.skips.iter().find(|skip| skip.id == benchmark.id);
    let step = plan.steps.iter().find(|step| step.id == benchmark.id);
    let tests = match (&benchmark.work, skip, step) {
        (Work::Derived { .. } | Work::Score { .. }, ..) => return Ok(None),
        (_, Some(skip), _) => {
            let why = Some(check_benchmark::note(skip.reason.clone()));
            vec![check_benchmark::test(SHIPPED, Claim::Runs, ClaimOutcome::Untested, why)]
        }
        (Work::Kernel(work), None, Some(step)) => {
            check_benchmark::kernel(executor, shipped, benchmark, work, &step.cpus, rebuilds)?
        }
        (Work::Command(work) | Work::Scenario(work), None, Some(step)) => {
            check_benchmark::command(executor, shipped, benchmark, work, &step.cpus)?
        }
        (_, None, None) => vec![],
    };
    let source = match &benchmark.work {
        Work::Kernel(work) => gritstone_kernels::source(&work.program),
        _ => None,
    };
    Ok(Some(AuditEntry {
        id: benchmark.id.clone(),
        version: benchmark.version,
        kind: benchmark.work.kind(),
        source: source.map(|source| source.hash.to_owned()),
        tests,
    }))
}
