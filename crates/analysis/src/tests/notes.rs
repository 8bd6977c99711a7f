//! Every rule, violated alone: it raises its note and no other, and none just below its threshold. Snapshots have codes and numbers.

use crate::tests::made_up_runs::*;
use gritstone_model::*;

/// A line for each case.
#[derive(Default)]
struct Found(String);

impl Found {
    /// Notes of a spoilt run of one benchmark.
    fn case(&mut self, case: &str, spoil: impl FnOnce(&mut RunData)) {
        let mut run = run(vec![claimed("a/b")], scattered("a/b", 100.0));
        spoil(&mut run);
        self.record(case, &run);
    }

    /// Notes of the only result, and its outcome if absent.
    fn record(&mut self, case: &str, run: &RunData) {
        let result = only(run);
        let whole = |note: &Note| note.about == Subject::Result;
        assert!(result.notes.iter().all(whole), "{case}: {result:?}");
        let outcome = match result.outcome() {
            Status::Measured => String::new(),
            other => format!(" {other:?}, {:?} of {}:", result.estimate(), result.launches()),
        };
        let note = |note: &Note| {
            let flag = note.flag().map_or("-", Flag::as_str);
            format!("\n    {flag} {}", short(note))
        };
        let notes: String = result.notes.iter().map(note).collect();
        self.0 += &format!("{case}:{outcome}{notes}\n");
    }

    /// Spoilt conditions of the first launches.
    fn conditions(&mut self, case: &str, launches: usize, change: impl Fn(&mut Conditions)) {
        self.case(&format!("{case}, {launches} of 10"), |run| {
            let some = &mut run.launches[..launches];
            some.iter_mut().for_each(|launch| change(&mut launch.conditions));
        });
    }
}

fn each(run: &mut RunData, change: impl Fn(&mut Launch)) {
    run.launches.iter_mut().for_each(change);
}

fn without(launch: &mut Launch, what: fn(&Event) -> bool) {
    launch.events.retain(|event| !what(event));
}

fn is_warm(event: &Event) -> bool {
    matches!(event, Event::Warm { .. })
}

fn is_check(event: &Event) -> bool {
    matches!(event, Event::Check(_))
}

/// A launch that could not be calibrated.
fn idle(launch: &mut Launch) {
    launch.outcome = Outcome::Failed("calibrate: time does not grow with n".to_owned());
    launch.events.retain(is_warm);
    launch.events.push(Event::Fail {
        errno: 0,
        call: "calibrate".to_owned(),
        why: "time does not grow with n".to_owned(),
    });
}

fn checks(launch: &mut Launch, got: u64, most: usize) {
    let checks = launch.events.iter_mut().filter_map(|event| match event {
        Event::Check(check) => Some(check),
        _ => None,
    });
    checks.take(most).for_each(|check| check.got = got);
}

#[test]
fn work_that_was_not_done() {
    let mut found = Found::default();
    found.case("nothing is broken", |_| ());
    found.case("one wrong value", |run| checks(&mut run.launches[4], 9, 1));
    found.case("three launches without a value", |run| {
        let some = run.launches[..3].iter_mut();
        some.for_each(|launch| without(launch, is_check));
    });
    found.case("no values, and none promised", |run| {
        run.benchmarks[0].claims.check = false;
        each(run, |launch| without(launch, is_check));
    });
    found.case("100 ns, 150 at least", |run| run.benchmarks[0].claims.min_ns_per_op = Some(150.0));
    found.case("the same by its rate", |run| {
        let row = &mut run.benchmarks[0];
        (row.unit, row.amount_per_op) = (unit("MB/s"), 512.0);
        row.claims.min_ns_per_op = Some(150.0);
    });
    for switches in [N, N * 19 / 10] {
        let case = format!("{switches} switches");
        found.case(&case, |run| each(run, |l| samples(l).for_each(|s| s.usage.vcsw = switches)));
    }
    // the answer came before the process could go to sleep: the work is done as claimed, seldom with all its switches
    found.case("half of the switches in all launches but one", |run| {
        let busy = run.launches[1..].iter_mut();
        busy.for_each(|l| samples(l).for_each(|s| s.usage.vcsw = N));
    });
    // 1,000 are claimed, 5% and 4 a sample allowed
    for faults in [N / 100, 1054, 1055] {
        found.case(&format!("{faults} faults"), |run| {
            each(run, |l| samples(l).for_each(|s| s.usage.minflt = faults));
        });
    }
    for faults in [N, 2 * N] {
        found.case(&format!("{faults} major faults"), |run| {
            let claims = &mut run.benchmarks[0].claims;
            (claims.major_faults_per_op, claims.faults_per_op) = (Some(2.0), None);
            each(run, |l| samples(l).for_each(|s| s.usage.majflt = faults));
        });
    }
    for outs in ["", "1", "2"] {
        found.case(&format!("'{outs}' page-outs"), |run| {
            run.benchmarks[0].claims.page_outs_per_op = Some(2.0);
            each(run, |l| {
                for key in ["page_ins", "page_outs"] {
                    l.events.push(Event::Param(Param::new(key, outs)));
                }
            });
        });
    }
    found.case("no time passed in two launches", |run| {
        let some = run.launches[..2].iter_mut();
        some.for_each(|launch| samples(launch).for_each(|sample| sample.wall = 0));
    });
    insta::assert_snapshot!(found.0);
}

