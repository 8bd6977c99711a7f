//! A row that was launched: kernels, commands and scenarios. One value a launch, one figure from the launches.

use super::reading::{Reading, median, merged};
use super::rules::{self, Evidence, Spread};
use super::{
    Options, Row, blank, counters, cpu, estimate, latencies, paging, pairs, published, responses,
};
use crate::describe;
use gritstone_model::{
    Benchmark, Measurement, Note, Param, Percentile, Repeat, RunData, Statistics, Work, in_order,
};
use gritstone_stats::center;
use std::collections::BTreeMap;

/// The result of a row from its launches.
pub(super) fn result(row: &Row, run: &RunData, options: &Options) -> Measurement {
    let benchmark = row.benchmark;
    let mut result = blank(benchmark, run);
    let (outcome, failure) = row.outcome(&result, run);
    result.outcome = outcome;
    result.notes.extend(failure);

    let launches: Vec<&Reading> = row.launches.iter().filter(|r| r.measured()).collect();
    let (timed, ns): (Vec<&Reading>, Vec<f64>) = launches
        .iter()
        .filter_map(|launch| Some((*launch, row.ns(launch)?)))
        .unzip();
    figure(&mut result, row, &timed, &ns, options.confidence);
    result.parts = pairs::parts(benchmark, &timed);
    result.parts.extend(cpu::parts(benchmark, &timed));
    result.measured = measured(&launches);
    result.counters = counters::per_op(row, &launches);
    result.faults_per_page = paging::faults_per_page(benchmark, &launches);

    let spread = (!result.values.is_empty()).then(|| Spread {
        n: result.launches,
        what: Repeat::Launch,
        estimate: result.estimate,
        confidence: options.confidence,
        precision: run.info.settings.precision,
        modes: result.statistics.as_ref().and_then(|s| s.modes),
        range: rules::range(&result.values),
    });
    let evidence = Evidence {
        benchmark,
        launches: &launches,
        timed: timed.len(),
        ns: center::log_center(&ns, options.confidence).map(|e| e.value),
        spread,
    };
    result.notes.extend(rules::all(&evidence));
    (result.notes).extend(responses::carried(&launches).map(Note::new));
    if !published::is_told(row, run) {
        result.published = None;
    } else if let Some(work) = &benchmark.published {
        let (view, notes) = match benchmark.work {
            Work::Kernel(_) => published::batches(work, benchmark, &launches, options.confidence),
            _ => published::processes(work, &timed, options.confidence),
        };
        result.published = Some(view);
        result.notes.extend(notes);
    }
    result.notes = in_order(result.notes);
    result
}

/// Estimate, cycles, statistics and values, from nanoseconds an operation, one for each launch.
fn figure(result: &mut Measurement, row: &Row, timed: &[&Reading], ns: &[f64], confidence: f64) {
    let benchmark = row.benchmark;
    let unit = |ns: f64| benchmark.unit.figure(ns, benchmark.amount_per_op);
    result.launches = timed.len();
    result.samples = timed.iter().map(|launch| launch.samples.len()).sum();
    result.values = ns.iter().filter_map(|&ns| unit(ns)).collect();
    let Some(center) = center::log_center(&result.values, confidence).map(estimate) else {
        return;
    };
    result.estimate = Some(center);
    result.confidence = center.interval.map(|_| confidence);

    let paced: Option<Vec<f64>> = timed.iter().map(|launch| row.cycles(launch)).collect();
    if let Some(paced) = paced {
        result.cycles = center::log_center(&paced, confidence).map(estimate);
        result.paced_values = paced;
        result.ghz = median(timed.iter().filter_map(|launch| launch.ghz()));
    }
    result.latencies = latencies::of(benchmark, timed, confidence);
    result.responses = responses::of(timed, confidence);
    result.statistics = statistics(timed, benchmark, result);
}

/// Over launches; where operations were timed one by one, over those of all launches, with drift and modes still those of the launches,
/// which are what the estimate is made of.
fn statistics(
    timed: &[&Reading],
    benchmark: &Benchmark,
    result: &Measurement,
) -> Option<Statistics> {
    let launches = describe::describe(&result.values)?;
    let Some(latencies) = &result.latencies else {
        return Some(launches);
    };
    let events = timed.iter().flat_map(|launch| &launch.latencies);
    let events = describe::histogram(&merged(events.copied()))?;
    // one event is one operation
    let unit = |ns: f64| benchmark.unit.figure(ns, benchmark.amount_per_op);
    let named = |of: &Percentile| Some((of.name.clone(), of.estimate?.value));
    let mut percentiles: BTreeMap<String, f64> =
        (latencies.percentiles.iter()).filter_map(named).collect();
    Some(Statistics {
        min: unit(events.min)?,
        median: percentiles.remove("p50").or(unit(events.median))?,
        mean: events.mean.and_then(unit),
        max: unit(events.max)?,
        sd: events.sd.and_then(unit),
        percentiles,
        drift: launches.drift,
        modes: launches.modes,
    })
}

/// What was really measured, as the launches said it; more than one thing is all of them.
fn measured(launches: &[&Reading]) -> Option<String> {
    let mut media: Vec<&str> = Vec::new();
    for param in launches.iter().flat_map(|launch| &launch.params) {
        if let Param::Medium(medium) = param
            && !media.contains(&medium.as_str())
        {
            media.push(medium);
        }
    }
    (!media.is_empty()).then(|| media.join("; "))
}
