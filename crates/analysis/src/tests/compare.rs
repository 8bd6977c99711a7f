//! Ratios, intervals and verdicts between made-up runs.

use crate::compare::{Options, compare};
use crate::run_effect::DEFAULT_RUN_VARIANCE;
use crate::run_summary::launch_variance;
use crate::tests::made_up_runs::*;
use gritstone_model::Flag::*;
use gritstone_model::*;
use gritstone_stats::quantile;

pub fn options() -> Options {
    Options::default()
}

/// Without effects of runs.
fn exact() -> Options {
    Options::new(0.02, no_effects(["a/b"]))
}

pub fn one(benchmark: Benchmark, launches: Vec<Launch>) -> RunView {
    view(&run(vec![benchmark], launches))
}

fn timed(ns: f64) -> RunView {
    one(plain("a/b"), scattered("a/b", ns))
}

pub fn first(base: &RunView, other: &RunView, options: &Options) -> CompareRow {
    compare(base, other, options).rows.remove(0)
}

pub fn whys(row: &CompareRow) -> Vec<(Option<Flag>, &str)> {
    let notes = row.notes.iter();
    notes.map(|note| (note.flag(), short(note))).collect()
}

#[test]
fn half_time_is_twice_fast() {
    let (base, other) = (timed(100.0), timed(50.0));
    let row = first(&base, &other, &options());
    near(row.ratio, 2.0);
    assert_eq!(row.verdict, Some(Verdict::Faster));
    assert_eq!((row.compared, row.unit.as_str()), (Subject::Estimate, "ns/call"));
    near(row.base, 100.0);
    near(row.other, 50.0);
    // t of four degrees of freedom times the root of the sum of both runs' variances
    let variance = |view: &RunView| {
        DEFAULT_RUN_VARIANCE.ln_sd.powi(2) + launch_variance(view.results[0].interval())
    };
    let sd = (variance(&base) + variance(&other)).sqrt();
    let half = quantile::student(0.95, 4.0) * sd;
    let [low, high] = row.interval.unwrap();
    near(Some(low), 2.0 / half.exp());
    near(Some(high), 2.0 * half.exp());
    near(row.p, quantile::student_tails(2.0_f64.ln() / sd, 4.0));
    assert_eq!(row.p_adjusted, row.p);
    assert_eq!(row.notes, []);

    let back = first(&other, &base, &options());
    near(back.ratio, 0.5);
    assert_eq!(back.verdict, Some(Verdict::Slower));
}

#[test]
fn systems_differ_beyond_chance() {
    let names: Vec<String> = (0..10).map(|n| format!("a/b{n}")).collect();
    let machine_run = |machine: &str, factors: [f64; 2]| {
        let times = factors.map(|factor| 100.0 * factor).into_iter().cycle();
        let mut view = plain_run(names.iter().zip(times));
        view.machine.id = machine.to_owned();
        view
    };
    let base = machine_run("a", [1.0, 1.0]);
    let verdicts = |other: &RunView| {
        let view = compare(&base, other, &options());
        let called = view
            .rows
            .iter()
            .filter(|row| matches!(row.verdict, Some(Verdict::Faster | Verdict::Slower)));
        (called.count(), view.between_run.unwrap().assumed)
    };
    assert_eq!(verdicts(&machine_run("b", [2.0, 0.5])), (10, true));
    // within a system it is the scatter of its runs
    assert_eq!(verdicts(&machine_run("a", [2.0, 0.5])), (0, false));
    assert_eq!(verdicts(&machine_run("b", [1.0, 1.0])), (0, false));
}

#[test]
fn double_rate_is_twice_fast() {
    let mut benchmark = plain("a/b");
    benchmark.unit = unit("MB/s");
    benchmark.better = Better::Higher;
    let rate = |ns| one(benchmark.clone(), scattered("a/b", ns));
    let row = first(&rate(100.0), &rate(50.0), &options());
    near(row.ratio, 2.0);
    assert_eq!(row.verdict, Some(Verdict::Faster));

    // another scale of the same kind
    let mut kilo = benchmark.clone();
    kilo.unit = unit("KB/s");
    let kilo = one(kilo, scattered("a/b", 50.0));
    let row = first(&rate(100.0), &kilo, &options());
    near(row.ratio, 2.0);
    near(row.other, row.base.unwrap() * 2.0);
    assert_eq!(row.unit, "MB/s");
}

#[test]
fn small_difference_is_inconclusive() {
    let row = first(&timed(100.0), &timed(100.0), &exact());
    near(row.ratio, 1.0);
    assert_eq!(row.verdict, Some(Verdict::Same));
    // with the effects that runs are stated to have, half a percent, nothing that narrow is sure
    let row = first(&timed(100.0), &timed(100.0), &options());
    assert_eq!(row.verdict, Some(Verdict::Inconclusive));
    // 2% is seen without the effects of runs, and not with them
    assert_eq!(first(&timed(102.0), &timed(100.0), &exact()).verdict, Some(Verdict::Faster));
    assert_eq!(
        first(&timed(102.0), &timed(100.0), &options()).verdict,
        Some(Verdict::Inconclusive)
    );
}

