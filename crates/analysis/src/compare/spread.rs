//! How far the benchmarks of two runs differ, where no history says how far they differ by chance: most have not changed, and those that
//! have changed hardly move a median.

use super::difference::{Difference, Spread};
use crate::run_effect::STATED;
use gritstone_model::CommonChange;
use gritstone_stats::descriptive;

/// Fewest benchmarks that say anything of each other.
const MIN_BENCHMARKS: usize = 8;
/// Variance of a median of normal values over that of their mean.
const OF_MEDIAN: f64 = std::f64::consts::FRAC_PI_2;
/// Most degrees of freedom that benchmarks add to what is stated: their variances are not alike.
const MAX_FREEDOM: f64 = 8.0;

/// From the differences of benchmarks without history.
pub(super) fn of_differences(all: &[Difference]) -> Spread {
    let none = Spread::default();
    if all.len() < MIN_BENCHMARKS {
        return none;
    }
    let n = all.len() as f64;
    let center = median(all.iter().map(|of| of.ln_ratio));
    let apart = |of: &Difference| (of.ln_ratio - center).abs() / of.variance(&none).sqrt();
    let seen = (descriptive::OF_MAD * median(all.iter().map(apart))).powi(2);
    let more = (n / 4.0).min(MAX_FREEDOM);
    // what is stated holds a narrow spread up, and never a wide one down
    let inflation = seen.max((STATED.freedom + more * seen) / (STATED.freedom + more));
    let typical = median(all.iter().map(|of| of.variance(&none))) * inflation;
    Spread {
        inflation,
        common: (center * center - 4.0 * OF_MEDIAN * typical / n).max(0.0),
        freedom: STATED.freedom + more,
    }
}

/// What nine of ten benchmarks did alike, if that is more than the margin.
pub(super) fn common_change(all: &[Difference], margin: f64) -> Option<CommonChange> {
    let enough = all.len() >= MIN_BENCHMARKS;
    let center = enough.then(|| median(all.iter().map(|of| of.ln_ratio)))?;
    let alike = all
        .iter()
        .filter(|of| (of.ln_ratio * center.signum()) > center.abs() / 2.0)
        .count();
    let most = 10 * alike >= 9 * all.len() && center.abs() > margin.ln_1p();
    most.then(|| CommonChange {
        rows: all.len(),
        ratio: center.exp(),
    })
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    descriptive::median(&descriptive::sorted(&values.collect::<Vec<f64>>()))
}
