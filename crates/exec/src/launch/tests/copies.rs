//! Copies of an embedded workload: all work, and none waits for a dead one.

use super::*;
use gritstone_model::Param;

fn several(row: &Benchmark, cpus: &[u32], copies: u32) -> Launched {
    let mut bench = Bench::new();
    let launched = bench.copies(row, cpus, copies).unwrap();
    bench.nothing_is_left();
    launched
}

fn kernel(program: &str) -> Benchmark {
    benchmark(Work::Kernel(KernelWork {
        program: program.to_owned(),
        params: BTreeMap::new(),
        uses: vec![],
    }))
}

/// Events by copy.
fn each(launched: &Launched) -> Vec<&[Event]> {
    let number = |event: &Event| matches!(event, Event::Param(Param::Copy(_)));
    let mut said: Vec<&[Event]> = launched.events.split(number).collect();
    assert!(said.remove(0).is_empty(), "something before the first copy");
    said
}

#[test]
fn every_copy_works_and_shows_it() {
    // files of the same name in separate directories
    for (program, copies) in [("byte/loop", 3), ("byte/disk-write", 2)] {
        let launched = several(&kernel(program), &[], copies);
        assert_eq!(launched.outcome, Outcome::Measured, "{program}");
        let said = each(&launched);
        assert_eq!(said.len(), copies as usize);
        for events in said {
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
fn nobody_waits_for_a_copy_that_cannot_begin() {
    // no machine has this CPU; the other copies are ready, or nearly, when the second ends
    let launched = several(&kernel("byte/loop"), &[0, 524_288, 0], 3);
    let why = launched.outcome.why();
    assert!(matches!(launched.outcome, Outcome::Failed(_)), "{why}");
    assert!(why.starts_with("copy 2 of 3: sched_setaffinity"), "{why}");
    assert_eq!(each(&launched).len(), 3);
}

#[test]
fn copies_that_hang_are_all_ended() {
    let mut bench = Bench::new();
    bench.executor.setup.deadline = Duration::from_millis(1);
    let row = kernel("byte/loop");
    let launched = bench.copies(&row, &[], 2).unwrap();
    assert!(matches!(launched.outcome, Outcome::TimedOut(_)));
    let stop = &bench.executor.setup.stop;
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let stopped = bench.copies(&row, &[], 2);
    assert!(matches!(stopped, Err(ExecError::Interrupted)));
}
