//! Ratios, intervals and verdicts between made-up runs.

use crate::compare::{Options, compare};
use crate::run_variance::{BetweenRun, DEFAULT};
use crate::tests::made_up_runs::*;
use gritstone_model::Flag::*;
use gritstone_model::*;
use gritstone_stats::two_sample;

pub fn options() -> Options {
    Options::default()
}

/// Without variance between runs.
fn exact() -> Options {
    let none = BetweenRun {
        paced: 0.0.into(),
        raw: 0.0.into(),
    };
    Options {
        between_run: (0..40)
            .map(|i| id(&format!("a/{i}")))
            .chain([id("a/b")])
            .map(|id| (id, none))
            .collect(),
        ..options()
    }
}

pub fn one(benchmark: Benchmark, launches: Vec<Launch>) -> RunView {
    view(&run(vec![benchmark], launches))
}

fn at(ns: f64) -> RunView {
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
fn half_the_time_is_twice_as_fast() {
    let (base, other) = (at(100.0), at(50.0));
    let row = first(&base, &other, &options());
    near(row.ratio, 2.0);
    assert_eq!(row.verdict, Some(Verdict::Faster));
    assert_eq!(
        (row.compared, row.unit.as_str()),
        (Subject::Estimate, "ns/call")
    );
    near(row.base, 100.0);
    near(row.other, 50.0);
    let extra = DEFAULT.raw.of_two_runs();
    let (b, o) = (base.results[0].values(), other.results[0].values());
    let want = two_sample::ratio(b, o, extra, 0.95).unwrap().inverse();
    assert_eq!((row.interval, row.p), (want.interval, want.p));
    assert_eq!(row.p_adjusted, row.p);
    assert_eq!(row.notes, []);

    let back = first(&other, &base, &options());
    near(back.ratio, 0.5);
    assert_eq!(back.verdict, Some(Verdict::Slower));
}

#[test]
fn twice_the_rate_is_twice_as_fast() {
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
    let row = first(&at(100.0), &at(100.0), &exact());
    near(row.ratio, 1.0);
    assert_eq!(row.verdict, Some(Verdict::Same));
    // with the machine's own scatter, 2% a run, nothing that narrow is sure
    let row = first(&at(100.0), &at(100.0), &options());
    assert_eq!(row.verdict, Some(Verdict::Inconclusive));
    // 3% is seen without the scatter of the machine, and not with it
    assert_eq!(
        first(&at(103.0), &at(100.0), &exact()).verdict,
        Some(Verdict::Faster)
    );
    assert_eq!(
        first(&at(103.0), &at(100.0), &options()).verdict,
        Some(Verdict::Inconclusive)
    );
}

#[test]
fn same_needs_two_one_sided_tests() {
    let (base, other) = (at(101.0), at(100.0));
    let values = |view: &RunView| view.results[0].values().to_vec();
    let inner = two_sample::ratio(&values(&other), &values(&base), 0.0, 0.9).unwrap();
    let [_, inner] = inner.interval.unwrap();
    let within = |end: f64| {
        let options = Options {
            margin: end - 1.0,
            ..exact()
        };
        first(&base, &other, &options)
    };
    let [_, whole] = within(1.5).interval.unwrap();
    assert!(inner < whole, "{inner} {whole}");
    let between = within(f64::midpoint(inner, whole));
    assert_eq!(between.verdict, Some(Verdict::Same));
    assert_ne!(within(inner - 1e-4).verdict, Some(Verdict::Same));
}

#[test]
fn margin_and_level_are_as_asked() {
    let wide = Options {
        margin: 0.05,
        ..exact()
    };
    assert_eq!(
        first(&at(103.0), &at(100.0), &wide).verdict,
        Some(Verdict::Same)
    );
    assert_eq!(compare(&at(1.0), &at(1.0), &wide).margin, 0.05);
    let strict = Options {
        alpha: 1e-9,
        ..exact()
    };
    assert_eq!(
        first(&at(103.0), &at(100.0), &strict).verdict,
        Some(Verdict::Inconclusive)
    );
}

#[test]
fn processor_bound_results_compare_in_cycles() {
    // the other ran at half the frequency and took twice as long
    let mut slow = scattered("a/b", 200.0);
    for launch in &mut slow {
        samples(launch, |sample| sample.pace *= 2);
    }
    let mut bound = plain("a/b");
    bound.processor_bound = true;
    let base = one(bound.clone(), scattered("a/b", 100.0));
    let other = one(bound.clone(), slow.clone());
    let row = first(&base, &other, &exact());
    assert_eq!(
        (row.compared, row.unit.as_str()),
        (Subject::Cycles, "cycles")
    );
    near(row.ratio, 1.0);
    near(row.base, 400.0);
    near(row.other, 400.0);
    assert_eq!(row.verdict, Some(Verdict::Same));
    // the paced deviation widens it
    let row = first(&base, &other, &options());
    let (b, o) = (
        base.results[0].paced_values(),
        other.results[0].paced_values(),
    );
    let extra = DEFAULT.paced.of_two_runs();
    assert_eq!(
        row.interval,
        two_sample::ratio(b, o, extra, 0.95)
            .unwrap()
            .inverse()
            .interval
    );

    // not bound by it, or not paced: the clock decides
    let clock = first(&at(100.0), &one(plain("a/b"), slow), &exact());
    assert_eq!(clock.compared, Subject::Estimate);
    near(clock.ratio, 0.5);
    let mut unpaced = scattered("a/b", 100.0);
    for launch in &mut unpaced {
        samples(launch, |sample| sample.pace = 0);
    }
    let row = first(&base, &one(bound, unpaced), &exact());
    assert_eq!(row.compared, Subject::Estimate);
}

#[test]
fn other_versions_and_other_units_have_no_ratio() {
    let mut newer = plain("a/b");
    newer.version = 2;
    let row = first(&at(100.0), &one(newer, launches("a/b", 100.0)), &options());
    assert_eq!((row.ratio, row.interval, row.p), (None, None, None));
    assert_eq!(row.verdict, None);
    let why = "versions-differ base=1 other=2";
    assert_eq!(whys(&row), [(Some(NotComparable), why)]);

    let mut rate = plain("a/b");
    rate.unit = unit("calls/s");
    let row = first(&at(100.0), &one(rate, launches("a/b", 100.0)), &options());
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
    for (base, other) in [(&at(50.0), &star), (&star, &at(50.0))] {
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
            (
                Some(Interference),
                "run-1: interfered count=10/10 causes=[steal=0.1]"
            ),
            (
                None,
                "stated by=catalog flag=null text=The listing is lost."
            ),
        ]
    );
    base.results[0].notes[0] = stated(None, "Another remark.");
    let row = first(&base, &view(&other), &options());
    assert_eq!(row.notes.len(), 3);
    assert_eq!(
        short(&row.notes[1]),
        "before: stated by=workload flag=null text=Another remark."
    );
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
    let found = compare(&rest(100.0, 50.0), &rest(100.0, 99.9), &options());
    let row = &found.rows[2];
    assert_eq!((row.ratio, row.verdict), (None, None));
    let why = "not-positive";
    assert!(whys(row).contains(&(Some(NotComparable), why)));
    near(
        compare(&rest(100.0, 50.0), &rest(50.0, 25.0), &options()).rows[2].ratio,
        2.0,
    );
}

