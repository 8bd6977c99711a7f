//! A gate: passed, failed or inconclusive.

pub use crate::gate::Accepted;
use crate::gate::{self, Judged};
use crate::run_variance::Past;
use gritstone_model::{
    Better, CheckOutcome, CheckRow, CheckView, CompareRow, CompareView, Finding, Flag, Id,
    Measurement, RunView, SCHEMA_CHECK, Subject,
};
use gritstone_stats::multiple;

/// Tests a comparison against the allowed slowdown, with p adjusted by Holm. Results that only the run has, or that
/// neither side has, are ignored; a result that only the base has is inconclusive.
#[must_use]
pub fn check(view: &CompareView, max_slowdown: f64, alpha: f64) -> CheckView {
    let rows = view.rows.iter().filter(|row| row.base.is_some());
    let mut rows: Vec<CompareRow> = rows.cloned().collect();
    let p: Vec<Option<f64>> = rows.iter().map(|row| row.p).collect();
    for (row, p) in rows.iter_mut().zip(multiple::holm(&p)) {
        row.p_adjusted = p;
    }
    let judged = |row: CompareRow| CheckRow {
        outcome: outcome(&row, max_slowdown, alpha),
        since: None,
        row,
    };
    let rows = rows.into_iter().map(judged).collect();
    CheckView {
        differ_in: view.differ_in.clone(),
        ..worst_first(&view.base_name, &view.other, rows, max_slowdown)
    }
}

/// Tests a run against earlier comparable runs, oldest first: [`gate::replay`].
#[must_use]
pub fn against_history(
    run: &RunView,
    earlier: &[Past],
    max_slowdown: f64,
    accepted: &Accepted,
) -> CheckView {
    let judged = gate::replay(earlier, run, max_slowdown, accepted);
    let known = |id: &Id| earlier.iter().any(|past| past.values.contains_key(id));
    let results = run.results.iter();
    let results = results.filter(|result| result.estimate().is_some() || known(&result.id));
    let rows = results.map(|result| check_row(result, judged.get(&result.id)));
    worst_first("its history", &run.id, rows.collect(), max_slowdown)
}

fn check_row(result: &Measurement, judged: Option<&Judged>) -> CheckRow {
    let paced = judged.is_some_and(|judged| judged.paced);
    let compared = if paced {
        Subject::Cycles
    } else {
        Subject::Estimate
    };
    let mut row = unpredicted(result, compared);
    let Some(judged) = judged else {
        let has_value = result.value().is_some_and(|value| value > 0.0);
        if has_value && row.notes.iter().all(|note| note.flag().is_none()) {
            row.notes.push(Finding::NoHistory {}.into());
        }
        return CheckRow {
            outcome: CheckOutcome::Inconclusive,
            since: None,
            row,
        };
    };
    match &judged.held {
        Some(held) => {
            let sign: f64 = if !paced && result.better == Better::Higher {
                1.0
            } else {
                -1.0
            };
            row.base = Some((sign * held.expected).exp());
            row.ratio = Some(held.ln_ratio.exp());
            row.interval = Some([-held.half, held.half].map(|half| (held.ln_ratio + half).exp()));
            (row.p, row.p_adjusted) = (Some(held.p), Some(held.p_adjusted));
        }
        None => row.notes.push(
            Finding::ShortHistory {
                runs: judged.earlier,
                needed: gate::MIN_EARLIER,
            }
            .into(),
        ),
    }
    row.between_run = judged.variance;
    if judged.accepted {
        row.notes.push(Finding::Accepted {}.into());
    }
    CheckRow {
        outcome: judged.outcome,
        since: judged.since.clone(),
        row,
    }
}

fn worst_first(base: &str, run: &str, mut rows: Vec<CheckRow>, max_slowdown: f64) -> CheckView {
    // of equal ones the slowest
    let ratio = |row: &CheckRow| row.row.ratio.unwrap_or(f64::INFINITY);
    rows.sort_by(|a, b| (b.outcome.cmp(&a.outcome)).then(ratio(a).total_cmp(&ratio(b))));
    CheckView {
        schema: SCHEMA_CHECK.to_owned(),
        base: base.to_owned(),
        run: run.to_owned(),
        max_slowdown,
        differ_in: vec![],
        outcome: rows
            .first()
            .map_or(CheckOutcome::Inconclusive, |row| row.outcome),
        rows,
    }
}

/// The interval of the ratio (above 1: the run is better) against the slowdown that is allowed. That it is surely above asks for
/// an interval beyond it and a p that holds among all rows; that it is surely below, for an interval that ends before it.
fn outcome(row: &CompareRow, max_slowdown: f64, alpha: f64) -> CheckOutcome {
    let allowed = 1.0 / (1.0 + max_slowdown);
    let mut notes = row.notes.iter();
    let disturbed = notes.any(|note| note.flag() == Some(Flag::Interference));
    match (row.interval, row.ratio) {
        // sizes are exact
        (None, Some(ratio)) if row.unit == "bytes" => match ratio < allowed {
            true => CheckOutcome::Regressed,
            false => CheckOutcome::Passed,
        },
        (Some(_), _) if disturbed => CheckOutcome::Inconclusive,
        (Some([_, high]), _) if high < allowed && row.p_adjusted.is_some_and(|p| p < alpha) => {
            CheckOutcome::Regressed
        }
        (Some([low, _]), _) if low > allowed => CheckOutcome::Passed,
        _ => CheckOutcome::Inconclusive,
    }
}

fn unpredicted(result: &Measurement, compared: Subject) -> CompareRow {
    let cycles = compared == Subject::Cycles;
    CompareRow {
        id: result.id.clone(),
        title: result.title.clone(),
        ratio: None,
        interval: None,
        verdict: None,
        p: None,
        p_adjusted: None,
        smallest: None,
        explanation: None,
        compared,
        between_run: None,
        unit: match cycles {
            true => "cycles".to_owned(),
            false => result.unit.to_string(),
        },
        base: None,
        other: match cycles {
            true => result.cycles().map(|cycles| cycles.value),
            false => result.value(),
        },
        notes: result.notes_on_result().cloned().collect(),
        copies: vec![],
        percentiles: vec![],
    }
}
