//! Descriptive statistics.

use std::borrow::Borrow;

/// Most values of a center: all pairs are computed, and an imported file that claims a million launches must not exhaust the memory.
pub const MAX_VALUES: usize = 1000;

/// Ratio of the standard deviation of normal values to their median absolute deviation.
pub const SD_PER_MAD: f64 = 1.4826;

/// Returns the values in ascending order.
pub fn sorted(values: impl IntoIterator<Item: Borrow<f64>>) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.into_iter().map(|value| *value.borrow()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// Median of values in ascending order, at least one.
pub fn median(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2])
}

/// Median of values in any order, at least one.
pub fn median_of(values: impl IntoIterator<Item: Borrow<f64>>) -> f64 {
    median(&sorted(values))
}

/// Quantile of values in ascending order, at least one: linear between neighbors (Hyndman and Fan's type 7).
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let below = sorted[place.floor() as usize];
    below + (sorted[place.ceil() as usize] - below) * place.fract()
}

/// Mean of at least one value.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Standard deviation (n - 1); 0 for fewer than two values.
pub fn deviation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = mean(values);
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}

/// Natural logarithms; `None` when there is no value, more than [`MAX_VALUES`], or one that is not positive and finite.
pub fn logs(values: &[f64]) -> Option<Vec<f64>> {
    let fit = |x: &f64| x.is_finite() && *x > 0.0;
    let some = (1..=MAX_VALUES).contains(&values.len());
    (some && values.iter().all(fit)).then(|| values.iter().map(|x| x.ln()).collect())
}

/// All averages of two values, including each value with itself, in ascending order (Walsh averages).
pub fn walsh(values: &[f64]) -> Vec<f64> {
    let n = values.len();
    let mut averages = Vec::with_capacity(n * (n + 1) / 2);
    for (i, x) in values.iter().enumerate() {
        averages.extend(values[i..].iter().map(|y| f64::midpoint(*x, *y)));
    }
    averages.sort_unstable_by(f64::total_cmp);
    averages
}

/// Pseudo-median (Hodges-Lehmann): the median of the Walsh averages of at least one value.
pub fn pseudo_median(values: &[f64]) -> f64 {
    median(&walsh(values))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_samples_by_hand() {
        assert_eq!(median(&[1.0, 2.0, 4.0]), 2.0);
        assert_eq!(median(&[1.0, 2.0, 4.0, 8.0]), 3.0);
        assert_eq!(
            [0.0, 0.25, 0.5, 1.0].map(|share| quantile(&[1.0, 2.0, 4.0], share)),
            [1.0, 1.5, 2.0, 4.0]
        );
        assert_eq!(deviation(&[7.0]), 0.0);
        assert!((deviation(&[1.0, 2.0, 3.0]) - 1.0).abs() < 1e-15);
        assert_eq!(walsh(&[4.0, 0.0, 1.0]), [0.0, 0.5, 1.0, 2.0, 2.5, 4.0]);
        assert_eq!(pseudo_median(&[4.0, 0.0, 1.0]), 1.5);
        assert!(logs(&[1.0, 0.0]).is_none() && logs(&[]).is_none());
        assert!(logs(&[1.0; MAX_VALUES]).is_some() && logs(&[1.0; MAX_VALUES + 1]).is_none());
        assert!(logs(&[1.0, f64::NAN]).is_none() && logs(&[f64::INFINITY]).is_none());
    }
}
