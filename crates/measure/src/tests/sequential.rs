//! Trials.

use super::*;
use gritstone_stats::interim::{
    INTERIM_ANALYSES, LEVEL, MAX_PAIRS, MIN_PAIRS, decide_all, is_decided,
};
use gritstone_stats::verdict::Verdict;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// The second side takes `factor` times as long, later ones 1.3 times; a launch takes a second.
struct Machine {
    random: Pcg64,
    factor: f64,
    /// Slowdown of the machine, by launch number.
    slowdown: fn(usize) -> f64,
}

impl Machine {
    fn new(seed: u64, factor: f64) -> Self {
        Self { random: Pcg64::seed_from_u64(seed), factor, slowdown: |_| 1.0 }
    }

    /// Approximately normal: the sum of twelve uniform numbers.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.random.random::<f64>()).sum::<f64>() - 6.0
    }

    fn launch(&mut self, call: &Call) -> Reply {
        let factor = [1.0, self.factor].get(call.side).copied().unwrap_or(1.3);
        let scatter = 1.0 + 0.01 * self.normal();
        Reply::measured(1.0, 1e6 * factor * (self.slowdown)(call.before) * scatter)
    }
}

fn design(sides: usize, seconds: u64) -> Design {
    Design {
        steps: 1,
        sides,
        start_up: false,
        reference: false,
        budget: Duration::from_secs(seconds),
        margin: 0.01,
        seed: 5,
    }
}

