//! Outcome of a gate over all benchmarks of a run.

use gritstone_model::{
    CheckOutcome, CheckRow, CheckView, CommonChange, CompareRow, Id, MissingBenchmark,
    SCHEMA_CHECK, Verdict,
};

/// Restricts a gate to some benchmarks; the outcome is theirs.
pub fn select_benchmarks(view: &mut CheckView, selects: impl Fn(&Id) -> bool) {
    view.rows.retain(|row| selects(&row.row.id));
    view.missing.retain(|benchmark| selects(&benchmark.id));
    view.outcome = overall_outcome(view);
}

/// Requires that each benchmark that passed would have failed if it were slower by `detect`.
pub fn require_detectable(view: &mut CheckView, detect: f64) {
    let undetectable = view
        .rows
        .iter_mut()
        .filter(|row| row.outcome == CheckOutcome::Passed && !is_detectable(&row.row, detect));
    undetectable.for_each(|row| row.outcome = CheckOutcome::Inconclusive);
    view.detect = Some(detect);
    sort(&mut view.rows);
    view.outcome = overall_outcome(view);
}

fn is_detectable(row: &CompareRow, detect: f64) -> bool {
    match (row.smallest, row.verdict) {
        // an interval that excludes the slowdown
        (_, Some(Verdict::Faster | Verdict::Same)) => true,
        (Some(smallest), _) => smallest <= detect,
        // exact sizes, and accepted levels, have no interval
        (None, _) => row.interval.is_none(),
    }
}

fn sort(rows: &mut [CheckRow]) {
    let ratio = |row: &CheckRow| row.row.ratio.unwrap_or(f64::INFINITY);
    rows.sort_by(|a, b| (b.outcome.cmp(&a.outcome)).then(ratio(a).total_cmp(&ratio(b))));
}

/// View of a gate: the worst outcome first, and of equal outcomes the slowest benchmark.
pub(super) fn worst_first(
    [base, run]: [&str; 2],
    mut rows: Vec<CheckRow>,
    missing: Vec<MissingBenchmark>,
    common: Option<CommonChange>,
    max_slowdown: f64,
) -> CheckView {
    sort(&mut rows);
    let mut view = CheckView {
        schema: SCHEMA_CHECK.to_owned(),
        base: base.to_owned(),
        run: run.to_owned(),
        max_slowdown,
        detect: None,
        differ_in: vec![],
        common,
        outcome: CheckOutcome::Inconclusive,
        rows,
        missing,
    };
    view.outcome = overall_outcome(&view);
    view
}

fn overall_outcome(view: &CheckView) -> CheckOutcome {
    let any = |outcome| view.rows.iter().any(|row| row.outcome == outcome);
    let is_undetectable = view.detect.is_some() && any(CheckOutcome::Inconclusive);
    match (any(CheckOutcome::Regressed), any(CheckOutcome::Passed)) {
        (true, _) => CheckOutcome::Regressed,
        (false, true) if view.missing.is_empty() && view.common.is_none() && !is_undetectable => {
            CheckOutcome::Passed
        }
        (false, _) => CheckOutcome::Inconclusive,
    }
}
