//! Base and head: found, checked out, built, and measured in turns.

use crate::git::{Repository, Revision};
use crate::identical::are_identical;
use crate::launches::Launcher;
use crate::trial::{Margins, Trial, outcome};
use crate::work_trees::{WorkTree, Workshop, carry};
use crate::{NotComparable, SIDES};
use anyhow::{Context as _, Result, bail, ensure};
use gritstone_exchange::harness::{Harness, HarnessResult};
use gritstone_exec::{ExecError, Journal, Setup};
use gritstone_model::{CheckOutcome, Plan, PrSide, PrView, SCHEMA_PR};
use gritstone_session::host_context::HostContext;
use gritstone_session::{signals, undo};
use gritstone_stats::interim::LEVEL;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What is compared, and how.
pub struct Comparison {
    pub repository: Repository,
    /// None: the merge base with the branch that the head will be merged into.
    pub base: Option<String>,
    /// None: the user's files as they are.
    pub head: Option<String>,
    /// For the shell, in each work tree.
    pub build: Option<String>,
    /// Files that the base takes from the head.
    pub carry: Vec<PathBuf>,
    pub harness: Box<dyn Harness>,
    pub command: Vec<String>,
    /// Of measuring, without builds.
    pub budget: Duration,
    /// Measuring time of one benchmark in one launch.
    pub harness_time: Duration,
    pub margins: Margins,
    pub seed: u64,
    /// Parent of the work trees.
    pub dir: Option<PathBuf>,
}

/// What is being done.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    Building(&'a str),
    Measuring {
        rounds: usize,
        decided: usize,
        benchmarks: usize,
        elapsed: Duration,
        budget: Duration,
    },
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
    /// Dropped after everything that it records.
    pub setup: Setup,
    pub journal: Journal,
}

impl Place {
    /// Nothing is checked out without a journal, which would remove it after a kill.
    ///
    /// # Errors
    /// When there is no place for files, or no journal.
    pub fn new(dir: Option<&Path>, deadline: Duration) -> Result<Self> {
        let stop = signals::process_stop_flag().context("cannot catch signals")?;
        let host = HostContext::probe(dir)?;
        let journal = undo::begin().context("no work tree is made without an undo journal")?;
        let setup = host.setup(&Plan::default(), deadline, stop, Some(&journal))?;
        Ok(Self {
            host,
            setup,
            journal,
        })
    }

    #[must_use]
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
        Ok(Sides {
            base,
            head,
            modified,
        })
    }

    #[must_use]
    pub fn launcher<'a>(&'a self, place: &'a Place) -> Launcher<'a> {
        Launcher {
            harness: self.harness.as_ref(),
            command: &self.command,
            time: self.harness_time,
            deadline: place.setup.deadline,
            work_dirs: &place.setup.work_dirs,
            stop: &place.setup.stop,
        }
    }

    #[must_use]
    pub fn turns(&self) -> Turns<'_> {
        Turns {
            margins: &self.margins,
            seed: self.seed,
            budget: self.budget,
            only: None,
        }
    }

    /// The answer, and whether it is whole: the user may have interrupted it.
    ///
    /// # Errors
    /// When a revision is not known; [`NotComparable`] when a side does not build or measures nothing.
    pub fn run(&self, progress: &dyn Fn(Progress<'_>)) -> Result<(PrView, bool)> {
        let sides = self.sides()?;
        let view = self.view(&sides);
        if sides.base.commit == sides.head.commit && sides.modified.is_empty() {
            return Ok((identical(view), true));
        }
        let place = Place::new(self.dir.as_deref(), self.budget)?;
        let workshop = place.workshop(&self.repository);
        let base = workshop.check_out("base", &sides.base)?;
        let head = workshop.check_out("head", &sides.head)?;
        workshop.apply_changes(&head, &sides.modified)?;
        for path in &self.carry {
            carry(&head, &base, path)?;
        }
        for tree in [&base, &head] {
            if let Some(command) = &self.build {
                progress(Progress::Building(tree.name));
                workshop.build(tree, command)?;
            }
        }
        let program = self.command.first().context("there is no command")?;
        if are_identical([&base, &head], program)? {
            return Ok((identical(view), true));
        }
        self.measure(&self.launcher(&place), [&base, &head], view, progress)
    }

    /// Without a result.
    fn view(&self, sides: &Sides) -> PrView {
        let side = |revision: &Revision, modified| PrSide {
            revision: revision.name.clone(),
            commit: revision.commit.clone(),
            modified,
        };
        PrView {
            schema: SCHEMA_PR.to_owned(),
            base: side(&sides.base, false),
            head: side(&sides.head, !sides.modified.is_empty()),
            harness: self.harness.name().to_owned(),
            command: self.command.clone(),
            max_slowdown: self.margins.default,
            level: LEVEL,
            rounds: 0,
            elapsed_s: 0.0,
            budget_s: self.budget.as_secs_f64(),
            outcome: CheckOutcome::Inconclusive,
            identical: false,
            rows: vec![],
            unmatched: vec![],
        }
    }

    fn measure(
        &self,
        launcher: &Launcher<'_>,
        trees: [&WorkTree; 2],
        view: PrView,
        progress: &dyn Fn(Progress<'_>),
    ) -> Result<(PrView, bool)> {
        let start = Instant::now();
        let (trial, whole) = self.turns().take(launcher, trees, progress)?;
        let rows = trial.rows(self.harness.name());
        let view = PrView {
            outcome: outcome(&rows, &trial.unmatched),
            rounds: trial.rounds,
            elapsed_s: start.elapsed().as_secs_f64(),
            rows,
            unmatched: trial.unmatched,
            ..view
        };
        Ok((view, whole))
    }
}

fn identical(view: PrView) -> PrView {
    PrView {
        identical: true,
        outcome: CheckOutcome::Passed,
        ..view
    }
}

/// How turns are taken.
pub struct Turns<'a> {
    pub margins: &'a Margins,
    pub seed: u64,
    pub budget: Duration,
    /// The only benchmark that matters.
    pub only: Option<&'a str>,
}

