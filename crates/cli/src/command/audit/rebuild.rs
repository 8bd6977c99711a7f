//! Compiles the programs of a plan with every compiler and level of an audit.

use gritstone_exec::rebuild::{Builds, RebuildError, Workshop};
use gritstone_exec::{ExecError, Setup};
use gritstone_model::{AuditBuild, Plan};
use gritstone_runs::custom_catalog::programs_of;
use gritstone_session::compiler::{Toolchain, is_compiled};
use gritstone_session::privileges::measured;
use std::collections::BTreeSet;
use std::panic::resume_unwind;

/// Name of the build that is in this binary.
pub const SHIPPED: &str = "shipped";
/// Flags, and whether a claim must hold under them. -Ofast gives up IEEE arithmetic, which a workload may need.
pub const LEVELS: [(&str, bool); 5] =
    [("-O0", true), ("-O2", true), ("-O3", true), (STRICTEST, true), ("-Ofast", false)];
/// Flags that remove most dead code.
pub const STRICTEST: &str = "-O3 -flto";

/// A build with its programs; none if the compiler refuses the flags.
pub type AuditedBuild = (AuditBuild, Builds);

/// The programs of a plan that can run here and are compiled from `sources`.
pub fn programs<'a>(plan: &'a Plan, sources: &[(&str, &str)]) -> Vec<&'a str> {
    let rows = measured(plan).into_iter();
    let names: BTreeSet<&str> = rows.flat_map(programs_of).map(String::as_str).collect();
    let compiled = names.into_iter().filter(|name| is_compiled(sources, name));
    compiled.collect()
}

/// Compiles `programs` with every compiler at every level, as many at a time as there are CPUs.
///
/// # Errors
/// When compilers cannot be started any more, or the user asks to stop.
pub fn compile(
    setup: &Setup,
    compilers: &[Toolchain],
    sources: &[(&str, &str)],
    programs: &[&str],
) -> anyhow::Result<Vec<AuditedBuild>> {
    let mut open = vec![];
    for compiler in compilers {
        for (flags, counts) in LEVELS {
            let (c, fortran) = compiler.with(flags)?;
            let workshop = setup.workshop(c, fortran)?;
            let build = AuditBuild {
                name: format!("{} {flags}", compiler.name),
                compiler: workshop.version().to_owned(),
                flags: flags.to_owned(),
                counts,
                why_not: None,
            };
            open.push((build, workshop));
        }
    }
    let compile = |share: &[_]| -> Result<Vec<AuditedBuild>, ExecError> {
        let compile = |(build, workshop): &_| compile_build(build, workshop, sources, programs);
        share.iter().map(compile).collect()
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let share = open.len().div_ceil(workers).max(1);
    let done: Result<Vec<_>, ExecError> = std::thread::scope(|scope| {
        let shares = open.chunks(share);
        let workers: Vec<_> = shares.map(|share| scope.spawn(|| compile(share))).collect();
        let join = workers.into_iter().map(|worker| worker.join());
        join.map(|done| done.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    Ok(done?.into_iter().flatten().collect())
}

fn compile_build(
    build: &AuditBuild,
    workshop: &Workshop,
    sources: &[(&str, &str)],
    programs: &[&str],
) -> Result<AuditedBuild, ExecError> {
    let mut build = build.clone();
    let programs = match workshop.build(sources, programs) {
        Ok(programs) => programs,
        Err(RebuildError::Refused(why)) => {
            let name = &build.name;
            build.why_not = Some(format!("With {name} nothing can be compiled here: {why}."));
            Builds::new()
        }
        Err(RebuildError::Exec(error)) => return Err(error),
    };
    Ok((build, programs))
}
