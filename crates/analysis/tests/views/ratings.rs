//! Machines rated by environment against a printed and against a measured base.

use crate::made_up::*;
use gritstone_analysis::run_variance::Learned;
use gritstone_analysis::scores::{Environment, Options, environments, programs, rate};
use gritstone_analysis::summary;
use gritstone_model::*;
use std::collections::BTreeSet;

fn options() -> Options {
    Options {
        confidence: 0.95,
        named: false,
        together: false,
        alone: BTreeSet::new(),
        between_run: Learned::default(),
    }
}

fn environment(name: &str, rows: &[&str]) -> Environment {
    Environment {
        name: name.to_owned(),
        score: None,
        weight: 1.0,
        rows: rows.iter().map(|row| id(row)).collect(),
    }
}

/// One environment of two rows, one of one.
fn two() -> Vec<Environment> {
    vec![
        environment("Processor", &["a/one", "a/two", "a/three"]),
        environment("Files", &["a/rate"]),
    ]
}

/// Rows that take these nanoseconds, on a machine with this name.
fn measured(name: &str, rows: &[(&str, f64)]) -> RunView {
    let benchmarks = rows.iter().map(|(row, _)| claimed(row)).collect();
    let launches: Vec<Launch> = rows
        .iter()
        .flat_map(|(row, ns)| scattered(row, *ns))
        .collect();
    let mut view = summary::summarize(&run(benchmarks, launches), &summary::Options::default());
    view.id = name.to_owned();
    view
}

/// 100, 200 and 50 ns.
fn machine() -> RunView {
    measured(
        "run",
        &[("a/one", 100.0), ("a/two", 200.0), ("a/rate", 50.0)],
    )
}

/// 4, 9 and 8 times as long for the whole published work; nothing of a/three.
fn vax() -> RunView {
    reference(vec![
        printed("a/one", Subject::Real, [Some(0.4), None, None]),
        printed("a/two", Subject::Real, [Some(1.8), None, None]),
        printed("a/rate", Subject::Real, [Some(0.4), None, None]),
    ])
}

fn row_of<'a>(view: &'a mut RunView, name: &str) -> &'a mut Measurement {
    view.results.iter_mut().find(|r| r.id == id(name)).unwrap()
}

fn star() -> Note {
    stated(Some(Flag::Invalid), "It did nothing.")
}

#[test]
fn environments_have_one_weight_each_however_many_rows_they_have() {
    let rated = rate(&two(), &machine(), &vax(), None, &options());
    let one = &rated.one_cpu;
    near(one.environments[0].rating, 6.0);
    near(one.environments[1].rating, 8.0);
    near(one.overall.rating, 48.0_f64.sqrt());
    let [low, high] = one.overall.interval.unwrap();
    assert!(low < 48.0_f64.sqrt() && 48.0_f64.sqrt() < high && high / low < 1.16);
    // a/three is no fault of the machine: the base has no figure of it
    let covered = |rating: &Rating| (rating.rows.len(), rating.of);
    assert_eq!(covered(&one.environments[0]), (2, 3));
    assert_eq!(covered(&one.overall), (3, 4));
    let without: Vec<(&str, f64)> = one.environments[0]
        .without
        .iter()
        .map(|w| (w.row.as_str(), (w.rating * 1e6).round() / 1e6))
        .collect();
    assert_eq!(without, [("a/two", 4.0), ("a/one", 9.0)]);
    assert!(one.environments[1].without.is_empty());
    assert_eq!((&rated.all_cpus, &one.for_money), (&None, &None));
}

