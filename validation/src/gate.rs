//! The gate: how often it stops a run that is like those before it, and how often one that is slower.

use crate::runs::{empty, run};
use crate::world::{Shape, World};
use crate::{head, line, percent};
use gritstone_analysis::run_variance::{self, Past};
use gritstone_analysis::{check, compare};
use gritstone_model::{CheckOutcome, CheckRow, CheckView, RunView};

/// Trials of one row.
const TIMES: usize = 4_000;
const LAUNCHES: usize = 10;
const EARLIER: [usize; 3] = [5, 10, 20];
/// The slowdown that `gritstone check` allows unless told, and its level.
const ALLOWED: f64 = 0.02;
const LEVEL: f64 = 0.01;
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
    /// Launches by 1%, runs by this much, independent.
    Plain(f64),
    /// The same by 1%, and each run has this correlation with the next.
    Correlated(f64),
    /// The recorded drift, with so many seconds between launches, and a day between runs.
    Days(f64),
    /// The same with nothing between runs.
    InTurn(f64),
}

const WEATHERS: [(&str, Weather); 8] = [
    ("between-run 0.3%", Weather::Plain(0.003)),
    ("between-run 1%", Weather::Plain(0.01)),
    ("between-run 2%", Weather::Plain(0.02)),
    ("1%, lag-1 correlation 0.3", Weather::Correlated(0.3)),
    ("1%, lag-1 correlation 0.6", Weather::Correlated(0.6)),
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

/// Against the newest of the earlier runs, with what the others tell of the scatter.
fn against_run(earlier: &[RunView], run: &RunView, allowed: f64) -> CheckOutcome {
    let base = earlier.last().expect("there are earlier runs");
    let past: Vec<Past> = earlier.iter().map(Past::new).collect();
    let options = compare::Options {
        margin: allowed,
        between_run: run_variance::estimate(&past, base, run),
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

pub fn by_run() -> String {
    one_row("the newest of the earlier runs", against_run, 72)
}

fn one_row(base: &str, gate: Gate, seed: u64) -> String {
    let mut world = World::new(seed);
    let columns = COLUMNS.iter().map(|(factor, allowed)| {
        let slower = match factor {
            1.0 => "no change".to_owned(),
            slower => format!("{:.0}% slower", 100.0 * (slower - 1.0)),
        };
        match *allowed {
            ALLOWED => slower,
            allowed => format!("{slower}, margin {}%", 100.0 * allowed),
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

/// Benchmarks of a run, launches, and what launches scatter by.
const BENCHMARKS: usize = 27;
const WITHIN: f64 = 0.005;
/// Runs before anything changes, and runs that are watched from then on.
const BEFORE: usize = 20;
const AFTER: usize = 20;
/// Runs of an improvement before it is lost.
const LOST: [usize; 3] = [3, 5, 8];
const SYSTEMS_TRIALS: usize = 100;
/// Standard deviations between runs: common, own of the median benchmark, spread of the latter over benchmarks.
const SYSTEMS: [(f64, f64, f64); 6] = [
    (0.0, 0.002, 0.5),
    (0.0, 0.003, 0.0),
    (0.002, 0.0025, 0.5),
    (0.02, 0.005, 0.5),
    (0.01, 0.01, 0.5),
    (0.03, 0.03, 0.5),
];

/// A system over many runs: false alarms, a slowdown that stays, an improvement that is lost.
pub fn over_time() -> String {
    let title = format!(
        "`check` over {BENCHMARKS} benchmarks, {LAUNCHES} launches each that scatter by {}%, 2% allowed: runs in which nothing changed that are stopped, %; benchmarks of these that passed, %; one benchmark 5% slower from run {} on: first / third run stopped, all {AFTER} runs, %; one 5% faster for {} runs and then as before: stopped, %; {SYSTEMS_TRIALS} trials a line",
        100.0 * WITHIN,
        BEFORE + 1,
        LOST.map(|runs| runs.to_string()).join(" / ")
    );
    let columns = ["false alarms", "passed", "slower: 1st / 3rd / all", "lost"];
    let first = "between runs: common; own (spread over benchmarks)";
    let mut table = head(&title, first, columns.into_iter().map(str::to_owned));
    let mut world = World::new(74);
    for system in SYSTEMS {
        let (mut alarms, mut passed, mut stays) = ([0; 2], [0; 2], [0; 3]);
        let mut lost = [0; LOST.len()];
        for _ in 0..SYSTEMS_TRIALS {
            let mut system = System::new(&mut world, system);
            let mut runs: Vec<RunView> = (0..BEFORE).map(|_| system.run(&mut world, 1.0)).collect();
            for at in 5..BEFORE {
                let view = system.check(&runs[..=at]);
                alarms[0] += usize::from(view.outcome == CheckOutcome::Regressed);
                alarms[1] += 1;
                let ok = |row: &&CheckRow| row.outcome == CheckOutcome::Passed;
                passed[0] += view.rows.iter().filter(ok).count();
                passed[1] += view.rows.len();
            }
            let before = runs.clone();
            let stopped: Vec<bool> = (0..AFTER)
                .map(|_| {
                    runs.push(system.run(&mut world, 1.05));
                    system.first(&runs) == CheckOutcome::Regressed
                })
                .collect();
            stays[0] += usize::from(stopped[0]);
            stays[1] += usize::from(stopped[2]);
            stays[2] += usize::from(stopped.iter().all(|stopped| *stopped));
            for (hits, length) in lost.iter_mut().zip(LOST) {
                let mut runs = before.clone();
                runs.extend((0..length).map(|_| system.run(&mut world, 1.0 / 1.05)));
                runs.push(system.run(&mut world, 1.0));
                *hits += usize::from(system.first(&runs) == CheckOutcome::Regressed);
            }
        }
        let (common, own, spread) = system;
        let [common, own] = [common, own].map(|sd| format!("{:.2}%", 100.0 * sd));
        let of_trials = |hits: &[usize]| -> String {
            let shares = hits
                .iter()
                .map(|hits| format!("{:.0}", 100.0 * *hits as f64 / SYSTEMS_TRIALS as f64));
            shares.collect::<Vec<_>>().join(" / ")
        };
        let cells = [
            format!("{:.2}", 100.0 * alarms[0] as f64 / alarms[1] as f64),
            percent(passed[0], passed[1]),
            of_trials(&stays),
            of_trials(&lost),
        ];
        table += &line(&format!("{common}; {own} (e^{spread}z)"), cells.into_iter());
    }
    table
}

/// A system whose runs scatter.
struct System {
    common: f64,
    own: Vec<f64>,
    empty: RunView,
    runs: usize,
}

impl System {
    fn new(world: &mut World, (common, own, spread): (f64, f64, f64)) -> Self {
        let own = (0..BENCHMARKS).map(|_| own * (spread * world.normal()).exp());
        Self {
            common,
            own: own.collect(),
            empty: empty(BENCHMARKS, true),
            runs: 0,
        }
    }

    /// The next run, whose first benchmark takes so many times as long.
    fn run(&mut self, world: &mut World, factor: f64) -> RunView {
        let shift = self.common * world.normal();
        let own = self.own.iter().enumerate();
        let launches: Vec<Vec<f64>> = own
            .map(|(at, own)| {
                let lone = if at == 0 { factor } else { 1.0 };
                let level = 100.0 * lone * (shift + own * world.normal()).exp();
                let launch = |_| level * (WITHIN * world.normal()).exp();
                (0..LAUNCHES).map(launch).collect()
            })
            .collect();
        self.runs += 1;
        run(&self.empty, self.runs, &launches)
    }

    /// What is said of the last of these runs.
    fn check(&self, runs: &[RunView]) -> CheckView {
        let Some((run, earlier)) = runs.split_last() else {
            unreachable!("there are runs")
        };
        let past: Vec<Past> = earlier.iter().map(Past::new).collect();
        check::against_history(run, &past, ALLOWED, &check::Accepted::new())
    }

    /// The same of its first benchmark.
    fn first(&self, runs: &[RunView]) -> CheckOutcome {
        let view = self.check(runs);
        let first = view
            .rows
            .iter()
            .find(|row| row.row.id.as_str() == "made/up/0");
        first.map_or(CheckOutcome::Inconclusive, |row| row.outcome)
    }
}
