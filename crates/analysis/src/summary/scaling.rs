//! Curves of rates by users or jobs: peak, drop after it, and law of scaling.

use super::draft::Draft;
use super::{Launched, copies, derived};
use gritstone_model::{
    Absence, Benchmark, Curve, Data, Estimate, Finding, Id, Measurement, RunData, Sampled,
    SeriesPoint,
};
use gritstone_stats::scaling::{self, Round};
use std::collections::BTreeMap;

/// The highest rate of a curve, with the flags of its point.
pub(super) fn peak(
    benchmark: &Benchmark,
    results: &BTreeMap<&Id, Measurement>,
    run: &RunData,
) -> Measurement {
    greatest(benchmark, results, run, Measurement::value, |best, _, _| Sampled {
        estimate: best.estimate(),
        confidence: best.confidence(),
        ghz: best.ghz(),
        values: best.values().to_vec(),
        launches: best.launches(),
        samples: best.samples(),
        statistics: best.statistics().cloned(),
        responses: best.responses().to_vec(),
        ..Sampled::default()
    })
}

/// The longest operation of a curve, without an interval.
pub(super) fn longest(
    benchmark: &Benchmark,
    results: &BTreeMap<&Id, Measurement>,
    run: &RunData,
) -> Measurement {
    let max = |result: &Measurement| result.latencies().and(result.statistics()).map(|s| s.max);
    greatest(benchmark, results, run, max, |_, max, points| Sampled {
        estimate: Some(Estimate::exact(max)),
        launches: points.iter().map(|result| result.launches()).sum(),
        samples: points.iter().map(|result| result.samples()).sum(),
        ..Sampled::default()
    })
}

/// Derived from the point with the greatest value, that value, and all points that have one.
fn greatest(
    benchmark: &Benchmark,
    results: &BTreeMap<&Id, Measurement>,
    run: &RunData,
    value: impl Fn(&Measurement) -> Option<f64>,
    derive: impl FnOnce(&Measurement, f64, &[&Measurement]) -> Sampled,
) -> Measurement {
    let mut draft = Draft::new(benchmark, run);
    let parts = benchmark.work.parts().into_iter();
    let measured = parts.filter_map(|id| Some((id, results.get(id)?)));
    let measured: Vec<(&Id, &Measurement, f64)> =
        measured.filter_map(|(id, result)| Some((id, result, value(result)?))).collect();
    let points: Vec<&Measurement> = measured.iter().map(|(_, result, _)| *result).collect();
    let Some((id, best, value)) = measured.into_iter().max_by(|a, b| a.2.total_cmp(&b.2)) else {
        draft.notes.push(derived::unmade(benchmark, results));
        return draft.finish(Data::absent(Absence::Skipped));
    };
    draft.measured.clone_from(&best.measured);
    let doubts = derived::inherited(std::iter::once(id), results);
    draft.notes.extend(doubts);
    draft.finish(Data::Derived(Box::new(derive(best, value, &points))))
}

pub(super) fn cpus(launched: &Launched) -> Option<f64> {
    let launches = launched.launches.iter().filter(|launch| launch.measured());
    let samples: Vec<_> = launches.flat_map(|launch| &launch.samples).collect();
    let wall: u64 = samples.iter().map(|sample| sample.wall).sum();
    let cpu: u64 = samples.iter().map(|sample| sample.usage.cpu).sum();
    (wall > 0).then(|| cpu as f64 / wall as f64)
}

/// Points of a curve without a result, if others have one.
pub(super) fn incomplete(curve: &Curve, points: &[SeriesPoint]) -> Option<Finding> {
    let missing = points.iter().filter(|point| point.estimate.is_none());
    let missing: Vec<f64> = missing.map(|point| point.x).collect();
    let some = !missing.is_empty() && missing.len() < points.len();
    some.then(|| Finding::IncompleteCurve { things: curve.label.clone(), missing })
}

/// `None` where no point was measured; otherwise missing points or the law.
pub(super) fn law_or_missing_points(
    curve: &Curve,
    points: &[SeriesPoint],
    by_id: &BTreeMap<&Id, Launched>,
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
    let (_, launched) = curve.points.first()?;
    let benchmark = by_id.get(launched)?.benchmark;
    let law = scaling::fit(&by_round(curve, by_id), confidence, seed);
    Some(Finding::Scaling {
        things: curve.label.clone(),
        peak: highest.0,
        last: last.0,
        drop: 1.0 - last.1 / highest.1,
        law: (law.as_ref().ok()).map(|law| Box::new(copies::law_view(law, benchmark))),
        unfitted: law.err().map(copies::unfitted),
    })
}

/// Rates by round, in operations of the first point.
fn by_round(curve: &Curve, by_id: &BTreeMap<&Id, Launched>) -> Vec<Round> {
    let mut rounds: BTreeMap<u32, Round> = BTreeMap::new();
    let amount = |id: &Id| by_id.get(id).map_or(1.0, |launched| launched.benchmark.amount_per_op);
    let unit = curve.points.first().map_or(1.0, |(_, id)| amount(id));
    for (x, id) in &curve.points {
        let Some(launched) = by_id.get(id) else {
            continue;
        };
        for launch in launched.launches.iter().filter(|launch| launch.measured()) {
            if let Some(ns) = launched.ns(launch) {
                let all = rounds.entry(launch.launch.round).or_default();
                all.push((*x as u32, 1e9 / ns * amount(id) / unit));
            }
        }
    }
    rounds.into_values().collect()
}
