//! Damaged inputs for tests of parsers: real ones with a few changed bytes, lines or numbers, which get further than random bytes. Input N
//! is always the same: `GRITSTONE_FIRST` is the first one, and `GRITSTONE_INPUTS` their number, or `GRITSTONE_SECONDS` the time.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::time::{Duration, Instant};

/// Number of inputs in an ordinary test.
const FEW: u64 = 2_000;

/// Critical values: ends of ranges, and special characters.
const PIECES: [&str; 32] = [
    "0",
    "-1",
    "1e999",
    "NaN",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775809",
    "4294967296",
    "0.1",
    "null",
    "true",
    "{}",
    "[]",
    "\"\"",
    "\"",
    "'",
    "'''",
    "\\",
    "\\u0000",
    "\\x0a",
    "{",
    "[",
    "]",
    "}",
    "=",
    ",",
    "\n",
    "\0",
    "\u{feff}",
    "\u{202e}",
    "é",
    "@",
];

/// Gives damaged copies of `inputs` to `read`, which must not panic; names the input otherwise.
pub fn each(inputs: &[&[u8]], mut read: impl FnMut(&[u8], &mut Pcg64)) {
    let asked = |name: &str| -> Option<u64> {
        let value = std::env::var(name).ok()?;
        Some(value.parse().unwrap_or_else(|_| panic!("{name} is a number")))
    };
    let first = asked("GRITSTONE_FIRST").unwrap_or(0);
    let seconds = asked("GRITSTONE_SECONDS").map(Duration::from_secs);
    let most = asked("GRITSTONE_INPUTS").unwrap_or(if seconds.is_some() { u64::MAX } else { FEW });
    let start = Instant::now();
    for number in first.. {
        let done = number - first;
        if done == most || seconds.is_some_and(|seconds| start.elapsed() >= seconds) {
            println!("{done} inputs from {first} on");
            return;
        }
        let mut random = Pcg64::seed_from_u64(number);
        let mut bytes = inputs[random.random_range(0..inputs.len())].to_vec();
        for _ in 0..=random.random_range(0..4) {
            damage(&mut bytes, inputs, &mut random);
        }
        let read = std::panic::AssertUnwindSafe(|| read(&bytes, &mut random));
        if let Err(panic) = std::panic::catch_unwind(read) {
            eprintln!("input {number} was: {}", bytes.escape_ascii());
            std::panic::resume_unwind(panic);
        }
    }
}

fn damage(bytes: &mut Vec<u8>, inputs: &[&[u8]], random: &mut Pcg64) {
    let (from, to) = range(bytes, random);
    match random.random_range(0..9) {
        0 => bytes.truncate(from),
        1 => drop(bytes.drain(from..to)),
        2 => {
            let twice = bytes[from..to].to_vec();
            bytes.splice(from..from, twice);
        }
        3 => {
            let other = inputs[random.random_range(0..inputs.len())];
            let (begin, end) = range(other, random);
            bytes.splice(from..to, other[begin..end].iter().copied());
        }
        4 => {
            if let Some(byte) = bytes.get_mut(from) {
                *byte ^= 1 << random.random_range(0..8);
            }
        }
        5 => number(bytes, from, random),
        6 => lines(bytes, random),
        _ => {
            let piece = PIECES[random.random_range(0..PIECES.len())];
            let until = if random.random() { from } else { to };
            bytes.splice(from..until, piece.bytes());
        }
    }
}

/// A short piece, most of the time.
fn range(bytes: &[u8], random: &mut Pcg64) -> (usize, usize) {
    let from = random.random_range(0..=bytes.len());
    let most = if random.random_range(0..4) == 0 { 400 } else { 12 };
    let to = (from + random.random_range(0..most)).min(bytes.len());
    (from, to)
}

/// The next number becomes one of the pieces.
fn number(bytes: &mut Vec<u8>, from: usize, random: &mut Pcg64) {
    let Some(begin) = bytes[from..].iter().position(u8::is_ascii_digit) else {
        return;
    };
    let begin = from + begin;
    let digits = bytes[begin..].iter().take_while(|b| b.is_ascii_digit());
    let end = begin + digits.count();
    let piece = PIECES[random.random_range(0..9)];
    bytes.splice(begin..end, piece.bytes());
}

/// Two lines change places, or one comes twice.
fn lines(bytes: &mut Vec<u8>, random: &mut Pcg64) {
    let mut all: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b'\n').collect();
    if all.is_empty() {
        return;
    }
    let (a, b) = (random.random_range(0..all.len()), random.random_range(0..all.len()));
    if random.random() {
        all.swap(a, b);
    } else {
        all.insert(a, all[b]);
    }
    *bytes = all.concat();
}
