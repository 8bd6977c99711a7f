//! The measuring loop under a made-up executor and a made-up clock, where everything is exact.

use super::*;
use gritstone_exec::ExecError;
use gritstone_model::{COPY, Check, Event, KernelWork, Sample, Term, Unit, Usage};
use std::cell::Cell;
use std::rc::Rc;

/// A row whose launches are known: seconds each takes, and the wall time of the k-th.
struct Made {
    id: &'static str,
    seconds: f64,
    wall: fn(u64) -> Result<u64, Outcome>,
}

/// Wall times above this come with a wide pacer that felt another thread.
const CROWDED: u64 = 10_000_000;

struct World {
    time: Rc<Cell<f64>>,
    rows: Vec<(Made, u64)>,
    interrupt_after: usize,
    launched: Vec<String>,
}

impl Execute for World {
    fn launch_copies(
        &mut self,
        benchmark: &Benchmark,
        _: &[u32],
        copies: u32,
    ) -> Result<Launched, ExecError> {
        if self.launched.len() == self.interrupt_after {
            return Err(ExecError::Interrupted);
        }
        self.launched.push(benchmark.id.to_string());
        let (made, count) = self
            .rows
            .iter_mut()
            .find(|(made, _)| made.id == benchmark.id.as_str())
            .unwrap();
        *count += 1;
        self.time.set(self.time.get() + made.seconds);
        let (outcome, events) = match (made.wall)(*count) {
            Ok(wall) => (
                Outcome::Measured,
                vec![
                    Event::Sample(Box::new(Sample {
                        n: 1000,
                        wall,
                        pace: 250_000,
                        // somebody else's work beside it shows in both
                        wide: if wall > CROWDED { 100_000 } else { 62_500 },
                        usage: Usage::default(),
                    })),
                    Event::Check(Check::default()),
                    Event::Bye,
                ],
            ),
            Err(outcome) => (outcome, vec![]),
        };
        let copy = |number: u32| Event::Param {
            key: COPY.to_owned(),
            value: number.to_string(),
        };
        let events = match copies {
            1 => events,
            _ => (1..=copies)
                .flat_map(|number| [vec![copy(number)], events.clone()].concat())
                .collect(),
        };
        Ok(Launched {
            outcome,
            events,
            cpu: 0,
        })
    }
}

struct Notes {
    time: Rc<Cell<f64>>,
    kept: Vec<Launch>,
    full_after: usize,
}

