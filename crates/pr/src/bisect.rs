//! Finds the commit that made a benchmark slower: each step compares a commit with the good one.

use crate::NotComparable;
use crate::compare::{Comparison, Place};
use crate::counts::AGREEMENT;
use crate::git::Revision;
use crate::search::{Mark, Search};
use crate::steps::{Record, StepFile};
use crate::trial::{Margins, Trial};
use crate::turns::{Progress, Turns};
use crate::work_trees::{WorkTree, carry};
use anyhow::{Result, anyhow, ensure};
use gritstone_exec::ExecError;
use gritstone_model::{
    BisectCommit, BisectOutcome, BisectStep, BisectView, PrRow, PrSide, SCHEMA_BISECT, Verdict,
};
use gritstone_stats::interim::LEVEL;
use std::collections::BTreeMap;

/// A search; the base of `comparison` is the good revision, its head the bad one.
pub struct Bisection<'a> {
    pub comparison: &'a Comparison,
    pub steps: StepFile,
    pub progress: &'a dyn Fn(Progress<'_>),
}

/// Work trees of the good commit.
struct Trees {
    /// Built.
    good: WorkTree,
    /// Source of the carried files: the bad commit, not built.
    carried: Option<WorkTree>,
}

impl Bisection<'_> {
    /// # Errors
    /// When a revision is not known, or the user interrupts; [`NotComparable`] when the bad commit is not slower than the good one.
    pub fn run(&mut self) -> Result<BisectView> {
        let sides = self.comparison.sides()?;
        let repository = &self.comparison.repository;
        let commits = repository.first_parents(&sides.base, &sides.head)?;
        ensure!(
            !commits.is_empty(),
            "'{}' and '{}' are the same commit",
            sides.base.name,
            sides.head.name
        );
        let (followed, mut steps) = self.steps.read()?;
        let place = Place::new(
            self.comparison.dir.as_deref(),
            self.comparison.budget,
            self.comparison.quantity,
        )?;
        // without the products of builds
        let carried = match self.comparison.carry.is_empty() {
            true => None,
            false => Some(place.workshop(repository).check_out("head", &sides.head)?),
        };
        let good = self.prepare(&place, "base", &sides.base, carried.as_ref())?;
        let trees = Trees { good, carried };
        let followed = match followed {
            Some(row) => row,
            None => {
                let row = self.follow(&place, &trees, &sides.head)?;
                self.steps.add(&Record::Followed(Box::new(row.clone())))?;
                row
            }
        };
        let mut search = Search::new(commits.len());
        let position = |commit: &str| commits.iter().position(|known| known == commit);
        for step in &steps {
            if let (Some(index), Some(mark)) = (position(&step.commit), mark(step.outcome)) {
                search.mark(index, mark);
            }
        }
        while let Some(index) = search.next() {
            let step = self.test(&place, &trees, &commits[index], &followed)?;
            let mark = mark(step.outcome);
            if mark.is_some() {
                self.steps.add(&Record::Step(step.clone()))?;
            }
            steps.push(step);
            match mark {
                Some(mark) => search.mark(index, mark),
                None => break,
            }
        }
        if search.next().is_none() {
            self.steps.remove()?;
        }
        let side = |revision: &Revision| PrSide::new(&revision.name, &revision.commit);
        let candidates = search.candidates().map(|index| {
            Ok(BisectCommit {
                subject: repository.subject(&commits[index])?,
                commit: commits[index].clone(),
            })
        });
        let candidates: Vec<BisectCommit> = candidates.collect::<Result<_>>()?;
        let shown_by = match candidates.as_slice() {
            // `pr` carries files from the head, which may lack them
            [one] if self.comparison.carry.is_empty() => {
                Some(self.comparison.command_line(&one.commit)?)
            }
            _ => None,
        };
        let tested = |step: &&BisectStep| step.ratio.is_some() && !step.exact;
        let tests = steps.iter().filter(tested).count() + usize::from(!is_exact(&followed));
        Ok(BisectView {
            schema: SCHEMA_BISECT.to_owned(),
            good: side(&sides.base),
            bad: side(&sides.head),
            candidates,
            // each test is wrong in at most this share of cases
            error_rate: Some((tests as f64 * LEVEL).min(1.0)),
            quantity: self.comparison.quantity,
            reason: None,
            shown_by,
            followed: Some(followed),
            steps,
        })
    }

    /// The view of a search that cannot begin.
    ///
    /// # Errors
    /// When a revision is not known.
    pub fn unsearched(comparison: &Comparison, reason: &str) -> Result<BisectView> {
        let sides = comparison.sides()?;
        let side = |revision: &Revision| PrSide::new(&revision.name, &revision.commit);
        Ok(BisectView {
            schema: SCHEMA_BISECT.to_owned(),
            good: side(&sides.base),
            bad: side(&sides.head),
            quantity: comparison.quantity,
            reason: Some(reason.to_owned()),
            followed: None,
            candidates: vec![],
            steps: vec![],
            error_rate: None,
            shown_by: None,
        })
    }

    /// Checks out a revision with the carried files, and builds it.
    fn prepare(
        &self,
        place: &Place,
        name: &'static str,
        revision: &Revision,
        carried: Option<&WorkTree>,
    ) -> Result<WorkTree> {
        let workshop = place.workshop(&self.comparison.repository);
        let tree = workshop.check_out(name, revision)?;
        if let Some(carried) = carried {
            for path in &self.comparison.carry {
                carry(carried, &tree, path)?;
            }
        }
        if let Some(build) = &self.comparison.build {
            (self.progress)(Progress::Building(&revision.commit));
            workshop.build(&tree, build, BTreeMap::new())?;
        }
        Ok(tree)
    }

    fn trial(
        &self,
        place: &Place,
        trees: [&WorkTree; 2],
        margins: &Margins,
        only: Option<&str>,
    ) -> Result<Trial> {
        let turns = Turns { margins, only, ..self.comparison.turns() };
        let launcher = self.comparison.launcher(place);
        let measured = turns.measure(&launcher, trees.map(std::slice::from_ref), self.progress)?;
        ensure!(measured.complete, ExecError::Interrupted);
        Ok(measured.trial)
    }

    /// The benchmark with the largest regression of the bad commit.
    fn follow(&self, place: &Place, trees: &Trees, bad: &Revision) -> Result<PrRow> {
        let bad_tree = self.prepare(place, "head", bad, trees.carried.as_ref())?;
        let trial = self.trial(place, [&trees.good, &bad_tree], &self.comparison.margins, None)?;
        let rows = trial.rows(self.comparison.harness.name()).into_iter();
        let regressed = rows.filter(|row| row.regressed && row.ratio.is_some());
        let worst =
            regressed.min_by(|a, b| a.ratio.unwrap_or(1.0).total_cmp(&b.ratio.unwrap_or(1.0)));
        Ok(worst.ok_or_else(|| {
            let why = format!("'{}' is not slower than the good commit beyond its margin: there is nothing to search for", bad.name);
            NotComparable(why)
        })?)
    }

    fn test(
        &self,
        place: &Place,
        trees: &Trees,
        commit: &str,
        followed: &PrRow,
    ) -> Result<BisectStep> {
        let step = |outcome, row: Option<&PrRow>, reason: Option<String>| BisectStep {
            commit: commit.to_owned(),
            outcome,
            ratio: row.and_then(|row| row.ratio),
            interval: row.and_then(|row| row.interval),
            exact: row.is_some_and(is_exact),
            reason,
        };
        let revision = Revision { name: commit.to_owned(), commit: commit.to_owned() };
        // half of the change, on either side of which a commit is good or bad
        let half = (1.0 / followed.ratio.unwrap_or(1.0)).sqrt() - 1.0;
        let margins = Margins { default: half, by_name: BTreeMap::new() };
        let measured =
            self.prepare(place, "head", &revision, trees.carried.as_ref()).and_then(|tree| {
                let trial =
                    self.trial(place, [&trees.good, &tree], &margins, Some(&followed.name))?;
                let mut rows = trial.rows(self.comparison.harness.name()).into_iter();
                let row = rows.find(|row| row.name == followed.name && row.pairs > 0);
                row.ok_or_else(|| {
                    anyhow!(NotComparable(format!("it does not measure {}", followed.name)))
                })
            });
        let row = match measured {
            Ok(row) => row,
            Err(why) if why.is::<NotComparable>() => {
                return Ok(step(BisectOutcome::Skipped, None, Some(format!("{why:#}"))));
            }
            Err(why) => return Err(why),
        };
        let outcome = match row.verdict {
            Verdict::Inconclusive => BisectOutcome::Inconclusive,
            Verdict::Slower if row.ratio.is_some_and(|ratio| ratio < 1.0 / (1.0 + half)) => {
                BisectOutcome::Bad
            }
            _ => BisectOutcome::Good,
        };
        Ok(step(outcome, Some(&row), None))
    }
}

/// Whether counts decided the benchmark, without a test.
fn is_exact(row: &PrRow) -> bool {
    row.spread.is_some_and(|spread| spread <= AGREEMENT)
}

fn mark(outcome: BisectOutcome) -> Option<Mark> {
    match outcome {
        BisectOutcome::Good => Some(Mark::Good),
        BisectOutcome::Bad => Some(Mark::Bad),
        BisectOutcome::Skipped => Some(Mark::Skipped),
        BisectOutcome::Inconclusive => None,
    }
}
