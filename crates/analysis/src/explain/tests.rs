//! Made-up counters: no processor here has any.

use super::*;
use Counter::*;

fn explained(
    base: (&[(Counter, f64)], Option<f64>),
    other: (&[(Counter, f64)], Option<f64>),
) -> Option<(Option<bool>, Option<bool>, Vec<Counter>)> {
    let counts = |counters: &[(Counter, f64)]| counters.iter().copied().collect::<Counts<f64>>();
    let (b, o) = (counts(base.0), counts(other.0));
    let side = |counters, probed| Side { counters, probed };
    let found = explain(side(&b, base.1), side(&o, other.1))?;
    Some((
        found.instructions.map(|change| change.same),
        found.cycles.map(|change| change.same),
        found.causes.iter().map(|cause| cause.counter).collect(),
    ))
}

#[test]
fn cache_misses_explain_equal_instructions() {
    let base = [(Instructions, 1e3), (Cycles, 500.0), (BranchMisses, 1.0), (CacheMisses, 0.1)];
    let other = [(Instructions, 1001.0), (Cycles, 545.0), (BranchMisses, 1.1), (CacheMisses, 0.4)];
    let explanation = explained((&base, None), (&other, None)).unwrap();
    assert_eq!(
        explanation,
        (Some(true), Some(false), vec![CacheMisses]),
        "3 cycles of 45 are no cause"
    );
    // and the other way round
    let explanation = explained((&other, None), (&base, None)).unwrap();
    assert_eq!(explanation, (Some(true), Some(false), vec![CacheMisses]));
}

#[test]
fn opposite_changes_are_no_cause() {
    let base = [(Instructions, 1e3), (Cycles, 500.0), (BranchMisses, 9.0), (TlbMisses, 1.0)];
    let other = [(Instructions, 1e3), (Cycles, 600.0), (BranchMisses, 1.0), (TlbMisses, 4.0)];
    let explanation = explained((&base, None), (&other, None)).unwrap();
    assert_eq!(explanation.2, [TlbMisses]);
}

#[test]
fn instructions_explain_their_cycles() {
    let base = [(Instructions, 1e3), (Cycles, 500.0), (BranchMisses, 1.0)];
    let other = [(Instructions, 2e3), (Cycles, 1001.0), (BranchMisses, 9.0)];
    let explanation = explained((&base, None), (&other, None)).unwrap();
    assert_eq!(explanation, (Some(false), Some(false), vec![]));
}

#[test]
fn misses_need_equal_counting_scope() {
    let base = [(Instructions, 1e3), (Cycles, 500.0), (CacheMisses, 0.1), (ContextSwitches, 0.0)];
    let other = [(UserInstructions, 900.0), (UserCycles, 450.0), (CacheMisses, 9.0)];
    assert_eq!(explained((&base, Some(500.0)), (&other, Some(600.0))), None);
}

#[test]
fn software_counts_explain_differences() {
    let base = [(UserInstructions, 12.0), (ContextSwitches, 0.0)];
    let other = [(UserInstructions, 12.0), (ContextSwitches, 0.01), (CacheMisses, 1.0)];
    let explanation = explained((&base, Some(100.0)), (&other, Some(300.0))).unwrap();
    assert_eq!(explanation, (Some(true), Some(false), vec![ContextSwitches]));
    assert_eq!(explained((&[], Some(1.0)), (&[], Some(2.0))), None, "nothing was counted");
}
