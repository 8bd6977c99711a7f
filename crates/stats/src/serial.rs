//! Serial correlation and trend of values in time.

use crate::descriptive;

/// Median of the slopes of all pairs, for a step of one value; `None` for fewer than three values (Theil 1950, Sen 1968).
pub fn theil_sen(values: &[f64]) -> Option<f64> {
    let n = values.len();
    let mut slopes: Vec<f64> = (0..n)
        .flat_map(|i| (i + 1..n).map(move |j| (i, j)))
        .map(|(i, j)| (values[j] - values[i]) / (j - i) as f64)
        .collect();
    slopes.sort_unstable_by(f64::total_cmp);
    (n >= 3).then(|| descriptive::median(&slopes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slope_ignores_one_outlier() {
        let mut values: Vec<f64> = (0..9).map(|i| 10.0 + 0.5 * f64::from(i)).collect();
        values[4] = 900.0;
        assert!((theil_sen(&values).unwrap() - 0.5).abs() < 1e-12);
        assert!(theil_sen(&[1.0, 2.0]).is_none());
    }
}
