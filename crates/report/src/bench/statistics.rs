//! Statistics over the executions of a command.

use gritstone_stats::descriptive::{self, SD_PER_MAD, median, quantile, sorted};

/// Distance from the median above which an execution is an outlier, in robust standard deviations.
const OUTLIER: f64 = 10.0;
/// Lower bound of the deviation, as a share of the median, for equal times.
const MIN_DEVIATION: f64 = 0.005;

/// Fewest executions for outliers: with fewer, the deviation may be near zero by chance.
const MIN_EXECUTIONS: usize = 5;

/// In the unit of the times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeStatistics {
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation; `None` for a single time.
    pub deviation: Option<f64>,
    pub median: f64,
    pub min: f64,
    pub max: f64,
}

impl TimeStatistics {
    /// `None` without a time.
    pub fn new(times: &[f64]) -> Option<Self> {
        let sorted = sorted(times);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        Some(Self {
            mean: descriptive::mean(times),
            deviation: (times.len() > 1).then(|| descriptive::deviation(times)),
            median: median(&sorted),
            min,
            max,
        })
    }
}

/// Quantile of the times, interpolated between neighbors (type 7); `None` without a time.
pub fn percentile(times: &[f64], share: f64) -> Option<f64> {
    (!times.is_empty()).then(|| quantile(&sorted(times), share))
}

/// Indexes of outliers.
pub(super) fn outliers(times: &[f64]) -> Vec<usize> {
    let Some(all) = TimeStatistics::new(times).filter(|_| times.len() >= MIN_EXECUTIONS) else {
        return vec![];
    };
    let distance = |time: &f64| (time - all.median).abs();
    let distances: Vec<f64> = times.iter().map(distance).collect();
    let deviation = SD_PER_MAD * median(&sorted(&distances));
    let least = MIN_DEVIATION * all.median;
    let limit = OUTLIER * deviation.max(least);
    let far = distances.iter().enumerate();
    far.filter(|(_, distance)| **distance > limit).map(|(index, _)| index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_those_of_textbooks() {
        let all = TimeStatistics::new(&[2.0, 4.0, 9.0]).unwrap();
        assert_eq!((all.mean, all.median, all.min, all.max), (5.0, 4.0, 2.0, 9.0));
        assert!((all.deviation.unwrap() - 13f64.sqrt()).abs() < 1e-12);
        assert_eq!(TimeStatistics::new(&[3.0]).unwrap().deviation, None);
        assert_eq!(TimeStatistics::new(&[]), None);
        let times: Vec<f64> = (0..=100).map(f64::from).rev().collect();
        assert_eq!(percentile(&times, 0.95), Some(95.0));
        assert_eq!(percentile(&[1.0, 2.0], 0.75), Some(1.75));
        assert_eq!(percentile(&[], 0.5), None);
    }

    #[test]
    fn outliers_are_far_away() {
        assert_eq!(outliers(&[0.52, 0.022, 0.021, 0.023, 0.022]), [0]);
        assert!(outliers(&[1.0, 1.1, 0.9, 1.05, 1.2]).is_empty());
        assert!(outliers(&[1.0, 1.0, 1.0, 1.0, 1.01]).is_empty());
        assert!(outliers(&[0.0110, 0.0111, 0.0128]).is_empty());
        assert!(outliers(&[]).is_empty());
    }
}
