//! The programs of a plan, compiled in every way that an audit looks at.
//!
//! Must not know: what the programs claim.

use crate::compiler::Toolchain;
use gritstone_exec::rebuild::{Builds, RebuildError, Workshop};
use gritstone_exec::{ExecError, Executor};
use gritstone_model::{AuditBuild, Plan, Work};
use std::collections::BTreeSet;
use std::sync::Mutex;

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
    let planned = plan
        .benchmarks
        .iter()
        .filter(|benchmark| plan.steps.iter().any(|step| step.id == benchmark.id));
    let names: BTreeSet<&String> = planned
        .filter_map(|benchmark| match &benchmark.work {
            Work::Kernel(work) => Some(work.uses.iter().chain([&work.program])),
            _ => None,
        })
        .flatten()
        .collect();
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
    let mut open = vec![];
    for (i, way) in ways.into_iter().enumerate() {
        let (c, fortran) = way.compiler.with(way.flags);
        let workshop = executor.workshop(c, fortran)?;
        open.push((i, way, workshop));
    }
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let open = Mutex::new(open);
    let next = || open.lock().ok().and_then(|mut open| open.pop());
    let programs: Vec<&str> = programs.iter().map(String::as_str).collect();
    let work = || {
        let mut done = vec![];
        while let Some((i, way, workshop)) = next() {
            done.push((i, one(&way, &workshop, sources, &programs)?));
        }
        Ok::<_, ExecError>(done)
    };
    let done: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .map(|worker| match worker.join() {
                Ok(done) => done,
                Err(panic) => std::panic::resume_unwind(panic),
            })
            .collect()
    });
    let mut all = vec![];
    for done in done {
        all.extend(done?);
    }
    all.sort_by_key(|(i, _)| *i);
    Ok(all.into_iter().map(|(_, again)| again).collect())
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
