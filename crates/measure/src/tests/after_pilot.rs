//! Runs.

use super::*;
use crate::limits::{MAX_LAUNCHES, MAX_TIME_FACTOR, MIN_LAUNCHES};
use crate::rounds::rounds as rounds_from;
use crate::track::DISTURBED_PER_REPEAT;
use gritstone_model::RunData;
use gritstone_testkit::{sum, unit};

pub fn limits(budget: f64) -> Limits {
    Limits { budget: Some(Duration::from_secs_f64(budget)), precision: 0.01, quick: false, seed: 7 }
}

/// Measures one plan per side, after `earlier` launches.
fn resume<'a>(
    plans: &[&Plan],
    limits: Limits,
    earlier: &[Launch],
    reply: impl FnMut(&Call) -> Reply + 'a,
) -> FakeBackend<'a> {
    let mut backend = FakeBackend::new(reply);
    backend.time = earlier.iter().map(|l| l.conditions.wall as f64 / 1e9).sum();
    let mut scheduler = AfterPilot::new(plans, limits, &PriorRuns::new());
    drive(plans, earlier, reader(false), &mut scheduler, &mut backend).unwrap();
    backend
}

fn run<'a>(plan: &Plan, budget: f64, reply: impl FnMut(&Call) -> Reply + 'a) -> FakeBackend<'a> {
    resume(&[plan], limits(budget), &[], reply)
}

/// The first `after` launches of a run.
fn interrupted(plan: &Plan, budget: f64, after: usize, reply: fn(&Call) -> Reply) -> Vec<Launch> {
    let mut backend = FakeBackend::new(reply);
    backend.stop_after = after;
    let mut scheduler = AfterPilot::new(&[plan], limits(budget), &PriorRuns::new());
    assert!(drive(&[plan], &[], reader(false), &mut scheduler, &mut backend).is_err());
    backend.launches()
}

/// Has a standard deviation of about 3%, and is deterministic.
fn noisy(call: &Call) -> f64 {
    95.0 + 10.0 * (call.count as f64 * 0.618).fract()
}

/// Launches take a second; those of noisy steps scatter.
fn one_second(call: &Call) -> Reply {
    let steady = !call.id.contains("noisy");
    Reply::measured(1.0, if steady { 100.0 } else { noisy(call) })
}

fn rounds(launches: &[Launch], filter: impl Fn(&Launch) -> bool) -> Vec<u32> {
    let matching = launches.iter().filter(|launch| filter(launch));
    matching.map(|launch| launch.round).collect()
}

#[test]
fn noisy_steps_get_more_launches() {
    let ran = run(&plan(&["a/steady", "a/noisy"]), 1e6, one_second);
    assert_eq!(ran.count("a/steady"), MIN_LAUNCHES);
    let noisy = ran.count("a/noisy");
    assert!(noisy > 3 * MIN_LAUNCHES && noisy <= MAX_LAUNCHES, "{noisy}");
}

#[test]
fn budget_covers_minimum_launches() {
    let plan = plan(&["a/steady", "a/noisy", "a/slow"]);
    let reply = |call: &Call| match call.id.as_str() {
        "a/steady" => Reply::measured(0.5, 100.0),
        "a/noisy" => Reply::measured(1.0, noisy(call)),
        _ => Reply::measured(3.0, noisy(call)),
    };
    for budget in [20.0, 46.5, 60.0, 200.0] {
        let ran = run(&plan, budget, reply);
        assert!(ran.time <= budget, "{} of {budget}", ran.time);
        if budget >= 47.0 {
            for id in ["a/steady", "a/noisy", "a/slow"] {
                assert!(ran.count(id) >= MIN_LAUNCHES, "{id} in {budget} s");
            }
        }
    }
    // the budget is used up
    assert!(run(&plan, 100.0, reply).time > 90.0);
}

/// By benchmark: seconds per launch, and scatter.
fn priors(known: &[(&str, f64, Option<f64>)]) -> PriorRuns {
    let one = |&(name, seconds, ln_sd): &(&str, f64, Option<f64>)| {
        let seconds = Some(seconds);
        ((id(name), 1), Prior { seconds, ln_sd })
    };
    known.iter().map(one).collect()
}

