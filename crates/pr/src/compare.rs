//! Base and head: found, checked out, built, and measured in turns.

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
use gritstone_model::{
    CheckOutcome, Plan, PrQuantity, PrSide, PrSideName, PrView, PrWithoutValue, RunData, RunInfo,
    SCHEMA_PR,
};
use gritstone_session::host_context::HostContext;
use gritstone_session::{signals, trial, undo};
use gritstone_stats::interim::LEVEL;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What is compared, and how.
pub struct Comparison {
    pub repository: Repository,
    /// None: the merge base with the branch that the head will be merged into.
    pub base: Option<String>,
    /// None: the user's files as they are.
    pub head: Option<String>,
    /// In each work tree.
    pub build: Option<Build>,
    /// Builds of each side, which differ by the layout of their code where there are several.
    pub layouts: usize,
    /// Files that the base takes from the head, below the root of the repository.
    pub carry: Vec<PathBuf>,
    pub harness: Box<dyn Harness>,
    /// JSON pointer to the values of harness `json`.
    pub values: String,
    pub command: Vec<String>,
    /// Where the command is executed, below the root of the repository.
    pub directory: PathBuf,
    /// Instructions are those of a plain command.
    pub quantity: PrQuantity,
    /// Whether a plain command must print the same on both sides.
    pub same_output: bool,
    /// Of measuring, without builds.
    pub budget: Duration,
    /// Measuring time of one benchmark in one launch; none: so long that the rounds suffice.
    pub harness_time: Option<Duration>,
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
    /// Changes in the user's files, none of an explicit head.
    pub modified: Vec<PathBuf>,
}

/// A host with a journal, in which work trees can be made.
pub struct Place {
    pub host: HostContext,
    /// Of instructions, where they are compared.
    pub counter: Option<Counter>,
    /// Dropped after everything that it records.
    pub setup: Setup,
    pub journal: Journal,
}

impl Place {
    /// Nothing is checked out without a journal, which would remove it after a kill.
    ///
    /// # Errors
    /// When there is no place for files, or no journal.
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
            time: self.harness_time,
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

    /// Both sides checked out, with the user's changes and the files that are carried.
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
        if self.harness.name() == "json" && !self.values.is_empty() {
            option("--values", &self.values);
        }
        words.push("--".to_owned());
        words.extend(self.command.iter().cloned());
        Ok(shlex::try_join(words.iter().map(String::as_str))?)
    }

    /// The view where base and head could not be compared.
    ///
    /// # Errors
    /// When a revision is not known.
    pub fn unanswered(&self, reason: &str, outcome: CheckOutcome) -> Result<PrView> {
        let view = self.view(&self.sides()?);
        Ok(PrView { reason: Some(reason.to_owned()), outcome, ..view })
    }

    /// Without a result.
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
            harness_time_s: 0.0,
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
        let taken = self.turns().take(&launcher, trees, progress)?;
        let elapsed_s = taken.begun.elapsed().as_secs_f64();
        let side_run = |(side, info): (usize, RunInfo)| {
            let info = RunInfo { elapsed_s: taken.complete.then_some(elapsed_s), ..info };
            let rows = taken.trial.side(side);
            trial_side(self.harness.title(), info, &rows, &taken.launches[side])
        };
        // a count is not stored as a time
        let stored = infos.into_iter().enumerate().filter(|_| self.quantity == PrQuantity::Time);
        let runs = stored.map(side_run).collect();
        let trial = &taken.trial;
        let rows = trial.rows(self.harness.name());
        let mut view = view;
        let of_head = |one: &PrWithoutValue| one.only == Some(PrSideName::Head);
        let head_fails =
            head_fails_more(taken.failed_alone) || taken.without_value.iter().any(of_head);
        [view.base.failure, view.head.failure] = taken.failures;
        let view = PrView {
            outcome: match outcome(&rows, &trial.unmatched) {
                CheckOutcome::Passed if head_fails || !taken.complete => CheckOutcome::Inconclusive,
                outcome => outcome,
            },
            reason: (!taken.complete).then(|| "interrupted".to_owned()),
            counter: place.counter.as_ref().map(|counter| counter.kind),
            harness_time_s: taken.time.as_secs_f64(),
            rounds: trial.rounds,
            elapsed_s,
            rows,
            unmatched: trial.unmatched.clone(),
            without_value: taken.without_value,
            ..view
        };
        Ok(Answer { view, complete: taken.complete, runs })
    }

    /// Of the runs of both sides, as a trial has them.
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

/// What a comparison says.
pub struct Answer {
    pub view: PrView,
    /// Not interrupted by the user.
    pub complete: bool,
    /// One a side, to be stored; none where nothing was measured. An error where they exceed the limits of a run.
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
/// When it is empty, its program would be taken as an option of the shell, or both sides would execute the one in the user's repository.
pub fn check_command(command: &[String], repository: &Repository) -> Result<()> {
    let program = command
        .first()
        .context("no command: give it after --, or as `command` in gritstone-pr.toml")?;
    ensure!(!program.starts_with('-') && !program.is_empty(), "'{program}' is not a program");
    let real = Path::new(program).canonicalize().ok().filter(|_| program.starts_with('/'));
    ensure!(
        !real.is_some_and(|path| path.starts_with(&repository.root)),
        "both sides would execute '{program}', which is in the repository itself: name it relative to the repository, such as ./bench"
    );
    Ok(())
}