#[test]
fn a_starred_row_of_either_side_and_a_missing_one_withhold_it() {
    let withheld = |run: &RunView, base: &RunView| {
        let rated = rate(&two(), run, base, None, &options()).one_cpu;
        let [cpu, files] = [0, 1].map(|i: usize| rated.environments[i].clone());
        near(files.rating, 8.0);
        assert_eq!(
            (cpu.rating, cpu.interval, cpu.without),
            (None, None, vec![])
        );
        assert_eq!((rated.overall.rating, cpu.rows.len()), (None, 1));
        assert_eq!(rated.overall.withheld, cpu.withheld);
        cpu.withheld.unwrap()
    };
    let (mut run, mut base) = (machine(), vax());
    row_of(&mut run, "a/two").notes.push(star());
    assert_eq!(
        withheld(&run, &base),
        Withheld::Invalid(vec![Part::Benchmark(id("a/two"))])
    );
    row_of(&mut base, "a/two").notes.push(star());
    assert_eq!(
        withheld(&machine(), &base),
        Withheld::Invalid(vec![Part::Benchmark(id("a/two"))])
    );
    let mut run = machine();
    run.results.retain(|result| result.id != id("a/two"));
    assert_eq!(
        withheld(&run, &vax()),
        Withheld::Missing(vec![Part::Benchmark(id("a/two"))])
    );
}

#[test]
fn what_went_to_another_peer_is_no_base() {
    let mut run = machine();
    let mut settings = run.settings.clone().unwrap_or_default();
    settings.peer = Some(Peer {
        host: "far".to_owned(),
        ..Peer::default()
    });
    run.settings = Some(settings);
    let rated = |base: &RunView| rate(&two(), &run, base, None, &options()).one_cpu.overall;
    assert_eq!(
        (rated(&machine()).rating, rated(&machine()).rows),
        (None, vec![])
    );
    near(rated(&run).rating, 1.0);
}

#[test]
fn a_doubt_about_another_figure_of_a_row_withholds_nothing() {
    let mut run = machine();
    row_of(&mut run, "a/two")
        .notes
        .push(star().about(Subject::Process));
    near(
        rate(&two(), &run, &vax(), None, &options())
            .one_cpu
            .overall
            .rating,
        48.0_f64.sqrt(),
    );
}

#[test]
fn rows_that_the_user_names_are_left_out_aloud() {
    let mut run = machine();
    row_of(&mut run, "a/two").notes.push(star());
    run.results.retain(|result| result.id != id("a/rate"));
    let named = [environment(
        "Named benchmarks",
        &["a/one", "a/two", "a/three", "a/rate"],
    )];
    let with = Options {
        named: true,
        ..options()
    };
    let rated = rate(&named, &run, &vax(), None, &with).one_cpu;
    near(rated.overall.rating, 4.0);
    assert_eq!(
        rated.overall.left_out,
        [("a/two", true), ("a/rate", false)].map(|(name, invalid)| LeftOutRow {
            id: id(name),
            invalid,
        })
    );
    assert_eq!(
        (rated.overall.rows, rated.overall.of),
        (vec![id("a/one")], 4)
    );
}

#[test]
fn what_is_not_comparable_with_a_printed_figure_is_not_covered_and_two_runs_compare_it() {
    let mut run = machine();
    let stand_in = stated(Some(Flag::NotComparable), "A stand-in.");
    row_of(&mut run, "a/two").notes.push(stand_in);
    let rated = rate(&two(), &run, &vax(), None, &options()).one_cpu;
    near(rated.environments[0].rating, 4.0);
    let slow = measured(
        "slow",
        &[("a/one", 200.0), ("a/two", 400.0), ("a/rate", 100.0)],
    );
    near(
        rate(&two(), &run, &slow, None, &options())
            .one_cpu
            .overall
            .rating,
        2.0,
    );
    // another version of the work is other work
    row_of(&mut run, "a/one").version = 2;
    let rated = rate(&two(), &run, &slow, None, &options()).one_cpu;
    assert_eq!(rated.environments[0].rows, [id("a/two")]);
}

