//! Results from launches of workloads, commands and scenarios: one value per launch, one estimate.

use super::draft::Draft;
use super::launch_center::estimate_launches;
use super::reading::{Reading, median, merged};
use super::rules::{self, Evidence, Spread};
use super::{
    Launched, Options, copies, counters, cpu, event_time_ns, interference, latencies, paging,
    pairs, published, responses,
};
use crate::describe;
use gritstone_model::{
    Absent, Benchmark, Data, Estimate, Flag, Latencies, Measured, Measurement, Note, Param,
    Percentile, Repeat, RunData, Sampled, Statistics, Work,
};
use std::collections::BTreeMap;

pub(super) fn result(launched: &Launched, run: &RunData, options: &Options) -> Measurement {
    let benchmark = launched.benchmark;
    let mut draft = Draft::new(benchmark, run);
    let (absence, failure) = launched.failure(draft.is_flagged(Flag::Skipped), run);
    draft.notes.extend(failure);

    let launches: Vec<&Reading> = launched.measured();
    let (timed, ns): (Vec<&Reading>, Vec<f64>) =
        launches.iter().filter_map(|launch| Some((*launch, launched.ns(launch)?))).unzip();
    let latencies = latencies::from_launches(benchmark, &timed, options.confidence);
    let center = estimate_launches(&ns, &timed, options.confidence);
    let times = Times { ns: &ns, center };
    let sampled = sampled(launched, &timed, times, latencies.as_ref(), options.confidence);
    draft.measured = measured(&launches);

    let spread = (!sampled.values.is_empty()).then(|| Spread {
        n: sampled.launches,
        what: Repeat::Launch,
        estimate: sampled.estimate,
        confidence: options.confidence,
        precision: run.info.settings.precision,
        modes: sampled.statistics.as_ref().and_then(|s| s.modes),
        range: rules::range(&sampled.values),
    });
    let evidence = Evidence {
        benchmark,
        launches: &launches,
        timed: timed.len(),
        ns: center.map(|center| center.value),
        spread,
    };
    draft.notes.extend(rules::all(&evidence));
    draft.notes.extend(interference::unobserved(&run.info, &launches).map(Note::new));
    (draft.notes).extend(responses::carried(&launches).map(Note::new));
    if published::is_measured(launched, run) {
        time_reference(&mut draft, benchmark, &launches, &timed, options.confidence);
    } else {
        draft.published = None;
    }
    let copies = copies::view(launched, run, options);
    draft.finish(match absence {
        Some(absence) => Data::Absent(Absent { absence, copies, ..Absent::default() }),
        None => Data::Measured(Box::new(Measured {
            latencies: latencies.filter(|_| sampled.estimate.is_some()),
            copies,
            faults_per_page: paging::faults_per_page(benchmark, &launches),
            counters: counters::per_op(launched, &launches),
            names: Vec::new(),
            sampled,
        })),
    })
}

/// Adds the times of the reference workload.
fn time_reference(
    draft: &mut Draft,
    benchmark: &Benchmark,
    launches: &[&Reading],
    timed: &[&Reading],
    confidence: f64,
) {
    if let Some(work) = &benchmark.published {
        let (view, notes) = match benchmark.work {
            Work::Kernel(_) => published::batches(work, benchmark, launches, confidence),
            _ => published::processes(work, timed, confidence),
        };
        draft.published = Some(view);
        draft.notes.extend(notes);
    }
}

/// Nanoseconds per operation of each timed launch, and their estimate.
#[derive(Clone, Copy)]
struct Times<'a> {
    ns: &'a [f64],
    center: Option<Estimate>,
}

fn sampled(
    launched: &Launched,
    timed: &[&Reading],
    Times { ns, center }: Times,
    latencies: Option<&Latencies>,
    confidence: f64,
) -> Sampled {
    let benchmark = launched.benchmark;
    let unit = |ns: f64| benchmark.unit.convert(ns, benchmark.amount_per_op);
    let mut parts = pairs::parts(benchmark, timed);
    parts.extend(cpu::parts(benchmark, timed));
    let mut sampled = Sampled {
        launches: timed.len(),
        samples: timed.iter().map(|launch| launch.samples.len()).sum(),
        values: ns.iter().filter_map(|&ns| unit(ns)).collect(),
        weights: timed.iter().map(|launch| launch.weight()).collect(),
        parts,
        ..Sampled::default()
    };
    let Some(center) = center.and_then(|center| in_unit(center, unit)) else {
        return sampled;
    };
    sampled.estimate = Some(center);
    // samples have other work than operations that are timed one by one
    let whole = timed.iter().filter(|launch| event_time_ns(benchmark, launch).is_none());
    sampled.as_ran = median(whole.filter_map(|launch| launch.ns_as_ran())).and_then(unit);
    sampled.confidence = center.interval.map(|_| confidence);

    let cycles: Option<Vec<f64>> = timed.iter().map(|launch| launched.cycles(launch)).collect();
    if let Some(cycles) = cycles {
        sampled.cycles = estimate_launches(&cycles, timed, confidence);
        sampled.cycle_values = cycles;
        sampled.ghz = median(timed.iter().filter_map(|launch| launch.ghz()));
    }
    sampled.responses = responses::from_launches(timed, confidence);
    sampled.statistics = statistics(timed, benchmark, &sampled.values, latencies);
    sampled
}

/// A rate is the reciprocal of a time, so the interval's ends are swapped.
pub(super) fn in_unit(ns: Estimate, unit: impl Fn(f64) -> Option<f64>) -> Option<Estimate> {
    let ends = ns.interval.map(|ends| ends.map(&unit));
    Some(Estimate {
        value: unit(ns.value)?,
        interval: match ends {
            Some([Some(a), Some(b)]) => Some([a.min(b), a.max(b)]),
            _ => None,
        },
    })
}

/// Over launches, or over operations timed one by one; drift and modes are always over launches.
fn statistics(
    timed: &[&Reading],
    benchmark: &Benchmark,
    values: &[f64],
    percentiles: Option<&Latencies>,
) -> Option<Statistics> {
    let launches = describe::describe(values)?;
    let Some(of_operations) = percentiles else {
        return Some(launches);
    };
    let events = timed.iter().flat_map(|launch| &launch.latencies);
    let events = describe::histogram(&merged(events.copied()))?;
    // one event is one operation
    let factor = latencies::to_reference(timed);
    let unit = |ns: f64| benchmark.unit.convert(ns * factor, benchmark.amount_per_op);
    let named =
        |percentile: &Percentile| Some((percentile.name.clone(), percentile.estimate?.value));
    let mut percentiles: BTreeMap<String, f64> =
        (of_operations.percentiles.iter()).filter_map(named).collect();
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

/// Media as launches reported them, joined.
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
