//! What moved all launches of a run together, as far as the run itself can see it: the drift of the core's frequency, from the
//! cycle probe of every launch of every row.
//!
//! The run is cut into consecutive pieces. What the medians of the pieces differ by, beyond what the scatter within them
//! explains, is taken for what this run and the next differ by: at least that much is sure. A drift slower than the run is
//! not seen by it, and only other runs can tell it ([`crate::scatter`]). docs/validation.md says how often the interval
//! is right then.

use crate::order;
use crate::scatter::Scatter;

/// Pieces into which a run is cut. With fewer their scatter is hardly known, with more they hang together more.
const PIECES: usize = 8;
/// Launches that a piece must have: the median of fewer is one launch.
const LEAST_IN_A_PIECE: usize = 4;
/// Fewest pieces that tell anything.
const FEWEST_PIECES: usize = 4;

/// Standard deviation of ln(pace) between pieces of a run, from the pace of its launches in the order of time: cycles a
/// second, or seconds a cycle. 0 where the launches are fewer than 16, or one of the paces is not positive and finite.
#[must_use]
pub fn of_run(paces: &[f64]) -> Scatter {
    let none = Scatter::known(0.0);
    let pieces = PIECES.min(paces.len() / LEAST_IN_A_PIECE);
    if pieces < FEWEST_PIECES || paces.iter().any(|x| !x.is_finite() || *x <= 0.0) {
        return none;
    }
    let logs: Vec<f64> = paces.iter().map(|x| x.ln()).collect();
    let n = logs.len();
    let cut: Vec<&[f64]> = (0..pieces)
        .map(|at| &logs[at * n / pieces..(at + 1) * n / pieces])
        .collect();
    let levels: Vec<Level> = cut.iter().map(|piece| Level::of(piece)).collect();
    let medians: Vec<f64> = levels.iter().map(|level| level.median).collect();
    let own = levels.iter().map(|level| level.variance);
    let own = own.sum::<f64>() / pieces as f64;
    let variance = order::deviation(&medians).powi(2) - own;
    if variance <= 0.0 {
        return none;
    }
    Scatter::stated(variance.sqrt(), pieces as f64 - 1.0)
}

/// Median of a piece, and what it scatters by on its own.
struct Level {
    median: f64,
    variance: f64,
}

impl Level {
    /// By medians throughout, since a launch that was held up may have a pace that is off by half: 1.4826 times the median
    /// distance from the median is the standard deviation of a normal distribution, and the median of m values has
    /// pi / 2 times the variance of their mean.
    fn of(piece: &[f64]) -> Self {
        let median = order::median(&order::sorted(piece));
        let distances: Vec<f64> = piece.iter().map(|x| (x - median).abs()).collect();
        let sd = 1.4826 * order::median(&order::sorted(&distances));
        Self {
            median,
            variance: std::f64::consts::FRAC_PI_2 * sd * sd / piece.len() as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_levels() {
        // pieces of 5, at levels with a standard deviation of .01 sqrt(6), and nothing within them
        let paces: Vec<f64> = (0..40).map(|i| (0.01 * f64::from(i / 5)).exp()).collect();
        let found = of_run(&paces);
        assert!((found.ln_sd - 0.01 * 6.0_f64.sqrt()).abs() < 1e-12);
        assert_eq!(found.freedom, 7.0);
        // seconds a cycle drift as much as cycles a second
        let inverse: Vec<f64> = paces.iter().map(|x| 1.0 / x).collect();
        assert!((of_run(&inverse).ln_sd - found.ln_sd).abs() < 1e-12);
    }

    #[test]
    fn scatter_within_the_pieces_is_no_drift() {
        let zigzag: Vec<f64> = (0..40).map(|i| 100.0 + f64::from(i % 3)).collect();
        assert_eq!(of_run(&zigzag), Scatter::known(0.0));
        assert_eq!(of_run(&[4.0; 40]), Scatter::known(0.0));
    }

    #[test]
    fn a_launch_that_was_held_up_is_no_drift() {
        let paces: Vec<f64> = (0..80).map(|i| 4.0 + 0.001 * f64::from(i % 7)).collect();
        let mut held_up = paces.clone();
        (held_up[13], held_up[57]) = (2.0, 3.0);
        assert!(of_run(&held_up).ln_sd < 2e-4);
    }

    #[test]
    fn few_launches_show_no_drift() {
        let slope: Vec<f64> = (1..=16).map(f64::from).collect();
        assert_eq!(of_run(&slope[..15]), Scatter::known(0.0));
        assert_eq!(of_run(&slope).freedom, 3.0);
        assert_eq!(of_run(&[]), Scatter::known(0.0));
        let mut hostile = slope.clone();
        hostile[3] = f64::NAN;
        assert_eq!(of_run(&hostile), Scatter::known(0.0));
    }
}