#[test]
fn between_two_runs_the_interval_has_both_sides_and_what_runs_differ_by() {
    let (run, slow) = (
        machine(),
        measured(
            "slow",
            &[("a/one", 200.0), ("a/two", 800.0), ("a/rate", 50.0)],
        ),
    );
    let half = |base: &RunView, options: &Options| {
        let rating = rate(&two()[..1], &run, base, None, options).one_cpu.overall;
        let [low, high] = rating.interval.unwrap();
        near(rating.rating, (low * high).sqrt());
        (high / low).ln() / 2.0
    };
    near(
        rate(&two(), &run, &slow, None, &options())
            .one_cpu
            .environments[0]
            .rating,
        8.0_f64.sqrt(),
    );
    // stated are 2.5% in time with four degrees of freedom, and 2.78 times that is 6.9%; of two runs sqrt(2) times
    let (printed, live) = (half(&vax(), &options()), half(&slow, &options()));
    assert!((0.0694..0.07).contains(&printed), "{printed}");
    near(Some(live), printed * 2.0_f64.sqrt());
    let steady = gritstone_analysis::run_variance::BetweenRun {
        paced: 0.0.into(),
        raw: 0.0.into(),
    };
    let known = ["a/one", "a/two", "a/three"].map(|row| (id(row), steady));
    let with = Options {
        between_run: known.into_iter().collect(),
        ..options()
    };
    let (printed, live) = (half(&vax(), &with), half(&slow, &with));
    assert!(printed < 0.01, "{printed}");
    near(Some(live), printed * 2.0_f64.sqrt());
}

#[test]
fn few_launches_give_no_interval_and_two_printed_machines_neither() {
    let mut run = machine();
    let published = row_of(&mut run, "a/one").published.as_mut().unwrap();
    published.values.truncate(5);
    let rated = rate(&two(), &run, &vax(), None, &options()).one_cpu;
    assert!(rated.overall.rating.is_some() && rated.overall.interval.is_none());
    assert!(rated.environments[1].interval.is_some());
    let mut faster = vax();
    row_of(&mut faster, "a/one")
        .published
        .as_mut()
        .unwrap()
        .real = Some(Estimate::exact(0.1));
    let rated = rate(&two(), &faster, &vax(), None, &options()).one_cpu;
    near(rated.environments[0].rating, 2.0);
    assert_eq!(rated.overall.interval, None);
}

#[test]
fn disturbed_rows_are_named() {
    let mut run = machine();
    row_of(&mut run, "a/two")
        .notes
        .push(stated(Some(Flag::Interference), "Others."));
    let rated = rate(&two(), &run, &vax(), None, &options()).one_cpu;
    assert_eq!(
        shorts(&rated.overall.notes),
        ["parts-flagged flag=interference benchmarks=[a/two] of=3"]
    );
    assert_eq!(rated.environments[1].notes, []);
}

/// The same with so many copies of its rows, which together do so many times what one does, a little more or less.
fn with_copies(name: &str, rows: &[(&str, f64)], sizes: &[(u32, f64)]) -> RunView {
    let mut view = measured(name, rows);
    for result in &mut view.results {
        let one = CopiesPoint {
            copies: 1,
            ..CopiesPoint::default()
        };
        let several = |&(copies, gain): &(u32, f64)| CopiesPoint {
            copies,
            efficiencies: SCATTER.map(|x| x * gain / f64::from(copies)).to_vec(),
            ..CopiesPoint::default()
        };
        result.copies = Some(CopiesView {
            points: std::iter::once(one)
                .chain(sizes.iter().map(several))
                .collect(),
            ..CopiesView::default()
        });
    }
    view
}

const RATE: [(&str, f64); 1] = [("a/rate", 50.0)];

