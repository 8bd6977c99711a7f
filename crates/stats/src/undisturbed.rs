//! Time per operation on an otherwise idle machine, from launches that contention may have slowed.
//!
//! Contention only adds time, in bursts that are often longer than a launch, so that the center of the launches moves with the share of
//! disturbed ones, while a low quantile of undisturbed samples hardly does (docs/statistics.md, "Estimand"). The weight of a launch is the
//! share of its samples without contention. All computations are on the logarithmic scale.

use crate::descriptive;
use statrs::function::beta::beta_reg;

/// Quantile of the samples of a launch. The minimum would depend on one lucky sample.
pub const SAMPLE_QUANTILE: f64 = 0.2;
/// Quantile of the launches: low, since contention adds time, but not lower, since layout and page colors scatter launches in both
/// directions.
pub const LAUNCH_QUANTILE: f64 = 0.25;
/// Fewest launches of an interval, also by weight: with fewer it is widened.
pub const MIN_LAUNCHES: usize = 6;
/// Weight of a launch without an undisturbed sample.
const MIN_WEIGHT: f64 = 0.02;
/// Total weight of undisturbed launches below which all count alike.
const MIN_TOTAL: f64 = 0.5;

/// The quantile of weighted values, interpolated between the middles of the weights (Hazen's definition if all are 1). `None` if empty.
pub fn weighted_quantile(values: &[(f64, f64)], quantile: f64) -> Option<f64> {
    let total: f64 = values.iter().map(|(_, weight)| weight).sum();
    at_weight(&sorted(values), quantile * total)
}

/// The estimate of positive values, one per launch, each with a weight between 0 and 1; and its interval, `None` with fewer than
/// [`MIN_LAUNCHES`] launches.
///
/// The upper end is the order statistic below which the quantile of the launches lies with a third of the error that the confidence leaves;
/// the lower end is as far from the estimate as the upper end is from the value at half the quantile, since no launch bounds it from below.
/// docs/validation.md has the coverage of both.
///
/// `None` when there is no value, more than 1,000, or one that is not positive and finite.
pub fn estimate(
    values: &[f64],
    weights: &[f64],
    confidence: f64,
) -> Option<crate::center::Estimate> {
    let logs = descriptive::logs(values)?;
    let disturbed = weights.iter().sum::<f64>() < MIN_TOTAL;
    let weight = |weight: &f64| match disturbed {
        true => 1.0,
        false => weight.clamp(MIN_WEIGHT, 1.0),
    };
    let launches = sorted(&logs.into_iter().zip(weights.iter().map(weight)).collect::<Vec<_>>());
    let total: f64 = launches.iter().map(|(_, weight)| weight).sum();
    let quantile = |weight| at_weight(&launches, weight);
    let center = quantile(LAUNCH_QUANTILE * total)?;
    let rank = upper_rank(total, (1.0 - confidence) / 3.0);
    // of less than one launch, its middle: the end is above the estimate
    let upper = quantile((rank - 0.5).max(rank / 2.0))?;
    let lower = quantile(LAUNCH_QUANTILE / 2.0 * total)?;
    let widened = (MIN_LAUNCHES as f64 / total).max(1.0);
    let interval = [center - widened * (upper - lower), center + widened * (upper - center)];
    Some(crate::center::Estimate {
        value: center.exp(),
        interval: (values.len() >= MIN_LAUNCHES).then(|| interval.map(f64::exp)),
    })
}

/// Rank k of `launches` (a real number) with P(X_(k) < quantile) = `level`: X_(k) is distributed as Beta(k, launches - k + 1). The last
/// rank if even that is more likely.
fn upper_rank(launches: f64, level: f64) -> f64 {
    let below = |k: f64| beta_reg(k, launches - k + 1.0, LAUNCH_QUANTILE);
    let (mut low, mut high) = (1e-6, launches);
    if below(high) > level {
        return high;
    }
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        match below(middle) > level {
            true => low = middle,
            false => high = middle,
        }
    }
    high
}

fn sorted(values: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    sorted
}

