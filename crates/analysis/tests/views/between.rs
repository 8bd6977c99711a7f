//! What earlier runs tell of the scatter between runs, and which of them tell it.

use crate::made_up::*;
use gritstone_analysis::between::{self, BetweenRun, DEFAULT, Past};
use gritstone_analysis::compare::{Options, compare};
use gritstone_model::*;
use gritstone_stats::scatter::Scatter;
use std::collections::BTreeMap;

fn past(run: &RunData) -> Past {
    Past::of(&view(run))
}

/// The run of one day in January with one row that took `ns` nanoseconds; 4 GHz.
fn day(day: u32, ns: f64) -> RunData {
    let mut data = run(vec![paced("a/b")], scattered("a/b", ns));
    data.info.id = format!("run-{day}");
    data.info.started = format!("2026-01-{day:02}T00:00:00Z");
    data
}

fn paced(name: &str) -> Benchmark {
    Benchmark {
        processor_bound: true,
        ..plain(name)
    }
}

/// Runs of the days from the first on.
fn days(ns: &[f64]) -> Vec<RunData> {
    (1..).zip(ns).map(|(at, ns)| day(at, *ns)).collect()
}

const FIVE: [f64; 5] = [100.0, 103.0, 98.0, 101.0, 97.0];

/// What the runs tell of a comparison of the 20th with the 21st of January.
fn told(earlier: &[RunData], change: impl Fn(&mut RunData)) -> BTreeMap<Id, BetweenRun> {
    let past: Vec<Past> = earlier.iter().map(past).collect();
    let [base, other] = [20, 21].map(|at| {
        let mut data = day(at, 100.0);
        change(&mut data);
        view(&data)
    });
    between::learn(&past, &base, &other)
}

fn runs(told: &BTreeMap<Id, BetweenRun>) -> Option<usize> {
    told.get(&id("a/b")).map(|between| between.raw.runs)
}

/// Launches are in whole nanoseconds, so the last digits differ.
fn same(found: Scatter, want: Scatter) {
    near(Some(found.ln_sd), want.ln_sd);
    near(Some(found.freedom), want.freedom);
    assert_eq!(found.runs, want.runs);
}

#[test]
fn five_runs_of_the_machine_tell() {
    let told = told(&days(&FIVE), |_| ());
    let found = told[&id("a/b")];
    same(found.raw, Scatter::learned(&FIVE, 0.025).unwrap());
    // at 4 GHz throughout, cycles scatter as much as nanoseconds
    let cycles = FIVE.map(|ns| 4.0 * ns);
    same(found.paced, Scatter::learned(&cycles, 0.01).unwrap());
}

#[test]
fn four_runs_are_too_few() {
    assert!(told(&days(&FIVE[..4]), |_| ()).is_empty());
}

#[test]
fn only_the_newest_twenty_count() {
    let mut earlier = days(&[100.0; 19]);
    // two of the year before, of which the older is left out
    for (ns, start) in [
        (500.0, "2025-01-01T00:00:00Z"),
        (100.0, "2025-02-01T00:00:00Z"),
    ] {
        let mut old = day(1, ns);
        old.info.id = format!("run-{start}");
        old.info.started = start.to_owned();
        earlier.push(old);
    }
    let told = told(&earlier, |_| ());
    let found = told[&id("a/b")];
    assert_eq!(found.raw, Scatter::learned(&[100.0; 20], 0.025).unwrap());
}

#[test]
fn runs_that_are_not_like_this_one_tell_nothing() {
    type Change = fn(&mut RunData);
    let changes: [(&str, Change); 7] = [
        ("steadying", |run| {
            run.info.settings.steady = vec!["governor".to_owned()]
        }),
        ("machine", |run| run.info.machine.id = "4567".to_owned()),
        ("kernel", |run| {
            let facts = &mut run.info.machine.facts;
            facts.insert("kernel.release".to_owned(), "6.2".to_owned());
        }),
        ("directory", |run| run.info.settings.dir = "/mnt".to_owned()),
        ("parameters", |run| {
            let params = &mut run.info.settings.params;
            params.insert("tty".to_owned(), "/dev/ttyS0".to_owned());
        }),
        ("version", |run| run.benchmarks[0].version = 2),
        ("program", |run| {
            let program = run.programs.get_mut(&id("a/b")).unwrap();
            program.hash = "ff00".to_owned();
        }),
    ];
    for (what, change) in changes {
        assert_eq!(runs(&told(&days(&FIVE), change)), None, "{what}");
        let mut earlier = days(&FIVE);
        earlier.iter_mut().for_each(change);
        assert_eq!(runs(&told(&earlier, |_| ())), None, "{what}");
        assert_eq!(runs(&told(&earlier, change)), Some(5), "{what}");
        // the fifth is of another kind
        let mut earlier = days(&FIVE);
        change(&mut earlier[4]);
        assert_eq!(runs(&told(&earlier, |_| ())), None, "{what}");
    }
}

