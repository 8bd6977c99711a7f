//! Comparisons: false positives and power.

use crate::world::{Shape, World};
use crate::{head, line, percent};
use gritstone_analysis::run_variance::DEFAULT;
use gritstone_stats::scatter::Scatter;
use gritstone_stats::two_sample::{self, Ratio};
use gritstone_stats::{center, moderated, multiple};

const TIMES: usize = 5_000;
/// p that a lone change among 158 rows needs: 0.05 / 158.
const LONE: f64 = 0.05 / 158.0;

fn below(ratio: &Ratio, level: f64) -> usize {
    usize::from(ratio.p.unwrap() <= level)
}

/// Both sides of a comparison of runs; the other is `factor` times the base.
fn sides(world: &mut World, shape: Shape, n: usize, sd: f64, factor: f64) -> (Vec<f64>, Vec<f64>) {
    let other = world.run(shape, n, sd).iter().map(|x| x * factor).collect();
    (world.run(shape, n, sd), other)
}

pub fn false_positives() -> String {
    let sizes = [6, 10, 20, 40];
    let mut world = World::new(11);
    let mut table = head(
        "A/A comparison of two runs: p at most 0.05 / 0.01 / 0.001, % of comparisons; last, p at most 0.05 if the between-run variance is ignored",
        "distribution of launches; between-run standard deviation",
        sizes.iter().map(|n| format!("{n} vs {n}")),
    );
    for (name, shape) in [
        ("normal, 1%", Shape::Normal),
        ("floor and log-normal excess", Shape::Floor),
        ("spiky", Shape::Spiky),
        ("two modes 70 : 30", Shape::TwoModes(0.3)),
    ] {
        for sd in [0.0, 0.003, 0.01, 0.02] {
            let cells = sizes.iter().map(|n| {
                let mut hits = [0; 4];
                for _ in 0..TIMES {
                    let (base, other) = sides(&mut world, shape, *n, sd, 1.0);
                    let honest =
                        two_sample::ratio(&base, &other, sd * 2.0_f64.sqrt(), 0.95).unwrap();
                    let naive = two_sample::ratio(&base, &other, 0.0, 0.95).unwrap();
                    for (hits, level) in hits.iter_mut().zip([0.05, 0.01, 0.001]) {
                        *hits += below(&honest, level);
                    }
                    hits[3] += below(&naive, 0.05);
                }
                let [a, b, c, naive] = hits.map(|hits| percent(hits, TIMES));
                format!("{a} / {b} / {c}; {naive}")
            });
            table += &line(&format!("{name}; {}%", sd * 100.0), cells);
        }
    }
    table
}

pub fn power() -> String {
    let sizes = [6, 10, 20, 40];
    let changes = [1.01, 1.02, 1.05];
    let mut world = World::new(12);
    let mut table = head(
        "Changes of 1 / 2 / 5% detected at p <= 0.05, %; in parentheses, as the only change among 158 benchmarks; launches have a standard deviation of 1%",
        "comparison",
        sizes.iter().map(|n| format!("{n} vs {n}")),
    );
    for (name, sd) in [
        ("interleaved pairs", None),
        ("unpaired, no between-run variance", Some(0.0)),
        (
            "two runs, stated for cycles (1%)",
            Some(DEFAULT.paced.ln_sd),
        ),
        ("two runs, stated for times (2.5%)", Some(DEFAULT.raw.ln_sd)),
    ] {
        let cells = sizes.iter().map(|n| {
            let (mut seen, mut lone) = ([0; 3], [0; 3]);
            for _ in 0..TIMES {
                for (at, factor) in changes.iter().enumerate() {
                    let (base, other) =
                        sides(&mut world, Shape::Normal, *n, sd.unwrap_or(0.0), *factor);
                    let found = match sd {
                        None => two_sample::paired(&base, &other, 0.95),
                        Some(sd) => two_sample::ratio(&base, &other, sd * 2.0_f64.sqrt(), 0.95),
                    };
                    seen[at] += below(&found.unwrap(), 0.05);
                    lone[at] += below(&found.unwrap(), LONE);
                }
            }
            let text = |hits: [usize; 3]| hits.map(|hits| percent(hits, TIMES)).join(" / ");
            format!("{} ({})", text(seen), text(lone))
        });
        table += &line(name, cells);
    }
    table
}

