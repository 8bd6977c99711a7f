//! Results of a stored run, computed from its launches.
//!
//! Launches -> `reading` -> launched benchmarks (`measured`, `size`) -> computed ones (`derived`, `score`, curves).
//! Nothing that was measured is left out without a finding.

mod caches;
mod contention;
mod copies;
mod counters;
mod cpu;
mod derived;
mod draft;
pub(crate) mod growth;
mod interference;
mod latencies;
mod launch;
mod launch_center;
pub mod limits;
mod load;
mod measured;
mod network_ends;
pub(crate) mod paging;
mod pairs;
mod published;
pub(crate) mod reading;
mod responses;
pub(crate) mod rules;
mod scaling;
mod score;
mod size;
mod smt_contention;
mod weighted_mean;

use gritstone_model::{
    Absence, Benchmark, CommandWork, Count, Counting, Curve, Estimate, Figure, Finding, Id,
    Measurement, Note, Outcome, Quantity, ResultCurve, RunData, RunInfo, RunView, SCHEMA_RUN,
    SeriesPoint, Status, Work, other_program,
};
use gritstone_stats::center;
pub use launch::{LaunchTime, Reader, launch_ns_per_op};
use reading::{Reading, SampleUse};
use smt_contention::{Floor, floor_for};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Confidence of every interval, between 0 and 1.
    pub confidence: f64,
    /// Baselines of scores by their name in the entry (`ref:...`).
    pub baselines: BTreeMap<String, RunView>,
    /// Frequency at which times are stated, GHz; overrides that of the run's settings.
    pub reference_ghz: Option<f64>,
}

impl Default for Options {
    fn default() -> Self {
        Self { confidence: 0.95, baselines: BTreeMap::new(), reference_ghz: None }
    }
}

/// A benchmark with its launches, in the order of time.
struct Launched<'a> {
    benchmark: &'a Benchmark,
    launches: Vec<Reading<'a>>,
}

fn estimate(center: center::Estimate) -> Estimate {
    Estimate { value: center.value, interval: center.interval }
}

/// Frequency at which the times of a run are stated, GHz: that of the system's first run in the store, else the median of the run.
/// `None` without a cycle probe, and for one side of a trial, whose launches are paired as they ran.
fn reference_ghz(run: &RunData, options: &Options) -> Option<f64> {
    let settings = &run.info.settings;
    if settings.trial.is_some() {
        return None;
    }
    options.reference_ghz.or(settings.reference_ghz).or_else(|| {
        let launches = run.launches.iter().filter(|launch| launch.copies == 1);
        let samples = launches.flat_map(reading::samples);
        reading::ghz(samples.filter(|sample| sample.cycle_probe > 0))
    })
}

/// All benchmarks with their launches of one copy. The SMT floor is from all launches, also those of other benchmarks.
fn by_id<'a>(
    run: &'a RunData,
    floor: &Floor,
    reference_ghz: Option<f64>,
) -> BTreeMap<&'a Id, Launched<'a>> {
    let whole = counts_whole(&run.info);
    let benchmarks = run.benchmarks.iter();
    let launched = |entry: &'a Benchmark| (&entry.id, Launched::without_launches(entry));
    let mut by_id: BTreeMap<&Id, Launched> = benchmarks.map(launched).collect();
    for launch in run.launches.iter().filter(|launch| launch.copies == 1) {
        if let Some(launched) = by_id.get_mut(&launch.id) {
            let mut reading = Reading::new(launch);
            reading.sample_use = sample_use(launched.benchmark, &reading, whole);
            reading.counts_whole = whole;
            reading.paced = launched.benchmark.paced;
            reading.reference_ghz = reference_ghz.filter(|_| !reading.paced);
            smt_contention::weigh(&mut reading, floor_for(launched.benchmark, floor));
            launched.launches.push(reading);
        }
    }
    by_id
}

