//! Several copies: totals, efficiency by round, the law, claims of each copy, comparisons.

use crate::compare::{self, Options};
use crate::summary;
use crate::tests::made_up_runs::{
    LAUNCHES, SCATTER, claimed, launch, near, no_effects, only, plain, row, run, samples, short,
    stated, unit, view,
};
use crate::tests::smt_contention::contend;
use gritstone_model::{
    Benchmark, Better, CopiesPoint, CopiesView, Event, Flag, Launch, Outcome, Param, RunView,
    Unfitted, Verdict,
};

/// A launch of copies with these times per operation, ns.
fn copies(name: &str, round: u32, each: &[f64]) -> Launch {
    let mut all = launch(name, round, 1.0);
    all.copies = u32::try_from(each.len()).unwrap();
    all.events.clear();
    for (number, &ns) in (1..).zip(each) {
        all.events.push(Event::Param(Param::Copy(number)));
        let reported = launch(name, round, ns).events.into_iter();
        // copies time neither the published work nor its process
        all.events.extend(reported.filter(|e| !matches!(e, Event::Batch(_) | Event::Process(_))));
    }
    all
}

/// Rounds of one copy at 100 ns, and of each size at its time per copy, with variance by round.
fn measured(benchmark: Benchmark, sizes: &[(usize, f64)]) -> CopiesView {
    let name = benchmark.id.to_string();
    let mut launches = vec![];
    for round in 0..LAUNCHES {
        let factor = factors()[round as usize];
        launches.push(launch(&name, round, 100.0 * factor));
        for &(size, ns) in sizes {
            launches.push(copies(&name, round, &vec![ns * factor; size]));
        }
    }
    only(&run(vec![benchmark], launches)).copies().unwrap().clone()
}

/// Factors of launches whose center over rounds is 1: several copies do not take the lower quartile.
fn factors() -> [f64; 10] {
    let center = gritstone_stats::center::log_center(&SCATTER, 0.95);
    SCATTER.map(|factor| factor / center.unwrap().value)
}

fn point(view: &CopiesView, copies: u32) -> &CopiesPoint {
    view.points.iter().find(|p| p.copies == copies).unwrap()
}

#[test]
fn copy_times_add_as_rates() {
    let view = measured(plain("a/b"), &[(2, 125.0), (4, 400.0)]);
    let numbers: Vec<u32> = view.points.iter().map(|point| point.copies).collect();
    assert_eq!(numbers, [1, 2, 4]);
    near(point(&view, 1).total, 100.0);
    near(point(&view, 1).efficiency, 1.0);
    // two that take 125 ns each do one in 62.5
    let two = point(&view, 2);
    near(two.total, 62.5);
    near(two.per_copy, 125.0);
    near(two.efficiency, 0.8);
    assert_eq!((two.launches, two.samples), (10, 60));
    near(point(&view, 4).total, 100.0);
    near(point(&view, 4).efficiency, 0.25);
    // a round moves one copy and several alike: efficiency is constant, the total varies
    let [low, high] = two.total.unwrap().interval.unwrap();
    assert!(low < 62.4 && high > 62.6, "{low} to {high}");
    let [low, high] = two.efficiency.unwrap().interval.unwrap();
    assert!(high - low < 1e-6, "{low} to {high}");
}

#[test]
fn rates_are_a_sum() {
    let rate = Benchmark {
        unit: unit("MB/s"),
        better: Better::Higher,
        amount_per_op: 1000.0,
        ..plain("a/b")
    };
    let view = measured(rate, &[(2, 125.0)]);
    near(point(&view, 1).total, 1e4);
    near(point(&view, 2).total, 1.6e4);
    near(point(&view, 2).per_copy, 8e3);
    near(point(&view, 2).efficiency, 0.8);
}

#[test]
fn unequal_copies_add_rates() {
    let one = |round| launch("a/b", round, 100.0);
    let two = |round| copies("a/b", round, &[100.0, 300.0]);
    let launches: Vec<Launch> = (0..10).flat_map(|round| [one(round), two(round)]).collect();
    let learned = summary::launch_ns_per_op(&plain("a/b"), &launches[1]);
    near(learned, 75.0);
    let view = only(&run(vec![plain("a/b")], launches)).copies().unwrap().clone();
    near(point(&view, 2).total, 75.0);
    near(point(&view, 2).efficiency, 100.0 / 150.0);
}

