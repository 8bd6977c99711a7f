//! Programs of a launch: their paths, arguments, and hashes.

use super::user::user_program;
use super::{Executor, Job, Variant};
use crate::arguments::{assigned, cpus_argument};
use crate::custom::Custom;
use crate::rebuild::Rebuilt;
use crate::setup::Setup;
use crate::{ExecError, version};
use gritstone_model::{
    Benchmark, Calibration, CommandWork, Id, KernelWork, Program, Work, fill_catalog_places,
    hexadecimal,
};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::{fs, iter};

/// Hashes of concatenated files. Many benchmarks share the same few system programs.
type Hashes = BTreeMap<Vec<PathBuf>, String>;

impl Executor {
    /// Programs of benchmarks, as stored with results.
    pub fn programs(&self, variant: &Variant, benchmarks: &[Benchmark]) -> BTreeMap<Id, Program> {
        let mut hashes = Hashes::new();
        let program = |benchmark: &Benchmark| {
            let program = self.program(variant, benchmark, &mut hashes)?;
            Some((benchmark.id.clone(), program))
        };
        benchmarks.iter().filter_map(program).collect()
    }

    fn program(
        &self,
        variant: &Variant,
        benchmark: &Benchmark,
        hashes: &mut Hashes,
    ) -> Option<Program> {
        match &benchmark.work {
            Work::Kernel(work) => {
                let mut program = self.embedded_program(variant, &work.program)?;
                // helper programs are part of the result
                let needed = needed(benchmark).filter_map(|name| self.setup.programs.get(name));
                let needed: Vec<PathBuf> = needed.cloned().collect();
                if !(work.uses.is_empty() && needed.is_empty()) {
                    let mut hash = Sha256::new_with_prefix(&program.hash);
                    if !needed.is_empty() {
                        hash.update(hash_of(needed, hashes)?);
                    }
                    for helper in &work.uses {
                        hash.update(self.embedded_program(variant, helper)?.hash);
                    }
                    program.hash = hexadecimal(hash.finalize());
                }
                Some(program)
            }
            Work::Command(CommandWork { user: Some(_), argv, .. }) => user_program(variant, argv),
            Work::Command(work) | Work::Scenario(work) => {
                let argv = self.fill_in(&work.argv, &BTreeMap::new());
                let program = PathBuf::from(argv.first()?);
                // programs started by the first are part of the result
                let needed = benchmark.needs.iter();
                let needed = needed.filter_map(|need| self.setup.programs.get(&need.name));
                let others = needed.filter(|path| **path != program).cloned();
                let files = iter::once(program.clone()).chain(others).collect();
                let mut hash = hash_of(files, hashes)?;
                if !work.uses.is_empty() {
                    let mut all = Sha256::new_with_prefix(&hash);
                    for helper in &work.uses {
                        all.update(self.embedded_program(variant, helper)?.hash);
                    }
                    hash = hexadecimal(all.finalize());
                }
                Some(Program {
                    hash,
                    compiler: self.versions(variant, benchmark),
                    flags: argv.join(" "),
                })
            }
            Work::Derived { .. } | Work::Score { .. } => None,
        }
    }

    /// Versions of the needed programs that have a version argument.
    fn versions(&self, variant: &Variant, benchmark: &Benchmark) -> String {
        let versions = benchmark.needs.iter().filter_map(|need| {
            let argument = need.version.as_ref()?;
            let program = self.setup.programs.get(&need.name)?;
            Some(version::query(program, argument, &variant.environment))
        });
        versions.collect::<Vec<_>>().join("; ")
    }

    /// A workload by name: rebuilt, custom, or embedded.
    fn embedded_program(&self, variant: &Variant, name: &str) -> Option<Program> {
        match custom_build(&self.custom, variant, name) {
            Some(build) => Some(build.program.clone()),
            None => gritstone_kernels::find(name).map(|program| Program {
                hash: program.hash.to_owned(),
                compiler: gritstone_kernels::COMPILER.to_owned(),
                flags: program.flags.to_owned(),
            }),
        }
    }

    /// Words of a catalog, with the paths of needed programs and of helpers in their places.
    fn fill_in(&self, argv: &[String], helpers: &BTreeMap<&str, PathBuf>) -> Vec<String> {
        let path = |name: &str| {
            let path = helpers.get(name).or_else(|| self.setup.programs.get(name))?;
            Some(path.to_string_lossy().into_owned())
        };
        let fill = |word: &String| fill_catalog_places(word, path);
        argv.iter().map(fill).collect()
    }
}

