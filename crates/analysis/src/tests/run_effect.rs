//! Effects of runs, and the runs that count for them.

use crate::compare::{Options, compare};
use crate::run_effect::{self, DEFAULT_RUN_VARIANCE, RunEffects};
use crate::run_summary::RunSummary;
use crate::tests::made_up_runs::*;
use gritstone_model::*;
use gritstone_stats::quantile;
use gritstone_stats::series::{self, Noise, Point, Series};

fn past(run: &RunData) -> RunSummary {
    RunSummary::new(&view(run))
}

/// A run of a day with one benchmark of `ns`.
fn day(day: usize, ns: f64) -> RunData {
    of_day(day, &["a/b"], ns)
}

fn of_day(day: usize, names: &[&str], ns: f64) -> RunData {
    let launches = names.iter().flat_map(|name| scattered(name, ns));
    dated_run(day, launches.collect())
}

/// Runs of the days from the first on.
fn days(ns: &[f64]) -> Vec<RunData> {
    (1..).zip(ns).map(|(date, ns)| day(date, *ns)).collect()
}

const FIVE: [f64; 5] = [100.0, 103.0, 98.0, 101.0, 97.0];

/// The noise of five runs, the newest of which may be judged.
fn noise_of_five(within: f64, judges_newest: bool) -> Noise {
    let point = |(run, ns): (usize, &f64)| Point {
        run,
        y: -ns.ln(),
        variance: within,
        judged: judges_newest && run + 1 == FIVE.len(),
    };
    let mut series =
        Series { points: FIVE.iter().enumerate().map(point).collect(), ..Series::default() };
    series::fit([&mut series]);
    series.noise.unwrap()
}

/// Effects for a comparison of the 20th with the 21st of January, which count too.
fn learned(earlier: &[RunData], change: impl Fn(&mut RunData)) -> RunEffects {
    let both = [20, 21].map(|date| {
        let mut data = day(date, 100.0);
        change(&mut data);
        data
    });
    let past: Vec<RunSummary> = earlier.iter().chain(&both).map(past).collect();
    run_effect::estimate(&past, &view(&both[0]), &view(&both[1]))
}

fn runs(learned: &RunEffects) -> Option<usize> {
    learned.rows.get(&id("a/b")).map(|effect| effect.runs)
}

#[test]
fn common_benchmarks_share_variance() {
    let past: Vec<RunSummary> = days(&FIVE).iter().map(past).collect();
    let last = view(&day(5, FIVE[4]));
    let found = run_effect::estimate(&past, &last, &last).rows[&id("a/b")];
    let within = past[0].values[&id("a/b")].within;
    let noise = noise_of_five(within, true);
    near(Some(found.ln_sd), noise.variance.value.sqrt());
    near(Some(found.within), within);
    near(Some(found.freedom), noise.variance.df);
    assert_eq!(found.runs, 5);
}

#[test]
fn run_half_width_needs_five() {
    let of_runs = |earlier: &[f64]| {
        let past: Vec<RunSummary> = days(earlier).iter().map(past).collect();
        let mut view = view(&day(20, 100.0));
        run_effect::add_to(&past, &mut view);
        view.results[0].of_runs.unwrap()
    };
    let found = of_runs(&FIVE);
    let variance = noise_of_five(0.0, false).variance;
    let half = quantile::student(0.95, variance.df) * variance.value.sqrt();
    near(found.half_width, half.exp_m1());
    assert_eq!(found.runs, 5);
    let found = of_runs(&FIVE[..4]);
    assert_eq!((found.runs, found.half_width), (4, None));
}

#[test]
fn two_runs_are_too_few() {
    assert!(learned(&[], |_| ()).rows.is_empty());
    // a change between the two that are compared would be their scatter
    assert!(learned(&days(&FIVE[..1]), |_| ()).rows.is_empty());
    assert_eq!(runs(&learned(&days(&FIVE[..2]), |_| ())), Some(4));
}

