//! Properties of every comparison and every gate.

use crate::compare::{Options, compare};
use crate::run_effect::{self};
use crate::run_summary::RunSummary;
use crate::tests::made_up_runs::*;
use crate::{check, series};
use gritstone_model::*;

const BENCHMARKS: usize = 20;
/// Of unchanged benchmarks of one run to the next, natural logarithm.
const SHIFTS: [f64; 7] = [0.0, 0.002, -0.0015, 0.001, -0.0025, 0.0005, 0.0015];

fn name(benchmark: usize) -> String {
    format!("a/{benchmark}")
}

/// The `index`-th run; each benchmark takes 100 ns times its factor.
fn run_at(index: usize, factor: impl Fn(usize) -> f64) -> RunView {
    run_with(index, |i, name, ns| scattered(name, ns * factor(i)))
}

/// The same with one launch of ten that takes 1.3 times as long.
fn with_bad_launch(index: usize, factor: impl Fn(usize) -> f64) -> RunView {
    run_with(index, |i, name, ns| {
        let ns = ns * factor(i);
        let mut launches = scattered(name, ns);
        launches[4] = launch(name, 4, ns * 1.3);
        launches
    })
}

fn run_with(index: usize, launches: impl Fn(usize, &str, f64) -> Vec<Launch>) -> RunView {
    let scatter = |benchmark: usize| SHIFTS[(index * 3 + benchmark * 5) % SHIFTS.len()].exp();
    let launches = |i| launches(i, &name(i), 100.0 * scatter(i));
    dated(index, (0..BENCHMARKS).flat_map(launches).collect())
}

fn unchanged(runs: usize) -> Vec<RunView> {
    (0..runs).map(|run| run_at(run, |_| 1.0)).collect()
}

/// With the effects of runs that these have; stated ones without.
fn options(earlier: &[RunView], base: &RunView, other: &RunView) -> Options {
    let effects = run_effect::estimate(&summaries(earlier), base, other);
    Options::new(0.02, effects)
}

/// Some faster, some slower, most the same.
fn mixed(benchmark: usize) -> f64 {
    match benchmark {
        3 => 1.09,
        7 => 0.9,
        11 => 1.3,
        12 => 0.95,
        _ => 1.0,
    }
}

