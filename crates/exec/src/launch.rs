//! From a benchmark to command lines, and from their results to an outcome.
//!
//! A workload is launched to measure and then, if it has a published time for a fixed amount of work, as a whole
//! process that does only that; several copies are in [`copies`]. Commands are in [`command`] and [`user`].

mod command;
mod copies;
mod inherited;
mod load;
mod medium;
mod programs;
mod resources;
mod traced;
mod user;

use crate::acquired::{self, Acquired, Config};
use crate::arguments::{cpus_argument, environment_in};
use crate::cgroup::{Group, is_confined};
use crate::custom::Custom;
use crate::load::Load;
use crate::outcome::classify;
use crate::process::{Task, carry_out};
use crate::rebuild::Rebuilt;
use crate::scratch_fs::Volume;
use crate::setup::Setup;
use crate::tune::Tuning;
use crate::{ExecError, Journal, elf, owned_files};
use gritstone_kernels::{COMMAND, SUPERVISOR};
use gritstone_model::{
    Benchmark, Calibration, CommandWork, Event, Id, KernelWork, Outcome, Param, Placement, Work,
};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
pub use traced::Subject;

/// What may differ between launches of a benchmark: between sides of a trial, or builds of an audit.
#[derive(Clone, Debug, Default)]
pub struct Variant {
    /// Environment of every child. HOME and TMPDIR are the launch's own, except for user commands.
    pub environment: BTreeMap<String, String>,
    /// Replace embedded programs of the same name.
    pub builds: BTreeMap<String, Rebuilt>,
    /// Number of the side; the commands of each are proved.
    pub side: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launched {
    pub outcome: Outcome,
    /// In order; includes events before a failure.
    pub events: Vec<Event>,
    /// CPU time of all processes, ns, also of earlier attempts and the proof: conditions must not count it as interference.
    pub cpu: u64,
}

impl Launched {
    fn without_a_start(outcome: Outcome) -> Self {
        Self { outcome, events: vec![], cpu: 0 }
    }

    /// Explains why a program reported nothing, if its loader is missing.
    fn explained(self, name: &str, program: &Path) -> Self {
        let number = |event: &Event| matches!(event, Event::Param(Param::Copy(_)));
        let silent = self.events.iter().all(number);
        let loader = silent.then(|| elf::missing_loader(program)).flatten();
        match loader {
            None => self,
            Some(loader) => Self {
                outcome: Outcome::Skipped(format!(
                    "The program {name} is linked dynamically, and its loader {} is missing here: build Gritstone on this system.",
                    loader.display()
                )),
                ..self
            },
        }
    }
}

/// Launches of a memory-limited benchmark. The kernel sometimes kills although most memory of a small group could go
/// to swap or files.
const ATTEMPTS: u32 = 6;

type Warmed = (Vec<String>, BTreeMap<String, String>);

/// Makes launches on this machine.
#[derive(Debug)]
pub struct Executor {
    // fields are dropped in this order: before the directories that it works in
    pub(crate) load: Load,
    pub(crate) setup: Setup,
    tuning: Tuning,
    reference: bool,
    pub(crate) custom: Custom,
    pub(crate) acquired: Acquired,
    /// Results of the proofs of commands, by side.
    proofs: RefCell<BTreeMap<(Id, usize), bool>>,
    /// Launched commands whose launch is one execution.
    long: RefCell<BTreeSet<Id>>,
    /// Custom commands executed at least once.
    warm: RefCell<BTreeSet<Warmed>>,
}

pub(crate) struct Job<'a> {
    executor: &'a Executor,
    variant: &'a Variant,
    benchmark: &'a Benchmark,
    cpus: &'a [u32],
    directory: &'a Path,
    known: Calibration,
}

impl Executor {
    /// Acquires the resources that the benchmarks need. Launches report the ones that are unavailable, and why.
    pub fn new(setup: Setup, config: Config<'_>, journal: Option<&Journal>) -> Self {
        let (acquired, load) = acquired::make(&setup, &config, journal);
        Self {
            load,
            setup,
            tuning: config.tuning,
            reference: config.reference,
            custom: config.custom,
            acquired,
            proofs: RefCell::default(),
            long: RefCell::default(),
            warm: RefCell::default(),
        }
    }

