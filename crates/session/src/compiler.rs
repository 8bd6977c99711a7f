//! Compilers of this host, and plans after programs were compiled.

use crate::host_context::HostContext;
use anyhow::{Context, Result};
use gritstone_exec::rebuild::{Builds, Compiler, Rebuilt};
use gritstone_model::{Benchmark, Id, Plan, Skip, split_words};
use gritstone_runs::custom_catalog::programs_of;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Default C compilers, in order of preference.
pub(crate) const DEFAULT: [&str; 3] = ["cc", "gcc", "clang"];
/// Default flags: those of the programs in this binary.
pub const FLAGS: &str = "-O2";
/// A compiler of C, and the compiler of Fortran that goes with it.
#[derive(Clone, Debug)]
pub struct Toolchain {
    pub name: String,
    pub c: PathBuf,
    pub fortran: Option<PathBuf>,
}

impl Toolchain {
    /// Finds compilers by name or path; without `fortran`, the one that goes with the C compiler.
    ///
    /// # Errors
    /// When a named compiler is missing.
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

    /// Both compilers with the same flags. Link-time optimization needs compilers of one vendor, which read each other's objects.
    ///
    /// # Errors
    /// When a quote in the flags is not closed.
    pub fn with(&self, flags: &str) -> Result<(Compiler, Option<Compiler>)> {
        let c = Compiler { path: self.c.clone(), flags: words(flags)? };
        let fortran = self.fortran.clone().map(|path| {
            let gnu = file_name(&path.to_string_lossy()).starts_with("gfortran");
            let alike = gnu != is_clang(&self.name);
            let mut flags = c.flags.clone();
            flags.retain(|flag| alike || !flag.starts_with("-flto"));
            Compiler { path, flags }
        });
        Ok((c, fortran))
    }
}

fn is_clang(compiler: &str) -> bool {
    file_name(compiler).starts_with("clang")
}

/// # Errors
/// When a quote is not closed.
pub(crate) fn words(flags: &str) -> Result<Vec<String>> {
    Ok(split_words(flags)?)
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Makes a relative path absolute; a name without `/` is looked up on PATH.
pub fn absolute_compiler(name: &str) -> String {
    match std::path::absolute(name) {
        Ok(path) if name.contains('/') => path.to_string_lossy().into_owned(),
        _ => name.to_owned(),
    }
}

fn named(host: &HostContext, name: &str, language: &str) -> Result<PathBuf> {
    host.program(&absolute_compiler(name)).with_context(|| format!(
        "no {language} compiler {name}: give the name of one on PATH, or its path (apt-get install gcc gfortran clang)"
    ))
}

pub(crate) fn default_cc(host: &HostContext) -> Option<&'static str> {
    let mut names = DEFAULT.into_iter();
    names.find(|name| host.program(name).is_some())
}

pub fn is_compiled(sources: &[(&str, &str)], program: &str) -> bool {
    let mut paths = sources.iter().map(|(path, _)| path);
    paths.any(|path| path.strip_suffix(".c") == Some(program))
}

pub(crate) fn skip(plan: &mut Plan, id: Id, why: impl Into<String>) {
    if plan.steps.iter().all(|step| step.id != id) {
        return;
    }
    plan.steps.retain(|step| step.id != id);
    let reason = why.into();
    plan.skips.push(Skip { id, reason });
}

/// Skips the benchmarks of refused programs; returns the others.
pub fn accept(plan: &mut Plan, builds: Builds) -> BTreeMap<String, Rebuilt> {
    let refused = |benchmark: &Benchmark| {
        let why = programs_of(benchmark).find_map(|name| builds.get(name)?.as_ref().err())?;
        let program = programs_of(benchmark).last()?;
        let why = format!("The program {program} does not compile: {why}.");
        Some((benchmark.id.clone(), why))
    };
    let refused: Vec<(Id, String)> = plan.benchmarks.iter().filter_map(refused).collect();
    for (id, why) in refused {
        skip(plan, id, why);
    }
    let good = builds.into_iter();
    good.filter_map(|(name, built)| Some((name, built.ok()?))).collect()
}
