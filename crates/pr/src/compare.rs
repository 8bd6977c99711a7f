//! Base and head: found, checked out, built, and measured in turns.

use crate::git::{Repository, Revision};
use crate::identical::are_identical;
use crate::launches::{Launched, Launcher, Request};
use crate::trial::{Margins, Trial, outcome};
use crate::work_trees::{WorkTree, Workshop, carry};
use crate::{NotComparable, SIDES};
use anyhow::{Context as _, Result, bail, ensure};
use gritstone_exchange::harness::{Harness, HarnessResult};
use gritstone_exchange::trial_side;
use gritstone_exec::{ExecError, Journal, Setup};
use gritstone_model::{CheckOutcome, Plan, PrSide, PrView, RunData, RunInfo, SCHEMA_PR};
use gritstone_session::host_context::HostContext;
use gritstone_session::{signals, trial, undo};
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
    /// Measuring time of one benchmark in one launch; none: so long that the rounds suffice.
    pub harness_time: Option<Duration>,
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
            time: self.harness_time,
            only: None,
        }
    }

    /// # Errors
    /// When a revision is not known; [`NotComparable`] when a side does not build or measures nothing.
    pub fn run(&self, progress: &dyn Fn(Progress<'_>)) -> Result<Answer> {
        let sides = self.sides()?;
        let view = self.view(&sides);
        if sides.base.commit == sides.head.commit && sides.modified.is_empty() {
            return Ok(Answer::identical(view));
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
            return Ok(Answer::identical(view));
        }
        self.measure(&place, [&base, &head], view, progress)
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
            command: self.command.clone(),
            max_slowdown: self.margins.default,
            level: LEVEL,
            rounds: 0,
            harness_time_s: 0.0,
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
        place: &Place,
        trees: [&WorkTree; 2],
        view: PrView,
        progress: &dyn Fn(Progress<'_>),
    ) -> Result<Answer> {
        let launcher = self.launcher(place);
        let infos = self.run_infos(place, [&view.base, &view.head]);
        let taken = self.turns().take(&launcher, trees, progress)?;
        let elapsed_s = taken.begun.elapsed().as_secs_f64();
        let mut runs = vec![];
        for (side, info) in infos.into_iter().enumerate() {
            let info = RunInfo {
                elapsed_s: taken.whole.then_some(elapsed_s),
                ..info
            };
            let rows = taken.trial.side(side);
            let title = self.harness.title();
            runs.push(trial_side(title, info, &rows, &taken.starts[side])?);
        }
        let trial = &taken.trial;
        let rows = trial.rows(self.harness.name());
        let mut view = view;
        [view.base.failure, view.head.failure] = taken.failures;
        let view = PrView {
            outcome: match outcome(&rows, &trial.unmatched) {
                CheckOutcome::Passed if taken.head_fails => CheckOutcome::Inconclusive,
                outcome => outcome,
            },
            harness_time_s: taken.time.as_secs_f64(),
            rounds: trial.rounds,
            elapsed_s,
            rows,
            unmatched: trial.unmatched.clone(),
            ..view
        };
        Ok(Answer {
            view,
            whole: taken.whole,
            runs,
        })
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

/// How turns are taken.
pub struct Turns<'a> {
    pub margins: &'a Margins,
    pub seed: u64,
    pub budget: Duration,
    /// Measuring time of one benchmark; none: by [`measuring_time`].
    pub time: Option<Duration>,
    /// The only benchmark that matters.
    pub only: Option<&'a str>,
}

/// What turns left.
pub struct Taken {
    pub trial: Trial,
    /// Not interrupted.
    pub whole: bool,
    /// How the harness failed first, of each side.
    pub failures: [Option<String>; 2],
    /// Whether the harness failed for the head alone before any round.
    pub head_fails: bool,
    /// Measuring time of one benchmark in one launch.
    pub time: Duration,
    /// When each side's launch of each round began, ns since the start.
    pub starts: [Vec<u64>; 2],
    begun: Instant,
}

/// What a comparison says.
pub struct Answer {
    pub view: PrView,
    /// Not interrupted by the user.
    pub whole: bool,
    /// One a side, to be stored; none where nothing was measured.
    pub runs: Vec<RunData>,
}

impl Answer {
    fn identical(view: PrView) -> Self {
        Self {
            view: PrView {
                identical: true,
                outcome: CheckOutcome::Passed,
                ..view
            },
            whole: true,
            runs: vec![],
        }
    }
}

/// Shortest measuring time of a benchmark, at which benchmarks are discovered.
const SHORTEST: Duration = Duration::from_millis(10);
/// Longest, unless the user wants more.
const LONGEST: Duration = Duration::from_millis(50);
/// Rounds for which there should be time: enough to find a change of a few percent among twenty benchmarks.
const ROUNDS: u32 = 90;
/// Time of a benchmark in a launch, with warming up, as a multiple of its measuring time.
const WITH_WARM_UP: u32 = 2;

/// Measuring time of one benchmark, so that there is time for [`ROUNDS`], of which none is shorter than with [`SHORTEST`].
fn measuring_time(budget: Duration, shortest_launch: Duration, benchmarks: usize) -> Duration {
    let launch = budget / (2 * ROUNDS);
    let benchmarks = u32::try_from(benchmarks).unwrap_or(u32::MAX).max(1);
    let spare = launch.saturating_sub(shortest_launch) / benchmarks / WITH_WARM_UP;
    (SHORTEST + spare).min(LONGEST)
}

impl Turns<'_> {
    /// Rounds until all benchmarks are decided or the budget is spent.
    ///
    /// # Errors
    /// [`NotComparable`] when a side measures nothing, or both have no benchmark in common.
    pub fn take(
        &self,
        launcher: &Launcher<'_>,
        trees: [&WorkTree; 2],
        progress: &dyn Fn(Progress<'_>),
    ) -> Result<Taken> {
        let start = Instant::now();
        let first = discover(launcher, trees, self.time.unwrap_or(SHORTEST))?;
        let mut trial = Trial::new(
            [&first[0].results.measured, &first[1].results.measured],
            self.margins,
            self.seed,
        );
        for one in &mut trial.unmatched {
            one.why = first[usize::from(one.only == SIDES[0])].reason(&one.name);
        }
        if let Some(only) = self.only {
            trial.leave_out_others(only);
        }
        let benchmarks = trial.open().len();
        if benchmarks == 0 {
            bail!(NotComparable(no_common(&first)));
        }
        let time = self.time.unwrap_or_else(|| {
            let left = self.budget.saturating_sub(start.elapsed());
            measuring_time(left, start.elapsed() / 2, benchmarks)
        });
        let failures = first.map(|launched| launched.failure);
        let mut taken = Taken {
            head_fails: failures[0].is_none() && failures[1].is_some(),
            whole: true,
            trial,
            failures,
            time,
            starts: [vec![], vec![]],
            begun: start,
        };
        let mut expected = Duration::ZERO;
        loop {
            let trial = &taken.trial;
            let open = trial.open();
            let elapsed = start.elapsed();
            progress(Progress::Measuring {
                rounds: trial.rounds,
                decided: benchmarks - open.len(),
                benchmarks,
                elapsed,
                budget: self.budget,
            });
            if open.is_empty() || elapsed + expected > self.budget {
                return Ok(taken);
            }
            match round(launcher, trees, &mut taken, &open) {
                Ok(()) => {}
                Err(why) if matches!(why.downcast_ref(), Some(ExecError::Interrupted)) => {
                    taken.whole = false;
                    return Ok(taken);
                }
                Err(why) => return Err(why),
            }
            // rounds become shorter as benchmarks are decided
            expected = start
                .elapsed()
                .saturating_sub(elapsed)
                .max(expected * 3 / 4);
        }
    }
}

/// All benchmarks of both sides.
fn discover(
    launcher: &Launcher<'_>,
    trees: [&WorkTree; 2],
    time: Duration,
) -> Result<[Launched; 2]> {
    let request = Request {
        time,
        wanted: &[],
        unwanted: &[],
    };
    let one = |tree: &WorkTree| {
        let why = |why| NotComparable(format!("{} measures nothing: {why:#}", tree.name));
        anyhow::Ok(launcher.launch(tree, request)?.map_err(why)?)
    };
    Ok([one(trees[0])?, one(trees[1])?])
}

fn round(
    launcher: &Launcher<'_>,
    trees: [&WorkTree; 2],
    taken: &mut Taken,
    open: &[String],
) -> Result<()> {
    let closed = taken.trial.closed();
    let request = Request {
        time: taken.time,
        // a filter before anything is decided may leave out what it does not name as expected
        wanted: if closed.is_empty() { &[] } else { open },
        unwanted: &closed,
    };
    let mut results: [Vec<HarnessResult>; 2] = [vec![], vec![]];
    for side in taken.trial.order() {
        let start = u64::try_from(taken.begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        taken.starts[side].push(start);
        // a launch without results is a round without a value
        let failure = match launcher.launch(trees[side], request)? {
            Ok(launched) => {
                results[side] = launched.results.measured;
                launched.failure
            }
            Err(why) => Some(format!("{why:#}")),
        };
        let known = &mut taken.failures[side];
        *known = known.take().or(failure);
    }
    taken.trial.observe([&results[0], &results[1]]);
    Ok(())
}

fn no_common(first: &[Launched; 2]) -> String {
    let [base, head] = first.each_ref().map(|launched| {
        let names = launched
            .results
            .measured
            .iter()
            .map(|result| result.name.as_str());
        names.collect::<Vec<_>>().join(", ")
    });
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measuring_times_leave_enough_rounds() {
        let ms = Duration::from_millis;
        let budget = Duration::from_secs(300);
        assert_eq!(measuring_time(budget, ms(100), 1), LONGEST);
        assert_eq!(measuring_time(budget, Duration::from_secs(4), 20), SHORTEST);
        let between = measuring_time(budget, ms(600), 20);
        assert!((SHORTEST..LONGEST).contains(&between), "{between:?}");
        assert!(
            (ms(600) + between.saturating_sub(SHORTEST) * 20 * WITH_WARM_UP) * 2 * ROUNDS <= budget
        );
    }
}
