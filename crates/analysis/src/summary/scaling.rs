//! A curve of rates by users or jobs at once: where it is highest, how far it falls behind that, and the law by which it grows.

use super::{Row, blank, copies, derived};
use gritstone_model::{
    Benchmark, Curve, Estimate, Finding, Id, Measurement, RunData, SeriesPoint, Status, in_order,
};
use gritstone_stats::scaling::{self, Round};
use std::collections::BTreeMap;

/// The result of a row that is the highest of the rates of its curve: that of this point, with what is doubtful about it.
pub(super) fn peak(
    benchmark: &Benchmark,
    results: &BTreeMap<&Id, Measurement>,
    run: &RunData,
) -> Measurement {
    let mut result = blank(benchmark, run);
    let parts = benchmark.work.parts().into_iter();
    let rate = |of: &Measurement| of.estimate.map(|estimate| estimate.value);
    let measured = parts.filter_map(|id| Some((id, results.get(id)?)));
    let measured = measured.filter_map(|(id, of)| Some((id, of, rate(of)?)));
    let Some((id, best, _)) = measured.max_by(|a, b| a.2.total_cmp(&b.2)) else {
        result.notes.push(derived::unmade(benchmark, results));
        return result;
    };
    result.outcome = Status::Measured;
    result.estimate = best.estimate;
    result.confidence = best.confidence;
    result.values.clone_from(&best.values);
    result.launches = best.launches;
    result.samples = best.samples;
    result.statistics.clone_from(&best.statistics);
    result.responses.clone_from(&best.responses);
    result.measured.clone_from(&best.measured);
    let doubts = derived::inherited(std::iter::once(id), results);
    result.notes.extend(doubts);
    result.notes = in_order(result.notes);
    result
}

/// The result of a row that is the longest of all operations of its curve: a single one, and so without an interval.
pub(super) fn longest(
    benchmark: &Benchmark,
    results: &BTreeMap<&Id, Measurement>,
    run: &RunData,
) -> Measurement {
    let mut result = blank(benchmark, run);
    let parts = benchmark.work.parts().into_iter();
    let max = |of: &Measurement| {
        of.latencies
            .as_ref()
            .and(of.statistics.as_ref())
            .map(|s| s.max)
    };
    let measured = parts.filter_map(|id| Some((id, results.get(id)?)));
    let measured: Vec<(&Id, &Measurement, f64)> = measured
        .filter_map(|(id, of)| Some((id, of, max(of)?)))
        .collect();
    result.launches = measured.iter().map(|(_, of, _)| of.launches).sum();
    result.samples = measured.iter().map(|(_, of, _)| of.samples).sum();
    let Some((id, longest, max)) = measured.into_iter().max_by(|a, b| a.2.total_cmp(&b.2)) else {
        result.notes.push(derived::unmade(benchmark, results));
        return result;
    };
    result.outcome = Status::Measured;
    result.estimate = Some(Estimate::exact(max));
    result.measured.clone_from(&longest.measured);
    result
        .notes
        .extend(derived::inherited(std::iter::once(id), results));
    result.notes = in_order(result.notes);
    result
}

/// Points of a curve without a result, where others have one.
pub(super) fn incomplete(curve: &Curve, points: &[SeriesPoint]) -> Option<Finding> {
    let missing = points.iter().filter(|point| point.estimate.is_none());
    let missing: Vec<f64> = missing.map(|point| point.x).collect();
    let some = !missing.is_empty() && missing.len() < points.len();
    some.then(|| Finding::IncompleteCurve {
        things: curve.label.clone(),
        missing,
    })
}

/// What the curve says: nothing where no point of it was measured, and where some were not, which.
pub(super) fn found(
    curve: &Curve,
    points: &[SeriesPoint],
    rows: &BTreeMap<&Id, Row>,
    confidence: f64,
    seed: u64,
) -> Option<Finding> {
    let rate = |point: &SeriesPoint| Some((point.x, point.estimate?.value));
    let rates: Vec<(f64, f64)> = points.iter().filter_map(rate).collect();
    if let Some(missing) = incomplete(curve, points) {
        return Some(missing);
    }
    let highest = rates.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let last = rates.last()?;
    let (_, row) = curve.points.first()?;
    let benchmark = rows.get(row)?.benchmark;
    let law = scaling::fit(&by_round(curve, rows), confidence, seed);
    Some(Finding::Scaling {
        things: curve.label.clone(),
        peak: highest.0,
        last: last.0,
        drop: 1.0 - last.1 / highest.1,
        law: (law.as_ref().ok()).map(|law| Box::new(copies::law_view(law, benchmark))),
        unfitted: law.err().map(copies::unfitted),
    })
}

/// Operations a second at all points, round by round.
fn by_round(curve: &Curve, rows: &BTreeMap<&Id, Row>) -> Vec<Round> {
    let mut rounds: BTreeMap<u32, Round> = BTreeMap::new();
    for (x, id) in &curve.points {
        let Some(row) = rows.get(id) else { continue };
        for launch in row.launches.iter().filter(|launch| launch.measured()) {
            if let Some(ns) = row.ns(launch) {
                let all = rounds.entry(launch.launch.round).or_default();
                all.push((*x as u32, 1e9 / ns));
            }
        }
    }
    rounds.into_values().collect()
}
