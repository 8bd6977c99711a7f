//! Gates over ten benchmarks.

use crate::check;
use crate::compare::{Options, compare};
use crate::run_effect;
use crate::tests::made_up_runs::*;
use gritstone_model::*;
use rand::{RngExt as _, SeedableRng as _};

/// A run in which `slow` of ten benchmarks take `factor` times as long.
pub(super) fn slowed(number: usize, slow: usize, factor: f64) -> RunView {
    slowed_with(number, slow, factor, |index| effect(number, index))
}

/// Up to 0.4%, without order.
fn effect(number: usize, index: usize) -> f64 {
    0.001 * ((number * 7 + index * 3) % 5) as f64
}

/// The same, with an effect of the run on each benchmark.
fn slowed_with(number: usize, slow: usize, factor: f64, effect: impl Fn(usize) -> f64) -> RunView {
    dated_ten(number, |index| {
        let factor = if index < slow { factor } else { 1.0 };
        100.0 * factor * (1.0 + effect(index))
    })
}

fn against_one(run: &RunView) -> CheckView {
    let base = slowed(1, 0, 1.0);
    let effects = run_effect::estimate(&summaries(&[]), &base, run);
    let compared = compare(&base, run, &Options::new(0.02, effects).for_gate(0.01));
    check::check(&compared, [&base, run], 0.02, 0.01)
}

fn count(view: &CheckView, outcome: CheckOutcome) -> usize {
    let rows = view.rows.iter();
    rows.filter(|row| row.outcome == outcome).count()
}

#[test]
fn scores_are_not_tested() {
    let scored = |number: usize| {
        let mut run = slowed(number, 0, 1.0);
        run.results[0].kind = Kind::Score;
        run
    };
    let earlier: Vec<RunView> = (1..=5).map(scored).collect();
    assert_eq!(against(&scored(6), &earlier).rows.len(), 9);
    let view = compare(&earlier[0], &scored(6), &Options::default());
    assert_eq!(check::check(&view, [&earlier[0], &scored(6)], 0.02, 0.01).rows.len(), 9);
}

#[test]
fn slower_systems_do_not_pass() {
    for slow in [10, 9] {
        let found = against_one(&slowed(2, slow, 2.0));
        assert_eq!(found.outcome, CheckOutcome::Inconclusive);
        assert_eq!(count(&found, CheckOutcome::Inconclusive), slow);
        assert!(found.common.is_some_and(|common| common.ratio < 0.6));
    }
    let mut elsewhere = slowed(2, 10, 1.5);
    "elsewhere".clone_into(&mut elsewhere.machine.id);
    let found = against_one(&elsewhere);
    assert_eq!(found.outcome, CheckOutcome::Inconclusive);
    assert_eq!(count(&found, CheckOutcome::Inconclusive), 10);
    // one benchmark is slower by far more than the others
    let worse = |index| if index == 0 { 20.0 } else { 0.0 };
    let found = against_one(&slowed_with(2, 10, 1.03, worse));
    assert_eq!(count(&found, CheckOutcome::Regressed), 1);
    for factor in [1.0, 0.5] {
        let found = against_one(&slowed(2, 10, factor));
        assert_eq!((found.outcome, found.common), (CheckOutcome::Passed, None));
    }
}

#[test]
fn intervals_agree_with_outcomes() {
    let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(3);
    let mut regressed = 0;
    for number in 0..60 {
        let mut noisy = |number: usize, factor: f64| {
            let effects: [f64; 10] = std::array::from_fn(|_| random.random_range(-0.02..0.02));
            slowed_with(number, 3, factor, |index| effects[index])
        };
        let (before, slow) = (3 + number % 4, 1 + number % 3);
        let factor = |run: usize| if run > before { 1.09 } else { 1.0 };
        let runs: Vec<RunView> = (1..=before + slow).map(|run| noisy(run, factor(run))).collect();
        let (newest, earlier) = runs.split_last().unwrap();
        for row in against(newest, earlier).rows {
            let slower = row.row.ratio.unwrap() < 1.0 / 1.02 && row.row.interval.unwrap()[1] < 1.0;
            assert_eq!(row.outcome == CheckOutcome::Regressed, slower, "{number} {row:?}");
            regressed += usize::from(slower);
        }
    }
    assert!(regressed > 20, "{regressed}");
}

