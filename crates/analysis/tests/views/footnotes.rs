//! Every rule, broken alone: this footnote and no other, and none when nothing is broken.
//!
//! Must not know: figures.

use crate::made_up::*;
use gritstone_model::Flag::*;
use gritstone_model::*;

/// The run of one claimed row, spoilt, and its footnotes as (kind, sentence).
fn notes(spoil: impl FnOnce(&mut RunData)) -> Vec<(Option<Flag>, &'static str)> {
    let mut run = run(vec![claimed("a/b")], scattered("a/b", 100.0));
    spoil(&mut run);
    let result = only(&run);
    assert!(
        result
            .notes
            .iter()
            .all(|note| note.about == Subject::Result)
    );
    result
        .notes
        .into_iter()
        .map(|note| (note.flag(), short(&note)))
        .collect()
}

fn each(run: &mut RunData, change: impl Fn(&mut Launch)) {
    run.launches.iter_mut().for_each(change);
}

/// One footnote and no other.
#[track_caller]
fn alone(got: &[(Option<Flag>, &'static str)], kind: Option<Flag>, why: &str) {
    assert_eq!(got, [(kind, why)]);
}

#[test]
fn a_clean_run_has_none() {
    assert_eq!(notes(|_| ()), []);
}

#[test]
fn a_check_that_is_wrong() {
    let got = notes(|run| {
        for event in &mut run.launches[4].events {
            if let Event::Check(check) = event {
                check.got = 9;
                break;
            }
        }
    });
    alone(
        &got,
        Some(Invalid),
        "wrong-check wrong=1 regions=40 n=1000000 got=9 expected=1000001",
    );
}

#[test]
fn a_check_that_was_promised() {
    let got = notes(|run| {
        let without = |launch: &mut Launch| {
            launch.events.retain(|e| !matches!(e, Event::Check(_)));
        };
        run.launches[..3].iter_mut().for_each(without);
    });
    alone(&got, Some(Invalid), "no-check count=3/10");
    let got = notes(|run| {
        run.benchmarks[0].claims.check = false;
        each(run, |l| l.events.retain(|e| !matches!(e, Event::Check(_))));
    });
    assert_eq!(got, []);
}

/// Time of a warm region of n operations.
fn warm(run: &mut RunData, wall: impl Fn(u64) -> u64) {
    each(run, |launch| {
        for event in &mut launch.events {
            if let Event::Warm { n, wall: w } = event {
                *w = wall(*n);
            }
        }
    });
}

#[test]
fn time_that_does_not_grow() {
    let got = notes(|run| warm(run, |_| 500));
    alone(
        &got,
        Some(Invalid),
        "not-linear small=4000 large=8000 exponent=0 allowed=[0.7, 1.3]",
    );
    assert!(notes(|run| warm(run, |_| 0))[0].1.contains("exponent=0 "));
    assert!(
        notes(|run| warm(run, |n| n * n))[0]
            .1
            .contains("exponent=2 ")
    );
    // launches that disagree say nothing against it, though their median is outside
    let scattered = notes(|run| {
        let powers = [0.5, 0.68, 1.0].into_iter().cycle();
        for (launch, power) in run.launches.iter_mut().zip(powers) {
            for event in &mut launch.events {
                if let Event::Warm { n, wall } = event {
                    *wall = (1000.0 * (*n as f64).powf(power)) as u64;
                }
            }
        }
    });
    assert_eq!(scattered, []);
    // a fixed cost of a tenth is within what is allowed
    assert_eq!(notes(|run| warm(run, |n| 100 * n + 40_000)), []);
}

#[test]
fn growth_is_from_half_of_the_most_or_less() {
    // a doubling that a limit cut short: 7000 is too near to 8000 to say anything
    let got = notes(|run| {
        each(run, |l| {
            let near = Event::Warm {
                n: 7000,
                wall: 800_000,
            };
            l.events.extend([near.clone(), near]);
        });
    });
    assert_eq!(got, []);
}

#[test]
fn time_of_which_nobody_knows_whether_it_grows() {
    let got = notes(|run| {
        each(run, |l| {
            l.events
                .retain(|e| !matches!(e, Event::Warm { n: 8000, .. }));
            l.events.push(Event::Warm {
                n: 8000,
                wall: 800_000,
            });
            // 4000 is the only n with two regions
        });
    });
    alone(&got, Some(Invalid), "growth-unverified launches=10");
    let got = notes(|run| {
        run.benchmarks[0].claims.linear = false;
        each(run, |l| {
            l.events.retain(|e| !matches!(e, Event::Warm { .. }))
        });
    });
    assert_eq!(got, []);
}

#[test]
fn growth_under_the_load_of_others_is_not_judged() {
    let run = |calm: usize| {
        notes(|run| {
            warm(run, |n| n * n);
            for launch in &mut run.launches[calm..] {
                launch.conditions.others = Some(launch.conditions.wall / 2);
            }
        })
    };
    let kinds = |calm: usize| -> Vec<Option<Flag>> {
        run(calm).into_iter().map(|(kind, _)| kind).collect()
    };
    assert_eq!(kinds(0), [Some(Interference)]);
    assert_eq!(kinds(2), [Some(Interference)]);
    assert_eq!(kinds(3), [Some(Invalid), Some(Interference)]);
    assert_eq!(kinds(10), [Some(Invalid)]);
}

#[test]
fn growth_that_others_beneath_this_machine_made_is_none() {
    // whoever shares the core of a virtual machine is not seen: whatever takes longer than a turn of 600 us waits for one of 600 more
    let interrupted = |n: u64| 100 * n + if 100 * n > 600_000 { 600_000 } else { 0 };
    let got = notes(|run| warm(run, interrupted));
    assert_eq!(got, []);
    // work that piles up does so in the shorter regions too
    let piled = notes(|run| warm(run, |n| interrupted(n) * n / 1000));
    assert!(piled[0].1.contains("exponent=2."), "{piled:?}");
    // nobody else makes time stand still: work that ends at some n is none, however shorter regions grow
    let ended = notes(|run| warm(run, |n| 100 * n.min(4000)));
    assert!(ended[0].1.contains("exponent=0 "), "{ended:?}");
}

#[test]
fn growth_is_not_judged_where_nothing_tells_what_others_did() {
    let got = notes(|run| {
        warm(run, |n| n * n);
        each(run, |launch| launch.conditions.others = None);
    });
    assert_eq!(got, []);
}

#[test]
fn growth_is_the_median_of_three_launches_at_least() {
    let flat = |launch: &mut Launch| {
        for event in &mut launch.events {
            if let Event::Warm { wall, .. } = event {
                *wall = 500;
            }
        }
    };
    // four flat ones of ten do not move the median
    assert_eq!(notes(|run| run.launches[..4].iter_mut().for_each(flat)), []);
    assert_eq!(
        notes(|run| run.launches[..6].iter_mut().for_each(flat)).len(),
        1
    );
    // two flat ones are all the evidence: too little to judge
    let got = notes(|run| {
        each(run, flat);
        let silent = |l: &mut Launch| l.events.retain(|e| !matches!(e, Event::Warm { .. }));
        run.launches[2..].iter_mut().for_each(silent);
    });
    assert_eq!(got, []);
}

#[test]
fn faster_than_physics() {
    let got = notes(|run| run.benchmarks[0].claims.min_ns_per_op = Some(150.0));
    alone(&got, Some(Invalid), "below-minimum ns=100 minimum=150");
    // the bound is in nanoseconds whatever the unit
    let got = notes(|run| {
        run.benchmarks[0].unit = unit("MB/s");
        run.benchmarks[0].amount_per_op = 512.0;
        run.benchmarks[0].claims.min_ns_per_op = Some(150.0);
    });
    assert_eq!(got.len(), 1);
}

#[test]
fn switches_that_did_not_happen() {
    let with = |vcsw| notes(move |run| each(run, |l| samples(l, |s| s.usage.vcsw = vcsw)));
    alone(
        &with(N),
        Some(Invalid),
        "few-switches per_op=1 claimed=2 share=0.9",
    );
    assert_eq!(with(N * 19 / 10), []);
}

#[test]
fn faults_that_should_not_happen() {
    let with = |minflt| notes(move |run| each(run, |l| samples(l, |s| s.usage.minflt = minflt)));
    alone(
        &with(N / 100),
        Some(Invalid),
        "many-faults per_op=0.01 claimed=0.001",
    );
    // 1,000 claimed, 5 % and 4 a sample allowed
    assert_eq!(with(1054), []);
    assert_eq!(with(1055).len(), 1);
}

#[test]
fn no_time_passed() {
    let got = notes(|run| {
        for launch in &mut run.launches[..2] {
            samples(launch, |sample| sample.wall = 0);
        }
    });
    alone(&got, Some(Invalid), "untimed count=2/10");
}

#[test]
fn wider_than_asked() {
    let got = notes(|run| run.info.settings.precision = 0.001);
    // by hand: the ninth of the 55 averages of two from either end is 0.3 % off the centre
    alone(
        &got,
        Some(Noisy),
        "wide-interval half=0.002998 asked=0.001 n=10 what=launch",
    );
    assert_eq!(notes(|run| run.info.settings.precision = 0.0031), []);
    let got = notes(|run| run.info.settings.precision = 0.002_996);
    alone(
        &got,
        Some(Noisy),
        "wide-interval half=0.002998 asked=0.002996 n=10 what=launch",
    );
}

#[test]
fn too_few_for_an_interval() {
    let got = notes(|run| run.launches.truncate(5));
    alone(
        &got,
        Some(Noisy),
        "no-interval confidence=0.95 needed=6 n=5 what=launch",
    );
    assert_eq!(notes(|run| run.launches.truncate(6)), []);
}

#[test]
fn two_modes() {
    let with = |precision: f64| {
        notes(|run| {
            run.info.settings.precision = precision;
            let slower = |l: &mut Launch| samples(l, |s| s.wall = s.wall / 10 * 12);
            run.launches.iter_mut().step_by(2).for_each(slower);
        })
    };
    // 20 % apart, but who asks for 50 % need not know
    assert_eq!(with(0.5), []);
    let got = with(0.15);
    alone(&got, Some(Modes), "several-modes modes=2 n=10 what=launch");
}

#[test]
fn some_launches_failed() {
    let got = notes(|run| {
        run.launches[2].outcome = Outcome::Failed("write: ENOSPC".to_owned());
        run.launches[3].outcome = Outcome::TimedOut("10 s".to_owned());
    });
    alone(
        &got,
        Some(Noisy),
        "failed outcome=failed reason=write: ENOSPC count=2/10 refuted=false",
    );
}

#[test]
fn all_launches_failed() {
    let mut run = run(vec![claimed("a/b")], launches("a/b", 100.0));
    for launch in &mut run.launches {
        launch.outcome = Outcome::TimedOut("no answer within 10 s".to_owned());
    }
    let result = only(&run);
    assert_eq!(result.outcome, Status::TimedOut);
    assert_eq!((result.estimate, result.launches), (None, 0));
    assert_eq!(
        shorts(&result.notes),
        ["failed outcome=timed_out reason=no answer within 10 s count=10/10 refuted=false"]
    );
}

#[test]
fn launches_that_show_that_no_work_is_done_are_starred() {
    let idle = |launch: &mut Launch| {
        launch.outcome = Outcome::Failed("calibrate: time does not grow with n".to_owned());
        launch.events.retain(|e| matches!(e, Event::Warm { .. }));
        launch.events.push(Event::Fail {
            errno: 0,
            call: "calibrate".to_owned(),
            why: "time does not grow with n".to_owned(),
        });
    };
    let mut all = run(vec![claimed("a/b")], launches("a/b", 100.0));
    all.launches.iter_mut().for_each(idle);
    let result = only(&all);
    assert_eq!(
        (result.outcome, result.estimate),
        (Status::Failed, None),
        "no work, no figure"
    );
    let why = "failed outcome=failed reason=calibrate: time does not grow with n count=10/10 refuted=true";
    assert_eq!(shorts(&result.notes), [why]);

    alone(
        &notes(|run| run.launches[..2].iter_mut().for_each(idle)),
        Some(Invalid),
        "failed outcome=failed reason=calibrate: time does not grow with n count=2/10 refuted=true",
    );
    // the whole process of the published work sees the wrong value too, and ends badly
    let wrong = |launch: &mut Launch| {
        launch.outcome = Outcome::Failed("command: it ended with status 1".to_owned());
        for event in &mut launch.events {
            if let Event::Check(check) = event {
                check.got = 0;
            }
        }
    };
    alone(
        &notes(|run| each(run, wrong)),
        Some(Invalid),
        "failed outcome=failed reason=command: it ended with status 1 count=10/10 refuted=true",
    );
}

#[test]
fn skipped_by_the_plan_by_the_kernel_or_by_the_end() {
    let reason = "There is no cc: apt-get install gcc";
    let mut planned = run(vec![plain("a/b")], Vec::new());
    planned.skips.push(Skip {
        id: id("a/b"),
        reason: reason.to_owned(),
    });
    let result = only(&planned);
    assert_eq!(result.outcome, Status::Skipped);
    assert_eq!(
        shorts(&result.notes),
        ["unavailable reason=There is no cc: apt-get install gcc"]
    );

    let mut own = run(vec![plain("a/b")], vec![launch("a/b", 0, 1.0)]);
    own.launches[0].outcome = Outcome::Skipped("needs two CPUs".to_owned());
    let result = only(&own);
    assert_eq!(result.outcome, Status::Skipped);
    assert_eq!(
        shorts(&result.notes),
        ["failed outcome=skipped reason=needs two CPUs count=1/1 refuted=false"]
    );

    let mut remarked = plain("a/b");
    remarked.remark = Some("The listing is lost.".to_owned());
    let cut_off = only(&run(vec![remarked], Vec::new()));
    assert_eq!(cut_off.outcome, Status::Skipped);
    let kinds: Vec<_> = cut_off.notes.iter().map(|note| note.flag()).collect();
    assert_eq!(kinds, [Some(Skipped), None]);
    assert!(short(&cut_off.notes[0]).starts_with("not-reached"));
}

/// Changes the conditions of the first so many launches.
fn conditions(count: usize, change: impl Fn(&mut Conditions)) -> Vec<(Option<Flag>, &'static str)> {
    notes(|run| {
        for launch in &mut run.launches[..count] {
            change(&mut launch.conditions);
        }
    })
}

#[test]
fn others_had_the_machine() {
    let others = |c: &mut Conditions| c.others = Some(400_000_000);
    alone(
        &conditions(3, others),
        Some(Interference),
        "interfered count=3/10 causes=[others=0.4]",
    );
    // a quarter of the launches is borne
    assert_eq!(conditions(2, others), []);
    assert_eq!(conditions(10, |c| c.others = Some(50_000_000)), []);
    assert_eq!(conditions(10, |c| c.others = Some(50_000_001)).len(), 1);
    // what the ticks of the counter alone may have made of nothing
    let coarse = |c: &mut Conditions| (c.others, c.grain) = (Some(60_000_000), Some(10_000_000));
    assert_eq!(conditions(10, coarse), []);
}

#[test]
fn busy_neighbours_disturb_what_waits() {
    let busy = |processor_bound: bool, ns: u64| {
        notes(|run| {
            run.benchmarks[0].processor_bound = processor_bound;
            for launch in &mut run.launches[..3] {
                launch.conditions.elsewhere = Some(ns);
            }
        })
    };
    alone(
        &busy(false, 800_000_000),
        Some(Interference),
        "interfered count=3/10 causes=[elsewhere=0.8]",
    );
    assert_eq!(busy(false, 250_000_000), []);
    assert_eq!(busy(true, 800_000_000), []);
}

#[test]
fn the_hypervisor_or_the_quota_held_it_back() {
    alone(
        &conditions(10, |c| c.steal = Some(30_000_000)),
        Some(Interference),
        "interfered count=10/10 causes=[steal=0.03]",
    );
    assert_eq!(conditions(10, |c| c.steal = Some(10_000_000)), []);
    alone(
        &conditions(4, |c| c.throttled = Some(1_000_000)),
        Some(Interference),
        "interfered count=4/10 causes=[throttled=0.001]",
    );
    alone(
        &conditions(4, |c| c.gap = Some(20_000_000)),
        Some(Interference),
        "interfered count=4/10 causes=[stalled=0.02]",
    );
    assert_eq!(conditions(4, |c| c.gap = Some(10_000_000)), []);
    alone(
        &conditions(4, |c| (c.overheated, c.memory_limit) = (Some(3), Some(1))),
        Some(Interference),
        "interfered count=4/10 causes=[overheated=3, memory-limit=1]",
    );
    let all = |c: &mut Conditions| {
        (c.others, c.steal) = (Some(100_000_000), Some(20_000_000));
    };
    alone(
        &conditions(5, all),
        Some(Interference),
        "interfered count=5/10 causes=[others=0.1, steal=0.02]",
    );
}

#[test]
fn conditions_that_cannot_be_known_are_not_held_against_it() {
    let unknown = |c: &mut Conditions| (c.others, c.steal, c.throttled) = (None, None, None);
    assert_eq!(conditions(10, unknown), []);
}

#[test]
fn what_the_entry_declares() {
    let why = "The other row opens its file anew each time.";
    let got = notes(|run| run.benchmarks[0].not_comparable = Some(why.to_owned()));
    alone(
        &got,
        Some(NotComparable),
        "stated by=catalog flag=not-comparable text=The other row opens its file anew each time.",
    );
    let got = notes(|run| run.benchmarks[0].remark = Some("1,000,000 is assumed.".to_owned()));
    alone(
        &got,
        None,
        "stated by=catalog flag=null text=1,000,000 is assumed.",
    );
}

#[test]
fn footnotes_stand_in_the_order_of_their_marks() {
    let got = notes(|run| {
        run.benchmarks[0].remark = Some("A remark.".to_owned());
        run.benchmarks[0].claims.min_ns_per_op = Some(150.0);
        run.info.settings.precision = 0.001;
        each(run, |l| l.conditions.steal = Some(500_000_000));
    });
    let kinds: Vec<_> = got.into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(
        kinds,
        [Some(Invalid), Some(Noisy), Some(Interference), None]
    );
}

#[test]
fn pages_that_were_not_waited_for() {
    let with = |majflt| {
        notes(move |run| {
            run.benchmarks[0].claims.major_faults_per_op = Some(2.0);
            run.benchmarks[0].claims.faults_per_op = None;
            each(run, |l| samples(l, |s| s.usage.majflt = majflt));
        })
    };
    let few = with(N);
    assert_eq!(few[0].0, Some(Invalid));
    assert_eq!(few[0].1, "few-major-faults per_op=1 claimed=2");
    assert!(with(2 * N).iter().all(|note| note.0 != Some(Invalid)));
    let told = with(2 * N).pop().unwrap().1;
    assert!(told.ends_with(" major_faults=2 each=null"), "{told}");
}