pub fn summarize(run: &RunData, options: &Options) -> RunView {
    let floor = Floor::from_run(run);
    let reference_ghz = reference_ghz(run, options);
    let by_id = by_id(run, &floor, reference_ghz);
    // three passes: measured, derived, scores
    let mut results: BTreeMap<&Id, Measurement> = BTreeMap::new();
    for launched in by_id.values() {
        let result = match &launched.benchmark.work {
            Work::Command(CommandWork { figure: Figure::LinkedSize, .. }) => {
                size::result(launched, run)
            }
            Work::Kernel(_) | Work::Command(_) | Work::Scenario(_) => {
                measured::result(launched, run, options)
            }
            Work::Derived { .. } | Work::Score { .. } => continue,
        };
        results.insert(&launched.benchmark.id, result);
    }
    let contention = contention::run_contention(&by_id, &results, &floor);
    for launched in by_id.values() {
        if launched.benchmark.is_longest() {
            let result = scaling::longest(launched.benchmark, &results, run);
            results.insert(&launched.benchmark.id, result);
        } else if launched.benchmark.is_peak() {
            let result = scaling::peak(launched.benchmark, &results, run);
            results.insert(&launched.benchmark.id, result);
        } else if let Work::Derived { terms, share_of } = &launched.benchmark.work {
            let sum =
                derived::Sum { benchmark: launched.benchmark, terms, share_of: share_of.as_ref() };
            let result = derived::result(&sum, &by_id, &results, run, options);
            results.insert(&launched.benchmark.id, result);
        }
    }
    for launched in by_id.values() {
        if let Work::Score { over, baseline, weights, together } = &launched.benchmark.work {
            let entry = score::Entry {
                benchmark: launched.benchmark,
                over,
                baseline,
                require_all: *together,
            };
            let result = match weights.is_empty() {
                true => score::result(&entry, &results, run, options),
                false => weighted_mean::result(&entry, weights, &results, run, options),
            };
            results.insert(&launched.benchmark.id, result);
        }
    }
    draw_curves(run, &by_id, options, &mut results);
    RunView { smt_floors: floor.learned(), reference_ghz, contention, ..view(run, results) }
}

/// Budget that would have measured everything, s: what was given, and enough further launches for an interval of each
/// benchmark that was not reached. `None` without a budget.
fn budget_for_all(run: &RunData) -> Option<f64> {
    let (budget_s, elapsed_s) = (run.info.settings.budget_s?, run.info.elapsed_s?);
    let skipped: BTreeSet<&Id> = run.skips.iter().map(|skip| &skip.id).collect();
    let launched: BTreeSet<&Id> = run.launches.iter().map(|launch| &launch.id).collect();
    let unreached = run.benchmarks.iter().filter(|benchmark| {
        let computed = matches!(benchmark.work, Work::Derived { .. } | Work::Score { .. });
        !computed && !skipped.contains(&benchmark.id) && !launched.contains(&benchmark.id)
    });
    let lacking = (rules::fewest(0.95) * unreached.count()) as f64;
    (!launched.is_empty()).then(|| budget_s + lacking * elapsed_s / run.launches.len() as f64)
}

fn draw_curves(
    run: &RunData,
    by_id: &BTreeMap<&Id, Launched>,
    options: &Options,
    results: &mut BTreeMap<&Id, Measurement>,
) {
    for benchmark in &run.benchmarks {
        let Some(curve) = &benchmark.curve else {
            continue;
        };
        let points = series(curve, by_id, results);
        if let Some(result) = results.get_mut(&benchmark.id) {
            if curve.caches {
                let found = caches::rises(&points, &run.info.machine.caches());
                result.notes.extend(found.map(Note::new));
            }
            if curve.scaling {
                let (confidence, seed) = (options.confidence, run.info.settings.seed);
                let found = scaling::law_or_missing_points(curve, &points, by_id, confidence, seed);
                result.notes.extend(found.map(Note::new));
            }
            if curve.longest {
                let missing = scaling::incomplete(curve, &points);
                result.notes.extend(missing.map(Note::new));
            }
            result.curve = Some(ResultCurve { label: curve.label.clone(), points });
        }
    }
}

fn view(run: &RunData, mut results: BTreeMap<&Id, Measurement>) -> RunView {
    RunView {
        schema: SCHEMA_RUN.to_owned(),
        id: run.info.id.clone(),
        label: run.info.label.clone(),
        started: run.info.started.clone(),
        elapsed_s: run.info.elapsed_s,
        gritstone: Some(run.info.gritstone.clone()),
        machine: run.info.machine.clone(),
        settings: Some(run.info.settings.clone()),
        counting: Some(Counting::from_counts(results.values().map(Measurement::counters))),
        results: run
            .benchmarks
            .iter()
            .filter_map(|benchmark| results.remove(&benchmark.id))
            .collect(),
        ..RunView::default()
    }
}

