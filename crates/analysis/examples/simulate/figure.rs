//! One figure: coverage and width of its interval.

use crate::world::{RECORDED, Shape, Trend, World};
use crate::{head, line, percent};
use gritstone_stats::center::{self, Estimate};
use gritstone_stats::drift;
use gritstone_stats::scatter::Scatter;

const TIMES: usize = 10_000;
const TRUTH: usize = 2_000_001;

const SHAPES: [(&str, Shape); 9] = [
    ("normal, 1 %", Shape::Normal),
    ("log-normal, 20 %", Shape::LogNormal),
    ("floor and log-normal excess", Shape::Floor),
    ("spiky: 1 in 10 by 20 %", Shape::Spiky),
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
        "Coverage of the pseudo-median by the 95 % interval, % (mean half-width, %)",
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

pub fn median() -> String {
    let sizes = [6, 10, 20, 40];
    let mut world = World::new(2);
    let mut table = head(
        "Coverage of the median by the order-statistic interval, %",
        "distribution of launches",
        sizes.iter().map(|n| format!("n = {n}")),
    );
    for (name, shape) in SHAPES {
        let truth = world.median(shape, TRUTH);
        let cells = sizes.iter().map(|n| {
            let hit = |e: &Estimate| contains(e.median_interval, truth);
            percent(estimates(&mut world, shape, *n).filter(hit).count(), TIMES)
        });
        table += &line(name, cells);
    }
    table
}

pub fn machine() -> String {
    let sizes = [6, 10, 20, 40];
    let mut world = World::new(3);
    let mut table = head(
        "Coverage of the machine's long-run value under the recorded drift, %: signed-rank interval / widened for rho / with the variance learned from five earlier runs",
        "seconds between launches",
        sizes.iter().map(|n| format!("n = {n}")),
    );
    for spacing in [0.5, 5.0, 60.0, 300.0, 1200.0] {
        let cells = sizes.iter().map(|n| {
            let mut hits = [0; 3];
            for _ in 0..TIMES / 4 {
                for (hits, interval) in hits.iter_mut().zip(drifting(&mut world, spacing, *n)) {
                    *hits += usize::from(contains(interval, 100.0));
                }
            }
            hits.map(|hits| percent(hits, TIMES / 4)).join(" / ")
        });
        table += &line(&spacing.to_string(), cells);
    }
    table
}

/// The interval of one run as an interval for the machine: with and without what the cycle probe saw.
pub fn seen() -> String {
    let machines = [
        ("as recorded, 2.9 %", RECORDED),
        ("2 %, time constant 1 minute", wanders(0.02, &[(1.0, 60.0)])),
        ("2 %, 4 minutes", wanders(0.02, &[(1.0, 217.0)])),
        ("1.5 %, 4 minutes", wanders(0.015, &[(1.0, 217.0)])),
        ("2 %, 17 minutes", wanders(0.02, &[(1.0, 1000.0)])),
        ("none", wanders(0.0, &[(1.0, 1.0)])),
    ];
    let lengths = [1.0, 2.0, 5.0, 10.0, 30.0];
    let mut world = World::new(5);
    let mut tables = String::new();
    for (n, scatter) in [(20, 0.01), (10, 0.02), (40, 0.007)] {
        tables += &head(
            &format!(
                "Coverage of the machine's long-run value by the interval of one run, {n} launches with a standard deviation of {:.1} %: from the launches alone / with the drift seen by the cycle probe (mean half-width, %)",
                100.0 * scatter
            ),
            "drift",
            lengths.iter().map(|minutes| format!("{minutes} min")),
        );
        for (name, trend) in &machines {
            let cells = lengths.iter().map(|minutes| {
                let (mut hits, mut width) = ([0; 2], [0.0; 2]);
                for _ in 0..TIMES / 5 {
                    let (values, paces) = world.whole_run(trend, 60.0 * minutes, n, scatter);
                    let with = |drift: Scatter| {
                        let found = center::log_center_between(&values, drift, 0.95).unwrap();
                        found.interval.unwrap()
                    };
                    let both = [with(0.0.into()), with(drift::of_run(&paces))];
                    for (at, [low, high]) in both.into_iter().enumerate() {
                        hits[at] += usize::from(contains(Some([low, high]), 100.0));
                        width[at] += 50.0 * (high / low).ln();
                    }
                }
                let cell = |at: usize| {
                    let width = width[at] / (TIMES / 5) as f64;
                    format!("{} ({width:.1})", percent(hits[at], TIMES / 5))
                };
                format!("{} / {}", cell(0), cell(1))
            });
            tables += &line(name, cells);
        }
        tables += "\n";
    }
    tables.truncate(tables.trim_end().len() + 1);
    tables
}

fn wanders(ln_sd: f64, parts: &'static [(f64, f64)]) -> Trend {
    Trend { ln_sd, parts }
}

pub fn widened() -> String {
    let sizes = [6, 10, 20, 40];
    let mut world = World::new(4);
    let mut table = head(
        "Samples whose interval is widened, %: uncorrected / bias-corrected rho; coverage, %: signed-rank interval / widened, uncorrected / widened, bias-corrected",
        "lag-1 correlation",
        sizes.iter().map(|n| format!("n = {n}")),
    );
    for rho in [0.0, 0.3, 0.6, 0.8] {
        let cells = sizes.iter().map(|n| {
            let (mut wide, mut hits) = ([0; 2], [0; 3]);
            for _ in 0..TIMES / 2 {
                let values = world.correlated(rho, *n);
                let found = center::plain_center(&values, 0.95).unwrap();
                let raw = if found.rho1 > 2.0 / (*n as f64).sqrt() {
                    ((1.0 + found.rho1) / (1.0 - found.rho1)).sqrt().min(3.0)
                } else {
                    1.0
                };
                wide[0] += usize::from(raw > 1.0);
                wide[1] += usize::from(found.widened > 1.0);
                for (hits, factor) in hits.iter_mut().zip([1.0, raw, found.widened]) {
                    let end = |x: f64| found.value + (x - found.value) * factor / found.widened;
                    *hits += usize::from(contains(found.interval.map(|ends| ends.map(end)), 0.0));
                }
            }
            let share = |hits| percent(hits, TIMES / 2);
            format!(
                "{}; {}",
                wide.map(share).join(" / "),
                hits.map(share).join(" / ")
            )
        });
        table += &line(&rho.to_string(), cells);
    }
    table
}

/// The three intervals of a run on a machine that drifts.
fn drifting(world: &mut World, spacing: f64, n: usize) -> [Option<[f64; 2]>; 3] {
    let mut values = || world.launches(Shape::Drift(spacing), n);
    let figure = |values: Vec<f64>| center::log_center(&values, 0.95).unwrap().value;
    let earlier: Vec<f64> = (0..5).map(|_| figure(values())).collect();
    let values = values();
    let run = center::log_center(&values, 0.95).unwrap();
    let narrow = |x: f64| run.value * (x / run.value).powf(1.0 / run.widened);
    let between = crate::compare::alone(&earlier);
    let machine = center::log_center_between(&values, between, 0.95).unwrap();
    [
        run.interval.map(|ends| ends.map(narrow)),
        run.interval,
        machine.interval,
    ]
}
