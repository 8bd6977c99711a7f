//! Variance between runs, and the runs that count for it.

use crate::compare::{Options, compare};
use crate::run_variance::{self, DEFAULT, Past, RunVariances};
use crate::tests::made_up_runs::*;
use gritstone_model::*;

fn past(run: &RunData) -> Past {
    Past::new(&view(run))
}

/// A run of a day in January with one benchmark of `ns`, at 4 GHz.
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

/// Variances for a comparison of the 20th with the 21st of January.
fn learned(earlier: &[RunData], change: impl Fn(&mut RunData)) -> RunVariances {
    let past: Vec<Past> = earlier.iter().map(past).collect();
    let [base, other] = [20, 21].map(|at| {
        let mut data = day(at, 100.0);
        change(&mut data);
        view(&data)
    });
    run_variance::estimate(&past, &base, &other)
}

fn runs(learned: &RunVariances) -> Option<usize> {
    learned.rows.get(&id("a/b")).map(|between| between.raw.runs)
}

/// Variance of the logarithms of these.
fn variance(values: &[f64]) -> f64 {
    let logs: Vec<f64> = values.iter().map(|x| x.ln()).collect();
    gritstone_stats::descriptive::deviation(&logs).powi(2)
}

#[test]
fn few_benchmarks_have_their_own_variance() {
    let learned = learned(&days(&FIVE), |_| ());
    let found = learned.rows[&id("a/b")];
    assert!(learned.shifts.is_empty());
    let within = past(&day(1, 100.0)).values[&id("a/b")].raw_within;
    near(Some(found.raw.within), within);
    near(Some(found.raw.ln_sd), variance(&FIVE).sqrt());
    assert_eq!((found.raw.freedom, found.raw.runs), (4.0, 5));
    // at 4 GHz throughout, cycles scatter as much as nanoseconds
    near(Some(found.paced.ln_sd), found.raw.ln_sd);
}

#[test]
fn run_variance_needs_five_runs() {
    let of_runs = |earlier: &[f64]| {
        let past: Vec<Past> = days(earlier).iter().map(past).collect();
        let mut view = view(&day(20, 100.0));
        run_variance::add_to(&past, &mut view);
        view.results[0].of_runs.unwrap()
    };
    let found = of_runs(&FIVE);
    // t of four degrees of freedom; cycles scatter as much as times here, and are compared
    let half = (2.776_445 * variance(&FIVE).sqrt()).exp_m1();
    assert!((found.half_width.unwrap() - half).abs() < 1e-6, "{found:?}");
    assert_eq!((found.runs, found.compared), (5, Subject::Cycles));
    let found = of_runs(&FIVE[..4]);
    assert_eq!((found.runs, found.half_width), (4, None));
    assert_eq!(of_runs(&[]).compared, Subject::Cycles);
    // work that waits for memory takes its time at any frequency
    let mut earlier = days(&[100.0, 100.5, 100.0, 99.5, 100.0]);
    for (data, pace) in earlier.iter_mut().zip(FIVE) {
        for launch in &mut data.launches {
            samples(launch, |sample| at_pace(sample, (2500.0 * pace) as u64));
        }
    }
    let past: Vec<Past> = earlier.iter().map(past).collect();
    let mut view = view(&day(20, 100.0));
    run_variance::add_to(&past, &mut view);
    let compared = view.results[0].of_runs.unwrap().compared;
    assert_eq!(compared, Subject::Estimate);
}

#[test]
fn two_runs_are_too_few() {
    assert!(learned(&days(&FIVE[..2]), |_| ()).rows.is_empty());
    assert_eq!(runs(&learned(&days(&FIVE[..3]), |_| ())), Some(3));
}

#[test]
fn only_the_newest_twenty_count() {
    let found = learned(&days(&[100.0; 19]), |_| ());
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
    let with = learned(&earlier, |_| ());
    assert_eq!((runs(&found), runs(&with)), (Some(19), Some(20)));
    assert!(with.rows[&id("a/b")].raw.ln_sd <= found.rows[&id("a/b")].raw.ln_sd);
}

#[test]
fn unlike_runs_do_not_count() {
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
        assert_eq!(runs(&learned(&days(&FIVE), change)), None, "{what}");
        let mut earlier = days(&FIVE);
        earlier.iter_mut().for_each(change);
        assert_eq!(runs(&learned(&earlier, |_| ())), None, "{what}");
        assert_eq!(runs(&learned(&earlier, change)), Some(5), "{what}");
        // the fifth is of another kind
        let mut earlier = days(&FIVE);
        change(&mut earlier[4]);
        assert_eq!(runs(&learned(&earlier, |_| ())), Some(4), "{what}");
    }
}

#[test]
fn compared_and_later_runs_do_not_count() {
    let mut earlier = days(&FIVE[..4]);
    earlier.extend([20, 21, 22].map(|at| day(at, 300.0)));
    assert_eq!(runs(&learned(&earlier, |_| ())), Some(4));
    // one that began between the two is an earlier one for the later of them
    let mut between = day(20, 100.0);
    between.info.id = "run-20-b".to_owned();
    earlier.push(between);
    assert_eq!(runs(&learned(&earlier, |_| ())), Some(5));
}