fn run_with_priors<'a>(
    plan: &Plan,
    limits: Limits,
    priors: &PriorRuns,
    reply: impl FnMut(&Call) -> Reply + 'a,
) -> (FakeBackend<'a>, Duration) {
    let mut backend = FakeBackend::new(reply);
    let mut scheduler = AfterPilot::new(&[plan], limits, priors);
    let expected = scheduler.expected();
    drive(&[plan], &[], reader(false), &mut scheduler, &mut backend).unwrap();
    (backend, expected)
}

#[test]
fn budget_limits_begun_steps() {
    let names = ["a/1", "a/2", "a/3", "a/4", "a/long"];
    let reply = |call: &Call| Reply::measured(if call.id == "a/long" { 5.0 } else { 1.0 }, 100.0);
    let costs = names.map(|id| (id, if id == "a/long" { 5.0 } else { 1.0 }, None));
    for seed in 0..20 {
        let measured = |budget, priors: &PriorRuns| {
            let limits = Limits { seed, ..limits(budget) };
            let ran = run_with_priors(&plan(&names), limits, priors, reply).0;
            names.map(|id| ran.count(id))
        };
        // three pilots of six seconds fit, and begun steps share the rest
        assert_eq!(measured(20.0, &priors(&costs)), [7, 6, 6, 0, 0]);
        assert_eq!(measured(51.0, &priors(&costs)), [10, 10, 10, 10, 0]);
        assert_eq!(measured(56.0, &priors(&costs)), [7, 6, 6, 6, 6]);
        // a step of unknown duration is begun, and abandoned if it does not fit
        assert_eq!(measured(51.0, &PriorRuns::new()), [10, 10, 10, 10, 1]);
    }
    // first launches calibrate and take longer: steps that did not fit by them are readmitted
    let first = |call: &Call| Reply::measured(if call.count == 1 { 1.0 } else { 0.25 }, 100.0);
    let ran = run(&plan(&["a/1", "a/2", "a/3", "a/4"]), 15.0, first);
    assert!(["a/1", "a/2", "a/3", "a/4"].iter().all(|id| ran.count(id) >= 6));
    // steps begin in the order of the plan, up to the first that does not fit
    let reordered = ["a/1", "a/long", "a/2", "a/3", "a/4"];
    let ran = run_with_priors(&plan(&reordered), limits(20.0), &priors(&costs), reply).0;
    assert_eq!(reordered.map(|id| ran.count(id)), [10, 0, 0, 0, 0]);
    // a single step of unknown duration is measured as far as time allows
    let ran = run(&plan(&["a/long"]), 12.0, reply);
    assert_eq!(ran.count("a/long"), 2);
}

#[test]
fn first_step_ignores_the_budget() {
    let known = priors(&[("a/long", 5.0, None), ("a/short", 1.0, None)]);
    let reply = |call: &Call| Reply::measured(if call.id == "a/long" { 5.0 } else { 1.0 }, 100.0);
    for (names, budget, expected) in [
        (&["a/long", "a/short"][..], 4.0, [1, 0]),
        (&["a/long", "a/short"][..], 12.0, [2, 0]),
        (&["a/short", "a/long"][..], 12.0, [0, 10]),
        (&["a/short"][..], 0.5, [0, 1]),
    ] {
        let ran = run_with_priors(&plan(names), limits(budget), &known, reply).0;
        assert_eq!(["a/long", "a/short"].map(|id| ran.count(id)), expected, "{names:?}");
    }
}

#[test]
fn precision_has_bounded_time() {
    let within = |precision| {
        let limits = Limits { budget: None, precision, ..limits(0.0) };
        let plan = plan(&["a/noisy", "a/noisy-too", "a/other"]);
        let ran = resume(&[&plan], limits, &[], one_second);
        ["a/noisy", "a/noisy-too", "a/other"].map(|id| ran.count(id))
    };
    let asked = within(0.02);
    assert_eq!(asked[2], MIN_LAUNCHES);
    assert!(asked[..2].iter().all(|n| (11..=60).contains(n)), "{asked:?}");
    let unattainable = within(1e-6);
    let most = 3 * MIN_LAUNCHES * MAX_TIME_FACTOR as usize;
    let all: usize = unattainable.iter().sum();
    assert!(all <= most && all > most - 3, "{unattainable:?}");
}

#[test]
fn quick_runs_launch_six_times() {
    let limits = Limits { budget: None, quick: true, ..limits(0.0) };
    let names = ["a/noisy", "a/steady"];
    let known = priors(&[("a/noisy", 2.0, None), ("a/steady", 3.0, None)]);
    let (ran, expected) = run_with_priors(&plan(&names), limits, &known, one_second);
    assert_eq!(names.map(|id| ran.count(id)), [PILOT; 2]);
    assert_eq!(expected, Duration::from_secs(30));
}