impl Turns<'_> {
    /// Rounds until all benchmarks are decided or the budget is spent; false after an interruption.
    ///
    /// # Errors
    /// [`NotComparable`] when a side measures nothing, or both have no benchmark in common.
    pub fn take(
        &self,
        launcher: &Launcher<'_>,
        trees: [&WorkTree; 2],
        progress: &dyn Fn(Progress<'_>),
    ) -> Result<(Trial, bool)> {
        let start = Instant::now();
        let mut first = vec![];
        for tree in trees {
            let results = launcher.launch(tree, &[], &[])?;
            let failed = |why: anyhow::Error| {
                NotComparable(format!("{} measures nothing: {why:#}", tree.name))
            };
            first.push(results.map_err(failed)?);
        }
        let mut trial = Trial::new([&first[0], &first[1]], self.margins, self.seed);
        if let Some(only) = self.only {
            trial.leave_out_others(only);
        }
        let benchmarks = trial.open().len();
        if benchmarks == 0 {
            bail!(NotComparable(no_common(&first)));
        }
        let mut longest = Duration::ZERO;
        loop {
            let open = trial.open();
            let elapsed = start.elapsed();
            progress(Progress::Measuring {
                rounds: trial.rounds,
                decided: benchmarks - open.len(),
                benchmarks,
                elapsed,
                budget: self.budget,
            });
            if open.is_empty() || elapsed + longest > self.budget {
                return Ok((trial, true));
            }
            match round(launcher, trees, &mut trial, &open) {
                Ok(()) => {}
                Err(why) if matches!(why.downcast_ref(), Some(ExecError::Interrupted)) => {
                    return Ok((trial, false));
                }
                Err(why) => return Err(why),
            }
            longest = longest.max(start.elapsed().saturating_sub(elapsed));
        }
    }
}

fn round(
    launcher: &Launcher<'_>,
    trees: [&WorkTree; 2],
    trial: &mut Trial,
    open: &[String],
) -> Result<()> {
    let closed = trial.closed();
    // a filter before anything is decided may leave out what it does not name as expected
    let wanted = if closed.is_empty() { &[] } else { open };
    let mut results: [Vec<HarnessResult>; 2] = [vec![], vec![]];
    for side in trial.order() {
        // a launch that failed is a round without a value
        results[side] = launcher
            .launch(trees[side], wanted, &closed)?
            .unwrap_or_default();
    }
    trial.observe([&results[0], &results[1]]);
    Ok(())
}

fn no_common(first: &[Vec<HarnessResult>]) -> String {
    let names = |results: &[HarnessResult]| {
        let names: Vec<&str> = results.iter().map(|result| result.name.as_str()).collect();
        names.join(", ")
    };
    let [base, head] = [&first[0], &first[1]].map(|results| names(results));
    format!(
        "{} and {} have no benchmark in common ({base}; {head}): give --carry the files of the benchmarks",
        SIDES[0].as_str(),
        SIDES[1].as_str()
    )
}

/// A command that can be executed.
///
/// # Errors
/// When it is empty, or its program would be taken as an option of the shell.
pub fn check_command(command: &[String]) -> Result<()> {
    let program = command
        .first()
        .context("no command: give it after --, or as `command` in gritstone-pr.toml")?;
    ensure!(
        !program.starts_with('-') && !program.is_empty(),
        "'{program}' is not a program"
    );
    Ok(())
}
