//! Runs: where their launches go, and when they end.

use super::*;
use crate::after_pilot::{AT_MOST, MAX_LAUNCHES, MIN_LAUNCHES, REPEATED};
use crate::rounds::rounds as rounds_of;
use gritstone_model::{RunData, Term};

pub fn limits(budget: f64) -> Limits {
    Limits {
        budget: Some(Duration::from_secs_f64(budget)),
        precision: 0.01,
        quick: false,
        seed: 7,
    }
}

/// Measures plans, one a side, after some time that is spent already.
fn go_on<'a>(
    plans: &[&Plan],
    limits: Limits,
    earlier: &[Launch],
    reply: impl FnMut(&Call) -> Reply + 'a,
) -> World<'a> {
    let mut world = World::new(reply);
    world.time = earlier.iter().map(|l| l.conditions.wall as f64 / 1e9).sum();
    let mut scheduler = AfterPilot::new(plans, limits, &Earlier::new());
    drive(plans, earlier, reader(false), &mut scheduler, &mut world).unwrap();
    world
}

fn run<'a>(plan: &Plan, budget: f64, reply: impl FnMut(&Call) -> Reply + 'a) -> World<'a> {
    go_on(&[plan], limits(budget), &[], reply)
}

/// Some launches of a run that is stopped then.
fn cut_off(plan: &Plan, budget: f64, after: usize, reply: fn(&Call) -> Reply) -> Vec<Launch> {
    let mut world = World::new(reply);
    world.stop_after = after;
    let mut scheduler = AfterPilot::new(&[plan], limits(budget), &Earlier::new());
    assert!(drive(&[plan], &[], reader(false), &mut scheduler, &mut world).is_err());
    world.launches()
}

/// Scatters by 3% of standard deviation or so, the same every time.
fn noisy(call: &Call) -> f64 {
    [97.0, 103.0, 99.0, 104.0, 96.0, 101.0][call.count % 6]
}

/// All steps take a second; those that are called noisy scatter.
fn second(call: &Call) -> Reply {
    let steady = !call.id.contains("noisy");
    Reply::of(1.0, if steady { 100.0 } else { noisy(call) })
}

fn rounds(launches: &[Launch], of: impl Fn(&Launch) -> bool) -> Vec<u32> {
    let own = launches.iter().filter(|launch| of(launch));
    own.map(|launch| launch.round).collect()
}

#[test]
fn time_goes_where_the_uncertainty_is() {
    let ran = run(&plan(&["a/steady", "a/noisy"]), 1e6, second);
    assert_eq!(ran.count("a/steady"), MIN_LAUNCHES);
    let noisy = ran.count("a/noisy");
    assert!(noisy > 3 * MIN_LAUNCHES && noisy <= MAX_LAUNCHES, "{noisy}");
}

#[test]
fn the_budget_holds_and_every_step_gets_its_least_when_that_fits() {
    let plan = plan(&["a/steady", "a/noisy", "a/slow"]);
    let reply = |call: &Call| match call.id.as_str() {
        "a/steady" => Reply::of(0.5, 100.0),
        "a/noisy" => Reply::of(1.0, noisy(call)),
        _ => Reply::of(3.0, noisy(call)),
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
    // what there is time for is used
    assert!(run(&plan, 100.0, reply).time > 90.0);
}

/// What earlier runs tell, by benchmark: seconds of a launch, and the scatter of launches.
fn earlier(known: &[(&str, f64, Option<f64>)]) -> Earlier {
    let one = |&(id, seconds, ln_sd): &(&str, f64, Option<f64>)| {
        let seconds = Some(seconds);
        ((Id::parse(id).unwrap(), 1), Known { seconds, ln_sd })
    };
    known.iter().map(one).collect()
}

fn knowing<'a>(
    plan: &Plan,
    limits: Limits,
    earlier: &Earlier,
    reply: impl FnMut(&Call) -> Reply + 'a,
) -> (World<'a>, Duration) {
    let mut world = World::new(reply);
    let mut scheduler = AfterPilot::new(&[plan], limits, earlier);
    let expected = scheduler.expected();
    drive(&[plan], &[], reader(false), &mut scheduler, &mut world).unwrap();
    (world, expected)
}

