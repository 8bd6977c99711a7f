//! Simultaneous copies of a workload, each under its own supervisor in its own directory. Their runtime synchronizes
//! them through a shared file (`kernels/runtime/copies.c`).

use super::{Job, Launched};
use crate::arguments::{assigned, cpus_argument};
use crate::outcome::classify;
use crate::process::{Task, carry_out_together};
use crate::{ExecError, owned_files};
use gritstone_kernels::SUPERVISOR;
use gritstone_model::{Cause, Event, KernelWork, Outcome, Param};
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Size of the barrier file: counters of ready and finished copies and an end flag, 32 bits each.
const BARRIER_SIZE: usize = 12;
/// Offset of the end flag.
const END_OFFSET: u64 = 8;
/// Sample time per copy where copies share a CPU, ns: many turns of the scheduler, since the copy with the first turn
/// is ahead until the others had theirs.
const SHARED_CPU_NS: u64 = 25_000_000;
/// Samples per launch in that case.
const SHARED_CPU_SAMPLES: u64 = 6;

impl Job<'_> {
    /// Launches all copies once on their CPUs in turn (none: all).
    pub(super) fn copies(&self, work: &KernelWork, copies: u32) -> Result<Launched, ExecError> {
        let mut directories = Vec::new();
        let prepared = (0..copies).try_for_each(|_| {
            directories.push(self.executor.fresh(self.benchmark)?);
            Ok(())
        });
        let launched = prepared.and_then(|()| self.launch_together(work, &directories));
        for directory in &directories {
            let _ = owned_files::remove_within(directory);
        }
        launched
    }

    fn launch_together(
        &self,
        work: &KernelWork,
        directories: &[PathBuf],
    ) -> Result<Launched, ExecError> {
        let setup = &self.executor.setup;
        let supervisor = self.path_of(SUPERVISOR)?;
        let program = self.path_of(&work.program)?;
        let copies = directories.len();
        let barrier = Barrier::make(self.directory)?;
        let shared = copies.div_ceil(self.cpus.len().max(1));
        // never real-time priority: copies on all CPUs would starve the harness
        let words = self.words(None, None);
        let environments: Vec<_> =
            directories.iter().map(|directory| self.environment(directory)).collect();
        let mut workload_arguments = self.workload_arguments(work)?;
        workload_arguments.extend(self.calibration_arguments(work));
        workload_arguments
            .extend([format!("copies={copies}").into(), assigned("meeting", &barrier.path)]);
        if shared > 1 {
            let target = SHARED_CPU_NS * shared as u64;
            workload_arguments.push(format!("target_ns={target}").into());
            workload_arguments.push(format!("sample_ns={}", target * SHARED_CPU_SAMPLES).into());
        }
        let deadline = setup.deadline * u32::try_from(shared).unwrap_or(u32::MAX);
        let tasks: Vec<Task> = (0..copies)
            .map(|which| {
                let cpu = match self.cpus {
                    [] => &[],
                    cpus => std::slice::from_ref(&cpus[which % cpus.len()]),
                };
                let mut arguments = vec![cpus_argument(cpu)];
                arguments.extend(workload_arguments.iter().cloned());
                Task {
                    supervisor: &supervisor,
                    cpus: &setup.cpus,
                    words: &words,
                    program: &program,
                    arguments,
                    directory: &directories[which],
                    environment: &environments[which],
                    deadline,
                    stop: &setup.stop,
                }
            })
            .collect();
        let (ended, cpu) = carry_out_together(&tasks, &|| barrier.end())?;
        let launches =
            ended.into_iter().map(|ended| classify(&work.program, ended, deadline)).collect();
        Ok(combine(launches, cpu).explained(&work.program, &program))
    }
}

/// File through which copies synchronize.
struct Barrier {
    path: PathBuf,
    file: File,
}

impl Barrier {
    fn make(directory: &Path) -> Result<Self, ExecError> {
        let path = directory.join("meeting");
        let failed = || ExecError::system(format!("cannot write {}", path.display()));
        let mut file = File::create_new(&path).map_err(failed())?;
        file.write_all(&[0; BARRIER_SIZE]).map_err(failed())?;
        Ok(Self { path, file })
    }

    /// Releases waiting copies.
    fn end(&self) -> Result<(), ExecError> {
        let failed = ExecError::system(format!("cannot write {}", self.path.display()));
        self.file.write_all_at(&1_u32.to_ne_bytes(), END_OFFSET).map_err(failed)
    }
}

/// Events of all copies, each after its number. Measured if all copies were; else the outcome of the copy for which
/// the others gave up.
fn combine(launches: Vec<(Outcome, Vec<Event>)>, cpu: u64) -> Launched {
    let copies = launches.len();
    let mut worst: Option<(bool, Outcome)> = None;
    let mut events = vec![];
    for (number, (outcome, reported)) in (1..).zip(launches) {
        let gave_up = reported.last().and_then(Event::cause) == Some(Cause::OtherCopy);
        let worse = worst.as_ref().is_none_or(|(other, _)| *other && !gave_up);
        if worse && outcome != Outcome::Measured {
            worst = Some((gave_up, name_copy(outcome, number, copies)));
        }
        events.push(Event::Param(Param::Copy(number)));
        events.extend(reported);
    }
    Launched { outcome: worst.map_or(Outcome::Measured, |(_, outcome)| outcome), events, cpu }
}

fn name_copy(outcome: Outcome, number: u32, copies: usize) -> Outcome {
    let prefixed = |why: String| format!("copy {number} of {copies}: {why}");
    match outcome {
        Outcome::Measured => Outcome::Measured,
        Outcome::Skipped(why) => Outcome::Skipped(prefixed(why)),
        Outcome::Failed(why) => Outcome::Failed(prefixed(why)),
        Outcome::TimedOut(why) => Outcome::TimedOut(prefixed(why)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fail(call: &str) -> (Outcome, Vec<Event>) {
        let fail = Event::Fail { errno: 0, call: call.to_owned(), why: "why".to_owned() };
        (Outcome::Failed(format!("{call}: why")), vec![fail])
    }

    #[test]
    fn first_failed_copy_is_reported() {
        let good = || (Outcome::Measured, vec![Event::Bye]);
        let launched = combine(vec![good(), good()], 7);
        assert_eq!((launched.outcome, launched.cpu), (Outcome::Measured, 7));
        let number = |event: &&Event| matches!(event, Event::Param(Param::Copy(_)));
        assert_eq!(launched.events.iter().filter(number).count(), 2);
        let outcome = |launches| combine(launches, 0).outcome.why().to_owned();
        let culprit = outcome(vec![fail("copies"), good(), fail("pipe")]);
        assert_eq!(culprit, "copy 3 of 3: pipe: why");
        let culprit = outcome(vec![fail("fork"), fail("copies"), fail("pipe")]);
        assert_eq!(culprit, "copy 1 of 3: fork: why");
        // killed, so that only waiting copies report
        let culprit = outcome(vec![fail("copies"), fail("copies")]);
        assert_eq!(culprit, "copy 1 of 2: copies: why");
    }
}