fn compare<'a>(
    design: Design,
    reply: impl FnMut(&Call) -> Reply + 'a,
) -> (FakeBackend<'a>, Vec<Times>) {
    let ids: Vec<String> = (0..design.steps).map(|step| format!("a/{step}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut plans = vec![plan(&ids); design.sides];
    if design.start_up {
        plans[0] = plan(&[&ids[..], &["a/nothing"]].concat());
    }
    let mut backend = FakeBackend::new(reply);
    let mut scheduler = Sequential::new(design);
    let plans: Vec<&Plan> = plans.iter().collect();
    drive(&plans, &[], reader(true), &mut scheduler, &mut backend).unwrap();
    let times = scheduler.times();
    (backend, times)
}

fn verdict(times: &[Times]) -> Verdict {
    decide_all(times, |_| 0.01, true)[0][0].verdict
}

#[test]
fn pairs_have_random_order() {
    let mut machine = Machine::new(1, 1.0);
    let (backend, _) = compare(design(2, 24), |call| machine.launch(call));
    let pairs: Vec<_> = backend.stored.chunks(2).collect();
    assert_eq!(pairs.len(), 12);
    for (round, pair) in pairs.iter().enumerate() {
        let mut sides: Vec<usize> = pair.iter().map(|(side, _)| *side).collect();
        sides.sort_unstable();
        assert_eq!(sides, [0, 1]);
        assert!(pair.iter().all(|(_, launch)| launch.round as usize == round));
    }
    let first = pairs.iter().filter(|pair| pair[0].0 == 0).count();
    assert!((2..=10).contains(&first), "{first} of 12");
    // a pair counts when complete
    for (shown, rounds) in backend.shown.iter().zip([0, 0, 1]) {
        assert!(shown.starts_with(&format!("after {rounds} rounds")), "{shown}");
    }
}

#[test]
fn decided_trials_end() {
    let mut machine = Machine::new(2, 1.5);
    let (backend, times) = compare(design(2, 1000), |call| machine.launch(call));
    assert_eq!(backend.stored.len(), 2 * MIN_PAIRS);
    assert_eq!(verdict(&times), Verdict::Slower);
}

#[test]
fn budget_or_last_analysis_ends() {
    let mut short = Machine::new(3, 1.003);
    let (backend, times) = compare(design(2, 31), |call| short.launch(call));
    assert_eq!((times[0].rounds(), backend.stored.len()), (15, 30));
    // scatter from an eighth to eightfold hides everything
    let mut wild = Machine::new(4, 1.0);
    wild.slowdown = |launch| 8_f64.powf((launch * launch / 3 * 7919 % 101) as f64 / 50.0 - 1.0);
    let (_, times) = compare(design(2, 20_000), |call| wild.launch(call));
    assert_eq!(verdict(&times), Verdict::Inconclusive);
    assert_eq!(times[0].rounds(), MAX_PAIRS);
}

#[test]
fn contended_pairs_are_replaced() {
    let mut machine = Machine::new(9, 1.5);
    // the fifth pair, and one launch of the seventh
    let (backend, times) = compare(design(2, 1000), |call| Reply {
        contended: matches!(call.before, 8 | 9 | 13),
        ..machine.launch(call)
    });
    assert_eq!(backend.stored.len(), 2 * (MIN_PAIRS + 2));
    assert_eq!((times[0].rounds(), times[0].compared_pairs()), (14, vec![12]));
}

#[test]
fn decided_steps_free_time() {
    let mut machine = Machine::new(5, 1.5);
    let design = Design { steps: 3, ..design(2, 10_000) };
    let (backend, times) = compare(design, |call| machine.launch(call));
    assert!(times.iter().all(|step| step.rounds() == MIN_PAIRS));
    let orders: Vec<&String> = backend.launched.chunks(6).map(|round| &round[0]).collect();
    assert!(orders.iter().any(|id| *id != orders[0]), "{orders:?}");
}

#[test]
fn dropped_sides_free_time() {
    let mut machine = Machine::new(8, 1.004);
    // slower from the second analysis on: dropped sides, launched before, must not seem faster
    machine.slowdown = |launch| {
        if launch < 4 * MIN_PAIRS { 1.0 } else { 2.0 }
    };
    let (backend, times) = compare(design(4, 10_000), |call| machine.launch(call));
    let launches =
        |side| backend.stored.iter().filter(|(launch_side, _)| *launch_side == side).count();
    assert_eq!((launches(2), launches(3)), (MIN_PAIRS, MIN_PAIRS));
    assert!(launches(0) > MIN_PAIRS && launches(0) == launches(1));
    assert_eq!(times[0].rounds(), launches(0));
    assert!(times[0].best().is_some_and(|best| best < 2));
    // later rounds have both candidates
    let last = &backend.stored[4 * MIN_PAIRS..];
    assert!(last.chunks(2).all(|pair| pair[0].1.round == pair[1].1.round));
}

#[test]
fn failing_steps_are_closed() {
    let failed = || Reply::without_result(Outcome::Failed("no".into()));
    let mut machine = Machine::new(6, 1.0);
    let (backend, times) = compare(design(2, 1000), |call| match call.side {
        1 => failed(),
        _ => machine.launch(call),
    });
    assert_eq!((backend.stored.len(), times[0].rounds()), (4, 0));
    // one failure in twenty is the machine's
    let mut machine = Machine::new(6, 1.5);
    let (backend, times) = compare(design(2, 1000), |call| match (call.side, call.count) {
        (1, 4) => failed(),
        _ => machine.launch(call),
    });
    assert_eq!((backend.stored.len(), times[0].rounds()), (26, 12));
    assert_eq!(verdict(&times), Verdict::Slower);
}

#[test]
fn start_up_follows_first_side() {
    let mut machine = Machine::new(10, 1.5);
    let design = Design { steps: 2, start_up: true, ..design(2, 1000) };
    let (backend, times) = compare(design, |call| machine.launch(call));
    assert_eq!(backend.count("a/nothing"), 10);
    let nothing = |index: usize| backend.stored[index].1.id.as_str() == "a/nothing";
    for index in (0..backend.stored.len()).filter(|&index| nothing(index)) {
        let [(side, before), (same, launch)] = &backend.stored[index - 1..=index] else {
            panic!("two launches");
        };
        assert_eq!((*side, *same, before.id.as_str()), (0, 0, "a/0"));
        assert_eq!(launch.round, before.round);
    }
    // its time counts for no side
    assert!(times.iter().all(|step| step.rounds() == MIN_PAIRS));
}

/// 200 A/A tests under slowdowns that would mislead sides measured one after the other.
#[test]
fn equal_sides_rarely_differ() {
    let slowdowns: [fn(usize) -> f64; 4] = [
        |_| 1.0,
        |launch| 1.0 + 0.002 * launch as f64,
        |launch| if launch % 7 == 3 { 1.4 } else { 1.0 },
        |launch| if launch / 9 % 2 == 0 { 1.25 } else { 1.0 },
    ];
    let mut called = 0;
    for trial in 0..200_u64 {
        let mut machine = Machine::new(100 + trial, 1.0);
        machine.slowdown = slowdowns[trial as usize % 4];
        let design = Design { seed: trial, ..design(2, 120) };
        let (_, times) = compare(design, |call| machine.launch(call));
        called += usize::from(matches!(verdict(&times), Verdict::Faster | Verdict::Slower));
    }
    // at a rate of .01, 7 or more of 200 have a probability below .01
    assert!((LEVEL - 0.01).abs() < 1e-12 && called <= 6, "{called} of 200");
}

#[test]
fn drift_hides_no_two_percent() {
    let mut found = 0;
    for trial in 0..200_u64 {
        let mut machine = Machine::new(500 + trial, 1.02);
        machine.slowdown = |launch| 1.0 + 0.002 * launch as f64;
        let design = Design { seed: trial, ..design(2, 400) };
        let (_, times) = compare(design, |call| machine.launch(call));
        found += usize::from(verdict(&times) == Verdict::Slower);
    }
    // at a rate of .95, 181 or fewer of 200 have a probability below .01
    assert!(found >= 182, "{found} of 200");
}

/// Also where contended pairs are excluded.
#[test]
fn early_ends_are_decided() {
    let mut early = 0;
    for seed in 0..400 {
        let mut machine = Machine::new(seed, 0.35);
        let mut busy = Pcg64::seed_from_u64(seed + 1000);
        let design = Design { seed, ..design(3, 1_000_000) };
        let (_, times) = compare(design, |call| {
            let mut reply = machine.launch(call);
            reply.contended = busy.random::<f64>() < 0.05;
            if busy.random::<f64>() < 0.2 {
                reply.ns = reply.ns.map(|ns| 3.0 * ns);
            }
            reply
        });
        let judged = decide_all(&times, |_| 0.01, true);
        let is_early = times[0].compared_pairs().iter().all(|&pairs| pairs < INTERIM_ANALYSES[7]);
        early += usize::from(is_early);
        assert!(!is_early || is_decided(&times[0], &judged[0], false), "seed {seed}");
    }
    assert!(early > 300, "{early}");
}
