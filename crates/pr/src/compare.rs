//! Finds, checks out and builds base and head, and measures them in turns.

use crate::git::{Repository, Revision};
use crate::identical::{are_identical, only_sources};
use crate::instructions::Counter;
use crate::launches::Launcher;
use crate::layouts::Linkers;
use crate::trial::{Margins, outcome};
use crate::turns::{Progress, Turns, head_fails_more};
use crate::work_trees::{Build, WorkTree, Workshop, carry};
use crate::{NotComparable, SIDES};
use anyhow::{Context as _, Result, bail, ensure};
use gritstone_exchange::harness::Harness;
use gritstone_exchange::{ImportError, trial_side};
use gritstone_exec::{Journal, Setup};
use gritstone_host::programs;
use gritstone_model::{
    CheckOutcome, Plan, PrQuantity, PrSide, PrSideName, PrView, PrWithoutValue, RunData, RunInfo,
    SCHEMA_PR,
};
use gritstone_session::host_context::HostContext;
use gritstone_session::{signals, trial, undo};
use gritstone_stats::interim::LEVEL;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Default measuring time of one benchmark in one launch: more launches narrow an interval more than longer ones do.
pub const HARNESS_TIME: Duration = Duration::from_millis(10);

/// Parameters of `gritstone pr` and `bisect`.
pub struct Comparison {
    pub repository: Repository,
    /// `None`: the merge base with the target branch.
    pub base: Option<String>,
    /// `None`: the user's work tree with its uncommitted changes.
    pub head: Option<String>,
    /// Executed in each work tree.
    pub build: Option<Build>,
    /// Builds per side; several differ in code layout.
    pub layouts: usize,
    /// Files that the base takes from the head, below the root of the repository.
    pub carry: Vec<PathBuf>,
    pub harness: Box<dyn Harness>,
    /// JSON pointer to the values of harness `json`.
    pub values: String,
    pub command: Vec<String>,
    /// Working directory of the command, below the root of the repository.
    pub directory: PathBuf,
    /// Instructions are counted only for a plain command.
    pub quantity: PrQuantity,
    /// Whether a plain command must print the same on both sides.
    pub same_output: bool,
    /// Time for measuring; builds do not count.
    pub budget: Duration,
    /// Measuring time of one benchmark in one launch.
    pub harness_time: Duration,
    pub margins: Margins,
    pub seed: u64,
    /// Parent of the work trees.
    pub dir: Option<PathBuf>,
}

/// The two sides of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sides {
    pub base: Revision,
    pub head: Revision,
    /// Uncommitted changes of the user; empty for an explicit head.
    pub modified: Vec<PathBuf>,
}

/// A prepared host, with the undo journal in which work trees are recorded.
pub struct Place {
    pub host: HostContext,
    /// Counter of instructions, if these are compared.
    pub counter: Option<Counter>,
    /// Dropped after everything that it records.
    pub setup: Setup,
    pub journal: Journal,
}

impl Place {
    /// Nothing is checked out without a journal, which would remove it after a kill.
    ///
    /// # Errors
    /// When no directory for files can be used, or no journal can be written.
    pub fn new(dir: Option<&Path>, deadline: Duration, quantity: PrQuantity) -> Result<Self> {
        let stop = signals::process_stop_flag().context("cannot catch signals")?;
        let host = HostContext::probe(dir)?;
        let journal = undo::begin().context("no work tree is created without an undo journal")?;
        let setup = host.setup(&Plan::default(), deadline, stop, Some(&journal))?;
        let counter = match quantity {
            PrQuantity::Time => None,
            PrQuantity::Instructions => Some(Counter::find(&setup.work_dirs, &setup.stop)?),
        };
        Ok(Self { host, counter, setup, journal })
    }

    pub fn workshop<'a>(&'a self, repository: &'a Repository) -> Workshop<'a> {
        Workshop {
            repository,
            journal: &self.journal,
            work_dirs: &self.setup.work_dirs,
            directory: &self.host.dir,
            stop: &self.setup.stop,
        }
    }
}

impl Comparison {
    /// # Errors
    /// When a revision is not known.
    pub fn sides(&self) -> Result<Sides> {
        let repository = &self.repository;
        let head = repository.revision(self.head.as_deref().unwrap_or("HEAD"))?;
        let base = match &self.base {
            Some(name) => repository.revision(name)?,
            None => repository.merge_base(&head)?,
        };
        let modified = match self.head {
            Some(_) => vec![],
            None => repository.modified()?,
        };
        Ok(Sides { base, head, modified })
    }

    pub fn launcher<'a>(&'a self, place: &'a Place) -> Launcher<'a> {
        Launcher {
            harness: self.harness.as_ref(),
            command: &self.command,
            directory: &self.directory,
            time: self.harness_time,
            deadline: place.setup.deadline,
            work_dirs: &place.setup.work_dirs,
            stop: &place.setup.stop,
            counter: place.counter.as_ref(),
            keeps_output: self.same_output,
        }
    }

