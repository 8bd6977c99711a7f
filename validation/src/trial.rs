//! Runs of the same: how well a few of them tell what half of the rows, and nine of ten, scatter by.

use crate::world::World;
use crate::{head, line, percent};
use gritstone_analysis::noise;

const TIMES: usize = 1_500;
const DRAWS: usize = 200;
const ROWS: usize = 20;

/// The figures of all rows in some runs: what they scatter by differs by `spread` on the logarithmic scale, and this share of the
/// variance is the same for all rows of a run.
struct Trial {
    truth: Vec<f64>,
    figures: Vec<Vec<f64>>,
}

impl Trial {
    fn new(world: &mut World, runs: usize, shared: f64, spread: f64) -> Self {
        let common: Vec<f64> = (0..runs).map(|_| world.normal()).collect();
        let truth: Vec<f64> = (0..ROWS).map(|_| (spread * world.normal()).exp()).collect();
        let mut row = |sd: &f64| -> Vec<f64> {
            let figure = |common: &f64| {
                sd * (shared.sqrt() * common + (1.0 - shared).sqrt() * world.normal())
            };
            common.iter().map(figure).collect()
        };
        let figures = truth.iter().map(&mut row).collect();
        Self { truth, figures }
    }

    /// Standard deviations of all rows in these runs.
    fn scatters(&self, runs: &[usize]) -> Vec<f64> {
        let of = |row: &Vec<f64>| deviation(&runs.iter().map(|at| row[*at]).collect::<Vec<f64>>());
        self.figures.iter().map(of).collect()
    }
}

fn deviation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt()
}

/// The nearest rank.
fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted[((share * sorted.len() as f64).ceil() as usize).max(1) - 1]
}

fn drawn(world: &mut World, from: usize) -> Vec<usize> {
    let draw = |_| (world.uniform() * from as f64) as usize;
    (0..from).map(draw).collect()
}

/// Intervals of a quantile: as a self-test has it, and by drawing rows, runs, or both again.
fn intervals(world: &mut World, trial: &Trial, runs: usize, share: f64) -> [[f64; 2]; 4] {
    let all: Vec<usize> = (0..runs).collect();
    let scatters = trial.scatters(&all);
    let mut found = [[0.0; 2]; 4];
    found[0] = noise::interval_of(quantile(&scatters, share), runs);
    // draws of k from k have (k - 1) / k of the variance
    let stretch = (runs as f64 / (runs as f64 - 1.0)).sqrt();
    let mut draws = [(); 3].map(|()| Vec::with_capacity(DRAWS));
    for _ in 0..DRAWS {
        let rows = drawn(world, ROWS);
        let again: Vec<f64> = trial
            .scatters(&drawn(world, runs))
            .iter()
            .map(|sd| sd * stretch)
            .collect();
        let of_rows = |from: &[f64]| -> Vec<f64> { rows.iter().map(|at| from[*at]).collect() };
        draws[0].push(quantile(&of_rows(&scatters), share));
        draws[1].push(quantile(&again, share));
        draws[2].push(quantile(&of_rows(&again), share));
    }
    for (found, draws) in found[1..].iter_mut().zip(&draws) {
        *found = [0.025, 0.975].map(|share| quantile(draws, share));
    }
    found
}

pub fn quantiles() -> String {
    let mut world = World::new(16);
    let mut table = head(
        "Coverage of a quantile over 20 benchmarks of the between-run standard deviation by its 95% interval, %: degrees of freedom of the runs / bootstrap of benchmarks / of runs / of both",
        "runs; shared fraction of the variance",
        [
            "median, equal benchmarks",
            "median, unequal benchmarks",
            "90th percentile, equal benchmarks",
            "90th percentile, unequal benchmarks",
        ]
        .map(str::to_owned)
        .into_iter(),
    );
    for runs in [5, 10] {
        for shared in [0.0, 0.5, 0.9] {
            let cases = [(0.5, 0.3), (0.5, 0.8), (0.9, 0.3), (0.9, 0.8)];
            let cells = cases.into_iter().map(|(share, spread)| {
                let mut hits = [0; 4];
                for _ in 0..TIMES {
                    let trial = Trial::new(&mut world, runs, shared, spread);
                    let truth = quantile(&trial.truth, share);
                    let found = intervals(&mut world, &trial, runs, share);
                    for (hits, [low, high]) in hits.iter_mut().zip(found) {
                        *hits += usize::from(low <= truth && truth <= high);
                    }
                }
                hits.map(|hits| percent(hits, TIMES)).join(" / ")
            });
            table += &line(&format!("{runs}; {shared}"), cells);
        }
    }
    table
}
