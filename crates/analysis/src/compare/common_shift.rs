//! The common shift of a class of benchmarks between two runs: frequency, temperature, a neighbor, or a change to all.

use super::{Options, measured, pair};
use crate::run_variance::Class;
use gritstone_model::{CompareShift, Flag, RunView, Subject};
use gritstone_stats::{descriptive, history, moderated, quantile};
use std::collections::BTreeMap;

/// p below which the common shift is a difference; low, since it concerns all benchmarks at once.
pub(crate) const LEVEL: f64 = 0.002;
/// Standard error of a median of normal values over that of their mean.
const OF_MEDIAN: f64 = 1.2533;

/// By class; needs enough benchmarks in both runs and a known variance of shifts.
pub(super) fn common(
    base: &RunView,
    other: &RunView,
    options: &Options,
) -> BTreeMap<Class, CompareShift> {
    let mut speeds: BTreeMap<Class, Vec<f64>> = BTreeMap::new();
    for b in &base.results {
        let both = other.get(&b.id).map(|o| (o, pair(b, o, options)));
        let Some((o, pair)) = both.filter(|(_, pair)| pair.p.is_some()) else {
            continue;
        };
        let disturbed = [b, o]
            .iter()
            .any(|side| side.has_flag(Flag::Interference, pair.compared));
        if let Some((class, speed)) = measured::speed(b, o, options).filter(|_| !disturbed) {
            speeds.entry(class).or_default().push(speed);
        }
    }
    let enough = speeds
        .into_iter()
        .filter(|(_, of)| of.len() >= moderated::MIN_BENCHMARKS);
    enough
        .filter_map(|(class, of)| Some((class, shift(class, &of, options)?)))
        .collect()
}

fn shift(class: Class, speeds: &[f64], options: &Options) -> Option<CompareShift> {
    let scatter = options.between_run.shifts.get(&class)?.of_two_runs();
    let median = |of: &[f64]| descriptive::median(&descriptive::sorted(of));
    let center = median(speeds);
    let off: Vec<f64> = speeds.iter().map(|x| (x - center).abs()).collect();
    let error = OF_MEDIAN * history::OF_MAD * median(&off) / (speeds.len() as f64).sqrt();
    let sd = scatter.ln_sd.hypot(error);
    let half = quantile::student(options.confidence, scatter.freedom) * sd;
    let p = quantile::student_tails(center.abs() / sd, scatter.freedom);
    Some(CompareShift {
        compared: match class {
            Class::Cycles => Subject::Cycles,
            Class::Processor | Class::Other => Subject::Estimate,
        },
        processor_bound: class != Class::Other,
        percentile: None,
        rows: speeds.len(),
        ratio: center.exp(),
        interval: [(center - half).exp(), (center + half).exp()],
        p,
        different: p < LEVEL,
    })
}