#[test]
fn selector_order_changes_nothing() {
    let selected = |number: usize, selectors: [&str; 2]| {
        let mut run = slowed(number, 0, 1.0);
        run.settings.as_mut().unwrap().selectors = selectors.map(str::to_owned).into();
        run
    };
    let earlier: Vec<RunView> = (1..=4).map(|number| selected(number, ["a/*", "b"])).collect();
    let mut run = selected(5, ["b", "a/*"]);
    run.results.pop();
    assert_eq!(against(&run, &earlier).missing.len(), 1);
}

#[test]
fn required_effects_stop_weak_gates() {
    let required = |mut view: CheckView, detect| {
        check::require_detectable(&mut view, detect);
        (view.outcome, count(&view, CheckOutcome::Inconclusive))
    };
    let earlier: Vec<RunView> = (1..=5).map(|number| slowed(number, 0, 1.0)).collect();
    let unchanged = against(&slowed(6, 0, 1.0), &earlier);
    assert_eq!(required(unchanged.clone(), 0.95), (CheckOutcome::Passed, 0));
    assert_eq!(required(unchanged, 0.021), (CheckOutcome::Inconclusive, 10));
    let slower = against(&slowed(6, 1, 1.5), &earlier);
    assert_eq!(required(slower, 0.021), (CheckOutcome::Regressed, 9));
    // those that are the same are decided
    assert_eq!(required(against_one(&slowed(2, 0, 1.0)), 0.021), (CheckOutcome::Passed, 0));
}

#[test]
fn undecided_slowdowns_are_undetectable() {
    let mut undecided = 0;
    for step in 0..60 {
        let mut found = against_one(&slowed(2, 1, 1.02 + 0.002 * f64::from(step)));
        let row = found.rows.iter().find(|row| row.row.id.as_str() == "a/b0").unwrap();
        if (row.outcome, row.row.verdict) == (CheckOutcome::Passed, Some(Verdict::Slower)) {
            let slowdown = 1.0 / row.row.ratio.unwrap() - 1.0;
            assert!(row.row.smallest.unwrap() > slowdown, "{row:?}");
            check::require_detectable(&mut found, slowdown);
            assert_eq!(found.outcome, CheckOutcome::Inconclusive, "{slowdown}");
            undecided += 1;
        }
    }
    assert!(undecided > 0);
}

#[test]
fn few_runs_show_common_slowdowns() {
    let earlier: Vec<RunView> = (1..=5).map(|number| slowed(number, 0, 1.0)).collect();
    for slow in [1, 5, 10] {
        let found = against(&slowed(6, slow, 1.1), &earlier);
        assert_eq!(count(&found, CheckOutcome::Regressed), slow);
        assert_eq!(count(&found, CheckOutcome::Passed), 10 - slow);
    }
}

#[test]
fn shared_slowdowns_keep_failing() {
    // runs scatter by 0.9%, too much to find a change of 3% in few runs of one
    let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(1);
    let mut noisy = |number: usize, slow: usize| {
        let effects: [f64; 10] = std::array::from_fn(|_| random.random_range(-0.015..0.015));
        slowed_with(number, slow, 1.03, |index| effects[index])
    };
    let mut runs: Vec<RunView> = (1..=5).map(|number| noisy(number, 0)).collect();
    for number in 6..=20 {
        runs.push(noisy(number, 10));
        let (newest, earlier) = runs.split_last().unwrap();
        let found = against(newest, earlier).outcome;
        assert!(number < 12 || found == CheckOutcome::Regressed, "{number}");
    }
}

