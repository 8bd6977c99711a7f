//! Percentiles of single events counted in buckets, and their intervals.

use crate::{descriptive, quantile};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Draws of a bootstrap: the relative standard deviation of its standard error is 2%.
pub(crate) const DRAWS: usize = 1000;
/// Fewest launches to draw from, as for a signed-rank interval at 95%.
const MIN_LAUNCHES: usize = 6;

/// Events spread evenly between two bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bucket {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// Number of events.
    pub events: f64,
}

/// The largest of this number of events exceeds this percentile with a probability of 95%: from 29 events for p90, 299
/// for p99 and 2,995 for p99.9. With fewer it would be the maximum under another name.
pub fn supports(share: f64, events: f64) -> bool {
    share.powf(events) <= 0.05
}

/// The value below which this share of the events lies, from buckets in ascending order: the median-unbiased estimate of Hyndman and Fan
/// (1996, definition 8), rank (n + 1/3) p + 1/3. `None` without events.
pub fn percentile(buckets: &[Bucket], share: f64) -> Option<f64> {
    from_top(
        buckets.iter().rev().map(|b| (b.low, b.high, b.events)),
        buckets.iter().map(|b| b.events).sum(),
        share,
    )
}

/// The same from buckets (low, high, events) in descending order, with the total number of events: only the tail is read.
fn from_top(
    buckets: impl Iterator<Item = (f64, f64, f64)>,
    events: f64,
    share: f64,
) -> Option<f64> {
    if events < 1.0 {
        return None;
    }
    let rank = events + 1.0 - (share * (events + 1.0 / 3.0) + 1.0 / 3.0).clamp(1.0, events);
    let (above, part) = (rank.floor(), rank.fract());
    let (mut seen, mut upper) = (0.0, None);
    for (low, high, events) in buckets.filter(|(_, _, events)| *events > 0.0) {
        let value = |rank: f64| high - (rank - seen - 0.5) / events * (high - low);
        if upper.is_none() && above <= seen + events {
            upper = Some(value(above));
        }
        if let Some(upper) = upper {
            if part == 0.0 {
                return Some(upper);
            }
            if above + 1.0 <= seen + events {
                return Some(upper + part * (value(above + 1.0) - upper));
            }
        }
        seen += events;
    }
    upper
}

/// A percentile of the events of all launches together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pooled {
    /// In the unit of the events.
    pub value: f64,
    /// Its interval; `None` with too few launches or events.
    pub interval: Option<[f64; 2]>,
}

