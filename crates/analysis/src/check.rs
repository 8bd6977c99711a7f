//! A gate: passed, failed or inconclusive.
//!
//! Against its history, a run fails on an unaccepted change for the worse that it belongs to, whichever run began it, and where the newest
//! runs are slower than their level. Without evidence of a slowdown it passes, with the minimum detectable slowdown. It is inconclusive
//! while a benchmark is missing. Levels are fitted afresh from all runs ([`crate::levels`]).

mod accepted;
mod missing;
mod standing;
mod view;

pub use accepted::{Accepted, ExpectedChange};
pub use view::{require_detectable, select_benchmarks};

use crate::compare::{ratio, uncompared};
use crate::levels::{self, Role};
use crate::run_summary::RunSummary;
use gritstone_model::{
    Better, CheckOutcome, CheckRow, CheckView, CompareRow, CompareView, Finding, Flag, Id, Kind,
    Measurement, RowVariance, RunView,
};
use gritstone_stats::{multiple, quantile};
use missing::is_broken;
use standing::{ALPHA, Gate, LEVELS, NEWEST, Standing};
use std::collections::{BTreeMap, BTreeSet};
use view::worst_first;

pub(crate) use standing::MIN_BASE;

/// Largest slowdown that is stated as detectable.
const MAX_DETECTABLE: f64 = 10.0;
/// Power at the minimum detectable slowdown.
const POWER: f64 = 0.9;

/// Tests the comparison of a run with another against the allowed slowdown, with p adjusted by Holm. Results that only the run has, or
/// that neither side has, are ignored.
pub fn check(
    view: &CompareView,
    [base, run]: [&RunView; 2],
    max_slowdown: f64,
    alpha: f64,
) -> CheckView {
    let missing = missing::from_base(view, base, run);
    let is_missing = |row: &CompareRow| missing.iter().any(|benchmark| benchmark.id == row.id);
    let is_tested =
        |row: &&CompareRow| row.base.is_some() && !base.get(&row.id).is_some_and(is_score);
    let rows = view.rows.iter().filter(is_tested);
    let rows = rows.filter(|row| !is_missing(row));
    let mut rows: Vec<CompareRow> = rows.cloned().collect();
    let p: Vec<Option<f64>> = rows.iter().map(|row| row.p).collect();
    for (row, p) in rows.iter_mut().zip(multiple::holm(&p)) {
        row.p_adjusted = p;
    }
    // either the program or the machine is slower
    let allowed = 1.0 / (1.0 + max_slowdown);
    let all_slower = view.common.as_ref().is_some_and(|change| change.ratio < allowed);
    let is_elsewhere = base.machine.id != run.machine.id;
    // on one machine a row that fails is slower than the common change explains; sizes are those of the program on any machine
    let is_explained = |row: &CompareRow, outcome: CheckOutcome| {
        let is_slower = row.ratio.is_some_and(|ratio| ratio < allowed) && row.unit != "bytes";
        all_slower && is_slower && (is_elsewhere || outcome == CheckOutcome::Passed)
    };
    let judged = |row: CompareRow| {
        let outcome = match run.get(&row.id).is_some_and(is_broken) {
            true => CheckOutcome::Regressed,
            false => match outcome(&row, max_slowdown, alpha) {
                outcome if is_explained(&row, outcome) => CheckOutcome::Inconclusive,
                outcome => outcome,
            },
        };
        CheckRow::new(outcome, row)
    };
    let rows = rows.into_iter().map(judged).collect();
    let common = view.common.filter(|_| all_slower);
    CheckView {
        differ_in: view.differ_in.clone(),
        ..worst_first([&view.base_name, &view.other], rows, missing, common, max_slowdown)
    }
}

/// The results that a score combines are tested one by one.
fn is_score(result: &Measurement) -> bool {
    result.kind == Kind::Score
}

/// A ratio above 1 means that the run is better. Sizes are exact; of other results, a slowdown beyond the allowed one takes an interval
/// that excludes none and a p that holds among all benchmarks.
fn outcome(row: &CompareRow, max_slowdown: f64, alpha: f64) -> CheckOutcome {
    let allowed = 1.0 / (1.0 + max_slowdown);
    let mut notes = row.notes.iter();
    let disturbed = notes.any(|note| note.flag() == Some(Flag::Interference));
    let slower = row.ratio.is_some_and(|ratio| ratio < allowed);
    match row.interval {
        None if row.unit == "bytes" && row.ratio.is_some() => match slower {
            true => CheckOutcome::Regressed,
            false => CheckOutcome::Passed,
        },
        Some(_) if disturbed => CheckOutcome::Inconclusive,
        Some([_, high]) => {
            let sure = high < 1.0 && row.p_adjusted.is_some_and(|p| p < alpha);
            match slower && sure {
                true => CheckOutcome::Regressed,
                false => CheckOutcome::Passed,
            }
        }
        None => CheckOutcome::Inconclusive,
    }
}