#[test]
fn all_cpus_are_the_most_copies_and_a_printed_machine_has_one() {
    let only = &two()[1..];
    let run = with_copies("run", &RATE, &[(2, 1.8), (8, 5.0)]);
    let rated = rate(only, &run, &vax(), None, &options());
    near(rated.one_cpu.overall.rating, 8.0);
    near(rated.all_cpus.unwrap().overall.rating, 40.0);
    assert_eq!(rated.copies, Some(8));
    // another machine is met with all that it has, and one that has no copies is not
    let other = with_copies("other", &[("a/rate", 100.0)], &[(4, 2.5)]);
    let rated = rate(only, &run, &other, None, &options());
    near(rated.one_cpu.overall.rating, 2.0);
    near(rated.all_cpus.unwrap().overall.rating, 4.0);
    let rated = rate(only, &run, &machine(), None, &options());
    let all = rated.all_cpus.unwrap().overall;
    assert_eq!((all.rating, all.withheld, all.rows.len()), (None, None, 0));
    let rated = rate(only, &machine(), &run, None, &options());
    assert_eq!((rated.all_cpus, rated.copies), (None, None));
}

#[test]
fn fewer_copies_than_cpus_are_not_all_cpus() {
    let only = &two()[1..];
    let mut run = with_copies("run", &RATE, &[(4, 3.0)]);
    let mut allowed = |list: &str| {
        let facts = &mut run.machine.facts;
        facts.insert("cpu.allowed".to_owned(), list.to_owned());
        rate(only, &run, &vax(), None, &options()).all_cpus
    };
    for enough in ["0-3", "0,2-3", "5", "0-1,8-9"] {
        near(allowed(enough).unwrap().overall.rating, 24.0);
    }
    for more in ["0-4", "0-3,9", "0-4294967295,0-4294967295"] {
        assert_eq!(allowed(more), None, "{more}");
    }
}

#[test]
fn the_interval_of_all_cpus_has_the_scatter_of_the_copies_in_it() {
    let only = &two()[1..];
    let half = |rating: &Rating| {
        let [low, high] = rating.interval.unwrap();
        near(rating.rating, (low * high).sqrt());
        (high / low).ln() / 2.0
    };
    let steady = gritstone_analysis::run_variance::BetweenRun {
        paced: 0.0.into(),
        raw: 0.0.into(),
    };
    let with = Options {
        between_run: [(id("a/rate"), steady)].into_iter().collect(),
        ..options()
    };
    let run = with_copies("run", &RATE, &[(8, 5.0)]);
    let rated = rate(only, &run, &vax(), None, &with);
    let (one, all) = (
        half(&rated.one_cpu.overall),
        half(&rated.all_cpus.unwrap().overall),
    );
    // both scatter alike here: sqrt(2) times as wide; of two measured sides twice, since the base has copies as well
    near(Some(all), one * 2.0_f64.sqrt());
    let rated = rate(only, &run, &run, None, &with);
    near(Some(half(&rated.all_cpus.unwrap().overall)), 2.0 * one);
    // copies of too few rounds give no interval
    let mut few = run.clone();
    let copies = few.results[0].copies.as_mut().unwrap();
    copies.points[1].efficiencies.truncate(5);
    let all = rate(only, &few, &vax(), None, &with).all_cpus.unwrap();
    assert!(all.overall.rating.is_some() && all.overall.interval.is_none());
}

#[test]
fn copies_that_are_missing_or_starred_withhold_all_cpus_alone() {
    let rows = [("a/one", 100.0), ("a/two", 200.0), ("a/rate", 50.0)];
    let whole = with_copies("run", &rows, &[(2, 2.0), (8, 4.0)]);
    let rated = |run: &RunView, options: &Options| {
        let rated = rate(&two(), run, &vax(), None, options);
        near(rated.one_cpu.overall.rating, 48.0_f64.sqrt());
        rated.all_cpus.unwrap()
    };
    near(
        rated(&whole, &options()).overall.rating,
        4.0 * 48.0_f64.sqrt(),
    );
    let mut lacking = whole.clone();
    let copies = row_of(&mut lacking, "a/two").copies.as_mut().unwrap();
    copies.points.truncate(2);
    let all = rated(&lacking, &options());
    assert_eq!(
        all.overall.withheld,
        Some(Withheld::Missing(vec![Part::Copies(id("a/two"), 8)]))
    );
    near(all.environments[1].rating, 32.0);
    let mut starred = whole.clone();
    let copies = row_of(&mut starred, "a/two").copies.as_mut().unwrap();
    copies.points[2].notes.push(star());
    assert_eq!(
        rated(&starred, &options()).overall.withheld,
        Some(Withheld::Invalid(vec![Part::Benchmark(id("a/two"))]))
    );
    // what is never measured as copies is no fault of the machine
    let with = Options {
        alone: [id("a/two")].into(),
        ..options()
    };
    let all = rated(&lacking, &with);
    assert_eq!(all.environments[0].rows, [id("a/one")]);
    near(all.environments[0].rating, 16.0);
    // a doubt about the copies is told
    let mut noisy = whole;
    let copies = row_of(&mut noisy, "a/rate").copies.as_mut().unwrap();
    copies.points[2]
        .notes
        .push(stated(Some(Flag::Interference), "Others."));
    let all = rated(&noisy, &options());
    assert_eq!(
        shorts(&all.overall.notes),
        ["parts-flagged flag=interference benchmarks=[a/rate] of=3"]
    );
}

