//! What stands beside a figure: smallest, median, mean, largest, scatter, percentiles, drift, modes.

use gritstone_model::{Histogram, Statistics};
use gritstone_stats::{modes, order, serial};

/// Percentiles that may be printed: name and share of the values at or below.
const PERCENTILES: [(&str, f64); 3] = [("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];

/// A percentile is printed when the largest of n values lies above it with a probability of 95 %: from 29 values for
/// p90, 299 for p99, 2,995 for p99.9. With fewer it is the maximum under another name.
fn supported(share: f64, n: f64) -> bool {
    share.powf(n) <= 0.05
}

/// Statistics over values, one a launch in the order of time, in their unit.
///
/// - `sd` has n - 1 in the denominator, and is 0 for a single value.
/// - `percentiles` are values of the sample (nearest rank), and only those that n supports.
/// - `drift` is the Theil-Sen slope times (n - 1), over the absolute pseudo-median: the change from the first launch to
///   the last as a share of the figure. From three values to 1,000; `None` where the pseudo-median is 0.
/// - `modes` is the number of groups that are surely apart, see docs/statistics.md; from six values to 1,000.
///
/// `None` when there is no value, or one that is not finite.
#[must_use]
pub fn describe(values: &[f64]) -> Option<Statistics> {
    if values.is_empty() || values.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let n = values.len();
    let sorted = order::sorted(values);
    let rank = |share: f64| sorted[((share * n as f64).ceil() as usize).clamp(1, n) - 1];
    // what looks at all pairs
    let pairs = Some(values).filter(|_| n <= order::MOST);
    Some(Statistics {
        min: sorted[0],
        median: order::median(&sorted),
        mean: Some(order::mean(values)),
        max: sorted[n - 1],
        sd: Some(order::deviation(values)),
        percentiles: PERCENTILES
            .iter()
            .filter(|(_, share)| supported(*share, n as f64))
            .map(|(name, share)| ((*name).to_owned(), rank(*share)))
            .collect(),
        drift: pairs.and_then(drift),
        modes: pairs.and_then(modes::modes),
    })
}

fn drift(values: &[f64]) -> Option<f64> {
    let center = order::pseudo_median(values).abs();
    let change = serial::theil_sen(values)? * (values.len() - 1) as f64;
    (center > 0.0).then(|| change / center)
}

/// Statistics over single events, in ns. Minimum, maximum and mean are exact; the median, the standard deviation and the
/// percentiles that the number of events supports take every event at the middle of its bucket, which is off by at most
/// 0.8 %. `None` when the histogram holds no event.
#[must_use]
pub fn histogram(histogram: &Histogram) -> Option<Statistics> {
    let events: f64 = histogram.buckets.iter().map(|(_, n)| *n as f64).sum();
    if events == 0.0 || histogram.count == 0 {
        return None;
    }
    let (min, max) = (histogram.min as f64, histogram.max as f64);
    let mean = histogram.sum as f64 / histogram.count as f64;
    let at = |share: f64| {
        let mut seen = 0.0;
        let bucket = histogram.buckets.iter().find(|(_, n)| {
            seen += *n as f64;
            seen >= share * events
        });
        // sums in floating point may stop a hair short of the whole
        bucket.map_or(max, |(bucket, _)| middle(*bucket).max(min).min(max))
    };
    let squares: f64 = histogram
        .buckets
        .iter()
        .map(|(bucket, n)| *n as f64 * (middle(*bucket).max(min).min(max) - mean).powi(2))
        .sum();
    Some(Statistics {
        min,
        median: at(0.5),
        mean: Some(mean),
        max,
        sd: Some((squares / (events - 1.0).max(1.0)).sqrt()),
        percentiles: PERCENTILES
            .iter()
            .filter(|(_, share)| supported(*share, events))
            .map(|(name, share)| ((*name).to_owned(), at(*share)))
            .collect(),
        drift: None,
        modes: None,
    })
}

/// The median of single events, ns, as a value that launches can be compared by: within its bucket it is where it would be if
/// the events there lay evenly, or else launches that differ by less than a bucket would seem to be the same. `None` when the
/// histogram holds no event.
#[must_use]
pub fn median_event(histogram: &Histogram) -> Option<f64> {
    let events: f64 = histogram.buckets.iter().map(|(_, n)| *n as f64).sum();
    let half = events / 2.0;
    let mut seen = 0.0;
    let (bucket, n) = histogram.buckets.iter().find(|(_, n)| {
        seen += *n as f64;
        seen >= half
    })?;
    let floor = Histogram::floor(*bucket) as f64;
    let width = Histogram::floor(bucket.saturating_add(1)) as f64 - floor;
    // an integer of ns stands for what rounds to it
    let at = floor - 0.5 + (half - seen + *n as f64) / *n as f64 * width;
    let (min, max) = (histogram.min as f64, histogram.max as f64);
    at.is_finite().then(|| at.max(min).min(max))
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
    fn the_median_event_moves_within_its_bucket() {
        let events = |buckets: &[(u32, u64)]| Histogram {
            count: buckets.iter().map(|(_, n)| n).sum(),
            min: 1,
            max: 1_000_000,
            sum: 0,
            buckets: buckets.to_vec(),
        };
        let median = |buckets| median_event(&events(buckets)).unwrap();
        // bucket 256 is 512 to 519 ns
        assert_eq!(median(&[(256, 1)]), 515.5);
        assert_eq!(median(&[(256, 10), (300, 10)]), 519.5);
        assert_eq!(median(&[(100, 10), (256, 20), (300, 20)]), 517.5);
        // one integer to a bucket: all events at it
        assert_eq!(median(&[(100, 3)]), 100.0);
        assert_eq!(median_event(&Histogram::default()), None);
    }

    #[test]
    fn few_values_say_little() {
        let one = describe(&[4.0]).unwrap();
        assert_eq!(
            (one.min, one.median, one.mean, one.max, one.sd),
            (4.0, 4.0, Some(4.0), 4.0, Some(0.0))
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
    fn events_below_128_ns_are_exact() {
        let found = histogram(&Histogram {
            count: 4000,
            min: 10,
            max: 100,
            sum: 10 * 3000 + 20 * 900 + 100 * 100,
            buckets: vec![(10, 3000), (20, 900), (100, 100)],
        })
        .unwrap();
        assert_eq!(
            (found.min, found.median, found.mean, found.max),
            (10.0, 10.0, Some(14.5), 100.0)
        );
        assert_eq!(found.percentiles["p90"], 20.0);
        assert_eq!(found.percentiles["p99"], 100.0);
        assert_eq!(found.percentiles["p99.9"], 100.0);
        let variance =
            (3000.0 * 4.5_f64.powi(2) + 900.0 * 5.5_f64.powi(2) + 100.0 * 85.5_f64.powi(2))
                / 3999.0;
        assert!((found.sd.unwrap() - variance.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn a_wide_bucket_stands_for_its_middle() {
        // bucket 640 begins at 64 << 9 = 32,768 and is 512 wide
        let one = |min, max| {
            let found = histogram(&Histogram {
                count: 2,
                min,
                max,
                sum: min + max,
                buckets: vec![(640, 2)],
            });
            found.unwrap().median
        };
        assert_eq!(one(32_768, 33_279), 33_023.5);
        assert_eq!(one(32_768, 32_800), 32_800.0);
    }

    #[test]
    fn percentiles_need_events() {
        let with = |n: u64| Histogram {
            count: n,
            min: 1,
            max: 1,
            sum: n,
            buckets: vec![(1, n)],
        };
        let named = |n| {
            histogram(&with(n))
                .unwrap()
                .percentiles
                .into_keys()
                .collect::<Vec<_>>()
        };
        assert_eq!(named(28), Vec::<String>::new());
        assert_eq!(named(2994), ["p90", "p99"]);
        assert_eq!(named(2995), ["p90", "p99", "p99.9"]);
        assert!(histogram(&Histogram::default()).is_none());
    }

    #[test]
    fn hostile_histograms_do_not_panic() {
        let found = histogram(&Histogram {
            count: 1,
            min: 9,
            max: 3,
            sum: u64::MAX,
            buckets: vec![(u32::MAX, u64::MAX), (u32::MAX, u64::MAX)],
        });
        assert!(found.is_some());
    }
}
