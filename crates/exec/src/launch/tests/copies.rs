//! Copies of an embedded workload: all work, and none waits for a dead one.

use super::*;
use gritstone_model::Param;

fn launch_copies(benchmark: &Benchmark, cpus: &[u32], copies: u32) -> Launched {
    let mut bench = Bench::new();
    let launched = bench.copies(benchmark, cpus, copies).unwrap();
    bench.nothing_is_left();
    launched
}

fn kernel(program: &str) -> Benchmark {
    benchmark(testkit::workload(program))
}

/// Events by copy.
fn each(launched: &Launched) -> Vec<&[Event]> {
    let number = |event: &Event| matches!(event, Event::Param(Param::Copy(_)));
    let mut events: Vec<&[Event]> = launched.events.split(number).collect();
    assert!(events.remove(0).is_empty(), "something before the first copy");
    events
}

#[test]
fn all_copies_work() {
    // files of the same name in separate directories
    for (program, copies) in [("byte/loop", 3), ("byte/disk-write", 2)] {
        let launched = launch_copies(&kernel(program), &[], copies);
        assert_eq!(launched.outcome, Outcome::Measured, "{program}");
        let events = each(&launched);
        assert_eq!(events.len(), copies as usize);
        for events in events {
            let samples = events.iter().filter(|e| matches!(e, Event::Sample(_)));
            assert!(samples.count() > 0, "{program}");
            assert!(events.contains(&Event::Bye), "{program}");
            let checks = events.iter().filter_map(|event| match event {
                Event::Check(check) => Some(check.got == check.expected),
                _ => None,
            });
            let checks: Vec<bool> = checks.collect();
            assert!(!checks.is_empty() && checks.iter().all(|&right| right));
        }
    }
}

#[test]
fn failed_copies_release_the_others() {
    // no machine has this CPU; the other copies are ready, or nearly, when the second ends
    let launched = launch_copies(&kernel("byte/loop"), &[0, 8_191, 0], 3);
    let why = launched.outcome.why();
    assert!(matches!(launched.outcome, Outcome::Failed(_)), "{why}");
    assert!(why.starts_with("copy 2 of 3: sched_setaffinity"), "{why}");
    assert_eq!(each(&launched).len(), 3);
}

#[test]
fn copies_keep_normal_priority() {
    let mut bench = Bench::new();
    bench.executor.tuning.real_time = true;
    let policies = bench.folder.path().join("policies");
    let script = format!("cut -d' ' -f41 /proc/$$/stat >> {}", policies.display());
    bench.plant("byte/loop", &script);
    let busy = Benchmark { processor_bound: true, ..kernel("byte/loop") };
    bench.copies(&busy, &[0, 1], 2).unwrap();
    assert_eq!(fs::read_to_string(policies).unwrap(), "0\n0\n");
}

#[test]
fn hanging_copies_are_ended() {
    let mut bench = Bench::new();
    bench.executor.setup.deadline = Duration::from_millis(1);
    let benchmark = kernel("byte/loop");
    let launched = bench.copies(&benchmark, &[], 2).unwrap();
    assert!(matches!(launched.outcome, Outcome::TimedOut(_)));
    let stop = &bench.executor.setup.stop;
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let stopped = bench.copies(&benchmark, &[], 2);
    assert!(matches!(stopped, Err(ExecError::Interrupted)));
}