/// Time of a warm region of n operations.
fn warm(launch: &mut Launch, wall: impl Fn(u64) -> u64) {
    for event in &mut launch.events {
        if let Event::Warm { n, wall: w } = event {
            *w = wall(*n);
        }
    }
}

#[test]
fn time_that_does_not_grow() {
    let mut found = Found::default();
    // a virtual machine does not see contention for its core: a region longer than a slice of 600 us waits for another slice
    let interrupted = |n: u64| 100 * n + if 100 * n > 600_000 { 600_000 } else { 0 };
    type Wall<'a> = &'a dyn Fn(u64) -> u64;
    let walls: [(&str, Wall); 7] = [
        ("always 500 ns", &|_| 500),
        ("always 0 ns", &|_| 0),
        ("by n squared", &|n| n * n),
        ("with a fixed cost of a tenth", &|n| 100 * n + 40_000),
        ("interrupted by others beneath the machine", &interrupted),
        ("piling up, and interrupted", &|n| interrupted(n) * n / 1000),
        ("ending at 4,000", &|n| 100 * n.min(4000)),
    ];
    for (case, wall) in walls {
        found.case(case, |run| each(run, |launch| warm(launch, wall)));
    }
    found.case("launches that disagree, with a median outside", |run| {
        let powers = [0.5, 0.68, 1.0].into_iter().cycle();
        for (launch, power) in run.launches.iter_mut().zip(powers) {
            warm(launch, |n| (1000.0 * (n as f64).powf(power)) as u64);
        }
    });
    found.case("7,000, too near to 8,000 to say anything", |run| {
        each(run, |launch| {
            let (n, wall) = (7000, 800_000);
            launch.events.extend([Event::Warm { n, wall }, Event::Warm { n, wall }]);
        });
    });
    found.case("4,000 is the only n with two regions", |run| {
        each(run, |launch| {
            without(launch, |e| matches!(e, Event::Warm { n: 8000, .. }));
            let (n, wall) = (8000, 800_000);
            launch.events.push(Event::Warm { n, wall });
        });
    });
    found.case("no regions, and none promised", |run| {
        run.benchmarks[0].claims.linear = false;
        each(run, |launch| without(launch, is_warm));
    });
    for calm in [0, 2, 3, 10] {
        let case = format!("by n squared, beside others but in {calm} launches");
        found.case(&case, |run| {
            each(run, |launch| warm(launch, |n| n * n));
            for launch in &mut run.launches[calm..] {
                launch.conditions.others = Some(launch.conditions.wall / 2);
            }
        });
    }
    found.case("by n squared, where nothing tells of others", |run| {
        each(run, |launch| {
            warm(launch, |n| n * n);
            launch.conditions.others = None;
        });
    });
    for flat in [4, 6] {
        found.case(&format!("{flat} flat launches of ten"), |run| {
            let some = run.launches[..flat].iter_mut();
            some.for_each(|launch| warm(launch, |_| 500));
        });
    }
    found.case("two flat launches, and no others that tell", |run| {
        each(run, |launch| warm(launch, |_| 500));
        let some = run.launches[2..].iter_mut();
        some.for_each(|launch| without(launch, is_warm));
    });
    insta::assert_snapshot!(found.0);
}

#[test]
fn figures_that_do_not_repeat() {
    let mut found = Found::default();
    // the interval is from 99.466 to 100.411
    for precision in [0.001, 0.002_36, 0.002_37] {
        found
            .case(&format!("precision {precision}"), |run| run.info.settings.precision = precision);
    }
    for launches in [5, 6] {
        found.case(&format!("{launches} launches"), |run| run.launches.truncate(launches));
    }
    // who asks for 50% need not know
    for precision in [0.5, 0.19] {
        let case = format!("two modes 20% apart, precision {precision}");
        found.case(&case, |run| {
            run.info.settings.precision = precision;
            let slower = |l: &mut Launch| samples(l).for_each(|s| s.wall = s.wall / 10 * 12);
            run.launches.iter_mut().step_by(2).for_each(slower);
        });
    }
    found.case("all that can be wrong at once", |run| {
        run.benchmarks[0].remark = Some("A remark.".to_owned());
        run.benchmarks[0].claims.min_ns_per_op = Some(150.0);
        run.info.settings.precision = 0.001;
        each(run, |l| l.conditions.steal = Some(500_000_000));
    });
    insta::assert_snapshot!(found.0);
}

