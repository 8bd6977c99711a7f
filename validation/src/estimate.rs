//! The estimate of an undisturbed machine with neighbors: coverage and width of its interval, beside the pseudo-median.

use crate::world::World;
use crate::{head, line, percent};
use gritstone_stats::{center, undisturbed};

const TIMES: usize = 400;
/// Samples of a launch.
const SAMPLES: usize = 20;
/// Seconds between the samples of a launch, and between launches.
const STEP: f64 = 0.002;
const RUN: f64 = 150.0;
/// Scale by which the SMT probe loses weight.
const CONTENDED: f64 = 0.05;

/// Scatter of launches on an undisturbed machine.
#[derive(Clone, Copy)]
enum Layout {
    Normal(f64),
    /// One launch in two is this much slower.
    TwoModes(f64),
}

/// Neighbors: share of the time, mean burst in seconds, whether the probe sees them.
#[derive(Clone, Copy)]
struct Neighbors {
    share: f64,
    burst: f64,
    seen: bool,
}

struct Sampled {
    times: Vec<(f64, f64)>,
    weight: f64,
}

/// Bursts (from, to, slowdown) over the run; each slows by 5 to 60%.
fn bursts(world: &mut World, neighbors: Neighbors) -> Vec<(f64, f64, f64)> {
    let mut all = vec![];
    if neighbors.share == 0.0 {
        return all;
    }
    let mut on = world.uniform() < neighbors.share;
    let mut now = 0.0;
    while now < RUN {
        let mean = if on {
            neighbors.burst
        } else {
            neighbors.burst * (1.0 - neighbors.share) / neighbors.share
        };
        let end = now - mean * (1.0 - world.uniform()).ln();
        if on {
            all.push((now, end, 0.05 + 0.55 * world.uniform()));
        }
        (now, on) = (end, !on);
    }
    all
}

fn launch(world: &mut World, layout: Layout, bursts: &[(f64, f64, f64)], seen: bool) -> Sampled {
    let level = match layout {
        Layout::Normal(sd) => sd * world.normal(),
        Layout::TwoModes(by) => {
            if world.uniform() < 0.5 {
                by
            } else {
                0.0
            }
        }
    };
    let start = world.uniform() * (RUN - 1.0);
    let times = (0..SAMPLES).map(|sample| {
        let now = start + sample as f64 * STEP;
        let burst = bursts.iter().find(|(from, to, _)| *from <= now && now < *to);
        // skewed: interrupts only add time
        let skew = 0.005 * world.normal().abs().powi(2);
        let slowed = burst.map_or(0.0, |(.., by)| (by * (0.9 + 0.2 * world.uniform())).ln_1p());
        let probe = 0.003 * world.normal().abs();
        let above = match burst {
            Some(_) if seen => probe + 0.1 + 0.5 * world.uniform(),
            _ => probe,
        };
        let weight = (-(above / CONTENDED).powi(2)).exp();
        ((level + skew + slowed).exp(), weight)
    });
    let times: Vec<(f64, f64)> = times.collect();
    let weight = times.iter().map(|(_, weight)| weight).sum::<f64>() / SAMPLES as f64;
    Sampled { times, weight }
}

fn value(launch: &Sampled) -> f64 {
    let least = |&(time, weight): &(f64, f64)| (time, weight.max(1e-3));
    let times: Vec<(f64, f64)> = launch.times.iter().map(least).collect();
    undisturbed::weighted_quantile(&times, undisturbed::SAMPLE_QUANTILE).expect("there are samples")
}

fn median(launch: &Sampled) -> f64 {
    let all: Vec<(f64, f64)> = launch.times.iter().map(|(time, _)| (*time, 1.0)).collect();
    undisturbed::weighted_quantile(&all, 0.5).expect("there are samples")
}

/// The estimand: the same functional over many launches on an undisturbed machine.
fn truth(world: &mut World, layout: Layout) -> f64 {
    let mut values: Vec<f64> =
        (0..20_000).map(|_| value(&launch(world, layout, &[], true))).collect();
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 4]
}

