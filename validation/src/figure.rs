//! One figure: coverage and width of its interval.

use crate::world::{Shape, World};
use crate::{head, line, percent};
use gritstone_stats::center::{self, Estimate};
use gritstone_stats::plan;

const TIMES: usize = 10_000;
const TRUTH: usize = 2_000_001;

const SHAPES: [(&str, Shape); 9] = [
    ("normal, 1%", Shape::Normal),
    ("log-normal, 20%", Shape::LogNormal),
    ("floor and log-normal excess", Shape::Floor),
    ("spiky: 1 in 10 by 20%", Shape::Spiky),
    ("two modes 50 : 50", Shape::TwoModes(0.5)),
    ("two modes 60 : 40", Shape::TwoModes(0.4)),
    ("two modes 70 : 30", Shape::TwoModes(0.3)),
    ("two modes 80 : 20", Shape::TwoModes(0.2)),
    ("two modes 90 : 10", Shape::TwoModes(0.1)),
];

fn contains(interval: Option<[f64; 2]>, truth: f64) -> bool {
    interval.is_some_and(|[low, high]| low <= truth && truth <= high)
}

fn estimates(world: &mut World, shape: Shape, n: usize) -> impl Iterator<Item = Estimate> {
    (0..TIMES).map(move |_| center::log_center(&world.launches(shape, n), 0.95).unwrap())
}

pub fn coverage() -> String {
    let sizes = [6, 8, 10, 12, 15, 20, 30, 40];
    let mut world = World::new(1);
    let mut table = head(
        "Coverage of the pseudo-median by the 95% interval, % (mean half-width, %)",
        "distribution of launches",
        sizes.iter().map(|n| format!("n = {n}")),
    );
    for (name, shape) in SHAPES {
        let truth = world.pseudo_median(shape, TRUTH);
        let cells = sizes.iter().map(|n| {
            let (mut hits, mut width) = (0, 0.0);
            for estimate in estimates(&mut world, shape, *n) {
                let [low, high] = estimate.interval.unwrap();
                hits += usize::from(contains(estimate.interval, truth));
                width += 50.0 * (high / low).ln();
            }
            format!("{} ({:.2})", percent(hits, TIMES), width / TIMES as f64)
        });
        table += &line(name, cells);
    }
    table
}

/// Ten launches, and more as long as the interval is too wide.
pub fn launches() -> String {
    let times = 3_000_u32;
    let mut world = World::new(23);
    let mut table = head(
        "Launches until the 95% interval is ±2%, from 10 to 100",
        "distribution of launches",
        [
            "mean launches",
            "coverage, %",
            "within ±2%, %",
            "limited by the maximum, %",
            "coverage of ten, %",
        ]
        .map(str::to_owned)
        .into_iter(),
    );
    // of the shape as it is, and scattering less and more
    let cases = [
        ("normal, 1%", Shape::Normal),
        ("floor and log-normal excess", Shape::Floor),
        ("spiky: 1 in 10 by 20%", Shape::Spiky),
        ("two modes 50 : 50", Shape::TwoModes(0.5)),
        ("two modes 80 : 20", Shape::TwoModes(0.2)),
    ];
    for (name, shape) in cases {
        for scale in [1.0, 2.0, 4.0] {
            let truth = scaled(world.pseudo_median(shape, TRUTH), scale);
            let (mut made, mut hits, mut narrow, mut full, mut of_ten) = (0, 0, 0, 0, 0);
            for _ in 0..times {
                let values = world.launches(shape, 100);
                let ln: Vec<f64> = values.iter().map(|v| scaled(*v, scale).ln()).collect();
                let mut n = 10;
                loop {
                    let needed = plan::launches_needed(&ln[..n], 0.02, 0.95, 100);
                    if needed == n {
                        break;
                    }
                    n = needed;
                }
                let interval = |n| center::plain_center(&ln[..n], 0.95).unwrap().interval;
                made += n;
                hits += usize::from(contains(interval(n), truth.ln()));
                of_ten += usize::from(contains(interval(10), truth.ln()));
                narrow += usize::from(plan::launches_needed(&ln[..n], 0.02, 0.95, 101) == n);
                full += usize::from(n == 100);
            }
            let share = |hits| percent(hits, times as usize);
            let mean = format!("{:.1}", made as f64 / f64::from(times));
            let cells = [mean, share(hits), share(narrow), share(full), share(of_ten)];
            let by = if scale > 1.0 {
                format!(", times {scale}")
            } else {
                String::new()
            };
            table += &line(&format!("{name}{by}"), cells.into_iter());
        }
    }
    table
}

/// A value about 100 with its distance from 100 so many times as large.
fn scaled(value: f64, scale: f64) -> f64 {
    100.0 + (value - 100.0) * scale
}

pub fn machine() -> String {
    let sizes = [6, 10, 20, 40];
    let mut world = World::new(3);
    let mut table = head(
        "Coverage of the machine's long-run value by the interval of one run under the recorded drift, %",
        "seconds between launches",
        sizes.iter().map(|n| format!("n = {n}")),
    );
    for spacing in [0.5, 5.0, 60.0, 300.0, 1200.0] {
        let cells = sizes.iter().map(|n| {
            let hit = |e: &Estimate| contains(e.interval, 100.0);
            let of_runs = estimates(&mut world, Shape::Drift(spacing), *n);
            percent(of_runs.filter(hit).count(), TIMES)
        });
        table += &line(&spacing.to_string(), cells);
    }
    table
}

pub fn correlated() -> String {
    let sizes = [6, 10, 20, 40];
    let mut world = World::new(4);
    let mut table = head(
        "Coverage of the signed-rank interval of correlated launches, %",
        "lag-1 correlation",
        sizes.iter().map(|n| format!("n = {n}")),
    );
    for rho in [0.0, 0.3, 0.6, 0.8] {
        let cells = sizes.iter().map(|n| {
            let hits = (0..TIMES).filter(|_| {
                let values = world.correlated(rho, *n);
                contains(center::plain_center(&values, 0.95).unwrap().interval, 0.0)
            });
            percent(hits.count(), TIMES)
        });
        table += &line(&rho.to_string(), cells);
    }
    table
}
