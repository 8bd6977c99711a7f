//! Operations timed one by one: percentiles of each launch with center and interval as for any result, and the histogram of all. If
//! launches have too few operations for a percentile, all launches are pooled.

use super::launch_center::estimate_launches;
use super::reading::{Reading, median, merged};
use crate::describe;
use gritstone_model::{
    Benchmark, Estimate, Histogram, Latencies, Percentile, PercentileBasis, Quantity,
};
use gritstone_stats::percentiles::{self, Bucket};

/// Percentiles by name, and the share of the operations at or below.
const PERCENTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];

/// For a result that is a time and whose launches time each operation; converting a latency to a rate would swap smallest and largest.
pub(super) fn from_launches(
    benchmark: &Benchmark,
    timed: &[&Reading],
    confidence: f64,
) -> Option<Latencies> {
    let time = matches!(benchmark.unit.quantity(), Quantity::Time { .. });
    if !time || timed.iter().any(|launch| launch.latencies.is_empty()) {
        return None;
    }
    // one event is one operation
    let unit = benchmark.unit.convert(1.0, benchmark.amount_per_op)?;
    let latencies = timed.iter().flat_map(|launch| &launch.latencies);
    let all = merged(latencies.copied());
    let launches: Vec<Vec<Bucket>> = (timed.iter())
        .map(|launch| describe::buckets(&merged(launch.latencies.iter().copied())))
        .collect();
    let percentiles = PERCENTILES
        .iter()
        .filter_map(|(name, share)| percentile(name, *share, &launches, timed, unit, confidence));
    Some(Latencies {
        events: all.count,
        percentiles: percentiles.collect(),
        histogram: histogram(&all, unit * to_reference(timed)),
    })
}

/// Factor from actual times of the operations of all launches to times at the reference frequency.
pub(super) fn to_reference(timed: &[&Reading]) -> f64 {
    median(timed.iter().map(|launch| launch.to_reference())).unwrap_or(1.0)
}

/// At the reference frequency. The median is always computed over launches, as the estimate is.
pub(super) fn percentile(
    name: &str,
    share: f64,
    launches: &[Vec<Bucket>],
    timed: &[&Reading],
    unit: f64,
    confidence: f64,
) -> Option<Percentile> {
    let events = |launch: &Vec<Bucket>| launch.iter().map(|bucket| bucket.events).sum();
    let supported = |launch: &Vec<Bucket>| percentiles::supports(share, events(launch));
    if share == 0.5 || launches.iter().all(supported) {
        let each = launches.iter().zip(timed);
        let stated = |(buckets, launch): (&Vec<Bucket>, &&Reading)| {
            Some(percentiles::percentile(buckets, share)? * launch.to_reference() * unit)
        };
        let values: Vec<f64> = each.map(stated).collect::<Option<_>>()?;
        return Some(Percentile {
            name: name.to_owned(),
            estimate: Some(estimate_launches(&values, timed, confidence)?),
            basis: PercentileBasis::Launches,
            values,
        });
    }
    if !percentiles::supports(share, launches.iter().map(events).sum()) {
        return None;
    }
    let pooled = percentiles::pooled(launches, share, confidence)?;
    let estimate = Estimate { value: pooled.value, interval: pooled.interval };
    Some(Percentile {
        name: name.to_owned(),
        estimate: Some(estimate.times(unit * to_reference(timed))),
        basis: PercentileBasis::Operations,
        values: vec![],
    })
}

/// Buckets of an eighth of a power of two: a few dozen numbers.
fn histogram(all: &Histogram, unit: f64) -> Vec<(f64, f64, u64)> {
    let mut coarse: Vec<(u64, u64, u64)> = vec![];
    for (bucket, events) in &all.buckets {
        let fine = Histogram::floor(*bucket);
        let cut = fine.max(8).ilog2() - 3;
        let low = fine >> cut << cut;
        match coarse.last_mut() {
            Some((last, _, sum)) if *last == low => *sum = sum.saturating_add(*events),
            _ => coarse.push((low, 1 << cut, *events)),
        }
    }
    let scaled = |(low, width, events): (u64, u64, u64)| {
        let (from, below) = (low as f64, low.saturating_add(width) as f64);
        (from * unit, below * unit, events)
    };
    coarse.into_iter().map(scaled).collect()
}