/// Tests a run against the runs of the system before it, in any order.
pub fn against_history(
    run: &RunView,
    earlier: &[RunSummary],
    max_slowdown: f64,
    accepted: &Accepted,
) -> CheckView {
    let newest = RunSummary::new(run);
    let earlier: Vec<&RunSummary> =
        earlier.iter().filter(|run| run.start_key() < newest.start_key()).collect();
    let runs: Vec<&RunSummary> = earlier.iter().copied().chain([&newest]).collect();
    let begun = begun_in_common(&runs, &newest);
    // the scatter of the runs before each group
    let fitted = |newest: usize| {
        let judged: BTreeSet<&str> = begun.iter().rev().take(newest).map(|(_, run)| *run).collect();
        let role = |run: &str| match judged.contains(run) {
            true => Role::Judged,
            false => Role::Earlier,
        };
        levels::fit(&runs, &role, &|run| Some(&run.values))
    };
    let systems = NEWEST.map(fitted);
    let gate = Gate {
        runs: &runs,
        systems: &systems,
        system: &systems[LEVELS],
        accepted,
        allowed: max_slowdown.ln_1p(),
    };
    let standings: BTreeMap<&Id, Standing> = run
        .results
        .iter()
        .filter_map(|result| Some((&result.id, gate.standing(&result.id)?)))
        .collect();
    let p: Vec<Option<f64>> = standings.values().map(|standing| Some(standing.p)).collect();
    let adjusted: BTreeMap<&Id, f64> =
        standings.keys().zip(multiple::holm(&p)).filter_map(|(id, p)| Some((*id, p?))).collect();
    // Holm's level of the last p that is small enough
    let selected = adjusted.values().filter(|p| **p < ALPHA).count();
    let of_family = ALPHA / (adjusted.len().max(1) + 1 - selected.max(1)) as f64;
    let known = |id: &Id| earlier.iter().any(|past| past.values.contains_key(id));
    let missing = missing::from_history(run, &runs, accepted);
    let is_missing = |id: &Id| missing.iter().any(|benchmark| benchmark.id == *id);
    let absence_is_accepted = |id: &Id| {
        let mut without = runs.iter().filter(|past| !past.values.contains_key(id));
        without.any(|past| accepted.by_name.contains(&(past.run.clone(), id.clone())))
    };
    let rows = run.results.iter().filter(|result| {
        let id = &result.id;
        let is_judged = is_broken(result) || !is_missing(id) && !absence_is_accepted(id);
        !is_score(result) && (result.estimate().is_some() || known(id) && is_judged)
    });
    let rows = rows.map(|result| {
        let standing = standings.get(&result.id);
        let p = adjusted.get(&result.id).copied().unwrap_or(1.0);
        gate.row(result, standing, p, standings.len(), of_family)
    });
    let sides = ["its history", run.id.as_str()];
    worst_first(sides, rows.collect(), missing, None, max_slowdown)
}

/// Starts of the runs that share a benchmark with the newest: only these form groups.
fn begun_in_common<'a>(runs: &[&'a RunSummary], newest: &RunSummary) -> Vec<(&'a str, &'a str)> {
    let in_common = |past: &&&RunSummary| {
        let mut ids = past.values.keys();
        past.run == newest.run || ids.any(|id| newest.values.contains_key(id))
    };
    let mut begun: Vec<_> = runs.iter().filter(in_common).map(|run| run.start_key()).collect();
    begun.sort_unstable();
    begun
}

impl<'a> Gate<'a> {
    fn row(
        &self,
        result: &Measurement,
        standing: Option<&Standing>,
        p: f64,
        tests: usize,
        of_family: f64,
    ) -> CheckRow {
        let mut row = uncompared(result);
        let accepted = self.is_accepted(self.runs.len() - 1, &result.id);
        if accepted {
            row.notes.push(Finding::Accepted {}.into());
        }
        let Some(standing) = standing else {
            return self.row_without_base(result, row, accepted);
        };
        let regressed = standing.by < -self.allowed && (standing.is_level || p < ALPHA);
        let sign = if result.better == Better::Higher { 1.0 } else { -1.0 };
        let half =
            |level: f64| quantile::student(1.0 - 2.0 * level, standing.freedom) * standing.error;
        // one that excludes no change has the level that decides
        let half = match half(0.025) < standing.by.abs() && !standing.is_level {
            true => half(of_family / standing.groups as f64),
            false => half(0.025),
        };
        row.base = Some((sign * standing.base.mean).exp());
        row.other = Some((sign * (standing.base.mean + standing.by)).exp());
        row.ratio = Some(standing.by.exp());
        row.interval = Some([-half, half].map(|half| (standing.by + half).exp()));
        (row.p, row.p_adjusted) = (Some(standing.p), Some(p));
        row.smallest = self.detectable(standing, tests, regressed);
        row.between_run = Some(RowVariance {
            estimate: standing.noise.effect_variance().sqrt(),
            runs: standing.runs,
        });
        let outcome = if regressed { CheckOutcome::Regressed } else { CheckOutcome::Passed };
        let since = regressed.then(|| &self.runs[standing.since]);
        CheckRow {
            since: since.map(|since| since.started.clone()),
            since_run: since.map(|since| since.run.clone()),
            ..CheckRow::new(outcome, row)
        }
    }

