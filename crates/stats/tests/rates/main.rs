//! The most important rates of docs/validation.md on simulated launches; `make test-full PART=simulate` compares the tables of the
//! document. A rate passes unless the observation rejects it at 99%; seeds are fixed, so that a test that passes once always passes.

mod trials;
mod world;

use gritstone_stats::series::{self, Point, Series};
use gritstone_stats::{center, modes, two_sample, undisturbed};
use statrs::distribution::{Binomial, DiscreteCDF};
use world::{Shape, World};

const TRUTH: usize = 200_001;

/// Fails when `hits` or fewer would come in less than 1 of 100 cases at this rate.
fn at_least(rate: f64, hits: usize, total: usize, what: &str) {
    let p = Binomial::new(rate, total as u64).unwrap().cdf(hits as u64);
    assert!(p >= 0.01, "{what}: {hits} of {total}, not {rate} or more");
}

/// Fails when `hits` or more would come in less than 1 of 100 cases at this rate.
fn at_most(rate: f64, hits: usize, total: usize, what: &str) {
    at_least(1.0 - rate, total - hits, total, what);
}

fn contains(interval: Option<[f64; 2]>, truth: f64) -> bool {
    interval.is_some_and(|[low, high]| low <= truth && truth <= high)
}

#[test]
#[should_panic(expected = "930 of 1000")]
fn low_rates_fail() {
    at_least(0.95, 930, 1000, "hits");
}

#[test]
fn interval_covers_pseudo_median() {
    let mut world = World::new(101);
    for shape in [
        Shape::Normal,
        Shape::LogNormal,
        Shape::Floor,
        Shape::Spiky,
        Shape::TwoModes(0.5),
        Shape::TwoModes(0.2),
    ] {
        let truth = world.pseudo_median(shape, TRUTH);
        for (n, times) in [(6, 1500), (10, 1000), (20, 700), (40, 400)] {
            let hit = |_: &usize| {
                let estimate = center::log_center(&world.launches(shape, n), 0.95).unwrap();
                contains(estimate.interval, truth)
            };
            let hits = (0..times).filter(hit).count();
            at_least(0.94, hits, times, &format!("{shape:?}, n = {n}"));
        }
    }
}

#[test]
fn drift_matches_recording() {
    let pace: Vec<f64> =
        world::PACE.lines().map(|line| line.parse::<f64>().unwrap().ln()).collect();
    let mean = pace.iter().sum::<f64>() / pace.len() as f64;
    let product = |lag: usize| -> f64 {
        let pairs = pace.iter().zip(&pace[lag..]);
        pairs.map(|(a, b)| (a - mean) * (b - mean)).sum()
    };
    let sd = (product(0) / pace.len() as f64).sqrt();
    assert!((sd / world::DRIFT_LN_SD - 1.0).abs() < 0.01, "{sd}");
    for lag in [1, 2, 5, 10, 30, 60, 120, 300] {
        let (recorded, model) = (product(lag) / product(0), world::drift_left(lag as f64));
        assert!((recorded - model).abs() < 0.06, "{lag} s: {recorded} {model}");
    }
}

#[test]
fn equal_runs_differ_nominally() {
    let mut world = World::new(105);
    for shape in [Shape::Normal, Shape::Floor, Shape::Spiky, Shape::TwoModes(0.3)] {
        for sd in [0.0, 0.01, 0.025] {
            for (n, times) in [(6, 600), (10, 400), (20, 150)] {
                let (mut hits, mut rare) = (0, 0);
                for _ in 0..times {
                    let (base, other) = (world.run(shape, n, sd), world.run(shape, n, sd));
                    let found =
                        two_sample::ratio(&base, &other, sd * 2.0_f64.sqrt(), 0.95).unwrap();
                    let p = found.p.unwrap();
                    hits += usize::from(p <= 0.05);
                    rare += usize::from(p <= 0.01);
                    assert_eq!(p <= 0.05, !contains(found.interval, 1.0));
                }
                let what = format!("{shape:?}, runs {sd}, n = {n}");
                at_most(0.05, hits, times, &what);
                at_most(0.01, rare, times, &what);
            }
        }
    }
}

#[test]
fn single_modes_stay_single() {
    type Draw = fn(&mut World, usize) -> f64;
    let one: [(&str, Draw); 5] = [
        ("uniform", |w, _| w.uniform()),
        ("exponential", |w, _| w.exponential()),
        ("log-normal", |w, _| w.normal().exp()),
        ("normal with an outlier", |w, i| w.normal() + if i == 0 { 10.0 } else { 0.0 }),
        ("spiky", |w, _| w.normal() + if w.chance(0.1) { 20.0 * w.exponential() } else { 0.0 }),
    ];
    let mut world = World::new(110);
    for (name, draw) in one {
        for n in [10, 20, 60] {
            let many = |_: &usize| {
                let values: Vec<f64> = (0..n).map(|i| draw(&mut world, i)).collect();
                modes::modes(&values) > Some(1)
            };
            at_most(0.01, (0..500).filter(many).count(), 500, &format!("{name}, n = {n}"));
        }
    }
}

#[test]
fn two_clear_modes_are_seen() {
    let mut world = World::new(111);
    for (n, slow, apart, rate) in [(10, 5, 12.0, 0.89), (20, 10, 8.0, 0.88), (20, 6, 12.0, 0.86)] {
        let two = |_: &usize| {
            let mode = |i| if i < slow { apart } else { 0.0 };
            let values: Vec<f64> = (0..n).map(|i| mode(i) + world.normal()).collect();
            modes::modes(&values) == Some(2)
        };
        let hits = (0..400).filter(two).count();
        at_least(rate - 0.02, hits, 400, &format!("{slow} of {n}"));
    }
}

/// Positions of the changes of ln(estimate).
fn changes(series: &[f64]) -> Vec<usize> {
    let point = |&y: &f64| Point { run: 0, y, variance: 0.0, judged: false };
    let mut series = Series { points: series.iter().map(point).collect(), ..Series::default() };
    series::fit([&mut series]);
    series.starts
}

#[test]
fn only_changed_series_change() {
    let mut world = World::new(113);
    let mut series =
        |n: usize, sd: f64| -> Vec<f64> { (0..n).map(|_| sd * world.normal()).collect() };
    let alarms = (0..400).filter(|_| !changes(&series(100, 0.05)).is_empty());
    at_most(0.01, alarms.count(), 400, "false alarms");
    // 3% after 40 runs that scatter by 1%, seen after another 15
    let found = (0..200).filter(|_| {
        let mut values = series(55, 0.01);
        values[40..].iter_mut().for_each(|x| *x += 0.03);
        changes(&values).iter().any(|change| (38..=42).contains(change))
    });
    at_least(0.95, found.count(), 200, "changes");
}

#[test]
fn interval_covers_lower_quartile() {
    let mut world = World::new(114);
    // of ln(time): the lower quartile of the normal distribution is 0.6745 below its mean
    let truth = (-0.6745_f64 * 0.02).exp();
    for (n, times) in [(8, 1000), (12, 1000), (30, 700)] {
        let hits = (0..times).filter(|_| {
            let launches: Vec<f64> = (0..n).map(|_| (0.02 * world.normal()).exp()).collect();
            let found = undisturbed::estimate(&launches, &vec![1.0; n], 0.95).unwrap();
            contains(found.interval, truth)
        });
        at_least(0.93, hits.count(), times, &format!("n = {n}"));
    }
}