impl Ways for Notes {
    fn now(&self) -> Duration {
        Duration::from_secs_f64(self.time.get())
    }
    fn before(&mut self, _: &Progress<'_>) {}
    fn after(&mut self, benchmark: &Benchmark, _: &Launched) -> Conditions {
        let disturbed = benchmark.id.as_str() == "a/disturbed" && self.kept.len().is_multiple_of(3);
        Conditions {
            wall: 1_000_000_000,
            steal: Some(if disturbed { 500_000_000 } else { 0 }),
            ..Conditions::default()
        }
    }
    fn keep(&mut self, launch: &Launch) -> Result<()> {
        anyhow::ensure!(self.kept.len() < self.full_after, "the disc is full");
        self.kept.push(launch.clone());
        Ok(())
    }
}

fn benchmark(id: &str) -> Benchmark {
    Benchmark {
        title: id.to_owned(),
        ..Benchmark::new(
            Id::parse(id).unwrap(),
            Unit::parse("ns/call").unwrap(),
            Work::Kernel(KernelWork {
                program: id.to_owned(),
                params: BTreeMap::new(),
                uses: vec![],
            }),
        )
    }
}

fn plan(rows: &[&'static str]) -> Plan {
    Plan {
        steps: rows
            .iter()
            .map(|id| Step {
                id: Id::parse(id).unwrap(),
                cpus: vec![1],
                copies: 1,
            })
            .collect(),
        benchmarks: rows.iter().map(|id| benchmark(id)).collect(),
        skips: vec![],
    }
}

fn limits(budget: f64) -> Limits {
    Limits {
        budget: Duration::from_secs_f64(budget),
        precision: 0.01,
        seed: 7,
    }
}

struct Ran {
    kept: Vec<Launch>,
    order: Vec<String>,
    time: f64,
    result: Result<()>,
}

impl Ran {
    fn count(&self, id: &str) -> usize {
        self.kept.iter().filter(|l| l.id.as_str() == id).count()
    }
}

fn run_with(plan: &Plan, rows: Vec<Made>, limits: &Limits, interrupt: usize, full: usize) -> Ran {
    go_on(plan, rows, limits, &[], interrupt, full)
}

fn go_on(
    plan: &Plan,
    rows: Vec<Made>,
    limits: &Limits,
    earlier: &[Launch],
    interrupt: usize,
    full: usize,
) -> Ran {
    let spent = earlier.iter().map(|l| l.conditions.wall as f64 / 1e9).sum();
    let time = Rc::new(Cell::new(spent));
    let mut world = World {
        time: Rc::clone(&time),
        rows: rows.into_iter().map(|made| (made, 0)).collect(),
        interrupt_after: interrupt,
        launched: vec![],
    };
    let mut notes = Notes {
        time: Rc::clone(&time),
        kept: vec![],
        full_after: full,
    };
    let result = measure(plan, limits, earlier, &mut world, &mut notes);
    Ran {
        kept: notes.kept,
        order: world.launched,
        time: time.get(),
        result,
    }
}

fn run(plan: &Plan, rows: Vec<Made>, limits: &Limits) -> Ran {
    run_with(plan, rows, limits, usize::MAX, usize::MAX)
}

fn steady(id: &'static str, seconds: f64) -> Made {
    Made {
        id,
        seconds,
        wall: |_| Ok(100_000),
    }
}

/// Scatters by 3 % of standard deviation or so, the same every time.
fn noisy(id: &'static str, seconds: f64) -> Made {
    Made {
        id,
        seconds,
        wall: |k| Ok([97_000, 103_000, 99_000, 104_000, 96_000, 101_000][k as usize % 6]),
    }
}

#[test]
fn time_goes_where_the_uncertainty_is() {
    let plan = plan(&["a/steady", "a/noisy"]);
    let ran = run(
        &plan,
        vec![steady("a/steady", 1.0), noisy("a/noisy", 1.0)],
        &limits(1e6),
    );
    ran.result.as_ref().unwrap();
    assert_eq!(ran.count("a/steady"), LEAST);
    assert!(ran.count("a/noisy") > 4 * LEAST, "{}", ran.count("a/noisy"));
    assert!(ran.count("a/noisy") <= MOST);
}

#[test]
fn the_budget_holds_and_every_row_gets_its_least_when_that_fits() {
    let plan = plan(&["a/steady", "a/noisy", "a/slow"]);
    let rows = || {
        vec![
            steady("a/steady", 0.5),
            noisy("a/noisy", 1.0),
            noisy("a/slow", 3.0),
        ]
    };
    for budget in [20.0, 46.5, 60.0, 200.0] {
        let ran = run(&plan, rows(), &limits(budget));
        ran.result.as_ref().unwrap();
        assert!(ran.time <= budget, "{} of {budget}", ran.time);
        if budget >= 47.0 {
            for id in ["a/steady", "a/noisy", "a/slow"] {
                assert!(ran.count(id) >= LEAST, "{id} in {budget} s");
            }
        }
    }
    // what there is time for is used
    assert!(run(&plan, rows(), &limits(200.0)).time > 180.0);
}

#[test]
fn a_round_for_which_there_is_no_time_takes_what_is_quick_first() {
    let names = ["a/1", "a/2", "a/3", "a/4", "a/long"];
    let rows = || names.map(|id| steady(id, if id == "a/long" { 5.0 } else { 1.0 }));
    for seed in 0..20 {
        let limits = Limits {
            seed,
            ..limits(f64::from(5 * 9 + 6))
        };
        let ran = run(&plan(&names), rows().into(), &limits);
        ran.result.as_ref().unwrap();
        assert_eq!(names.map(|id| ran.count(id)), [6, 6, 6, 6, 5]);
    }
}

#[test]
fn rounds_are_interleaved_in_orders_that_the_seed_repeats() {
    let names = ["a/one", "a/two", "a/three", "a/four"];
    let plan = plan(&names);
    let rows = || names.iter().map(|id| steady(id, 0.1)).collect();
    let ran = run(&plan, rows(), &limits(1e6));
    for round in ran.order.chunks(names.len()) {
        let mut sorted: Vec<&str> = round.iter().map(String::as_str).collect();
        sorted.sort_unstable();
        assert_eq!(sorted, ["a/four", "a/one", "a/three", "a/two"]);
    }
    let first = &ran.order[..4];
    assert!(
        ran.order.chunks(4).any(|round| round != first),
        "orders differ"
    );
    assert_eq!(ran.order, run(&plan, rows(), &limits(1e6)).order);
    let other = Limits {
        seed: 8,
        ..limits(1e6)
    };
    assert_ne!(ran.order, run(&plan, rows(), &other).order);
}

#[test]
fn what_fails_is_kept_and_not_tried_for_ever() {
    let plan = plan(&["a/fails", "a/hangs", "a/skips", "a/once", "a/good"]);
    let rows = vec![
        Made {
            id: "a/fails",
            seconds: 1.0,
            wall: |_| Err(Outcome::Failed("open: no".into())),
        },
        Made {
            id: "a/hangs",
            seconds: 1.0,
            wall: |_| Err(Outcome::TimedOut("60 s".into())),
        },
        Made {
            id: "a/skips",
            seconds: 1.0,
            wall: |_| Err(Outcome::Skipped("no card".into())),
        },
        Made {
            id: "a/once",
            seconds: 1.0,
            wall: |k| {
                if k == 5 {
                    Err(Outcome::Failed("once".into()))
                } else {
                    Ok(100_000)
                }
            },
        },
        steady("a/good", 1.0),
    ];
    let ran = run(&plan, rows, &limits(1e6));
    ran.result.as_ref().unwrap();
    assert_eq!(ran.count("a/fails"), 2);
    assert_eq!(ran.count("a/hangs"), 1);
    assert_eq!(ran.count("a/skips"), 1);
    assert_eq!(ran.count("a/good"), LEAST);
    assert!(
        ran.count("a/once") > LEAST / 2,
        "one failure among many does not end a row"
    );
}

#[test]
fn a_size_is_asked_for_once() {
    let mut plan = plan(&["a/size"]);
    plan.benchmarks[0].unit = Unit::parse("bytes").unwrap();
    let ran = run(&plan, vec![steady("a/size", 1.0)], &limits(1e6));
    assert_eq!(ran.count("a/size"), 1);
}

#[test]
fn the_terms_of_a_difference_share_their_rounds() {
    let mut plan = plan(&["a/one", "a/two"]);
    let mut derived = benchmark("a/difference");
    derived.work = Work::Derived {
        terms: ["a/one", "a/two"]
            .map(|id| Term {
                id: Id::parse(id).unwrap(),
                times: 1.0,
            })
            .into(),
        share_of: None,
    };
    plan.benchmarks.push(derived);
    let ran = run(
        &plan,
        vec![steady("a/one", 1.0), noisy("a/two", 1.0)],
        &limits(1e6),
    );
    let rounds = |id: &str| -> Vec<u32> {
        let of = ran.kept.iter().filter(|l| l.id.as_str() == id);
        of.map(|l| l.round).collect()
    };
    assert_eq!(rounds("a/one"), rounds("a/two"));
    assert!(rounds("a/one").len() > LEAST);
}

#[test]
fn one_copy_and_several_share_their_rounds() {
    let mut plan = plan(&["a/noisy"]);
    plan.steps.push(Step {
        copies: 4,
        ..plan.steps[0].clone()
    });
    let rows = || vec![noisy("a/noisy", 1.0)];
    let limits = limits(60.0);
    let rounds = |kept: &[Launch], copies: u32| -> Vec<u32> {
        let own = kept.iter().filter(|launch| launch.copies == copies);
        own.map(|launch| launch.round).collect()
    };
    let ran = run(&plan, rows(), &limits);
    assert!(rounds(&ran.kept, 1).len() >= LEAST, "{}", ran.kept.len());
    assert_eq!(rounds(&ran.kept, 1), rounds(&ran.kept, 4));

    // what was cut off after four rounds goes on with both
    let cut = run_with(&plan, rows(), &limits, 8, usize::MAX);
    let rest = go_on(&plan, rows(), &limits, &cut.kept, usize::MAX, usize::MAX);
    let all: Vec<Launch> = cut.kept.into_iter().chain(rest.kept).collect();
    assert_eq!(rounds(&all, 1), rounds(&all, 4));
    assert_eq!(&rounds(&all, 1)[..5], [0, 1, 2, 3, 4]);
}

#[test]
fn a_request_to_stop_and_a_full_disc_keep_what_is_finished() {
    let plan = plan(&["a/one", "a/two"]);
    let rows = || vec![steady("a/one", 1.0), steady("a/two", 1.0)];
    let stopped = run_with(&plan, rows(), &limits(1e6), 5, usize::MAX);
    let error = stopped.result.unwrap_err();
    assert!(matches!(error.downcast_ref(), Some(ExecError::Interrupted)));
    assert_eq!(stopped.kept.len(), 5);

    let full = run_with(&plan, rows(), &limits(1e6), usize::MAX, 3);
    assert_eq!(full.result.unwrap_err().to_string(), "the disc is full");
    assert_eq!(full.kept.len(), 3);
    assert_eq!(full.order.len(), 4, "nothing is launched after it");
}

#[test]
fn a_run_that_was_cut_off_goes_on_where_it_stopped() {
    let plan = plan(&["a/one", "a/two"]);
    let rows = || vec![steady("a/one", 1.0), steady("a/two", 1.0)];
    let cut = run_with(&plan, rows(), &limits(100.0), 7, usize::MAX);
    assert_eq!(cut.kept.len(), 7);
    let rest = go_on(
        &plan,
        rows(),
        &limits(100.0),
        &cut.kept,
        usize::MAX,
        usize::MAX,
    );
    rest.result.as_ref().unwrap();
    for id in ["a/one", "a/two"] {
        assert_eq!(cut.count(id) + rest.count(id), LEAST, "{id}");
    }
    let last = cut.kept.iter().map(|l| l.round).max().unwrap();
    assert!(rest.kept.iter().all(|l| l.round > last));
    // the time that was spent before counts
    let late = go_on(
        &plan,
        rows(),
        &limits(9.0),
        &cut.kept,
        usize::MAX,
        usize::MAX,
    );
    assert_eq!(late.kept.len(), 2);
}

#[test]
fn disturbed_launches_are_repeated_within_a_bound() {
    let plan = plan(&["a/disturbed", "a/quiet"]);
    let rows = || vec![steady("a/disturbed", 1.0), steady("a/quiet", 1.0)];
    let ran = run(&plan, rows(), &limits(1e6));
    ran.result.as_ref().unwrap();
    let disturbed = ran
        .kept
        .iter()
        .filter(|l| l.conditions.steal > Some(0))
        .count();
    assert!(disturbed > 0);
    assert_eq!(ran.count("a/quiet"), LEAST);
    let more = ran.count("a/disturbed") - LEAST;
    assert!(more > 0 && more <= LEAST / REPEATED, "{more}");
}

#[test]
fn crowded_launches_are_made_again_and_say_nothing_of_the_scatter() {
    let plan = plan(&["a/crowded", "a/quiet"]);
    // the third and the fifth launch take twice as long beside another thread
    let crowded = Made {
        id: "a/crowded",
        seconds: 1.0,
        wall: |count| {
            Ok(if matches!(count, 3 | 5) {
                2 * CROWDED
            } else {
                100_000
            })
        },
    };
    let ran = run(&plan, vec![crowded, steady("a/quiet", 1.0)], &limits(1e6));
    ran.result.as_ref().unwrap();
    assert_eq!(ran.count("a/quiet"), LEAST);
    assert_eq!(ran.count("a/crowded"), LEAST + 2);
}

#[test]
fn beside_a_load_of_our_own_no_launch_is_crowded() {
    // half of the launches are slow, and their pacer felt it: that is the load, and the scatter is the row's own
    let loaded = || Made {
        id: "a/loaded",
        seconds: 1.0,
        wall: |count| Ok(if count % 2 == 0 { 2 * CROWDED } else { 100_000 }),
    };
    let mut plan = plan(&["a/loaded"]);
    let plain = run(&plan, vec![loaded()], &limits(1e6));
    let Work::Kernel(work) = &mut plan.benchmarks[0].work else {
        panic!("a kernel");
    };
    work.uses = vec!["load/users".to_owned()];
    let ran = run(&plan, vec![loaded()], &limits(1e6));
    ran.result.as_ref().unwrap();
    assert_eq!(ran.count("a/loaded"), MOST);
    assert!(
        plain.count("a/loaded") < MOST,
        "{}",
        plain.count("a/loaded")
    );
}