#[test]
fn other_conditions_do_not_count() {
    type Change = fn(&mut RunData);
    let changes: [(&str, Change, bool); 7] = [
        ("tuning", |run| run.info.settings.tuned = vec!["governor".to_owned()], false),
        ("machine", |run| run.info.machine.id = "4567".to_owned(), false),
        ("directory", |run| run.info.settings.dir = "/mnt".to_owned(), false),
        (
            "parameters",
            |run| {
                let params = &mut run.info.settings.params;
                params.insert("tty".to_owned(), "/dev/ttyS0".to_owned());
            },
            false,
        ),
        ("version", |run| run.benchmarks[0].version = 2, false),
        (
            "kernel",
            |run| {
                let facts = &mut run.info.machine.facts;
                facts.insert("kernel.release".to_owned(), "6.2".to_owned());
            },
            true,
        ),
        (
            "program",
            |run| {
                let program = run.programs.get_mut(&id("a/b")).unwrap();
                program.hash = "ff00".to_owned();
            },
            true,
        ),
    ];
    for (what, change, counts) in changes {
        let found = runs(&learned(&days(&FIVE), change));
        assert_eq!(found, counts.then_some(7), "{what}");
        let mut earlier = days(&FIVE);
        earlier.iter_mut().for_each(change);
        assert_eq!(runs(&learned(&earlier, change)), Some(7), "{what}");
    }
}

#[test]
fn disturbed_results_do_not_count() {
    let disturb = |run: &mut RunData| {
        for launch in &mut run.launches {
            launch.conditions.others = Some(900_000_000);
        }
    };
    // too few for an interval
    let cut = |run: &mut RunData| run.launches.truncate(5);
    let counted = |change: &dyn Fn(&mut RunData)| {
        let mut earlier = days(&FIVE);
        change(&mut earlier[2]);
        runs(&learned(&earlier, |_| ()))
    };
    assert_eq!((counted(&disturb), counted(&cut)), (Some(6), Some(7)));
}

#[test]
fn each_side_has_own_variance() {
    let elsewhere = |mut data: RunData| {
        data.info.machine.id = "4567".to_owned();
        data
    };
    let mut all = days(&FIVE);
    all.extend(days(&[50.0, 54.0, 47.0]).into_iter().map(elsewhere));
    let past: Vec<RunSummary> = all.iter().map(past).collect();
    let sides = [view(&all[0]), view(&all[5])];
    let effect = |base: usize, other: usize| {
        let found = run_effect::estimate(&past, &sides[base], &sides[other]);
        found.rows[&id("a/b")]
    };
    let [b, o] = [effect(0, 0), effect(1, 1)];
    let both = effect(0, 1);
    let variance = f64::midpoint(b.ln_sd.powi(2), o.ln_sd.powi(2));
    near(Some(both.ln_sd), variance.sqrt());
    assert_eq!(both.runs, 3);
    // what one system has not learned is stated of both
    let alone = run_effect::estimate(&past[..6], &sides[0], &sides[1]);
    assert!(alone.rows.is_empty());
}

#[test]
fn comparison_reports_source_of_effects() {
    let (base, other) = (view(&day(20, 100.0)), view(&day(21, 101.5)));
    let with = |earlier: &[RunData]| {
        let past: Vec<RunSummary> = earlier.iter().map(past).collect();
        let effects = run_effect::estimate(&past, &base, &other);
        let mut found = compare(&base, &other, &Options::new(0.01, effects));
        let source = found.between_run.unwrap();
        near(Some(source.default_sd), DEFAULT_RUN_VARIANCE.ln_sd);
        (source.runs, found.rows.remove(0).verdict.unwrap())
    };
    assert_eq!(with(&[]), (None, Verdict::Inconclusive));
    let found = with(&days(&[100.0; 10]));
    assert_eq!(found, (Some([10, 10]), Verdict::Slower));
    let found = with(&days(&FIVE));
    assert_eq!(found, (Some([5, 5]), Verdict::Inconclusive));
}

#[test]
fn effects_are_per_benchmark() {
    let all = ["a/b", "a/c", "a/d"];
    let days = |days: std::ops::RangeInclusive<usize>, names: usize| {
        days.map(move |day| of_day(day, &all[..names], 100.0))
    };
    let runs = days(1..=2, 3).chain(days(3..=7, 2)).chain(days(8..=8, 1));
    let past: Vec<RunSummary> = runs.map(|run| past(&run)).collect();
    let [base, other] = [20, 21].map(|day| view(&of_day(day, &all, 100.0)));
    let effects = run_effect::estimate(&past, &base, &other);
    let options = Options::new(0.02, effects);
    let source = compare(&base, &other, &options).between_run.unwrap();
    assert_eq!((source.runs, source.default, source.rows), (Some([7, 8]), 1, 3));
    let nothing = view(&run(vec![], vec![]));
    assert_eq!(compare(&base, &nothing, &options).between_run, None);
}
