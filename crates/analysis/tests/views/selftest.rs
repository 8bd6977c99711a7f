//! Runs of the same against each other: what they scatter by, what is called different, and what cannot count.

use crate::made_up::*;
use gritstone_analysis::compare::{Options, compare};
use gritstone_analysis::noise::selftest;
use gritstone_analysis::run_variance::{self, Past};
use gritstone_model::*;
use rand::RngExt;
use rand_pcg::Pcg64;

/// Shifts of five runs, as multiples of a standard deviation of sqrt(2.5).
const FIVE: [f64; 5] = [-2.0, 1.0, 0.0, -1.0, 2.0];

/// A run in which rows take e^cycles times as many cycles as 400, at a clock that is slower by e^clock than 4 GHz.
fn one(at: usize, rows: &[(Benchmark, f64)], clock: f64) -> RunData {
    let launches = rows.iter().flat_map(|(benchmark, cycles)| {
        let name = benchmark.id.as_str();
        let mut launches = scattered(name, 100.0 * (cycles + clock).exp());
        for launch in &mut launches {
            samples(launch, |s| {
                at_pace(s, (250_000.0 * clock.exp()).round() as u64)
            });
        }
        launches
    });
    let launches = launches.collect();
    let benchmarks = rows.iter().map(|(benchmark, _)| benchmark.clone());
    let mut data = run(benchmarks.collect(), launches);
    data.info.id = format!("run-{at}");
    data.info.started = format!("2026-01-01T00:{:02}:{:02}Z", at / 60, at % 60);
    data
}

fn paced(name: &str) -> Benchmark {
    Benchmark {
        processor_bound: true,
        ..plain(name)
    }
}

/// Five runs of one paced row: cycles and clock scatter by these times sqrt(2.5).
fn five(cycles: f64, clock: f64) -> Vec<RunView> {
    let orders = [0, 3, 1, 4, 2];
    (0..5)
        .map(|at| {
            let row = (paced("a/b"), cycles * FIVE[at]);
            view(&one(at, &[row], clock * FIVE[orders[at]]))
        })
        .collect()
}

#[test]
fn the_clock_is_in_nanoseconds_and_not_in_cycles() {
    let found = selftest(&five(0.0, 0.01), &[]);
    let row = &found.rows[0];
    near(Some(row.raw.between), 0.01 * 2.5_f64.sqrt());
    assert!(row.paced.unwrap().between < 1e-5);
    assert_eq!(row.counted, Subject::Cycles);
    near(Some(row.center), 100.0);
    // chi-square for 4 degrees of freedom: 11.143 and 0.4844
    near(Some(row.raw.interval[0]), row.raw.between * 0.599_133_1);
    let half = found.rows[0].raw.within.unwrap();
    assert!((0.001..0.005).contains(&half), "{half}");
    assert!(found.passed && found.median.unwrap().passed && found.p90.unwrap().passed);
    assert_eq!((found.pairs.compared, found.pairs.different), (10, 0));
    assert_eq!((row.pairs, row.different, row.disturbed), (10, 0, 0));
    assert_eq!(found.pairs.p, 1.0);
    // runs are at -2, -1, 0, 1 and 2%, and their intervals are narrow: only the one in the middle holds the center
    assert_eq!((found.raw_held.part, found.raw_held.of), (1, 5));
    assert_eq!((found.paced_held.part, found.paced_held.of), (5, 5));
    // the last two runs have the three before them
    let sources: Vec<Option<[usize; 2]>> =
        found.pairs.between_run.iter().map(|of| of.runs).collect();
    assert_eq!(sources, [None, Some([3, 3])]);
}

#[test]
fn a_row_that_the_processor_does_not_bound_counts_as_the_clock_has_it() {
    let runs: Vec<RunView> = (0..5)
        .map(|at| view(&one(at, &[(plain("a/b"), 0.0)], 0.01 * FIVE[at])))
        .collect();
    let found = selftest(&runs, &[]);
    assert_eq!(found.rows[0].counted, Subject::Estimate);
    near(Some(found.median.unwrap().value), 0.01 * 2.5_f64.sqrt());
    // 0.0158 is above 1%, and may be 0.0095
    assert!(found.passed);
}

#[test]
fn too_much_scatter_fails_only_when_it_is_sure() {
    // standard deviations of 1.58 and 1.74%: their intervals begin at 0.95 and 1.04%
    let median = |sd| selftest(&five(sd, 0.0), &[]).median.unwrap();
    assert!(median(0.01).passed && median(0.01).value > 0.01);
    let failed = median(0.011);
    assert!(!failed.passed && failed.interval[0] > 0.01);
    assert!(!selftest(&five(0.011, 0.0), &[]).passed);
}

