//! Coverage of the interval of a score.

use crate::world::{Shape, World};
use crate::{head, line, percent};
use gritstone_stats::score::{self, ScoredBenchmark};

pub fn coverage() -> String {
    let times = 800;
    let rounds = [0.0, 0.005, 0.02];
    let mut world = World::new(22);
    let mut table = head(
        "Coverage of a score by its 95% interval, % (mean half-width, %), by the standard deviation of rounds; launches have 1%",
        "benchmarks x launches",
        rounds.iter().map(|sd| format!("{}%", sd * 100.0)),
    );
    for (rows, n) in [(1, 6), (1, 10), (2, 10), (4, 6), (4, 10), (16, 6), (16, 10)] {
        let cells = rounds.iter().map(|sd| {
            let (mut hits, mut width) = (0, 0.0);
            for _ in 0..times {
                let rows = scored(&mut world, rows, n, *sd);
                let [low, high] = score::geometric(&rows, 0.95).unwrap().interval.unwrap();
                hits += usize::from(low <= 1.0 && 1.0 <= high);
                width += 50.0 * (high / low).ln();
            }
            format!("{} ({:.2})", percent(hits, times), width / times as f64)
        });
        table += &line(&format!("{rows} x {n}"), cells);
    }
    table
}

/// Benchmarks with a score of 1: the reference is the lower quartile of the times of all launches.
fn scored(world: &mut World, rows: usize, n: usize, sd: f64) -> Vec<ScoredBenchmark> {
    // ln(1 + 0.01 Z) has a mean of -0.00005
    let quartile = 0.6745 * sd.hypot(0.01) - 0.000_05;
    let effects: Vec<f64> = (0..n).map(|_| (sd * world.normal()).exp()).collect();
    (0..rows)
        .map(|_| {
            let values = world.launches(Shape::Normal, n);
            let moved = values.iter().zip(&effects).map(|(x, effect)| x * effect);
            ScoredBenchmark {
                weights: vec![1.0; n],
                launches: moved.collect(),
                reference: 100.0 * quartile.exp(),
                lower_is_better: false,
                weight: 1.0,
                invalid: false,
            }
        })
        .collect()
}
