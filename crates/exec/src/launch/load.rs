//! Starts the background load of a benchmark.

use super::programs::path_of;
use super::{Executor, Variant};
use crate::ExecError;
use crate::arguments::{assigned, environment_in};
use crate::load::{COMPILES, MARK, START_TIMEOUT};
use crate::process::{Supervised, Task};
use gritstone_model::Benchmark;

impl Executor {
    pub(super) fn load_for(
        &mut self,
        variant: &Variant,
        benchmark: &Benchmark,
    ) -> Result<(), ExecError> {
        let (setup, custom) = (&self.setup, &self.custom);
        let start = |name: &str, mark: &str| {
            let directory = setup.work_dirs.fresh(name != COMPILES)?;
            let mut environment = environment_in(&setup.environment, &directory);
            environment.insert(MARK.to_owned(), mark.into());
            let programs = setup.programs.iter();
            let supervised = Supervised::start(&Task {
                supervisor: &setup.supervisor()?,
                cpus: &setup.cpus,
                words: "-",
                program: &path_of(setup, custom, variant, name)?,
                arguments: programs.map(|(need, path)| assigned(need, path)).collect(),
                directory: &directory,
                environment: &environment,
                deadline: START_TIMEOUT,
                stop: &setup.stop,
            })?;
            Ok((directory, supervised))
        };
        self.load.adjust(&benchmark.load(), &setup.stop, start)
    }
}
