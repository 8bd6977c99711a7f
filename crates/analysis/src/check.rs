//! A gate: is a run surely not slower than is allowed, surely slower, or can one not tell.

use crate::series::{FEWEST, last_level};
use gritstone_model::{
    Better, CheckOutcome, CheckRow, CheckView, CompareRow, CompareView, Finding, Flag,
    HistorySeries, HistoryView, Id, Measurement, RunView, SCHEMA_CHECK, Subject,
};
use gritstone_stats::history::Prediction;
use gritstone_stats::{history, multiple};
use std::collections::BTreeMap;

/// Holds a comparison against the slowdown that is allowed. Rows that neither side has a figure for, and those that only the run
/// has, are nothing to hold against; a row that the base has and the run has not cannot be told.
#[must_use]
pub fn check(view: &CompareView, max_slowdown: f64, alpha: f64) -> CheckView {
    let rows = view.rows.iter().filter(|row| row.base.is_some());
    CheckView {
        differ_in: view.differ_in.clone(),
        ..gate(
            &view.base_name,
            &view.other,
            rows.cloned(),
            max_slowdown,
            alpha,
        )
    }
}

/// Holds a run against the histories of its benchmarks on its machine: each figure against what the last level of its series
/// predicts ([`history::predict`]).
#[must_use]
pub fn against_history(
    run: &RunView,
    histories: &BTreeMap<Id, HistoryView>,
    max_slowdown: f64,
    alpha: f64,
) -> CheckView {
    let figures = run
        .results
        .iter()
        .filter(|result| result.estimate.is_some() || histories.contains_key(&result.id));
    let mut rows: Vec<CompareRow> = figures
        .map(|result| predicted(run, result, histories.get(&result.id)))
        .collect();
    let p: Vec<Option<f64>> = rows.iter().map(|row| row.p).collect();
    for (row, p) in rows.iter_mut().zip(multiple::benjamini_hochberg(&p)) {
        row.p_adjusted = p;
    }
    gate(
        "its history",
        &run.id,
        rows.into_iter(),
        max_slowdown,
        alpha,
    )
}

fn gate(
    base: &str,
    run: &str,
    rows: impl Iterator<Item = CompareRow>,
    max_slowdown: f64,
    alpha: f64,
) -> CheckView {
    let judged = |row: CompareRow| CheckRow {
        outcome: judge(&row, max_slowdown, alpha),
        row,
    };
    let mut rows: Vec<CheckRow> = rows.map(judged).collect();
    // the worst first, and of equal ones the slowest
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
fn judge(row: &CompareRow, max_slowdown: f64, alpha: f64) -> CheckOutcome {
    let allowed = 1.0 / (1.0 + max_slowdown);
    let mut notes = row.notes.iter();
    let disturbed = notes.any(|note| note.flag() == Some(Flag::Interference));
    match (row.interval, row.ratio) {
        // sizes have no interval, and are what they are
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

/// A figure of the run over what its history predicts.
fn predicted(run: &RunView, result: &Measurement, history: Option<&HistoryView>) -> CompareRow {
    let series = history.and_then(|history| {
        let mut own = history.series.iter();
        own.find(|series| series.points.iter().any(|point| point.run == run.id))
    });
    let compared = series.map_or(Subject::Estimate, |series| series.compared);
    let mut row = unpredicted(result, compared);
    match series.map_or_else(
        || Err(Finding::NoHistory {}),
        |series| prediction(run, series),
    ) {
        Err(why) => row.notes.push(why.into()),
        Ok(None) => {}
        Ok(Some((value, found))) => {
            let higher = compared != Subject::Cycles && result.better == Better::Higher;
            let better = |ratio: f64| if higher { ratio } else { 1.0 / ratio };
            let [low, high] = found.interval.map(better);
            row.base = Some(value / found.ratio);
            row.ratio = Some(better(found.ratio));
            row.interval = Some([low.min(high), low.max(high)]);
            row.p = Some(found.p);
        }
    }
    row
}

/// The row of a figure that is held against nothing yet.
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
        compared,
        unit: match cycles {
            true => "cycles".to_owned(),
            false => result.unit.to_string(),
        },
        base: None,
        other: match cycles {
            true => result.cycles.map(|cycles| cycles.value),
            false => result.value(),
        },
        notes: result.own_notes().cloned().collect(),
        copies: vec![],
    }
}

/// The value of the run, and how it stands to what the last level before it predicts; nothing where it has no value.
///
/// # Errors
/// Why nothing can be predicted.
fn prediction(run: &RunView, series: &HistorySeries) -> Result<Option<(f64, Prediction)>, Finding> {
    let own = series.points.iter().position(|point| point.run == run.id);
    let own = own.unwrap_or(series.points.len());
    let value = series.points.get(own).and_then(|point| point.value);
    let mut earlier = series.clone();
    earlier.points.truncate(own);
    earlier.changes.retain(|change| change.at < own);
    let level = last_level(&earlier);
    if series.correlation > history::CORRELATED {
        return Err(Finding::CorrelatedHistory {
            correlation: series.correlation,
        });
    }
    if level.len() < FEWEST {
        return Err(Finding::ShortHistory {
            runs: level.len(),
            needed: FEWEST,
        });
    }
    Ok(value.and_then(|value| {
        let found = history::predict(&level, value.ln(), FEWEST, 0.95)?;
        Some((value, found))
    }))
}
