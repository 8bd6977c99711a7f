//! Programs of the system: proved once per side, untimed, then timed as processes.

use super::{Job, Launched};
use crate::arguments::cpus_argument;
use crate::{ExecError, elf, owned_files};
use gritstone_kernels::COMMAND;
use gritstone_model::{CommandWork, Event, Figure, Outcome, Verify};
use std::ffi::OsString;
use std::path::Path;

/// A launch executes a command until this time has passed, ns: short commands often, long ones once.
const SAMPLE_NS: u64 = 150_000_000;

impl Job<'_> {
    /// Times the command as a process, after its proof.
    pub(super) fn command(&self, work: &CommandWork) -> Result<Launched, ExecError> {
        let Self { executor, benchmark, directory, .. } = self;
        write_files(directory, work)?;
        let mut proof_cpu = 0;
        if let Some(verify) = work.verify.as_ref()
            && executor.proof(&benchmark.id, self.variant.side) != Some(true)
        {
            let proof = self.prove(verify, work)?;
            let holds = proof.outcome == Outcome::Measured;
            let mut proofs = executor.proofs.borrow_mut();
            proofs.insert((benchmark.id.clone(), self.variant.side), holds);
            if !holds {
                return Ok(proof);
            }
            proof_cpu = proof.cpu;
        }
        let mut launched = self.start(COMMAND, &self.words(None, None), self.arguments(work)?)?;
        launched.cpu += proof_cpu;
        let size = work.figure == Figure::LinkedSize;
        let long =
            |event: &Event| matches!(event, Event::Sample(sample) if sample.wall > SAMPLE_NS);
        if launched.outcome == Outcome::Measured && launched.events.iter().any(long) {
            executor.long.borrow_mut().insert(benchmark.id.clone());
        }
        if size && launched.outcome == Outcome::Measured {
            match elf::measure(&directory.join("a.out")) {
                Ok(events) => launched.events.extend(events),
                Err(why) => launched.outcome = Outcome::Failed(why),
            }
        }
        Ok(launched)
    }

    fn arguments(&self, work: &CommandWork) -> Result<Vec<OsString>, ExecError> {
        let mut arguments = vec![cpus_argument(self.cpus)];
        arguments.extend(
            [
                ("stdout", work.stdout.clone()),
                ("input", work.input.clone()),
                ("output", work.output.clone()),
                ("leaves", Some(work.leaves.join(","))),
                ("removes", Some(work.removes.join(","))),
            ]
            .into_iter()
            .filter_map(|(key, value)| Some(format!("{key}={}", value?).into())),
        );
        if work.figure == Figure::LinkedSize {
            arguments.extend(["keep=1".into(), "samples=1".into()]);
        } else {
            arguments.extend(["samples=20".into(), format!("sample_ns={SAMPLE_NS}").into()]);
        }
        // with input and check, another execution would be half of the launch
        let long = &self.executor.long;
        if !work.check.is_empty() && long.borrow().contains(&self.benchmark.id) {
            arguments.push("warm=0".into());
        }
        arguments.extend(self.command_line(&[], work, &work.check, &work.argv)?);
        Ok(arguments)
    }

    /// An untimed execution in its own directory that proves that the timed one does its work.
    fn prove(&self, verify: &Verify, work: &CommandWork) -> Result<Launched, ExecError> {
        let work_dirs = &self.executor.setup.work_dirs;
        let directory = work_dirs.fresh(self.benchmark.files)?;
        // works in a folder made beforehand, so that new files there are no error
        let below = directory.join("proof");
        let failed = ExecError::system(format!("cannot make {}", below.display()));
        std::fs::create_dir(&below).map_err(failed)?;
        write_files(&below, work)?;
        let mut arguments = vec![cpus_argument(self.cpus), "samples=0".into(), "skips=1".into()];
        arguments.push(format!("stdout={}", verify.stdout).into());
        let within = ["/bin/sh", "-c", "cd proof && exec \"$@\"", "sh"];
        arguments.extend(self.command_line(&within, work, &[], &verify.argv)?);
        let mut launched = self.start_in(
            &directory,
            &self.environment(&directory),
            COMMAND,
            &self.words(None, None),
            arguments,
        )?;
        if let Outcome::Failed(why) = &launched.outcome {
            launched.outcome = Outcome::Failed(format!("the work check failed: {why}"));
        }
        let _ = owned_files::remove_within(&directory);
        Ok(launched)
    }
}

fn write_files(directory: &Path, work: &CommandWork) -> Result<(), ExecError> {
    for (name, text) in &work.files {
        let file = directory.join(name);
        let failed = ExecError::system(format!("cannot write {}", file.display()));
        std::fs::write(&file, text).map_err(failed)?;
    }
    Ok(())
}