/// A program that is not embedded.
fn custom_build<'a>(custom: &'a Custom, variant: &'a Variant, name: &str) -> Option<&'a Rebuilt> {
    let builds = &variant.builds;
    builds.get(name).or_else(|| custom.programs.get(name))
}

/// Path of a workload: rebuilt, custom, or embedded.
pub(super) fn path_of(
    setup: &Setup,
    custom: &Custom,
    variant: &Variant,
    name: &str,
) -> Result<PathBuf, ExecError> {
    match custom_build(custom, variant, name) {
        Some(build) => Ok(build.path.clone()),
        None => setup.work_dirs.embedded_program(name),
    }
}

impl Job<'_> {
    pub(super) fn path_of(&self, name: &str) -> Result<PathBuf, ExecError> {
        let Executor { setup, custom, .. } = self.executor;
        path_of(setup, custom, self.variant, name)
    }

    /// Arguments for preparation and check, if any, and the timed command, each prefixed by `within`.
    pub(super) fn command_line(
        &self,
        within: &[&str],
        work: &CommandWork,
        check: &[String],
        argv: &[String],
    ) -> Result<Vec<OsString>, ExecError> {
        let helpers = work.uses.iter();
        let helpers = helpers.map(|helper| Ok((helper.as_str(), self.path_of(helper)?)));
        let helpers = helpers.collect::<Result<BTreeMap<_, _>, ExecError>>()?;
        let line = |argv: &[String]| -> Vec<OsString> {
            let words = within.iter().map(|word| (*word).to_owned());
            let filled = self.executor.fill_in(argv, &helpers);
            words.chain(filled).map(OsString::from).collect()
        };
        let aside = |argv: &[String]| match argv {
            [] => vec![],
            argv => line(argv),
        };
        let (before, after) = (aside(&work.prepare), aside(check));
        let mut words = vec![
            format!("prepare={}", before.len()).into(),
            format!("check={}", after.len()).into(),
            "--".into(),
        ];
        words.extend(before);
        words.extend(after);
        words.extend(line(argv));
        Ok(words)
    }

    /// Arguments of a workload: parameters of its entry, paths of its helpers (`family/name=PATH`) and needed
    /// programs (`name=PATH`), and its trace.
    pub(super) fn workload_arguments(&self, work: &KernelWork) -> Result<Vec<OsString>, ExecError> {
        let params = work.params.iter();
        let mut arguments: Vec<OsString> =
            params.map(|(key, value)| format!("{key}={value}").into()).collect();
        for helper in work.helpers() {
            arguments.push(assigned(helper, self.path_of(helper)?));
        }
        for need in &self.benchmark.needs {
            let path = self.executor.setup.programs.get(&need.name);
            arguments.extend(path.map(|path| assigned(&need.name, path)));
        }
        arguments.extend(self.executor.trace_argument(work));
        let far_end = self.executor.setup.far_end.as_ref();
        let far_end = far_end.filter(|_| work.has_peer());
        arguments.extend(far_end.into_iter().flat_map(|far| far.arguments(work)));
        Ok(arguments)
    }

    /// Calibration from earlier launches, for programs with our runtime.
    pub(super) fn calibration_arguments(&self, work: &KernelWork) -> Vec<OsString> {
        let Calibration { n, growth_shown } = self.known;
        if self.executor.custom.is_bare(&work.program) {
            return vec![];
        }
        let n = n.map(|n| format!("n={n}").into());
        n.into_iter().chain(growth_shown.then(|| "growth=0".into())).collect()
    }

    /// Arguments for a process that only does `n` operations.
    pub(super) fn whole_arguments(
        &self,
        mode: &str,
        work: &KernelWork,
        cpus: &[u32],
        n: u64,
    ) -> Result<Vec<OsString>, ExecError> {
        let mut arguments =
            vec![format!("mode={mode}").into(), format!("n={n}").into(), cpus_argument(cpus)];
        arguments.extend(self.workload_arguments(work)?);
        Ok(arguments)
    }
}

/// Needed system programs of a workload. Those of a background load are not part of the result.
fn needed(benchmark: &Benchmark) -> impl Iterator<Item = &str> {
    let all = match benchmark.load().is_empty() {
        true => benchmark.needs.as_slice(),
        false => &[],
    };
    all.iter().map(|need| need.name.as_str())
}

/// Cached by file names. `None` if a file cannot be read.
fn hash_of(files: Vec<PathBuf>, known: &mut Hashes) -> Option<String> {
    if let Some(hash) = known.get(&files) {
        return Some(hash.clone());
    }
    let mut hash = Sha256::new();
    for file in &files {
        hash.update(fs::read(file).ok()?);
    }
    let hash = hexadecimal(hash.finalize());
    known.insert(files, hash.clone());
    Some(hash)
}