#[test]
fn contended_single_copy_flags_efficiencies() {
    let of_contended = |contended: u32| {
        let mut launches = vec![];
        for round in 0..LAUNCHES {
            let mut one = launch("a/b", round, 100.0);
            if round < contended {
                samples(&mut one).take(2).for_each(contend);
            }
            launches.extend([one, copies("a/b", round, &[125.0; 2])]);
        }
        only(&run(vec![plain("a/b")], launches)).copies().unwrap().clone()
    };
    let kinds = |point: &CopiesPoint| -> Vec<Option<Flag>> {
        point.notes.iter().map(|note| note.flag()).collect()
    };
    for (contended, flags) in [(5, vec![]), (6, vec![Some(Flag::Interference)])] {
        let view = of_contended(contended);
        assert_eq!(point(&view, 1).launches, 10);
        for copies in [1, 2] {
            assert_eq!(kinds(point(&view, copies)), flags);
        }
    }
}

#[test]
fn copies_leave_the_result_unchanged() {
    let mut launches: Vec<Launch> = (0..10).map(|r| launch("a/b", r, 100.0)).collect();
    let alone = view(&run(vec![plain("a/b")], launches.clone()));
    launches.extend((0..10).map(|round| copies("a/b", round, &[500.0; 2])));
    let both = view(&run(vec![plain("a/b")], launches));
    let mut result = row(&both, "a/b").clone();
    assert!(result.measured_mut().copies.take().is_some());
    assert_eq!(&result, row(&alone, "a/b"));
}

#[test]
fn law_needs_six_sizes() {
    // N/X by contention of 5% and coherence of .2%: time of a copy is 100 (1 + .05 (N-1) + .002 N (N-1))
    let ns = |n: usize| {
        let n = n as f64;
        100.0 * (1.0 + 0.05 * (n - 1.0) + 0.002 * n * (n - 1.0))
    };
    let sizes: Vec<(usize, f64)> = [2, 4, 8, 16, 32].map(|n| (n, ns(n))).to_vec();
    let view = measured(plain("a/b"), &sizes);
    let law = view.law.unwrap();
    assert_eq!(view.unfitted, None);
    assert!((law.contention - 0.05).abs() < 1e-4, "{law:?}");
    assert!((law.coherence - 0.002).abs() < 1e-5, "{law:?}");
    let peak = law.peak.unwrap();
    assert!((peak - (0.95_f64 / 0.002).sqrt()).abs() < 0.1, "{peak}");

    let view = measured(plain("a/b"), &sizes[..4]);
    assert_eq!(view.law, None);
    let why = Unfitted::Sizes { sizes: 5, needed: 6 };
    assert_eq!(view.unfitted, Some(why));
}

#[test]
fn claims_are_checked_per_copy() {
    let notes = |launches: Vec<Launch>| {
        let view = only(&run(vec![claimed("a/b")], launches)).copies().unwrap().clone();
        point(&view, 2).notes.clone()
    };
    let good = |round| [launch("a/b", round, 100.0), copies("a/b", round, &[100.0; 2])];
    let clean: Vec<Launch> = (0..10).flat_map(good).collect();
    assert_eq!(notes(clean.clone()), []);

    // the least of one copy is 10 ns: two may do one in 5, and not in 4
    let fast = |ns: f64| {
        let round = |round| [launch("a/b", round, 100.0), copies("a/b", round, &[ns; 2])];
        notes((0..10).flat_map(round).collect())
    };
    assert_eq!(fast(12.0), []);
    assert!(short(&fast(8.0)[0]).contains("below-minimum"));

    // one wrong value in the second of two copies
    let mut wrong = clean.clone();
    let last = wrong[1].events.iter_mut().rev();
    for event in last.take(3) {
        if let Event::Check(check) = event {
            check.got += 1;
        }
    }
    let actual = notes(wrong);
    assert_eq!(actual[0].flag(), Some(Flag::Invalid));
    assert!(short(&actual[0]).contains("wrong-check"), "{}", short(&actual[0]));

    let mut failed = clean;
    failed[1].outcome = Outcome::Failed("copy 2 of 2: fork: no".to_owned());
    let actual = notes(failed);
    assert!(short(&actual[0]).contains("copy 2 of 2: fork"), "{}", short(&actual[0]));
}

