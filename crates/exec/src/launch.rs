//! From a benchmark to command lines, and from what came back to an outcome.
//!
//! A kernel is launched to measure, then, where a document printed a time for a fixed amount of work, as a whole process
//! that does just that; as several at once in [`copies`]. Commands are in [`command`] and [`user`].

mod command;
mod copies;
mod counted;
mod measured;
pub(crate) mod programs;
mod user;

use crate::acquired::{self, Config, Equipment};
use crate::cgroup::{Group, is_confined};
use crate::custom::Custom;
use crate::load::Load;
use crate::outcome::judge;
use crate::process::{Task, carry_out};
use crate::rebuild::Rebuilt;
use crate::scratch_fs::Volume;
use crate::setup::{Setup, environment_in};
use crate::tune::Tuning;
use crate::{ExecError, Journal, elf, owned_files};
pub use counted::Subject;
use gritstone_kernels::{COMMAND, SUPERVISOR};
use gritstone_model::{
    Benchmark, Calibration, Event, Id, KernelWork, Outcome, Param, Placement, Work,
};
use programs::cpus_argument;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What may differ from launch to launch of a benchmark: that of one side of a comparison, of one build of an audit.
#[derive(Clone, Debug, Default)]
pub struct Variant {
    /// Environment of every child, with HOME and TMPDIR of its own unless it is a command of the user's.
    pub environment: BTreeMap<String, String>,
    /// Programs that take the place of those of the same name in this binary.
    pub builds: BTreeMap<String, Rebuilt>,
}

/// What came of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launched {
    /// How it ended.
    pub outcome: Outcome,
    /// Everything that was said, in order; what came before a failure too.
    pub events: Vec<Event>,
    /// CPU time of the launch's processes, ns: what the conditions must not count as others'.
    pub cpu: u64,
}

impl Launched {
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

/// How often a launch is attempted whose memory is limited: the kernel sometimes finds nothing of a small group's memory to take away,
/// though most of it may go to swap or to a file, and kills instead.
const ATTEMPTS: u32 = 6;

/// A custom command and its environment.
type Warmed = (Vec<String>, BTreeMap<String, String>);

/// Carries out launches on this machine.
#[derive(Debug)]
pub struct Executor {
    // before the directories that it works in: fields are dropped in this order
    pub(crate) load: Load,
    pub(crate) setup: Setup,
    tuning: Tuning,
    reference: bool,
    pub(crate) custom: Custom,
    /// What was made for rows that ask for it.
    pub(crate) equipment: Equipment,
    /// Whether the proof of a command held, of those that were carried out.
    proofs: RefCell<BTreeMap<Id, bool>>,
    /// Commands of which a launch is one execution, and that have been launched.
    long: RefCell<BTreeSet<Id>>,
    /// The custom commands that have been executed once.
    warm: RefCell<BTreeSet<Warmed>>,
}

/// One launch: of what, how, and where.
pub(crate) struct Job<'a> {
    executor: &'a Executor,
    variant: &'a Variant,
    benchmark: &'a Benchmark,
    cpus: &'a [u32],
    directory: &'a Path,
    known: Calibration,
}

impl Executor {
    /// An executor that works with `setup`, and makes for the rows that it is to carry out what they ask for. What cannot be made
    /// or written down is not, and the launches say so and why.
    #[must_use]
    pub fn new(setup: Setup, config: Config<'_>, journal: Option<&Journal>) -> Self {
        let (equipment, load) = acquired::make(&setup, &config, journal);
        Self {
            load,
            setup,
            tuning: config.tuning,
            reference: config.reference,
            custom: config.custom,
            equipment,
            proofs: RefCell::default(),
            long: RefCell::default(),
            warm: RefCell::default(),
        }
    }

    /// Whether the untimed proof of a command held; `None` before it was carried out.
    #[must_use]
    pub fn proof(&self, id: &Id) -> Option<bool> {
        self.proofs.borrow().get(id).copied()
    }

    /// What it starts programs with.
    #[must_use]
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Makes ready what `benchmark` is measured beside, if that takes time: its load. A launch does so by itself; beforehand, the
    /// time for it is none of the launch's.
    ///
    /// # Errors
    /// As of [`Self::launch`]; a load that cannot be made is the outcome of the launch.
    pub fn settle(&mut self, variant: &Variant, benchmark: &Benchmark) -> Result<(), ExecError> {
        self.load_for(variant, benchmark)
            .or_else(|error| error.outcome().map(drop))
    }

