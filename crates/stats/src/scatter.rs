//! How far values that should be alike lie apart, and how well that is known: what runs of one machine differ by, beyond
//! what the launches of a run can show.
//!
//! S is the standard deviation of ln(value) over k runs that are alike, with k - 1 degrees of freedom, and s0 a default. The
//! default lends w = 4 max(0, 1 - S^2 / s0^2) degrees of freedom:
//!
//! scatter^2 = (w s0^2 + (k - 1) S^2) / (w + k - 1), with w + k - 1 degrees of freedom.
//!
//! So runs that show as much as the default, or more, speak for themselves, and Student's t says how much five of them may be
//! believed; runs that show less have to outweigh the default, since five runs of one hour agree better than those of
//! a month. docs/validation.md has the rates of false findings.

use crate::order;

/// Fewest runs from which scatter is learned.
pub const FEWEST_RUNS: usize = 5;
/// Degrees of freedom that the default lends when runs show no scatter at all: as many as the fewest runs have.
const LENT: f64 = 4.0;

/// Standard deviation of ln(figure), and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scatter {
    /// Standard deviation of ln(figure); of one run unless it is said to be of a difference.
    pub ln_sd: f64,
    /// Degrees of freedom; infinite where it is taken for known.
    pub freedom: f64,
    /// Runs from which it was learned; 0 where it was not.
    pub runs: usize,
}

/// A standard deviation that is taken for known.
impl From<f64> for Scatter {
    fn from(ln_sd: f64) -> Self {
        Self::known(ln_sd)
    }
}

impl Scatter {
    /// A standard deviation that is taken for known.
    #[must_use]
    pub const fn known(ln_sd: f64) -> Self {
        Self {
            ln_sd,
            freedom: f64::INFINITY,
            runs: 0,
        }
    }

    /// From the figures of runs that are alike, as the head of this module says. It contains the scatter of the launches
    /// within a run once more, which is on the safe side.
    ///
    /// `None` for fewer than [`FEWEST_RUNS`] figures, or one that is not positive and finite: the default holds.
    #[must_use]
    pub fn learned(figures: &[f64], default: f64) -> Option<Self> {
        let logs = order::logs(figures)?;
        let seen = order::deviation(&logs).powi(2);
        let own = logs.len() as f64 - 1.0;
        let lent = if seen < default * default {
            LENT * (1.0 - seen / (default * default))
        } else {
            0.0
        };
        (logs.len() >= FEWEST_RUNS).then(|| Self {
            ln_sd: ((lent * default * default + own * seen) / (lent + own)).sqrt(),
            freedom: lent + own,
            runs: logs.len(),
        })
    }

    /// Of the difference of two runs that both have it.
    #[must_use]
    pub fn of_two_runs(self) -> Self {
        Self {
            ln_sd: self.ln_sd * std::f64::consts::SQRT_2,
            ..self
        }
    }

    /// For one run where two sides that are not alike have a scatter of their own: the root of the mean of the squares,
    /// with the degrees of freedom of Satterthwaite (1946).
    #[must_use]
    pub fn mean(self, other: Self) -> Self {
        let (a, b) = (self.ln_sd * self.ln_sd, other.ln_sd * other.ln_sd);
        let unsure = a * a / self.freedom + b * b / other.freedom;
        Self {
            ln_sd: f64::midpoint(a, b).sqrt(),
            freedom: if unsure > 0.0 {
                (a + b).powi(2) / unsure
            } else {
                f64::INFINITY
            },
            runs: self.runs.min(other.runs),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures whose logarithms have the standard deviation `sd` sqrt(2.5).
    fn five(sd: f64) -> [f64; 5] {
        [-2.0, -1.0, 0.0, 1.0, 2.0].map(|x: f64| (sd * x).exp())
    }

    #[test]
    fn more_than_the_default_speaks_for_itself() {
        let found = Scatter::learned(&five(0.02), 0.01).unwrap();
        assert!((found.ln_sd - 0.02 * 2.5_f64.sqrt()).abs() < 1e-12);
        assert_eq!((found.freedom, found.runs), (4.0, 5));
    }

    #[test]
    fn less_has_to_outweigh_the_default() {
        // S^2 = 2.5e-5 is a quarter of s0^2: 3 degrees of freedom are lent, (3 x 1 + 4 x .25) / 7 = 4 / 7
        let sd = 0.005 / 2.5_f64.sqrt();
        let found = Scatter::learned(&five(sd), 0.01).unwrap();
        assert!((found.ln_sd - 0.01 * (4.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert!((found.freedom - 7.0).abs() < 1e-12);
        // no scatter at all: 4 of 8 are lent
        let found = Scatter::learned(&[3.0; 5], 0.01).unwrap();
        assert!((found.ln_sd - 0.01 * 0.5_f64.sqrt()).abs() < 1e-12);
        assert_eq!(found.freedom, 8.0);
        // where the runs show just the default, both rules meet
        let at = |sd: f64| Scatter::learned(&five(sd / 2.5_f64.sqrt()), 0.01).unwrap();
        let (below, above) = (at(0.009_999_9), at(0.010_000_1));
        assert!((below.ln_sd - above.ln_sd).abs() < 1e-6);
        assert!((below.freedom - above.freedom).abs() < 1e-3);
        assert_eq!(Scatter::learned(&[3.0; 5], 0.0).unwrap().ln_sd, 0.0);
    }

    #[test]
    fn few_runs_and_impossible_figures_tell_nothing() {
        assert!(Scatter::learned(&five(0.02)[..4], 0.01).is_none());
        assert!(Scatter::learned(&[1.0, 1.0, 1.0, 1.0, 0.0], 0.01).is_none());
        assert!(Scatter::learned(&[], 0.01).is_none());
    }

    #[test]
    fn two_sides_of_their_own() {
        let learned = |ln_sd| Scatter {
            ln_sd,
            freedom: 4.0,
            runs: 5,
        };
        let both = learned(0.01).mean(learned(0.01));
        assert!((both.ln_sd - 0.01).abs() < 1e-15 && (both.freedom - 8.0).abs() < 1e-9);
        // (1 + 4)^2 / (1 / 4 + 16 / infinity) = 100
        let both = learned(0.01).mean(Scatter::known(0.02));
        assert!((both.ln_sd - 0.01 * 2.5_f64.sqrt()).abs() < 1e-15);
        assert!((both.freedom - 100.0).abs() < 1e-9 && both.runs == 0);
        let none = Scatter::known(0.0).mean(Scatter::known(0.0));
        assert!(none.ln_sd == 0.0 && none.freedom.is_infinite());
    }
}