/// A against A on the machine that drifts.
pub fn drift() -> String {
    let ways = [
        "rank-sum test alone",
        "stated for times",
        "learned from 5 runs",
        "learned from 10 runs",
        "interleaved pairs",
    ];
    let mut world = World::new(15);
    let mut table = head(
        "A/A comparison of two runs of 10 launches under the recorded drift: p at most 0.05 / 0.01, % of comparisons",
        "seconds between launches",
        ways.into_iter().map(str::to_owned),
    );
    for spacing in [0.5, 5.0, 60.0, 300.0] {
        let mut hits = [[0; 2]; 5];
        for _ in 0..TIMES {
            for (hits, ratio) in hits.iter_mut().zip(same(&mut world, spacing)) {
                hits[0] += below(&ratio, 0.05);
                hits[1] += below(&ratio, 0.01);
            }
        }
        let cells = hits
            .iter()
            .map(|hits| hits.map(|hits| percent(hits, TIMES)).join(" / "));
        table += &line(&spacing.to_string(), cells);
    }
    table
}

/// The five comparisons of [`drift`].
fn same(world: &mut World, spacing: f64) -> [Ratio; 5] {
    let shape = Shape::Drift(spacing);
    let (base, other) = sides(world, shape, 10, 0.0, 1.0);
    let earlier: Vec<f64> = (0..10)
        .map(|_| {
            center::log_center(&world.launches(shape, 10), 0.95)
                .unwrap()
                .value
        })
        .collect();
    let learned = |runs| alone(&earlier[..runs]);
    let with =
        |between: Scatter| two_sample::ratio(&base, &other, between.of_two_runs(), 0.95).unwrap();
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for pair in world.launches(shape, 20).chunks(2) {
        let first = usize::from(world.chance(0.5));
        a.push(pair[first]);
        b.push(pair[1 - first]);
    }
    [
        with(0.0.into()),
        with(DEFAULT.raw),
        with(learned(5)),
        with(learned(10)),
        two_sample::paired(&a, &b, 0.95).unwrap(),
    ]
}

/// Many rows, some of them changed, all moved together by the run.
pub fn rows() -> String {
    let times = 300_i32;
    let mut world = World::new(14);
    let mut table = head(
        "158 benchmarks, 10 vs 10 launches with a standard deviation of 1%, Benjamini-Hochberg at 0.05: mean share of false discoveries, % (changes found, %)",
        "benchmarks that changed",
        ["by 2%", "by 5%"].map(str::to_owned).into_iter(),
    );
    for changed in [0, 1, 16] {
        let cells = [1.02, 1.05].into_iter().map(|factor| {
            let (mut wrong, mut found) = (0.0, 0);
            for _ in 0..times {
                let p: Vec<Option<f64>> = (0..158)
                    .map(|row| {
                        let factor = if row < changed { factor } else { 1.0 };
                        let (base, other) = sides(&mut world, Shape::Normal, 10, 0.0, factor);
                        two_sample::ratio(&base, &other, 0.0, 0.95).unwrap().p
                    })
                    .collect();
                let adjusted = multiple::benjamini_hochberg(&p);
                let hit = |rows: &[Option<f64>]| rows.iter().filter(|p| **p <= Some(0.05)).count();
                let (right, false_ones) = (hit(&adjusted[..changed]), hit(&adjusted[changed..]));
                wrong += false_ones as f64 / (right + false_ones).max(1) as f64;
                found += right;
            }
            let share = 100.0 * wrong / f64::from(times);
            format!(
                "{share:.1} ({})",
                percent(found, (times as usize * changed).max(1))
            )
        });
        table += &line(&changed.to_string(), cells);
    }
    table
}

/// What earlier runs say of the scatter of a benchmark that is alone.
pub fn alone(earlier: &[f64]) -> Scatter {
    let logs = earlier.iter().map(|x| Some(x.ln())).collect();
    let fit = moderated::fit(&[logs], DEFAULT.raw.into());
    Scatter::learned(fit.benchmarks[0], earlier.len(), 0.0)
}
