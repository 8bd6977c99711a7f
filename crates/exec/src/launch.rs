//! From a benchmark to command lines, and from what came back to an outcome.
//!
//! A kernel is launched to measure, then, where a document printed a time for a fixed amount of work, as a whole process
//! that does just that. A command is proved once a run, untimed, and then timed as a process.
//! Must not know: which benchmarks there are, when to stop measuring.

use crate::judge::judge;
use crate::places::Places;
use crate::process::{Task, carry_out};
use crate::steady::Steady;
use crate::{ExecError, Execute, Launched, linked};
use gritstone_kernels::{COMMAND, KEEPER};
use gritstone_model::{
    Benchmark, CommandWork, Event, Figure, Id, KernelWork, Outcome, Placement, Program, Verify,
    Work,
};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

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
        }
    }

    /// The program behind a benchmark, as it belongs to the figure.
    #[must_use]
    pub fn program(&self, benchmark: &Benchmark) -> Option<Program> {
        match &benchmark.work {
            Work::Kernel(work) => gritstone_kernels::find(&work.program).map(|program| Program {
                hash: program.hash.to_owned(),
                compiler: gritstone_kernels::COMPILER.to_owned(),
                flags: gritstone_kernels::FLAGS.to_owned(),
            }),
            Work::Command(work) | Work::Scenario(work) => {
                let argv = self.fill_in(&work.argv);
                let program = PathBuf::from(argv.first()?);
                let bytes = std::fs::read(&program).ok()?;
                Some(Program {
                    hash: hexadecimal(&Sha256::digest(bytes)),
                    compiler: self
                        .setup
                        .programs
                        .get("cc")
                        .filter(|cc| **cc == program)
                        .map_or_else(String::new, |cc| version_of(cc)),
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

    /// Starts one of our programs in `directory` and judges what it said; the kernel of a benchmark, or another.
    fn start(
        &mut self,
        name: &str,
        kernel: Option<&Benchmark>,
        arguments: Vec<String>,
        directory: &Path,
    ) -> Result<Told, ExecError> {
        let missing = || {
            ExecError::system(format!("no program {name} in this binary"))(std::io::Error::other(
                "build Gritstone again",
            ))
        };
        let keeper = gritstone_kernels::find(KEEPER).ok_or_else(missing)?;
        let keeper = self.setup.places.program(keeper)?;
        let program = gritstone_kernels::find(name).ok_or_else(missing)?;
        let program = self.setup.places.program(program)?;
        let home = directory.to_string_lossy().into_owned();
        let mut environment = self.setup.environment.clone();
        environment.insert("HOME".to_owned(), home.clone());
        environment.insert("TMPDIR".to_owned(), home);
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
        let params = work.params.iter().map(|(k, v)| format!("{k}={v}"));
        let mut arguments = vec![cpus_argument(cpus)];
        arguments.extend(params.clone());
        if let Some(published) = &benchmark.published {
            arguments.push(format!("batch={}", published.operations));
        }
        let mut told = self.start(&work.program, Some(benchmark), arguments, directory)?;
        let Some(published) = &benchmark.published else {
            return Ok(told);
        };
        if told.outcome != Outcome::Measured {
            return Ok(told);
        }
        let program = gritstone_kernels::find(&work.program).map(|p| self.setup.places.program(p));
        let mut arguments = vec![cpus_argument(&cpus[..cpus.len().min(1)])];
        arguments.extend(["samples=3".to_owned(), "--".to_owned()]);
        arguments.push(
            program
                .transpose()?
                .unwrap_or_default()
                .display()
                .to_string(),
        );
        arguments.extend([
            "mode=once".to_owned(),
            format!("n={}", published.operations),
            cpus_argument(cpus),
        ]);
        arguments.extend(params);
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
            arguments.push(format!("stdout={stdout}"));
        }
        if !work.leaves.is_empty() {
            arguments.push(format!("leaves={}", work.leaves.join(",")));
        }
        if size {
            arguments.extend(["keep=1".to_owned(), "samples=1".to_owned()]);
        } else {
            // short commands often, long ones at least once
            arguments.extend(["samples=20".to_owned(), "sample_ns=150000000".to_owned()]);
        }
        arguments.push("--".to_owned());
        arguments.extend(self.fill_in(&work.argv));
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
        let mut arguments = vec![cpus_argument(cpus), "samples=0".to_owned()];
        arguments.push(format!("stdout={}", verify.stdout));
        arguments
            .extend(["--", "/bin/sh", "-c", "cd proof && exec \"$@\"", "sh"].map(str::to_owned));
        arguments.extend(self.fill_in(&verify.argv));
        let mut told = self.start(COMMAND, None, arguments, &directory)?;
        if let Outcome::Failed(why) = &told.outcome {
            told.outcome = Outcome::Failed(format!("the proof of the work failed: {why}"));
        }
        let _ = std::fs::remove_dir_all(&directory);
        Ok(told)
    }
}

impl Execute for Executor {
    fn launch(&mut self, benchmark: &Benchmark, cpus: &[u32]) -> Result<Launched, ExecError> {
        let directory = self.setup.places.fresh(benchmark.files)?;
        let cpus = match benchmark.placement {
            Placement::All => &[],
            _ => cpus,
        };
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

fn cpus_argument(cpus: &[u32]) -> String {
    let list: Vec<String> = cpus.iter().map(u32::to_string).collect();
    format!("cpus={}", list.join(","))
}

/// The first line that a compiler prints about itself; empty when it will not say.
fn version_of(compiler: &Path) -> String {
    Command::new(compiler)
        .arg("--version")
        .env("LC_ALL", "C")
        .output()
        .ok()
        .and_then(|output| {
            String::from_utf8_lossy(&output.stdout)
                .lines()
                .next()
                .map(str::to_owned)
        })
        .unwrap_or_default()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