/// The value at a cumulative weight; the minimum and the maximum beyond both ends.
fn at_weight(sorted: &[(f64, f64)], weight: f64) -> Option<f64> {
    let mut sum = 0.0;
    let mut before: Option<(f64, f64)> = None;
    for &(value, mass) in sorted {
        let middle = sum + mass / 2.0;
        if weight <= middle {
            return Some(before.map_or(value, |(place, less)| {
                less + (value - less) * (weight - place) / (middle - place)
            }));
        }
        before = Some((middle, value));
        sum += mass;
    }
    before.map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(values: &[f64]) -> crate::center::Estimate {
        estimate(values, &vec![1.0; values.len()], 0.95).unwrap()
    }

    #[test]
    fn quantiles_are_interpolated() {
        let values = [4.0, 1.0, 3.0, 2.0].map(|x| (x, 1.0));
        assert_eq!(weighted_quantile(&values, 0.25), Some(1.5));
        assert_eq!(weighted_quantile(&values, 0.0), Some(1.0));
        assert_eq!(weighted_quantile(&values, 1.0), Some(4.0));
        // a value of weight 3 counts as three of weight 1
        assert_eq!(weighted_quantile(&[(1.0, 3.0), (2.0, 1.0)], 0.375), Some(1.0));
        assert_eq!(weighted_quantile(&[], 0.5), None);
    }

    #[test]
    fn two_bad_launches_move_little() {
        let good: Vec<f64> = (0..10).map(|launch| 100.0 + f64::from(launch % 5) / 10.0).collect();
        let mut bad = good.clone();
        (bad[3], bad[8]) = (130.0, 1000.0);
        let [before, after] = [&good, &bad].map(|values| plain(values));
        let [low, high] = before.interval.unwrap();
        assert!(low <= after.value && after.value <= high, "{after:?}");
        assert!(after.interval.unwrap()[1] < 100.5, "{after:?}");
    }

    #[test]
    fn disturbed_launches_hardly_count() {
        let values =
            [150.0, 151.0, 100.0, 100.1, 100.2, 149.0, 100.1, 148.0, 100.2, 100.0, 100.1, 100.2];
        let weights = values.map(|value: f64| if value > 120.0 { 0.0 } else { 1.0 });
        let found = estimate(&values, &weights, 0.95).unwrap();
        assert!((found.value - 100.0).abs() < 0.1);
        let [low, high] = found.interval.unwrap();
        assert!(low > 99.5 && high < 100.5, "{found:?}");
        // where all are disturbed, all count alike
        let all = estimate(&values, &[0.0; 12], 0.95).unwrap();
        assert!((all.value / plain(&values).value - 1.0).abs() < 1e-9);
    }

    #[test]
    fn intervals_contain_their_estimate() {
        let values: Vec<f64> = (100..110).map(f64::from).collect();
        for weight in [0.051, 0.055, 0.06, 0.07, 0.1, 0.3, 1.0] {
            let found = estimate(&values, &[weight; 10], 0.95).unwrap();
            let [low, high] = found.interval.unwrap();
            assert!(low < found.value && found.value < high, "{weight}: {found:?}");
        }
    }

    #[test]
    fn few_launches_have_no_interval() {
        for n in 1..12 {
            let values: Vec<f64> = (0..n).map(|launch| 10.0 + f64::from(launch)).collect();
            assert_eq!(plain(&values).interval.is_some(), n >= 6, "{n}");
        }
        assert!(estimate(&[], &[], 0.95).is_none());
        assert!(estimate(&[1.0, -1.0], &[1.0, 1.0], 0.95).is_none());
        assert_eq!(plain(&[7.0; 8]).interval, Some([7.0_f64.ln().exp(); 2]));
    }

    #[test]
    fn upper_ranks_are_binomial() {
        // P(B >= 6) = .0197 and P(B >= 7) = .0035 of ten launches
        assert!((upper_rank(10.0, 0.0197) - 6.0).abs() < 0.01);
        assert_eq!(upper_rank(2.0, 0.01), 2.0);
    }
}
