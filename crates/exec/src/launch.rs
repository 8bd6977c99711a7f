//! From a benchmark to command lines, and from what came back to an outcome.
//!
//! A kernel is launched to measure, then, where a document printed a time for a fixed amount of work, as a whole process
//! that does just that. A command is proved once a run, untimed, and then timed as a process.
//! Must not know: which benchmarks there are, when to stop measuring.

use crate::entries::{self, Entries, Uncounted};
use crate::judge::judge;
use crate::places::Places;
use crate::process::{Task, carry_out};
use crate::rebuild::Rebuilt;
use crate::steady::Steady;
use crate::{ExecError, Execute, Launched, linked, version};
use gritstone_kernels::{COMMAND, KEEPER};
use gritstone_model::{
    Benchmark, CommandWork, Event, Figure, Id, KernelWork, Outcome, Placement, Program, Verify,
    Work,
};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How the reason of a launch begins that failed because its untimed proof did.
pub const PROOF_FAILED: &str = "the proof of the work failed";

/// What an [`Executor`] is made of.
#[derive(Debug)]
pub struct Setup {
    /// Its directories.
    pub places: Places,
    /// CPUs that launches may use, as a list such as `0-3,7`: this process may keep to fewer, out of their way.
    pub cpus: String,
    /// Environment of every child.
    pub environment: BTreeMap<String, String>,
    /// Path of each program that entries need, by the need's name.
    pub programs: BTreeMap<String, PathBuf>,
    /// What file rows really measure here: "page cache of ext4 on /dev/vda1".
    pub measured: String,
    /// How long a launch may take.
    pub deadline: Duration,
    /// Becomes true when the user asks to stop.
    pub stop: Arc<AtomicBool>,
}

/// Carries out launches on this machine.
#[derive(Debug)]
pub struct Executor {
    pub(crate) setup: Setup,
    pub(crate) steady: Steady,
    proved: BTreeSet<Id>,
    /// What is used instead of programs in this binary, by name.
    pub(crate) builds: BTreeMap<String, Rebuilt>,
}

/// Events and outcome of one process, before those of the next are added.
struct Told {
    outcome: Outcome,
    events: Vec<Event>,
    cpu: u64,
}

