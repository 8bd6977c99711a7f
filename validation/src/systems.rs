//! Comparisons of two systems.

use crate::machine::{Machine, ROWS, WORLDS};
use crate::{head, line, percent};
use gritstone_analysis::compare::{self, Options};
use gritstone_analysis::run_effect;
use gritstone_model::{CompareRow, Verdict};
use std::collections::BTreeMap;

/// Numbers of benchmarks that differ by these factors, every other one in the other direction; the rest are equal.
const DIFFERENT: [(usize, f64); 3] = [(4, 1.1), (4, 1.3), (4, 2.0)];

/// Verdicts where most benchmarks differ, where all are slower alike, and where none differs.
pub fn comparisons() -> String {
    let times = 150;
    let title = format!(
        "Comparisons of two systems by {ROWS} benchmarks, a run each, {times} each: a false call, %; those called of the different ones, %"
    );
    let columns = [
        "nothing differs: a false call",
        "12 differ: a false call",
        "called of those by 10% / 30% / 100%",
        "all 30% slower: called",
    ];
    let columns = columns.map(str::to_owned).into_iter();
    let mut table = head(&title, "effect of a run; earlier runs of each system", columns);
    let mut different = [0.0; ROWS];
    let mut index = 0;
    for (number, factor) in DIFFERENT {
        for slower in &mut different[index..index + number] {
            *slower = if index.is_multiple_of(2) { 1.0 } else { -1.0 } * f64::ln(factor);
            index += 1;
        }
    }
    for (seed, effects) in (900..).zip(WORLDS) {
        for earlier in [0, 8] {
            let calls = |slower: [f64; ROWS]| {
                let mut calls = Calls::default();
                let seed = seed * 100 + earlier as u64;
                let mut systems = [0, 50].map(|more| Machine::new(seed + more, effects));
                systems[1].rename("another system");
                let mut past = vec![];
                for trial in 0..times {
                    if trial % 15 == 0 {
                        let [base, other] = &mut systems;
                        past = base.summaries(&[0.0; ROWS], earlier);
                        past.extend(other.summaries(&slower, earlier));
                    }
                    let [base, other] = &mut systems;
                    let (base, other) = (base.run(&[0.0; ROWS]), other.run(&slower));
                    let options = Options::new(0.02, run_effect::estimate(&past, &base, &other));
                    calls.add(&compare::compare(&base, &other, &options).rows, &slower);
                }
                calls
            };
            let same = calls([0.0; ROWS]);
            let mixed = calls(different);
            let all = calls([0.3_f64.ln_1p(); ROWS]);
            let called = DIFFERENT.map(|(number, factor)| {
                let called = mixed.called.get(&permille(factor.ln())).copied();
                percent(called.unwrap_or(0), times * number)
            });
            let cells = [
                percent(same.wrong, times),
                percent(mixed.wrong, times),
                called.join(" / "),
                percent(all.called.values().sum(), times * ROWS),
            ];
            table += &line(&format!("{}; {earlier}", effects.name), cells.into_iter());
        }
    }
    table
}

/// Comparisons with a false call, of an equal benchmark or in the wrong direction, and called benchmarks by the size of the difference.
#[derive(Default)]
struct Calls {
    wrong: usize,
    called: BTreeMap<u32, usize>,
}

fn permille(difference: f64) -> u32 {
    (difference.abs() * 1000.0).round() as u32
}

impl Calls {
    fn add(&mut self, rows: &[CompareRow], slower: &[f64; ROWS]) {
        let mut wrong = false;
        for row in rows {
            let number = row.id.as_str().rsplit('/').next();
            let Some(by) = number.and_then(|n| slower.get(n.parse::<usize>().ok()?)) else {
                continue;
            };
            let right = match row.verdict {
                Some(Verdict::Faster) => *by < 0.0,
                Some(Verdict::Slower) => *by > 0.0,
                _ => continue,
            };
            wrong |= !right;
            if right {
                *self.called.entry(permille(*by)).or_default() += 1;
            }
        }
        self.wrong += usize::from(wrong);
    }
}