#[test]
fn performance_for_the_money() {
    let price = Price {
        amount: 0.5,
        per: Per::Hour,
    };
    let rated = rate(&two(), &machine(), &vax(), Some(price), &options());
    let (overall, money) = (rated.one_cpu.overall, rated.one_cpu.for_money.unwrap());
    near(Some(money.value), 2.0 * 48.0_f64.sqrt());
    assert_eq!(
        money.interval,
        overall.interval.map(|ends| ends.map(|x| x / 0.5))
    );
    assert_eq!(rated.price, Some(price));
    let mut starred = machine();
    row_of(&mut starred, "a/one").notes.push(star());
    let rated = rate(&two(), &starred, &vax(), Some(price), &options());
    assert_eq!(rated.one_cpu.for_money, None);
}

#[test]
fn programs_are_rated_together_or_not_at_all() {
    let both = [
        environment("One", &["a/one", "a/two"]),
        environment("Two", &["a/rate"]),
    ];
    let of = |run: &RunView, base: &RunView| programs(&both, run, base, None, &options());
    let whole = of(&machine(), &vax()).unwrap();
    near(whole.overall.rating, 48.0_f64.sqrt());
    let withheld = |of: Option<Ratings>| {
        let overall = of.unwrap().overall;
        assert_eq!(overall.rating, None);
        overall.withheld.unwrap()
    };
    let named = |row: &str| vec![Part::Benchmark(id(row))];
    let without = |mut view: RunView, row: &str| {
        view.results.retain(|result| result.id != id(row));
        view
    };
    assert_eq!(
        withheld(of(&without(machine(), "a/rate"), &vax())),
        Withheld::Missing(named("a/rate"))
    );
    // an environment of small benchmarks would go without it
    assert_eq!(
        withheld(of(&machine(), &without(vax(), "a/two"))),
        Withheld::Uncovered(named("a/two"))
    );
    let only = [environment("Two", &["a/three"])];
    assert_eq!(programs(&only, &machine(), &vax(), None, &options()), None);
}

#[test]
fn the_environments_are_the_ratings_that_others_are_over() {
    let rating = |name: &str, over: &[&str], together| Benchmark {
        work: Work::Rating {
            over: over.iter().map(|row| id(row)).collect(),
            baseline: "ref:vax".to_owned(),
            weights: vec![],
            together,
        },
        ..plain(name)
    };
    let all = [
        rating("r/all", &["r/cpu"], false),
        plain("a/one"),
        rating("r/cpu", &["a/one"], false),
        rating("r/programs", &["r/two"], true),
        rating("r/two", &["a/two"], true),
        // of no environment
        rating("r/alone", &["a/one"], false),
    ];
    let named = |name: &str, rows: &[&str]| Environment {
        score: Some(id(name)),
        ..environment(&format!("Title of {name}"), rows)
    };
    assert_eq!(environments(&all, false), [named("r/cpu", &["a/one"])]);
    assert_eq!(environments(&all, true), [named("r/two", &["a/two"])]);
}