#[test]
fn sizes_are_compared_exactly() {
    let size = |bytes: f64| {
        let mut view = at(100.0);
        let result = &mut view.results[0];
        result.unit = unit("bytes");
        let sampled = &mut result.measured_mut().sampled;
        (sampled.estimate, sampled.values) = (Some(Estimate::exact(bytes)), vec![bytes]);
        view
    };
    let row = first(&size(2000.0), &size(1000.0), &options());
    assert_eq!((row.ratio, row.interval, row.p), (Some(2.0), None, None));
    assert_eq!(row.verdict, Some(Verdict::Faster));
    assert_eq!(
        first(&size(10.0), &size(11.0), &options()).verdict,
        Some(Verdict::Slower)
    );
    let same = first(&size(2000.0), &size(2000.0), &options());
    assert_eq!(same.verdict, Some(Verdict::Same));
    assert_eq!(same.notes, []);
}

#[test]
fn measured_sides_ignore_not_comparable() {
    let other_work = |text: &str| {
        let mut view = at(100.0);
        let note = stated(Some(NotComparable), text);
        view.results[0].notes.push(note);
        view
    };
    let alike = first(
        &other_work("other work"),
        &other_work("other work"),
        &exact(),
    );
    assert_eq!((alike.in_doubt(), alike.notes), (false, vec![]));
    let apart = first(
        &other_work("other work"),
        &other_work("yet other work"),
        &exact(),
    );
    assert!(apart.in_doubt(), "{apart:?}");
    assert_eq!(apart.notes.len(), 2);
}

#[test]
fn scores_are_compared_without_interval() {
    let rating = |value| {
        let mut view = at(100.0);
        let result = &mut view.results[0];
        (result.kind, result.unit) = (Kind::Rating, unit("ratio"));
        result.measured_mut().sampled.estimate = Some(Estimate::exact(value));
        result.better = Better::Higher;
        result.measured_mut().sampled.values.clear();
        view
    };
    let row = first(&rating(2.0), &rating(3.0), &options());
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
    for (base, other) in [(at(100.0), disturbed(50.0)), (disturbed(100.0), at(50.0))] {
        let row = first(&base, &other, &options());
        near(row.ratio, 2.0);
        assert!(row.interval.is_some());
        assert_eq!((row.verdict, row.p), (Some(Verdict::Inconclusive), None));
        assert_eq!(kinds(&row), [Some(Interference)]);
    }
}

#[test]
fn other_machines_are_compared_by_time() {
    let paced = Benchmark {
        processor_bound: true,
        ..plain("a/b")
    };
    // as many cycles, at half the frequency
    let slow = |launches: Vec<Launch>| {
        let mut launches = launches;
        for event in launches.iter_mut().flat_map(|launch| &mut launch.events) {
            if let Event::Sample(sample) = event {
                sample.pace *= 2;
            }
        }
        launches
    };
    let base = one(paced.clone(), scattered("a/b", 100.0));
    let mut other = one(paced, slow(scattered("a/b", 200.0)));
    let row = first(&base, &other, &options());
    assert_eq!(row.compared, Subject::Cycles);
    near(row.ratio, 1.0);
    other.machine.id = "another".to_owned();
    let row = first(&base, &other, &options());
    assert_eq!(
        (row.compared, row.verdict),
        (Subject::Estimate, Some(Verdict::Slower))
    );
    near(row.ratio, 0.5);
}
