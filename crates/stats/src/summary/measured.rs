//! A row that was launched: kernels, commands and scenarios. One value a launch, one figure from the launches.
//!
//! Must not know: other rows, the rules of footnotes, how the published work is timed.

use super::reading::{Reading, median, merged};
use super::{
    Intervals, Options, Row, blank, disturbance, load, longest, paging, pairs, published, rules,
    sorted,
};
use crate::{center, describe};
use gritstone_model::{
    Benchmark, Footnote, FootnoteKind, Quantity, ResultView, RunData, Statistics, Work,
};
use std::collections::BTreeSet;

/// The result of a row from its launches.
pub(super) fn result(row: &Row, run: &RunData, options: &Options) -> ResultView {
    let benchmark = row.benchmark;
    let mut result = blank(benchmark, run);
    let (outcome, footnotes) = row.outcome(&result);
    result.outcome = outcome;
    result.footnotes.extend(footnotes);

    let launches: Vec<&Reading> = row.launches.iter().filter(|r| r.measured()).collect();
    let (alone, crowded) = rules::uncrowded(&launches, options.confidence);
    let (timed, ns): (Vec<&Reading>, Vec<f64>) = alone
        .iter()
        .filter_map(|launch| Some((*launch, row.ns(launch)?)))
        .unzip();
    let intervals = row.intervals(options);
    figure(&mut result, row, &timed, &ns, &intervals);
    result.parts = pairs::parts(benchmark, &timed);
    result.measured = measured(&launches);

    let centre = center::log_center(&ns, options.confidence).map(|e| e.value);
    let notes = &mut result.footnotes;
    notes.extend(rules::untimed(timed.len(), &alone));
    notes.extend(rules::claims(benchmark, &launches, centre));
    if !result.values.is_empty() {
        notes.extend(rules::repeatable(&rules::Spread {
            n: result.launches,
            thing: "launch",
            interval: result.interval,
            confidence: options.confidence,
            precision: run.info.settings.precision,
            modes: result.statistics.as_ref().and_then(|s| s.modes),
            range: rules::range(&result.values),
        }));
    }
    notes.extend(longest::explained(&timed));
    notes.extend(remarked(&launches));
    notes.extend(paging::stood_in(&launches));
    notes.extend(load::beside(benchmark, &launches));
    notes.extend(paging::paged(benchmark, &launches));
    result.faults_per_page = paging::faults_per_page(benchmark, &launches);
    notes.extend(disturbance::disturbed(benchmark, &alone));
    notes.extend(crowded);
    if result.cycles.is_some() {
        notes.extend(rules::drifted(row.drift));
    }
    if let Some(work) = &benchmark.published {
        let (view, footnotes) = match benchmark.work {
            Work::Kernel(_) => published::batches(work, benchmark, &alone, &intervals),
            _ => published::processes(work, &timed, &intervals),
        };
        result.published = Some(view);
        result.footnotes.extend(footnotes);
    }
    result.footnotes = sorted(result.footnotes);
    result
}

/// Estimate, cycles, statistics and values, from nanoseconds an operation, one for each launch.
fn figure(
    result: &mut ResultView,
    row: &Row,
    timed: &[&Reading],
    ns: &[f64],
    intervals: &Intervals,
) {
    let benchmark = row.benchmark;
    let unit = |ns: f64| benchmark.unit.figure(ns, benchmark.amount_per_op);
    result.launches = timed.len();
    result.samples = timed.iter().map(|launch| launch.samples.len()).sum();
    result.values = ns.iter().filter_map(|&ns| unit(ns)).collect();
    let Some(center) = intervals.log_center(&result.values) else {
        return;
    };
    result.estimate = Some(center.value);
    result.interval = center.interval;
    result.confidence = center.interval.map(|_| center.confidence);

    let paced: Option<Vec<f64>> = timed.iter().map(|launch| row.cycles(launch)).collect();
    if let Some(paced) = paced {
        if let Some(cycles) = center::log_center(&paced, intervals.confidence) {
            result.cycles = Some(cycles.value);
            result.cycles_interval = cycles.interval;
        }
        result.paced_values = paced;
        result.ghz = median(timed.iter().filter_map(|launch| launch.ghz()));
    }
    result.statistics = statistics(timed, benchmark, &result.values);
}

/// Over launches; where the figure is a time and latencies were kept, over all events of all launches, with drift and
/// modes still those of the launches, which are what the estimate is made of. A latency in the unit of a rate would
/// turn smallest and largest around, so a rate keeps the statistics of its launches.
fn statistics(timed: &[&Reading], benchmark: &Benchmark, values: &[f64]) -> Option<Statistics> {
    let launches = describe::describe(values)?;
    if !matches!(benchmark.unit.quantity(), Quantity::Time { .. }) {
        return Some(launches);
    }
    let latencies = timed.iter().flat_map(|launch| &launch.latencies);
    let Some(events) = describe::histogram(&merged(latencies.copied())) else {
        return Some(launches);
    };
    // one event is one operation
    let unit = |ns: f64| benchmark.unit.figure(ns, benchmark.amount_per_op);
    Some(Statistics {
        min: unit(events.min)?,
        median: unit(events.median)?,
        mean: events.mean.and_then(unit),
        max: unit(events.max)?,
        sd: events.sd.and_then(unit),
        percentiles: events
            .percentiles
            .into_iter()
            .filter_map(|(name, ns)| Some((name, unit(ns)?)))
            .collect(),
        drift: launches.drift,
        modes: launches.modes,
    })
}

/// What the launches themselves found worth saying, each of it once.
fn remarked(launches: &[&Reading]) -> impl Iterator<Item = Footnote> {
    let said = launches.iter().flat_map(|launch| launch.params("remark"));
    let said: BTreeSet<&str> = said.collect();
    said.into_iter()
        .map(|why| Footnote::new(FootnoteKind::Note, why.to_owned()))
}

/// What was really measured, as the launches said it; more than one thing is all of them.
fn measured(launches: &[&Reading]) -> Option<String> {
    let mut said: Vec<&str> = Vec::new();
    for what in launches.iter().flat_map(|launch| launch.params("measured")) {
        if !said.contains(&what) {
            said.push(what);
        }
    }
    (!said.is_empty()).then(|| said.join("; "))
}
