//! Trials of two sides: rate of false calls, rate of detected changes, number of pairs.

use crate::world::pairs::{Order, Weather, busy_side, different, four_looks, ranking, trial};
use crate::world::{Shape, World};
use crate::{head, line, percent};
use gritstone_stats::verdict::Verdict;

const TIMES: usize = 1_000;

const WEATHERS: [(&str, Weather); 10] = [
    ("normal, standard deviation of pairs 1%", Weather::Scatter(0.0071)),
    ("normal, standard deviation of pairs 2.5%", Weather::Scatter(0.0177)),
    ("normal, standard deviation of pairs 5%", Weather::Scatter(0.0354)),
    ("normal, standard deviation of launches 5%, of pairs 7.1%", Weather::Scatter(0.05)),
    ("floor and log-normal excess", Weather::Shape(Shape::Floor)),
    ("spiky", Weather::Shape(Shape::Spiky)),
    ("two modes 70 : 30", Weather::Shape(Shape::TwoModes(0.3))),
    ("recorded drift, 0.5 s", Weather::Shape(Shape::Drift(0.5))),
    ("intermittent neighbor", Weather::Neighbor),
    ("neighbor in step", Weather::InStep),
];

/// Neighbors on the SMT sibling, and whether the probes detect them.
const NEIGHBORS: [(&str, Weather); 4] = [
    ("intermittent neighbor", Weather::Neighbor),
    ("as above, detected", Weather::Seen),
    ("neighbor in step", Weather::InStep),
    ("as above, half detected", Weather::InStepSeen),
];

pub fn verdicts() -> String {
    table_of(
        "`ab`: verdict slower / faster / same (within 1%)",
        &WEATHERS,
        &[1.0, 1.005, 1.02, 1.05],
        (TIMES, 61),
    )
}

pub fn neighbors() -> String {
    table_of(
        "`ab` with excluded pairs: verdict slower / faster / same (within 1%)",
        &NEIGHBORS,
        &[1.0, 1.01, 1.02, 1.05],
        (TIMES, 64),
    )
}

/// Verdicts for sides that differ by these factors; number of trials, and the seed.
fn table_of(
    title: &str,
    weathers: &[(&str, Weather)],
    changes: &[f64],
    (times, seed): (usize, u64),
) -> String {
    let mut world = World::new(seed);
    let mut table = head(
        &format!(
            "{title}, % of {times} trials, seed {seed}; median number of pairs, excluded ones included"
        ),
        "launches",
        changes.iter().map(|c| match c {
            1.0 => "no change".to_owned(),
            c => format!("{:.1}% slower", 100.0 * (c - 1.0)),
        }),
    );
    for (name, weather) in weathers {
        let cells = changes.iter().map(|&factor| {
            let trials: Vec<(Verdict, usize)> =
                (0..times).map(|_| trial(&mut world, *weather, Order::Coin, factor)).collect();
            let mut pairs: Vec<usize> = trials.iter().map(|(_, pairs)| *pairs).collect();
            pairs.sort_unstable();
            let verdicts = [Verdict::Slower, Verdict::Faster, Verdict::Same];
            let shares = verdicts.map(|verdict| {
                let hits = trials.iter().filter(|(found, _)| *found == verdict).count();
                format!("{:.2}", 100.0 * hits as f64 / times as f64)
            });
            format!("{}; {}", shares.join(" / "), pairs[times / 2])
        });
        table += &line(name, cells);
    }
    table
}