#[test]
fn expected_time_includes_sampling_time() {
    let mut plan = plan(&["a/steady", "a/slow"]);
    let Work::Kernel(work) = &mut plan.benchmarks[1].work else { panic!("not a workload") };
    let asked = [("target_ns", "1000000000"), ("sample_ns", "2000000000")];
    let asked = asked.map(|(key, value)| (key.to_owned(), value.to_owned()));
    work.params.extend(asked);
    let (_, expected) = run_with_priors(&plan, limits(1e6), &PriorRuns::new(), one_second);
    assert_eq!(expected, Duration::from_secs_f64(10.0 * (0.25 + 4.0)));
}

#[test]
fn prior_scatter_determines_launches() {
    // 1.36 * 1.96 * 0.02 / ln(1.01) squared is 28.8
    let known = priors(&[("a/steady", 1.0, Some(0.02)), ("a/noisy", 1.0, Some(0.02))]);
    let plan = plan(&["a/steady", "a/noisy"]);
    let ran = run_with_priors(&plan, limits(1e6), &known, one_second).0;
    assert_eq!(ran.count("a/steady"), 29);
    // more scatter than before means more launches
    assert!(ran.count("a/noisy") > 30);
}

#[test]
fn priors_have_time_and_scatter() {
    let plan = plan(&["a/noisy", "a/steady"]);
    let data = |benchmarks: &[Benchmark], launches: Vec<Launch>| RunData {
        benchmarks: benchmarks.to_vec(),
        launches,
        ..RunData::default()
    };
    let launches = run(&plan, 1e6, |call| Reply::measured(1.5, noisy(call))).launches();
    let same = data(&plan.benchmarks, launches.clone());
    let step = |name: &str| (id(name), 1);
    let two = learn_prior(&[same.clone(), same.clone()], &plan.benchmarks);
    let known = two[&step("a/noisy")];
    assert_eq!((known.seconds, known.ln_sd), (Some(1.5), None));
    let runs = [same.clone(), same.clone(), same.clone()];
    let sd = learn_prior(&runs, &plan.benchmarks)[&step("a/noisy")].ln_sd.unwrap();
    assert!((0.02..0.05).contains(&sd), "{sd}");
    // another version of a benchmark is no prior
    let mut other = plan.benchmarks.clone();
    other[0].version += 1;
    assert_eq!(learn_prior(&runs, &other)[&step("a/noisy")].ln_sd, None);
}

#[test]
fn seed_shuffles_rounds() {
    let plan = plan(&["a/one", "a/two", "a/three", "a/four"]);
    let order = |seed| {
        let limits = Limits { budget: None, seed, ..limits(1e6) };
        resume(&[&plan], limits, &[], one_second).launched
    };
    let first = order(7);
    for round in first.chunks(4) {
        let mut sorted: Vec<&str> = round.iter().map(String::as_str).collect();
        sorted.sort_unstable();
        assert_eq!(sorted, ["a/four", "a/one", "a/three", "a/two"]);
    }
    assert!(first.chunks(4).any(|round| round != &first[..4]));
    assert_eq!(first, order(7));
    assert_ne!(first, order(8));
    // rounds of the pilot, then of the precision stage
    let names = ["a/one", "a/two", "a/three", "a/four"];
    let missing = [MIN_LAUNCHES - PILOT; 4];
    let planned = [rounds_from(&[PILOT; 4], 7), rounds_from(&missing, 8)].concat();
    let planned = planned.concat().into_iter().map(|index| names[index]);
    assert!(planned.eq(first.iter().map(String::as_str)));
}

#[test]
fn failing_steps_are_closed() {
    let plan = plan(&["a/fails", "a/hangs", "a/skips", "a/once", "a/good"]);
    let ran = run(&plan, 1e6, |call| match (call.id.as_str(), call.count) {
        ("a/fails", _) | ("a/once", 5) => Reply::without_result(Outcome::Failed("no".into())),
        ("a/hangs", _) => Reply::without_result(Outcome::TimedOut("60 s".into())),
        ("a/skips", _) => Reply::without_result(Outcome::Skipped("no card".into())),
        _ => Reply::measured(1.0, 100.0),
    });
    assert_eq!(ran.count("a/fails"), 2);
    assert_eq!(ran.count("a/hangs"), 1);
    assert_eq!(ran.count("a/skips"), 1);
    assert_eq!(ran.count("a/good"), MIN_LAUNCHES);
    // one failure among many does not close a step
    assert_eq!(ran.count("a/once"), MIN_LAUNCHES + 1);
}

