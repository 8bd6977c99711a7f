//! Estimates the scatter between the benchmarks of two runs without a history: most benchmarks have not changed, and the others hardly move
//! a median.

use super::difference::{Difference, Spread};
use super::options::ALPHA;
use crate::run_effect::{DEFAULT_RUN_VARIANCE, RunEffects};
use gritstone_model::CommonChange;
use gritstone_stats::{descriptive, series};

/// Fewest benchmarks for an estimate.
const MIN_BENCHMARKS: usize = 3;
/// Most degrees of freedom that benchmarks add to the stated ones: their variances differ.
const MAX_FREEDOM: f64 = 4.0;

/// Estimates from the differences of all benchmarks.
pub(super) fn estimate(all: &[Difference], effects: &RunEffects) -> Spread {
    let stated = all.iter().filter(|difference| difference.effect.runs == 0).copied();
    let moved =
        series::in_common(&all.iter().map(|difference| difference.ln_ratio).collect::<Vec<f64>>());
    // either run may be an outlier; of a median, as many runs as shift it
    let [base, other] = effects.runs;
    let outliers = base.min(other).div_ceil(2);
    let usual = series::chance(&effects.common, moved, outliers, base + other) > ALPHA;
    Spread {
        common: if usual { moved * moved } else { 0.0 },
        ..stated_spread(&stated.collect::<Vec<_>>())
    }
}

fn stated_spread(all: &[Difference]) -> Spread {
    let none = Spread::default();
    if all.len() < MIN_BENCHMARKS {
        return none;
    }
    let n = all.len() as f64;
    let center = descriptive::median_of(all.iter().map(|difference| difference.ln_ratio));
    let apart = |difference: &Difference| {
        (difference.ln_ratio - center).abs() / difference.variance(&none).sqrt()
    };
    let variance =
        (descriptive::SD_PER_MAD * descriptive::median_of(all.iter().map(apart))).powi(2);
    // fewer may all have moved with their run: the estimate only widens
    if all.len() < series::MIN_IN_COMMON {
        return Spread { inflation: variance.max(1.0), ..none };
    }
    let more = (n / 4.0).min(MAX_FREEDOM);
    // the stated scatter is a lower bound of the estimate, not an upper one
    Spread {
        inflation: variance.max(
            (DEFAULT_RUN_VARIANCE.freedom + more * variance)
                / (DEFAULT_RUN_VARIANCE.freedom + more),
        ),
        freedom: DEFAULT_RUN_VARIANCE.freedom + more,
        ..none
    }
}

/// The median change, if it is above the margin and nine of ten benchmarks share half of it.
pub(super) fn common_change(all: &[Difference], margin: f64) -> Option<CommonChange> {
    let moved: Vec<f64> = all.iter().map(|difference| difference.ln_ratio).collect();
    let shared = series::in_common(&moved);
    if shared == 0.0 {
        return None;
    }
    let center = descriptive::median_of(moved);
    let is_common = shared.abs() > center.abs() / 2.0 && center.abs() > margin.ln_1p();
    is_common.then(|| CommonChange { rows: all.len(), ratio: center.exp() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gritstone_stats::scatter::Scatter;

    fn twenty(moved: usize) -> Vec<Difference> {
        let moved = |n: usize| if n < moved { 0.05 } else { 0.0 };
        let difference = |n: usize| Difference {
            ln_ratio: moved(n) + [-0.001, 0.001][n % 2],
            within: [1e-6, 1e-6],
            frequency: 0.0,
            effect: Scatter::stated(0.005, 4.0),
            medians: Default::default(),
        };
        (0..20).map(difference).collect()
    }

    #[test]
    fn common_variance_needs_nine_tenths() {
        assert!(estimate(&twenty(12), &RunEffects::default()).common < 0.002_f64.powi(2));
        let all = estimate(&twenty(20), &RunEffects::default()).common.sqrt();
        assert!((0.045..0.055).contains(&all), "{all}");
    }
}