#[test]
fn nine_rows_of_ten() {
    let runs: Vec<RunView> = (0..5)
        .map(|at| {
            let row = |i: i32| (paced(&format!("a/{i}")), 0.001 * f64::from(i) * FIVE[at]);
            view(&one(at, &(1..=20).map(row).collect::<Vec<_>>(), 0.0))
        })
        .collect();
    let found = selftest(&runs, &[]);
    let unit = 0.001 * 2.5_f64.sqrt();
    let value = |criterion: Option<CriterionView>| criterion.map(|c| c.value / unit);
    let close = |got: Option<f64>, want: f64| assert!((got.unwrap() - want).abs() < 0.01);
    close(value(found.median), 10.5);
    close(value(found.p90), 18.0);
    assert_eq!(found.median.unwrap().limit, 0.01);
    assert_eq!(found.p90.unwrap().limit, 0.03);
}

#[test]
fn a_run_that_is_another_is_called_so_and_fails() {
    let runs: Vec<RunView> = (0..5)
        .map(|at| {
            let slow = if at == 3 { 0.2 } else { 0.0 };
            view(&one(at, &[(paced("a/b"), slow)], 0.0))
        })
        .collect();
    let found = selftest(&runs, &[]);
    assert_eq!((found.pairs.compared, found.pairs.different), (10, 4));
    assert_eq!(found.pairs.below_one_percent, 4);
    assert!(!found.pairs.passed && !found.passed && found.pairs.p < 1e-5);
    assert_eq!(found.rows[0].different, 4);
}

#[test]
fn what_earlier_runs_tell_is_used_as_a_comparison_would() {
    let runs = five(0.002, 0.0);
    let past: Vec<Past> = (0..7)
        .map(|at| {
            let mut earlier = one(at, &[(paced("a/b"), 0.001 * at as f64)], 0.0);
            earlier.info.id = format!("earlier-{at}");
            earlier.info.started = format!("2025-01-{:02}T00:00:00Z", at + 1);
            Past::of(&view(&earlier))
        })
        .collect();
    let found = selftest(&runs, &past);
    // the first two have the seven; the last two the three between them too
    let told = [7, 8, 9, 10];
    assert_eq!(found.pairs.between_run.len(), 4);
    assert!(told.iter().all(|t| {
        found
            .pairs
            .between_run
            .iter()
            .any(|b| b.runs == Some([*t, *t]))
    }));
    let options = Options {
        between_run: run_variance::learn(&past, &runs[0], &runs[1]),
        ..Options::default()
    };
    assert_eq!(
        compare(&runs[0], &runs[1], &options)
            .between_run
            .unwrap()
            .runs,
        Some([told[0], told[0]])
    );
    assert!(found.rows[0].smallest < selftest(&runs, &[]).rows[0].smallest);
}

#[test]
fn rows_that_not_all_runs_have_alike_are_left_out_with_the_reason() {
    let mut runs: Vec<RunData> = (0..3)
        .map(|at| {
            let rows =
                ["a/all", "a/some", "a/other", "a/none", "a/idle"].map(|name| (paced(name), 0.0));
            one(at, &rows, 0.0)
        })
        .collect();
    runs[1]
        .benchmarks
        .retain(|benchmark| benchmark.id != id("a/some"));
    runs[2].programs.get_mut(&id("a/other")).unwrap().hash = "ff00".to_owned();
    runs[0].benchmarks[4].claims.min_ns_per_op = Some(1000.0);
    for run in &mut runs {
        run.launches.retain(|launch| launch.id != id("a/none"));
        run.benchmarks.push(Benchmark {
            unit: unit("bytes"),
            ..plain("a/size")
        });
    }
    let views: Vec<RunView> = runs.iter().map(view).collect();
    let found = selftest(&views, &[]);
    let rows: Vec<&str> = found.rows.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(rows, ["a/all"]);
    let why: Vec<(&str, &str)> = found
        .left_out
        .iter()
        .map(|row| (row.id.as_str(), short(&row.why)))
        .collect();
    let want = [
        ("a/some", "not-in-run run=run-1"),
        ("a/other", "programs-differ run=run-2 first=run-0"),
        ("a/none", "no-estimate-in run=run-0"),
        (
            "a/idle",
            "invalid-in run=run-0 finding=below-minimum ns=100 minimum=1000",
        ),
    ];
    assert_eq!(why, want);
    assert_eq!(found.pairs.compared, 3);
}

#[test]
fn nothing_in_common_is_no_failure_and_no_figure() {
    let runs = [view(&run(vec![], vec![])), view(&run(vec![], vec![]))];
    let found = selftest(&runs, &[]);
    assert!(found.rows.is_empty() && found.median.is_none() && found.p90.is_none());
    assert!(found.passed);
}

/// Normal numbers.
fn normal(random: &mut Pcg64) -> f64 {
    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.random::<f64>()).cos()
}

/// A run whose cycles are off by one draw of this standard deviation, and by a change.
pub fn drawn(random: &mut Pcg64, at: usize, sd: f64, change: f64) -> RunView {
    let shift = sd * normal(random);
    let mut data = one(at, &[], 0.0);
    data.benchmarks = vec![paced("a/b")];
    data.launches = (0..10)
        .map(|round| {
            launch(
                "a/b",
                round,
                1000.0 * (shift + change + 0.004 * normal(random)).exp(),
            )
        })
        .collect();
    view(&data)
}