/// A percentile of the pooled events of all launches, if each has too few. Its interval is that of Student's t with the standard error of
/// the logarithm over draws of whole launches (block bootstrap), since events of a launch are correlated; times sqrt(n / (n - 1)), since
/// draws of n from n scatter less.
///
/// No interval with fewer than six launches, or if the upper end would be beyond all events more often than the confidence allows. `None`
/// without events, with more than 1,000 launches, or if the percentile is not above 0.
pub fn pooled(launches: &[Vec<Bucket>], share: f64, confidence: f64) -> Option<Pooled> {
    let n = launches.len();
    if n > descriptive::MAX_VALUES {
        return None;
    }
    // from the highest bucket: its bounds, and the events of each launch
    let mut merged: Vec<(f64, f64, Vec<f64>)> = vec![];
    let mut all: Vec<(usize, &Bucket)> = (launches.iter().enumerate())
        .flat_map(|(launch, buckets)| buckets.iter().map(move |bucket| (launch, bucket)))
        .collect();
    all.sort_by(|a, b| (b.1.low.total_cmp(&a.1.low)).then(b.1.high.total_cmp(&a.1.high)));
    for (launch, bucket) in all {
        if merged.last().is_none_or(|(low, high, _)| (*low, *high) != (bucket.low, bucket.high)) {
            merged.push((bucket.low, bucket.high, vec![0.0; n]));
        }
        if let Some((_, _, events)) = merged.last_mut() {
            events[launch] += bucket.events;
        }
    }
    let sizes: Vec<f64> =
        (launches.iter()).map(|buckets| buckets.iter().map(|b| b.events).sum()).collect();
    let drawn = |times: &[f64]| {
        let sum = |events: &[f64]| events.iter().zip(times).map(|(e, t)| e * t).sum::<f64>();
        let buckets = merged.iter().map(|(low, high, events)| (*low, *high, sum(events)));
        from_top(buckets, sum(&sizes), share)
    };
    let value = drawn(&vec![1.0; n]).filter(|value| *value > 0.0)?;
    let events: f64 = sizes.iter().sum();
    if n < MIN_LAUNCHES || share.powf(events) > (1.0 - confidence) / 2.0 {
        return Some(Pooled { value, interval: None });
    }
    let mut random = Pcg64::seed_from_u64(n as u64);
    let logs: Option<Vec<f64>> = (0..DRAWS)
        .map(|_| {
            let mut times = vec![0.0; n];
            (0..n).for_each(|_| times[random.random_range(0..n)] += 1.0);
            drawn(&times).filter(|value| *value > 0.0).map(f64::ln)
        })
        .collect();
    let n = n as f64;
    let error = descriptive::deviation(&logs?) * (n / (n - 1.0)).sqrt();
    let half = quantile::student(confidence, n - 1.0) * error;
    Some(Pooled { value, interval: Some([value * (-half).exp(), value * half.exp()]) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(low: f64, high: f64, events: i32) -> Bucket {
        let events = f64::from(events);
        Bucket { low, high, events }
    }

    #[test]
    fn percentile_interpolates_in_bucket() {
        let value = |buckets: &[Bucket], share| percentile(buckets, share).unwrap();
        assert_eq!(value(&[bucket(512.0, 520.0, 1)], 0.5), 516.0);
        // rank 10.5 of 20: halfway between the last event of the one and the first of the other
        let two = [bucket(0.0, 10.0, 10), bucket(100.0, 110.0, 10)];
        assert_eq!(value(&two, 0.5), f64::midpoint(9.5, 100.5));
        // rank (40 + 1/3) / 2 + 1/3 = 20.5: between the 10th and the 11th of the second
        let three = [bucket(0.0, 1.0, 10), bucket(20.0, 40.0, 20), bucket(50.0, 51.0, 10)];
        assert!((value(&three, 0.5) - 30.0).abs() < 1e-9);
        // 299 events, one to a value: rank 0.99 * 299.333 + 0.333 = 296.673
        let single: Vec<Bucket> =
            (1..=299).map(|x| bucket(f64::from(x), f64::from(x), 1)).collect();
        assert!((value(&single, 0.99) - 296.673_333).abs() < 1e-5);
        assert_eq!((value(&single, 1e-9), value(&single, 1.0)), (1.0, 299.0));
        assert_eq!(percentile(&[], 0.5), None);
        assert_eq!(percentile(&[bucket(1.0, 2.0, 0)], 0.5), None);
    }

    #[test]
    fn percentiles_need_events() {
        let fewest = |share| (1..).find(|n| supports(share, f64::from(*n))).unwrap();
        assert_eq!([0.5, 0.9, 0.99, 0.999].map(fewest), [5, 29, 299, 2995]);
    }

    #[test]
    fn equal_launches_have_narrow_interval() {
        let launch = vec![bucket(10.0, 11.0, 990), bucket(100.0, 101.0, 10)];
        let alike = pooled(&vec![launch; 8], 0.999, 0.95).unwrap();
        let [low, high] = alike.interval.unwrap();
        // rank 7992.66 of 8000: the 73rd of 80 in the bucket
        assert!((alike.value - 100.9).abs() < 0.01, "{alike:?}");
        assert!(high / low < 1.001, "{alike:?}");
    }

    #[test]
    fn interval_follows_launch_variance() {
        let launch = |low: f64| vec![bucket(10.0, 11.0, 990), bucket(low, low + 1.0, 10)];
        let estimate = |ends: [f64; 8]| pooled(&ends.map(launch), 0.999, 0.95).unwrap();
        let width = |found: Pooled| found.interval.map(|[low, high]| high / low).unwrap();
        let near = width(estimate([100.0, 101.0, 102.0, 103.0, 104.0, 105.0, 106.0, 107.0]));
        let far = width(estimate([100.0, 120.0, 140.0, 160.0, 180.0, 200.0, 220.0, 240.0]));
        assert!(1.01 < near && near < far, "{near} {far}");
    }

    #[test]
    fn too_little_has_no_interval() {
        let launch = vec![bucket(10.0, 11.0, 500)];
        let estimate =
            |launches: usize| pooled(&vec![launch.clone(); launches], 0.999, 0.95).unwrap();
        // 2,500 events in five launches, 3,000 in six, 3,700 in eight: 2.5% of the maxima lie below from 3,688 on
        assert_eq!(estimate(5).interval, None);
        assert_eq!(estimate(6).interval, None);
        assert!(estimate(8).interval.is_some());
        assert_eq!(pooled(&[], 0.5, 0.95), None);
        assert_eq!(pooled(&[vec![bucket(-1.0, 0.0, 9)]], 0.5, 0.95), None);
    }
}