#[test]
fn a_budget_decides_how_many_are_begun_and_never_how_few_launches() {
    let names = ["a/1", "a/2", "a/3", "a/4", "a/long"];
    let reply = |call: &Call| Reply::of(if call.id == "a/long" { 5.0 } else { 1.0 }, 100.0);
    let costs = names.map(|id| (id, if id == "a/long" { 5.0 } else { 1.0 }, None));
    for seed in 0..20 {
        let measured = |budget, earlier: &Earlier| {
            let limits = Limits {
                seed,
                ..limits(budget)
            };
            let ran = knowing(&plan(&names), limits, earlier, reply).0;
            names.map(|id| ran.count(id))
        };
        // three pilots of six seconds fit, and what is left goes to what was begun
        assert_eq!(measured(20.0, &earlier(&costs)), [7, 6, 6, 0, 0]);
        assert_eq!(measured(51.0, &earlier(&costs)), [10, 10, 10, 10, 0]);
        assert_eq!(measured(56.0, &earlier(&costs)), [7, 6, 6, 6, 6]);
        // what nobody knows yet is begun once, and not gone on with where it does not fit
        assert_eq!(measured(51.0, &Earlier::new()), [10, 10, 10, 10, 1]);
    }
    // a first launch, which calibrates, takes longer: what did not fit by it is asked again
    let first = |call: &Call| Reply::of(if call.count == 1 { 1.0 } else { 0.25 }, 100.0);
    let ran = run(&plan(&["a/1", "a/2", "a/3", "a/4"]), 15.0, first);
    assert!(
        ["a/1", "a/2", "a/3", "a/4"]
            .iter()
            .all(|id| ran.count(id) >= 6)
    );
    // the order is that of the plan, and what does not fit ends it
    let turned = ["a/1", "a/long", "a/2", "a/3", "a/4"];
    let ran = knowing(&plan(&turned), limits(20.0), &earlier(&costs), reply).0;
    assert_eq!(turned.map(|id| ran.count(id)), [10, 0, 0, 0, 0]);
    // what alone does not fit is measured as far as time allows where nothing was known
    let ran = run(&plan(&["a/long"]), 12.0, reply);
    assert_eq!(ran.count("a/long"), 2);
}

#[test]
fn without_a_budget_everything_is_measured_and_precision_takes_a_multiple_of_the_time_at_most() {
    let within = |precision| {
        let limits = Limits {
            budget: None,
            precision,
            ..limits(0.0)
        };
        let plan = plan(&["a/noisy", "a/noisy-too", "a/other"]);
        let ran = go_on(&[&plan], limits, &[], second);
        ["a/noisy", "a/noisy-too", "a/other"].map(|id| ran.count(id))
    };
    let asked = within(0.02);
    assert_eq!(asked[2], MIN_LAUNCHES);
    assert!(
        asked[..2].iter().all(|n| (11..=20).contains(n)),
        "{asked:?}"
    );
    let unattainable = within(1e-6);
    let most = 3 * MIN_LAUNCHES * AT_MOST as usize;
    let all: usize = unattainable.iter().sum();
    assert!(all <= most && all > most - 3, "{unattainable:?}");
}

#[test]
fn a_quick_run_makes_six_launches_of_everything() {
    let limits = Limits {
        budget: None,
        quick: true,
        ..limits(0.0)
    };
    let names = ["a/noisy", "a/steady"];
    let known = earlier(&[("a/noisy", 2.0, None), ("a/steady", 3.0, None)]);
    let (ran, expected) = knowing(&plan(&names), limits, &known, second);
    assert_eq!(names.map(|id| ran.count(id)), [PILOT; 2]);
    assert_eq!(expected, Duration::from_secs(30));
}

#[test]
fn what_an_entry_asks_for_is_expected_of_its_launches() {
    let mut plan = plan(&["a/steady", "a/slow"]);
    let Work::Kernel(work) = &mut plan.benchmarks[1].work else {
        panic!("not a workload")
    };
    let asked = [("target_ns", "1000000000"), ("sample_ns", "2000000000")];
    let asked = asked.map(|(key, value)| (key.to_owned(), value.to_owned()));
    work.params.extend(asked);
    let (_, expected) = knowing(&plan, limits(1e6), &Earlier::new(), second);
    assert_eq!(expected, Duration::from_secs_f64(10.0 * (0.25 + 4.0)));
}

#[test]
fn a_scatter_that_earlier_runs_tell_says_how_many_launches() {
    // 1.96 * 0.02 / ln(1.01) squared is 15.5
    let known = earlier(&[("a/steady", 1.0, Some(0.02)), ("a/noisy", 1.0, Some(0.02))]);
    let plan = plan(&["a/steady", "a/noisy"]);
    let ran = knowing(&plan, limits(1e6), &known, second).0;
    assert_eq!(ran.count("a/steady"), 16);
    // what scatters more than it did gets more
    assert!(ran.count("a/noisy") > 30);
}