#[test]
fn launches_without_a_figure() {
    let mut found = Found::default();
    found.case("two that failed", |run| {
        run.launches[2].outcome = Outcome::Failed("write: ENOSPC".to_owned());
        run.launches[3].outcome = Outcome::TimedOut("10 s".to_owned());
    });
    found.case("all timed out", |run| {
        each(run, |l| l.outcome = Outcome::TimedOut("no answer within 10 s".to_owned()));
    });
    found.case("all idle", |run| each(run, idle));
    found.case("two idle", |run| run.launches[..2].iter_mut().for_each(idle));
    // the whole process of the published work sees the wrong value too, and ends badly
    found.case("wrong values and a bad end", |run| {
        each(run, |launch| {
            launch.outcome = Outcome::Failed("command: it ended with status 1".to_owned());
            checks(launch, 0, usize::MAX);
        });
    });
    let mut planned = run(vec![plain("a/b")], Vec::new());
    planned
        .skips
        .push(Skip { id: id("a/b"), reason: "There is no cc: apt-get install gcc".to_owned() });
    found.record("skipped by the plan", &planned);
    planned.benchmarks[0].claims = Claims {
        check: true,
        linear: true,
        min_ns_per_op: Some(1.0),
        switches_per_op: Some(2.0),
        faults_per_op: Some(2.0),
        major_faults_per_op: Some(2.0),
        page_outs_per_op: Some(2.0),
        ..planned.benchmarks[0].claims.clone()
    };
    found.record("skipped by the plan, with claims", &planned);
    let mut skipped = run(vec![plain("a/b")], vec![launch("a/b", 0, 1.0)]);
    skipped.launches[0].outcome = Outcome::Skipped("needs two CPUs".to_owned());
    found.record("skipped by the workload", &skipped);
    let mut remarked = plain("a/b");
    remarked.remark = Some("The listing is lost.".to_owned());
    found.record("never reached", &run(vec![remarked], Vec::new()));
    insta::assert_snapshot!(found.0);
}

#[test]
fn suggested_budget_exceeds_the_given() {
    // ten launches in 20 s, of 600: what is left was not enough for either of the other two
    let benchmarks = ["a/b", "a/c", "a/d"].map(plain);
    let mut run = run(benchmarks.to_vec(), scattered("a/b", 100.0));
    run.info.elapsed_s = Some(20.0);
    let needed = |run: &RunData| match &row(&view(run), "a/d").notes[0].finding {
        Finding::NotReached { budget_s } => *budget_s,
        other => panic!("{other:?}"),
    };
    near(needed(&run), 600.0 + 2.0 * 6.0 * 20.0 / 10.0);
    run.launches.extend(scattered("a/c", 100.0));
    near(needed(&run), 600.0 + 6.0 * 20.0 / 20.0);
    run.info.settings.budget_s = None;
    assert_eq!(needed(&run), None);
}

#[test]
fn others_had_the_machine() {
    let mut found = Found::default();
    // half of the launches are borne
    for launches in [5, 6] {
        found.conditions("40% others", launches, |c| c.others = Some(400_000_000));
    }
    for others in [50_000_000, 50_000_001] {
        found.conditions(&format!("{others} ns of others"), 10, |c| c.others = Some(others));
    }
    found.conditions("what ticks alone may make of nothing", 10, |c| {
        (c.others, c.grain) = (Some(60_000_000), Some(10_000_000))
    });
    for steal in [10_000_000, 30_000_000] {
        found.conditions(&format!("{steal} ns stolen"), 10, |c| c.steal = Some(steal));
    }
    for throttled in [10_000_000, 20_000_000] {
        found
            .conditions(&format!("{throttled} ns throttled"), 6, |c| c.throttled = Some(throttled));
    }
    found.conditions("at a limit of memory", 6, |c| c.memory_limit = Some(1));
    found.conditions("others and steal", 6, |c| {
        (c.others, c.steal) = (Some(100_000_000), Some(20_000_000))
    });
    found.conditions("nothing can be known", 10, |c| {
        (c.others, c.steal, c.throttled) = (None, None, None)
    });
    found.case("declared not comparable", |run| {
        run.benchmarks[0].not_comparable = Some("It opens its file anew each time.".to_owned());
    });
    insta::assert_snapshot!(found.0);
}