/// A side that keeps its SMT sibling busy.
pub fn busy() -> String {
    const SEED: u64 = 65;
    let trials = TIMES / 4;
    let mut world = World::new(SEED);
    let shares = [0.0, 0.1, 0.2, 0.3, 0.5, 1.0];
    let mut table = head(
        &format!(
            "`ab`, one side keeps the sibling busy in a share of its launches, each 25% slower then: verdict slower / same, % of {trials} trials, seed {SEED}; median number of pairs"
        ),
        "launches",
        shares.iter().map(|share| format!("{:.0}%", 100.0 * share)),
    );
    let weathers = [
        ("normal, 0.5%", Weather::Scatter(0.005)),
        ("normal, 1%", Weather::Scatter(0.01)),
        ("normal, 2%", Weather::Scatter(0.02)),
        ("normal, 3.5%", Weather::Scatter(0.0354)),
        ("intermittent neighbor beside, detected", Weather::Seen),
    ];
    for (name, weather) in weathers {
        let cells = shares.iter().map(|&share| {
            let sides = (0..trials).map(|_| busy_side(&mut world, weather, share));
            let (verdicts, mut pairs): (Vec<Verdict>, Vec<usize>) = sides.unzip();
            pairs.sort_unstable();
            let shares = [Verdict::Slower, Verdict::Same].map(|verdict| {
                percent(verdicts.iter().filter(|found| **found == verdict).count(), trials)
            });
            format!("{}; {}", shares.join(" / "), pairs[trials / 2])
        });
        table += &line(name, cells);
    }
    table
}

pub fn orders() -> String {
    const SEED: u64 = 62;
    let mut world = World::new(SEED);
    let columns = [
        "a coin for each pair",
        "ABBA or BAAB",
        "four interim analyses up to 40 pairs, ABBA or BAAB",
        "first all A, then all B",
    ];
    let mut table = head(
        &format!(
            "A/A trials that report a difference, % of {TIMES}, seed {SEED}, by the order of launches; in parentheses, trials that detect a change of 2%"
        ),
        "launches",
        columns.into_iter().map(str::to_owned),
    );
    for (name, weather) in WEATHERS {
        let cells = WAYS.iter().map(|way| {
            let hits = |factor: f64, world: &mut World| {
                let hit = |_: &usize| way.says_different(world, weather, factor);
                (0..TIMES).filter(hit).count()
            };
            let (same, slower) = (hits(1.0, &mut world), hits(1.02, &mut world));
            format!("{} ({})", percent(same, TIMES), percent(slower, TIMES))
        });
        table += &line(name, cells);
    }
    table
}

pub fn rankings() -> String {
    const RANKINGS: usize = 500;
    const SEED: u64 = 63;
    let factors = [1.0, 1.0, 1.0, 1.05, 1.2];
    let mut world = World::new(SEED);
    let columns = [
        "false slower",
        "5% slower found",
        "20% slower found",
        "launches of the best",
        "of the two slower sides",
    ];
    let mut table = head(
        &format!(
            "Rankings of five sides, three of them identical: % of {RANKINGS} trials, seed {SEED}; median number of launches"
        ),
        "launches",
        columns.into_iter().map(str::to_owned),
    );
    let weathers = [WEATHERS[1], WEATHERS[7], NEIGHBORS[0], NEIGHBORS[1]];
    for (name, weather) in weathers {
        let (mut wrong, mut found) = (0, [0; 2]);
        let mut launches: [Vec<usize>; 3] = Default::default();
        for _ in 0..RANKINGS {
            let ranked = ranking(&mut world, weather, &factors, 0.01);
            let called: Vec<_> = ranked.shown.iter().filter(|c| different(c.verdict)).collect();
            wrong += usize::from(called.iter().any(|c| c.other < 3));
            for (side, found) in (3..).zip(&mut found) {
                *found += usize::from(called.iter().any(|c| c.other == side));
            }
            for (side, launches) in [0, 3, 4].into_iter().zip(&mut launches) {
                launches.push(ranked.times.0[side].len());
            }
        }
        let shares = [wrong, found[0], found[1]].map(|hits| percent(hits, RANKINGS));
        let medians = launches.map(|mut counts| {
            counts.sort_unstable();
            counts[RANKINGS / 2].to_string()
        });
        let [best, five, twenty] = medians;
        let cells = shares.into_iter().chain([best, format!("{five}, {twenty}")]);
        table += &line(name, cells);
    }
    table
}

/// A design of trials.
enum Way {
    Looks(Order),
    FourLooks,
}

const WAYS: [Way; 4] =
    [Way::Looks(Order::Coin), Way::Looks(Order::Abba), Way::FourLooks, Way::Looks(Order::Blocks)];

impl Way {
    fn says_different(&self, world: &mut World, weather: Weather, factor: f64) -> bool {
        match self {
            Self::Looks(order) => different(trial(world, weather, *order, factor).0),
            Self::FourLooks => four_looks(world, weather, factor),
        }
    }
}
