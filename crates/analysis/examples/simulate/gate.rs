//! The gate: how often it stops a run that is like those before it, and how often one that is slower.

use crate::runs::{empty, histories, run};
use crate::world::{Shape, World};
use crate::{head, line, percent};
use gritstone_analysis::between::{self, Past};
use gritstone_analysis::{check, compare};
use gritstone_model::{CheckOutcome, RunView};

/// Trials of one row, and of a run of many.
const TIMES: usize = 4_000;
const TIMES_OF_MANY: usize = 1_000;
const LAUNCHES: usize = 10;
const EARLIER: [usize; 3] = [5, 10, 20];
/// The slowdown that `gritstone check` allows unless told, and its level.
const ALLOWED: f64 = 0.02;
const LEVEL: f64 = 0.05;
/// How much slower the run is, and the slowdown that is allowed.
const COLUMNS: [(f64, f64); 7] = [
    (1.0, ALLOWED),
    (1.02, ALLOWED),
    (1.05, ALLOWED),
    (1.1, ALLOWED),
    (1.0, 0.001),
    (1.02, 0.001),
    (1.05, 0.001),
];

/// How runs of 10 launches scatter.
#[derive(Clone, Copy)]
enum Weather {
    /// Launches by 1 %, runs by this much, independent.
    Plain(f64),
    /// The same by 1 %, and each run has this correlation with the next.
    Correlated(f64),
    /// The recorded drift, with so many seconds between launches, and a day between runs.
    Days(f64),
    /// The same with nothing between runs.
    InTurn(f64),
}

const WEATHERS: [(&str, Weather); 8] = [
    ("between-run 0.3 %", Weather::Plain(0.003)),
    ("between-run 1 %", Weather::Plain(0.01)),
    ("between-run 2 %", Weather::Plain(0.02)),
    ("1 %, lag-1 correlation 0.3", Weather::Correlated(0.3)),
    ("1 %, lag-1 correlation 0.6", Weather::Correlated(0.6)),
    ("recorded drift, a run of 10 min a day", Weather::Days(60.0)),
    ("back-to-back runs of 10 min", Weather::InTurn(60.0)),
    ("back-to-back runs of 50 s", Weather::InTurn(5.0)),
];

impl Weather {
    /// Whether its rows are compared in core cycles, from which the cycle probe takes the drift.
    fn cycles(self) -> bool {
        matches!(self, Self::Plain(_) | Self::Correlated(_))
    }

    /// The launches of n runs.
    fn runs(self, world: &mut World, n: usize) -> Vec<Vec<f64>> {
        match self {
            Self::Plain(sd) => {
                let run = |_| world.run(Shape::Normal, LAUNCHES, sd);
                (0..n).map(run).collect()
            }
            Self::Correlated(rho) => {
                let levels = world.correlated(rho, n);
                let run = |level: f64| {
                    let launches = world.launches(Shape::Normal, LAUNCHES);
                    scaled(&launches, (0.01 * level).exp())
                };
                levels.into_iter().map(run).collect()
            }
            Self::Days(spacing) => {
                let run = |_| world.launches(Shape::Drift(spacing), LAUNCHES);
                (0..n).map(run).collect()
            }
            Self::InTurn(spacing) => {
                let all = world.launches(Shape::Drift(spacing), n * LAUNCHES);
                all.chunks(LAUNCHES).map(<[f64]>::to_vec).collect()
            }
        }
    }
}

fn scaled(values: &[f64], factor: f64) -> Vec<f64> {
    values.iter().map(|x| factor * x).collect()
}

/// What a gate says of a run after some earlier ones, where so much slowdown is allowed.
type Gate = fn(&[RunView], &RunView, f64) -> CheckOutcome;

/// The history as `gritstone check` has it, with the run in it.
fn against_history(earlier: &[RunView], run: &RunView, allowed: f64) -> CheckOutcome {
    let histories = histories(earlier.iter().chain([run]));
    check::against_history(run, &histories, allowed, LEVEL).outcome
}

/// Against the newest of the earlier runs, with what the others tell of the scatter.
fn against_run(earlier: &[RunView], run: &RunView, allowed: f64) -> CheckOutcome {
    let base = earlier.last().expect("there are earlier runs");
    let past: Vec<Past> = earlier.iter().map(Past::of).collect();
    let options = compare::Options {
        margin: allowed,
        between_run: between::learn(&past, base, run),
        ..compare::Options::default()
    };
    check::check(&compare::compare(base, run, &options), allowed, LEVEL).outcome
}

