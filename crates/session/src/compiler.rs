//! Compilers of this machine that kernels are to be compiled with again, and what becomes of a run then.

use crate::host_context::HostContext;
use anyhow::{Context, Result};
use gritstone_exec::rebuild::{Builds, Compiler, Rebuilt};
use gritstone_model::{Benchmark, Id, Plan, Skip};
use gritstone_runs::custom_catalog::programs_of;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// C compilers where none is named, best first.
pub const DEFAULT: [&str; 3] = ["cc", "gcc", "clang"];
/// Flags where none are asked for: those of the programs in this binary.
pub const FLAGS: &str = "-O2";
/// A compiler of C, and the compiler of Fortran that goes with it.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// As it is called in tables.
    pub name: String,
    /// The compiler of C.
    pub c: PathBuf,
    /// The compiler of Fortran, where there is one.
    pub fortran: Option<PathBuf>,
}

impl Toolchain {
    /// The compiler of that name or path, and the compiler of Fortran that is asked for or goes with it.
    ///
    /// # Errors
    /// When one that was named is not there.
    pub fn find(host: &HostContext, c: &str, fortran: Option<&str>) -> Result<Self> {
        // best first
        let beside = match is_clang(c) {
            true => ["flang", "flang-new", "gfortran"],
            false => ["gfortran", "flang", "flang-new"],
        };
        Ok(Self {
            name: c.to_owned(),
            c: named(host, c, "C")?,
            fortran: match fortran {
                Some(fortran) => Some(named(host, fortran, "Fortran")?),
                None => beside.iter().find_map(|name| host.program(name)),
            },
        })
    }

    /// Both with the same flags. Optimizing when linking is for compilers of one make: another reads no such object.
    pub fn with(&self, flags: &str) -> (Compiler, Option<Compiler>) {
        let c = Compiler {
            path: self.c.clone(),
            flags: words(flags),
        };
        let fortran = self.fortran.clone().map(|path| {
            let gnu = file_name(&path.to_string_lossy()).starts_with("gfortran");
            let alike = gnu != is_clang(&self.name);
            let mut flags = c.flags.clone();
            flags.retain(|flag| alike || !flag.starts_with("-flto"));
            Compiler { path, flags }
        });
        (c, fortran)
    }
}

fn is_clang(compiler: &str) -> bool {
    file_name(compiler).starts_with("clang")
}

pub fn words(flags: &str) -> Vec<String> {
    flags.split_whitespace().map(str::to_owned).collect()
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The name of a compiler, from wherever one stands: what is no name on PATH is a path.
pub fn from_anywhere(name: &str) -> String {
    match std::path::absolute(name) {
        Ok(path) if name.contains('/') => path.to_string_lossy().into_owned(),
        _ => name.to_owned(),
    }
}

fn named(host: &HostContext, name: &str, language: &str) -> Result<PathBuf> {
    host.program(&from_anywhere(name)).with_context(|| format!(
        "no {language} compiler {name}: give the name of one on PATH, or its path (apt-get install gcc gfortran clang)"
    ))
}

/// The compiler of C where none is named.
pub fn usual(host: &HostContext) -> Option<&'static str> {
    let mut names = DEFAULT.into_iter();
    names.find(|name| host.program(name).is_some())
}

/// Whether a program has a source among these, or is an executable as it came.
pub fn is_compiled(sources: &[(&str, &str)], program: &str) -> bool {
    let mut paths = sources.iter().map(|(path, _)| path);
    paths.any(|path| path.strip_suffix(".c") == Some(program))
}

/// Takes a row out of a plan, with the reason, where it is not out already.
pub fn leave_out(plan: &mut Plan, id: Id, why: impl Into<String>) {
    if plan.steps.iter().all(|step| step.id != id) {
        return;
    }
    plan.steps.retain(|step| step.id != id);
    let reason = why.into();
    plan.skips.push(Skip { id, reason });
}

/// Takes the rows out of a plan whose programs were refused, with the reason; returns the programs that there are.
pub fn accept(plan: &mut Plan, builds: Builds) -> BTreeMap<String, Rebuilt> {
    let refused = |benchmark: &Benchmark| {
        let why = programs_of(benchmark).find_map(|name| builds.get(name)?.as_ref().err())?;
        let program = programs_of(benchmark).last()?;
        let why = format!("The program {program} does not compile: {why}.");
        Some((benchmark.id.clone(), why))
    };
    let refused: Vec<(Id, String)> = plan.benchmarks.iter().filter_map(refused).collect();
    for (id, why) in refused {
        leave_out(plan, id, why);
    }
    let good = builds.into_iter();
    good.filter_map(|(name, built)| Some((name, built.ok()?)))
        .collect()
}
