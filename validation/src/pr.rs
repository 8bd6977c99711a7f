//! Pull requests: trials of `gritstone pr` with twenty benchmarks. False calls without a change, and detection of one slower benchmark,
//! alone.

use crate::world::World;
use crate::{head, line, percent};
use gritstone_exchange::harness::HarnessResult;
use gritstone_model::{Better, PrQuantity, PrRow, Verdict};
use gritstone_pr::trial::{Margins, Trial};
use std::collections::BTreeMap;

const BENCHMARKS: usize = 20;
/// Index of the slower benchmark.
const SLOW: usize = 7;
/// Rounds of a budget: the target for the measuring time of `pr`.
const ROUNDS: usize = 90;
const SEED: u64 = 71;
const CHANGES: [f64; 3] = [0.0, 0.03, 0.1];

/// Disturbance of the launches of a trial.
#[derive(Clone, Copy)]
enum Machine {
    /// Scatter of 1 to 4% by benchmark, log-normal.
    Quiet,
    /// Student's t with two degrees of freedom, whose variance is infinite.
    HeavyTails,
    /// Contention in bursts of eight launches on average, a quarter of the time, by 10 to 60% for all benchmarks of a launch.
    Bursts,
    /// The machine slows down by 15% during the trial, and varies by 3% with a correlation length of twenty launches.
    Drift,
    /// Benchmarks of a launch share nine tenths of its scatter, as with different memory layouts.
    Correlated,
    /// One launch of all takes ten times as long.
    OneBad,
    /// Two modes 6% apart, drawn for each benchmark of each launch.
    Modes,
    /// A neighbor with the period of four launches, by 8%.
    InStep,
}

const MACHINES: [(&str, Machine); 8] = [
    ("scatter of 1 to 4%", Machine::Quiet),
    ("heavy tails (t, 2 degrees), 2%", Machine::HeavyTails),
    ("bursts of contention, 10 to 60%", Machine::Bursts),
    ("drift of 15%, wandering by 3%", Machine::Drift),
    ("benchmarks of a launch correlated by 0.9", Machine::Correlated),
    ("one launch ten times as long", Machine::OneBad),
    ("two modes 6% apart", Machine::Modes),
    ("neighbor in step, 8%", Machine::InStep),
];

/// Builds of each side.
#[derive(Clone, Copy)]
struct Layouts {
    builds: usize,
    /// Standard deviation of ln(time) between builds.
    scatter: f64,
}

const ONE_BUILD: Layouts = Layouts { builds: 1, scatter: 0.0 };

/// A machine during one trial.
struct During<'a> {
    world: &'a mut World,
    machine: Machine,
    /// Launches so far.
    launches: usize,
    /// Time of the one bad launch, and phase of the neighbor's period.
    moment: usize,
    is_busy: bool,
    level: f64,
}

impl During<'_> {
    /// ln of the times of a launch's benchmarks, relative to their true times.
    fn launch(&mut self) -> Vec<f64> {
        let launch = self.launches;
        self.launches += 1;
        let world = &mut *self.world;
        let noise = |name: usize| 0.01 + 0.03 * name as f64 / BENCHMARKS as f64;
        let shared = match self.machine {
            Machine::Bursts => {
                let share = if self.is_busy { 1.0 / 8.0 } else { 1.0 / 24.0 };
                self.is_busy ^= world.chance(share);
                match self.is_busy {
                    true => (1.1 + 0.5 * world.uniform()).ln(),
                    false => 0.0,
                }
            }
            Machine::Drift => {
                let remaining: f64 = (-1.0_f64 / 20.0).exp();
                self.level = remaining * self.level
                    + (1.0 - remaining * remaining).sqrt() * 0.03 * world.normal();
                self.level + 0.15 * launch as f64 / (2 * ROUNDS) as f64
            }
            Machine::OneBad if launch == self.moment => 10.0_f64.ln(),
            Machine::InStep if (launch + self.moment) % 4 < 2 => 0.08,
            Machine::Correlated => 0.9_f64.sqrt() * world.normal(),
            _ => 0.0,
        };
        (0..BENCHMARKS)
            .map(|name| match self.machine {
                Machine::Correlated => noise(name) * (shared + 0.1_f64.sqrt() * world.normal()),
                Machine::HeavyTails => {
                    let chi = world.exponential();
                    0.02 * world.normal() / chi.sqrt()
                }
                Machine::Modes => {
                    0.06 * f64::from(u8::from(world.chance(0.3))) + 0.01 * world.normal()
                }
                _ => shared + noise(name) * world.normal(),
            })
            .collect()
    }
}