#[test]
fn options_set_the_margin() {
    let wide = Options::new(0.05, no_effects(["a/b"]));
    assert_eq!(first(&timed(103.0), &timed(100.0), &wide).verdict, Some(Verdict::Same));
    assert_eq!(compare(&timed(1.0), &timed(1.0), &wide).margin, 0.05);
}

/// A core of half the frequency, and twice the time.
fn slow(benchmark: &Benchmark) -> RunView {
    let mut launches = scattered("a/b", 200.0);
    for launch in &mut launches {
        samples(launch).for_each(|sample| set_cycle_probe(sample, 500_000));
    }
    one(benchmark.clone(), launches)
}

#[test]
fn times_compare_at_one_frequency() {
    let bound = Benchmark { processor_bound: true, ..plain("a/b") };
    let base = one(bound.clone(), scattered("a/b", 100.0));
    let row = first(&base, &slow(&bound), &exact());
    near(row.ratio, 1.0);
    near(row.base, 100.0);
    near(row.other, 100.0);
    assert_eq!(row.verdict, Some(Verdict::Same));
    // what waits for memory may take its time at any frequency
    let row = first(&timed(100.0), &slow(&plain("a/b")), &exact());
    near(row.ratio, 1.0);
    assert_eq!(row.verdict, Some(Verdict::Inconclusive));
    // without a cycle probe on one side, or on another machine, times are as they ran
    let mut unprobed = scattered("a/b", 200.0);
    for launch in &mut unprobed {
        samples(launch).for_each(|sample| sample.cycle_probe = 0);
    }
    let mut elsewhere = slow(&bound);
    elsewhere.machine.id = "another".to_owned();
    for other in [one(bound, unprobed), elsewhere] {
        let row = first(&base, &other, &options());
        near(row.ratio, 0.5);
        assert_eq!(row.verdict, Some(Verdict::Slower));
    }
}

#[test]
fn other_versions_have_no_ratio() {
    let mut newer = plain("a/b");
    newer.version = 2;
    let row = first(&timed(100.0), &one(newer, launches("a/b", 100.0)), &options());
    assert_eq!((row.ratio, row.interval, row.p), (None, None, None));
    assert_eq!(row.verdict, None);
    let why = "versions-differ base=1 other=2";
    assert_eq!(whys(&row), [(Some(NotComparable), why)]);

    let mut rate = plain("a/b");
    rate.unit = unit("calls/s");
    let row = first(&timed(100.0), &one(rate, launches("a/b", 100.0)), &options());
    assert_eq!((row.ratio, row.other), (None, None));
    let why = "units-differ base=ns/call other=calls/s";
    assert_eq!(whys(&row), [(Some(NotComparable), why)]);
}

#[test]
fn invalid_side_removes_the_ratio() {
    let mut starred = plain("a/b");
    starred.claims.min_ns_per_op = Some(1000.0);
    let star = one(starred, launches("a/b", 100.0));
    let why = "run-1: below-minimum ns=100 minimum=1000";
    for (base, other) in [(&timed(50.0), &star), (&star, &timed(50.0))] {
        let row = first(base, other, &options());
        assert_eq!((row.ratio, row.interval, row.p), (None, None, None));
        assert_eq!(row.verdict, None);
        assert_eq!(whys(&row), [(Some(Invalid), why)]);
        assert!(row.base.is_some() && row.other.is_some());
    }
}

#[test]
fn notes_name_their_side() {
    let mut remarked = plain("a/b");
    remarked.remark = Some("The listing is lost.".to_owned());
    let mut base = one(remarked.clone(), launches("a/b", 100.0));
    base.label = Some("before".to_owned());
    let mut other = run(vec![remarked], launches("a/b", 100.0));
    for launch in &mut other.launches {
        launch.conditions.steal = Some(100_000_000);
    }
    let row = first(&base, &view(&other), &options());
    assert_eq!(
        whys(&row),
        [
            (Some(Interference), "run-1: interfered count=10/10 causes=[steal=0.1]"),
            (None, "stated by=catalog flag=null text=The listing is lost."),
        ]
    );
    base.results[0].notes[0] = stated(None, "Another remark.");
    let row = first(&base, &view(&other), &options());
    assert_eq!(row.notes.len(), 3);
    assert_eq!(short(&row.notes[1]), "before: stated by=workload flag=null text=Another remark.");
    // notes on another quantity stay
    base.results[0].notes[0].about = Subject::Process;
    let row = first(&base, &view(&other), &options());
    assert_eq!(row.notes.len(), 2);
}

