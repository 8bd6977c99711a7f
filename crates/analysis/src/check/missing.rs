//! Benchmarks that a run has no result of, although runs of the same selection measured them.

use super::MIN_BASE;
use super::accepted::Accepted;
use crate::comparability::Selection;
use crate::run_summary::RunSummary;
use gritstone_model::{CompareView, Flag, Id, Measurement, MissingBenchmark, RunView, Status};
use std::collections::BTreeMap;

/// Whether the benchmark failed, or its work check.
pub(super) fn is_broken(result: &Measurement) -> bool {
    let failed = matches!(result.outcome(), Status::Failed | Status::TimedOut);
    failed || result.is_flagged(Flag::Invalid)
}

/// Benchmarks that at least [`MIN_BASE`] earlier runs of the selection measured since its absence was accepted.
pub(super) fn from_history(
    run: &RunView,
    runs: &[&RunSummary],
    accepted: &Accepted,
) -> Vec<MissingBenchmark> {
    let selection = Selection::new(run.settings.as_ref());
    let mut accepted_at: BTreeMap<&Id, (&str, &str)> = BTreeMap::new();
    for (run, id) in &accepted.by_name {
        let absent = |past: &&&RunSummary| past.run == *run && !past.values.contains_key(id);
        if let Some(past) = runs.iter().find(absent) {
            let begun = accepted_at.entry(id).or_default();
            *begun = past.start_key().max(*begun);
        }
    }
    let mut measured: BTreeMap<&Id, usize> = BTreeMap::new();
    for past in runs.iter().filter(|past| past.selection == selection) {
        let is_counted =
            |id: &&Id| accepted_at.get(id).is_none_or(|begun| past.start_key() > *begun);
        for id in past.values.keys().filter(is_counted) {
            *measured.entry(id).or_default() += 1;
        }
    }
    measured.retain(|_, runs| *runs >= MIN_BASE);
    let missing = measured.into_iter();
    missing.filter_map(|(id, runs)| missing_in(run, id, runs)).collect()
}

/// Benchmarks of the base, if it has the same selection.
pub(super) fn from_base(
    view: &CompareView,
    base: &RunView,
    run: &RunView,
) -> Vec<MissingBenchmark> {
    let [run_selection, base_selection] =
        [run, base].map(|run| Selection::new(run.settings.as_ref()));
    let rows = view.rows.iter().filter(|_| run_selection == base_selection);
    rows.filter(|row| row.base.is_some()).filter_map(|row| missing_in(run, &row.id, 1)).collect()
}

fn missing_in(run: &RunView, id: &Id, runs: usize) -> Option<MissingBenchmark> {
    let result = run.get(id);
    let is_present = result.is_some_and(|result| result.estimate().is_some() || is_broken(result));
    (!is_present).then(|| MissingBenchmark {
        id: id.clone(),
        runs,
        notes: result.map_or(vec![], |result| result.notes_on_result().cloned().collect()),
    })
}
