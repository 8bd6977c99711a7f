//! Damaged stores: every command reports the damage, or its output is unchanged.

use crate::common::{Home, at_hour, binary, output_texts, recorded};
use std::fs;

/// What readers ask of a store.
const COMMANDS: [&str; 7] = [
    "runs",
    "show a --format json",
    "compare a b --format json",
    "history byte/loop --format json",
    "check b --format json",
    "export b --format jsonl",
    "systems --format json",
];
const PAGE: usize = 4096;

/// Numbers that a seed repeats: a linear congruential generator, of which the upper half is used.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = (self.0)
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// The store with one kind of damage; what was done to it.
fn damaged(whole: &[u8], seed: u64) -> (Vec<u8>, String) {
    let mut chance = Chance(seed);
    let mut bytes = whole.to_vec();
    let pages = bytes.len() / PAGE;
    let (one, other) = (chance.below(pages), chance.below(pages));
    let page = |number: usize| number * PAGE..(number + 1) * PAGE;
    let what = match seed % 6 {
        0 => {
            let position = chance.below(bytes.len());
            bytes[position] ^= 1 << chance.below(8);
            format!("bit of byte {position}")
        }
        1 => {
            let start = chance.below(bytes.len() - 64);
            bytes[start..start + 64]
                .iter_mut()
                .for_each(|byte| *byte = !*byte);
            format!("64 bytes at {start}")
        }
        2 => {
            bytes[page(one)].fill(0);
            format!("page {one} zero")
        }
        3 => {
            bytes[page(one)].copy_from_slice(&whole[page(other)]);
            bytes[page(other)].copy_from_slice(&whole[page(one)]);
            format!("pages {one} and {other} exchanged")
        }
        4 => {
            bytes[page(one)].copy_from_slice(&whole[page(other)]);
            format!("page {one} as page {other}")
        }
        _ => {
            let end = chance.below(bytes.len());
            bytes.truncate(end);
            format!("cut at {end}")
        }
    };
    (bytes, format!("seed {seed}: {what}"))
}

/// Runs all commands on damaged stores; returns how often damage was reported, and how often it made no difference.
fn answers(seeds: std::ops::Range<u64>) -> (usize, usize) {
    let home = Home::new();
    let run = recorded("copies");
    let runs = [(1, "a"), (2, "b"), (3, "c")].map(|(hour, label)| at_hour(&run, hour, label));
    home.import(&runs);
    let store = home.store();
    // ended after a minute with a code that no command has
    let ask = |line: &str| {
        let mut limited = home.command("timeout");
        limited.arg("60").arg(binary()).args(line.split(' '));
        output_texts(limited.output().unwrap())
    };
    // what a first reader adds is there
    let right = COMMANDS.map(ask);
    let whole = fs::read(&store).unwrap();
    let (mut named, mut same) = (0, 0);
    for seed in seeds {
        let (bytes, what) = damaged(&whole, seed);
        for (line, right) in COMMANDS.iter().zip(&right) {
            for ending in ["-wal", "-shm", "-journal"] {
                let _ = fs::remove_file(store.with_extension(format!("db{ending}")));
            }
            fs::write(&store, &bytes).unwrap();
            let (code, out, error) = ask(line);
            if (code, &out) == (right.0, &right.1) {
                same += 1;
                continue;
            }
            assert!((0..=4).contains(&code), "{what}: {line}: {code}: {error}");
            // it answers differently
            let says = error.contains("gritstone.db") || error.contains("damaged");
            assert!(says, "{what}: {line}: {error}\n{out}");
            named += 1;
        }
    }
    (named, same)
}

#[test]
fn damaged_stores_are_reported() {
    let (named, same) = answers(0..16);
    assert!(named > 20, "{named} named, {same} the same");
}

#[test]
#[ignore = "long: make test-full"]
fn many_damaged_stores_are_reported() {
    let (named, same) = answers(0..300);
    println!("{named} answers named the damage, {same} were the same");
    assert!(named > 400, "{named} named, {same} the same");
}
