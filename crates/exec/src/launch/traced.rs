//! A workload under a tracer.

use super::{Executor, Variant};
use crate::syscalls::{self, Entries, Limit, Steps, Uncounted};
use crate::{ExecError, owned_files};
use gritstone_model::{Benchmark, KernelWork};
use std::process::Command;

/// The workload of a benchmark as built for a variant.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub variant: &'a Variant,
    pub benchmark: &'a Benchmark,
    pub work: &'a KernelWork,
    /// Empty for all CPUs.
    pub cpus: &'a [u32],
}

impl Executor {
    /// Counts the system calls of a workload that does `n` operations, including those that its `run` makes once. Two
    /// values of n separate the two. The outer error means that the launch was impossible, the inner one that calls
    /// cannot be counted.
    pub fn entries(
        &self,
        subject: Subject<'_>,
        n: u64,
    ) -> Result<Result<Entries, Uncounted>, ExecError> {
        self.counted("count", subject, n, |command| {
            syscalls::count(command, self.setup.deadline, &self.setup.stop)
        })
    }

    /// Counts user-mode instructions likewise.
    pub fn steps(
        &self,
        subject: Subject<'_>,
        n: u64,
        limit: Limit,
    ) -> Result<Result<Steps, Uncounted>, ExecError> {
        if self.custom.is_bare(&subject.work.program) {
            return Ok(Err(Uncounted::Unmarked));
        }
        let cpu = subject.cpus.first().copied();
        self.counted("step", subject, n, |command| {
            syscalls::step(command, cpu, limit, self.setup.deadline, &self.setup.stop)
        })
    }

    fn counted<T>(
        &self,
        mode: &str,
        subject: Subject<'_>,
        n: u64,
        count: impl FnOnce(Command) -> Result<T, Uncounted>,
    ) -> Result<Result<T, Uncounted>, ExecError> {
        let Subject { variant, benchmark, work, cpus } = subject;
        let directory = self.fresh(benchmark)?;
        let job = self.job(variant, benchmark, cpus, &directory);
        let mut command = Command::new(job.path_of(&work.program)?);
        command
            .args(job.whole_arguments(mode, work, job.cpus, n)?)
            .current_dir(&directory)
            .env_clear()
            .envs(job.environment(&directory));
        let counted = count(command);
        let _ = owned_files::remove_within(&directory);
        match counted {
            Err(Uncounted::Interrupted) => Err(ExecError::Interrupted),
            counted => Ok(counted),
        }
    }
}
