//! Compares two measured results: their estimates at one frequency, with the errors of their launches and the run effects.

use super::Options;
use super::difference::Difference;
use super::options::{ALPHA, CONFIDENCE};
use super::pair::{ComparedBy, Pair, ratio};
use crate::conversion::{scale, to_reference};
use crate::run_summary::launch_variance;
use gritstone_model::{Estimate, Finding, Kind, Measurement, Quantity, RowVariance};
use gritstone_stats::quantile;

/// Power at the minimum detectable effect.
const POWER: f64 = 0.95;
/// Standard deviation of the slope by which a time depends on the core's frequency (1 for pure core work), for work that is not
/// processor-bound. Slopes estimated from the samples of a run vary by more (docs/statistics.md, "Frequency").
const SLOPE: f64 = 0.3;

/// Compares the estimates of two measured results.
pub(super) fn pair(base: &Measurement, other: &Measurement, options: &Options) -> Pair {
    let mut pair = Pair::new(base, other);
    if base.version != other.version {
        return pair.without_ratio_because(Finding::VersionsDiffer {
            base: base.version,
            other: other.version,
        });
    }
    let Some(scale) = scale(&other.unit, &base.unit) else {
        return pair.without_ratio_because(Finding::UnitsDiffer {
            base: base.unit.to_string(),
            other: other.unit.to_string(),
        });
    };
    let scale = scale * to_reference(other, &base.unit, options.reference_ghz);
    let (b, o) = match (base.value(), other.value()) {
        (Some(b), Some(o)) => (b, o * scale),
        (base, other) => {
            return pair.without_ratio_because(Finding::NoEstimate {
                base: base.is_some(),
                other: other.is_some(),
            });
        }
    };
    pair.other = Some(o);
    if b <= 0.0 || o <= 0.0 {
        return pair.without_ratio_because(Finding::NotPositive {});
    }
    pair.ratio = Some(ratio(b, o, base.better));
    if base.values().is_empty() || other.values().is_empty() || base.kind == Kind::Score {
        pair.basis = ComparedBy::Nothing;
        pair.notes.push(Finding::NoLaunches {});
        return pair;
    }
    if base.unit.quantity() == Quantity::Exact {
        pair.basis = ComparedBy::Exact;
        return pair;
    }
    let effect = options.effect(&base.id);
    pair.variance = Some(RowVariance {
        estimate: match effect.runs {
            0 => effect.ln_sd,
            _ => effect.beyond_launches(),
        },
        runs: effect.runs,
    });
    if let Some(difference) = difference(base, other, options) {
        let found = difference.ratio(&options.spread, CONFIDENCE);
        (pair.interval, pair.p) = (found.interval, found.p);
        pair.difference = Some(difference);
    }
    pair
}

/// Above 0 when the other is better. `None` where a side has no interval above 0.
pub(super) fn difference(
    base: &Measurement,
    other: &Measurement,
    options: &Options,
) -> Option<Difference> {
    let scale =
        scale(&other.unit, &base.unit)? * to_reference(other, &base.unit, options.reference_ghz);
    let (b, o) = (base.estimate()?, other.estimate()?);
    let interval = |side: Estimate| side.interval.filter(|[low, _]| *low > 0.0);
    let frequencies = base.ghz().zip(other.ghz());
    let slope = match (base.processor_bound, frequencies, options.reference_ghz) {
        (false, Some((b, o)), Some(_)) => SLOPE * (o / b).ln(),
        _ => 0.0,
    };
    Some(Difference {
        ln_ratio: base.better.log_speed(o.value * scale / b.value),
        within: [launch_variance(Some(interval(b)?)), launch_variance(Some(interval(o)?))],
        frequency: slope * slope,
        effect: options.effect(&base.id),
        medians: options.medians(&base.id),
    })
    .filter(|difference| difference.ln_ratio.is_finite())
}

/// Minimum detectable effect with [`POWER`] among `tests`, as a share: the significant distance, at least the margin, plus the error of
/// the distance itself.
pub(super) fn smallest(difference: &Difference, tests: usize, options: &Options) -> f64 {
    let half = |confidence| {
        let found = difference.ratio(&options.spread, confidence).interval;
        found.map_or(f64::INFINITY, |[low, high]| (high / low).ln() / 2.0)
    };
    let sure = half(1.0 - options.gate.unwrap_or(ALPHA) / tests.max(1) as f64);
    let needed = sure.max(options.margin.ln_1p());
    let error = difference.variance(&options.spread).sqrt();
    (needed + quantile::normal(2.0 * POWER - 1.0) * error).exp_m1()
}
