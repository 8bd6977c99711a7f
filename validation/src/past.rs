//! Figures over many runs: how often a change is seen that is not there, and how often one that is.

use crate::world::World;
use crate::{head, line, percent};
use gritstone_stats::history::{MAX_VALUES, changes, suspected};

const TIMES: usize = 1_000;
/// Runs before a change.
const BEFORE: usize = 50;

type Scatter = fn(&mut World) -> f64;

/// How a figure scatters from run to run about its level.
const SHAPES: [(&str, Scatter); 4] = [
    ("normal, 1%", |world| 0.01 * world.normal()),
    ("normal, 3%", |world| 0.03 * world.normal()),
    ("one in ten slower by 20%", |world| {
        0.01 * world.normal() + if world.chance(0.1) { 0.2 } else { 0.0 }
    }),
    ("two modes 5% apart", |world| {
        0.005 * world.normal() + if world.chance(0.3) { 0.05 } else { 0.0 }
    }),
];

/// False alarms in series without a change, and changes found within two runs of where they are.
pub fn changes_found() -> String {
    let columns = [
        "no change, 400 runs",
        "2%, 10 runs ago",
        "3%, 10 runs ago",
        "3%, 20 runs ago",
        "5%, 10 runs ago",
        "suspected: no change, 13 / 20 / 60 runs",
        "suspected: 5 / 10%, 3 runs ago",
    ];
    let mut text = head(
        "Series in which a change point is found, % (a change after 50 runs, found within two runs of its place); in which a step is suspected, %",
        "distribution of runs",
        columns.iter().map(ToString::to_string),
    );
    for (name, scatter) in SHAPES {
        let mut world = World::new(1601);
        let mut made = |n: usize, after: usize, by: f64| -> Vec<f64> {
            let level = |at: usize| {
                if at >= n - after {
                    (1.0 + by).ln()
                } else {
                    0.0
                }
            };
            (0..n).map(|at| level(at) + scatter(&mut world)).collect()
        };
        let alarms = (0..TIMES)
            .filter(|_| !changes(&made(MAX_VALUES, 0, 0.0)).is_empty())
            .count();
        let mut cells = vec![percent(alarms, TIMES)];
        for (by, after) in [(0.02, 10), (0.03, 10), (0.03, 20), (0.05, 10)] {
            let near = |found: &Vec<usize>| found.iter().any(|at| at.abs_diff(BEFORE) <= 2);
            let found = (0..TIMES).filter(|_| near(&changes(&made(BEFORE + after, after, by))));
            cells.push(percent(found.count(), TIMES));
        }
        let mut early = |n: usize, after: usize, by: f64| {
            let found = (0..TIMES).filter(|_| suspected(&made(n, after, by)).is_some());
            percent(found.count(), TIMES)
        };
        cells.push([13, 20, 60].map(|n| early(n, 0, 0.0)).join(" / "));
        cells.push([0.05, 0.1].map(|by| early(BEFORE + 3, 3, by)).join(" / "));
        text += &line(name, cells.into_iter());
    }
    text
}
