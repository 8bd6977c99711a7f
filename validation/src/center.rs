//! The pseudo-median of one side of a trial: coverage and width of its interval.

use crate::world::{Shape, World};
use crate::{head, line, percent};
use gritstone_stats::center::{self, Estimate};

/// Simulated trials per cell.
const TIMES: usize = 10_000;
/// Pairs of launches from which the true pseudo-median is computed.
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
                // half-width, %
                width += 50.0 * (high / low).ln();
            }
            format!("{} ({:.2})", percent(hits, TIMES), width / TIMES as f64)
        });
        table += &line(name, cells);
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
