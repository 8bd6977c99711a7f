//! From a benchmark to command lines, and from what came back to an outcome.
//!
//! A kernel is launched to measure, then, where a document printed a time for a fixed amount of work, as a whole process
//! that does just that; as several at once in [`copies`]. Commands are in [`command`].

mod command;
mod copies;
mod measured;
pub(crate) mod programs;

use crate::entries::{self, Entries, Uncounted};
use crate::equipment::Equipment;
use crate::group::Group;
use crate::judge::judge;
use crate::load::Load;
use crate::own::Own;
use crate::places::Places;
use crate::process::{Task, carry_out};
use crate::rebuild::Rebuilt;
use crate::steady::Steady;
use crate::volume::Volume;
use crate::{ExecError, Execute, Journal, Launched, Wanted, equipment, linked};
use gritstone_kernels::{COMMAND, KEEPER};
use gritstone_model::{Benchmark, COPY, Event, Id, KernelWork, Outcome, Placement, Work};
use programs::cpus_argument;
pub(crate) use programs::hexadecimal;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How the reason of a launch begins that failed because its untimed proof did.
pub const PROOF_FAILED: &str = "the proof of the work failed";

/// How what file rows measure begins where a cache is between them and the file system.
pub const CACHED: &str = "page cache of ";

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

impl Setup {
    /// The environment of whatever is started in `directory`.
    pub(crate) fn environment_in(&self, directory: &Path) -> BTreeMap<String, OsString> {
        let fixed = self.environment.iter();
        fixed
            .map(|(key, value)| (key.clone(), OsString::from(value)))
            .chain(["HOME", "TMPDIR"].map(|key| (key.to_owned(), directory.into())))
            .collect()
    }
}

/// Carries out launches on this machine.
#[derive(Debug)]
pub struct Executor {
    // before the directories that it works in: fields are dropped in this order
    pub(crate) load: Load,
    pub(crate) setup: Setup,
    pub(crate) steady: Steady,
    pub(crate) own: Own,
    /// What was made for rows that ask for it.
    pub(crate) equipment: Equipment,
    proved: BTreeSet<Id>,
    /// The user's commands that have been executed once, each with its environment.
    pub(crate) warm: BTreeSet<(Vec<String>, BTreeMap<String, String>)>,
    /// What is used instead of programs in this binary, by name.
    pub(crate) builds: BTreeMap<String, Rebuilt>,
    /// What the keeper is told of every program of the launch in progress.
    pub(crate) asked: Asked,
}

/// The CPUs and the words that a launch asks of its keepers, beside those of its kernel.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    pub cpus: Option<String>,
    pub word: Option<String>,
}

/// Events and outcome of one process, before those of the next are added.
pub(crate) struct Told {
    pub outcome: Outcome,
    pub events: Vec<Event>,
    pub cpu: u64,
}

impl Told {
    /// Nothing was started.
    fn without_a_start(outcome: Outcome) -> Self {
        Self {
            outcome,
            events: vec![],
            cpu: 0,
        }
    }

    /// The same, with the reason why a program said nothing, where that is what it is linked with.
    fn explained(self, name: &str, program: &Path) -> Self {
        let number = |event: &Event| matches!(event, Event::Param { key, .. } if key == COPY);
        let silent = self.events.iter().all(number);
        let loader = silent.then(|| linked::missing_loader(program)).flatten();
        match loader {
            None => self,
            Some(loader) => Self {
                outcome: Outcome::Skipped(format!(
                    "The program {name} is linked dynamically, and its loader {} is not on this machine: build Gritstone here.",
                    loader.display()
                )),
                ..self
            },
        }
    }
}