/// Rows after all is decided or the rounds are over.
fn trial(world: &mut World, machine: Machine, layouts: Layouts, slower: f64) -> Vec<PrRow> {
    let effects: Vec<f64> = (0..2 * layouts.builds * BENCHMARKS)
        .map(|_| match layouts.scatter {
            0.0 => 0.0,
            scatter => scatter * world.normal(),
        })
        .collect();
    let moment = (world.uniform() * (2 * ROUNDS) as f64) as usize;
    let seed = (world.uniform() * 1e9) as u64;
    let mut during = During { world, machine, launches: 0, moment, is_busy: false, level: 0.0 };
    let mut results = |side: usize, build: usize| -> Vec<HarnessResult> {
        let first = (side * layouts.builds + build) * BENCHMARKS;
        let effects = &effects[first..first + BENCHMARKS];
        let times = during.launch().into_iter().enumerate();
        let result = |(name, ln): (usize, f64)| HarnessResult {
            name: format!("b{name:02}"),
            unit: "ns".to_owned(),
            better: Better::Lower,
            values: vec![match (name, side) {
                (SLOW, 1) => 100.0 * (ln + effects[name]).exp() * (1.0 + slower),
                _ => 100.0 * (ln + effects[name]).exp(),
            }],
        };
        times.map(result).collect()
    };
    let margins = Margins { default: 0.02, by_name: BTreeMap::new() };
    let first = [results(0, 0), results(1, 0)];
    let mut trial = Trial::new([&first[0], &first[1]], PrQuantity::Time, &margins, seed);
    while trial.rounds < ROUNDS && !trial.open().is_empty() {
        let mut sides = [vec![], vec![]];
        let build = trial.build(layouts.builds);
        for side in trial.order() {
            sides[side] = results(side, build);
        }
        trial.observe([&sides[0], &sides[1]], build);
    }
    trial.rows("simulated")
}

const COLUMNS: [&str; 3] = [
    "nothing changed: false call; exit 1; inconclusive benchmarks; stated slowdown, median",
    "one slower by 3%: exit 1; another called",
    "one slower by 10%: exit 1; another called",
];

pub fn requests() -> String {
    const EQUAL: usize = 1_000;
    const CHANGED: usize = 200;
    let mut world = World::new(SEED);
    let mut table = head(
        &format!(
            "`pr`: {BENCHMARKS} benchmarks, at most {ROUNDS} rounds, margin 2%; % of {EQUAL} pull requests that change nothing, of {CHANGED} that slow one benchmark, seed {SEED}"
        ),
        "machine",
        COLUMNS.into_iter().map(str::to_owned),
    );
    for (name, machine) in MACHINES {
        table += &row(&mut world, name, machine, ONE_BUILD, [EQUAL, CHANGED]);
    }
    table
}

/// Pull requests whose sides have different code layouts, whatever they change.
pub fn layouts() -> String {
    const EQUAL: usize = 400;
    const CHANGED: usize = 100;
    let mut world = World::new(SEED);
    let mut table = head(
        &format!(
            "`pr --layouts`: {BENCHMARKS} benchmarks, {ROUNDS} rounds, launches that scatter by 1 to 4%; % of {EQUAL} pull requests that change nothing, of {CHANGED} that slow one benchmark, seed {SEED}"
        ),
        "builds of each side; scatter by layout",
        COLUMNS.into_iter().map(str::to_owned),
    );
    for scatter in [0.0, 0.005, 0.02] {
        for builds in [1, 6, 12, 24] {
            let name = format!("{builds}; {}%", 100.0 * scatter);
            let layouts = Layouts { builds, scatter };
            table += &row(&mut world, &name, Machine::Quiet, layouts, [EQUAL, CHANGED]);
        }
    }
    table
}

/// A line of a table; `times`: pull requests that change nothing, and those that slow one benchmark.
fn row(
    world: &mut World,
    name: &str,
    machine: Machine,
    layouts: Layouts,
    times: [usize; 2],
) -> String {
    let cells = CHANGES.map(|slower| {
        let times = times[usize::from(slower > 0.0)];
        let (mut called, mut failed, mut found, mut open) = (0, 0, 0, 0);
        let mut stated = vec![];
        for _ in 0..times {
            let rows = trial(world, machine, layouts, slower);
            let is_slow = |row: &&PrRow| slower > 0.0 && row.name == format!("b{SLOW:02}");
            let others = rows.iter().filter(|row| !is_slow(row));
            let differs = |row: &PrRow| matches!(row.verdict, Verdict::Slower | Verdict::Faster);
            called += usize::from(others.clone().any(differs));
            failed += usize::from(rows.iter().any(|row| row.regressed));
            found += usize::from(rows.iter().any(|row| is_slow(&row) && row.regressed));
            open += rows.iter().filter(|row| row.verdict == Verdict::Inconclusive).count();
            let mut smallest: Vec<f64> = rows.iter().filter_map(|row| row.smallest).collect();
            smallest.sort_by(f64::total_cmp);
            stated.extend(smallest.get(BENCHMARKS * 9 / 10 - 1));
        }
        if slower > 0.0 {
            return format!("{}; {}", percent(found, times), percent(called, times));
        }
        stated.sort_by(f64::total_cmp);
        let median =
            stated.get(stated.len() / 2).map_or(String::new(), |s| format!("{:.1}%", 100.0 * s));
        format!(
            "{}; {}; {}; {median}",
            percent(called, times),
            percent(failed, times),
            percent(open, times * BENCHMARKS)
        )
    });
    line(name, cells.into_iter())
}