impl Executor {
    /// An executor that works with `setup`.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        Self {
            setup,
            steady: Steady::default(),
            proved: BTreeSet::new(),
            builds: BTreeMap::new(),
        }
    }

    /// Counts the entries into the kernel of the system while a kernel's program does `n` operations. What its `run` does
    /// once, whatever n is, is in it: two n tell that from the operations.
    ///
    /// # Errors
    /// When no directory for it can be made; in the inner result, when entries cannot be counted.
    pub fn entries(
        &mut self,
        benchmark: &Benchmark,
        work: &KernelWork,
        cpus: &[u32],
        n: u64,
    ) -> Result<Result<Entries, Uncounted>, ExecError> {
        let directory = self.setup.places.fresh(benchmark.files)?;
        let mut command = Command::new(self.path_of(&work.program)?);
        command
            .args(whole_arguments("count", work, placed(benchmark, cpus), n))
            .current_dir(&directory)
            .env_clear()
            .envs(self.environment(&directory));
        let counted = entries::count(command, self.setup.deadline, &self.setup.stop);
        let _ = std::fs::remove_dir_all(&directory);
        match counted {
            Err(Uncounted::Interrupted) => Err(ExecError::Interrupted),
            counted => Ok(counted),
        }
    }

    /// The program behind a benchmark, as it belongs to the figure.
    #[must_use]
    pub fn program(&self, benchmark: &Benchmark) -> Option<Program> {
        match &benchmark.work {
            Work::Kernel(work) => match self.builds.get(&work.program) {
                Some(build) => Some(build.program.clone()),
                None => gritstone_kernels::find(&work.program).map(|program| Program {
                    hash: program.hash.to_owned(),
                    compiler: program.compiler.to_owned(),
                    flags: program.flags.to_owned(),
                }),
            },
            Work::Command(work) | Work::Scenario(work) => {
                let argv = self.fill_in(&work.argv);
                let program = PathBuf::from(argv.first()?);
                // the programs that the first one starts are as much of the figure as itself
                let needed = benchmark.needs.iter();
                let needed = needed.filter_map(|need| self.setup.programs.get(&need.name));
                let mut hash = Sha256::new();
                for path in [&program]
                    .into_iter()
                    .chain(needed.filter(|path| **path != program))
                {
                    hash.update(std::fs::read(path).ok()?);
                }
                Some(Program {
                    hash: hexadecimal(&hash.finalize()),
                    compiler: self
                        .setup
                        .programs
                        .get("cc")
                        .filter(|cc| **cc == program)
                        .map_or_else(String::new, |cc| version::of(cc, &self.setup.environment)),
                    flags: argv.join(" "),
                })
            }
            Work::Derived { .. } | Work::Rating { .. } => None,
        }
    }

    fn fill_in(&self, argv: &[String]) -> Vec<String> {
        argv.iter()
            .map(|word| {
                self.setup
                    .programs
                    .iter()
                    .fold(word.clone(), |word, (name, path)| {
                        word.replace(&format!("{{{name}}}"), &path.to_string_lossy())
                    })
            })
            .collect()
    }

    /// Where a program of ours is: as it was built here, else as it travels in this binary.
    pub(crate) fn path_of(&self, name: &str) -> Result<PathBuf, ExecError> {
        if let Some(build) = self.builds.get(name) {
            return Ok(build.path.clone());
        }
        let missing = || std::io::Error::other("build Gritstone again");
        let program =
            gritstone_kernels::find(name)
                .ok_or_else(missing)
                .map_err(ExecError::system(format!(
                    "no program {name} in this binary"
                )))?;
        self.setup.places.program(program)
    }

    /// The environment of whatever is started in `directory`.
    pub(crate) fn environment(&self, directory: &Path) -> BTreeMap<String, OsString> {
        let fixed = self.setup.environment.iter();
        fixed
            .map(|(key, value)| (key.clone(), OsString::from(value)))
            .chain(["HOME", "TMPDIR"].map(|key| (key.to_owned(), directory.into())))
            .collect()
    }

    /// Starts one of our programs in `directory` and judges what it said; the kernel of a benchmark, or another.
    fn start(
        &mut self,
        name: &str,
        kernel: Option<&Benchmark>,
        arguments: Vec<OsString>,
        directory: &Path,
    ) -> Result<Told, ExecError> {
        let keeper = self.path_of(KEEPER)?;
        let program = self.path_of(name)?;
        let environment = self.environment(directory);
        let ended = carry_out(&Task {
            keeper: &keeper,
            cpus: &self.setup.cpus,
            steady: &self.steady.words(kernel),
            program: &program,
            arguments,
            directory,
            environment: &environment,
            deadline: self.setup.deadline,
            stop: &self.setup.stop,
        })?;
        let cpu = ended.cpu;
        let (outcome, events) = judge(name, ended, self.setup.deadline);
        Ok(Told {
            outcome,
            events,
            cpu,
        })
    }

    fn kernel(
        &mut self,
        benchmark: &Benchmark,
        work: &KernelWork,
        cpus: &[u32],
        directory: &Path,
    ) -> Result<Told, ExecError> {
        let mut arguments = vec![cpus_argument(cpus)];
        arguments.extend(params(work));
        if let Some(published) = &benchmark.published {
            arguments.push(format!("batch={}", published.operations).into());
        }
        let mut told = self.start(&work.program, Some(benchmark), arguments, directory)?;
        let Some(published) = &benchmark.published else {
            return Ok(told);
        };
        if told.outcome != Outcome::Measured {
            return Ok(told);
        }
        let mut arguments = vec![
            cpus_argument(&cpus[..cpus.len().min(1)]),
            "samples=3".into(),
            // what the work needs, and what shows that it was done, is not in the time of its process
            "before=mode=prepare".into(),
            "after=mode=finish".into(),
            "--".into(),
            self.path_of(&work.program)?.into(),
        ];
        arguments.extend(whole_arguments("once", work, cpus, published.operations));
        let whole = self.start(COMMAND, None, arguments, directory)?;
        told.cpu += whole.cpu;
        if whole.outcome != Outcome::Measured {
            told.outcome = whole.outcome;
        }
        told.events
            .extend(whole.events.into_iter().filter_map(|event| match event {
                Event::Sample(sample) => Some(Event::Process(sample)),
                _ => None,
            }));
        Ok(told)
    }

    fn command(
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
        if let Some(stdout) = &work.stdout {
            arguments.push(format!("stdout={stdout}").into());
        }
        if !work.leaves.is_empty() {
            arguments.push(format!("leaves={}", work.leaves.join(",")).into());
        }
        if size {
            arguments.extend(["keep=1".into(), "samples=1".into()]);
        } else {
            // short commands often, long ones at least once
            arguments.extend(["samples=20".into(), "sample_ns=150000000".into()]);
        }
        arguments.push("--".into());
        arguments.extend(self.fill_in(&work.argv).into_iter().map(OsString::from));
        let mut told = self.start(COMMAND, None, arguments, directory)?;
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
        let mut arguments = vec![cpus_argument(cpus), "samples=0".into()];
        arguments.push(format!("stdout={}", verify.stdout).into());
        arguments
            .extend(["--", "/bin/sh", "-c", "cd proof && exec \"$@\"", "sh"].map(OsString::from));
        arguments.extend(self.fill_in(&verify.argv).into_iter().map(OsString::from));
        let mut told = self.start(COMMAND, None, arguments, &directory)?;
        if let Outcome::Failed(why) = &told.outcome {
            told.outcome = Outcome::Failed(format!("{PROOF_FAILED}: {why}"));
        }
        let _ = std::fs::remove_dir_all(&directory);
        Ok(told)
    }
}