    /// Minimum detectable slowdown of the newest run alone, as a share; none beyond [`MAX_DETECTABLE`]. A slowdown that passes was not
    /// detectable.
    fn detectable(&self, standing: &Standing, tests: usize, regressed: bool) -> Option<f64> {
        let level = ALPHA / (tests.max(1) * standing.groups) as f64;
        let freedom = standing.noise.variance.df.min(self.system.tails);
        let needed = quantile::student(1.0 - 2.0 * level, freedom) * standing.newest_error;
        let surely = quantile::normal(2.0 * POWER - 1.0) * standing.newest_error;
        let passed = if regressed { 0.0 } else { -standing.by };
        let smallest = (needed.max(self.allowed) + surely).max(passed).exp_m1();
        Some(smallest).filter(|smallest| *smallest <= MAX_DETECTABLE)
    }

    /// A size is compared with the smallest since one was accepted.
    fn row_without_base(
        &self,
        result: &Measurement,
        mut row: CompareRow,
        accepted: bool,
    ) -> CheckRow {
        let sizes = self.sizes(result);
        let base = sizes.iter().map(|(_, size)| *size).min_by(f64::total_cmp);
        let change = |size: f64| base.map(|base| ratio(base, size, result.better));
        let grew = |size: f64| change(size).is_some_and(|ratio| ratio.ln() < -self.allowed);
        row.base = base;
        row.ratio = result.value().and_then(change);
        let fit = result.value().is_some_and(|value| value > 0.0) && base.is_none();
        if fit && !accepted && row.notes.iter().all(|note| note.flag().is_none()) {
            row.notes.push(self.why_no_base(&result.id).into());
        }
        let outcome = match (is_broken(result), row.ratio) {
            (true, _) => CheckOutcome::Regressed,
            _ if accepted => CheckOutcome::Passed,
            _ if result.value().is_some_and(grew) => CheckOutcome::Regressed,
            (_, Some(_)) => CheckOutcome::Passed,
            (_, None) => CheckOutcome::Inconclusive,
        };
        let is_larger = |(_, size): &&(&RunSummary, f64)| grew(*size);
        let larger = sizes.iter().rev().take_while(is_larger).last().map(|(run, _)| *run);
        let since = larger.or(self.runs.last().copied());
        let since = since.filter(|_| base.is_some() && outcome == CheckOutcome::Regressed);
        CheckRow {
            since: since.map(|run| run.started.clone()),
            since_run: since.map(|run| run.run.clone()),
            ..CheckRow::new(outcome, row)
        }
    }

    /// Sizes of the version in earlier runs, oldest first, since one was accepted.
    fn sizes(&self, result: &Measurement) -> Vec<(&RunSummary, f64)> {
        let Some((newest, earlier)) = self.runs.split_last() else { return vec![] };
        let version = newest.sizes.get(&result.id).map(|(version, _)| version);
        let size = |past: &&'a RunSummary| {
            let (of_past, size) = past.sizes.get(&result.id)?;
            (Some(of_past) == version).then_some((*past, *size))
        };
        let mut sizes: Vec<_> = earlier.iter().filter_map(size).collect();
        sizes.sort_by_key(|(past, _)| past.start_key());
        let is_accepted = |(past, _): &(&RunSummary, f64)| {
            self.accepted.by_name.contains(&(past.run.clone(), result.id.clone()))
        };
        sizes.split_off(sizes.iter().rposition(is_accepted).unwrap_or(0))
    }

    fn why_no_base(&self, id: &Id) -> Finding {
        let series = self.system.series.get(id);
        let base =
            series.map_or(0, |series| series.points.len() - 1 - self.first_accepted(id, series));
        match base {
            0 => Finding::NoHistory {},
            runs => Finding::ShortHistory { runs, needed: MIN_BASE },
        }
    }
}