#[test]
fn exact_slowdowns_stay_red() {
    for before in [3, 5, 8] {
        let ns = |number: usize| if number <= before { 1.0 } else { 1.3 };
        let exact = |number: usize| slowed_with(number, 1, ns(number), |_| 0.0);
        let runs: Vec<RunView> = (1..=before + 12).map(exact).collect();
        for newest in before..runs.len() {
            let found = against(&runs[newest], &runs[..newest]);
            assert_eq!(found.outcome, CheckOutcome::Regressed, "{before} {newest}");
        }
    }
}

/// The row of the first benchmark in the newest run, whose times in all runs are these.
fn newest_of(times: impl IntoIterator<Item = f64>) -> CheckRow {
    let runs = (1..).zip(times).map(|(number, times)| slowed(number, 1, times));
    let runs: Vec<RunView> = runs.collect();
    let (newest, earlier) = runs.split_last().unwrap();
    let id = &newest.results[0].id;
    let rows = against(newest, earlier).rows.into_iter();
    rows.into_iter().find(|row| row.row.id == *id).unwrap()
}

#[test]
fn fixes_pass_at_once() {
    for newer in 1..4 {
        let times = [(12, 1.0), (10, 1.1), (newer, 1.0)];
        let row = newest_of(times.iter().flat_map(|&(runs, x)| std::iter::repeat_n(x, runs)));
        assert_eq!(row.outcome, CheckOutcome::Passed, "{newer}");
        assert!((row.row.ratio.unwrap() - 1.0).abs() < 0.01, "{:?}", row.row.ratio);
    }
    let half = newest_of(std::iter::repeat_n(1.0, 12).chain([1.2; 10]).chain([1.1]));
    assert_eq!(half.outcome, CheckOutcome::Regressed);
    assert!((half.row.ratio.unwrap() * 1.1 - 1.0).abs() < 0.01, "{:?}", half.row.ratio);
}

#[test]
fn further_slowdowns_show_their_size() {
    let row = newest_of(std::iter::repeat_n(1.0, 12).chain([1.1; 8]).chain([1.6]));
    assert_eq!(row.outcome, CheckOutcome::Regressed);
    assert!((row.row.ratio.unwrap() * 1.6 - 1.0).abs() < 0.01, "{:?}", row.row.ratio);
}

#[test]
fn slow_runs_fail_young_levels() {
    // all benchmarks take 1% longer since the thirteenth run
    let usual = |number: usize| slowed(number, 10, if number > 12 { 1.01 } else { 1.0 });
    for young in 1..8 {
        let mut runs: Vec<RunView> = (1..=12 + young).map(usual).collect();
        for slow in 1..4 {
            let number = runs.len() + 1;
            let times = |index| if index == 0 { 200.0 } else { 101.0 };
            let run = dated_ten(number, |index| times(index) * (1.0 + effect(number, index)));
            let found = against(&run, &runs);
            assert_eq!(count(&found, CheckOutcome::Regressed), 1, "{young} {slow}");
            runs.push(run);
        }
    }
}

#[test]
fn few_fast_runs_change_nothing() {
    for fast in 1..5 {
        let times = std::iter::repeat_n(1.0, 12).chain(std::iter::repeat_n(0.9, fast));
        for usual in 1..4 {
            let row = newest_of(times.clone().chain(std::iter::repeat_n(1.0, usual)));
            assert_eq!(row.outcome, CheckOutcome::Passed, "{fast} {usual}");
        }
    }
}

#[test]
fn early_slow_runs_change_nothing() {
    let factor = |number: usize| if number == 5 { 1.3 } else { 1.0 };
    for slow in [1, 10] {
        let runs = (1..=19).map(|number| slowed(number, slow, factor(number)));
        let runs: Vec<RunView> = runs.collect();
        for newest in 5..runs.len() {
            let found = against(&runs[newest], &runs[..newest]);
            assert_eq!(found.outcome, CheckOutcome::Passed, "{slow} {newest}");
        }
    }
}

#[test]
fn other_versions_leave_the_series() {
    let mut runs: Vec<RunView> = (1..=8).map(|number| slowed(number, 1, 1.0)).collect();
    runs[6].results[0].version += 1;
    runs.push(slowed(9, 1, 1.1));
    let (newest, earlier) = runs.split_last().unwrap();
    assert_eq!(count(&against(newest, earlier), CheckOutcome::Regressed), 1);
}