    pub fn turns(&self) -> Turns<'_> {
        Turns {
            quantity: self.quantity,
            margins: &self.margins,
            seed: self.seed,
            budget: self.budget,
            only: None,
        }
    }

    /// # Errors
    /// When a revision is not known; [`crate::NotComparable`] when a side does not build or measures nothing.
    pub fn run(&self, progress: &dyn Fn(Progress<'_>)) -> Result<Answer> {
        let sides = self.sides()?;
        let view = self.view(&sides);
        if sides.base.commit == sides.head.commit && sides.modified.is_empty() {
            if self.base.is_none() {
                let why = format!(
                    "{} is what is to be judged, so there is nothing to compare: give --base",
                    sides.base.name
                );
                bail!(NotComparable(why));
            }
            return Ok(Answer::identical(view));
        }
        let place = Place::new(self.dir.as_deref(), self.budget, self.quantity)?;
        let linkers = match self.layouts {
            0 | 1 => None,
            _ => Some(Linkers::new(place.setup.work_dirs.fresh(false)?)?),
        };
        let (mut base, mut head) = (vec![], vec![]);
        for number in 1..=self.layouts.max(1) {
            let [one, other] = self.prepare(&place, &sides)?;
            for tree in [&one, &other] {
                progress(Progress::Building(tree.name));
                self.build(&place, tree, linkers.as_ref(), number)?;
            }
            base.push(one);
            head.push(other);
        }
        let program = self.command.first().context("there is no command")?;
        let mut changed = self.repository.changed(&sides.base, &sides.head)?;
        changed.extend_from_slice(&sides.modified);
        // equal programs may print other files of the repository
        if !self.same_output
            && only_sources(&changed)
            && are_identical([&base[0], &head[0]], &self.directory, program)?
        {
            return Ok(Answer::identical(view));
        }
        self.measure(&place, [&base, &head], view, progress)
    }

    /// Checks out both sides, with the user's changes and the carried files.
    fn prepare(&self, place: &Place, sides: &Sides) -> Result<[WorkTree; 2]> {
        let workshop = place.workshop(&self.repository);
        let base = workshop.check_out("base", &sides.base)?;
        let head = workshop.check_out("head", &sides.head)?;
        workshop.apply_changes(&head, &sides.modified)?;
        for path in &self.carry {
            carry(&head, &base, path)?;
        }
        Ok([base, head])
    }

    fn build(
        &self,
        place: &Place,
        tree: &WorkTree,
        linkers: Option<&Linkers>,
        number: usize,
    ) -> Result<()> {
        let Some(build) = &self.build else {
            return Ok(());
        };
        let workshop = place.workshop(&self.repository);
        let variables = linkers.map(|linkers| linkers.environment(number));
        workshop.build(tree, build, variables.unwrap_or_default())?;
        match linkers {
            Some(linkers) => linkers.check_used(tree, number),
            None => Ok(()),
        }
    }

    /// The command that compares a commit with the one before by the same benchmarks.
    ///
    /// # Errors
    /// When a word has a NUL byte, which no command line takes.
    pub fn command_line(&self, commit: &str) -> Result<String> {
        let mut words = ["gritstone", "pr", "--base"].map(str::to_owned).to_vec();
        words.extend([format!("{commit}~1"), "--head".to_owned(), commit.to_owned()]);
        let mut option =
            |name: &str, value: &str| words.extend([name.to_owned(), value.to_owned()]);
        if let Some(build) = &self.build {
            option("--build", &build.command);
        }
        match self.quantity {
            PrQuantity::Time => option("--harness", self.harness.name()),
            PrQuantity::Instructions => option("--count", "instructions"),
        }
        if self.harness_time != HARNESS_TIME {
            option("--harness-time", &format!("{}s", self.harness_time.as_secs_f64()));
        }
        if self.harness.name() == "json" && !self.values.is_empty() {
            option("--values", &self.values);
        }
        words.push("--".to_owned());
        words.extend(self.command.iter().cloned());
        Ok(shlex::try_join(words.iter().map(String::as_str))?)
    }

    /// The view of a failed comparison.
    ///
    /// # Errors
    /// When a revision is not known.
    pub fn failed_view(&self, reason: &str, outcome: CheckOutcome) -> Result<PrView> {
        let view = self.view(&self.sides()?);
        Ok(PrView { reason: Some(reason.to_owned()), outcome, ..view })
    }

    /// A view without results.
    fn view(&self, sides: &Sides) -> PrView {
        let side = |revision: &Revision, modified| PrSide {
            modified,
            ..PrSide::new(&revision.name, &revision.commit)
        };
        PrView {
            schema: SCHEMA_PR.to_owned(),
            base: side(&sides.base, false),
            head: side(&sides.head, !sides.modified.is_empty()),
            harness: self.harness.name().to_owned(),
            quantity: self.quantity,
            counter: None,
            command: self.command.clone(),
            max_slowdown: self.margins.default,
            level: LEVEL,
            built: self.build.is_some(),
            layouts: self.layouts.max(1),
            rounds: 0,
            harness_time_s: self.harness_time.as_secs_f64(),
            elapsed_s: 0.0,
            budget_s: self.budget.as_secs_f64(),
            outcome: CheckOutcome::Inconclusive,
            reason: None,
            identical: false,
            rows: vec![],
            unmatched: vec![],
            without_value: vec![],
        }
    }

    fn measure(
        &self,
        place: &Place,
        trees: [&[WorkTree]; 2],
        view: PrView,
        progress: &dyn Fn(Progress<'_>),
    ) -> Result<Answer> {
        let launcher = self.launcher(place);
        let infos = self.run_infos(place, [&view.base, &view.head]);
        let measured = self.turns().measure(&launcher, trees, progress)?;
        let elapsed_s = measured.begun.elapsed().as_secs_f64();
        let side_run = |(side, info): (usize, RunInfo)| {
            let info = RunInfo { elapsed_s: measured.complete.then_some(elapsed_s), ..info };
            let rows = measured.trial.side(side);
            trial_side(self.harness.title(), info, &rows, &measured.launches[side])
        };
        // a count is not stored as a time
        let stored = infos.into_iter().enumerate().filter(|_| self.quantity == PrQuantity::Time);
        let runs = stored.map(side_run).collect();
        let trial = &measured.trial;
        let rows = trial.rows(self.harness.name());
        let mut view = view;
        let of_head = |one: &PrWithoutValue| one.only == Some(PrSideName::Head);
        let head_fails =
            head_fails_more(measured.failed_alone) || measured.without_value.iter().any(of_head);
        [view.base.failure, view.head.failure] = measured.failures;
        let view = PrView {
            outcome: match outcome(&rows, &trial.unmatched) {
                CheckOutcome::Passed if head_fails || !measured.complete => {
                    CheckOutcome::Inconclusive
                }
                outcome => outcome,
            },
            reason: (!measured.complete).then(|| "interrupted".to_owned()),
            counter: place.counter.as_ref().map(|counter| counter.kind),
            rounds: trial.rounds,
            elapsed_s,
            rows,
            unmatched: trial.unmatched.clone(),
            without_value: measured.without_value,
            ..view
        };
        Ok(Answer { view, complete: measured.complete, runs })
    }

    /// Run information of both sides, as of a trial.
    fn run_infos(&self, place: &Place, sides: [&PrSide; 2]) -> [RunInfo; 2] {
        let trial = trial::Trial {
            budget: self.budget,
            margin: self.margins.default,
            ..trial::Trial::new(&place.host, "pr", None, Some(self.seed))
        };
        let mut names = SIDES.into_iter().enumerate();
        sides.map(|side| {
            let (index, name) = names.next().expect("as many names as sides");
            let letter = trial::side_name(index, sides.len());
            let modified = if side.modified { " with changes" } else { "" };
            let what = format!("{}: {}{modified}", name.as_str(), side.commit);
            trial.run_info(&letter, trial.settings(&letter, &what))
        })
    }
}

/// Outcome of a comparison.
pub struct Answer {
    pub view: PrView,
    /// False if the user interrupted.
    pub complete: bool,
    /// One per side, to be stored; empty if nothing was measured. An error if they exceed the limits of a run.
    pub runs: Result<Vec<RunData>, ImportError>,
}

impl Answer {
    fn identical(view: PrView) -> Self {
        Self {
            view: PrView { identical: true, outcome: CheckOutcome::Passed, ..view },
            complete: true,
            runs: Ok(vec![]),
        }
    }
}

/// A command that can be executed.
///
/// # Errors
/// When it is empty, when the shell would take its program for an option, or when both sides would execute the program in the user's
/// repository.
pub fn check_command(command: &[String], repository: &Repository) -> Result<()> {
    let program = command
        .first()
        .context("no command: give it after --, or as `command` in gritstone-pr.toml")?;
    ensure!(!program.starts_with('-') && !program.is_empty(), "'{program}' is not a program");
    let is_in_repository = |word: &str| {
        let real = Path::new(word).canonicalize().ok().filter(|_| word.starts_with('/'));
        real.is_some_and(|path| path.starts_with(&repository.root))
    };
    ensure!(
        !is_in_repository(program),
        "both sides would execute '{program}', which is in the repository itself: name it relative to the repository, such as ./bench"
    );
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = programs::find(&[program.as_str()], &path);
    let found = found.and_then(|path| path.to_str().map(str::to_owned));
    for word in found.iter().chain(&command[1..]).filter(|word| is_in_repository(word)) {
        log::warn!(
            "both sides use '{word}', which is in the repository itself, not in the work tree of a side"
        );
    }
    Ok(())
}