    /// Result of the untimed proof of a command on a side, once made.
    pub fn proof(&self, id: &Id, side: usize) -> Option<bool> {
        self.proofs.borrow().get(&(id.clone(), side)).copied()
    }

    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Starts the background load, so that its start-up is not charged to the launch. A load that cannot be started
    /// is the outcome of the launch.
    pub fn start_load(
        &mut self,
        variant: &Variant,
        benchmark: &Benchmark,
    ) -> Result<(), ExecError> {
        self.adjust_load(variant, benchmark).or_else(|error| error.outcome().map(drop))
    }

    /// Launches `copies` simultaneous copies of `benchmark` on `cpus` in turn (empty: all). The events of each of
    /// several begin with its number. Fails only if no launch can be made any more: a launch or copy that fails is an
    /// [`Outcome`].
    pub fn launch(
        &mut self,
        variant: &Variant,
        benchmark: &Benchmark,
        cpus: &[u32],
        copies: u32,
        known: Calibration,
    ) -> Result<Launched, ExecError> {
        let (mut attempt, mut earlier_cpu) = (1, 0);
        loop {
            let killed = self.kills(benchmark);
            let mut launched = self
                .launch_once(variant, benchmark, cpus, copies, known)
                .or_else(|error| error.outcome().map(Launched::without_a_start))?;
            let again = self.kills(benchmark) > killed && attempt < ATTEMPTS;
            launched.cpu += earlier_cpu;
            if again && matches!(launched.outcome, Outcome::Failed(_)) {
                attempt += 1;
                earlier_cpu = launched.cpu;
                continue;
            }
            if attempt > 1 {
                let remark = "Launches that the kernel killed because their control group was out of memory were repeated.";
                launched.events.push(Event::Param(Param::Remark(remark.to_owned())));
            }
            return Ok(launched);
        }
    }

    fn kills(&self, benchmark: &Benchmark) -> u64 {
        let group = self.acquired.confinement.as_deref().ok();
        group.filter(|_| is_confined(benchmark)).map_or(0, Group::kills)
    }

    fn launch_once(
        &mut self,
        variant: &Variant,
        benchmark: &Benchmark,
        cpus: &[u32],
        copies: u32,
        known: Calibration,
    ) -> Result<Launched, ExecError> {
        self.adjust_load(variant, benchmark)?;
        let before = self.load.progress();
        let directory = self.fresh(benchmark)?;
        let mut job = self.job(variant, benchmark, cpus, &directory);
        job.known = known;
        let launched = job.carry_out(copies);
        let _ = owned_files::remove_within(&directory);
        let mut launched = launched?;
        launched.events.extend(self.load.since(&before));
        if let Some(why) = self.load.broken() {
            launched.outcome = Outcome::Failed(format!("the background load ended: {why}"));
        }
        if benchmark.files {
            self.add_medium(benchmark, &mut launched.events);
        }
        Ok(launched)
    }

    fn job<'a>(
        &'a self,
        variant: &'a Variant,
        benchmark: &'a Benchmark,
        cpus: &'a [u32],
        directory: &'a Path,
    ) -> Job<'a> {
        Job {
            executor: self,
            variant,
            benchmark,
            // none, to let the scheduler choose
            cpus: match benchmark.placement {
                Placement::All => &[],
                _ => cpus,
            },
            directory,
            known: Calibration::default(),
        }
    }

    /// In the scratch file system if the benchmark needs it.
    fn fresh(&self, benchmark: &Benchmark) -> Result<PathBuf, ExecError> {
        let scratch_fs = self.volume_for(benchmark).and_then(Result::ok);
        match scratch_fs.map(Volume::directory) {
            Some(scratch_fs) => self.setup.work_dirs.fresh_below(&scratch_fs),
            None => self.setup.work_dirs.fresh(benchmark.files),
        }
    }
}

