//! Counters per operation, and explanations, of made-up counts: virtual machines have no counters.

use crate::tests::compare::{first, one, options};
use crate::tests::made_up_runs::*;
use gritstone_model::*;

/// Launches in which an operation takes `ns`, and `counts` are those of 100 operations.
fn counting(ns: f64, counts: &[(Counter, u64)]) -> Vec<Launch> {
    let counters = Event::Counters { n: 100, counts: counts.iter().copied().collect() };
    let mut launches = scattered("a/b", ns);
    for launch in &mut launches {
        launch.events.insert(2, counters.clone());
    }
    launches
}

#[test]
fn counts_are_per_operation() {
    let mut launches = counting(100.0, &[(Counter::Cycles, 40_000)]);
    for launch in &mut launches {
        // 20 W during the launch
        launch.conditions.energy_uj = Some(20_000_000);
    }
    let run = run(vec![plain("a/b")], launches);
    let counters = only(&run).counters().clone();
    let expected = [
        (Counter::Cycles, 400.0),
        // by the usage that `made_up_runs::launch` reports
        (Counter::ContextSwitches, 2.0),
        (Counter::PageFaults, 0.001),
        // 100.3 ns: median of the launches of `counting(100.0, ...)`
        (Counter::EnergyUj, 20.0 * 100.3 / 1000.0),
    ];
    for (counter, count) in expected {
        near(counters.get(&counter).copied(), count);
    }
    assert_eq!(counters.len(), expected.len());
    assert_eq!(view(&run).counting, Some(Counting::Everything));
}

#[test]
fn counting_scope_is_reported() {
    let counted = |counts: &[(Counter, u64)]| one(plain("a/b"), counting(1.0, counts)).counting;
    assert_eq!(counted(&[(Counter::UserCycles, 1)]), Some(Counting::User));
    // instructions counted by single steps are not a hardware counter
    let stepped = counted(&[(Counter::UserInstructions, 1)]);
    assert_eq!(stepped, Some(Counting::Nothing));
    assert_eq!(reference(vec![]).counting, None);
}

#[test]
fn only_differences_are_explained() {
    use Counter::{CacheMisses, Cycles, Instructions};
    let counted = |ns: f64, misses: u64| {
        let counts =
            [(Instructions, 100_000), (Cycles, (ns * 400.0) as u64), (CacheMisses, misses)];
        one(plain("a/b"), counting(ns, &counts))
    };
    let row = first(&counted(100.0, 20), &counted(120.0, 60), &options());
    assert_eq!(row.verdict, Some(Verdict::Slower));
    let why = row.explanation.unwrap();
    assert!(why.instructions.unwrap().same && !why.cycles.unwrap().same);
    let causes: Vec<_> = why.causes.iter().map(|c| (c.counter, c.base, c.other)).collect();
    assert_eq!(causes, [(CacheMisses, 0.2, 0.6)]);
    // no explanation without a significant difference, nor across machines
    assert_eq!(first(&counted(100.0, 20), &counted(100.1, 60), &options()).explanation, None);
    let mut elsewhere = counted(120.0, 60);
    elsewhere.machine.id = "another".to_owned();
    assert_eq!(first(&counted(100.0, 20), &elsewhere, &options()).explanation, None);
}