/// Regressed and passed, % of so many.
fn shares(said: &[CheckOutcome]) -> String {
    let share = |outcome| {
        let hits = said.iter().filter(|said| **said == outcome).count();
        percent(hits, said.len())
    };
    format!(
        "{} / {}",
        share(CheckOutcome::Regressed),
        share(CheckOutcome::Passed)
    )
}

pub fn by_history() -> String {
    one_row("the history", against_history, 71)
}

pub fn by_run() -> String {
    one_row("the newest of the earlier runs", against_run, 72)
}

fn one_row(base: &str, gate: Gate, seed: u64) -> String {
    let mut world = World::new(seed);
    let columns = COLUMNS.iter().map(|(factor, allowed)| {
        let slower = match factor {
            1.0 => "no change".to_owned(),
            slower => format!("{:.0} % slower", 100.0 * (slower - 1.0)),
        };
        match *allowed {
            ALLOWED => slower,
            allowed => format!("{slower}, margin {} %", 100.0 * allowed),
        }
    });
    let title =
        format!("`check` against {base}: regressed / passed, % of {TIMES} trials, seed {seed}");
    let mut table = head(&title, "runs of 10 launches; earlier runs", columns);
    for (name, weather) in WEATHERS {
        let empty = empty(1, weather.cycles());
        for n in EARLIER {
            let mut said: [Vec<CheckOutcome>; COLUMNS.len()] = Default::default();
            for _ in 0..TIMES {
                let mut values = weather.runs(&mut world, n + 1);
                let last = values.pop().unwrap_or_default();
                let earlier = values.into_iter().enumerate();
                let earlier: Vec<RunView> = earlier
                    .map(|(at, launches)| run(&empty, at, &[launches]))
                    .collect();
                for (said, (factor, allowed)) in said.iter_mut().zip(COLUMNS) {
                    let run = run(&empty, n, &[scaled(&last, factor)]);
                    said.push(gate(&earlier, &run, allowed));
                }
            }
            table += &line(
                &format!("{name}; {n}"),
                said.iter().map(|said| shares(said)),
            );
        }
    }
    table
}

/// Rows of one run, and whether fully correlated from run to run.
const MANY: [(usize, bool); 4] = [(18, false), (18, true), (150, false), (150, true)];

/// A whole run against its history: the worst of its rows decides.
pub fn many_rows() -> String {
    const SEED: u64 = 73;
    let mut world = World::new(SEED);
    let title = format!(
        "`check` of a whole run against its history, between-run standard deviation 1 %: regressed / passed, % of {TIMES_OF_MANY} trials, seed {SEED}"
    );
    let columns = [
        "no change",
        "one benchmark 5 % slower",
        "one benchmark 10 % slower",
        "no change, margin 0.1 %",
    ];
    let first = "benchmarks; earlier runs";
    let mut table = head(&title, first, columns.into_iter().map(str::to_owned));
    for (rows, together) in MANY {
        let empty = empty(rows, true);
        for n in EARLIER {
            let mut said: [Vec<CheckOutcome>; 4] = Default::default();
            for _ in 0..TIMES_OF_MANY {
                let mut values: Vec<_> = (0..=n)
                    .map(|_| launches(&mut world, rows, together))
                    .collect();
                let mut last = values.pop().unwrap_or_default();
                let earlier = values.iter().enumerate();
                let earlier: Vec<RunView> =
                    earlier.map(|(at, rows)| run(&empty, at, rows)).collect();
                let same = last[0].clone();
                let cases = [
                    (1.0, ALLOWED),
                    (1.05, ALLOWED),
                    (1.1, ALLOWED),
                    (1.0, 0.001),
                ];
                for (said, (factor, allowed)) in said.iter_mut().zip(cases) {
                    last[0] = scaled(&same, factor);
                    said.push(against_history(&earlier, &run(&empty, n, &last), allowed));
                }
            }
            let how = if together {
                "fully correlated"
            } else {
                "independent"
            };
            table += &line(
                &format!("{rows}, {how}; {n}"),
                said.iter().map(|said| shares(said)),
            );
        }
    }
    table
}

/// The launches of all rows of a run.
fn launches(world: &mut World, rows: usize, together: bool) -> Vec<Vec<f64>> {
    let level = (0.01 * world.normal()).exp();
    let row = |_| match together {
        true => scaled(&world.launches(Shape::Normal, LAUNCHES), level),
        false => world.run(Shape::Normal, LAUNCHES, 0.01),
    };
    (0..rows).map(row).collect()
}
