//! Compares percentiles of operations: over launches if each launch of both sides has its own, else pooled ones with bootstrap intervals.

use super::options::CONFIDENCE;
use super::pair::{ComparedBy, Pair};
use super::{ComparedRow, Options, measured, set_verdict};
use crate::conversion::{scale, to_reference};
use crate::tails;
use gritstone_model::{CompareFigure, ComparePercentile, Latencies, Measurement, Verdict};
use gritstone_stats::multiple;
use gritstone_stats::two_sample::Ratio;
use std::collections::BTreeMap;

/// Common percentiles, without verdicts. None if the benchmark itself has no tested ratio.
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
    let scale = scale * to_reference(other, &base.unit, options.reference_ghz);
    let estimate = |latencies: &Latencies, name: &str| latencies.get(name)?.estimate;
    let one = |name: &str| {
        let (b, o) = (estimate(b, name)?, estimate(o, name)?.times(scale));
        let found = match beyond.get(name) {
            Some(options) => tail_ratio(
                &tails::percentile_of(base, name)?,
                &tails::percentile_of(other, name)?,
                options,
            )?,
            None if is_result(base, b.value) => {
                Ratio { ratio: pair.ratio?, interval: pair.interval, p: pair.p }
            }
            None => return None,
        };
        Some(ComparePercentile {
            name: name.to_owned(),
            figure: CompareFigure {
                base: Some(b.value),
                other: Some(o.value),
                ratio: Some(found.ratio),
                interval: found.interval,
                p: found.p,
                verdict: options.before_p(found.interval),
                ..CompareFigure::default()
            },
        })
    };
    let names = b.percentiles.iter().map(|percentile| percentile.name.as_str());
    names.filter_map(one).collect()
}

/// Whether the median is the estimate, which may also be the mean of the operations.
fn is_result(result: &Measurement, median: f64) -> bool {
    result.value().is_some_and(|value| (value / median - 1.0).abs() < 1e-6)
}

/// Adjusts p of percentiles beyond the median as a separate family; the median is that of the benchmark.
pub(super) fn set_verdicts(rows: &mut [ComparedRow], options: &Options) {
    let is_tail = |percentile: &ComparePercentile| tails::TAILS.contains(&percentile.name.as_str());
    for ComparedRow { row, .. } in rows.iter_mut() {
        let tested = row.p.is_some();
        let all = row.percentiles.iter_mut();
        all.for_each(|percentile| percentile.figure.p = percentile.figure.p.filter(|_| tested));
    }
    let all = rows.iter().flat_map(|row| &row.row.percentiles);
    let p: Vec<Option<f64>> = all
        .filter(|percentile| is_tail(percentile))
        .map(|percentile| percentile.figure.p)
        .collect();
    let mut adjusted = multiple::holm(&p).into_iter();
    for ComparedRow { row, .. } in rows {
        for percentile in &mut row.percentiles {
            if is_tail(percentile) {
                let p = adjusted.next().flatten();
                set_verdict(&mut percentile.figure, p, options);
                continue;
            }
            let figure = &mut percentile.figure;
            (figure.interval, figure.p_adjusted) = (row.interval, row.p_adjusted);
            figure.verdict = row.verdict.unwrap_or(Verdict::Inconclusive);
        }
    }
}

/// Options for each percentile beyond the median, with its run effects.
pub(super) fn options(options: &Options) -> BTreeMap<&'static str, Options> {
    let entry = |name| {
        let learned = options.effects.percentiles.get(name);
        let options = Options {
            effects: learned.cloned().unwrap_or_default().into_iter().collect(),
            ..options.clone()
        };
        (name, options)
    };
    tails::TAILS.into_iter().map(entry).collect()
}

fn tail_ratio(base: &Measurement, other: &Measurement, options: &Options) -> Option<Ratio> {
    let difference = measured::difference(base, other, options)?;
    Some(difference.ratio(&options.spread, CONFIDENCE))
}