impl Job<'_> {
    fn carry_out(&self, copies: u32) -> Result<Launched, ExecError> {
        let alone = copies == 1;
        let skip = |why: &str| {
            let outcome = Outcome::Skipped(why.to_owned());
            Ok(Launched::without_a_start(outcome))
        };
        match &self.benchmark.work {
            Work::Kernel(work) if alone => self.kernel(work),
            Work::Kernel(work) if !self.executor.custom.is_bare(&work.program) => {
                self.copies(work, copies)
            }
            Work::Command(work) | Work::Scenario(work) if alone => match &work.user {
                Some(user) => self.user_command(work, user),
                None => self.command(work),
            },
            Work::Derived { .. } | Work::Score { .. } if alone => {
                skip("It is computed from other benchmarks.")
            }
            _ => skip(
                "Only programs with Gritstone's runtime can be measured as copies: it starts them together, each on its CPU.",
            ),
        }
    }

    fn environment(&self, directory: &Path) -> BTreeMap<String, OsString> {
        environment_in(&self.variant.environment, directory)
    }

    /// Words for the supervisor of a program of this launch. `kernel` is given for the workload itself.
    fn words(&self, kernel: Option<&Benchmark>, group: Option<&Group>) -> String {
        let custom = self.executor.custom.has(self.benchmark);
        let bound = self.executor.acquired.bound.as_ref().filter(|_| custom);
        let bound = bound.map(|bound| bound.word.as_str());
        self.executor.tuning.words(kernel, group, bound)
    }

    /// Starts an embedded program in the directory of the launch.
    fn start(
        &self,
        name: &str,
        words: &str,
        arguments: Vec<OsString>,
    ) -> Result<Launched, ExecError> {
        let environment = self.environment(self.directory);
        self.start_in(self.directory, &environment, name, words, arguments)
    }

    fn start_in(
        &self,
        directory: &Path,
        environment: &BTreeMap<String, OsString>,
        name: &str,
        words: &str,
        arguments: Vec<OsString>,
    ) -> Result<Launched, ExecError> {
        let supervisor = self.path_of(SUPERVISOR)?;
        let program = self.path_of(name)?;
        let setup = &self.executor.setup;
        let placed = self.executor.custom.cpus(self.benchmark, self.cpus);
        let mut ended = carry_out(&Task {
            supervisor: &supervisor,
            cpus: placed.as_deref().unwrap_or(&setup.cpus),
            words,
            program: &program,
            arguments,
            directory,
            environment,
            deadline: setup.deadline,
            stop: &setup.stop,
        })?;
        if let Some(end) = ended.end.as_mut().filter(|_| self.allows_background()) {
            end.left = 0;
        }
        let cpu = ended.cpu;
        let (outcome, events) = classify(name, ended, setup.deadline);
        Ok(Launched { outcome, events, cpu })
    }

    /// True if processes that outlive the launch are no failure; they are killed.
    fn allows_background(&self) -> bool {
        let Work::Command(CommandWork { user, .. }) = &self.benchmark.work else {
            return false;
        };
        user.as_ref().is_some_and(|user| user.allow_background)
    }

    fn kernel(&self, work: &KernelWork) -> Result<Launched, ExecError> {
        let mut arguments = vec![cpus_argument(self.cpus)];
        arguments.extend(self.workload_arguments(work)?);
        arguments.extend(self.calibration_arguments(work));
        let (group, group_arguments) = match self.executor.join_group(work) {
            Ok(joined) => joined,
            Err(why) => return Ok(Launched::without_a_start(Outcome::Failed(why))),
        };
        arguments.extend(group_arguments.iter().cloned());
        let published = self.benchmark.published.as_ref();
        let published = published.filter(|_| self.executor.reference);
        arguments.extend(published.map(|work| format!("batch={}", work.operations).into()));
        let words = self.words(Some(self.benchmark), group);
        let launched = self.start(&work.program, &words, arguments)?;
        let mut launched = launched.explained(&work.program, &self.path_of(&work.program)?);
        let Some(published) = published.filter(|_| launched.outcome == Outcome::Measured) else {
            return Ok(launched);
        };
        let mut arguments = vec![
            cpus_argument(&self.cpus[..self.cpus.len().min(1)]),
            "samples=3".into(),
            // preparation and check of the work are not in the time of its process
            "before=mode=prepare".into(),
            "after=mode=finish".into(),
            "--".into(),
            self.path_of(&work.program)?.into(),
        ];
        arguments.extend(self.whole_arguments("once", work, self.cpus, published.operations)?);
        arguments.extend(group_arguments);
        let whole = self.start(COMMAND, &self.words(None, group), arguments)?;
        launched.cpu += whole.cpu;
        if whole.outcome != Outcome::Measured {
            launched.outcome = whole.outcome;
        }
        let processes = whole.events.into_iter().filter_map(|event| match event {
            Event::Sample(sample) => Some(Event::Process(sample)),
            _ => None,
        });
        launched.events.extend(processes);
        Ok(launched)
    }
}

#[cfg(test)]
mod tests;
