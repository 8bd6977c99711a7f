//! False and missed modes.

use crate::world::World;
use crate::{head, line, percent};
use gritstone_stats::modes;

/// The i-th of n values.
type Draw = fn(&mut World, usize, usize) -> f64;

/// Distributions with one mode.
const ONE: [(&str, Draw); 11] = [
    ("uniform", |w, _, _| w.uniform()),
    ("normal", |w, _, _| w.normal()),
    ("exponential", |w, _, _| w.exponential()),
    ("log-normal, 0.75", |w, _, _| (0.75 * w.normal()).exp()),
    ("log-normal, 2", |w, _, _| (2.0 * w.normal()).exp()),
    ("Cauchy", |w, _, _| w.normal() / w.normal()),
    ("normal, an outlier", |w, i, _| outlier(i < 1, 10.0) + w.normal()),
    ("normal, two outliers", |w, i, _| outlier(i < 2, 10.0) + w.normal()),
    ("spiky, 1 in 10", |w, _, _| {
        let spike = if w.chance(0.1) { 20.0 * w.exponential() } else { 0.0 };
        spike + w.normal()
    }),
    ("spiky, 1 in 5", |w, _, _| {
        let spike = if w.chance(0.2) { 20.0 * w.exponential() } else { 0.0 };
        spike + w.normal()
    }),
    ("normal, in ticks of 1/3", |w, _, _| (3.0 * w.normal()).round()),
];

/// Distributions with two modes, a given number of standard deviations apart.
const TWO: [(&str, Draw); 8] = [
    ("**50 : 50**, 4 apart", |w, i, n| outlier(i < n / 2, 4.0) + w.normal()),
    ("**50 : 50**, 6 apart", |w, i, n| outlier(i < n / 2, 6.0) + w.normal()),
    ("**50 : 50**, 8 apart", |w, i, n| outlier(i < n / 2, 8.0) + w.normal()),
    ("**50 : 50**, 12 apart", |w, i, n| outlier(i < n / 2, 12.0) + w.normal()),
    ("**70 : 30**, 8 apart", |w, i, n| outlier(10 * i < 3 * n, 8.0) + w.normal()),
    ("**70 : 30**, 12 apart", |w, i, n| outlier(10 * i < 3 * n, 12.0) + w.normal()),
    ("**80 : 20**, 12 apart", |w, i, n| outlier(5 * i < n, 12.0) + w.normal()),
    ("**70 : 30**, 12 apart, an outlier", |w, i, n| {
        outlier(10 * i < 3 * n, 12.0) + outlier(i + 1 == n, 40.0) + w.normal()
    }),
];

fn outlier(is: bool, by: f64) -> f64 {
    if is { by } else { 0.0 }
}

pub fn found() -> String {
    let times = 5_000;
    let sizes = [6, 8, 10, 12, 15, 20, 30, 40, 60];
    let mut world = World::new(21);
    let mut table = head(
        "More than one mode found, % of samples; the last eight shapes have two modes, the given number of standard deviations apart",
        "values",
        sizes.iter().map(|n| format!("n = {n}")),
    );
    for (name, draw) in ONE.iter().chain(&TWO) {
        let cells = sizes.iter().map(|n| {
            let many = (0..times).filter(|_| {
                let values: Vec<f64> = (0..*n).map(|i| draw(&mut world, i, *n)).collect();
                modes::modes(&values) > Some(1)
            });
            percent(many.count(), times)
        });
        table += &line(name, cells);
    }
    table
}
