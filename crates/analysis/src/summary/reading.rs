//! A launch with its events by kind, and values from them.

use crate::describe;
use gritstone_model::{
    Batch, Cause, Check, Event, Histogram, Launch, Metric, Number, Outcome, Param, ResponsesOf,
    Sample,
};
use gritstone_stats::{descriptive, percentiles, undisturbed};
use std::collections::BTreeMap;

/// Shortest plausible time of a process, ns.
const MIN_NS: f64 = 1e3;
/// Least weight of a sample: if all have it, all count alike.
const MIN_SAMPLE_WEIGHT: f64 = 1e-3;
/// Share of undisturbed samples below which the value of a launch is a quantile of all samples.
const MIN_UNDISTURBED: f64 = undisturbed::SAMPLE_QUANTILE;
/// Femtoseconds per nanosecond: unit of the cycle probe and of the clock.
const FS_PER_NS: f64 = 1e6;

/// Median of values in any order; `None` if empty.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values = values.into_iter().peekable();
    values.peek().is_some().then(|| descriptive::median_of(values))
}

/// Mean over the launches that report a metric.
pub(crate) fn mean(launches: &[&Reading], metric: Metric) -> Option<f64> {
    let reported = launches.iter().flat_map(|launch| launch.numbers(metric));
    let numbers: Vec<f64> = reported.map(Number::get).collect();
    (!numbers.is_empty()).then(|| descriptive::mean(&numbers))
}

/// Timed regions.
pub(super) fn samples(launch: &Launch) -> impl Iterator<Item = &Sample> {
    launch.events.iter().filter_map(|event| match event {
        Event::Sample(sample) if sample.n > 0 => Some(sample.as_ref()),
        _ => None,
    })
}

/// Frequency of the core, GHz: the median over samples. `None` if one of them lacks a cycle probe, or there is none.
pub(super) fn ghz<'a>(samples: impl Iterator<Item = &'a Sample>) -> Option<f64> {
    let probed = |s: &Sample| (s.cycle_probe > 0).then(|| sample_ghz(s));
    median(samples.map(probed).collect::<Option<Vec<f64>>>()?)
}

fn sample_ghz(sample: &Sample) -> f64 {
    FS_PER_NS / sample.cycle_probe as f64
}

/// Samples that determine the value of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SampleUse {
    /// A low quantile of the undisturbed ones.
    Undisturbed,
    /// All the work over all the time, all single operations, or one side of a trial.
    #[default]
    All,
}

#[derive(Clone, Debug)]
pub(crate) struct Reading<'a> {
    pub launch: &'a Launch,
    /// Timed regions with n above 0.
    pub samples: Vec<&'a Sample>,
    /// Weight of each sample: 1 without contention, 0 beside a busy neighbor.
    pub weights: Vec<f64>,
    pub sample_use: SampleUse,
    /// Whether contention is kept: for one side of a trial, paired with the other, or for another program, which had no probe.
    pub counts_whole: bool,
    /// Frequency at which times are stated, GHz; `None`: the actual one.
    pub reference_ghz: Option<f64>,
    /// See [`gritstone_model::Benchmark::paced`].
    pub paced: bool,
    /// SMT contention during the reference workload.
    pub contended_batches: bool,
    /// SMT contention during a whole process of the reference workload.
    pub contended_processes: bool,
    pub checks: Vec<Check>,
    pub batches: Vec<&'a Batch>,
    /// Whole processes that did the reference workload.
    pub processes: Vec<&'a Sample>,
    pub latencies: Vec<&'a Histogram>,
    pub responses: Vec<(&'a ResponsesOf, &'a Histogram)>,
    pub params: Vec<&'a Param>,
    /// Index of the first sample of each copy, if there are several.
    copies: Vec<usize>,
}

impl<'a> Reading<'a> {
    /// Sorts the events of a launch.
    pub fn new(launch: &'a Launch) -> Self {
        let mut reading = Self {
            launch,
            samples: Vec::new(),
            weights: Vec::new(),
            sample_use: SampleUse::All,
            counts_whole: false,
            reference_ghz: None,
            paced: false,
            contended_batches: false,
            contended_processes: false,
            checks: Vec::new(),
            batches: Vec::new(),
            processes: Vec::new(),
            latencies: Vec::new(),
            responses: Vec::new(),
            params: Vec::new(),
            copies: Vec::new(),
        };
        for event in &launch.events {
            match event {
                Event::Param(Param::Copy(_)) => reading.copies.push(reading.samples.len()),
                Event::Param(param) => reading.params.push(param),
                Event::Sample(sample) if sample.n > 0 => reading.samples.push(sample),
                Event::Batch(batch) => reading.batches.push(batch),
                Event::Process(process) => reading.processes.push(process),
                Event::Latency(histogram) => match &histogram.of {
                    Some(responses) => reading.responses.push((responses, histogram)),
                    None => reading.latencies.push(histogram),
                },
                Event::Check(check) => reading.checks.push(*check),
                // the outcome has failures; calibration is read on demand
                Event::Sample(_)
                | Event::Warm { .. }
                | Event::Counters { .. }
                | Event::Hello { .. }
                | Event::Skip { .. }
                | Event::Fail { .. }
                | Event::Bye => {}
            }
        }
        reading.weights = vec![1.0; reading.samples.len()];
        reading
    }

