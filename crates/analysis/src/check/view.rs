//! What a gate says of a run as a whole.

use gritstone_model::{
    CheckOutcome, CheckRow, CheckView, CommonChange, Id, MissingBenchmark, SCHEMA_CHECK,
};

/// Shows some benchmarks of a gate over all of a run.
pub fn show(view: &mut CheckView, selects: impl Fn(&Id) -> bool) {
    view.rows.retain(|row| selects(&row.row.id));
    view.missing.retain(|benchmark| selects(&benchmark.id));
    view.outcome = worst(&view.rows, &view.missing, view.common);
}

/// View of a gate, the worst first; of equal ones the slowest.
pub(super) fn worst_first(
    [base, run]: [&str; 2],
    mut rows: Vec<CheckRow>,
    missing: Vec<MissingBenchmark>,
    common: Option<CommonChange>,
    max_slowdown: f64,
) -> CheckView {
    let ratio = |row: &CheckRow| row.row.ratio.unwrap_or(f64::INFINITY);
    rows.sort_by(|a, b| (b.outcome.cmp(&a.outcome)).then(ratio(a).total_cmp(&ratio(b))));
    CheckView {
        schema: SCHEMA_CHECK.to_owned(),
        base: base.to_owned(),
        run: run.to_owned(),
        max_slowdown,
        differ_in: vec![],
        common,
        outcome: worst(&rows, &missing, common),
        rows,
        missing,
    }
}

fn worst(
    rows: &[CheckRow],
    missing: &[MissingBenchmark],
    common: Option<CommonChange>,
) -> CheckOutcome {
    let any = |outcome| rows.iter().any(|row: &CheckRow| row.outcome == outcome);
    match (any(CheckOutcome::Regressed), any(CheckOutcome::Passed)) {
        (true, _) => CheckOutcome::Regressed,
        (false, true) if missing.is_empty() && common.is_none() => CheckOutcome::Passed,
        (false, _) => CheckOutcome::Inconclusive,
    }
}