#[test]
fn failed_launches_are_replaced() {
    for (quick, least) in [(true, PILOT), (false, MIN_LAUNCHES)] {
        let limits = Limits { quick, budget: None, ..limits(0.0) };
        let plan = plan(&["a/once", "a/good"]);
        let ran = resume(&[&plan], limits, &[], |call| match (call.id.as_str(), call.count) {
            ("a/once", 2) => Reply::without_result(Outcome::Failed("no".into())),
            _ => Reply::measured(1.0, 100.0),
        });
        assert_eq!(ran.count("a/good"), least);
        assert_eq!(ran.count("a/once"), least + 1);
    }
}

#[test]
fn six_values_ignore_the_time() {
    // the pilot alone takes more than five minutes
    for quick in [true, false] {
        let limits = Limits { quick, budget: None, ..limits(0.0) };
        let plan = plan(&["a/once", "a/noisy"]);
        let ran = resume(&[&plan], limits, &[], |call| match (call.id.as_str(), call.count) {
            ("a/once", 2) => Reply::without_result(Outcome::Failed("no".into())),
            _ => Reply::measured(30.0, noisy(call)),
        });
        assert_eq!(ran.count("a/once"), PILOT + 1);
        assert_eq!(ran.count("a/noisy"), PILOT);
    }
}

#[test]
fn sizes_are_measured_once() {
    let mut plan = plan(&["a/size"]);
    plan.benchmarks[0].unit = unit("bytes");
    assert_eq!(run(&plan, 1e6, one_second).count("a/size"), 1);
    for failing in [1, usize::MAX] {
        let ran = run(&plan, 1e6, |call| match call.count <= failing {
            true => Reply::without_result(Outcome::Failed("no".into())),
            false => one_second(call),
        });
        assert_eq!(ran.count("a/size"), 2);
    }
}

#[test]
fn terms_of_differences_share_rounds() {
    let mut plan = plan(&["a/one", "a/noisy"]);
    let mut derived = benchmark("a/difference");
    derived.work = sum([(1.0, "a/one"), (1.0, "a/noisy")]);
    plan.benchmarks.push(derived);
    let stored = run(&plan, 1e6, one_second).launches();
    let rounds_of = |id: &str| rounds(&stored, |launch| launch.id.as_str() == id);
    assert_eq!(rounds_of("a/one"), rounds_of("a/noisy"));
    assert!(rounds_of("a/one").len() > MIN_LAUNCHES);
}

#[test]
fn copies_share_rounds() {
    let mut plan = plan(&["a/noisy"]);
    plan.steps.push(Step { copies: 4, ..plan.steps[0].clone() });
    let rounds_of =
        |launches: &[Launch], copies| rounds(launches, |launch| launch.copies == copies);
    let stored = run(&plan, 60.0, one_second).launches();
    assert!(rounds_of(&stored, 1).len() >= MIN_LAUNCHES, "{}", stored.len());
    assert_eq!(rounds_of(&stored, 1), rounds_of(&stored, 4));

    // a run interrupted after four rounds continues with both
    let mut all = interrupted(&plan, 60.0, 8, one_second);
    all.extend(resume(&[&plan], limits(60.0), &all, one_second).launches());
    assert_eq!(rounds_of(&all, 1), rounds_of(&all, 4));
    assert_eq!(&rounds_of(&all, 1)[..5], [0, 1, 2, 3, 4]);
}

#[test]
fn interrupted_runs_continue() {
    let plan = plan(&["a/one", "a/two"]);
    let first = interrupted(&plan, 100.0, 7, one_second);
    let rest = resume(&[&plan], limits(100.0), &first, one_second);
    for id in ["a/one", "a/two"] {
        let before = first.iter().filter(|launch| launch.id.as_str() == id);
        assert_eq!(before.count() + rest.count(id), MIN_LAUNCHES, "{id}");
    }
    let last = first.iter().map(|launch| launch.round).max().unwrap();
    assert!(rest.launches().iter().all(|launch| launch.round > last));
    // time spent before the interruption counts
    let late = resume(&[&plan], limits(9.0), &first, one_second);
    assert_eq!(late.stored.len(), 2);
}

