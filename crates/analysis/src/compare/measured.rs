//! Compares launches of two measured results: in core cycles where the processor bounds the benchmark and both sides
//! have the cycle probe.

use super::Options;
use super::pair::{ComparedBy, Pair, ratio, scale};
use crate::run_variance::{self, Class};
use gritstone_model::{Better, Finding, Kind, Measurement, Quantity, RowVariance, Subject};
use gritstone_stats::quantile;
use gritstone_stats::scatter::Scatter;
use gritstone_stats::two_sample::{self, Ratio};

/// Power at the minimum detectable effect.
const POWER: f64 = 0.95;

/// Compares the estimates, or the cycles, of two measured results.
pub(super) fn pair(base: &Measurement, other: &Measurement, options: &Options) -> Pair {
    let mut pair = Pair::new(base, other);
    if base.version != other.version {
        return pair.apart(Finding::VersionsDiffer {
            base: base.version,
            other: other.version,
        });
    }
    let Some(scale) = scale(&other.unit, &base.unit) else {
        return pair.apart(Finding::UnitsDiffer {
            base: base.unit.to_string(),
            other: other.unit.to_string(),
        });
    };
    let (b, o) = match (base.value(), other.value()) {
        (Some(b), Some(o)) => (b, o * scale),
        (base, other) => {
            return pair.apart(Finding::NoEstimate {
                base: base.is_some(),
                other: other.is_some(),
            });
        }
    };
    if b <= 0.0 || o <= 0.0 {
        return pair.apart(Finding::NotPositive {});
    }
    if base.values().is_empty() || other.values().is_empty() || base.kind == Kind::Rating {
        pair.ratio = Some(ratio(b, o, base.better));
        pair.basis = ComparedBy::Nothing;
        pair.notes.push(Finding::NoLaunches {});
        return pair;
    }
    if base.unit.quantity() == Quantity::Exact {
        pair.ratio = Some(ratio(b, o, base.better));
        pair.basis = ComparedBy::Exact;
        return pair;
    }
    held(
        pair,
        base,
        other,
        &Launches::new(base, other, scale, options),
        options,
    )
}

fn held(
    mut pair: Pair,
    base: &Measurement,
    other: &Measurement,
    launches: &Launches,
    options: &Options,
) -> Pair {
    if launches.paced {
        pair.compared = Subject::Cycles;
        pair.unit = "cycles".to_owned();
        let cycles = |of: &Measurement| of.cycles().map(|cycles| cycles.value);
        (pair.base, pair.other) = (cycles(base), cycles(other));
    }
    let Some(found) = launches.ratio(options.confidence) else {
        return pair.apart(Finding::NotPositive {});
    };
    pair.ratio = Some(found.ratio);
    pair.between = Some(launches.between);
    pair.variance = Some(launches.variance);
    (pair.interval, pair.inner) = (found.interval, found.inner);
    pair.p = found.p;
    pair
}

/// Samples and variances of a comparison.
struct Launches<'a> {
    /// In core cycles.
    paced: bool,
    base: &'a [f64],
    /// In the unit of the base, less the common shift where that is taken out.
    other: Vec<f64>,
    better: Better,
    /// Variance between runs, including the common shift where it is not removed.
    between: Scatter,
    /// Variance of ln(estimate) that the launches of both sides show.
    within: f64,
    /// Decides between cycles and estimates.
    variance: RowVariance,
}

impl<'a> Launches<'a> {
    fn new(base: &'a Measurement, other: &Measurement, scale: f64, options: &Options) -> Self {
        let within = |side: &Measurement, paced: bool| {
            let estimate = if paced {
                side.cycles()
            } else {
                side.estimate()
            };
            run_variance::within(
                estimate.and_then(|estimate| estimate.interval),
                side.launches(),
            )
        };
        let paced = options.cycles
            && base.processor_bound
            && other.processor_bound
            && !base.paced_values().is_empty()
            && !other.paced_values().is_empty();
        let between = options.between_run(&base.id);
        let variance = between.row(paced);
        let paced = paced && between.paced_is_less();
        let class = Class::new(base, paced);
        let (extra, shift) = options.beyond(class, if paced { between.paced } else { between.raw });
        let both = within(base, paced) + within(other, paced);
        let (base, other, better, scale) = match paced {
            true => (
                base.paced_values(),
                other.paced_values(),
                Better::Lower,
                1.0,
            ),
            false => (base.values(), other.values(), base.better, scale),
        };
        let by = scale
            * match better {
                Better::Higher => (-shift).exp(),
                Better::Lower => shift.exp(),
            };
        Self {
            paced,
            base,
            other: other.iter().map(|x| x * by).collect(),
            better,
            between: extra,
            within: both,
            variance,
        }
    }

    /// Above 1 when the other is better.
    fn ratio(&self, confidence: f64) -> Option<Ratio> {
        let extra = self.between.of_two_runs();
        let found = match self.between.runs {
            0 => two_sample::ratio(self.base, &self.other, extra, confidence)?,
            // the learned variance includes that of the launches
            _ => {
                let more = (self.within - 2.0 * self.between.within).max(0.0);
                let variance = (extra.ln_sd.powi(2) + more).max(self.within);
                two_sample::shift(self.base, &self.other, variance, extra.freedom, confidence)?
            }
        };
        Some(match self.better {
            Better::Higher => found,
            Better::Lower => found.inverse(),
        })
    }

    /// Half of the interval of the logarithm of the ratio.
    fn half(&self, confidence: f64) -> Option<f64> {
        let [low, high] = self.ratio(confidence)?.interval?;
        Some((high / low).ln() / 2.0)
    }

    /// Distance on the logarithmic scale that is significant in a single test among `tests`; `None` where these
    /// launches never suffice.
    fn needed(&self, tests: usize, options: &Options) -> Option<f64> {
        let half = self.half(options.confidence)?;
        let sure = self.half(1.0 - options.alpha / tests.max(1) as f64)?;
        let inner = self.half(two_sample::inner(options.confidence))?;
        // the interval must exclude 1 too, and a change that is sure, but surely inside the margin, is called none
        Some(sure.max(half).max(options.margin.ln_1p() - inner))
    }
}

/// Above 1 when the other is better, by their launches.
pub(super) fn ratio_of(
    base: &Measurement,
    other: &Measurement,
    options: &Options,
) -> Option<Ratio> {
    let scale = scale(&other.unit, &base.unit)?;
    Launches::new(base, other, scale, options).ratio(options.confidence)
}

/// The class of a result, and ln(ratio) of speeds.
pub(super) fn speed(
    base: &Measurement,
    other: &Measurement,
    options: &Options,
) -> Option<(Class, f64)> {
    let scale = scale(&other.unit, &base.unit)?;
    let launches = Launches::new(base, other, scale, options);
    let ratio = launches.ratio(options.confidence)?.ratio;
    Some((Class::new(base, launches.paced), ratio.ln()))
}

/// Minimum detectable effect with [`POWER`], as a share: the significant distance plus the variance of the distance
/// itself. `None` where no change is detectable.
pub(super) fn smallest(
    base: &Measurement,
    other: &Measurement,
    tests: usize,
    options: &Options,
) -> Option<f64> {
    let scale = scale(&other.unit, &base.unit)?;
    let launches = Launches::new(base, other, scale, options);
    let needed = launches.needed(tests, options)?;
    let t = quantile::student(options.confidence, launches.between.freedom);
    let scatter = launches.half(options.confidence)? / t;
    Some((needed + quantile::normal(2.0 * POWER - 1.0) * scatter).exp_m1())
}
