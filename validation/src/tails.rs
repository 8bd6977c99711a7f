//! Percentiles of single events: coverage of their intervals; false calls between equal runs, and detected changes.

use crate::world::World;
use crate::{head, line, percent};
use gritstone_analysis::{compare, summary};
use gritstone_analysis::{run_effect, run_summary::RunSummary};
use gritstone_model::{
    Benchmark, Event, Histogram, Id, KernelWork, Launch, Outcome, RunData, RunView, Sample, Unit,
    Verdict, Work,
};
use gritstone_stats::center;
use gritstone_stats::percentiles::{self, Bucket};
use std::collections::BTreeMap;

const TRIALS: usize = 500;
/// Launches and events per launch for the true value.
const TRUTH: (usize, usize) = (1000, 20_000);

/// Scatter of the events of a launch about 5 us.
#[derive(Clone, Copy)]
enum Shape {
    /// Log-normal by 20%, and launches by this much.
    LogNormal(f64),
    /// The same, launches by 2%, and one event in 50 delayed by Pareto's law with this exponent, from 5 us on.
    Pareto(f64),
    /// The same, and one event in 100 delayed by an exponential 50 us; the rate varies between launches, log-normal by 0.7.
    Bursts,
}

const SHAPES: [(&str, Shape); 4] = [
    ("log-normal, 20%", Shape::LogNormal(0.0)),
    ("log-normal, launches 5%", Shape::LogNormal(0.05)),
    ("1 in 50 late, Pareto 1.5", Shape::Pareto(1.5)),
    ("1 in 100 late, launches differ", Shape::Bursts),
];

/// The events of a launch, counted by the lower ends of the buckets of a launch's histogram. The rate of delayed events is multiplied by
/// `later`.
fn counts(world: &mut World, shape: Shape, events: usize, later: f64) -> BTreeMap<u64, u64> {
    let (spread, late) = match shape {
        Shape::LogNormal(spread) => (spread, 0.0),
        Shape::Pareto(_) => (0.02, 0.02),
        Shape::Bursts => (0.02, 0.01 * (0.7 * world.normal()).exp()),
    };
    let level = 5000.0 * (spread * world.normal()).exp();
    let mut counts = BTreeMap::new();
    for _ in 0..events {
        let plain = level * (0.2 * world.normal()).exp();
        let more = match shape {
            _ if !world.chance(later * late) => 0.0,
            Shape::Pareto(exponent) => 5000.0 * (1.0 - world.uniform()).powf(-1.0 / exponent),
            _ => 50_000.0 * world.exponential(),
        };
        let ns = (plain + more).round() as u64;
        let cut = ns.max(64).ilog2() - 6;
        *counts.entry(ns >> cut << cut).or_default() += 1;
    }
    counts
}

fn launch(world: &mut World, shape: Shape, events: usize) -> Vec<Bucket> {
    let bucket = |(low, events): (u64, u64)| {
        let width = 1 << (low.max(64).ilog2() - 6);
        Bucket { low: low as f64 - 0.5, high: (low + width) as f64 - 0.5, events: events as f64 }
    };
    let counts = counts(world, shape, events, 1.0);
    counts.into_iter().map(bucket).collect()
}

fn launches(
    world: &mut World,
    shape: Shape,
    (launches, events): (usize, usize),
) -> Vec<Vec<Bucket>> {
    (0..launches).map(|_| launch(world, shape, events)).collect()
}

fn of_each(launches: &[Vec<Bucket>], share: f64) -> Vec<f64> {
    let percentile = |launch: &Vec<Bucket>| percentiles::percentile(launch, share);
    launches.iter().filter_map(percentile).collect()
}

/// True value for single launches, or for all their events.
fn truth(launches: &[Vec<Bucket>], share: f64, by_launch: bool) -> f64 {
    if by_launch {
        return center::log_center(&of_each(launches, share), 0.95).unwrap().value;
    }
    percentiles::pooled(launches, share, 0.95).unwrap().value
}

fn interval(launches: &[Vec<Bucket>], share: f64, by_launch: bool) -> Option<[f64; 2]> {
    if by_launch {
        return center::log_center(&of_each(launches, share), 0.95)?.interval;
    }
    percentiles::pooled(launches, share, 0.95)?.interval
}

pub fn coverage() -> String {
    let cases = [
        ("p90", 0.9, 300, true),
        ("p99", 0.99, 300, true),
        ("p99", 0.99, 1000, true),
        ("p99.9", 0.999, 3000, true),
        ("p99", 0.99, 100, false),
        ("p99.9", 0.999, 512, false),
    ];
    let sizes = [6, 10, 20, 40];
    let title = "Coverage of percentiles of events by their 95% interval, % (mean half-width, %)";
    let first = "percentile; events in a launch; distribution";
    let mut table = head(title, first, sizes.iter().map(|n| format!("{n} launches")));
    let mut world = World::new(81);
    for (shape_name, shape) in SHAPES {
        let many = launches(&mut world, shape, TRUTH);
        for (name, share, events, by_launch) in cases {
            let truth = truth(&many, share, by_launch);
            let cells = sizes.iter().map(|n| {
                let (mut hits, mut total, mut width) = (0, 0, 0.0);
                for _ in 0..TRIALS {
                    let launches = launches(&mut world, shape, (*n, events));
                    let Some([low, high]) = interval(&launches, share, by_launch) else {
                        break;
                    };
                    hits += usize::from(low <= truth && truth <= high);
                    width += 50.0 * (high / low).ln();
                    total += 1;
                }
                match total {
                    0 => "–".to_owned(),
                    total => format!("{} ({:.1})", percent(hits, total), width / total as f64),
                }
            });
            let basis = if by_launch { "" } else { ", all launches together" };
            table += &line(&format!("{name}{basis}; {events}; {shape_name}"), cells);
        }
    }
    table
}

