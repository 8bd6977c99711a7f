//! Background load: kept between launches, adjusted to levels, and ended.

use super::*;
use crate::load::LoadTag;
use crate::resource::{Held, Resource, Unavailable};

const ONE: &str = "load/one";
const TWO: &str = "load/two";

/// An executor whose programs of these names are scripts.
fn beside(scripts: &[(&str, &str)]) -> Bench {
    let mut bench = Bench::new();
    for (name, script) in scripts {
        bench.plant(name, script);
    }
    bench.executor.load = Load::new(Ok(Held { resource: tag(), identity: None }));
    bench
}

fn tag() -> LoadTag {
    LoadTag(crate::owned_files::fresh_name("load").unwrap())
}

/// Works until killed, and records its pid.
const WORKS: &str =
    "echo $$ >> ../../started; echo '00000000000000000007 pieces' > progress; exec sleep 1000";

/// A benchmark with this background load.
fn benchmark(load: &[&str]) -> Benchmark {
    let mut benchmark = kernel("byte/syscall", &[("target_ns", "200000")], 100);
    benchmark.published = None;
    if let Work::Kernel(work) = &mut benchmark.work {
        work.uses = words(load);
    }
    benchmark
}

/// Pids of the scripts, in order of their start.
fn started(bench: &Bench) -> Vec<i32> {
    let text = fs::read_to_string(bench.folder.path().join("here/started")).unwrap_or_default();
    text.lines().map(|line| line.parse().unwrap()).collect()
}

fn may_live(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

#[test]
fn load_lives_until_lower_level() {
    let mut bench = beside(&[(ONE, WORKS), (TWO, WORKS)]);
    for _ in 0..2 {
        let launched = bench.copies(&benchmark(&[ONE]), &[], 1).unwrap();
        assert_eq!(launched.outcome, Outcome::Measured);
        assert_eq!(params(&launched, ONE), ["0 pieces"]);
    }
    // kept for the second launch
    assert_eq!(started(&bench).len(), 1);
    let launched = bench.copies(&benchmark(&[ONE, TWO]), &[], 1).unwrap();
    assert_eq!(params(&launched, TWO), ["0 pieces"]);
    let [one, two] = started(&bench)[..] else {
        panic!("{:?}", started(&bench));
    };
    assert!(may_live(one) && may_live(two));
    bench.executor.start_load(&bench.variant, &benchmark(&[ONE])).unwrap();
    assert!(may_live(one) && !may_live(two));
    // a benchmark without load: no process or directory is left
    bench.measured(&benchmark(&[]));
    assert!(!may_live(one));
}

#[test]
fn load_ends_with_the_run() {
    let mut bench = beside(&[(ONE, WORKS)]);
    bench.executor.start_load(&bench.variant, &benchmark(&[ONE])).unwrap();
    let [one] = started(&bench)[..] else {
        panic!("{:?}", started(&bench));
    };
    assert!(may_live(one));
    drop(bench.executor);
    assert!(!may_live(one));
}

#[test]
fn failed_load_is_tried_once() {
    let script = "echo x >> ../../tries; echo 'there is no tape' >&2; exit 77";
    let mut bench = beside(&[(ONE, script)]);
    for _ in 0..2 {
        let launched = bench.launch(&benchmark(&[ONE]));
        let why = "The background load cannot be started: there is no tape";
        assert_eq!(launched.outcome, Outcome::Skipped(why.to_owned()));
        assert!(launched.events.is_empty());
    }
    let tries = fs::read_to_string(bench.folder.path().join("here/tries")).unwrap();
    assert_eq!(tries, "x\n");
}

#[test]
fn ended_load_fails_the_launch() {
    let script = "echo '00000000000000000001 pieces' > progress; sleep 1; echo 'the tape is full' >&2; exit 1";
    let mut bench = beside(&[(ONE, script)]);
    // it has begun when the first launch does; when its end is noticed is up to the scheduler
    let ended = (0..10_000).find_map(|_| {
        let launched = bench.copies(&benchmark(&[ONE]), &[], 1).unwrap();
        (launched.outcome != Outcome::Measured).then_some(launched.outcome)
    });
    let Some(Outcome::Failed(why)) = ended else {
        panic!("{ended:?}");
    };
    let reason = "the background load ended: the tape is full";
    assert!(why.contains(reason), "{why}");
}

#[test]
fn load_needs_a_journal() {
    let mut bench = beside(&[(ONE, WORKS)]);
    bench.executor.load = Load::new(Err(Unavailable::NoJournal));
    let outcome = bench.launch(&benchmark(&[ONE])).outcome;
    assert!(outcome.why().contains("no journal"), "{outcome:?}");
    assert!(started(&bench).is_empty());
}

#[test]
fn tags_find_orphaned_load() {
    let tag = tag();
    let mut child = std::process::Command::new("sleep")
        .arg("1000")
        .env("GRITSTONE_LOAD", &tag.0)
        .spawn()
        .unwrap();
    // it has our environment until it executes sleep
    while fs::read_to_string(format!("/proc/{}/comm", child.id())).unwrap() != "sleep\n" {
        std::thread::sleep(Duration::from_millis(1));
    }
    let reaped = std::thread::spawn(move || child.wait().unwrap());
    tag.undo(None).unwrap();
    assert!(!reaped.join().unwrap().success());
    assert!(LoadTag("somebody else's".to_owned()).undo(None).is_err());
}