    pub fn measured(&self) -> bool {
        self.launch.outcome == Outcome::Measured
    }

    /// Evidence of undone work: time did not grow with n at all, or a check value is wrong.
    pub fn refutes_its_work(&self) -> bool {
        let last = self.launch.events.last();
        let idle = last.and_then(Event::cause) == Some(Cause::NoGrowth);
        idle || self.checks.iter().any(|check| check.got != check.expected)
    }

    /// Calibration and linearity probe: (n, wall in ns). Half of the events; read on demand.
    pub fn warm(&self) -> impl Iterator<Item = (u64, u64)> {
        self.launch.events.iter().filter_map(|event| match event {
            Event::Warm { n, wall } => Some((*n, *wall)),
            _ => None,
        })
    }

    /// Every value of a metric, in order.
    pub fn numbers(&self, metric: Metric) -> impl Iterator<Item = &'a Number> {
        self.params.iter().filter_map(move |param| match param {
            Param::Number(reported, number) if *reported == metric => Some(number),
            _ => None,
        })
    }

    /// Nanoseconds per operation at the reference frequency: a low quantile of the undisturbed samples; the median of all if all count; or
    /// total time over total work if writeback burdens some samples for others. `None` when nothing was timed, or no time passed.
    pub fn ns_per_op(&self, work_over_time: bool) -> Option<f64> {
        let per_op = |s: &Sample| s.wall as f64 / s.n as f64;
        let ns = match self.sample_use {
            _ if work_over_time => {
                // in floating point, since integers of a damaged store may overflow
                let wall: f64 = self.samples.iter().map(|s| s.wall as f64).sum();
                let n: f64 = self.samples.iter().map(|s| s.n as f64).sum();
                wall / n * self.to_reference()
            }
            SampleUse::All => {
                median(self.samples.iter().copied().map(per_op))? * self.to_reference()
            }
            SampleUse::Undisturbed => {
                let reference = self.reference_ghz.filter(|_| self.probed().is_some());
                let stated =
                    |s: &Sample| reference.map_or(1.0, |ghz| sample_ghz(s) / ghz) * per_op(s);
                let times = self.samples.iter().copied().map(stated);
                let weights = self.weights.iter().map(|weight| weight.max(MIN_SAMPLE_WEIGHT));
                let times: Vec<(f64, f64)> = times.zip(weights).collect();
                undisturbed::weighted_quantile(&times, undisturbed::SAMPLE_QUANTILE)?
            }
        };
        let ns = match (self.start_up_ns(), self.subtraction_error_ns()) {
            (Some(start_up), Some(error)) => (ns - start_up).max(error),
            _ => ns,
        };
        (ns > 0.0).then_some(ns)
    }

    /// Share of the samples that were undisturbed.
    pub fn weight(&self) -> f64 {
        match self.weights.len() {
            0 => 1.0,
            samples => self.weights.iter().sum::<f64>() / samples as f64,
        }
    }

    /// SMT contention in more than half of the samples.
    pub fn mostly_contended(&self) -> bool {
        self.weight() < 0.5
    }

    /// SMT contention in too many of the samples that the value uses.
    pub fn contended(&self) -> bool {
        match self.sample_use {
            SampleUse::All => self.mostly_contended(),
            SampleUse::Undisturbed => self.weight() < MIN_UNDISTURBED,
        }
    }

    /// Factor from actual times to times at the reference frequency.
    pub fn to_reference(&self) -> f64 {
        self.reference_ghz.zip(self.ghz()).map_or(1.0, |(reference, ghz)| ghz / reference)
    }

    /// Actual nanoseconds per operation, with contention: the median over samples.
    pub fn ns_as_ran(&self) -> Option<f64> {
        median(self.samples.iter().map(|s| s.wall as f64 / s.n as f64))
    }

    /// Start-up time of the shell, and the time of a baseline, which are subtracted.
    fn start_up_ns(&self) -> Option<f64> {
        self.numbers(Metric::StartUp).next().map(Number::get)
    }

    /// Error of a command's time from the subtracted overhead, ns; shorter times cannot be resolved.
    pub fn subtraction_error_ns(&self) -> Option<f64> {
        let stated = self.numbers(Metric::StartUpError).next().map_or(0.0, Number::get);
        let least = |start_up: f64| gritstone_model::START_UP_ERROR * start_up;
        self.start_up_ns().map(|start_up| least(start_up).max(stated).max(MIN_NS))
    }

    /// The median of the operations timed one by one, ns; `None` without any.
    pub fn median_latency_ns(&self) -> Option<f64> {
        let merged = merged(self.latencies.iter().copied());
        percentiles::percentile(&describe::buckets(&merged), 0.5).filter(|&median| median > 0.0)
    }

    pub fn mean_latency_ns(&self) -> Option<f64> {
        let merged = merged(self.latencies.iter().copied());
        (merged.count > 0).then(|| merged.sum as f64 / merged.count as f64)
    }

    /// Nanoseconds per operation of all copies together: the reciprocal of the sum of their rates, each total work over total time. `None`
    /// when a copy timed nothing, or is missing.
    pub fn together_ns(&self) -> Option<f64> {
        let starts = match self.copies.as_slice() {
            [] => &[0],
            starts => starts,
        };
        let ends = starts.iter().skip(1).copied();
        let copies = starts.iter().zip(ends.chain([self.samples.len()]));
        let rates = copies.map(|(&start, end)| {
            let samples = &self.samples[start..end];
            let wall: f64 = samples.iter().map(|s| s.wall as f64).sum();
            let n: f64 = samples.iter().map(|s| s.n as f64).sum();
            (n > 0.0 && wall > 0.0).then(|| n / wall)
        });
        let rate = rates.sum::<Option<f64>>()?;
        (starts.len() == self.launch.copies as usize).then(|| 1.0 / rate)
    }

    /// Core cycles per operation. `None` if a sample lacks a cycle probe, or a line or a clock sets the pace.
    pub fn cycles_per_op(&self) -> Option<f64> {
        self.probed().filter(|()| !self.paced)?;
        let cycles = |s: &Sample| s.wall as f64 / s.n as f64 * sample_ghz(s);
        let cycles = match self.reference_ghz {
            Some(ghz) => self.ns_per_op(false)? * ghz,
            None => median(self.samples.iter().copied().map(cycles))?,
        };
        (cycles > 0.0).then_some(cycles)
    }

    /// Frequency of the core, GHz; `None` if a sample lacks a cycle probe.
    pub fn ghz(&self) -> Option<f64> {
        ghz(self.samples.iter().copied())
    }

    fn probed(&self) -> Option<()> {
        self.samples.iter().all(|s| s.cycle_probe > 0).then_some(())
    }

    pub fn batches_of(&self, operations: u64) -> impl Iterator<Item = &'a Batch> {
        self.batches
            .iter()
            .copied()
            .filter(move |batch| batch.n == operations && !batch.walls.is_empty())
    }

    /// The median, s.
    pub fn batch_s(&self, operations: u64) -> Option<f64> {
        median(
            self.batches_of(operations)
                .flat_map(|batch| batch.walls.iter().map(|&wall| wall as f64 / 1e9)),
        )
        .filter(|&s| s > 0.0)
    }

    /// CPU time of one batch by the clock of the process, s.
    pub fn batch_cpu_s(&self, operations: u64) -> Option<f64> {
        let add = |(cpu, n): (f64, f64), batch: &Batch| {
            (cpu + batch.usage.cpu as f64, n + batch.walls.len() as f64)
        };
        let (cpu, batches) = self.batches_of(operations).fold((0.0, 0.0), add);
        (cpu > 0.0).then(|| cpu / batches / 1e9)
    }

    /// The median, s.
    pub fn process_s(&self) -> Option<f64> {
        median(self.processes.iter().map(|p| p.wall as f64 / 1e9))
    }

    /// ns, if reported.
    pub fn clock_step_ns(&self) -> Option<u64> {
        self.numbers(Metric::ClockStep).find_map(Number::integer)
    }

    /// ns, if reported.
    pub fn tick_ns(&self) -> Option<u64> {
        self.numbers(Metric::Tick).find_map(Number::integer)
    }
}

/// All events of several histograms.
pub(super) fn merged<'a>(histograms: impl Iterator<Item = &'a Histogram>) -> Histogram {
    let mut buckets: BTreeMap<u32, u64> = BTreeMap::new();
    let mut all = Histogram { min: u64::MAX, ..Histogram::default() };
    for histogram in histograms.filter(|histogram| histogram.count > 0) {
        all.count = all.count.saturating_add(histogram.count);
        all.min = all.min.min(histogram.min);
        all.max = all.max.max(histogram.max);
        all.sum = all.sum.saturating_add(histogram.sum);
        for (bucket, events) in &histogram.buckets {
            let bucket: &mut u64 = buckets.entry(*bucket).or_default();
            *bucket = bucket.saturating_add(*events);
        }
    }
    all.buckets = buckets.into_iter().collect();
    all
}
