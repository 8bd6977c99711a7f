//! Number of launches for a result.

use crate::{quantile, undisturbed};

/// Ratio of the standard deviation of the lower quartile of normal values to that of their mean: sqrt(p (1 - p)) / density(p), p = 1/4.
const QUARTILE_SD_RATIO: f64 = 1.3626;

/// Launches for an interval within the estimate times 1 ± `half_width`, from the existing values and their weights
/// ([`undisturbed::estimate`]): the present number if the interval is narrow enough, else n (w / `half_width`)^2 with w its half-width,
/// (high - low) / 2 / estimate; at most twice n, since the scatter of few values is uncertain, and never more than `max`. Repeating this
/// after each stage stops by the width of the interval, never by its position (Chow and Robbins 1965); the cost in coverage is in
/// docs/validation.md.
///
/// `max` if the values have no interval: fewer than 6, or one that is not positive and finite.
pub fn launches_needed(
    values: &[f64],
    weights: &[f64],
    half_width: f64,
    confidence: f64,
    max: usize,
) -> usize {
    let have = values.len();
    let estimate = undisturbed::estimate(values, weights, confidence);
    let Some((value, [low, high])) = estimate.and_then(|e| Some((e.value, e.interval?))) else {
        return max;
    };
    let width = (high - low) / 2.0 / value;
    if width <= half_width {
        return have.min(max);
    }
    let n = (have as f64 * (width / half_width).powi(2)).ceil();
    // the cast saturates, since a half-width of 0 asks for infinitely many
    let needed = if n.is_nan() { max } else { n as usize };
    needed.max(have + 1).min(2 * have).min(max)
}

/// The same before the first launch, if the standard deviation s of ln(value) is known from earlier runs: n = ceil((q z s / e)^2), with z
/// the normal quantile, e = ln(1 + `half_width`), and q = 1.36 the ratio of the deviations of a lower quartile and a mean. At least `min`,
/// at most `max`.
pub fn launches_for(ln_sd: f64, half_width: f64, confidence: f64, min: usize, max: usize) -> usize {
    let n = (QUARTILE_SD_RATIO * quantile::normal(confidence) * ln_sd / half_width.ln_1p())
        .powi(2)
        .ceil();
    let needed = if n.is_nan() { max } else { n as usize };
    needed.max(min).min(max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `count` values around 1, in steps of this share.
    fn ladder(count: usize, step: f64) -> Vec<f64> {
        let middle = (count - 1) as f64 / 2.0;
        (0..count).map(|i| ((i as f64 - middle) * step).exp()).collect()
    }

    fn needed(values: &[f64], half_width: f64, max: usize) -> usize {
        launches_needed(values, &vec![1.0; values.len()], half_width, 0.95, max)
    }

    #[test]
    fn narrower_intervals_take_more_launches() {
        let ten = ladder(10, 0.01);
        let [low, high] = undisturbed::estimate(&ten, &[1.0; 10], 0.95).unwrap().interval.unwrap();
        let value = undisturbed::estimate(&ten, &[1.0; 10], 0.95).unwrap().value;
        let width = (high - low) / 2.0 / value;
        assert_eq!(needed(&ten, width * 1.000_001, 100), 10);
        // 1.2 times as narrow takes 1.44 times as many, four times as narrow at first only twice as many
        assert_eq!(needed(&ten, width / 1.2, 100), 15);
        assert_eq!(needed(&ten, width / 4.0, 100), 20);
        assert_eq!(needed(&ten, width / 4.0, 17), 17);
        assert_eq!(needed(&ten, width * 0.999_999, 100), 11);
    }

    #[test]
    fn known_variance_needs_fewer_launches() {
        // (1.3626 * 1.959964 * 0.05 / 0.0198026)^2 = 45.47
        assert_eq!(launches_for(0.05, 0.02, 0.95, 6, 100), 46);
        assert_eq!(launches_for(0.05, 0.02, 0.95, 6, 10), 10);
        assert_eq!(launches_for(0.0, 0.02, 0.95, 6, 100), 6);
        assert_eq!(launches_for(f64::NAN, 0.02, 0.95, 6, 100), 100);
    }

    #[test]
    fn edges() {
        assert_eq!(needed(&[], 0.01, 40), 40);
        assert_eq!(needed(&ladder(5, 1e-9), 0.01, 40), 40);
        assert_eq!(needed(&[1.0, 1.0, 1.0, 1.0, 1.0, f64::NAN], 0.01, 40), 40);
        assert_eq!(needed(&[1.0; 6], 0.01, 40), 6);
        assert_eq!(needed(&[1.0; 6], 0.0, 40), 6);
        assert_eq!(needed(&ladder(6, 0.1), 0.0, 40), 12);
        assert_eq!(needed(&ladder(6, 0.1), f64::NAN, 40), 12);
        assert_eq!(needed(&[1.0; 50], 0.01, 40), 40);
    }
}
