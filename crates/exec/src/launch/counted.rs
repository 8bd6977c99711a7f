//! A kernel's program under the eyes of a tracer.

use super::{Executor, Variant};
use crate::syscalls::{self, Entries, Limit, Steps, Uncounted};
use crate::{ExecError, owned_files};
use gritstone_model::{Benchmark, KernelWork};
use std::process::Command;

/// The program of an entry, as a variant has it, and where it works.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Its builds and environment.
    pub variant: &'a Variant,
    /// The entry.
    pub benchmark: &'a Benchmark,
    /// Its work.
    pub work: &'a KernelWork,
    /// Where it is placed; empty for all CPUs.
    pub cpus: &'a [u32],
}

impl Executor {
    /// Counts the entries into the kernel of the system while a kernel's program does `n` operations. What its `run` does
    /// once, whatever n is, is in it: two n tell that from the operations.
    ///
    /// # Errors
    /// When no directory for it can be made; in the inner result, when entries cannot be counted.
    pub fn entries(
        &self,
        subject: Subject<'_>,
        n: u64,
    ) -> Result<Result<Entries, Uncounted>, ExecError> {
        self.counted("count", subject, n, |command| {
            syscalls::count(command, self.setup.deadline, &self.setup.stop)
        })
    }

    /// Counts the instructions in user mode of the same.
    ///
    /// # Errors
    /// As of [`Self::entries`].
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
        let Subject {
            variant,
            benchmark,
            work,
            cpus,
        } = subject;
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
