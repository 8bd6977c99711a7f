//! How many launches a figure needs.

use crate::{order, quantile};

/// Launches for an interval of about the estimate times 1 ± `half_width`, from a pilot: Stein's two stages (1945),
/// n = ceil((t s / e)^2) with s the standard deviation of ln(value) over the pilot, t Student's quantile for the
/// pilot's degrees of freedom, and e = ln(1 + half_width). The pilot counts towards n. The number is fixed before the
/// second stage begins, so no lucky interval ends it.
///
/// At least `min`, at most `max`; `max` when the pilot has fewer than two values or one that is not finite, since nothing
/// is known of the scatter then.
#[must_use]
pub fn launches_needed(
    pilot_ln: &[f64],
    half_width: f64,
    confidence: f64,
    min: usize,
    max: usize,
) -> usize {
    let scatter = order::deviation(pilot_ln);
    if pilot_ln.len() < 2 || !scatter.is_finite() {
        return max;
    }
    let t = quantile::student(confidence, (pilot_ln.len() - 1) as f64);
    let n = (t * scatter / half_width.ln_1p()).powi(2).ceil();
    // a cast saturates, and a half-width of 0 asks for more than there can be
    let needed = if n.is_nan() { max } else { n as usize };
    let needed = if scatter == 0.0 { min } else { needed };
    needed.max(min).min(max)
}

/// The same where the standard deviation of ln(value) is known from earlier runs: n = ceil((z s / e)^2), without Student's
/// surcharge for a pilot of few.
#[must_use]
pub fn launches_for(ln_sd: f64, half_width: f64, confidence: f64, min: usize, max: usize) -> usize {
    let n = (quantile::normal(confidence) * ln_sd / half_width.ln_1p())
        .powi(2)
        .ceil();
    let needed = if n.is_nan() { max } else { n as usize };
    needed.max(min).min(max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stein_by_hand() {
        // s = 0.02 exactly for -1, 0, 1 times 0.02; t = 4.302653 for two degrees of freedom
        let pilot = [-0.02, 0.0, 0.02];
        let e = 0.02_f64.ln_1p();
        let want = (4.302_653 * 0.02 / e).powi(2).ceil() as usize;
        assert_eq!(want, 19);
        assert_eq!(launches_needed(&pilot, 0.02, 0.95, 6, 100), want);
        assert_eq!(launches_needed(&pilot, 0.02, 0.95, 6, 10), 10);
        assert_eq!(launches_needed(&pilot, 0.5, 0.95, 6, 100), 6);
    }

    #[test]
    fn a_scatter_that_is_known_takes_fewer() {
        // (1.959964 * 0.05 / 0.0198026)^2 = 24.49
        assert_eq!(launches_for(0.05, 0.02, 0.95, 6, 100), 25);
        assert_eq!(launches_for(0.05, 0.02, 0.95, 6, 10), 10);
        assert_eq!(launches_for(0.0, 0.02, 0.95, 6, 100), 6);
        assert_eq!(launches_for(f64::NAN, 0.02, 0.95, 6, 100), 100);
    }

    #[test]
    fn edges() {
        assert_eq!(launches_needed(&[], 0.01, 0.95, 6, 40), 40);
        assert_eq!(launches_needed(&[1.0], 0.01, 0.95, 6, 40), 40);
        assert_eq!(launches_needed(&[1.0, f64::NAN], 0.01, 0.95, 6, 40), 40);
        assert_eq!(launches_needed(&[1.0, 1.0, 1.0], 0.01, 0.95, 6, 40), 6);
        assert_eq!(launches_needed(&[1.0, 1.1, 1.0], 0.0, 0.95, 6, 40), 40);
        assert_eq!(launches_needed(&[1.0, 1.0, 1.0], 0.0, 0.95, 6, 40), 6);
        assert_eq!(launches_needed(&[1.0, 1.1, 1.0], f64::NAN, 0.95, 6, 40), 40);
    }
}
