//! Starts the background load of a benchmark.

use super::programs::path_of;
use super::{Executor, Variant};
use crate::ExecError;
use crate::arguments::{assigned, environment_in};
use crate::load::{COMPILING_LOAD, START_TIMEOUT, TAG_VARIABLE};
use crate::process::{Supervised, Task};
use gritstone_model::Benchmark;

impl Executor {
    pub(super) fn adjust_load(
        &mut self,
        variant: &Variant,
        benchmark: &Benchmark,
    ) -> Result<(), ExecError> {
        let (setup, custom) = (&self.setup, &self.custom);
        let start = |name: &str, tag: &str| {
            // the compiling load needs a directory that permits execution; the others write to the measured file system
            let directory = setup.work_dirs.fresh(name != COMPILING_LOAD)?;
            let mut environment = environment_in(&setup.environment, &directory);
            environment.insert(TAG_VARIABLE.to_owned(), tag.into());
            let programs = setup.programs.iter();
            let supervised = Supervised::start(&Task {
                supervisor: &setup.supervisor()?,
                cpus: &setup.cpus,
                words: "-",
                program: &path_of(setup, custom, variant, name)?,
                arguments: programs.map(|(need, path)| assigned(need, path)).collect(),
                directory: &directory,
                environment: &environment,
                deadline: START_TIMEOUT, // `Load` polls the start itself, and no later end is enforced
                stop: &setup.stop,
            })?;
            Ok((directory, supervised))
        };
        self.load.adjust(&benchmark.load(), &setup.stop, start)
    }
}
