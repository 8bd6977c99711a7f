//! Other people's programs: proved once a run, untimed, and then timed as processes.

use super::programs::cpus_argument;
use super::{Executor, PROOF_FAILED, Told};
use crate::{ExecError, linked, ours};
use gritstone_kernels::COMMAND;
use gritstone_model::{Benchmark, CommandWork, Figure, Outcome, Verify};
use std::path::Path;

impl Executor {
    /// Times it as a process, after its proof.
    pub(super) fn command(
        &mut self,
        benchmark: &Benchmark,
        work: &CommandWork,
        cpus: &[u32],
        directory: &Path,
    ) -> Result<Told, ExecError> {
        for (name, text) in &work.files {
            std::fs::write(directory.join(name), text).map_err(ExecError::system(format!(
                "cannot write {} for {}",
                directory.join(name).display(),
                benchmark.id
            )))?;
        }
        if let Some(verify) = work.verify.as_ref()
            && !self.proved.contains(&benchmark.id)
        {
            let proof = self.prove(verify, work, cpus, benchmark.files)?;
            if proof.outcome != Outcome::Measured {
                return Ok(proof);
            }
            self.proved.insert(benchmark.id.clone());
        }
        let size = work.figure == Figure::LinkedSize;
        let mut arguments = vec![cpus_argument(cpus)];
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
        if size {
            arguments.extend(["keep=1".into(), "samples=1".into()]);
        } else {
            // short commands often, long ones at least once
            arguments.extend(["samples=20".into(), "sample_ns=150000000".into()]);
        }
        arguments.extend(self.command_line(&[], &work.prepare, &work.argv));
        let mut told = self.start(COMMAND, None, None, arguments, directory)?;
        if size && told.outcome == Outcome::Measured {
            match linked::measure(&directory.join("a.out")) {
                Ok(events) => told.events.extend(events),
                Err(why) => told.outcome = Outcome::Failed(why),
            }
        }
        Ok(told)
    }

    /// The untimed execution that shows that the timed one does what it says, in a directory of its own.
    fn prove(
        &mut self,
        verify: &Verify,
        work: &CommandWork,
        cpus: &[u32],
        measures_files: bool,
    ) -> Result<Told, ExecError> {
        let directory = self.setup.places.fresh(measures_files)?;
        // what it makes is in a folder that is made beforehand, so that new files there are not an error
        let below = directory.join("proof");
        let made = std::fs::create_dir(&below).and_then(|()| {
            work.files
                .iter()
                .try_for_each(|(name, text)| std::fs::write(below.join(name), text))
        });
        made.map_err(ExecError::system(format!(
            "cannot write to {}",
            below.display()
        )))?;
        let mut arguments = vec![cpus_argument(cpus), "samples=0".into(), "skips=1".into()];
        arguments.push(format!("stdout={}", verify.stdout).into());
        let within = ["/bin/sh", "-c", "cd proof && exec \"$@\"", "sh"];
        arguments.extend(self.command_line(&within, &work.prepare, &verify.argv));
        let mut told = self.start(COMMAND, None, None, arguments, &directory)?;
        if let Outcome::Failed(why) = &told.outcome {
            told.outcome = Outcome::Failed(format!("{PROOF_FAILED}: {why}"));
        }
        let _ = ours::remove_within(&directory);
        Ok(told)
    }
}
