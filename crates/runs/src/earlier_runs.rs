//! Comparable earlier runs: variance between runs, and predictions of launches.

use crate::context::Context;
use crate::uncached::Uncached;
use anyhow::Result;
use gritstone_analysis::comparability::ComparisonKey;
use gritstone_analysis::compare;
use gritstone_analysis::run_effect::{self, RunEffects};
use gritstone_analysis::run_summary::RunSummary;
use gritstone_analysis::side::Side;
use gritstone_model::{CompareView, Id, RunData, RunInfo, RunView};
use gritstone_store::Store;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Earlier runs that predict the time and variance of launches.
const RUNS_LIKE: usize = 5;
/// Newest runs of a system that its levels are fitted to.
pub const MAX_RUNS: usize = 400;

impl Context {
    /// Compares two views, with the effects of runs that the stored runs of both machines show.
    pub fn compare(&self, base: &RunView, other: &RunView, margin: f64) -> CompareView {
        let all = base.results.iter().chain(&other.results);
        let all = all.map(|result| result.id.clone()).collect();
        self.compare_sides(&[base, other].map(Side::from), margin, all)
    }

    /// Compares a run with another for a gate at this level.
    pub fn compare_for_gate(
        &self,
        base: &RunView,
        run: &RunView,
        max_slowdown: f64,
        alpha: f64,
    ) -> CompareView {
        let effects = self.run_effects(&[base, run].map(Side::from));
        let options = compare::Options::new(max_slowdown, effects).for_gate(alpha);
        compare::compare(base, run, &options)
    }

    /// Shows some benchmarks of a comparison of all.
    pub fn compare_sides(
        &self,
        sides: &[Side; 2],
        margin: f64,
        selected: BTreeSet<Id>,
    ) -> CompareView {
        let [base, other] = sides.each_ref().map(|side| &*side.view);
        let effects = self.run_effects(sides);
        let options = compare::Options::new(margin, effects).showing(selected);
        compare::compare(base, other, &options)
    }

    /// The effects of runs that the stored runs of both machines show.
    pub(crate) fn run_effects(&self, sides: &[Side; 2]) -> RunEffects {
        let [base, other] = sides.each_ref().map(|side| &*side.view);
        let estimate = || run_effect::estimate_sides(&self.past(&[base, other]), sides);
        match &self.settled {
            Some(settled) => settled.effects([&base.id, &other.id], estimate),
            None => estimate(),
        }
    }

    /// Adds the variance between stored runs of the same system.
    pub fn with_run_variance(&self, mut view: RunView) -> RunView {
        run_effect::add_to(&self.past(&[&view]), &mut view);
        view
    }

    /// Stored runs of the systems of these views, including the views; none if a view is a printed system. An unreadable store or run is
    /// only a warning, since views may come from files.
    fn past(&self, views: &[&RunView]) -> Vec<Rc<RunSummary>> {
        if views.iter().any(|view| view.settings.is_none()) {
            return vec![];
        }
        self.earlier(views).unwrap_or_else(|error| {
            log::warn!("cannot read the variance between runs from the store: {error:#}");
            vec![]
        })
    }

    fn earlier(&self, views: &[&RunView]) -> Result<Vec<Rc<RunSummary>>> {
        let Some(store) = self.reader()? else {
            return Ok(vec![]);
        };
        let now = crate::clock::now();
        let mut ids: Vec<String> = vec![];
        for view in views {
            let like = ComparisonKey::new(&view.machine, view.settings.as_ref());
            let found = match &self.settled {
                Some(settled) => settled.runs(&store, &like, &view.started, MAX_RUNS)?,
                None => store.runs_of(&like.machine, &now, MAX_RUNS, &|info| like.covers(info))?,
            };
            // the views may be of one machine
            for id in found {
                if !ids.contains(&id) {
                    ids.push(id);
                }
            }
        }
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let read = |ids: &[&str]| -> Result<Vec<Option<Rc<RunSummary>>>> {
            let read = self.readable_summaries(&store, &Uncached::default(), ids)?.into_iter();
            Ok(read.map(|past| past.map(Rc::new)).collect())
        };
        match &self.settled {
            Some(settled) => settled.summaries(&ids, read),
            None => Ok(read(&ids)?.into_iter().flatten().collect()),
        }
    }

    /// One per run, `None` with a warning for an unreadable one.
    pub(crate) fn readable_summaries(
        &self,
        store: &Store,
        uncached: &Uncached,
        ids: &[&str],
    ) -> Result<Vec<Option<RunSummary>>> {
        let or_warning = |(id, past): (&&str, Result<RunSummary>)| {
            let untold = |why: &anyhow::Error| {
                log::warn!("run {id} does not count for the variance between runs: {why:#}");
            };
            past.inspect_err(untold).ok()
        };
        let read = self.stored_summaries(store, uncached, ids)?;
        Ok(ids.iter().zip(read).map(or_warning).collect())
    }

    /// The newest stored runs under the circumstances of this one, newest first, without unreadable ones.
    pub fn runs_like(&self, run: &RunInfo) -> Vec<RunData> {
        let like = ComparisonKey::new(&run.machine, Some(&run.settings));
        let wanted = |info: &RunInfo| info.id != run.id && like.covers(info);
        let Ok(Some(store)) = self.reader() else {
            return vec![];
        };
        let ids = store.runs_of(&like.machine, &run.started, RUNS_LIKE, &wanted);
        ids.unwrap_or_default().iter().filter_map(|id| store.load(id).ok()).collect()
    }
}
