//! Bounds on the number of launches.

use super::*;

/// Launches of each side; side i takes (i + 1) ms.
fn counts(sides: usize, bounds: [u32; 2], seconds: u64) -> Vec<usize> {
    let design = Design {
        steps: 1,
        sides,
        start_up: false,
        reference: false,
        budget: Duration::from_secs(seconds),
        margin: 0.01,
        seed: 1,
    };
    let plans = vec![plan(&["a/0"]); sides];
    let plans: Vec<&Plan> = plans.iter().collect();
    let mut backend = FakeBackend::new(|call| Reply::measured(1.0, 1e6 * (1 + call.side) as f64));
    let inner = Box::new(Sequential::new(design));
    let mut scheduler = Bounded::new(inner, sides, bounds, 1);
    drive(&plans, &[], reader(false), &mut scheduler, &mut backend).unwrap();
    let count = |side| backend.stored.iter().filter(|(at, _)| *at == side).count();
    (0..sides).map(count).collect()
}

#[test]
fn bounds_override_decision_and_budget() {
    for (sides, bounds, seconds, wanted) in [
        // until decided
        (2, [1, u32::MAX], 1000, [12, 12]),
        (2, [5, 5], 1000, [5, 5]),
        (2, [30, 30], 1000, [30, 30]),
        // beyond the budget
        (2, [30, u32::MAX], 10, [30, 30]),
    ] {
        assert_eq!(counts(sides, bounds, seconds), wanted, "{bounds:?}");
    }
    // dropped sides get the minimum too
    assert_eq!(counts(3, [20, 20], 1000), [20, 20, 20]);
}
