//! Simultaneous copies on two sides: false calls of total rate or efficiency, and detected changes.

use crate::runs::{empty, run};
use crate::world::World;
use crate::{head, line, percent};
use gritstone_analysis::compare;
use gritstone_analysis::{run_effect, run_summary::RunSummary};
use gritstone_model::{CopiesPoint, CopiesView, Estimate, RunView, Verdict};
use gritstone_stats::center;

const TIMES: usize = 4_000;
const SEED: u64 = 74;
const ROUNDS: usize = 10;
const COPIES: u32 = 4;

/// Scatter of runs: of one copy and several together, and of several in addition.
const SCATTERS: [(f64, f64); 5] =
    [(0.0, 0.0), (0.01, 0.0), (0.01, 0.01), (0.025, 0.0), (0.025, 0.025)];
/// Reduction of the total rate on the other side.
const LESS: [f64; 3] = [0.0, 0.05, 0.1];
/// Earlier runs that the scatter is learned from.
const EARLIER: [usize; 2] = [0, 10];

pub fn together() -> String {
    let mut world = World::new(SEED);
    let title = format!(
        "{COPIES} copies, two runs of {ROUNDS} rounds, standard deviation of launches 1%, of rounds 0.5%: difference reported in total / efficiency, % of {TIMES} trials, seed {SEED}"
    );
    let column = |runs: usize, less: f64| {
        let what = match less {
            0.0 => "no change".to_owned(),
            less => format!("{:.0}% less", 100.0 * less),
        };
        let how = if runs == 0 { "default".to_owned() } else { format!("{runs} earlier runs") };
        format!("{what}, {how}")
    };
    let columns = EARLIER.into_iter().flat_map(|runs| LESS.map(|less| column(runs, less)));
    let mut table = head(&title, "between-run standard deviation; extra for copies", columns);
    let empty = empty(1, false);
    for (all, extra) in SCATTERS {
        let cells = EARLIER.into_iter().flat_map(|runs| LESS.map(|less| (runs, less)));
        let cells = cells.map(|(runs, less)| {
            let mut hits = [0; 2];
            for _ in 0..TIMES {
                let mut views = (0..runs + 2).map(|number| {
                    let factor = if number > runs { 1.0 / (1.0 - less) } else { 1.0 };
                    measured(&mut world, &empty, number, (all, extra), factor)
                });
                let earlier: Vec<RunView> = views.by_ref().take(runs + 1).collect();
                let other = views.next().expect("one is left");
                for (hits, verdict) in hits.iter_mut().zip(verdicts(&earlier, &other)) {
                    *hits += usize::from(matches!(verdict, Verdict::Faster | Verdict::Slower));
                }
            }
            hits.map(|hits| percent(hits, TIMES)).join(" / ")
        });
        table += &line(&format!("{}%; {}%", 100.0 * all, 100.0 * extra), cells);
    }
    table
}

/// Verdicts on total and efficiency of the last run against the one before it.
fn verdicts(earlier: &[RunView], other: &RunView) -> [Verdict; 2] {
    let base = earlier.last().expect("there is a base");
    let past: Vec<RunSummary> = earlier.iter().map(RunSummary::new).collect();
    let options = compare::Options::new(0.02, run_effect::estimate(&past, base, other));
    let view = compare::compare(base, other, &options);
    let copies = &view.rows[0].copies[0];
    [copies.total.verdict, copies.efficiency.verdict]
}

/// A run with one copy and with several, which take `factor` times as long as ideal ones.
fn measured(
    world: &mut World,
    empty: &RunView,
    number: usize,
    (all, extra): (f64, f64),
    factor: f64,
) -> RunView {
    let run_of_all = (all * world.normal()).exp();
    let run_of_copies = factor * (extra * world.normal()).exp() / f64::from(COPIES);
    let rounds: Vec<f64> = (0..ROUNDS).map(|_| (0.005 * world.normal()).exp()).collect();
    let mut launches = |level: f64| -> Vec<f64> {
        let launch =
            |round: &f64| 100.0 * run_of_all * level * round * (0.01 * world.normal()).exp();
        rounds.iter().map(launch).collect()
    };
    let (one, together) = (launches(1.0), launches(run_of_copies));
    let efficiency = |(one, total): (&f64, &f64)| one / (total * f64::from(COPIES));
    let efficiencies: Vec<f64> = one.iter().zip(&together).map(efficiency).collect();
    let center = |values: &[f64]| {
        center::log_center(values, 0.95).map(|center| Estimate::exact(center.value))
    };
    let mut view = run(empty, number, &[one]);
    view.results[0].measured_mut().copies = Some(CopiesView {
        points: vec![CopiesPoint {
            copies: COPIES,
            total: center(&together),
            efficiency: center(&efficiencies),
            values: together,
            efficiencies,
            ..CopiesPoint::default()
        }],
        ..CopiesView::default()
    });
    view
}
