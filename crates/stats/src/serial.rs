//! Serial correlation and trend of values in time.

use crate::descriptive;

/// Lag-1 autocorrelation; 0 for fewer than three values and for values that are all the same.
pub fn rho1(values: &[f64]) -> f64 {
    if values.len() < 3 {
        return 0.0;
    }
    let mean = descriptive::mean(values);
    let square: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    let next: f64 = values
        .windows(2)
        .map(|pair| (pair[0] - mean) * (pair[1] - mean))
        .sum();
    if square > 0.0 { next / square } else { 0.0 }
}

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
    fn correlation_of_known_series() {
        assert_eq!(rho1(&[1.0, 2.0]), 0.0);
        assert_eq!(rho1(&[5.0; 9]), 0.0);
        // mean 2.5; squares 5; products 0.75 - 0.25 + 0.75
        assert!((rho1(&[1.0, 2.0, 3.0, 4.0]) - 0.25).abs() < 1e-15);
        let zigzag: Vec<f64> = (0..20).map(|i| f64::from(i % 2)).collect();
        assert!(rho1(&zigzag) < -0.9);
    }

    #[test]
    fn slope_of_a_line_with_an_outlier() {
        let mut values: Vec<f64> = (0..9).map(|i| 10.0 + 0.5 * f64::from(i)).collect();
        values[4] = 900.0;
        assert!((theil_sen(&values).unwrap() - 0.5).abs() < 1e-12);
        assert!(theil_sen(&[1.0, 2.0]).is_none());
    }
}
