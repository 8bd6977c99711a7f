//! Comparisons of two runs of a system whose earlier runs are in the store: false calls, power, and how often "same" is said.

use crate::runs::{empty, run};
use crate::world::World;
use crate::{head, line, percent};
use gritstone_analysis::compare;
use gritstone_analysis::run_variance::{self, Past};
use gritstone_model::{CompareView, RunView, Verdict};

const TRIALS: usize = 1_500;
const BENCHMARKS: usize = 60;
const LAUNCHES: usize = 10;
/// Standard deviation of launches within a run.
const WITHIN: f64 = 0.005;
/// Changes of the first benchmark; the first is none.
const CHANGES: [f64; 5] = [1.0, 1.01, 1.02, 1.03, 1.05];
/// Standard deviations between runs: of what all benchmarks share, of the median benchmark by itself, and the logarithmic spread of the
/// latter over benchmarks.
const SYSTEMS: [(f64, f64, f64); 8] = [
    (0.0, 0.002, 0.5),
    (0.002, 0.0025, 0.5),
    (0.0, 0.003, 0.0),
    (0.01, 0.005, 0.5),
    (0.02, 0.005, 0.5),
    (0.0, 0.01, 0.5),
    (0.02, 0.02, 0.5),
    (0.03, 0.03, 0.5),
];

pub fn comparisons() -> String {
    let title = format!(
        "Two runs of {BENCHMARKS} benchmarks, {LAUNCHES} launches each that scatter by {}%, margin 2%; one benchmark or none changed: false calls of those called (FDR), %; lone change of 1 / 2 / 3 / 5% found, %; unchanged benchmarks called same, %; common shift called different, %; {TRIALS} comparisons a line",
        100.0 * WITHIN
    );
    let columns = ["FDR", "1 / 2 / 3 / 5% found", "same", "shift"];
    let first = "between runs: common; own (spread over benchmarks); earlier runs";
    let mut table = head(&title, first, columns.into_iter().map(str::to_owned));
    let mut world = World::new(16);
    for (common, own, spread) in SYSTEMS {
        for earlier in [5, 10] {
            let mut tally = Tally::default();
            for trial in 0..TRIALS {
                let change = trial % CHANGES.len();
                let view = comparison(&mut world, (common, own, spread), earlier, CHANGES[change]);
                tally.count(&view, change);
            }
            let [common, own] = [common, own].map(|sd| format!("{:.2}%", 100.0 * sd));
            let name = format!("{common}; {own} (e^{spread}z); {earlier}");
            table += &line(&name, tally.cells().into_iter());
        }
    }
    table
}

fn comparison(
    world: &mut World,
    (common, own, spread): (f64, f64, f64),
    earlier: usize,
    change: f64,
) -> CompareView {
    let own: Vec<f64> = (0..BENCHMARKS)
        .map(|_| own * (spread * world.normal()).exp())
        .collect();
    let empty = empty(BENCHMARKS, false);
    let runs: Vec<RunView> = (0..earlier + 2)
        .map(|number| {
            let shift = common * world.normal();
            let launches: Vec<Vec<f64>> = own
                .iter()
                .enumerate()
                .map(|(at, own)| {
                    let lone = if number > earlier && at == 0 {
                        change
                    } else {
                        1.0
                    };
                    let level = 100.0 * lone * (shift + own * world.normal()).exp();
                    (0..LAUNCHES)
                        .map(|_| level * (WITHIN * world.normal()).exp())
                        .collect()
                })
                .collect();
            run(&empty, number, &launches)
        })
        .collect();
    let past: Vec<Past> = runs[..earlier].iter().map(Past::new).collect();
    let (base, other) = (&runs[earlier], &runs[earlier + 1]);
    let options = compare::Options {
        between_run: run_variance::estimate(&past, base, other),
        ..compare::Options::default()
    };
    compare::compare(base, other, &options)
}

#[derive(Default)]
struct Tally {
    comparisons: usize,
    /// Sum of the shares of false calls.
    wrong: f64,
    /// Lone changes found, and how many there were.
    found: [[usize; 2]; CHANGES.len()],
    /// Unchanged benchmarks that were called the same, and how many there were.
    same: [usize; 2],
    shifts: usize,
}

impl Tally {
    fn count(&mut self, view: &CompareView, change: usize) {
        self.comparisons += 1;
        self.shifts += usize::from(view.shifts.iter().any(|shift| shift.different));
        self.found[change][1] += 1;
        let (mut right, mut wrong) = (0, 0);
        for row in &view.rows {
            let changed = change > 0 && row.id.as_str() == "made/up/0";
            let called = matches!(row.verdict, Some(Verdict::Faster | Verdict::Slower));
            if changed {
                right += usize::from(called);
            } else {
                wrong += usize::from(called);
                self.same[0] += usize::from(row.verdict == Some(Verdict::Same));
                self.same[1] += 1;
            }
        }
        self.found[change][0] += right;
        self.wrong += wrong as f64 / (right + wrong).max(1) as f64;
    }

    fn cells(&self) -> [String; 4] {
        let found: Vec<String> = self.found[1..]
            .iter()
            .map(|[found, of]| format!("{:.0}", 100.0 * *found as f64 / *of as f64))
            .collect();
        [
            format!("{:.1}", 100.0 * self.wrong / self.comparisons as f64),
            found.join(" / "),
            percent(self.same[0], self.same[1]),
            percent(self.shifts, self.comparisons),
        ]
    }
}