#[test]
fn earlier_runs_tell_time_and_scatter() {
    let plan = plan(&["a/noisy", "a/steady"]);
    let data = |benchmarks: &[Benchmark], launches: Vec<Launch>| RunData {
        benchmarks: benchmarks.to_vec(),
        launches,
        ..RunData::default()
    };
    let launches = run(&plan, 1e6, |call| Reply::of(1.5, noisy(call))).launches();
    let same = data(&plan.benchmarks, launches.clone());
    let step = |id: &str| (Id::parse(id).unwrap(), 1);
    let two = learn(&[same.clone(), same.clone()], &plan.benchmarks);
    let known = two[&step("a/noisy")];
    assert_eq!((known.seconds, known.ln_sd), (Some(1.5), None));
    let runs = [same.clone(), same.clone(), same.clone()];
    let sd = learn(&runs, &plan.benchmarks)[&step("a/noisy")]
        .ln_sd
        .unwrap();
    assert!((0.02..0.05).contains(&sd), "{sd}");
    // what did other work tells nothing of this
    let mut other = plan.benchmarks.clone();
    other[0].version += 1;
    assert_eq!(learn(&runs, &other)[&step("a/noisy")].ln_sd, None);
}

#[test]
fn rounds_are_interleaved_in_orders_that_the_seed_repeats() {
    let plan = plan(&["a/one", "a/two", "a/three", "a/four"]);
    let order = |seed| {
        let limits = Limits {
            budget: None,
            seed,
            ..limits(1e6)
        };
        go_on(&[&plan], limits, &[], second).launched
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
    // six rounds of the pilot, and those that are missing
    let names = ["a/one", "a/two", "a/three", "a/four"];
    let missing = [MIN_LAUNCHES - PILOT; 4];
    let planned = [rounds_of(&[PILOT; 4], 7), rounds_of(&missing, 8)].concat();
    let planned = planned.concat().into_iter().map(|at| names[at]);
    assert!(planned.eq(first.iter().map(String::as_str)));
}

#[test]
fn what_fails_is_kept_and_not_tried_for_ever() {
    let plan = plan(&["a/fails", "a/hangs", "a/skips", "a/once", "a/good"]);
    let ran = run(&plan, 1e6, |call| match (call.id.as_str(), call.count) {
        ("a/fails", _) | ("a/once", 5) => Reply::without_result(Outcome::Failed("no".into())),
        ("a/hangs", _) => Reply::without_result(Outcome::TimedOut("60 s".into())),
        ("a/skips", _) => Reply::without_result(Outcome::Skipped("no card".into())),
        _ => Reply::of(1.0, 100.0),
    });
    assert_eq!(ran.count("a/fails"), 2);
    assert_eq!(ran.count("a/hangs"), 1);
    assert_eq!(ran.count("a/skips"), 1);
    assert_eq!(ran.count("a/good"), MIN_LAUNCHES);
    // one failure among many does not end it
    assert!(ran.count("a/once") > MIN_LAUNCHES / 2);
}

#[test]
fn a_size_is_asked_for_once() {
    let mut plan = plan(&["a/size"]);
    plan.benchmarks[0].unit = Unit::parse("bytes").unwrap();
    assert_eq!(run(&plan, 1e6, second).count("a/size"), 1);
}

#[test]
fn the_terms_of_a_difference_share_their_rounds() {
    let mut plan = plan(&["a/one", "a/noisy"]);
    let mut derived = benchmark("a/difference");
    let term = |id| Term {
        id: Id::parse(id).unwrap(),
        times: 1.0,
    };
    derived.work = Work::Derived {
        terms: ["a/one", "a/noisy"].map(term).into(),
        share_of: None,
    };
    plan.benchmarks.push(derived);
    let kept = run(&plan, 1e6, second).launches();
    let of = |id: &str| rounds(&kept, |launch| launch.id.as_str() == id);
    assert_eq!(of("a/one"), of("a/noisy"));
    assert!(of("a/one").len() > MIN_LAUNCHES);
}

#[test]
fn one_copy_and_several_share_their_rounds() {
    let mut plan = plan(&["a/noisy"]);
    plan.steps.push(Step {
        copies: 4,
        ..plan.steps[0].clone()
    });
    let of = |launches: &[Launch], copies| rounds(launches, |launch| launch.copies == copies);
    let kept = run(&plan, 60.0, second).launches();
    assert!(of(&kept, 1).len() >= MIN_LAUNCHES, "{}", kept.len());
    assert_eq!(of(&kept, 1), of(&kept, 4));

    // what was cut off after four rounds goes on with both
    let mut all = cut_off(&plan, 60.0, 8, second);
    all.extend(go_on(&[&plan], limits(60.0), &all, second).launches());
    assert_eq!(of(&all, 1), of(&all, 4));
    assert_eq!(&of(&all, 1)[..5], [0, 1, 2, 3, 4]);
}

#[test]
fn a_run_that_was_cut_off_goes_on_where_it_stopped() {
    let plan = plan(&["a/one", "a/two"]);
    let cut = cut_off(&plan, 100.0, 7, second);
    let rest = go_on(&[&plan], limits(100.0), &cut, second);
    for id in ["a/one", "a/two"] {
        let before = cut.iter().filter(|launch| launch.id.as_str() == id);
        assert_eq!(before.count() + rest.count(id), MIN_LAUNCHES, "{id}");
    }
    let last = cut.iter().map(|launch| launch.round).max().unwrap();
    assert!(rest.launches().iter().all(|launch| launch.round > last));
    // the time that was spent before counts
    let late = go_on(&[&plan], limits(9.0), &cut, second);
    assert_eq!(late.kept.len(), 2);
}

#[test]
fn disturbed_launches_are_repeated_within_a_bound() {
    let ran = run(&plan(&["a/disturbed", "a/quiet"]), 1e6, |call| Reply {
        disturbed: call.id == "a/disturbed" && call.count % 3 == 0,
        ..Reply::of(1.0, 100.0)
    });
    assert_eq!(ran.count("a/quiet"), MIN_LAUNCHES);
    let more = ran.count("a/disturbed") - MIN_LAUNCHES;
    assert!(more > 0 && more <= MIN_LAUNCHES / REPEATED, "{more}");
}

/// Launches that are crowded take twice as long.
fn beside(crowded: bool) -> Reply {
    Reply {
        crowded,
        ..Reply::of(1.0, if crowded { 200.0 } else { 100.0 })
    }
}

#[test]
fn crowded_launches_are_made_again_and_say_nothing_of_the_scatter() {
    let ran = run(&plan(&["a/crowded", "a/quiet"]), 1e6, |call| {
        beside(call.id == "a/crowded" && matches!(call.count, 3 | 5))
    });
    assert_eq!(ran.count("a/quiet"), MIN_LAUNCHES);
    assert_eq!(ran.count("a/crowded"), MIN_LAUNCHES + 2);
}

#[test]
fn beside_a_load_of_our_own_no_launch_is_crowded() {
    // half of the launches are slow, and their cycle probe felt it: that is the load, and the scatter is the benchmark's own
    let every_second = |call: &Call| beside(call.count.is_multiple_of(2));
    let mut plan = plan(&["a/loaded"]);
    let plain = run(&plan, 1e6, every_second).count("a/loaded");
    let Work::Kernel(work) = &mut plan.benchmarks[0].work else {
        panic!("a kernel");
    };
    work.uses = vec!["load/users".to_owned()];
    let loaded = run(&plan, 1e6, every_second).count("a/loaded");
    assert!(loaded > plain, "{loaded} {plain}");
}

#[test]
fn what_is_measured_under_one_load_comes_together() {
    let mut plan = plan(&["a/1", "a/2", "a/3", "a/4"]);
    for benchmark in &mut plan.benchmarks[1..3] {
        let Work::Kernel(work) = &mut benchmark.work else {
            panic!("a kernel");
        };
        work.uses = vec!["load/users".to_owned()];
    }
    let ran = run(&plan, 1e6, second);
    let loaded = |id: &String| matches!(id.as_str(), "a/2" | "a/3");
    for round in ran.launched.chunks(4) {
        let changes = round
            .windows(2)
            .filter(|two| loaded(&two[0]) != loaded(&two[1]));
        assert!(changes.count() <= 2, "{round:?}");
    }
}

#[test]
fn sides_take_turns_and_each_gets_what_its_own_scatter_calls_for() {
    let both = plan(&["a/one", "a/two"]);
    // the second side lacks a step
    let one = plan(&["a/two"]);
    let ran = go_on(&[&both, &one], limits(1e6), &[], |call| {
        Reply::of(1.0, if call.side == 1 { noisy(call) } else { 100.0 })
    });
    let of = |side: usize, id: &str| {
        let own = ran
            .kept
            .iter()
            .filter(|(at, l)| (*at, l.id.as_str()) == (side, id));
        own.map(|(_, launch)| launch.round).collect::<Vec<u32>>()
    };
    assert_eq!(of(0, "a/one").len(), MIN_LAUNCHES);
    assert_eq!(of(0, "a/two").len(), MIN_LAUNCHES);
    assert!(of(1, "a/one").is_empty());
    assert!(of(1, "a/two").len() > 3 * MIN_LAUNCHES);
    // in the pilot each round has all of them
    assert_eq!(of(0, "a/one")[..PILOT], [0, 1, 2, 3, 4, 5]);
    assert_eq!(of(1, "a/two")[..PILOT], [0, 1, 2, 3, 4, 5]);
}