impl Execute for Executor {
    fn launch(&mut self, benchmark: &Benchmark, cpus: &[u32]) -> Result<Launched, ExecError> {
        let directory = self.setup.places.fresh(benchmark.files)?;
        let cpus = placed(benchmark, cpus);
        let told = match &benchmark.work {
            Work::Kernel(work) => self.kernel(benchmark, work, cpus, &directory),
            Work::Command(work) | Work::Scenario(work) => {
                self.command(benchmark, work, cpus, &directory)
            }
            Work::Derived { .. } | Work::Rating { .. } => Ok(Told {
                outcome: Outcome::Skipped("it is computed from other rows".to_owned()),
                events: vec![],
                cpu: 0,
            }),
        };
        let _ = std::fs::remove_dir_all(&directory);
        let mut told = told?;
        if benchmark.files {
            told.events.push(Event::Param {
                key: "measured".to_owned(),
                value: self.setup.measured.clone(),
            });
        }
        Ok(Launched {
            outcome: told.outcome,
            events: told.events,
            cpu: told.cpu,
        })
    }
}

fn params(work: &KernelWork) -> impl Iterator<Item = OsString> {
    work.params
        .iter()
        .map(|(key, value)| format!("{key}={value}").into())
}

/// Arguments for a process that does `n` operations and nothing else.
fn whole_arguments(mode: &str, work: &KernelWork, cpus: &[u32], n: u64) -> Vec<OsString> {
    let mut arguments = vec![
        format!("mode={mode}").into(),
        format!("n={n}").into(),
        cpus_argument(cpus),
    ];
    arguments.extend(params(work));
    arguments
}

/// The CPUs that a row keeps to: none in particular where the scheduler is to choose.
fn placed<'a>(benchmark: &Benchmark, cpus: &'a [u32]) -> &'a [u32] {
    match benchmark.placement {
        Placement::All => &[],
        _ => cpus,
    }
}

fn cpus_argument(cpus: &[u32]) -> OsString {
    let list: Vec<String> = cpus.iter().map(u32::to_string).collect();
    format!("cpus={}", list.join(",")).into()
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests;
