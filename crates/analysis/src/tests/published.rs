//! The published work: batches, processes, the rule of ticks, the share of the start.

use crate::tests::made_up_runs::*;
use gritstone_model::*;

fn published(run: &RunData) -> (PublishedView, Vec<Note>) {
    let result = only(run);
    (result.published.unwrap(), result.notes)
}

fn clean() -> RunData {
    run(vec![claimed("a/b")], launches("a/b", 100.0))
}

#[test]
fn real_time_comes_from_batches() {
    let mut run = run(vec![claimed("a/b")], scattered("a/b", 100.0));
    // one batch of five was interrupted, and samples do not matter
    for launch in &mut run.launches {
        batches(launch).for_each(|batch| batch.walls[2] *= 9);
        samples(launch).for_each(|sample| sample.wall *= 2);
    }
    let (view, notes) = published(&run);
    near(view.real, 0.1);
    assert_eq!(view.values.len(), 10);
    near(view.values.first().copied(), 0.1005);
    let [low, high] = view.real.and_then(|e| e.interval).unwrap();
    assert!(low < 0.1 && 0.1 < high && high - low < 0.001);
    assert_eq!((view.work.as_str(), view.figure.as_str()), ("1,000,000 calls", "real_s"));
    near(view.process, 0.105 * 1.0);
    let share = 1.0 - 0.1 / 0.105;
    assert!((view.start_share.unwrap() - share).abs() < 1e-6);
    assert_eq!(notes, []);
}

/// The estimate and the reference workload are one definition: of launches whose batches do what their samples do, the time of the
/// work is that of its operations, with the same share of an interval.
#[test]
fn estimate_agrees_with_reference_time() {
    let result = only(&run(vec![claimed("a/b")], scattered("a/b", 1.42)));
    let published = result.published.as_ref().unwrap();
    let (one, all) = (result.estimate().unwrap(), published.real.unwrap());
    let operations = published.operations.unwrap() as f64 / 1e9;
    near(Some(all.value), one.value * operations);
    let ends = one.interval.unwrap().map(|end| end * operations);
    for (end, whole) in ends.iter().zip(all.interval.unwrap()) {
        near(Some(whole), *end);
    }
    near(all.half_width(), one.half_width().unwrap());
}

#[test]
fn intervals_span_a_clock_step() {
    let mut run = clean();
    for launch in &mut run.launches {
        batches(launch).for_each(|batch| batch.walls = vec![67_680; 5]);
        let step = Param::new("clock_resolution_ns", "40");
        launch.events.push(Event::Param(step));
    }
    let [low, high] = published(&run).0.real.and_then(|e| e.interval).unwrap();
    near(Some(low), 67.64e-6);
    near(Some(high), 67.72e-6);
}

#[test]
fn cpu_time_pools_all_ticks() {
    let (view, _) = published(&clean());
    // 300 and 200 ms a launch in 5 batches
    near(view.user, 0.06);
    near(view.system, 0.04);
    assert_eq!(view.user.and_then(|e| e.interval), Some([0.06, 0.06]));

    let mut uneven = clean();
    for launch in uneven.launches.iter_mut().step_by(2) {
        batches(launch).for_each(|batch| batch.usage.user = 280_000_000);
    }
    let (view, _) = published(&uneven);
    near(view.user, 0.058);
    // half of them 2 ms a batch below and above: sd 2 sqrt(10/9) ms, over sqrt(10), times t of 9 degrees
    let half = 2.262_157 * 0.002 * (10.0_f64 / 9.0).sqrt() / 10.0_f64.sqrt();
    near(view.user.and_then(|e| e.interval).map(|ends| ends[0]), 0.058 - half);
    near(view.user.and_then(|e| e.interval).map(|ends| ends[1]), 0.058 + half);
}

#[test]
fn few_ticks_hide_user_time() {
    let with = |user, system, tick: &str| {
        let mut run = clean();
        for launch in &mut run.launches {
            batches(launch).for_each(|batch| {
                (batch.usage.user, batch.usage.system) = (user, system);
            });
            for event in &mut launch.events {
                if matches!(event, Event::Param(Param::Number(Metric::Tick, _))) {
                    *event = Event::Param(Param::new("tick_ns", tick));
                }
            }
        }
        let (view, notes) = published(&run);
        assert_eq!(notes, []);
        (view.user.map(f64::from), view.system.map(f64::from))
    };
    // ten launches, ticks of 4 ms: 100 ticks are 40 ms a launch, of both together
    assert_eq!(with(20_000_000, 19_999_999, "4000000"), (None, None));
    assert_eq!(with(20_000_000, 20_000_000, "4000000"), (Some(0.004), Some(0.004)));
    assert_eq!(with(20_000_000, 20_000_000, "10000000"), (None, None));
    assert_eq!(with(200_000_000, 0, "4000000"), (Some(0.04), Some(0.0)));
    // nothing is known of the grain
    assert_eq!(with(200_000_000, 0, "unknown"), (None, None));
}