#[test]
fn disturbed_repeats_are_bounded() {
    let ran = run(&plan(&["a/disturbed", "a/quiet"]), 1e6, |call| Reply {
        disturbed: call.id == "a/disturbed" && call.count % 3 == 0,
        ..Reply::measured(1.0, 100.0)
    });
    assert_eq!(ran.count("a/quiet"), MIN_LAUNCHES);
    let more = ran.count("a/disturbed") - MIN_LAUNCHES;
    assert!(more > 0 && more <= MIN_LAUNCHES / DISTURBED_PER_REPEAT, "{more}");
}

/// Contention doubles the time.
fn contended(contended: bool) -> Reply {
    Reply { contended, ..Reply::measured(1.0, if contended { 200.0 } else { 100.0 }) }
}

#[test]
fn contended_launches_are_replaced() {
    let ran = run(&plan(&["a/contended", "a/quiet"]), 1e6, |call| {
        contended(call.id == "a/contended" && matches!(call.count, 3 | 5))
    });
    assert_eq!(ran.count("a/quiet"), MIN_LAUNCHES);
    assert_eq!(ran.count("a/contended"), MIN_LAUNCHES + 2);
}

#[test]
fn permanent_neighbor_costs_few_launches() {
    for (quick, repeats) in [(true, 0), (false, MIN_LAUNCHES / DISTURBED_PER_REPEAT)] {
        let limits = Limits { quick, budget: None, ..limits(0.0) };
        let plan = plan(&["a/contended", "a/quiet"]);
        let reply = |call: &Call| contended(call.id == "a/contended");
        let ran = resume(&[&plan], limits, &[], reply);
        assert_eq!(ran.count("a/contended"), ran.count("a/quiet") + repeats);
    }
}

#[test]
fn background_load_is_not_contention() {
    // half of the launches are slow, and the probe sees the load: that is scatter of the benchmark
    let every_second = |call: &Call| contended(call.count.is_multiple_of(2));
    let mut plan = plan(&["a/loaded"]);
    let plain = run(&plan, 1e6, every_second).count("a/loaded");
    let Work::Kernel(work) = &mut plan.benchmarks[0].work else {
        panic!("not a workload");
    };
    work.uses = vec!["load/users".to_owned()];
    let loaded = run(&plan, 1e6, every_second).count("a/loaded");
    assert!(loaded > plain, "{loaded} {plain}");
}

#[test]
fn equal_loads_are_adjacent() {
    let mut plan = plan(&["a/1", "a/2", "a/3", "a/4"]);
    for benchmark in &mut plan.benchmarks[1..3] {
        let Work::Kernel(work) = &mut benchmark.work else {
            panic!("not a workload");
        };
        work.uses = vec!["load/users".to_owned()];
    }
    let ran = run(&plan, 1e6, one_second);
    let loaded = |id: &String| matches!(id.as_str(), "a/2" | "a/3");
    for round in ran.launched.chunks(4) {
        let changes = round.windows(2).filter(|two| loaded(&two[0]) != loaded(&two[1]));
        assert!(changes.count() <= 2, "{round:?}");
    }
}

#[test]
fn scatter_sets_launches_per_side() {
    let both = plan(&["a/one", "a/two"]);
    // the second side lacks a step
    let one = plan(&["a/two"]);
    let ran = resume(&[&both, &one], limits(1e6), &[], |call| {
        Reply::measured(1.0, if call.side == 1 { noisy(call) } else { 100.0 })
    });
    let rounds_of = |side: usize, id: &str| {
        let launches = ran
            .stored
            .iter()
            .filter(|(launch_side, l)| (*launch_side, l.id.as_str()) == (side, id));
        launches.map(|(_, launch)| launch.round).collect::<Vec<u32>>()
    };
    assert_eq!(rounds_of(0, "a/one").len(), MIN_LAUNCHES);
    assert_eq!(rounds_of(0, "a/two").len(), MIN_LAUNCHES);
    assert!(rounds_of(1, "a/one").is_empty());
    assert!(rounds_of(1, "a/two").len() > 3 * MIN_LAUNCHES);
    // each round of the pilot has all steps
    assert_eq!(rounds_of(0, "a/one")[..PILOT], [0, 1, 2, 3, 4, 5]);
    assert_eq!(rounds_of(1, "a/two")[..PILOT], [0, 1, 2, 3, 4, 5]);
}
