//! Machines rated by environment against a printed and against a measured base.

use crate::run_effect::RunEffects;
use crate::scores::{Environment, Options, environments, score, score_programs};
use crate::tests::made_up_runs::*;
use gritstone_model::*;

pub fn options() -> Options {
    Options { confidence: 0.95, named: false, require_all: false, effects: RunEffects::default() }
}

fn environment(name: &str, benchmarks: &[&str]) -> Environment {
    Environment {
        name: name.to_owned(),
        score: None,
        weight: 1.0,
        benchmarks: benchmarks.iter().map(|benchmark| id(benchmark)).collect(),
    }
}

/// Environments of two benchmarks and of one.
fn two() -> Vec<Environment> {
    vec![
        environment("Processor", &["a/one", "a/two", "a/three"]),
        environment("Files", &["a/rate"]),
    ]
}

/// Benchmarks with these times on a named machine, ns.
fn measured(name: &str, rows: &[(&str, f64)]) -> RunView {
    let benchmarks = rows.iter().map(|(row, _)| claimed(row)).collect();
    let launches: Vec<Launch> = rows.iter().flat_map(|(row, ns)| scattered(row, *ns)).collect();
    let mut view = view(&run(benchmarks, launches));
    view.id = name.to_owned();
    view
}

/// 100, 200 and 50 ns.
fn machine() -> RunView {
    measured("run", &[("a/one", 100.0), ("a/two", 200.0), ("a/rate", 50.0)])
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
fn environments_weigh_equally() {
    let rated = score(&two(), &machine(), &vax(), &options());
    let one = &rated.one_cpu;
    near(one.environments[0].score, 6.0);
    near(one.environments[1].score, 8.0);
    near(one.overall.score, 48.0_f64.sqrt());
    let [low, high] = one.overall.interval.unwrap();
    assert!(low < 48.0_f64.sqrt() && 48.0_f64.sqrt() < high && high / low < 1.16);
    // the base lacks a/three
    let covered = |score: &EnvironmentScore| (score.rows.len(), score.of);
    assert_eq!(covered(&one.environments[0]), (2, 3));
    assert_eq!(covered(&one.overall), (3, 4));
}

#[test]
fn invalid_or_missing_withholds_score() {
    let withheld = |run: &RunView, base: &RunView| {
        let rated = score(&two(), run, base, &options()).one_cpu;
        let [cpu, files] = [0, 1].map(|i: usize| rated.environments[i].clone());
        near(files.score, 8.0);
        assert_eq!((cpu.score, cpu.interval), (None, None));
        assert_eq!((rated.overall.score, cpu.rows.len()), (None, 1));
        assert_eq!(rated.overall.withheld, cpu.withheld);
        cpu.withheld.unwrap()
    };
    let (mut run, mut base) = (machine(), vax());
    row_of(&mut run, "a/two").notes.push(star());
    assert_eq!(withheld(&run, &base), Withheld::Invalid(vec![Part::Benchmark(id("a/two"))]));
    row_of(&mut base, "a/two").notes.push(star());
    assert_eq!(withheld(&machine(), &base), Withheld::Invalid(vec![Part::Benchmark(id("a/two"))]));
    let mut run = machine();
    run.results.retain(|result| result.id != id("a/two"));
    assert_eq!(withheld(&run, &vax()), Withheld::Missing(vec![Part::Benchmark(id("a/two"))]));
}

#[test]
fn single_launches_flag_their_score() {
    let launches: Vec<Launch> = scattered("a/rate", 50.0).into_iter().take(1).collect();
    let run = view(&run(vec![claimed("a/rate")], launches));
    let files = |run: &RunView| {
        let rated = score(&two()[1..], run, &vax(), &options());
        rated.one_cpu.overall
    };
    let one = files(&run);
    assert!(one.score.is_some() && one.interval.is_none());
    assert!(flags(&one.notes).contains(&Flag::Noisy), "{:?}", one.notes);
    // an interval includes the scatter
    let mut whole = machine();
    let noisy = stated(Some(Flag::Noisy), "It scatters.");
    row_of(&mut whole, "a/rate").notes.push(noisy);
    assert!(!flags(&files(&whole).notes).contains(&Flag::Noisy));
}

#[test]
fn other_peer_is_no_base() {
    let mut run = machine();
    let mut settings = run.settings.clone().unwrap_or_default();
    settings.peer = Some(Peer { host: "far".to_owned(), ..Peer::default() });
    run.settings = Some(settings);
    let rated = |base: &RunView| score(&two(), &run, base, &options()).one_cpu.overall;
    assert_eq!((rated(&machine()).score, rated(&machine()).rows), (None, vec![]));
    near(rated(&run).score, 1.0);
}

#[test]
fn unrelated_flag_keeps_the_score() {
    let mut run = machine();
    row_of(&mut run, "a/two").notes.push(star().about(Subject::Process));
    near(score(&two(), &run, &vax(), &options()).one_cpu.overall.score, 48.0_f64.sqrt());
}

#[test]
fn unusable_named_benchmarks_are_listed() {
    let mut run = machine();
    row_of(&mut run, "a/two").notes.push(star());
    run.results.retain(|result| result.id != id("a/rate"));
    let named = [environment("Named benchmarks", &["a/one", "a/two", "a/three", "a/rate"])];
    let with = Options { named: true, ..options() };
    let rated = score(&named, &run, &vax(), &with).one_cpu;
    near(rated.overall.score, 4.0);
    assert_eq!(
        rated.overall.left_out,
        [("a/two", true), ("a/rate", false)]
            .map(|(name, invalid)| LeftOutRow { id: id(name), invalid })
    );
    assert_eq!((rated.overall.rows, rated.overall.of), (vec![id("a/one")], 4));
}

#[test]
fn not_comparable_excludes_run_variance() {
    let mut run = machine();
    let stand_in = stated(Some(Flag::NotComparable), "A stand-in.");
    row_of(&mut run, "a/two").notes.push(stand_in);
    let rated = score(&two(), &run, &vax(), &options()).one_cpu;
    near(rated.environments[0].score, 4.0);
    let slow = measured("slow", &[("a/one", 200.0), ("a/two", 400.0), ("a/rate", 100.0)]);
    near(score(&two(), &run, &slow, &options()).one_cpu.overall.score, 2.0);
    // another version of the work is other work
    row_of(&mut run, "a/one").version = 2;
    let rated = score(&two(), &run, &slow, &options()).one_cpu;
    assert_eq!(rated.environments[0].rows, [id("a/two")]);
}

#[test]
fn score_interval_includes_run_variance() {
    let (run, slow) =
        (machine(), measured("slow", &[("a/one", 200.0), ("a/two", 800.0), ("a/rate", 50.0)]));
    let half = |base: &RunView, options: &Options| {
        let score = score(&two()[..1], &run, base, options).one_cpu.overall;
        let [low, high] = score.interval.unwrap();
        near(score.score, (low * high).sqrt());
        (high / low).ln() / 2.0
    };
    near(score(&two(), &run, &slow, &options()).one_cpu.environments[0].score, 8.0_f64.sqrt());
    // stated is half a percent with four degrees of freedom, and 2.776 times that is 1.39%; of two runs sqrt(2) times
    let (printed, live) = (half(&vax(), &options()), half(&slow, &options()));
    assert!((0.0139..0.0145).contains(&printed), "{printed}");
    near(Some(live), printed * 2.0_f64.sqrt());
    let with = Options { effects: no_effects(["a/one", "a/two", "a/three"]), ..options() };
    let (printed, live) = (half(&vax(), &with), half(&slow, &with));
    assert!(printed < 0.01, "{printed}");
    near(Some(live), printed * 2.0_f64.sqrt());
}

#[test]
fn score_interval_needs_launches() {
    let mut run = machine();
    let published = row_of(&mut run, "a/one").published.as_mut().unwrap();
    published.values.truncate(5);
    let rated = score(&two(), &run, &vax(), &options()).one_cpu;
    assert!(rated.overall.score.is_some() && rated.overall.interval.is_none());
    assert!(rated.environments[1].interval.is_some());
    let mut faster = vax();
    row_of(&mut faster, "a/one").published.as_mut().unwrap().real = Some(Estimate::exact(0.1));
    let rated = score(&two(), &faster, &vax(), &options()).one_cpu;
    near(rated.environments[0].score, 2.0);
    assert_eq!(rated.overall.interval, None);
}

#[test]
fn disturbed_benchmarks_are_named() {
    let mut run = machine();
    row_of(&mut run, "a/two").notes.push(stated(Some(Flag::Interference), "Others."));
    let rated = score(&two(), &run, &vax(), &options()).one_cpu;
    assert_eq!(
        shorts(&rated.overall.notes),
        ["parts-flagged flag=interference benchmarks=[a/two] of=3"]
    );
    assert_eq!(rated.environments[1].notes, []);
}

#[test]
fn programs_score_together_or_never() {
    let both = [environment("One", &["a/one", "a/two"]), environment("Two", &["a/rate"])];
    let scores = |run: &RunView, base: &RunView| score_programs(&both, run, base, &options());
    let whole = scores(&machine(), &vax()).unwrap();
    near(whole.overall.score, 48.0_f64.sqrt());
    let withheld = |scores: Option<SystemScores>| {
        let overall = scores.unwrap().overall;
        assert_eq!(overall.score, None);
        overall.withheld.unwrap()
    };
    let named = |row: &str| vec![Part::Benchmark(id(row))];
    let without = |mut view: RunView, row: &str| {
        view.results.retain(|result| result.id != id(row));
        view
    };
    assert_eq!(
        withheld(scores(&without(machine(), "a/rate"), &vax())),
        Withheld::Missing(named("a/rate"))
    );
    // an environment of small benchmarks would go without it
    assert_eq!(
        withheld(scores(&machine(), &without(vax(), "a/two"))),
        Withheld::Uncovered(named("a/two"))
    );
    let only = [environment("Two", &["a/three"])];
    assert_eq!(score_programs(&only, &machine(), &vax(), &options()), None);
}

#[test]
fn environments_are_partial_scores() {
    let score = |name: &str, over: &[&str], together| Benchmark {
        work: score_over(over, together),
        ..plain(name)
    };
    let all = [
        score("r/all", &["r/cpu"], false),
        plain("a/one"),
        score("r/cpu", &["a/one"], false),
        score("r/programs", &["r/two"], true),
        score("r/two", &["a/two"], true),
        // of no environment
        score("r/alone", &["a/one"], false),
    ];
    let named = |name: &str, benchmarks: &[&str]| Environment {
        score: Some(id(name)),
        ..environment(&format!("Title of {name}"), benchmarks)
    };
    assert_eq!(environments(&all, false), [named("r/cpu", &["a/one"])]);
    assert_eq!(environments(&all, true), [named("r/two", &["a/two"])]);
}