#[test]
fn syscall_free_time_uses_clock() {
    let mut run = clean();
    run.benchmarks[0].claims.syscalls_per_op = Some(0.0);
    for launch in &mut run.launches {
        // far below 100 ticks
        batches(launch).for_each(|batch| (batch.usage.user, batch.usage.system) = (0, 4_000_000));
    }
    let (view, _) = published(&run);
    near(view.user, 0.1 - 0.000_001);
    assert!(view.user.and_then(|e| e.interval).is_some());
    assert_eq!(view.system, None);
}

#[test]
fn long_starts_are_not_comparable() {
    let with = |process: u64| {
        let mut run = clean();
        for event in run.launches.iter_mut().flat_map(|l| &mut l.events) {
            if let Event::Process(sample) = event {
                sample.wall = process;
            }
        }
        published(&run)
    };
    let (view, notes) = with(200_000_000);
    near(view.start_share, 0.5);
    let why = "start-up limit=0.1";
    assert_eq!(notes[0].about, Subject::Process);
    assert_eq!(shorts(&notes), [why]);
    assert_eq!(with(111_000_000).1, []);

    // not measurable, said and not clamped
    let (view, notes) = with(99_000_000);
    assert!(view.start_share.unwrap() < 0.0);
    let why = "start-up-unseen process_s=0.099 real_s=0.1";
    assert_eq!(notes[0].about, Subject::Process);
    assert_eq!(shorts(&notes), [why]);
}

#[test]
fn missing_batches_are_noted() {
    let without = |launches: usize| {
        let mut run = clean();
        run.info.settings.reference = true;
        for launch in &mut run.launches[..launches] {
            launch.events.retain(|e| !matches!(e, Event::Batch(_)));
        }
        run
    };
    // nothing is missing where it was not asked for
    let mut plain = without(10);
    plain.info.settings.reference = false;
    assert_eq!(only(&plain).published, None);
    assert!(shorts(&only(&plain).notes).is_empty());
    let without = |launches| published(&without(launches));
    let (view, notes) = without(10);
    assert_eq!((view.real, view.user, view.start_share), (None, None, None));
    let why = "no-batch count=10/10 did=null operations=1000000 timed=false";
    assert_eq!(notes[0].about, Subject::Real);
    assert_eq!(notes[0].flag(), Some(Flag::Skipped));
    assert_eq!(shorts(&notes), [why]);
    let (view, notes) = without(3);
    near(view.real, 0.1);
    let why = "no-batch count=3/10 did=null operations=1000000 timed=true";
    assert_eq!(notes[0].about, Subject::Real);
    assert_eq!(notes[0].flag(), Some(Flag::Noisy));
    assert_eq!(shorts(&notes), [why]);

    // half the work in half the time is never multiplied up
    let mut half = clean();
    for launch in &mut half.launches {
        batches(launch).for_each(|batch| batch.n /= 2);
    }
    let (view, notes) = published(&half);
    assert_eq!(view.real, None);
    let why = "no-batch count=10/10 did=500000 operations=1000000 timed=false";
    assert_eq!(notes[0].about, Subject::Real);
    assert_eq!(notes[0].flag(), Some(Flag::NotComparable));
    assert_eq!(shorts(&notes), [why]);
}

#[test]
fn commands_time_their_process() {
    let launches = (0..10).map(|round| process("a/b", round, 2.0)).collect();
    let result = only(&run(vec![command("a/b")], launches));
    near(result.estimate(), 2.0);
    let view = result.published.unwrap();
    near(view.real, 2.0);
    near(view.process, 2.0);
    assert_eq!(view.real.and_then(|e| e.interval), Some([view.values[0]; 2]));
    assert_eq!(view.process.and_then(|e| e.interval), view.real.and_then(|e| e.interval));
    near(view.user, 1.0);
    near(view.system, 0.5);
    assert_eq!(view.start_share, None);
    assert_eq!(result.notes, []);

    // 30 processes of 10 ms are 56 ticks of user and system time
    let launches = (0..10).map(|round| process("a/b", round, 0.01)).collect();
    let (view, _) = published(&run(vec![command("a/b")], launches));
    near(view.real, 0.01);
    assert_eq!((view.user, view.system), (None, None));
}
