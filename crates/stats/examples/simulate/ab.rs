//! Trials of two sides: how often the same is called different, how often a change is found, after how many pairs.
//!
//! Must not know: stored runs.

use crate::world::pairs::{Order, Weather, different, four_looks, trial};
use crate::world::{Shape, World};
use crate::{head, line, percent};
use gritstone_model::Verdict;

const TIMES: usize = 4_000;

const WEATHERS: [(&str, Weather); 9] = [
    ("normal, pairs scatter by 1 %", Weather::Scatter(0.0071)),
    ("normal, pairs scatter by 2.5 %", Weather::Scatter(0.0177)),
    ("normal, pairs scatter by 5 %", Weather::Scatter(0.0354)),
    ("floor and log-normal excess", Weather::Shape(Shape::Floor)),
    ("spiky", Weather::Shape(Shape::Spiky)),
    ("two modes 70 : 30", Weather::Shape(Shape::TwoModes(0.3))),
    ("recorded drift, 0.5 s", Weather::Shape(Shape::Drift(0.5))),
    ("a neighbour comes and goes", Weather::Neighbour),
    ("a neighbour in step", Weather::InStep),
];

pub fn verdicts() -> String {
    let changes = [1.0, 1.005, 1.02, 1.05];
    let mut world = World::new(61);
    let mut table = head(
        "`ab`: called slower / faster / no difference beyond 1 %, % of trials; median of the pairs that it took",
        "launches",
        changes.iter().map(|c| match c {
            1.0 => "the same".to_owned(),
            c => format!("{:.1} % slower", 100.0 * (c - 1.0)),
        }),
    );
    for (name, weather) in WEATHERS {
        let cells = changes.iter().map(|&factor| {
            let made: Vec<(Verdict, usize)> = (0..TIMES)
                .map(|_| trial(&mut world, weather, Order::Coin, factor))
                .collect();
            let mut pairs: Vec<usize> = made.iter().map(|(_, pairs)| *pairs).collect();
            pairs.sort_unstable();
            let said = [Verdict::Slower, Verdict::Faster, Verdict::NoDifference];
            let shares = said.map(|verdict| {
                let hits = made.iter().filter(|(said, _)| *said == verdict).count();
                format!("{:.2}", 100.0 * hits as f64 / TIMES as f64)
            });
            format!("{}; {}", shares.join(" / "), pairs[TIMES / 2])
        });
        table += &line(name, cells);
    }
    table
}

pub fn orders() -> String {
    let mut world = World::new(62);
    let columns = [
        "a coin for each pair",
        "ABBA or BAAB",
        "four looks to 40 pairs, ABBA or BAAB",
        "first all A, then all B",
    ];
    let mut table = head(
        "The same called different, % of trials, by the order of launches; in brackets, of those that differ by 2 %",
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

/// A design of trials.
enum Way {
    Looks(Order),
    FourLooks,
}

const WAYS: [Way; 4] = [
    Way::Looks(Order::Coin),
    Way::Looks(Order::Abba),
    Way::FourLooks,
    Way::Looks(Order::Blocks),
];

impl Way {
    fn says_different(&self, world: &mut World, weather: Weather, factor: f64) -> bool {
        match self {
            Self::Looks(order) => different(trial(world, weather, *order, factor).0),
            Self::FourLooks => four_looks(world, weather, factor),
        }
    }
}
