//! Finds the commit that made a benchmark slower: each step compares a commit with the good one.

use crate::NotComparable;
use crate::compare::{Comparison, Place, Sides};
use crate::git::Revision;
use crate::search::Search;
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

/// Work trees of the whole search.
struct Trees {
    /// Built.
    good: WorkTree,
    /// Source of the carried files: the bad commit, not built.
    carried: Option<WorkTree>,
    /// Dropped last.
    place: Place,
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
        let (followed, steps) = self.steps.read()?;
        let trees = self.check_out_trees(&sides)?;
        let followed = match followed {
            Some(row) => row,
            None => {
                let row = self.follow(&trees, &sides.head)?;
                self.steps.add(&Record::Followed(Box::new(row.clone())))?;
                row
            }
        };
        let (search, steps) = self.search(&trees, &commits, &followed, steps)?;
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
        let tests = steps.iter().filter(tested).count() + usize::from(!followed.is_exact());
        Ok(BisectView {
            candidates,
            // each test is wrong in at most this share of cases
            error_rate: Some((tests as f64 * LEVEL).min(1.0)),
            shown_by,
            followed: Some(followed),
            steps,
            ..empty_view(self.comparison, &sides)
        })
    }

    /// The view of a search that cannot begin.
    ///
    /// # Errors
    /// When a revision is not known.
    pub fn unsearched(comparison: &Comparison, reason: &str) -> Result<BisectView> {
        let reason = Some(reason.to_owned());
        Ok(BisectView { reason, ..empty_view(comparison, &comparison.sides()?) })
    }

    /// Tests commits until one is left, beginning with the results of earlier steps. Forgets them at the end.
    fn search(
        &mut self,
        trees: &Trees,
        commits: &[String],
        followed: &PrRow,
        mut steps: Vec<BisectStep>,
    ) -> Result<(Search, Vec<BisectStep>)> {
        let mut search = Search::new(commits.len());
        let position = |commit: &str| commits.iter().position(|known| known == commit);
        for step in &steps {
            if let Some(index) = position(&step.commit) {
                search.mark(index, step.outcome);
            }
        }
        while let Some(index) = search.next() {
            let step = self.test(trees, &commits[index], followed)?;
            let outcome = step.outcome;
            let is_decided = outcome != BisectOutcome::Inconclusive;
            if is_decided {
                self.steps.add(&Record::Step(step.clone()))?;
            }
            steps.push(step);
            if !is_decided {
                break;
            }
            search.mark(index, outcome);
        }
        if search.next().is_none() {
            self.steps.remove()?;
        }
        Ok((search, steps))
    }

    fn check_out_trees(&self, sides: &Sides) -> Result<Trees> {
        let Comparison { repository, dir, budget, quantity, carry, .. } = self.comparison;
        let place = Place::new(dir.as_deref(), *budget, *quantity)?;
        // without the products of builds
        let carried = match carry.is_empty() {
            true => None,
            false => Some(place.workshop(repository).check_out("head", &sides.head)?),
        };
        let good = self.prepare(&place, "base", &sides.base, carried.as_ref())?;
        Ok(Trees { good, carried, place })
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

    /// Measures a revision against the good commit.
    fn trial(
        &self,
        trees: &Trees,
        revision: &Revision,
        margins: &Margins,
        only: Option<&str>,
    ) -> Result<Trial> {
        let tree = self.prepare(&trees.place, "head", revision, trees.carried.as_ref())?;
        let turns = Turns { margins, only, ..self.comparison.turns() };
        let launcher = self.comparison.launcher(&trees.place);
        let sides = [&trees.good, &tree].map(std::slice::from_ref);
        let measured = turns.measure(&launcher, sides, self.progress)?;
        ensure!(measured.complete, ExecError::Interrupted);
        Ok(measured.trial)
    }

    /// The benchmark with the largest regression of the bad commit.
    fn follow(&self, trees: &Trees, bad: &Revision) -> Result<PrRow> {
        let trial = self.trial(trees, bad, &self.comparison.margins, None)?;
        let rows = trial.rows(self.comparison.harness.name()).into_iter();
        let regressed = rows.filter(|row| row.regressed && row.ratio.is_some());
        let worst =
            regressed.min_by(|a, b| a.ratio.unwrap_or(1.0).total_cmp(&b.ratio.unwrap_or(1.0)));
        Ok(worst.ok_or_else(|| {
            let why = format!("'{}' is not slower than the good commit beyond its margin: there is nothing to search for", bad.name);
            NotComparable(why)
        })?)
    }

    fn test(&self, trees: &Trees, commit: &str, followed: &PrRow) -> Result<BisectStep> {
        let step = |outcome, row: Option<&PrRow>, reason: Option<String>| BisectStep {
            commit: commit.to_owned(),
            outcome,
            ratio: row.and_then(|row| row.ratio),
            interval: row.and_then(|row| row.interval),
            exact: row.is_some_and(PrRow::is_exact),
            reason,
        };
        let revision = Revision { name: commit.to_owned(), commit: commit.to_owned() };
        // half of the change, on either side of which a commit is good or bad
        let half = (1.0 / followed.ratio.unwrap_or(1.0)).sqrt() - 1.0;
        let margins = Margins { default: half, by_name: BTreeMap::new() };
        let measured =
            self.trial(trees, &revision, &margins, Some(&followed.name)).and_then(|trial| {
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

/// A view without a search.
fn empty_view(comparison: &Comparison, sides: &Sides) -> BisectView {
    let side = |revision: &Revision| PrSide::new(&revision.name, &revision.commit);
    BisectView {
        schema: SCHEMA_BISECT.to_owned(),
        good: side(&sides.base),
        bad: side(&sides.head),
        quantity: comparison.quantity,
        reason: None,
        followed: None,
        candidates: vec![],
        steps: vec![],
        error_rate: None,
        shown_by: None,
    }
}
