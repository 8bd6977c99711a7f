//! Compares percentiles of operations: by launches where each launch of both sides has its own, else by pooled
//! percentiles with bootstrap intervals.

use super::pair::{self, ComparedBy, Pair, scale};
use super::{Options, Row, common_shift, measured, set_verdict};
use crate::run_variance::{self, Class};
use crate::tails;
use gritstone_model::{
    CompareFigure, ComparePercentile, CompareShift, Estimate, Latencies, Measurement, RunView,
};
use gritstone_stats::multiple;
use gritstone_stats::scatter::Scatter;
use gritstone_stats::two_sample::{self, Ratio};
use std::collections::BTreeMap;

/// Common percentiles, without verdicts. None where the benchmark itself has no tested ratio.
pub(super) fn percentiles(
    base: &Measurement,
    other: &Measurement,
    pair: &Pair,
    options: &Options,
    beyond: &BTreeMap<&str, Options>,
) -> Vec<ComparePercentile> {
    let tested = pair.basis == ComparedBy::Test && pair.ratio.is_some();
    let sides = base.latencies().zip(other.latencies());
    let (Some((b, o)), Some(scale), true) = (sides, scale(&other.unit, &base.unit), tested) else {
        return vec![];
    };
    let estimate = |of: &Latencies, name: &str| of.get(name)?.estimate;
    let one = |name: &str| {
        let (b, o) = (estimate(b, name)?, estimate(o, name)?.times(scale));
        let found = match beyond.get(name) {
            Some(options) => of_tail(
                &tails::percentile_of(base, name)?,
                &tails::percentile_of(other, name)?,
                options,
            )?,
            None => Ratio {
                ratio: pair.ratio?,
                interval: pair.interval,
                inner: pair.inner,
                p: pair.p,
            },
        };
        Some(ComparePercentile {
            name: name.to_owned(),
            figure: CompareFigure {
                base: Some(b.value),
                other: Some(o.value),
                ratio: Some(found.ratio),
                interval: found.interval,
                p: found.p,
                verdict: options.before_p(found.inner),
                ..CompareFigure::default()
            },
        })
    };
    let names = b.percentiles.iter().map(|of| of.name.as_str());
    names.filter_map(one).collect()
}

/// Adjusts p of percentiles beyond the median as a family of their own; the median has p of the benchmark.
/// Inconclusive where the benchmark is.
pub(super) fn set_verdicts(rows: &mut [Row], options: &Options) {
    let is_tail = |of: &ComparePercentile| tails::TAILS.contains(&of.name.as_str());
    for (row, _) in rows.iter_mut() {
        let tested = row.p.is_some();
        let all = row.percentiles.iter_mut();
        all.for_each(|of| of.figure.p = of.figure.p.filter(|_| tested));
    }
    let all = rows.iter().flat_map(|(row, _)| &row.percentiles);
    let p: Vec<Option<f64>> = all.filter(|of| is_tail(of)).map(|of| of.figure.p).collect();
    let mut adjusted = multiple::benjamini_hochberg(&p).into_iter();
    for (row, _) in rows {
        for of in &mut row.percentiles {
            let p = match is_tail(of) {
                true => adjusted.next().flatten(),
                false => row.p_adjusted,
            };
            set_verdict(&mut of.figure, p, options);
        }
    }
}

/// Options for each percentile beyond the median: its variance between runs and common shift, which is added to
/// `known`.
pub(super) fn options(
    base: &RunView,
    other: &RunView,
    options: &Options,
    known: &mut Vec<CompareShift>,
) -> BTreeMap<&'static str, Options> {
    let of = |name| {
        let learned = options.between_run.percentiles.get(name);
        let options = Options {
            between_run: learned.cloned().unwrap_or_default(),
            shifts: BTreeMap::new(),
            cycles: false,
            ..options.clone()
        };
        let [base, other] = [base, other].map(|view| tails::percentile_of_run(view, name));
        let shifts = common_shift::common(&base, &other, &options);
        let options = options.without(&shifts);
        known.extend(shifts.into_values().map(|shift| CompareShift {
            percentile: Some(name.to_owned()),
            ..shift
        }));
        (name, options)
    };
    tails::TAILS.into_iter().map(of).collect()
}

fn of_tail(base: &Measurement, other: &Measurement, options: &Options) -> Option<Ratio> {
    match base.values().is_empty() || other.values().is_empty() {
        true => of_operations(base, other, options),
        false => measured::ratio_of(base, other, options),
    }
}

/// Of estimates with intervals of Student's t.
fn of_operations(base: &Measurement, other: &Measurement, options: &Options) -> Option<Ratio> {
    let scale = scale(&other.unit, &base.unit)?;
    let Estimate { value: b, interval } = base.estimate()?;
    let Estimate { value: o, .. } = other.estimate()?;
    interval.and(other.interval())?;
    let of_launches = |side: &Measurement| Scatter {
        ln_sd: run_variance::within(side.interval(), side.launches()).sqrt(),
        ..Scatter::stated(0.0, side.launches() as f64 - 1.0)
    };
    let between = options.between_run(&base.id).raw;
    let (extra, shift) = options.beyond(Class::new(base, false), between);
    // the learned variance includes that of the launches
    let variance = (extra.ln_sd.powi(2) - extra.within).max(0.0);
    let extra = Scatter {
        ln_sd: variance.sqrt(),
        ..extra
    };
    let all = of_launches(base)
        .with(of_launches(other))
        .with(extra.of_two_runs());
    Some(two_sample::student(
        pair::ratio(b, o * scale, base.better).ln() - shift,
        all.ln_sd.powi(2),
        all.freedom,
        options.confidence,
    ))
}