    /// Launches `benchmark` once as so many copies that work at once, on `cpus` in turn (empty: all); what each of several said
    /// begins with its number. Workloads of ours are told what earlier launches found.
    ///
    /// # Errors
    /// Only when no launch can be carried out any more; a launch that fails is an [`Outcome`], as it is when one of its copies does.
    pub fn launch(
        &mut self,
        variant: &Variant,
        benchmark: &Benchmark,
        cpus: &[u32],
        copies: u32,
        known: Calibration,
    ) -> Result<Launched, ExecError> {
        let mut attempt = 1;
        loop {
            let killed = self.kills(benchmark);
            let mut launched = self
                .launch_once(variant, benchmark, cpus, copies, known)
                .or_else(|error| error.outcome().map(Launched::without_a_start))?;
            let again = self.kills(benchmark) > killed && attempt < ATTEMPTS;
            if again && matches!(launched.outcome, Outcome::Failed(_)) {
                attempt += 1;
                continue;
            }
            if attempt > 1 {
                let remark = "Launches that the kernel killed because their control group was out of memory were repeated.";
                launched
                    .events
                    .push(Event::Param(Param::Remark(remark.to_owned())));
            }
            return Ok(launched);
        }
    }

    /// Processes of the group that the kernel has killed; 0 where the benchmark is not in it.
    fn kills(&self, benchmark: &Benchmark) -> u64 {
        let group = self.equipment.confinement.as_deref().ok();
        group
            .filter(|_| is_confined(benchmark))
            .map_or(0, Group::kills)
    }

    fn launch_once(
        &mut self,
        variant: &Variant,
        benchmark: &Benchmark,
        cpus: &[u32],
        copies: u32,
        known: Calibration,
    ) -> Result<Launched, ExecError> {
        self.load_for(variant, benchmark)?;
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
            // none in particular where the scheduler is to choose
            cpus: match benchmark.placement {
                Placement::All => &[],
                _ => cpus,
            },
            directory,
            known: Calibration::default(),
        }
    }

    /// A fresh directory for a launch of a benchmark: on the file system that was made for it, if it asks for one.
    fn fresh(&self, benchmark: &Benchmark) -> Result<PathBuf, ExecError> {
        let own = self.volume_for(benchmark).and_then(Result::ok);
        match own.map(Volume::directory) {
            Some(own) => self.setup.places.fresh_below(&own),
            None => self.setup.places.fresh(benchmark.files),
        }
    }
}

impl Job<'_> {
    fn carry_out(&self, copies: u32) -> Result<Launched, ExecError> {
        let alone = copies == 1;
        let not = |why: &str| {
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
            Work::Derived { .. } | Work::Rating { .. } if alone => {
                not("It is computed from other benchmarks.")
            }
            _ => not(
                "Only programs with Gritstone's runtime can be measured as copies: it starts them together, each on its CPU.",
            ),
        }
    }

    /// The environment of whatever is started in `directory`.
    fn environment(&self, directory: &Path) -> BTreeMap<String, OsString> {
        environment_in(&self.variant.environment, directory)
    }

    /// What the supervisor is told to do to a program of this launch: to its kernel where that is given.
    fn words(&self, kernel: Option<&Benchmark>, group: Option<&Group>) -> String {
        let custom = self.executor.custom.has(self.benchmark);
        let bound = self.executor.equipment.bound.as_ref().filter(|_| custom);
        let bound = bound.map(|bound| bound.word.as_str());
        self.executor.tuning.words(kernel, group, bound)
    }

    /// Starts one of our programs in the directory of the launch and judges what it said.
    fn start(
        &self,
        name: &str,
        words: &str,
        arguments: Vec<OsString>,
    ) -> Result<Launched, ExecError> {
        let environment = self.environment(self.directory);
        self.start_in(self.directory, &environment, name, words, arguments)
    }

    /// The same elsewhere.
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
        let ended = carry_out(&Task {
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
        let cpu = ended.cpu;
        let (outcome, events) = judge(name, ended, setup.deadline);
        Ok(Launched {
            outcome,
            events,
            cpu,
        })
    }

    fn kernel(&self, work: &KernelWork) -> Result<Launched, ExecError> {
        let mut arguments = vec![cpus_argument(self.cpus)];
        arguments.extend(self.handed(work)?);
        arguments.extend(self.found(work));
        let (group, told_of_it) = match self.executor.held(work) {
            Ok(held) => held,
            Err(why) => return Ok(Launched::without_a_start(Outcome::Failed(why))),
        };
        arguments.extend(told_of_it.iter().cloned());
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
            // what the work needs, and what shows that it was done, is not in the time of its process
            "before=mode=prepare".into(),
            "after=mode=finish".into(),
            "--".into(),
            self.path_of(&work.program)?.into(),
        ];
        arguments.extend(self.whole_arguments("once", work, self.cpus, published.operations)?);
        arguments.extend(told_of_it);
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
