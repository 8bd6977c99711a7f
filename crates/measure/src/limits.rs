//! Limits of a run: launches, time and precision.

use std::time::Duration;

/// Confidence of all intervals.
pub const CONFIDENCE: f64 = 0.95;
/// Launches that a result needs to be compared.
pub(crate) const MIN_LAUNCHES: usize = 10;
/// Beyond this the drift of the machine, not the number of launches, limits what can be known.
pub(crate) const MAX_LAUNCHES: usize = 100;

/// Launches of the pilot: the fewest that have an interval at 95%.
pub const PILOT: usize = 6;
/// Without a budget, a run with wide intervals takes at most this multiple of the time of the fewest launches, and begins no launch beyond
/// the fewest that would end after [`Limits::time`].
pub(crate) const MAX_TIME_FACTOR: u32 = 5;

/// Limits of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Time for everything, which decides how many steps are begun. Without it all are, and wide intervals get more launches, up to
    /// [`MAX_TIME_FACTOR`] times the time of the fewest.
    pub budget: Option<Duration>,
    /// Target half-width of intervals, as a share of the estimate.
    pub precision: f64,
    /// The pilot is everything.
    pub quick: bool,
    /// Seed of the orders.
    pub seed: u64,
}

impl Limits {
    /// When a run without a budget ends, unless the fewest launches of everything take longer.
    pub(crate) fn time(&self) -> Duration {
        match self.quick {
            true => Duration::from_secs(75),
            false => Duration::from_mins(5),
        }
    }

    /// Longest time of a run whose fewest launches take `expected`.
    pub fn longest(&self, expected: Duration) -> Duration {
        match (self.budget, self.quick) {
            (Some(budget), _) => budget,
            (None, true) => expected,
            (None, false) => expected.max((MAX_TIME_FACTOR * expected).min(self.time())),
        }
    }

    pub(crate) fn min_launches(&self) -> usize {
        if self.quick { PILOT } else { MIN_LAUNCHES }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_end_within_their_limits() {
        let [second, minute] =
            [Duration::from_secs, Duration::from_mins].map(|duration| duration(1));
        let limits = |budget, quick| Limits { budget, precision: 0.02, quick, seed: 1 };
        for (budget, quick, expected, longest) in [
            (Some(second), false, minute, second),
            (None, true, minute, minute),
            (None, false, second, 5 * second),
            (None, false, 2 * minute, 5 * minute),
            (None, false, 7 * minute, 7 * minute),
        ] {
            assert_eq!(limits(budget, quick).longest(expected), longest);
        }
    }
}