const BENCHMARKS: usize = 12;
const LAUNCHES: usize = 12;
const COMPARISONS: usize = 100;
/// Comparisons that share the same stored runs.
const SHARED: usize = 10;
/// Factors of the share of delayed events of the first benchmark in the later run.
const LATER: [f64; 3] = [1.0, 2.0, 4.0];

/// A run of benchmarks with `events` events per launch, whose level scatters between runs by 1% each and by 2% all together, and the share
/// of delayed events by `tail`.
fn run(world: &mut World, number: usize, events: usize, tail: f64, later: f64) -> RunView {
    let id = |index: usize| Id::parse(&format!("made/up/{index}")).expect("it is an identifier");
    let work =
        || KernelWork { program: "made/up".to_owned(), params: BTreeMap::new(), uses: vec![] };
    let unit = || Unit::parse("ns").expect("ns is a unit");
    let benchmark = |index| Benchmark::new(id(index), unit(), Work::Kernel(work()));
    let mut data =
        RunData { benchmarks: (0..BENCHMARKS).map(benchmark).collect(), ..RunData::default() };
    data.info.id = format!("run-{number}");
    data.info.started = format!("{number:04}");
    let common = 0.02 * world.normal();
    for index in 0..BENCHMARKS {
        let level = (common + 0.01 * world.normal()).exp();
        let delayed = (tail * world.normal()).exp() * if index == 0 { later } else { 1.0 };
        for round in 0..LAUNCHES {
            let counts = counts(world, Shape::Bursts, events, delayed);
            let events = histogram(counts, level);
            let sample = Sample { n: events.count, wall: events.sum, ..Sample::default() };
            let events =
                [Event::Sample(Box::new(sample)), Event::Latency(Box::new(events)), Event::Bye];
            data.launches.push(Launch {
                round: round as u32,
                start: round as u64,
                ..Launch::new(id(index), Outcome::Measured, events.into())
            });
        }
    }
    summary::summarize(&data, &summary::Options::default())
}

/// All times longer by a factor.
fn histogram(counts: BTreeMap<u64, u64>, level: f64) -> Histogram {
    let mut all = Histogram { min: u64::MAX, ..Histogram::default() };
    let mut buckets: BTreeMap<u32, u64> = BTreeMap::new();
    for (ns, events) in counts {
        let ns = (ns as f64 * level) as u64;
        let power = ns.max(64).ilog2();
        let bucket = (power - 5) as u64 * 64 + (ns >> (power - 6)) - 64;
        *buckets.entry(bucket as u32).or_default() += events;
        all.count += events;
        all.sum += ns * events;
        (all.min, all.max) = (all.min.min(ns), all.max.max(ns));
    }
    all.buckets = buckets.into_iter().collect();
    all
}

pub fn comparisons() -> String {
    let title = format!(
        "Two runs of {BENCHMARKS} benchmarks of which 1 in 100 operations is late, {LAUNCHES} launches each: percentiles called different of those that are not, p90 / p99 / p99.9, %; of the benchmark with 2 and 4 times as many late operations, p99 / p99.9 called slower, %; {COMPARISONS} comparisons a cell"
    );
    let first = "operations in a launch; the share of late ones between runs; earlier runs";
    let heads = LATER.map(|later| match later {
        1.0 => "the same".to_owned(),
        later => format!("{later} times as many late"),
    });
    let mut table = head(&title, first, heads.into_iter());
    let mut world = World::new(82);
    for (events, tail) in [(512, 0.0), (512, 0.3), (3000, 0.3)] {
        for earlier in [0, 5] {
            let cells = LATER.map(|later| {
                let (mut called, mut past) = (BTreeMap::new(), vec![]);
                for trial in 0..COMPARISONS {
                    if trial % SHARED == 0 {
                        past = (0..earlier)
                            .map(|number| {
                                RunSummary::new(&run(&mut world, number, events, tail, 1.0))
                            })
                            .collect();
                    }
                    let base = run(&mut world, 100 + trial, events, tail, 1.0);
                    let other = run(&mut world, 1000 + trial, events, tail, later);
                    let options =
                        compare::Options::new(0.02, run_effect::estimate(&past, &base, &other));
                    let view = compare::compare(&base, &other, &options);
                    for row in &view.rows {
                        let changed = row.id.as_str() == "made/up/0";
                        for percentile in &row.percentiles {
                            let sum: &mut [usize; 2] =
                                called.entry((changed, percentile.name.clone())).or_default();
                            let verdict = percentile.figure.verdict;
                            let different = matches!(verdict, Verdict::Faster | Verdict::Slower);
                            sum[0] += usize::from(different);
                            sum[1] += 1;
                        }
                    }
                }
                let names: &[&str] = match later {
                    1.0 => &["p90", "p99", "p99.9"],
                    _ => &["p99", "p99.9"],
                };
                let rate = |name: &&str| {
                    let found = called.get(&(later > 1.0, (*name).to_owned()));
                    found.map_or("–".to_owned(), |[hits, total]| percent(*hits, *total))
                };
                names.iter().map(rate).collect::<Vec<_>>().join(" / ")
            });
            let name = format!("{events}; {:.0}%; {earlier}", 100.0 * tail);
            table += &line(&name, cells.into_iter());
        }
    }
    table
}