#[test]
fn same_second_runs_have_order() {
    let mut runs: Vec<RunView> = (1..=8).map(|number| slowed(number, 1, 1.0)).collect();
    runs[6].started = runs[7].started.clone();
    for judged in [6, 7] {
        let newest = runs[judged].clone();
        let mut earlier = runs.clone();
        earlier.remove(judged);
        let found = against(&newest, &earlier);
        assert_eq!(count(&found, CheckOutcome::Passed), 10, "{judged}");
    }
}

#[test]
fn other_units_change_nothing() {
    let in_unit = |number: usize, unit: &str| {
        let launches = (0..10).flat_map(|index| scattered(&format!("a/b{index}"), 100.0));
        let mut run = dated_run(number, launches.collect());
        for benchmark in &mut run.benchmarks {
            benchmark.unit = Unit::parse(unit).unwrap();
        }
        view(&run)
    };
    let earlier: Vec<RunView> = (1..=8).map(|number| in_unit(number, "us")).collect();
    let found = against(&in_unit(9, "ns"), &earlier);
    assert_eq!(count(&found, CheckOutcome::Passed), 10);
    let [base, other] = [found.rows[0].row.base, found.rows[0].row.other].map(Option::unwrap);
    assert!((base / other - 1.0).abs() < 0.01 && base > 50.0, "{base} {other}");
}

#[test]
fn short_dips_keep_their_verdict() {
    let ns = |number: usize| if (10..13).contains(&number) { 0.9 } else { 1.0 };
    let runs: Vec<RunView> = (1..=31).map(|number| slowed(number, 1, ns(number))).collect();
    let verdict = |newest: usize| {
        let found = against(&runs[newest], &runs[..newest]);
        (found.outcome, found.rows[0].since.clone())
    };
    for newest in 16..31 {
        assert_eq!(verdict(newest), (CheckOutcome::Passed, None), "{newest}");
    }
}

#[test]
fn second_modes_pass() {
    // the first benchmark takes 6% longer in three runs of ten, and 30% longer in the newest
    let slow = |number: usize| [2, 5, 9, 12, 15, 18, 22, 25].contains(&number);
    let ns = |number: usize| if slow(number) { 1.06 } else { 1.0 };
    let runs: Vec<RunView> = (1..=28).map(|number| slowed(number, 1, ns(number))).collect();
    for newest in [17, 21, 24] {
        let found = against(&runs[newest], &runs[..newest]);
        assert_eq!(found.outcome, CheckOutcome::Passed, "{newest}");
    }
    let found = against(&slowed(29, 1, 1.3), &runs);
    assert_eq!(count(&found, CheckOutcome::Regressed), 1);
}

#[test]
fn intervals_below_zero_decide_nothing() {
    let reaching_zero = |number: usize, factor: f64| {
        let mut view = slowed(number, 1, factor);
        let Data::Measured(measured) = &mut view.results[0].data else { panic!("it is measured") };
        let estimate = measured.sampled.estimate.as_mut().unwrap();
        estimate.interval = Some([-1.0, 3.0 * estimate.value]);
        view
    };
    let (base, run) = (reaching_zero(1, 1.0), reaching_zero(2, 2.0));
    let effects = run_effect::estimate(&summaries(&[]), &base, &run);
    let compared = compare(&base, &run, &Options::new(0.02, effects));
    let row = compared.rows.iter().find(|row| row.id.as_str() == "a/b0");
    assert_eq!(row.unwrap().verdict, Some(Verdict::Inconclusive));
    let past = summaries(std::slice::from_ref(&run));
    assert!(past[0].values.keys().all(|id| id.as_str() != "a/b0"));
    let mut alone = run.clone();
    run_effect::add_to(&summaries(&[]), &mut alone);
    assert!(alone.results[0].of_runs.is_none() && alone.results[1].of_runs.is_some());
}