#[test]
fn disturbed_results_do_not_count() {
    let disturb = |run: &mut RunData| {
        for launch in &mut run.launches {
            launch.conditions.others = Some(900_000_000);
        }
    };
    let cut = |run: &mut RunData| run.launches.truncate(5);
    for change in [disturb, cut] {
        let mut earlier = days(&FIVE);
        change(&mut earlier[2]);
        assert_eq!(runs(&learned(&earlier, |_| ())), Some(4));
    }
}

#[test]
fn each_side_has_own_variance() {
    let past: Vec<Past> = days(&FIVE).iter().map(past).collect();
    let base = view(&day(20, 100.0));
    let mut upgraded = day(21, 100.0);
    let facts = &mut upgraded.info.machine.facts;
    facts.insert("kernel.release".to_owned(), "6.2".to_owned());
    let found = run_variance::estimate(&past, &base, &view(&upgraded)).rows[&id("a/b")];
    let learned = run_variance::estimate(&past, &base, &view(&day(21, 100.0))).rows[&id("a/b")];
    let want = ((learned.raw.ln_sd.powi(2) + DEFAULT.raw.ln_sd.powi(2)) / 2.0).sqrt();
    near(Some(found.raw.ln_sd), want);
    assert_eq!(found.raw.runs, 0);
}

#[test]
fn comparison_reports_variance_source() {
    let (base, other) = (view(&day(20, 100.0)), view(&day(21, 102.5)));
    let with = |earlier: &[RunData]| {
        let past: Vec<Past> = earlier.iter().map(past).collect();
        let options = Options {
            between_run: run_variance::estimate(&past, &base, &other),
            ..Options::default()
        };
        let mut found = compare(&base, &other, &options);
        let source = found.between_run.unwrap();
        (source.runs, found.rows.remove(0).verdict.unwrap())
    };
    assert_eq!(with(&[]), (None, Verdict::Inconclusive));
    let found = with(&days(&[100.0; 10]));
    assert_eq!(found, (Some([10, 10]), Verdict::Slower));
    let found = with(&days(&FIVE));
    assert_eq!(found, (Some([5, 5]), Verdict::Inconclusive));
}

#[test]
fn variance_uses_runs_of_each_benchmark() {
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
    let mut earlier: Vec<RunData> = (1..=2).map(|day| two(day, &all)).collect();
    earlier.extend((3..=7).map(|day| two(day, &all[..2])));
    earlier.push(two(8, &all[..1]));
    let past: Vec<Past> = earlier.iter().map(past).collect();
    let (base, other) = (view(&two(20, &all)), view(&two(21, &all)));
    let options = Options {
        between_run: run_variance::estimate(&past, &base, &other),
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

/// The run of a day with ten benchmarks that took `ns` nanoseconds each times a factor of its own.
fn ten(day: u32, ns: f64, of: impl Fn(usize) -> f64) -> RunData {
    let names: Vec<String> = (0..10).map(|i| format!("a/{i}")).collect();
    let benchmarks = names.iter().map(|name| paced(name)).collect();
    let launches = names.iter().enumerate();
    let launches = launches.flat_map(|(i, name)| scattered(name, ns * of(i)));
    let mut data = run(benchmarks, launches.collect());
    data.info.id = format!("run-{day}");
    data.info.started = format!("2026-01-{day:02}T00:00:00Z");
    data
}

#[test]
fn common_shift_is_reported() {
    let wobble = |day: u32| move |i: usize| 1.0 + 0.001 * f64::from((day + i as u32) % 3);
    let earlier: Vec<Past> = [1000.0, 1020.0, 990.0, 1010.0, 985.0, 1000.0]
        .iter()
        .zip(1..)
        .map(|(ns, day)| past(&ten(day, *ns, wobble(day))))
        .collect();
    let compared = |ns: f64, lone: f64| {
        let base = view(&ten(20, 1000.0, wobble(20)));
        let other = view(&ten(21, ns, |i| {
            wobble(21)(i) * if i == 3 { lone } else { 1.0 }
        }));
        let options = Options {
            between_run: run_variance::estimate(&earlier, &base, &other),
            cycles: false,
            ..Options::default()
        };
        compare(&base, &other, &options)
    };
    let verdicts = |view: &CompareView, verdict: Verdict| {
        let of = |row: &&CompareRow| row.verdict == Some(verdict);
        view.rows.iter().filter(of).count()
    };
    // runs differ by 1.3%: 2% of all alike is no change, and is taken out; a lone one of 5% is found beside it
    let view = compared(1020.0, 1.05);
    let [shift] = &view.shifts[..] else {
        panic!("{:?}", view.shifts);
    };
    assert!(!shift.different && shift.processor_bound && shift.compared == Subject::Estimate);
    assert!((shift.ratio * 1.02 - 1.0).abs() < 2e-3, "{shift:?}");
    assert_eq!(
        (
            verdicts(&view, Verdict::Slower),
            verdicts(&view, Verdict::Same)
        ),
        (1, 9)
    );
    // 20% of all alike is a change, and is each one's own
    let view = compared(1200.0, 1.0);
    assert!(view.shifts[0].different && view.shifts[0].p < 0.01);
    assert_eq!(verdicts(&view, Verdict::Slower), 10);
}