const LAYOUTS: [(&str, Layout); 4] = [
    ("none", Layout::Normal(0.0)),
    ("1%", Layout::Normal(0.01)),
    ("5%", Layout::Normal(0.05)),
    ("two modes 2% apart", Layout::TwoModes(0.02)),
];

const NEIGHBORS: [(&str, Neighbors); 8] = [
    ("none", Neighbors { share: 0.0, burst: 1.0, seen: true }),
    ("30%, 0.05 s", Neighbors { share: 0.3, burst: 0.05, seen: true }),
    ("30%, 1 s", Neighbors { share: 0.3, burst: 1.0, seen: true }),
    ("50%, 5 s", Neighbors { share: 0.5, burst: 5.0, seen: true }),
    ("50%, 30 s", Neighbors { share: 0.5, burst: 30.0, seen: true }),
    ("70%, 5 s", Neighbors { share: 0.7, burst: 5.0, seen: true }),
    ("30%, 1 s, not seen", Neighbors { share: 0.3, burst: 1.0, seen: false }),
    ("50%, 5 s, not seen", Neighbors { share: 0.5, burst: 5.0, seen: false }),
];

pub fn coverage() -> String {
    let title = "Coverage of the time on an undisturbed machine by the 95% interval, % (median half-width, %)";
    table(title, |world, layout, neighbors, n, truth| {
        let (mut hits, mut widths) = (0, vec![]);
        for _ in 0..TIMES {
            let bursts = bursts(world, neighbors);
            let launches: Vec<Sampled> =
                (0..n).map(|_| launch(world, layout, &bursts, neighbors.seen)).collect();
            let values: Vec<f64> = launches.iter().map(value).collect();
            let weights: Vec<f64> = launches.iter().map(|launch| launch.weight).collect();
            let found = undisturbed::estimate(&values, &weights, 0.95).expect("all are above 0");
            let [low, high] = found.interval.expect("there are six");
            hits += usize::from(low <= truth && truth <= high);
            widths.push(50.0 * (high / low).ln());
        }
        widths.sort_unstable_by(f64::total_cmp);
        format!("{} ({:.1})", percent(hits, TIMES), widths[TIMES / 2])
    })
}

pub fn bias() -> String {
    let title = "Median error of the estimate / of the pseudo-median of launch medians, %";
    table(title, |world, layout, neighbors, n, truth| {
        let mut errors = [vec![], vec![]];
        for _ in 0..TIMES {
            let bursts = bursts(world, neighbors);
            let launches: Vec<Sampled> =
                (0..n).map(|_| launch(world, layout, &bursts, neighbors.seen)).collect();
            let values: Vec<f64> = launches.iter().map(value).collect();
            let weights: Vec<f64> = launches.iter().map(|launch| launch.weight).collect();
            let medians: Vec<f64> = launches.iter().map(median).collect();
            let found = [
                undisturbed::estimate(&values, &weights, 0.95).expect("all are above 0").value,
                center::log_center(&medians, 0.95).expect("all are above 0").value,
            ];
            for (errors, found) in errors.iter_mut().zip(found) {
                errors.push(100.0 * (found / truth).ln());
            }
        }
        let median = |mut values: Vec<f64>| {
            values.sort_unstable_by(f64::total_cmp);
            format!("{:.1}", values[TIMES / 2])
        };
        errors.map(median).join(" / ")
    })
}

type Cell = fn(&mut World, Layout, Neighbors, usize, f64) -> String;

fn table(title: &str, cell: Cell) -> String {
    let mut world = World::new(71);
    let truths = LAYOUTS.map(|(_, layout)| truth(&mut world, layout));
    let columns = LAYOUTS.map(|(name, _)| format!("layout {name}"));
    let mut table = head(title, "launches; neighbors", columns.into_iter());
    for n in [6, 10, 20] {
        for (name, neighbors) in NEIGHBORS {
            let each = LAYOUTS.iter().zip(truths);
            let cells: Vec<String> = each
                .map(|((_, layout), truth)| cell(&mut world, *layout, neighbors, n, truth))
                .collect();
            table += &line(&format!("{n}; {name}"), cells.into_iter());
        }
    }
    table
}