#[test]
fn one_sided_benchmarks_are_listed() {
    let base = view(&run(vec![plain("a/b"), plain("b/b")], launches("a/b", 1.0)));
    let other = view(&run(vec![plain("c/c"), plain("a/b")], launches("c/c", 3.0)));
    let found = compare(&base, &other, &options());
    let names: Vec<&str> = found.rows.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(names, ["a/b", "b/b", "c/c"]);
    let why = "no-counterpart lacking=run-1";
    assert!(whys(&found.rows[2]).contains(&(Some(NotComparable), why)));
    near(found.rows[2].other, 3.0);
    assert_eq!((found.rows[2].base, found.rows[2].ratio), (None, None));
    // absent on one side
    let row = &found.rows[0];
    assert_eq!((row.ratio, row.verdict), (None, None));
    assert!(whys(row).contains(&(Some(NotComparable), "no-estimate base=true other=false")));
    assert!(whys(row).iter().any(|(kind, _)| *kind == Some(Skipped)));
}

#[test]
fn nonpositive_estimate_has_no_ratio() {
    let rest = |long, short| {
        let rows = vec![
            plain("a/long"),
            plain("a/short"),
            derived("a/rest", &[(1.0, "a/long"), (-1.0, "a/short")]),
        ];
        let launches = [scattered("a/long", long), launches("a/short", short)].concat();
        view(&run(rows, launches))
    };
    let found = compare(&rest(100.0, 50.0), &rest(100.0, 100.4), &options());
    let row = &found.rows[2];
    assert_eq!((row.ratio, row.verdict), (None, None));
    let why = "not-positive";
    assert!(whys(row).contains(&(Some(NotComparable), why)));
    near(compare(&rest(100.0, 50.0), &rest(50.0, 25.0), &options()).rows[2].ratio, 2.0);
}

#[test]
fn sizes_are_compared_exactly() {
    let size = |bytes: f64| {
        let mut view = timed(100.0);
        let result = &mut view.results[0];
        result.unit = unit("bytes");
        let sampled = &mut result.measured_mut().sampled;
        (sampled.estimate, sampled.values) = (Some(Estimate::exact(bytes)), vec![bytes]);
        view
    };
    let row = first(&size(2000.0), &size(1000.0), &options());
    assert_eq!((row.ratio, row.interval, row.p), (Some(2.0), None, None));
    assert_eq!(row.verdict, Some(Verdict::Faster));
    assert_eq!(first(&size(10.0), &size(11.0), &options()).verdict, Some(Verdict::Slower));
    let same = first(&size(2000.0), &size(2000.0), &options());
    assert_eq!(same.verdict, Some(Verdict::Same));
    assert_eq!(same.notes, []);
}

#[test]
fn measured_sides_ignore_not_comparable() {
    let other_work = |text: &str| {
        let mut view = timed(100.0);
        let note = stated(Some(NotComparable), text);
        view.results[0].notes.push(note);
        view
    };
    let alike = first(&other_work("other work"), &other_work("other work"), &exact());
    assert_eq!((alike.in_doubt(), alike.notes), (false, vec![]));
    let apart = first(&other_work("other work"), &other_work("yet other work"), &exact());
    assert!(apart.in_doubt(), "{apart:?}");
    assert_eq!(apart.notes.len(), 2);
}

#[test]
fn scores_are_compared_without_interval() {
    let score = |value| {
        let mut view = timed(100.0);
        let result = &mut view.results[0];
        (result.kind, result.unit) = (Kind::Score, unit("ratio"));
        result.measured_mut().sampled.estimate = Some(Estimate::exact(value));
        result.better = Better::Higher;
        result.measured_mut().sampled.values.clear();
        view
    };
    let row = first(&score(2.0), &score(3.0), &options());
    assert_eq!((row.ratio, row.interval), (Some(1.5), None));
    assert_eq!(row.verdict, Some(Verdict::Inconclusive));
    let why = "no-launches";
    assert_eq!(whys(&row), [(None, why)]);
}

#[test]
fn interference_removes_the_verdict() {
    let disturbed = |ns: f64| {
        let mut launches = scattered("a/b", ns);
        for launch in &mut launches {
            launch.conditions.others = Some(launch.conditions.wall / 2);
        }
        one(plain("a/b"), launches)
    };
    let kinds = |row: &CompareRow| row.notes.iter().map(|n| n.flag()).collect::<Vec<_>>();
    for (base, other) in [(timed(100.0), disturbed(50.0)), (disturbed(100.0), timed(50.0))] {
        let row = first(&base, &other, &options());
        near(row.ratio, 2.0);
        assert!(row.interval.is_some());
        assert_eq!((row.verdict, row.p), (Some(Verdict::Inconclusive), None));
        assert_eq!(kinds(&row), [Some(Interference)]);
    }
}
