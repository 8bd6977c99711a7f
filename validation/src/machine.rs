//! Made-up runs of a machine, in the worlds of the tables of series.

use crate::runs;
use crate::world::World;
use gritstone_analysis::run_summary::RunSummary;
use gritstone_model::RunView;

pub const ROWS: usize = 20;
const LAUNCHES: usize = 10;
/// Length of a bad launch.
const BAD: f64 = 1.3;
/// Standard deviation between launches.
const LAUNCH: f64 = 0.01;

/// See [`Effects::noisier`].
const NOISIER_AFTER: usize = 20;

/// How runs differ beyond their launches.
#[derive(Clone, Copy)]
pub struct Effects {
    pub name: &'static str,
    pub sd: f64,
    /// Student's t with three degrees of freedom in place of normal.
    pub heavy: bool,
    /// Correlation of neighbors.
    pub correlation: f64,
    /// Of all benchmarks of a run alike.
    pub common: f64,
    /// One run in ten is an outlier: all of it is 30% slower.
    pub outliers: bool,
    /// Benchmarks of which three runs in ten are 6% slower, independently of each other.
    pub two_modes: usize,
    /// Four times `sd` after 20 runs.
    pub noisier: bool,
    /// Benchmarks have from a fifth to five times `sd`.
    pub unlike: bool,
}

pub const PLAIN: Effects = Effects {
    name: "0.2%",
    sd: 0.002,
    heavy: false,
    correlation: 0.0,
    common: 0.0,
    outliers: false,
    two_modes: 0,
    noisier: false,
    unlike: false,
};
pub const WORLDS: [Effects; 13] = [
    PLAIN,
    Effects { name: "0.5%", sd: 0.005, ..PLAIN },
    Effects { name: "1%", sd: 0.01, ..PLAIN },
    Effects { name: "3%", sd: 0.03, ..PLAIN },
    Effects { name: "10%", sd: 0.1, ..PLAIN },
    Effects { name: "0.2 to 5%", sd: 0.01, unlike: true, ..PLAIN },
    Effects { name: "1%, heavy tails", sd: 0.01, heavy: true, ..PLAIN },
    Effects { name: "1%, correlation 0.7", sd: 0.01, correlation: 0.7, ..PLAIN },
    Effects { name: "0.5%, and 2% of all alike", sd: 0.005, common: 0.02, ..PLAIN },
    Effects { name: "0.5%, one run in ten 30% slower", sd: 0.005, outliers: true, ..PLAIN },
    Effects { name: "0.5%, 4 of 20 benchmarks with two modes", sd: 0.005, two_modes: 4, ..PLAIN },
    Effects {
        name: "0.5%, and 2% of all alike, correlation 0.7",
        sd: 0.005,
        common: 0.02,
        correlation: 0.7,
        ..PLAIN
    },
    Effects { name: "0.5%, and 2% after 20 runs", sd: 0.005, noisier: true, ..PLAIN },
];

/// Made-up runs, one after the other.
pub struct Machine {
    world: World,
    effects: Effects,
    empty: RunView,
    /// Effect of the last run on each benchmark.
    last: Vec<f64>,
    last_of_all: f64,
    number: usize,
}

impl Machine {
    pub fn new(seed: u64, effects: Effects) -> Self {
        Self::with_rows(seed, effects, ROWS)
    }

    pub fn with_rows(seed: u64, effects: Effects, rows: usize) -> Self {
        let (world, empty) = (World::new(seed), runs::empty(rows, false));
        Self { world, effects, empty, last: vec![0.0; rows], last_of_all: 0.0, number: 0 }
    }

    /// The next run, whose benchmarks take this much longer, ln.
    pub fn run(&mut self, slower: &[f64]) -> RunView {
        self.run_with(slower, 0)
    }

    /// The same, with so many bad launches of the first benchmark, 1.3 times as long.
    pub fn run_with(&mut self, slower: &[f64], bad: usize) -> RunView {
        let Effects {
            sd, heavy, correlation, common, outliers, two_modes, unlike, noisier, ..
        } = self.effects;
        let sd = if noisier && self.number >= NOISIER_AFTER { 4.0 * sd } else { sd };
        let fresh = (1.0 - correlation * correlation).sqrt();
        self.last_of_all = correlation * self.last_of_all + fresh * common * self.world.normal();
        let all =
            self.last_of_all + if outliers && self.world.uniform() < 0.1 { 0.26 } else { 0.0 };
        let count = self.last.len();
        let modes_from = count - (two_modes * count).div_ceil(ROWS);
        let mut rows: Vec<Vec<f64>> = (0..count)
            .map(|row| {
                let noise = match heavy {
                    true => {
                        let squares: f64 = (0..3).map(|_| self.world.normal().powi(2)).sum();
                        self.world.normal() / (squares / 3.0).sqrt()
                    }
                    false => self.world.normal(),
                };
                let sd = match unlike {
                    true => sd * 5_f64.powf(2.0 * row as f64 / (count - 1) as f64 - 1.0),
                    false => sd,
                };
                self.last[row] = correlation * self.last[row] + fresh * sd * noise;
                let has_modes = row >= modes_from;
                let mode = match has_modes && self.world.uniform() < 0.3 {
                    true => 0.06,
                    false => 0.0,
                };
                let level = self.last[row] + all + mode + slower[row];
                (0..LAUNCHES).map(|_| (level + LAUNCH * self.world.normal()).exp()).collect()
            })
            .collect();
        for launch in &mut rows[0][..bad] {
            *launch *= BAD;
        }
        self.number += 1;
        runs::run(&self.empty, self.number, &rows)
    }

    /// Further runs.
    pub fn summaries(&mut self, slower: &[f64], runs: usize) -> Vec<RunSummary> {
        (0..runs).map(|_| RunSummary::new(&self.run(slower))).collect()
    }

    /// Makes it another system.
    pub fn rename(&mut self, id: &str) {
        self.empty.machine.id = id.to_owned();
    }
}
