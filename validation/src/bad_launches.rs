//! Bad launches in the run that is judged.

use crate::machine::{Effects, Machine, PLAIN, ROWS};
use crate::series::checked;
use crate::{head, line, percent};
use gritstone_analysis::compare::{self, Options};
use gritstone_analysis::run_effect;
use gritstone_analysis::run_summary::RunSummary;
use gritstone_model::{CheckOutcome, RunView, Verdict};

/// Runs before the one that is judged.
const EARLIER: usize = 11;

/// Machines of a cell.
const TIMES: u64 = 300;
/// Of the benchmark, at most.
const BAD: usize = 2;
const CHANGES: [f64; 3] = [0.0, 0.05, 0.1];

/// What `compare` and `check` say of a benchmark whose launches are partly bad.
pub fn verdicts() -> String {
    let title = format!(
        "One of {ROWS} benchmarks has launches 1.3 times as long, after {EARLIER} runs, {TIMES} machines: called different by `compare` / exit 1 of `check` / intervals of `compare` that contain the change, %"
    );
    let columns = CHANGES.map(|by| match by {
        0.0 => "nothing changed".to_owned(),
        _ => format!("+{:.0}%", 100.0 * by),
    });
    let mut table = head(&title, "effect of a run; bad launches of ten", columns.into_iter());
    let sizes = [("0.2%", 0.002), ("0.5%", 0.005), ("1%", 0.01)];
    for (seed, (name, sd)) in (900..).zip(sizes) {
        let effects = Effects { name, sd, ..PLAIN };
        let mut counts = [[[0; 3]; CHANGES.len()]; BAD + 1];
        for trial in 0..TIMES {
            let mut machine = Machine::new(seed * 1000 + trial, effects);
            let before = Before::new(&mut machine);
            for (bad, counts) in counts.iter_mut().enumerate() {
                for (by, counts) in CHANGES.into_iter().zip(counts) {
                    for (count, said) in counts.iter_mut().zip(before.judge(&mut machine, by, bad))
                    {
                        *count += usize::from(said);
                    }
                }
            }
        }
        for (bad, counts) in counts.into_iter().enumerate() {
            let cells = counts.map(|counts| counts.map(|n| percent(n, TIMES as usize)).join(" / "));
            table += &line(&format!("{name}; {bad}"), cells.into_iter());
        }
    }
    table
}

/// Unchanged runs; the last is the base of comparisons.
struct Before {
    past: Vec<RunSummary>,
    base: RunView,
}

impl Before {
    fn new(machine: &mut Machine) -> Self {
        let mut past = machine.summaries(&[0.0; ROWS], EARLIER - 1);
        let base = machine.run(&[0.0; ROWS]);
        past.push(RunSummary::new(&base));
        Self { past, base }
    }

    /// Whether `compare` calls the benchmark, `check` fails, and the interval contains the change.
    fn judge(&self, machine: &mut Machine, by: f64, bad: usize) -> [bool; 3] {
        let mut slower = [0.0; ROWS];
        slower[0] = by.ln_1p();
        let other = machine.run_with(&slower, bad);
        let effects = run_effect::estimate(&self.past, &self.base, &other);
        let compared = compare::compare(&self.base, &other, &Options::new(0.02, effects));
        let id = &other.results[0].id;
        let row = compared.rows.iter().find(|row| row.id == *id);
        let row = row.expect("both runs have it");
        let [low, high] = row.interval.expect("ten launches have one");
        let truth = 1.0 / (1.0 + by);
        [
            matches!(row.verdict, Some(Verdict::Faster | Verdict::Slower)),
            checked(&self.past, &other) == CheckOutcome::Regressed,
            low <= truth && truth <= high,
        ]
    }
}
