//! A run reduced to what later comparisons need of it: figures without intervals, statistics or published work, so that
//! twenty runs take a moment. Of the events of a launch only samples and latencies are looked at, so no others need be there.
//!
//! Must not know: what is made of the figures.

use super::derived::Terms;
use super::reading::Reading;
use super::{Row, disturbance, rows, rules};
use crate::between::{Figure, Past};
use crate::{center, order};
use gritstone_model::{Benchmark, Id, Quantity, RunData, Term, Work};
use std::collections::BTreeMap;

/// Confidence at which a figure must have an interval to count: that of every view that is not asked for another.
const CONFIDENCE: f64 = 0.95;

/// The same as [`Past::of`] of the summary of the run, except that a claim of work that failed is not seen here.
#[must_use]
pub fn past(run: &RunData) -> Past {
    let (rows, info) = (rows(run), &run.info);
    let mut values: BTreeMap<&Id, [Option<f64>; 2]> = BTreeMap::new();
    for (id, row) in &rows {
        values.extend(launched(row).map(|found| (*id, found)));
    }
    for (id, row) in &rows {
        if let Work::Derived {
            terms,
            share_of: None,
        } = &row.benchmark.work
            && terms.iter().all(|term| values.contains_key(&term.id))
        {
            values.extend(derived(row.benchmark, terms, &rows).map(|found| (*id, found)));
        }
    }
    let figure = |(id, [raw, paced]): (&Id, [Option<f64>; 2])| {
        let program = run.programs.get(id).map(|program| program.hash.clone());
        let figure = Figure {
            version: rows[id].benchmark.version,
            program: program.unwrap_or_default(),
            raw: raw?,
            paced,
        };
        Some((id.clone(), figure))
    };
    Past {
        figures: values.into_iter().filter_map(figure).collect(),
        ..Past::head(
            info.id.as_str(),
            &info.started,
            &info.machine,
            Some(&info.settings),
        )
    }
}

/// Figure and cycles of a row with launches of its own; `None` where it does not count.
fn launched(row: &Row) -> Option<[Option<f64>; 2]> {
    let made = matches!(
        row.benchmark.work,
        Work::Derived { .. } | Work::Rating { .. }
    );
    let exact = row.benchmark.unit.quantity() == Quantity::Exact;
    let launches: Vec<&Reading> = row.launches.iter().filter(|r| r.measured()).collect();
    let (launches, _) = rules::uncrowded(&launches, CONFIDENCE);
    if made || exact || disturbance::disturbed(row.benchmark, &launches).is_some() {
        return None;
    }
    let timed: Vec<&Reading> = launches
        .into_iter()
        .filter(|launch| row.ns(launch).is_some())
        .collect();
    let centre = |values: Option<Vec<f64>>| {
        let logs = order::logs(&values?)?;
        Some(order::pseudo_median(&logs).exp())
    };
    let raw = timed.iter().map(|launch| row.figure(launch)).collect();
    let paced = timed.iter().map(|launch| row.cycles(launch)).collect();
    (timed.len() >= rules::fewest(CONFIDENCE)).then(|| [centre(raw), centre(paced)])
}

/// The same of a row that is made of others.
fn derived(
    benchmark: &Benchmark,
    terms: &[Term],
    rows: &BTreeMap<&Id, Row>,
) -> Option<[Option<f64>; 2]> {
    let launched = Terms::new(terms, rows, CONFIDENCE);
    let sums = |value: fn(&Reading) -> Option<f64>| -> Vec<f64> {
        let by_round = launched.by_round(value);
        by_round.into_iter().map(|(_, sum)| sum).collect()
    };
    let unit = |ns: &f64| benchmark.unit.figure(*ns, benchmark.amount_per_op);
    let raw: Vec<f64> = sums(|launch| launch.ns_per_op(false))
        .iter()
        .filter_map(unit)
        .collect();
    let paced = sums(|launch| launch.cycles_per_op());
    let centre = |values: &[f64]| {
        let found = center::plain_center(values, CONFIDENCE)?.value;
        (found > 0.0).then_some(found)
    };
    (raw.len() >= rules::fewest(CONFIDENCE)).then(|| {
        let whole = paced.len() == raw.len();
        [centre(&raw), centre(&paced).filter(|_| whole)]
    })
}
