//! The programs of a plan, compiled in every way that an audit looks at.
//!
//! Must not know: what the programs claim.

use crate::compiler::Toolchain;
use crate::own::programs_of;
use crate::privileges::measured;
use gritstone_exec::rebuild::{Builds, RebuildError, Workshop};
use gritstone_exec::{ExecError, Executor};
use gritstone_model::{AuditBuild, Plan};
use std::collections::BTreeSet;
use std::panic::resume_unwind;

/// Flags, and whether a claim must hold under them. -Ofast gives up IEEE arithmetic, which a kernel may rely on.
const LEVELS: [(&str, bool); 5] = [
    ("-O0", true),
    ("-O2", true),
    ("-O3", true),
    ("-O3 -flto", true),
    ("-Ofast", false),
];

/// A compiler with flags.
#[derive(Clone, Debug)]
pub struct Way {
    compiler: Toolchain,
    flags: &'static str,
    counts: bool,
}

impl Way {
    /// Every compiler at every level.
    pub fn all(compilers: &[Toolchain]) -> Vec<Self> {
        let levels = |compiler: &Toolchain| {
            LEVELS.map(|(flags, counts)| Self {
                compiler: compiler.clone(),
                flags,
                counts,
            })
        };
        compilers.iter().flat_map(levels).collect()
    }
}

/// What came of one way: all programs, unless nothing can be compiled so.
#[derive(Debug)]
pub struct Again {
    /// The way as it is shown.
    pub build: AuditBuild,
    /// The programs.
    pub programs: Builds,
}

/// The programs of the kernels of a plan that can run here, with those that they use.
pub fn programs(plan: &Plan) -> Vec<String> {
    let rows = measured(plan).into_iter();
    let names: BTreeSet<&String> = rows.flat_map(programs_of).collect();
    names.into_iter().cloned().collect()
}

/// Compiles `programs` in all `ways`, as many at a time as there are CPUs.
///
/// # Errors
/// When compilers cannot be started any more, or the user asks to stop.
pub fn compile(
    executor: &mut Executor,
    ways: Vec<Way>,
    sources: &[(&str, &str)],
    programs: &[String],
) -> Result<Vec<Again>, ExecError> {
    if programs.is_empty() {
        return Ok(vec![]);
    }
    let open = |way: Way| {
        let (c, fortran) = way.compiler.with(way.flags);
        Ok((way, executor.workshop(c, fortran)?))
    };
    let open: Vec<_> = ways
        .into_iter()
        .map(open)
        .collect::<Result<_, ExecError>>()?;
    let programs: Vec<&str> = programs.iter().map(String::as_str).collect();
    let compile = |ways: &[(Way, Workshop)]| -> Result<Vec<Again>, ExecError> {
        let one = |(way, workshop): &_| one(way, workshop, sources, &programs);
        ways.iter().map(one).collect()
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let share = open.len().div_ceil(workers).max(1);
    let done: Result<Vec<_>, _> = std::thread::scope(|scope| {
        let shares = open.chunks(share);
        let workers: Vec<_> = shares.map(|ways| scope.spawn(|| compile(ways))).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    });
    Ok(done?.into_iter().flatten().collect())
}

fn one(
    way: &Way,
    workshop: &Workshop,
    sources: &[(&str, &str)],
    programs: &[&str],
) -> Result<Again, ExecError> {
    let name = format!("{} {}", way.compiler.name, way.flags);
    let (programs, why_not) = match workshop.build(sources, programs) {
        Ok(programs) => (programs, None),
        Err(RebuildError::Refused(why)) => {
            let why = format!("With {name} nothing can be compiled here: {why}.");
            (Builds::new(), Some(why))
        }
        Err(RebuildError::Exec(error)) => return Err(error),
    };
    Ok(Again {
        build: AuditBuild {
            name,
            compiler: workshop.version().to_owned(),
            flags: way.flags.to_owned(),
            counts: way.counts,
            why_not,
        },
        programs,
    })
}
