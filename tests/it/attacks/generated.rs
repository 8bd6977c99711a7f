//! Bundles of every shape within the limits, made by a generator with seeds: `import` and `show` take at most [`FACTOR`] times their
//! unpacked size, and [`BASE`].

use crate::attacks::sizes::within;
use crate::common::{Home, recorded};
use gritstone_exchange::{limits, write_bundle};
use gritstone_model::{
    Batch, Benchmark, Check, Event, Histogram, Id, Launch, Outcome, Param, RunData, Sample,
};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use std::fs;
use std::path::PathBuf;

/// KiB for everything but the bundle: stacks, SQLite's pages, the catalog.
const BASE: usize = 16 << 10;
const FACTOR: usize = 4;
/// Least and most bytes of a bundle, which is at most [`limits::UNPACKED`].
const SIZES: [f64; 2] = [8e3, 60e6];
/// Most bytes of most bundles.
const USUAL: f64 = 6e6;

const KINDS: usize = 9;

/// Numbers of every length.
fn number(chance: &mut Pcg64) -> u64 {
    1 + (chance.random::<u64>() >> 1 >> chance.random_range(0..60_u32))
}

/// Few mostly, at times as many as there may be.
fn count(chance: &mut Pcg64, max: usize) -> usize {
    let exponent = chance.random_range(0.0..=(max as f64).ln());
    (exponent.exp() as usize).clamp(1, max)
}

fn text(chance: &mut Pcg64) -> String {
    let letters = ["a", "é", "\"", "\n", "𝛼", " "];
    let letter = letters[chance.random_range(0..letters.len())];
    letter.repeat(count(chance, limits::TEXT / 6))
}

fn sample(chance: &mut Pcg64) -> Box<Sample> {
    Box::new(Sample {
        n: number(chance),
        wall: number(chance),
        cycle_probe: number(chance) % 1_000_000,
        ..Sample::default()
    })
}

fn event(chance: &mut Pcg64, kind: usize) -> Event {
    match kind {
        0 => Event::Warm { n: number(chance), wall: number(chance) },
        1 => Event::Sample(sample(chance)),
        2 => Event::Process(sample(chance)),
        3 => Event::Batch(Box::new(Batch {
            n: number(chance),
            walls: (0..count(chance, limits::VALUES)).map(|_| number(chance)).collect(),
            ..Batch::default()
        })),
        4 => {
            let buckets = count(chance, 3_000);
            Event::Latency(Box::new(Histogram {
                count: buckets as u64,
                min: 1,
                max: u64::MAX >> 1,
                sum: number(chance),
                buckets: (0..buckets as u32).map(|index| (index, 1)).collect(),
                of: None,
            }))
        }
        5 => Event::Check(Check { n: number(chance), got: 7, expected: 7 }),
        6 => Event::Param(Param::new("remark", text(chance))),
        7 => Event::Param(Param::new("x", "y")),
        _ => Event::Param(Param::new("page_ins", number(chance).to_string())),
    }
}

/// A launch whose events are of some kinds.
fn launch(chance: &mut Pcg64, run: &RunData, kinds: &[usize], room: usize) -> Launch {
    let id = &run.benchmarks[chance.random_range(0..run.benchmarks.len())].id;
    let mut events = vec![Event::Hello { protocol: 1, kernel: id.to_string() }];
    let (mut bytes, max) = (0, count(chance, limits::EVENTS - 2));
    while events.len() <= max && bytes < room {
        let kind = kinds[chance.random_range(0..kinds.len())];
        let one = event(chance, kind);
        bytes += serde_json::to_string(&one).unwrap().len();
        events.push(one);
    }
    let outcome = match chance.random_range(0..10) {
        0 => Outcome::Failed(text(chance)),
        _ => Outcome::Measured,
    };
    events.push(Event::Bye);
    let mut launch = Launch {
        id: id.clone(),
        round: chance.random_range(0..1000),
        outcome,
        events,
        ..run.launches[0].clone()
    };
    // unknown, so that any samples fit
    launch.conditions.wall = 0;
    launch
}

/// The bundle of a seed.
fn generated(seed: u64, sizes: [f64; 2]) -> String {
    let mut chance = Pcg64::seed_from_u64(seed);
    let chance = &mut chance;
    let mut run = recorded("run");
    let entry = run.benchmarks[0].clone();
    let named = |n: usize| Benchmark { id: Id::parse(&format!("x/{n}")).unwrap(), ..entry.clone() };
    let size = chance.random_range(sizes[0].ln()..sizes[1].ln()).exp() as usize;
    // an entry has some 700 bytes, and the head may have a million
    run.benchmarks = (0..count(chance, 1_000)).map(named).collect();
    run.programs.clear();
    run.skips.clear();
    let kinds: Vec<usize> =
        (0..count(chance, KINDS)).map(|_| chance.random_range(0..KINDS)).collect();
    let mut launches: Vec<Launch> = vec![];
    let mut bytes = 0;
    while bytes < size && launches.len() < limits::LAUNCHES {
        let room = (size - bytes).min(8 << 20);
        let one = launch(chance, &run, &kinds, room);
        bytes += serde_json::to_string(&one).unwrap().len();
        launches.push(one);
    }
    run.launches = launches;
    write_bundle(&run)
}

fn fits(seeds: std::ops::Range<u64>, sizes: [f64; 2]) {
    for seed in seeds {
        let home = Home::new();
        let text = generated(seed, sizes);
        assert!(text.len() as u64 <= limits::UNPACKED, "seed {seed}");
        let path: PathBuf = home.path().join("generated.jsonl");
        fs::write(&path, &text).unwrap();
        let room = BASE + FACTOR * text.len() / 1024;
        let path = path.to_str().unwrap();
        for words in [&["import", path][..], &["show", path, "-v"], &["show", "run", "-v"]] {
            let (code, _, error) = within(&home, "-d", room, words);
            let size = text.len();
            assert_eq!(code, 0, "seed {seed}, {size} bytes, {words:?}: {error}");
        }
    }
}

#[test]
fn generated_bundles_need_little_memory() {
    fits(0..6, [SIZES[0], 1e6]);
}

#[test]
#[ignore = "long: make test-full"]
fn large_bundles_need_little_memory() {
    fits(1_000..1_190, [SIZES[0], USUAL]);
    fits(1_190..1_200, [USUAL, SIZES[1]]);
}