impl Executor {
    /// An executor that works with `setup`, and makes for the rows that it is to carry out what they ask for. What cannot be made
    /// or written down is not, and the launches say so and why.
    #[must_use]
    pub fn new(setup: Setup, wanted: &Wanted<'_>, mut journal: Option<&mut Journal>) -> Self {
        let (equipment, load) = equipment::make(&setup, wanted, journal.as_deref_mut());
        Self {
            load,
            own: wanted.own_rows(&setup, journal),
            equipment,
            setup,
            steady: Steady::default(),
            proved: BTreeSet::new(),
            warm: BTreeSet::new(),
            builds: BTreeMap::new(),
            asked: Asked::default(),
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
        let directory = self.fresh(benchmark)?;
        let mut command = Command::new(self.path_of(&work.program)?);
        command
            .args(self.whole_arguments("count", work, placed(benchmark, cpus), n)?)
            .current_dir(&directory)
            .env_clear()
            .envs(self.environment(&directory));
        let counted = entries::count(command, self.setup.deadline, &self.setup.stop);
        self.setup.places.take_back(directory);
        match counted {
            Err(Uncounted::Interrupted) => Err(ExecError::Interrupted),
            counted => Ok(counted),
        }
    }

    /// A fresh directory for a launch of a benchmark: on the file system that was made for it, if it asks for one.
    pub(crate) fn fresh(&mut self, benchmark: &Benchmark) -> Result<PathBuf, ExecError> {
        let own = self.volume_for(benchmark).and_then(Result::ok);
        match own.map(Volume::directory) {
            Some(own) => self.setup.places.fresh_below(&own),
            None => self.setup.places.fresh(benchmark.files),
        }
    }

    /// The environment of whatever is started in `directory`.
    pub(crate) fn environment(&self, directory: &Path) -> BTreeMap<String, OsString> {
        self.setup.environment_in(directory)
    }

    /// Starts one of our programs in `directory` and judges what it said; the kernel of a benchmark, or another.
    fn start(
        &self,
        name: &str,
        kernel: Option<&Benchmark>,
        group: Option<&Group>,
        arguments: Vec<OsString>,
        directory: &Path,
    ) -> Result<Told, ExecError> {
        let environment = self.environment(directory);
        self.start_in(&environment, name, kernel, group, arguments, directory)
    }

    /// The same in an environment that is given.
    pub(crate) fn start_in(
        &self,
        environment: &BTreeMap<String, OsString>,
        name: &str,
        kernel: Option<&Benchmark>,
        group: Option<&Group>,
        arguments: Vec<OsString>,
        directory: &Path,
    ) -> Result<Told, ExecError> {
        let keeper = self.path_of(KEEPER)?;
        let program = self.path_of(name)?;
        let ended = carry_out(&Task {
            keeper: &keeper,
            cpus: self.asked.cpus.as_deref().unwrap_or(&self.setup.cpus),
            steady: &self.steady.words(kernel, group, self.asked.word.as_deref()),
            program: &program,
            arguments,
            directory,
            environment,
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
        arguments.extend(self.handed(work)?);
        let (group, told_of_it) = match self.held(work) {
            Ok(held) => held,
            Err(why) => return Ok(Told::without_a_start(Outcome::Failed(why))),
        };
        arguments.extend(told_of_it.iter().cloned());
        if let Some(published) = &benchmark.published {
            arguments.push(format!("batch={}", published.operations).into());
        }
        let told = self.start(&work.program, Some(benchmark), group, arguments, directory)?;
        let mut told = told.explained(&work.program, &self.path_of(&work.program)?);
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
        arguments.extend(self.whole_arguments("once", work, cpus, published.operations)?);
        arguments.extend(told_of_it);
        let whole = self.start(COMMAND, None, group, arguments, directory)?;
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
}

impl Execute for Executor {
    fn settle(&mut self, benchmark: &Benchmark) -> Result<(), ExecError> {
        match self.load_for(benchmark) {
            // the launch meets it again, and says so
            Err(error) if error.shortage().is_some() => Ok(()),
            settled => settled.map(drop),
        }
    }

    fn launch_copies(
        &mut self,
        benchmark: &Benchmark,
        cpus: &[u32],
        copies: u32,
    ) -> Result<Launched, ExecError> {
        self.launch_once(benchmark, cpus, copies)
            .or_else(without_enough)
    }
}

/// A launch for which there is too little of something: others may do with less.
fn without_enough(error: ExecError) -> Result<Launched, ExecError> {
    let why = error.to_string();
    let outcome = match error.shortage() {
        None => return Err(error),
        Some(shortage) if shortage.may_pass() => Outcome::Failed(why),
        Some(_) => Outcome::Skipped(why),
    };
    Ok(Launched {
        outcome,
        events: vec![],
        cpu: 0,
    })
}

impl Executor {
    fn launch_once(
        &mut self,
        benchmark: &Benchmark,
        cpus: &[u32],
        copies: u32,
    ) -> Result<Launched, ExecError> {
        if let Err(why) = self.load_for(benchmark)? {
            return Ok(Launched {
                outcome: Outcome::Skipped(why),
                events: vec![],
                cpu: 0,
            });
        }
        let far = self.load.far();
        let directory = self.fresh(benchmark)?;
        let cpus = placed(benchmark, cpus);
        self.asked = Asked {
            cpus: self.own.cpus(benchmark, cpus),
            word: self.own.word(benchmark).map(str::to_owned),
        };
        let alone = copies == 1;
        let not = |why: &str| Ok(Told::without_a_start(Outcome::Skipped(why.to_owned())));
        let told = match &benchmark.work {
            Work::Kernel(work) if alone => self.kernel(benchmark, work, cpus, &directory),
            Work::Kernel(work) if !self.own.is_bare(&work.program) => {
                self.copies(benchmark, work, cpus, copies, &directory)
            }
            Work::Command(work) | Work::Scenario(work) if alone => match &work.user {
                Some(user) => self.user_command(work, user, cpus),
                None => self.command(benchmark, work, cpus, &directory),
            },
            Work::Derived { .. } | Work::Rating { .. } if alone => {
                not("It is computed from other rows.")
            }
            _ => not(
                "Only programs with Gritstone's runtime are measured as copies, which it has begin together, each on its CPU.",
            ),
        };
        self.setup.places.take_back(directory);
        let mut told = told?;
        told.events.extend(self.load.since(&far));
        if let Some(why) = self.load.broken() {
            told.outcome = Outcome::Failed(format!("the load beside it ended: {why}"));
        }
        if benchmark.files {
            self.tell_what_was_measured(benchmark, &mut told.events);
        }
        Ok(Launched {
            outcome: told.outcome,
            events: told.events,
            cpu: told.cpu,
        })
    }
}

/// The CPUs that a row keeps to: none in particular where the scheduler is to choose.
fn placed<'a>(benchmark: &Benchmark, cpus: &'a [u32]) -> &'a [u32] {
    match benchmark.placement {
        Placement::All => &[],
        _ => cpus,
    }
}

#[cfg(test)]
mod tests;