#[test]
fn missing_copy_has_no_value() {
    let mut lost = copies("a/b", 0, &[100.0; 2]);
    lost.copies = 3;
    assert_eq!(summary::launch_ns_per_op(&plain("a/b"), &lost), None);
    let mut silent = copies("a/b", 0, &[100.0; 2]);
    let second = silent.events.iter().rposition(|e| matches!(e, Event::Hello { .. })).unwrap();
    silent.events.truncate(second + 1);
    assert_eq!(summary::launch_ns_per_op(&plain("a/b"), &silent), None);
}

#[test]
fn copies_compare_total_and_efficiency() {
    let with = |ns: f64, two: f64, four: Option<f64>| {
        let mut launches = vec![];
        for (round, factor) in (0..LAUNCHES).zip(factors()) {
            launches.push(launch("a/b", round, ns * factor));
            launches.push(copies("a/b", round, &[two * factor; 2]));
            launches.extend(four.map(|ns| copies("a/b", round, &[ns * factor; 4])));
        }
        view(&run(vec![plain("a/b")], launches))
    };
    let (base, other) = (with(100.0, 100.0, Some(100.0)), with(50.0, 100.0, None));
    let compare = |base: &RunView, other: &RunView, options: &Options| {
        compare::compare(base, other, options).rows.remove(0)
    };
    let row = compare(&base, &other, &Options::default());
    assert_eq!(row.verdict, Some(Verdict::Faster));
    let [two, four] = row.copies.as_slice() else { panic!("{:?}", row.copies) };
    // two do as much as before, one does twice as much: half the efficiency
    near(two.total.base, 50.0);
    near(two.total.other, 50.0);
    near(two.total.ratio, 1.0);
    assert_eq!(two.total.verdict, Verdict::Inconclusive, "{two:?}");
    near(two.efficiency.base, 1.0);
    near(two.efficiency.ratio, 0.5);
    assert_eq!(two.efficiency.verdict, Verdict::Slower);
    let [low, high] = two.efficiency.interval.unwrap();
    assert!(0.44 < low && low < 0.5 && 0.5 < high && high < 0.57);
    // all three p count among each other: that of the row, of the total and of the efficiency
    assert!(two.efficiency.p_adjusted.unwrap() >= 1.5 * two.efficiency.p.unwrap());
    // what only one side has is shown, and nothing is reported of it
    near(four.total.base, 25.0);
    assert_eq!((four.total.other, four.total.ratio), (None, None));
    assert_eq!(four.efficiency.verdict, Verdict::Inconclusive);

    // where runs of the machine do not differ by themselves, the launches alone show that nothing changed
    let exact = Options::new(0.02, no_effects(["a/b"]));
    let row = compare(&base, &other, &exact);
    assert_eq!(row.copies[0].total.verdict, Verdict::Same);

    // a disturbed side keeps its ratio, a starred one has none, a side without copies no table
    let mut noisy = other.clone();
    let mark = |view: &mut RunView, kind| {
        let points = &mut view.results[0].measured_mut().copies.as_mut().unwrap().points;
        points[1].notes.push(stated(kind, "Others."));
    };
    mark(&mut noisy, Some(Flag::Interference));
    let two = &compare(&base, &noisy, &exact).copies[0];
    near(two.efficiency.ratio, 0.5);
    assert_eq!(two.efficiency.verdict, Verdict::Inconclusive);
    assert_eq!(short(&two.notes[0]), "run-1: stated by=workload flag=interference text=Others.");
    mark(&mut noisy, Some(Flag::Invalid));
    let two = &compare(&base, &noisy, &exact).copies[0];
    assert_eq!((two.total.ratio, two.total.interval), (None, None));
    noisy.results[0].measured_mut().copies = None;
    assert_eq!(compare(&base, &noisy, &exact).copies, []);
    // rates: more is better
    let rate = Benchmark { unit: unit("MB/s"), better: Better::Higher, ..plain("a/b") };
    let mut launches = vec![];
    for (round, factor) in (0..LAUNCHES).zip(factors()) {
        launches.push(launch("a/b", round, 100.0 * factor));
        launches.push(copies("a/b", round, &[50.0 * factor; 2]));
    }
    let fast = view(&run(vec![rate.clone()], launches.clone()));
    for launch in launches.iter_mut().filter(|launch| launch.copies == 2) {
        *launch = copies("a/b", launch.round, &[100.0; 2]);
    }
    let slow = view(&run(vec![rate], launches));
    let two = &compare(&slow, &fast, &exact).copies[0];
    assert!((two.total.ratio.unwrap() / 2.0 - 1.0).abs() < 0.01);
    assert_eq!(two.total.verdict, Verdict::Faster);
}