fn verdicts(earlier: &[RunView], base: &RunView, other: &RunView) -> Vec<(Id, Option<Verdict>)> {
    let rows = compare(base, other, &options(earlier, base, other)).rows.into_iter();
    let mut all: Vec<_> = rows.map(|row| (row.id, row.verdict)).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

fn outcomes(earlier: &[RunView], run: &RunView) -> Vec<(Id, CheckOutcome)> {
    let rows = against(run, earlier).rows.into_iter();
    let mut all: Vec<_> = rows.map(|row| (row.row.id, row.outcome)).collect();
    all.sort();
    all
}

/// Comparisons with stated and with learned effects.
fn comparisons(factor: impl Fn(usize) -> f64 + Copy) -> [(RunView, RunView, Options); 2] {
    let earlier = unchanged(9);
    [0, 9].map(|known| {
        let (base, other) = (run_at(10, |_| 1.0), run_at(11, factor));
        let options = options(&earlier[..known], &base, &other);
        (base, other, options)
    })
}

#[test]
fn printed_interval_and_verdict_agree() {
    for (base, other, options) in comparisons(mixed) {
        let found = compare(&base, &other, &options);
        for row in &found.rows {
            near(row.ratio, row.base.unwrap() / row.other.unwrap());
            near(row.base, base.get(&row.id).unwrap().value().unwrap());
            near(row.other, other.get(&row.id).unwrap().value().unwrap());
            let [low, high] = row.interval.unwrap();
            assert!(low < row.ratio.unwrap() && row.ratio.unwrap() < high);
            let word = match () {
                () if low >= 1.0 / 1.02 && high <= 1.02 => Verdict::Same,
                () if low > 1.0 => Verdict::Faster,
                () if high < 1.0 => Verdict::Slower,
                () => Verdict::Inconclusive,
            };
            assert_eq!(row.verdict, Some(word), "{row:?}");
        }
        let row = |i: usize| found.rows.iter().find(|row| row.id == id(&name(i))).unwrap();
        assert_eq!(row(7).verdict, Some(Verdict::Faster));
        assert_eq!(row(11).verdict, Some(Verdict::Slower));
    }
}

#[test]
fn exchanged_sides_are_mirror_images() {
    for (base, other, options) in comparisons(mixed) {
        let there = compare(&base, &other, &options);
        let back = compare(&other, &base, &options);
        for row in &there.rows {
            let mirror = back.rows.iter().find(|candidate| candidate.id == row.id).unwrap();
            near(mirror.ratio, 1.0 / row.ratio.unwrap());
            let [low, high] = row.interval.unwrap();
            near(mirror.interval.map(|ends| ends[0]), 1.0 / high);
            near(mirror.interval.map(|ends| ends[1]), 1.0 / low);
            near(mirror.p_adjusted, row.p_adjusted.unwrap());
            let word = match row.verdict.unwrap() {
                Verdict::Faster => Verdict::Slower,
                Verdict::Slower => Verdict::Faster,
                same => same,
            };
            assert_eq!(mirror.verdict, Some(word), "{}", row.id);
        }
    }
}

#[test]
fn selection_changes_no_verdict() {
    for (base, other, options) in comparisons(mixed) {
        let all = compare(&base, &other, &options);
        for shown in [vec![3], vec![0, 7, 12], (0..BENCHMARKS).collect()] {
            let shown = shown.into_iter().map(|i| id(&name(i)));
            let selected = options.clone().showing(shown.clone().collect());
            let found = compare(&base, &other, &selected);
            assert_eq!(found.rows.len(), shown.count());
            assert!(found.rows.iter().all(|row| all.rows.contains(row)));
        }
    }
}

#[test]
fn new_programs_change_no_verdict() {
    let earlier = unchanged(9);
    let (base, other) = (run_at(10, |_| 1.0), run_at(11, mixed));
    let mut rebuilt = other.clone();
    for result in &mut rebuilt.results {
        result.program.as_mut().unwrap().hash = "beef".to_owned();
    }
    let judged = |run: &RunView| (verdicts(&earlier, &base, run), outcomes(&earlier, run));
    assert_eq!(judged(&rebuilt), judged(&other));
}

#[test]
fn common_change_is_reported_once() {
    for alone in [None, Some(4)] {
        let factor = |i: usize| if Some(i) == alone { 1.0 } else { 1.05 };
        for (base, other, options) in comparisons(factor) {
            let found = compare(&base, &other, &options);
            let common = found.common.unwrap();
            assert_eq!(common.rows, BENCHMARKS);
            assert!((common.ratio * 1.05 - 1.0).abs() < 0.005, "{common:?}");
            let faster = |row: &CompareRow| row.verdict == Some(Verdict::Faster);
            assert!(!found.rows.iter().any(faster));
        }
    }
    for (base, other, options) in comparisons(mixed) {
        assert_eq!(compare(&base, &other, &options).common, None);
    }
}

#[test]
fn frequent_changes_reverse_no_verdict() {
    // most are slower, and the others have not changed
    let factor = |i: usize| if i < 12 { 1.05 } else { 1.0 };
    let slower: Vec<Id> = (0..12).map(|i| id(&name(i))).collect();
    for (base, other, options) in comparisons(factor) {
        let found = compare(&base, &other, &options);
        assert_eq!(found.common, None);
        for row in &found.rows {
            let is_slower = row.verdict == Some(Verdict::Slower);
            assert_eq!(is_slower, slower.contains(&row.id), "{row:?}");
            assert_ne!(row.verdict, Some(Verdict::Faster), "{row:?}");
        }
    }
}

#[test]
fn bad_launches_change_no_verdict() {
    let earlier = unchanged(11);
    let base = &earlier[10];
    let judged = |run: &RunView| (verdicts(&earlier, base, run), outcomes(&earlier, run));
    for factor in [|_| 1.0, mixed] {
        assert_eq!(judged(&with_bad_launch(12, factor)), judged(&run_at(12, factor)));
    }
}

#[test]
fn outliers_change_no_verdict() {
    // one in ten took a third longer throughout, or only in the benchmarks that change
    let runs = |is_slow: fn(usize) -> bool| -> Vec<RunView> {
        let times = |run: usize, i: usize| if run % 10 == 4 && is_slow(i) { 1.33 } else { 1.0 };
        (0..24).map(|run| run_at(run, |i| times(run, i))).collect()
    };
    let (calm, slow) = (unchanged(24), runs(|_| true));
    let partly = runs(|i| [3, 7, 11, 12].contains(&i));
    let (base, other) = (run_at(24, |_| 1.0), run_at(25, mixed));
    let compared = [&calm, &slow, &partly].map(|runs| verdicts(runs, &base, &other));
    assert_eq!(compared[0], compared[1]);
    assert_eq!(compared[0], compared[2]);
    for run in [&base, &other] {
        assert_eq!(outcomes(&calm, run), outcomes(&slow, run));
    }
    let systems = series::Systems::fit(summaries(&slow), &[]);
    let history = series::history(&id("a/0"), &slow, &systems).unwrap();
    assert_eq!(history.series[0].changes, []);
}

#[test]
fn order_of_arrival_changes_nothing() {
    let mut runs = unchanged(9);
    runs.extend((9..15).map(|run| run_at(run, mixed)));
    let (base, other) = (run_at(15, |_| 1.0), run_at(16, mixed));
    let all = summaries(&runs);
    let mut mixed_up = all.clone();
    mixed_up.rotate_left(4);
    mixed_up.swap(0, 9);
    let backwards: Vec<RunSummary> = all.iter().rev().cloned().collect();
    let none = check::Accepted::default();
    for past in [mixed_up, backwards] {
        assert_eq!(
            run_effect::estimate(&past, &base, &other),
            run_effect::estimate(&all, &base, &other)
        );
        assert_eq!(
            check::against_history(&other, &past, 0.02, &none),
            check::against_history(&other, &all, 0.02, &none)
        );
        let history = |past: &[RunSummary]| {
            series::history(&id("a/11"), &runs, &series::Systems::fit(past.to_vec(), &[])).unwrap()
        };
        assert_eq!(history(&past), history(&all));
        assert_eq!(history(&past).series[0].changes.len(), 1);
    }
}
