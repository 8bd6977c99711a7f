//! Descriptive statistics: smallest, median, mean, largest, deviation, percentiles, drift, modes.

use gritstone_model::{Histogram, Statistics};
use gritstone_stats::percentiles::{self, Bucket};
use gritstone_stats::{descriptive, modes, serial};

/// Percentiles that may be printed: name and share of the values at or below.
const PERCENTILES: [(&str, f64); 3] = [("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];

/// Statistics over values, one per launch in the order of time, in their unit.
///
/// - `sd` has n - 1 in the denominator, and is 0 for a single value.
/// - `percentiles` are values of the sample (nearest rank), and only those that n supports.
/// - `drift` is the Theil-Sen slope times (n - 1), over the absolute pseudo-median: the change from the first launch to
///   the last as a share of the estimate. From three values to 1,000; `None` where the pseudo-median is 0.
/// - `modes` is the number of clearly separated groups, see docs/statistics.md; from six values to 1,000.
///
/// `None` when there is no value, or one that is not finite.
pub fn describe(values: &[f64]) -> Option<Statistics> {
    if values.is_empty() || values.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let n = values.len();
    let sorted = descriptive::sorted(values);
    let rank = |share: f64| sorted[((share * n as f64).ceil() as usize).clamp(1, n) - 1];
    // the estimators over all pairs
    let pairs = Some(values).filter(|_| n <= descriptive::MAX_VALUES);
    Some(Statistics {
        min: sorted[0],
        median: descriptive::median(&sorted),
        mean: Some(descriptive::mean(values)),
        max: sorted[n - 1],
        sd: (n > 1).then(|| descriptive::deviation(values)),
        percentiles: PERCENTILES
            .iter()
            .filter(|(_, share)| percentiles::supports(*share, n as f64))
            .map(|(name, share)| ((*name).to_owned(), rank(*share)))
            .collect(),
        drift: pairs.and_then(drift),
        modes: pairs.and_then(modes::modes),
    })
}

fn drift(values: &[f64]) -> Option<f64> {
    let center = descriptive::pseudo_median(values).abs();
    let change = serial::theil_sen(values)? * (values.len() - 1) as f64;
    (center > 0.0).then(|| change / center)
}

/// Statistics over single events, in ns. Minimum, maximum and mean are exact; the standard deviation places every event at the middle of
/// its bucket, an error of at most 0.8%. `None` if the histogram is empty.
pub fn histogram(histogram: &Histogram) -> Option<Statistics> {
    let events: f64 = histogram.buckets.iter().map(|(_, n)| *n as f64).sum();
    if events == 0.0 || histogram.count == 0 {
        return None;
    }
    let (min, max) = (histogram.min as f64, histogram.max as f64);
    let mean = histogram.sum as f64 / histogram.count as f64;
    let squares: f64 = histogram
        .buckets
        .iter()
        .map(|(bucket, n)| *n as f64 * (middle(*bucket).max(min).min(max) - mean).powi(2))
        .sum();
    Some(Statistics {
        min,
        median: percentiles::percentile(&buckets(histogram), 0.5)?,
        mean: Some(mean),
        max,
        sd: (events > 1.0).then(|| (squares / (events - 1.0)).sqrt()),
        ..Statistics::default()
    })
}

/// The buckets of a histogram, ns. Events are spread evenly over each, so that launches that differ by less than a bucket differ; an
/// integer of ns includes all values that round to it.
pub fn buckets(histogram: &Histogram) -> Vec<Bucket> {
    let (min, max) = (histogram.min as f64, histogram.max as f64);
    let within = |x: f64| x.max(min).min(max);
    let bucket = |(bucket, events): &(u32, u64)| Bucket {
        low: within(Histogram::floor(*bucket) as f64 - 0.5),
        high: within(Histogram::floor(bucket.saturating_add(1)) as f64 - 0.5),
        events: *events as f64,
    };
    histogram.buckets.iter().map(bucket).collect()
}

/// Middle of the integers in a bucket, ns.
fn middle(bucket: u32) -> f64 {
    let floor = Histogram::floor(bucket);
    let last = Histogram::floor(bucket.saturating_add(1)).saturating_sub(1);
    f64::midpoint(floor as f64, last.max(floor) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_to_a_hundred() {
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        let found = describe(&values).unwrap();
        assert_eq!(
            (found.min, found.median, found.mean, found.max),
            (1.0, 50.5, Some(50.5), 100.0)
        );
        assert!((found.sd.unwrap() - 29.011_491_975_882_016).abs() < 1e-12);
        assert_eq!(found.percentiles["p90"], 90.0);
        assert!(!found.percentiles.contains_key("p99"));
        // 99 steps of 1 over a center of 50.5
        assert!((found.drift.unwrap() - 99.0 / 50.5).abs() < 1e-12);
        assert_eq!(found.modes, Some(1));
    }

    #[test]
    fn buckets_end_at_extreme_events() {
        // bucket 256 is 512 to 519 ns, and 100 is 100 ns
        let ends = |min, max| {
            let buckets = buckets(&Histogram {
                count: 3,
                min,
                max,
                sum: 0,
                buckets: vec![(100, 1), (256, 2)],
                of: None,
            });
            buckets.into_iter().map(|b| [b.low, b.high]).collect::<Vec<_>>()
        };
        assert_eq!(ends(1, 600), [[99.5, 100.5], [511.5, 519.5]]);
        assert_eq!(ends(100, 516), [[100.0, 100.5], [511.5, 516.0]]);
    }

    #[test]
    fn few_values_say_little() {
        let one = describe(&[4.0]).unwrap();
        assert_eq!(
            (one.min, one.median, one.mean, one.max, one.sd),
            (4.0, 4.0, Some(4.0), 4.0, None)
        );
        assert_eq!((one.drift, one.modes), (None, None));
        assert!(one.percentiles.is_empty());
        let values = |n: i32| describe(&(0..n).map(f64::from).collect::<Vec<_>>()).unwrap();
        assert!(values(28).percentiles.is_empty());
        assert!(values(29).percentiles.contains_key("p90"));
        assert!(!values(298).percentiles.contains_key("p99"));
        assert!(values(299).percentiles.contains_key("p99"));
        assert!(describe(&[]).is_none() && describe(&[1.0, f64::NAN]).is_none());
        assert_eq!(describe(&[-1.0, 0.0, 1.0]).unwrap().drift, None);
        assert_eq!(describe(&[-1.0, -2.0, -3.0]).unwrap().drift, Some(-1.0));
    }

    #[test]
    fn small_latencies_are_exact() {
        let found = histogram(&Histogram {
            count: 4000,
            min: 10,
            max: 100,
            sum: 10 * 3000 + 20 * 900 + 100 * 100,
            buckets: vec![(10, 3000), (20, 900), (100, 100)],
            of: None,
        })
        .unwrap();
        assert_eq!((found.min, found.mean, found.max), (10.0, Some(14.5), 100.0));
        // rank 2000.5 of 3000 between 10 and 10.5
        assert!((found.median - (10.0 + 0.5 * 2000.0 / 3000.0)).abs() < 1e-9);
        let variance =
            (3000.0 * 4.5_f64.powi(2) + 900.0 * 5.5_f64.powi(2) + 100.0 * 85.5_f64.powi(2))
                / 3999.0;
        assert!((found.sd.unwrap() - variance.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn hostile_histograms_do_not_panic() {
        let found = histogram(&Histogram {
            count: 1,
            min: 9,
            max: 3,
            sum: u64::MAX,
            buckets: vec![(u32::MAX, u64::MAX), (u32::MAX, u64::MAX)],
            of: None,
        });
        assert!(found.is_some());
    }
}