/// A benchmark that the run lacks is a point without an estimate.
fn series(
    curve: &Curve,
    by_id: &BTreeMap<&Id, Launched>,
    results: &BTreeMap<&Id, Measurement>,
) -> Vec<SeriesPoint> {
    curve
        .points
        .iter()
        .map(|(x, id)| {
            let launched = by_id.get(id).filter(|_| curve.scaling);
            SeriesPoint {
                cpus: launched.and_then(scaling::cpus),
                ..responses::point(*x, results.get(id))
            }
        })
        .collect()
}

/// Rates on files are all the work over all the time: a median of samples would hide the writeback that some of them
/// pay for.
fn is_work_over_time(benchmark: &Benchmark) -> bool {
    benchmark.files && matches!(benchmark.unit.quantity(), Quantity::Rate { .. })
}

/// Median of operations timed one by one, or the mean if the entry asks for it, ns.
fn event_time_ns(benchmark: &Benchmark, launch: &Reading) -> Option<f64> {
    let time = matches!(benchmark.unit.quantity(), Quantity::Time { .. });
    let ns = match benchmark.mean {
        true => launch.mean_latency_ns(),
        false => launch.median_latency_ns(),
    };
    ns.filter(|_| time)
}

/// Whether all launches and samples of a run count alike.
fn counts_whole(run: &RunInfo) -> bool {
    run.settings.trial.is_some() || other_program(&run.gritstone).is_some()
}

fn sample_use(benchmark: &Benchmark, launch: &Reading, whole: bool) -> SampleUse {
    match whole || is_work_over_time(benchmark) || event_time_ns(benchmark, launch).is_some() {
        true => SampleUse::All,
        false => SampleUse::Undisturbed,
    }
}

impl<'a> Launched<'a> {
    fn without_launches(benchmark: &'a Benchmark) -> Self {
        Self { benchmark, launches: Vec::new() }
    }

    fn measured(&self) -> Vec<&Reading<'a>> {
        self.launches.iter().filter(|launch| launch.measured()).collect()
    }

    /// Nanoseconds an operation of a launch, at the reference frequency.
    fn ns(&self, launch: &Reading) -> Option<f64> {
        let event_time_ns = event_time_ns(self.benchmark, launch);
        let event_time_ns = event_time_ns.map(|ns| ns * launch.to_reference());
        event_time_ns.or_else(|| launch.ns_per_op(is_work_over_time(self.benchmark)))
    }

    /// Core cycles per operation, of the same operations.
    fn cycles(&self, launch: &Reading) -> Option<f64> {
        launch.ghz()?;
        match launch.reference_ghz {
            Some(ghz) => Some(self.ns(launch)? * ghz),
            None => launch.cycles_per_op(),
        }
    }

    /// Absence, if all launches failed, and a note on those that did.
    fn failure(&self, skipped: bool, run: &RunData) -> (Option<Absence>, Option<Note>) {
        let bad: Vec<&Reading> = self.launches.iter().filter(|r| !r.measured()).collect();
        let Some(last) = self.launches.last() else {
            let budget_s = budget_for_all(run);
            let unreached = (!skipped).then(|| Finding::NotReached { budget_s }.into());
            return (Some(Absence::Skipped), unreached);
        };
        let count = Count::launches(bad.len(), self.launches.len());
        let none = count.part == count.of;
        // if all launches failed, the last one is reported
        let shown = if none { Some(last) } else { bad.first().copied() };
        let failed = |reading: &Reading| {
            let outcome = &reading.launch.outcome;
            Note::new(Finding::Failed {
                outcome: status(outcome),
                reason: outcome.why().to_owned(),
                count,
                refuted: bad.iter().any(|r| r.refutes_its_work()),
            })
        };
        let absence = absence(&last.launch.outcome).filter(|_| none);
        (absence, shown.map(failed))
    }
}

fn absence(outcome: &Outcome) -> Option<Absence> {
    match outcome {
        Outcome::Measured => None,
        Outcome::Skipped(_) => Some(Absence::Skipped),
        Outcome::Failed(_) => Some(Absence::Failed),
        Outcome::TimedOut(_) => Some(Absence::TimedOut),
    }
}

pub(crate) fn status(outcome: &Outcome) -> Status {
    absence(outcome).map_or(Status::Measured, Status::from)
}
