//! Made-up machines whose truth is known.

#![allow(dead_code, reason = "the test and the long simulation each use a part")]

pub mod pairs;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::f64::consts::TAU;

/// How launches scatter about 100.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// 1% of normal scatter.
    Normal,
    /// Log-normal with 20% of scatter.
    LogNormal,
    /// A floor of 98 that nothing undercuts, and a log-normal excess of 2 with a long tail.
    Floor,
    /// 1% of normal scatter, and one launch in ten slower by 20% in the mean, exponentially.
    Spiky,
    /// Two modes 5% apart with 0.5% of scatter in each; this share in the slow one.
    TwoModes(f64),
    /// 1% of normal scatter on a machine that drifts as the recorded one; seconds from launch to launch.
    Drift(f64),
}

/// Femtoseconds a core cycle, one reading a second (the fastest of nine probes of 0.12 ms) for 30 minutes, on one of the
/// two cores of a virtual machine on which others compiled now and then.
pub const PACE: &str = include_str!("pace.txt");
/// The drift in [`PACE`]: standard deviation of its logarithm,
pub const DRIFT_LN_SD: f64 = 0.0287;
/// and its parts, fitted to its autocorrelation: share of the variance, and the seconds after which it is forgotten.
pub const DRIFT_PARTS: [(f64, f64); 3] = [(0.13, 0.0), (0.18, 2.2), (0.69, 217.0)];

/// Autocorrelation of the drift after some seconds.
pub fn drift_left(seconds: f64) -> f64 {
    let part = |(share, time): &(f64, f64)| share * (-seconds / time).exp();
    DRIFT_PARTS.iter().map(part).sum()
}

/// Random launches.
pub struct World(Pcg64);

impl World {
    pub fn new(seed: u64) -> Self {
        Self(Pcg64::seed_from_u64(seed))
    }

    pub fn uniform(&mut self) -> f64 {
        self.0.random::<f64>()
    }

    /// Standard normal, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (TAU * self.uniform()).cos()
    }

    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.uniform()).ln()
    }

    /// Whether an event of this probability occurs.
    pub fn chance(&mut self, share: f64) -> bool {
        self.uniform() < share
    }

    /// n launches in the order of time.
    pub fn launches(&mut self, shape: Shape, n: usize) -> Vec<f64> {
        let drift = match shape {
            Shape::Drift(spacing) => self.drift(spacing, n),
            _ => vec![1.0; n],
        };
        drift.iter().map(|drift| drift * self.launch(shape)).collect()
    }

    fn launch(&mut self, shape: Shape) -> f64 {
        match shape {
            Shape::Normal | Shape::Drift(_) => 100.0 * (1.0 + 0.01 * self.normal()),
            Shape::LogNormal => 100.0 * (0.2 * self.normal()).exp(),
            Shape::Floor => 98.0 + 2.0 * (0.75 * self.normal()).exp(),
            Shape::Spiky => {
                let spike = if self.chance(0.1) { self.exponential() } else { 0.0 };
                100.0 * (1.0 + 0.01 * self.normal() + 0.2 * spike)
            }
            Shape::TwoModes(share) => {
                let mode = if self.chance(share) { 105.0 } else { 100.0 };
                mode * (1.0 + 0.005 * self.normal())
            }
        }
    }

    /// n standard normal values, each of which has this correlation with the next.
    pub fn correlated(&mut self, rho: f64, n: usize) -> Vec<f64> {
        let mut now = self.normal();
        (0..n)
            .map(|_| {
                let value = now;
                now = rho * now + (1.0 - rho * rho).sqrt() * self.normal();
                value
            })
            .collect()
    }

    /// Factor of the drift at n launches.
    fn drift(&mut self, spacing: f64, n: usize) -> Vec<f64> {
        let mut ln = vec![0.0; n];
        for (share, time) in DRIFT_PARTS {
            let part = self.correlated((-spacing / time).exp(), n);
            for (ln, part) in ln.iter_mut().zip(part) {
                *ln += DRIFT_LN_SD * share.sqrt() * part;
            }
        }
        ln.iter().map(|ln| ln.exp()).collect()
    }

    /// n launches of a run of a machine whose runs scatter by `run_ln_sd`.
    pub fn run(&mut self, shape: Shape, n: usize, run_ln_sd: f64) -> Vec<f64> {
        let run = (run_ln_sd * self.normal()).exp();
        self.launches(shape, n).iter().map(|x| x * run).collect()
    }

    /// The pseudo-median of ln(value), exponentiated: the median of the mean of two independent launches.
    pub fn pseudo_median(&mut self, shape: Shape, pairs: usize) -> f64 {
        let means = (0..pairs).map(|_| {
            let one = self.launches(shape, 1)[0].ln();
            f64::midpoint(one, self.launches(shape, 1)[0].ln())
        });
        middle(means.collect()).exp()
    }

    /// The median of single launches.
    pub fn median(&mut self, shape: Shape, launches: usize) -> f64 {
        middle((0..launches).map(|_| self.launches(shape, 1)[0]).collect())
    }
}

fn middle(mut values: Vec<f64>) -> f64 {
    let half = values.len() / 2;
    *values.select_nth_unstable_by(half, f64::total_cmp).1
}