#[test]
fn the_two_runs_themselves_and_later_ones_tell_nothing() {
    let mut earlier = days(&FIVE[..4]);
    earlier.extend([20, 21, 22].map(|at| day(at, 300.0)));
    assert_eq!(runs(&told(&earlier, |_| ())), None);
    // one that began between the two is an earlier one for the later of them
    let mut between = day(20, 100.0);
    between.info.id = "run-20-b".to_owned();
    earlier.push(between);
    assert_eq!(runs(&told(&earlier, |_| ())), Some(5));
}

#[test]
fn disturbed_figures_and_too_few_launches_do_not_count() {
    let disturb = |run: &mut RunData| {
        for launch in &mut run.launches {
            launch.conditions.others = Some(900_000_000);
        }
    };
    let cut = |run: &mut RunData| run.launches.truncate(5);
    for change in [disturb, cut] {
        let mut earlier = days(&FIVE);
        change(&mut earlier[2]);
        assert_eq!(runs(&told(&earlier, |_| ())), None);
    }
}

#[test]
fn each_side_of_an_upgrade_is_told_by_its_own_runs() {
    let past: Vec<Past> = days(&FIVE).iter().map(past).collect();
    let base = view(&day(20, 100.0));
    let mut upgraded = day(21, 100.0);
    let facts = &mut upgraded.info.machine.facts;
    facts.insert("kernel.release".to_owned(), "6.2".to_owned());
    let found = between::learn(&past, &base, &view(&upgraded))[&id("a/b")];
    let own = Scatter::learned(&FIVE, 0.025).unwrap().ln_sd;
    let default = DEFAULT.raw.ln_sd;
    let want = ((own * own + default * default) / 2.0).sqrt();
    near(Some(found.raw.ln_sd), want);
    assert_eq!(found.raw.runs, 0);
}

#[test]
fn a_comparison_says_what_it_was_made_with() {
    let (base, other) = (view(&day(20, 100.0)), view(&day(21, 102.5)));
    let with = |earlier: &[RunData]| {
        let past: Vec<Past> = earlier.iter().map(past).collect();
        let options = Options {
            between_run: between::learn(&past, &base, &other),
            ..Options::default()
        };
        let mut found = compare(&base, &other, &options);
        let source = found.between_run.unwrap();
        (source.runs, found.rows.remove(0).verdict.unwrap())
    };
    assert_eq!(with(&[]), (None, Verdict::Inconclusive));
    // ten runs that agree to the last bit still have a part of the default in them
    let found = with(&days(&[100.0; 10]));
    assert_eq!(found, (Some([10, 10]), Verdict::Slower));
    let found = with(&days(&FIVE));
    assert_eq!(found, (Some([5, 5]), Verdict::Inconclusive));
}

#[test]
fn rows_that_were_learned_from_different_runs() {
    let two = |day: u32, rows: &[&str]| {
        let benchmarks = rows.iter().map(|name| paced(name)).collect();
        let launches = rows
            .iter()
            .flat_map(|name| scattered(name, 100.0))
            .collect();
        let mut data = run(benchmarks, launches);
        data.info.id = format!("run-{day}");
        data.info.started = format!("2026-01-{day:02}T00:00:00Z");
        data
    };
    let all = ["a/b", "a/c", "a/d"];
    let mut earlier: Vec<RunData> = (1..=4).map(|day| two(day, &all)).collect();
    earlier.extend((5..=7).map(|day| two(day, &all[..2])));
    earlier.push(two(8, &all[..1]));
    let past: Vec<Past> = earlier.iter().map(past).collect();
    let (base, other) = (view(&two(20, &all)), view(&two(21, &all)));
    let options = Options {
        between_run: between::learn(&past, &base, &other),
        ..Options::default()
    };
    let source = compare(&base, &other, &options).between_run.unwrap();
    assert_eq!(
        (source.runs, source.default, source.rows),
        (Some([7, 8]), 1, 3)
    );
    // nothing was compared, so nothing was taken for it
    assert_eq!(
        compare(&base, &view(&run(vec![], vec![])), &options).between_run,
        None
    );
}
